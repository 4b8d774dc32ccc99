//! The edit that a hint names, where only one is possible: `aye check --fix`
//! makes it.

use super::Checker;
use super::command_line::in_list;
use crate::diagnostic::{Edit, surely_meant, within};
use crate::skill::document::other_value;
use crate::span::Span;
use crate::yaml::decode::{Fault, Problem};
use crate::yaml::{Kind, NodeId};

impl Checker<'_> {
    /// The edits that put a problem of this node right.
    pub(super) fn exact_fix(&self, problem: &Problem, id: NodeId) -> Option<Vec<Edit>> {
        match (&problem.fault, problem.key.as_deref()) {
            (Fault::UnknownKey { key, known }, _) => match key.as_str() {
                "outputs" if known.contains(&"output") => self.only_result(id, key),
                "continue-on-error" | "ignore_errors" | "ignore_error" | "allow_failure"
                    if known.contains(&"on_error") =>
                {
                    let (_, value) = self.tree.entry(id, key)?;
                    let on = matches!(self.tree.text(value)?, "true" | "yes" | "on");
                    on.then(|| self.instead(id, key, "on_error", "on_error: continue")).flatten()
                }
                "on" if known.contains(&"transitions") => self.outcomes(id, key),
                // The time left is always shown.
                "showProgress" | "show_progress" | "progressInterval"
                    if known.contains(&"ai_assist") =>
                {
                    let (key, value) = self.tree.entry(id, key)?;
                    self.without(self.span(key), self.span(value))
                }
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
            // `- limit` where a name alone says nothing more.
            (Fault::Mismatch { expected, .. }, None) if expected.ends_with("with a `name`") => {
                let name = self.tree.text(id).filter(|name| is_word(name))?;
                Some(vec![Edit { span: problem.span?, text: format!("{{ name: {name} }}") }])
            }
            (Fault::UnknownWord { word, known }, Some(key)) => {
                let text = self.word_meant(key, word, known)?;
                Some(vec![Edit { span: problem.span?, text }])
            }
            _ => None,
        }
    }

    /// The value that a word of another tool or a misspelt one stands for.
    fn word_meant(&self, key: &str, word: &str, known: &[&'static str]) -> Option<String> {
        if self.report.is_full() {
            return None;
        }
        match other_value(key, word).filter(|ours| known.contains(ours)) {
            // Trying again is not repairing.
            Some("auto_heal") => None,
            Some(ours) => Some(ours.to_owned()),
            None => match surely_meant(word, known.iter().copied()) {
                Some(meant) => Some(meant.to_owned()),
                None if key == "by" && is_word(word) => Some(format!("[{word}]")),
                None => None,
            },
        }
    }

    /// A value that is meant and has the wrong type.
    fn retyped(&self, id: NodeId, key: &str, expected: &str) -> Option<Vec<Edit>> {
        let (_, value) = self.tree.entry(id, key)?;
        let put = |text: String| Some(vec![Edit { span: self.span(value), text }]);
        match (key, &self.tree.node(value).kind) {
            ("inputs" | "outputs", Kind::Mapping(entries)) if self.is_between_brackets(value) => {
                put(format!("[{}]", self.listed_in_brackets(entries, key)?))
            }
            ("inputs" | "outputs", Kind::Mapping(entries)) => self.listed(entries, key),
            ("output", Kind::List(_)) => self.only_result(id, key),
            ("command", Kind::List(_)) => {
                let words = self.texts(value)?;
                let apart: Vec<String> = words.iter().map(|word| in_list(word)).collect();
                self.apart(id, apart.split_first()?)
            }
            ("shell", Kind::List(_)) => {
                let lines = self.texts(value)?;
                // One that begins with a space would change where the others begin.
                let plain = |line: &&str| !line.is_empty() && !line.starts_with([' ', '\t']);
                let all = !lines.is_empty() && lines.iter().all(plain);
                let text = format!("shell: |\n  {}", lines.join("\n  "));
                all.then(|| self.instead(id, key, "", &text)).flatten()
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

    /// A program and its arguments in place of `command`; arguments that are there follow.
    pub(super) fn apart(
        &self,
        id: NodeId,
        (program, args): (&String, &[String]),
    ) -> Option<Vec<Edit>> {
        if let Some((_, given)) = self.tree.entry(id, "args") {
            let (_, command) = self.tree.entry(id, "command")?;
            let Kind::List(items) = &self.tree.node(given).kind else { return None };
            let start = self.span(given).start;
            let (at, text) = match self.is_between_brackets(given) {
                true if items.is_empty() => (start + 1, args.join(", ")),
                true => (start + 1, format!("{}, ", args.join(", "))),
                false => (start, args.iter().map(|word| format!("- {word}\n")).collect()),
            };
            let mut edits = vec![
                Edit { span: self.span(command), text: program.clone() },
                Edit { span: Span { start: at, end: at }, text },
            ];
            edits.sort_by_key(|edit| edit.span.start);
            return Some(edits);
        }
        let next = if self.is_between_brackets(id) { ", " } else { "\n" };
        let text = match args {
            [] => format!("command: {program}"),
            args => format!("command: {program}{next}args: [{}]", args.join(", ")),
        };
        self.instead(id, "command", "args", &text)
    }

    /// Whether a list or a mapping stands between brackets, where lines mean nothing.
    fn is_between_brackets(&self, id: NodeId) -> bool {
        self.source.get(self.span(id).start..).is_some_and(|rest| rest.starts_with(['[', '{']))
    }

    /// `on:` as `transitions:`, where it names outcomes and not events.
    fn outcomes(&self, id: NodeId, key: &str) -> Option<Vec<Edit>> {
        let (name, value) = self.tree.entry(id, key)?;
        let Kind::Mapping(entries) = &self.tree.node(value).kind else { return None };
        let is_outcome = |word: &str| {
            matches!(word, "success" | "failure" | "timeout" | "declined")
                || word.parse::<u8>().is_ok()
        };
        let outcomes = entries.iter().all(|(key, _)| self.tree.text(*key).is_some_and(is_outcome));
        let free = self.tree.entry(id, "transitions").is_none();
        (outcomes && free && !entries.is_empty())
            .then(|| vec![Edit { span: self.span(name), text: "transitions".to_owned() }])
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

    /// A mapping without this entry: without its line, or without its part of
    /// the line between braces.
    pub(super) fn without(&self, key: Span, value: Span) -> Option<Vec<Edit>> {
        let end = value.start + within(self.source.get(value.start..value.end)?).len();
        let line = self.source.get(..key.start)?;
        let line_start = line.rfind('\n').map_or(0, |at| at + 1);
        let (before, after) = (&self.source[line_start..key.start], self.source.get(end..)?);
        let rest = &after[..after.find('\n').unwrap_or(after.len())];
        let span = if before.trim().is_empty() {
            // What a comment beside it is about would be gone.
            Span { start: line_start, end: end + rest.trim().is_empty().then_some(rest.len())? }
        } else if let Some(more) = rest.trim_start().strip_prefix(',') {
            let more = more.trim_start();
            Span { start: key.start, end: end + rest.len() - more.len() }
        } else if rest.trim_start().starts_with('}') {
            let kept = before.trim_end().strip_suffix(',')?;
            Span { start: line_start + kept.len(), end }
        } else {
            return None;
        };
        Some(vec![Edit { span, text: String::new() }])
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

    /// The same between brackets: `{ x: { type: string } }` as `{ name: x, type: string }`.
    fn listed_in_brackets(&self, entries: &[(NodeId, NodeId)], key: &str) -> Option<String> {
        let item = |&(name, value): &(NodeId, NodeId)| {
            let word = self.tree.text(name).filter(|word| is_word(word))?;
            let Span { start, end } = self.span(value);
            let text = self.source.get(start..end)?.trim();
            let more = match &self.tree.node(value).kind {
                Kind::Mapping(_) => text.strip_prefix('{')?.strip_suffix('}')?.trim().to_owned(),
                Kind::Scalar(_) | Kind::List(_) if key == "outputs" && !text.is_empty() => {
                    format!("value: {text}")
                }
                _ => return None,
            };
            let next = if more.is_empty() { "" } else { ", " };
            Some(format!("{{ name: {word}{next}{more} }}"))
        };
        Some(entries.iter().map(item).collect::<Option<Vec<String>>>()?.join(", "))
    }
}

/// Whether a text is one plain word, which means the same wherever it stands.
fn is_word(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}
