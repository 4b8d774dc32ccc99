//! What the author of a skill should look at: `aye check` and `aye run` say the same.

use std::collections::BTreeSet;
use std::path::PathBuf;

use aye_core::diagnostic::{self, Diagnostic, quote_list};
use aye_core::flow::Flow;
use aye_core::skill::{Action, Step};

use crate::driver::Skills as _;
use crate::runtime::Runtime;
use crate::settings;
use crate::skills::{Reach, SkillFile, relative_to, skill_name};
use crate::tools::shell_argument;

use super::prepare::CheckedSkill;

/// No run has more skills than this whose warnings anyone reads.
const MOST: usize = 50;

impl Runtime {
    /// The warnings of a skill, of the skills that it calls, and of the tools that they use,
    /// file by file.
    pub fn skill_warnings(&self, skill: &CheckedSkill) -> Vec<SkillFile> {
        let flow = Flow::clone(&skill.flow);
        let mut files = vec![SkillFile {
            path: skill.path.clone(),
            text: skill.text.clone(),
            flows: vec![flow],
            declared: Vec::new(),
            diagnostics: skill.warnings.clone(),
        }];
        let mut seen = BTreeSet::from([(skill.path.clone(), skill.flow.skill.name.value.clone())]);
        let mut tools = BTreeSet::new();
        let mut at = 0;
        while let Some(file) = files.get(at) {
            at += 1;
            let mut called = Vec::new();
            for step in steps_of(&file.flows) {
                match &step.action {
                    Action::Tool { tool, .. } => drop(tools.insert(tool.value.clone())),
                    Action::Skill { skill, .. } if !skill.contains("{{") => {
                        called.extend(self.load(skill, &file.path, Reach::AnyFile));
                    }
                    _ => {}
                }
            }
            for (flow, source) in called {
                let (path, name) = (PathBuf::from(&source.file), skill_name(&flow).to_owned());
                if files.len() < MOST && seen.insert((path.clone(), name.clone())) {
                    let read = SkillFile::from_text(path, source.text);
                    let read = read.or_lenient(self.settings.lenient).only(Some(&name));
                    files.push(SkillFile { flows: vec![flow], ..read });
                }
            }
        }
        for file in &mut files {
            let references = self.references(&file.flows, &file.path);
            file.diagnostics.extend(diagnostic::without_allowed(references, &file.text));
            diagnostic::sort(&mut file.diagnostics);
        }
        files.extend(self.settings_warnings(|tool| tools.contains(tool)));
        files
    }

    /// `aye.toml`, if there is something to say about these tools of it.
    pub fn settings_warnings(&self, is_used: impl Fn(&str) -> bool) -> Option<SkillFile> {
        let settings = &self.settings;
        let mut found = Vec::new();
        for (name, command) in settings.tools.commands.iter().filter(|(name, _)| is_used(name)) {
            let Some(risk) = shell_argument(command) else { continue };
            let arguments = match risk.arguments.is_empty() {
                true => "its arguments".to_owned(),
                false => quote_list(risk.arguments.iter().map(String::as_str), "and"),
            };
            let whose = if command.place.is_some() { "" } else { " of your own settings" };
            let message = format!(
                "tool `{name}`{whose} hands {arguments} to `{}`, which may run it",
                risk.program
            );
            let said = Diagnostic::warning("shell-argument", message);
            let said = match command.place {
                Some(place) => said.label(place, "a value can be code here"),
                None => said,
            };
            found.push(said.hint(risk.hint));
        }
        if found.is_empty() {
            return None;
        }
        let path = settings.root.join(settings::FILE);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let path = relative_to(&path, &self.directory);
        Some(SkillFile { path, text, flows: Vec::new(), declared: Vec::new(), diagnostics: found })
    }
}

/// Every step of these skills, those inside of others too.
fn steps_of(flows: &[Flow]) -> Vec<&Step> {
    let nodes = flows.iter().flat_map(|flow| &flow.nodes).map(|node| &node.step);
    let repairs = flows.iter().flat_map(|flow| &flow.skill.heal).map(|rule| &rule.repair);
    let mut open: Vec<&Step> = nodes.chain(repairs).collect();
    let mut all = Vec::new();
    while let Some(step) = open.pop() {
        all.push(step);
        open.extend(&step.then);
        if let Action::ForEach(each) = &step.action {
            open.extend(&each.body);
        }
    }
    all
}
