//! A whole file.

use super::Checker;
use crate::diagnostic::{Diagnostic, quote};
use crate::skill::Skill;
use crate::skill::document::{SkillDoc, SkillsDoc};
use crate::span::Spanned;
use crate::yaml::decode::Raw;
use crate::yaml::{Kind, NodeId};

impl Checker<'_> {
    /// The valid skills of the file. `stem` is the file's own name.
    pub(in crate::skill) fn file(&mut self, stem: &str) -> Vec<Skill> {
        let root = self.tree.root();
        if !matches!(self.tree.node(root).kind, Kind::Mapping(_)) {
            self.report.push(
                Diagnostic::error("wrong-type", "a skill file must be a mapping")
                    .label(self.span(root), "")
                    .hint("a skill has a `name:` and `steps:` or `states:`"),
            );
            return Vec::new();
        }
        if self.tree.entry(root, "workflows").is_none() {
            if self.misspelt_workflows(root) {
                return Vec::new();
            }
            let name = self.tree.entry(root, "name");
            let place = match name.and_then(|(_, value)| self.tree.text(value)) {
                Some(name) => format!("skill {}", quote(name)),
                None => "the skill".to_owned(),
            };
            return self.skill(Raw::new(root), None, &place, stem).into_iter().collect();
        }
        self.skills(Raw::new(root), stem)
    }

    /// A file that is not a skill, and whose only collection of skills goes by
    /// another name.
    fn misspelt_workflows(&mut self, root: NodeId) -> bool {
        if ["name", "steps", "states"].iter().any(|key| self.tree.entry(root, key).is_some()) {
            return false;
        }
        let found = self.tree.entries(root).iter().find(|(key, _)| {
            let word = self.tree.text(*key).unwrap_or_default();
            self.report.suggestion(word, ["workflows", "skills"]).is_some()
        });
        let Some((key, _)) = found else { return false };
        let word = quote(self.tree.text(*key).unwrap_or_default());
        self.report.push(
            Diagnostic::error("unknown-key", format!("unknown key {word} in the file"))
                .label(self.span(*key), "did you mean `workflows`?")
                .fix(self.span(*key), "workflows"),
        );
        true
    }

    fn skills(&mut self, root: Raw<SkillsDoc>, stem: &str) -> Vec<Skill> {
        let Some(doc) = self.decode_raw(root, "a file with `workflows`") else {
            return Vec::new();
        };
        let Some(workflows) = doc.workflows.take() else {
            return Vec::new();
        };
        if workflows.0.is_empty() {
            self.report.push(
                Diagnostic::error("no-steps", "`workflows` is empty").label(workflows.span, ""),
            );
        }
        let mut skills = Vec::new();
        for (name, raw) in workflows.value.0 {
            let place = format!("skill {}", quote(&name));
            skills.extend(self.skill(raw, Some(name), &place, stem));
        }
        skills
    }

    /// One skill, if there is no error in it.
    fn skill(
        &mut self,
        raw: Raw<SkillDoc>,
        key: Option<Spanned<String>>,
        place: &str,
        stem: &str,
    ) -> Option<Skill> {
        let before = self.report.errors();
        let named = self.tree.entry(raw.id, "name").and_then(|(_, value)| self.tree.text(value));
        let name = key.as_ref().map(|key| key.as_str()).or(named).unwrap_or_default();
        let mut whole = self.span(raw.id);
        // What is wrong with its name concerns no other skill.
        whole.start = key.as_ref().map_or(whole.start, |key| key.span.start.min(whole.start));
        self.declared.push(Spanned::new(name.to_owned(), whole));
        let doc = self.decode_raw(raw, place)?;
        let skill = self.check_skill(doc, key, raw.id, place, stem);
        if self.report.errors() == before { skill } else { None }
    }
}
