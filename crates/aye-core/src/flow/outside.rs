//! What of the outside a step or a skill reads: names that stand for something
//! else in another run, or a moment later.
//!
//! It searches for words, as `reading` does. A name too many costs a question; one too few
//! would let something run that nobody saw.

use std::collections::BTreeSet;

use crate::skill::{Action, Step};

use super::graph::Flow;
use super::reading::evaluated;
use super::texts::{Kind, each_string, each_text};

/// Names whose value is told as it is.
const PLAIN: [&str; 3] = ["branch", "workspace", "worktree"];
/// What leads to a name that stands nowhere in the text.
const ANY_NAME: [&str; 8] =
    ["dir", "globals", "locals", "vars", "getattr", "eval", "exec", "__import__"];

/// What is read of the outside, and of earlier steps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutsideReads {
    /// `branch`, `workspace`, `worktree`, `env.NAME`.
    pub names: BTreeSet<String>,
    /// The steps of `steps.NAME`.
    pub steps: BTreeSet<String>,
    /// What is read in a way that does not say which: `env`, `steps`, `memory`.
    pub unknown: BTreeSet<&'static str>,
}

impl OutsideReads {
    /// Those of a step, and of what is inside of it.
    pub fn of_step(step: &Step) -> Self {
        let mut reads = Self::default();
        each_text(step, &BTreeSet::new(), &mut |text, kind, _| reads.look(text, kind));
        reads
    }

    /// Those of a condition.
    pub(crate) fn of_condition(condition: &str) -> Self {
        let mut reads = Self::default();
        reads.look(condition, Kind::Condition);
        reads
    }

    /// Adds what a template reads.
    pub(crate) fn add_template(&mut self, template: &str) {
        self.look(template, Kind::Template);
    }

    /// Adds what something else reads.
    pub(crate) fn extend(&mut self, other: Self) {
        self.names.extend(other.names);
        self.steps.extend(other.steps);
        self.unknown.extend(other.unknown);
    }

    /// Whether this name of the outside is read, or may be.
    pub(crate) fn may_read(&self, name: &str) -> bool {
        let any = name.starts_with("env.") && self.unknown.contains("env");
        any || self.names.contains(name)
    }

    /// Whether anything of the outside is read; what is known of steps is not outside.
    pub fn is_outside(&self) -> bool {
        !self.names.is_empty() || self.unknown.iter().any(|name| *name != "steps")
    }

    fn look(&mut self, text: &str, kind: Kind) {
        let text = evaluated(text, kind);
        for name in PLAIN {
            if words(text, name, false).next().is_some() {
                self.names.insert(name.to_owned());
            }
        }
        for after in words(text, "env", false) {
            match attribute(after).or_else(|| key(after)) {
                Some(name) => drop(self.names.insert(format!("env.{name}"))),
                None => drop(self.unknown.insert("env")),
            }
        }
        for name in ["environ", "getenv"] {
            for after in words(text, name, true) {
                let got = if name == "getenv" { literal(after, '(') } else { key(after) };
                match got {
                    Some(name) => drop(self.names.insert(format!("env.{name}"))),
                    None => drop(self.unknown.insert("env")),
                }
            }
        }
        for after in words(text, "steps", false) {
            match attribute(after).or_else(|| key(after)) {
                Some(name) => drop(self.steps.insert(name)),
                None => drop(self.unknown.insert("steps")),
            }
        }
        if words(text, "memory", false).next().is_some() {
            self.unknown.insert("memory");
        }
        let any = |name: &str| {
            words(text, name, false)
                .any(|after| kind == Kind::Code || after.trim_start().starts_with('('))
        };
        if ANY_NAME.into_iter().any(any) {
            self.unknown.extend(["env", "steps"]);
        }
    }
}

