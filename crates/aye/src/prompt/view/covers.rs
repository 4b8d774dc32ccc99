//! What a yes covers: everything that decides what runs, in full where it is
//! short; what has changed since someone agreed; what is not covered.

use aye_core::facts::Change;
use aye_core::question::{Question, Reader};
use aye_runtime::origin::host_name;
use aye_runtime::prompter::AskedQuestion;

use crate::paint::{Glyph, Paint, Tone};
use crate::prompt::markup::harmless;
use crate::prompt::style::Styled;
use crate::prompt::wrap::wrap;

use super::{Look, Part};

/// The longest value that stands in the question itself, in characters.
const SHORT: usize = 240;
/// How many facts stand there.
const MOST: usize = 10;

/// The lines below the message.
pub(super) fn covers(asked: &AskedQuestion<'_>, look: Look) -> Vec<Styled> {
    let workspace = asked.run.map(|run| run.started.workspace.as_str());
    let host = host_name();
    let reader = Reader { workspace, host: Some(&host) };
    let lines = covered(asked.question, reader, "?", look.room(), look.paint);
    lines.into_iter().map(|line| look.bar(Part::Plain).then(line)).collect()
}

/// What a yes to a question covers, wherever the question is shown. `rest` shows
/// what is too long for that place.
pub fn covered(
    question: &Question,
    reader: Reader<'_>,
    rest: &str,
    room: usize,
    paint: Paint,
) -> Vec<Styled> {
    let mut short = Short { lines: Vec::new(), longer: false, room, paint };
    if !question.changed.is_empty() {
        short.push("Changed since the last yes:", Some(Tone::Warn));
        for line in question.changed.iter().flat_map(change_lines) {
            short.push(&line, Some(Tone::Warn));
        }
    }
    let facts = question.told_to(reader);
    short.longer |= facts.len() > MOST;
    for fact in facts.into_iter().take(MOST) {
        short.push(&fact.line(), None);
    }
    if !question.not_covered.is_empty() {
        let line = format!("not covered: {}", question.not_covered.join("; "));
        short.push(&line, Some(Tone::Dim));
    }
    if question.remember && !question.any.is_empty() {
        let line = format!("can be remembered for any {}", names(&question.any));
        short.push(&line, Some(Tone::Dim));
    }
    if short.longer {
        short.push(&format!("{rest} shows the rest"), Some(Tone::Dim));
    }
    short.lines
}

/// Lines of which none is long.
struct Short {
    lines: Vec<Styled>,
    /// Something was cut.
    longer: bool,
    room: usize,
    paint: Paint,
}

impl Short {
    fn push(&mut self, text: &str, tone: Option<Tone>) {
        let end = text.char_indices().nth(SHORT).map(|(end, _)| end);
        self.longer |= end.is_some();
        let dots = end.map_or("", |_| self.paint.glyph(Glyph::Ellipsis));
        let text = format!("{}{dots}", &text[..end.unwrap_or(text.len())]);
        // A value of several lines stands below its name.
        for (at, line) in text.lines().enumerate() {
            let line = if at == 0 { line.to_owned() } else { format!("  {line}") };
            self.lines.extend(wrap(&harmless(Styled::new(), &line, tone), self.room, 2, true));
        }
    }
}

/// A change on one line, or the old and the new value on lines of their own
/// where one line would hide the new one.
fn change_lines(change: &Change) -> Vec<String> {
    let line = change.line();
    if line.chars().count() <= SHORT {
        return vec![line];
    }
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
    vec![
        format!("{} was: {}", change.what, value(&change.before)),
        format!("{} is now: {}", change.what, value(&change.after)),
    ]
}

/// All of it, but for the command that starts: a record shows that itself.
pub fn covered_whole(question: &Question) -> Vec<String> {
    let changed = question.changed.iter().map(|change| format!("changed: {}", change.line()));
    let facts = question.deciding().map(|fact| format!("covers: {}", fact.line()));
    let not = question.not_covered.iter().map(|note| format!("not covered: {note}"));
    changed.chain(facts).chain(not).collect()
}

/// Every fact, for those who ask for details.
pub(super) fn all(question: &Question) -> impl Iterator<Item = (&'static str, String)> {
    let facts = question.facts.iter().flatten().map(|fact| ("covers", fact.line()));
    let not = question.not_covered.iter().map(|note| ("not", note.clone()));
    let remembered = question.remember_scopes().iter().map(|scope| {
        ("remember", format!("{}: {}", scope.reach(), question.remember_covers(*scope)))
    });
    let changed = question.changed.iter().map(|change| ("changed", change.line()));
    changed.chain(facts).chain(not).chain(remembered)
}

fn names(inputs: &[String]) -> String {
    inputs.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use aye_core::facts::{Fact, FactKind};

    use super::*;

    #[test]
    fn what_is_cut_says_so_in_ascii_too() {
        let id = aye_core::id::QuestionId::from_text("r-1");
        let mut question = Question::new(id, aye_core::skill::AskKind::Confirm, "Go?");
        question.facts = Some(vec![Fact::new(FactKind::Stdin, None, &"x".repeat(SHORT))]);
        let paint = Paint { color: false, bold: false, unicode: false };
        let lines = covered(&question, Reader::default(), "?", usize::MAX, paint);
        let text: String = lines.iter().map(|line| line.render(paint) + "\n").collect();
        assert!(text.is_ascii() && text.ends_with("x...\n? shows the rest\n"), "{text}");
    }

    #[test]
    fn another_machine_and_a_tool_are_shown() {
        let id = aye_core::id::QuestionId::from_text("r-1");
        let mut question = Question::new(id, aye_core::skill::AskKind::Confirm, "Go?");
        let fact = |kind, value| Fact::new(kind, None, value);
        question.facts = Some(vec![
            fact(FactKind::Machine, "db-1"),
            fact(FactKind::Command, "ship stage"),
            fact(FactKind::Tool, "./ship"),
        ]);
        let paint = Paint { color: false, bold: false, unicode: true };
        let shown = |host| {
            let reader = Reader { workspace: Some("/w"), host: Some(host) };
            let lines = covered(&question, reader, "?", usize::MAX, paint);
            lines.iter().map(|line| line.render(paint) + "\n").collect::<String>()
        };
        let there = "command: ship stage\ntool: ./ship\n";
        assert_eq!(shown("db-1"), there);
        assert_eq!(shown("laptop"), format!("machine: db-1\n{there}"));
    }

    #[test]
    fn a_long_old_value_does_not_hide_the_new_one() {
        let change = |before: &str| Change {
            what: "stdin".to_owned(),
            before: Some(before.to_owned()),
            after: Some("drop database".to_owned()),
        };
        assert_eq!(change_lines(&change("select 1")), ["stdin: select 1 -> drop database"]);
        let lines = change_lines(&change(&"x".repeat(SHORT)));
        assert_eq!(lines[1], "stdin is now: drop database");
    }
}
