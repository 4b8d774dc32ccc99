//! Looking at what decides what comes next.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use aye_core::facts::{Fact, FactKind, Inspected, Look, Subject};
use aye_core::flow::Flow;
use aye_core::input::Input;
use aye_core::secrets::Text;
use aye_core::skill::{Action, InputType};
use aye_process::{Spec, Stdin};

use crate::error::Error;
use crate::inspect::Invocation;
use crate::skills::Reach;

use super::drive::Driver;
use super::lane::LaneId;

/// How many skills inside each other are looked at.
const DEEPEST: u32 = 8;
/// How many skills are looked at because one of them runs another.
const MOST_SKILLS: usize = 100;
/// How many names stand in a note.
const MOST_NAMES: usize = 5;

impl Driver<'_> {
    /// Looks at what a lane wants to have looked at, and tells it.
    pub(super) fn inspect(&mut self, id: LaneId) -> Result<(), Error> {
        let Some(inspection) = self.lane(id).machine.inspection(&self.world()) else {
            // Time has passed: there is something else to do first.
            self.apply(id, Input::Tick { shown: false }, None)?;
            return Ok(());
        };
        let facts = inspection.looks.iter().map(|look| self.look(id, look)).collect();
        self.apply(id, Input::Inspected(Box::new(Inspected { inspection, facts })), None)?;
        Ok(())
    }

    fn look(&mut self, id: LaneId, look: &Look) -> Vec<Fact> {
        let started = &self.lane(id).machine.state().started;
        let (workspace, file) = (PathBuf::from(&started.workspace), started.file.clone());
        let marked = started.destructive_tools.clone();
        match &look.subject {
            Subject::Program { argv, env, cwd, stdin } => {
                let plain = |text: &Text| text.clone().plain();
                let is_secret = |text: &Text| plain(text).is_none();
                let Some(program) = argv.first().and_then(plain) else {
                    let why = "it holds a secret and is not looked at";
                    return vec![Fact::new(FactKind::Program, None, why)];
                };
                let mut spec = Spec::new(program);
                spec.args = argv.iter().skip(1).filter_map(plain).map(Into::into).collect();
                spec.cwd = Some(match cwd.as_ref().and_then(plain) {
                    Some(cwd) => workspace.join(cwd),
                    None => workspace.clone(),
                });
                let set = env.iter().filter_map(|(name, value)| match value {
                    Some(value) => Some((name.into(), Some(plain(value)?.into()))),
                    None => Some((name.into(), None)),
                });
                spec.env = set.collect();
                if let Some(text) = stdin.as_ref().and_then(plain) {
                    spec.stdin = Stdin::Bytes(text.into());
                }
                let invocation = Invocation {
                    spec: &spec,
                    has_secrets: argv.iter().chain(cwd).any(is_secret),
                    has_secret_input: stdin.as_ref().is_some_and(is_secret),
                    workspace: &workspace,
                };
                self.facts_of(&invocation)
            }
            Subject::Tool { tool, args } => {
                let Some(definition) = self.parts.tools.definition(tool, args.clone()) else {
                    return vec![Fact::new(FactKind::Tool, None, "unknown")];
                };
                let fact = Fact::new(FactKind::Tool, None, &definition.shown);
                let mut facts = vec![fact.with_digest(definition.digest)];
                facts.extend(
                    definition
                        .not_covered
                        .iter()
                        .map(|note| Fact::new(FactKind::NotCovered, None, note)),
                );
                if let Some((program, rest)) = definition.argv.split_first() {
                    let mut spec = Spec::new(program);
                    spec.args = rest.iter().map(Into::into).collect();
                    spec.cwd = Some(match &definition.cwd {
                        Some(cwd) => workspace.join(cwd),
                        None => workspace.clone(),
                    });
                    let invocation = Invocation {
                        spec: &spec,
                        has_secrets: false,
                        has_secret_input: false,
                        workspace: &workspace,
                    };
                    facts.extend(self.facts_of(&invocation));
                }
                facts
            }
            Subject::Skill { begun: Some(run), .. }
                if self.parts.store.run(run).is_ok_and(|row| row.is_some()) =>
            {
                vec![Fact::new(FactKind::Begun, None, run.as_str())]
            }
            Subject::Skill { skill, written, .. } => {
                let Some(wanted) = skill.clone().plain() else {
                    let why = "its name holds a secret and is not looked at";
                    return vec![Fact::new(FactKind::Skill, None, why)];
                };
                let reach = if *written { Reach::AnyFile } else { Reach::Listed };
                let found = self.parts.skills.load(&wanted, Path::new(&file), reach);
                let (flow, source) = match found {
                    Ok(found) => found,
                    Err(error) => {
                        let why = format!("cannot be loaded: {error}");
                        return vec![Fact::new(FactKind::Skill, None, &why)];
                    }
                };
                let secret = flow.skill.inputs.iter().filter(|one| one.kind == InputType::Secret);
                let secret =
                    secret.map(|one| Fact::new(FactKind::SecretInput, Some(&one.name), ""));
                let note = format!("skills, tools, programs and scripts that `{wanted}` starts");
                let fact = Fact::new(FactKind::Skill, None, &source.file);
                let facts = [fact.with_digest(source.digest)];
                let note = Fact::new(FactKind::NotCovered, None, &note);
                let destroys = self.may_destroy(&flow, &source.file, &marked, DEEPEST);
                let destroys = destroys.then(|| Fact::new(FactKind::Destructive, None, ""));
                let outside = self.outside_of(&wanted, &flow, &source.file);
                let environment = flow.skill.environment.as_ref().map(|name| {
                    let input = flow.skill.inputs.iter().find(|one| *one.name == **name);
                    let default = input.and_then(|input| input.default.as_ref());
                    let default = default.map(|value| match value.as_str() {
                        Some(text) => text.to_owned(),
                        None => value.to_string(),
                    });
                    Fact::new(FactKind::Environment, Some(name), &default.unwrap_or_default())
                });
                let facts = facts.into_iter().chain(secret).chain([note]).chain(destroys);
                facts.chain(outside).chain(environment).collect()
            }
        }
    }

    /// That a skill, or one that it runs, reads names of the outside: what they stand for is
    /// looked up when it runs, and not covered.
    fn outside_of(&self, wanted: &str, flow: &Flow, file: &str) -> Option<Fact> {
        let mut outside = BTreeSet::new();
        self.names_outside(flow, file, &mut outside, &mut BTreeSet::new());
        if outside.is_empty() {
            return None;
        }
        let shown: Vec<&str> = outside.iter().take(MOST_NAMES).map(String::as_str).collect();
        let more = match outside.len().saturating_sub(MOST_NAMES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let note = format!("what `{wanted}` reads from outside: {}{more}", shown.join(", "));
        Some(Fact::new(FactKind::Uncertain, None, &note))
    }

    fn names_outside(
        &self,
        flow: &Flow,
        file: &str,
        outside: &mut BTreeSet<String>,
        seen: &mut BTreeSet<String>,
    ) {
        if !seen.insert(file.to_owned()) {
            return;
        }
        let reads = flow.outside_reads();
        let unknown = reads.unknown.into_iter().filter(|name| *name != "steps");
        let names = reads.names.into_iter().chain(unknown.map(str::to_owned));
        outside.extend(names.map(|name| format!("`{name}`")));
        for called in flow.called_skills() {
            let found = self.parts.skills.load(called, Path::new(file), Reach::AnyFile);
            match found.ok().filter(|_| seen.len() < MOST_SKILLS) {
                Some((inner, source)) => {
                    // Its inputs are known only when it runs.
                    if inner.skill.environment.is_some() {
                        outside.insert(format!("the environment of `{called}`"));
                    }
                    self.names_outside(&inner, &source.file, outside, seen);
                }
                // What cannot be looked at may read anything.
                None => drop(outside.insert(format!("the skill `{called}`"))),
            }
        }
    }

    /// Whether a skill has a step that destroys something, or runs one of which that is
    /// not certain.
    fn may_destroy(&self, flow: &Flow, file: &str, marked: &[String], deepest: u32) -> bool {
        let steps = flow.nodes.iter().map(|node| &node.step);
        let repairs = flow.skill.heal.iter().map(|rule| &rule.repair);
        steps.chain(repairs).any(|step| {
            let runs = match &step.action {
                Action::Skill { skill, .. } => {
                    // A name that a template gives is not found.
                    let found = self.parts.skills.load(skill, Path::new(file), Reach::AnyFile);
                    found.ok().filter(|_| deepest > 0).is_none_or(|(flow, source)| {
                        self.may_destroy(&flow, &source.file, marked, deepest - 1)
                    })
                }
                _ => false,
            };
            runs || step.destroys() || step.holds_a_skill()
        }) || flow.calls_any(marked)
    }

    fn facts_of(&mut self, invocation: &Invocation<'_>) -> Vec<Fact> {
        invocation.facts(&mut self.contents, SystemTime::now())
    }
}