impl Flow {
    /// What a skill reads of the outside: in its steps, repairs, outputs and the values that
    /// its inputs have if nobody gives them.
    pub fn outside_reads(&self) -> OutsideReads {
        let mut reads = OutsideReads::default();
        let repairs = self.skill.heal.iter().map(|rule| &rule.repair);
        for step in self.nodes.iter().map(|node| &node.step).chain(repairs) {
            each_text(step, &BTreeSet::new(), &mut |text, kind, _| {
                // What is written about a step decides nothing.
                if kind != Kind::Prose {
                    reads.look(text, kind);
                }
            });
        }
        let defaults = self.skill.inputs.iter().filter_map(|input| input.default.as_ref());
        for value in defaults.chain(self.skill.outputs.iter().map(|output| &output.value)) {
            each_string(value, &mut |text| reads.look(text, Kind::Template));
        }
        reads
    }

    /// The skills that its steps call, as they are written.
    pub fn called_skills(&self) -> Vec<&str> {
        fn add<'a>(step: &'a Step, found: &mut Vec<&'a str>) {
            if let Action::Skill { skill, .. } = &step.action {
                found.push(skill.as_str());
            }
            for inner in step.action.body().iter().chain(&step.then) {
                add(inner, found);
            }
        }
        let mut found = Vec::new();
        let repairs = self.skill.heal.iter().map(|rule| &rule.repair);
        for step in self.nodes.iter().map(|node| &node.step).chain(repairs) {
            add(step, &mut found);
        }
        found
    }
}

/// What stands behind each place where this word stands by itself.
pub(super) fn words<'a>(
    text: &'a str,
    name: &'a str,
    after_dot: bool,
) -> impl Iterator<Item = &'a str> {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).filter_map(move |(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let begins = !before.ends_with(in_word) && (after_dot || !before.ends_with('.'));
        (begins && !after.starts_with(in_word)).then_some(after)
    })
}

/// `.NAME`, not called; `None` for anything else.
pub(super) fn attribute(after: &str) -> Option<String> {
    let rest = after.strip_prefix('.')?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let called = rest.trim_start().starts_with('(');
    (!name.is_empty() && !called).then(|| name.to_owned())
}

/// `['NAME']` or `.get('NAME'`.
pub(super) fn key(after: &str) -> Option<String> {
    match after.trim_start().strip_prefix(".get") {
        Some(rest) => literal(rest, '('),
        None => literal(after, '['),
    }
}

/// The text in quotes behind this bracket, if it is all that stands there.
fn literal(after: &str, open: char) -> Option<String> {
    let rest = after.trim_start().strip_prefix(open)?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (name, rest) = rest[1..].split_once(quote)?;
    let ends = rest.trim_start().starts_with([']', ')', ',']);
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
    (ends && plain).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(code: &str) -> (Vec<String>, Vec<&'static str>) {
        let mut reads = OutsideReads::default();
        reads.look(code, Kind::Code);
        (reads.names.into_iter().collect(), reads.unknown.into_iter().collect())
    }

    #[test]
    fn what_is_plain_is_told_by_name() {
        for code in [
            "print(env.TARGET)",
            "x = env['TARGET']",
            "x = env.get( \"TARGET\", 'a')",
            "import os\nx = os.environ[\"TARGET\"]",
            "x = os.environ.get('TARGET')",
            "x = os.getenv('TARGET', 'stage')",
            "from os import getenv\nx = f\"{env.TARGET}\"",
        ] {
            let (names, unknown) = read(code);
            assert_eq!(names, ["env.TARGET"], "{code}");
            // The import alone does not say what is read.
            assert_eq!(unknown.is_empty(), !code.contains("from os"), "{code}");
        }
        assert_eq!(read("print(branch, inputs.branch, x.env)").0, ["branch"]);
        assert_eq!(read("result = 1").1, [""; 0]);
    }

    #[test]
    fn what_is_not_plain_is_said() {
        for code in [
            "e = env",
            "env[name]",
            "env['A' + b]",
            "env.items()",
            "from os import environ as e",
            "getattr(os, 'env' 'iron')",
            "v = vars()",
            "dict(os.environ)",
        ] {
            assert!(read(code).1.contains(&"env"), "{code}: {:?}", read(code));
        }
        assert_eq!(read("memory.read('k')").1, ["memory"]);
        assert_eq!(read("steps[x].stdout").1, ["steps"]);
    }
}
