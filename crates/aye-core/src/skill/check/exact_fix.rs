//! The edit that a hint names, where only one is possible: `aye check --fix`
//! makes it.

use super::Checker;
use super::command_line::in_list;
use crate::diagnostic::Edit;
use crate::span::Span;
use crate::yaml::decode::{Fault, Problem};
use crate::yaml::{Kind, NodeId};

impl Checker<'_> {
    /// The edits that put a problem of this node right.
    pub(super) fn exact_fix(&self, problem: &Problem, id: NodeId) -> Option<Vec<Edit>> {
        match (&problem.fault, problem.key.as_deref()) {
            (Fault::UnknownKey { key, known }, _) => match key.as_str() {
                "outputs" if known.contains(&"output") => self.only_result(id, key),
                "timeout-minutes" | "timeout_minutes" => {
                    let (_, value) = self.tree.entry(id, key)?;
                    let count: u64 = self.tree.text(value)?.parse().ok()?;
                    self.instead(id, key, "timeout", &format!("timeout: {count}m"))
                }
                _ => None,
            },
            (Fault::Mismatch { found, expected }, Some(key)) => {
                let word = match (found.as_str(), expected.as_str()) {
                    ("the text `yes`" | "the text `on`", "`true` or `false`") => Some("true"),
                    ("the text `no`" | "the text `off`", "`true` or `false`") => Some("false"),
                    _ => None,
                };
                if let Some(word) = word {
                    return Some(vec![Edit { span: problem.span?, text: word.to_owned() }]);
                }
                self.retyped(id, key, expected)
            }
            _ => None,
        }
    }

    /// A value that is meant and has the wrong type.
    fn retyped(&self, id: NodeId, key: &str, expected: &str) -> Option<Vec<Edit>> {
        let (_, value) = self.tree.entry(id, key)?;
        let put = |text: String| Some(vec![Edit { span: self.span(value), text }]);
        match (key, &self.tree.node(value).kind) {
            ("inputs" | "outputs", Kind::Mapping(entries)) => self.listed(entries, key),
            ("output", Kind::List(_)) => self.only_result(id, key),
            ("command", Kind::List(_)) => {
                let words = self.texts(value)?;
                let apart: Vec<String> = words.iter().map(|word| in_list(word)).collect();
                self.apart(id, apart.split_first()?)
            }
            ("args", Kind::Scalar(line)) => {
                let apart = super::command_line::words(&line.text)?;
                let apart: Vec<String> = apart.iter().map(|word| in_list(word)).collect();
                put(format!("[{}]", apart.join(", ")))
            }
            ("env", Kind::List(items)) => {
                let pairs: Option<Vec<String>> =
                    items.iter().map(|item| self.pair(*item)).collect();
                put(format!("{{ {} }}", pairs?.join(", ")))
            }
            ("env", Kind::Scalar(_)) => put(format!("{{ {} }}", self.pair(value)?)),
            // Several words may be meant as several items.
            (_, Kind::Scalar(one)) if expected == "a list" && is_word(&one.text) => {
                put(format!("[{}]", in_list(&one.text)))
            }
            _ => None,
        }
    }

    /// A program and its arguments in place of `command`.
    pub(super) fn apart(
        &self,
        id: NodeId,
        (program, args): (&String, &[String]),
    ) -> Option<Vec<Edit>> {
        let text = match args {
            [] => format!("command: {program}"),
            args => format!("command: {program}\nargs: [{}]", args.join(", ")),
        };
        self.instead(id, "command", "args", &text)
    }

    /// `outputs: [x]` at a step.
    fn only_result(&self, id: NodeId, key: &str) -> Option<Vec<Edit>> {
        let (_, value) = self.tree.entry(id, key)?;
        match self.texts(value)?[..] {
            [one] if is_word(one) => self.instead(
                id,
                key,
                if key == "output" { "" } else { "output" },
                &format!("output: {one}"),
            ),
            _ => None,
        }
    }

    /// Another entry in place of this one, unless it has the key `free` too.
    fn instead(&self, id: NodeId, key: &str, free: &str, text: &str) -> Option<Vec<Edit>> {
        let (name, value) = self.tree.entry(id, key)?;
        let span = Span { start: self.span(name).start, end: self.span(value).end };
        let free = self.tree.entry(id, free).is_none();
        free.then(|| vec![Edit { span, text: text.to_owned() }])
    }

    /// Inputs or outputs by name as a list: `x:` becomes `- name: x`, and what
    /// is said of it stands below as it is.
    fn listed(&self, entries: &[(NodeId, NodeId)], key: &str) -> Option<Vec<Edit>> {
        let edit = |&(name, value): &(NodeId, NodeId)| {
            let (span, word) = (self.span(name), self.tree.text(name)?);
            // The colon goes too.
            let span = Span { end: span.end + 1, ..span };
            let below = match &self.tree.node(value).kind {
                Kind::Mapping(_) if self.span(value).start > span.end + 1 => "",
                Kind::Scalar(_) | Kind::List(_) if key == "outputs" => "\n  value:",
                _ => return None,
            };
            is_word(word).then(|| Edit { span, text: format!("- name: {word}{below}") })
        };
        entries.iter().map(edit).collect()
    }
}

/// Whether a text is one plain word, which means the same wherever it stands.
fn is_word(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}
