//! Hints in the author's own words: what stands there, as it should be written.

use super::Checker;
use super::command_line::{MOST_WORDS, in_list, words};
use super::problem::{self, Place};
use crate::diagnostic::{Diagnostic, quote, visible};
use crate::yaml::decode::{Fault, Problem};
use crate::yaml::{Kind, NodeId};

impl Checker<'_> {
    /// Words a problem, with what the author wrote in the hint.
    pub(super) fn with_own_words(
        &self,
        problem: Problem,
        id: NodeId,
        place: Place<'_>,
    ) -> Diagnostic {
        let own = match (&problem.fault, problem.key.as_deref()) {
            (Fault::UnknownKey { key, known }, _) => match key.as_str() {
                "outputs" if known.contains(&"output") => self.one_result(id, key),
                "timeout-minutes" | "timeout_minutes" => self.minutes(id, key),
                _ => None,
            },
            (Fault::Mismatch { found, .. }, Some(key)) if found != "nothing" => {
                self.mismatch(id, key)
            }
            (Fault::Mismatch { expected, .. }, None) if expected.ends_with("keys of a step") => {
                let text = self.tree.text(id).filter(|text| !text.contains('\n'));
                text.map(|text| {
                    format!("write {}", quote(&format!("- {{ name: …, shell: {text} }}")))
                })
            }
            _ => None,
        };
        problem::diagnose(problem, place, &self.report).hint_if(own)
    }

    /// The value of a key, as its type wants it.
    fn mismatch(&self, id: NodeId, key: &str) -> Option<String> {
        let value = match self.tree.entry(id, key) {
            Some((_, value)) => value,
            // It is the value that is decoded, by itself.
            None if self.tree.entries(id).is_empty() => id,
            None => return None,
        };
        match (key, &self.tree.node(value).kind) {
            ("inputs" | "outputs", Kind::Mapping(_)) => self.as_list(value, key),
            ("command", Kind::List(_)) => {
                let words = self.texts(value)?;
                let apart: Vec<String> = words.iter().map(|word| in_list(word)).collect();
                let (program, args) = apart.split_first()?;
                Some(match args {
                    [] => format!("write `command: {program}`"),
                    args => format!("write\ncommand: {program}\nargs: [{}]", args.join(", ")),
                })
            }
            ("args", Kind::Scalar(line)) => {
                let apart = words(&line.text).filter(|words| words.len() <= MOST_WORDS)?;
                let apart: Vec<String> = apart.iter().map(|word| in_list(word)).collect();
                Some(format!("write `args: [{}]`", apart.join(", ")))
            }
            ("shell", Kind::List(_)) => {
                let lines = self.texts(value)?.into_iter().map(visible);
                let lines = lines.collect::<Vec<_>>().join("\n  ");
                Some(format!("write a line each:\nshell: |\n  {lines}"))
            }
            ("env", Kind::List(items)) => {
                let pairs = items.iter().map(|item| self.pair(*item));
                Some(format!("write\nenv:\n  {}", pairs.collect::<Option<Vec<_>>>()?.join("\n  ")))
            }
            ("env", Kind::Scalar(_)) => Some(format!("write `env: {{ {} }}`", self.pair(value)?)),
            ("output", Kind::List(_)) => self.one_result(id, key),
            ("python", Kind::Scalar(_)) => Some("code goes under `compute: |`".to_owned()),
            _ => None,
        }
    }

    /// The items of a short list of plain texts.
    pub(super) fn texts(&self, list: NodeId) -> Option<Vec<&str>> {
        let Kind::List(items) = &self.tree.node(list).kind else { return None };
        let plain = |item: &NodeId| self.tree.text(*item).filter(|text| !text.contains('\n'));
        let texts: Option<Vec<&str>> = items.iter().map(plain).collect();
        texts.filter(|texts| texts.len() <= MOST_WORDS)
    }

    /// A variable, however it is written: `A=b`, or `A: b` as an item of a list.
    pub(super) fn pair(&self, item: NodeId) -> Option<String> {
        let (name, value) = match self.tree.entries(item) {
            [(name, value)] => (self.tree.text(*name)?, self.tree.text(*value)?),
            _ => self.tree.text(item)?.split_once('=')?,
        };
        Some(format!("{}: {}", visible(name), in_list(value)))
    }

    /// `outputs: [x]` at a step.
    fn one_result(&self, id: NodeId, key: &str) -> Option<String> {
        let (_, value) = self.tree.entry(id, key)?;
        let first = *self.texts(value)?.first()?;
        Some(format!("a step has one result: {}", quote(&format!("output: {first}"))))
    }

    /// A time without its unit, because the key says it.
    fn minutes(&self, id: NodeId, key: &str) -> Option<String> {
        let (_, value) = self.tree.entry(id, key)?;
        Some(format!("write {}", quote(&format!("timeout: {}m", self.tree.text(value)?))))
    }

    /// Inputs or outputs by name, as the list they should be.
    fn as_list(&self, value: NodeId, key: &str) -> Option<String> {
        let rest = if key == "inputs" { "type: string" } else { "value: …" };
        let (first, _) = self.tree.entries(value).first()?;
        let first = quote(self.tree.text(*first)?);
        let first = first.trim_matches('`');
        Some(format!("write a list with a name each:\n{key}:\n  - {{ name: {first}, {rest} }}"))
    }
}
