//! What a yes covers: everything that decides what runs, in full where it is
//! short; what has changed since someone agreed; what is not covered.

use aye_core::facts::{Change, Fact, FactKind};
use aye_core::question::Question;
use aye_runtime::prompter::QuestionContext;

use crate::paint::Tone;
use crate::prompt::markup::harmless;
use crate::prompt::style::Styled;
use crate::prompt::wrap::wrap;

use super::{Look, Part};

/// The longest value that stands in the question itself, in characters.
const SHORT: usize = 240;
/// How many facts stand there.
const MOST: usize = 10;

/// The lines below the message.
pub(super) fn covers(posed: &QuestionContext<'_>, look: Look) -> Vec<Styled> {
    let question = posed.question;
    let mut lines = Vec::new();
    let mut longer = false;
    if !question.changed.is_empty() {
        push(&mut lines, "Changed since the last yes:", Some(Tone::Warn), look);
        for change in &question.changed {
            for line in change_lines(change) {
                longer |= line.chars().count() > SHORT;
                push(&mut lines, &cut(&line), Some(Tone::Warn), look);
            }
        }
    }
    let facts: Vec<&Fact> = first(posed).collect();
    longer |= facts.len() > MOST;
    for fact in facts.into_iter().take(MOST) {
        let line = fact.line();
        longer |= line.chars().count() > SHORT;
        push(&mut lines, &cut(&line), None, look);
    }
    if !question.not_covered.is_empty() {
        let line = format!("not covered: {}", question.not_covered.join("; "));
        longer |= line.chars().count() > SHORT;
        push(&mut lines, &cut(&line), Some(Tone::Dim), look);
    }
    if question.remember && !question.any.is_empty() {
        let line = format!("can be remembered for any {}", names(&question.any));
        push(&mut lines, &line, Some(Tone::Dim), look);
    }
    if longer {
        push(&mut lines, "? shows the rest", Some(Tone::Dim), look);
    }
    lines
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

/// The facts that a person reads before answering.
fn first<'a>(posed: &QuestionContext<'a>) -> impl Iterator<Item = &'a Fact> {
    let workspace = posed.run.map(|run| run.started.workspace.as_str());
    let reads = move |fact: &&Fact| match fact.kind {
        FactKind::Machine | FactKind::Program | FactKind::File | FactKind::Tool => false,
        FactKind::Directory => Some(fact.value.as_str()) != workspace,
        _ => true,
    };
    posed.question.facts.iter().flatten().filter(reads)
}

/// The beginning of a long line.
fn cut(line: &str) -> String {
    match line.char_indices().nth(SHORT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

fn push(lines: &mut Vec<Styled>, text: &str, tone: Option<Tone>, look: Look) {
    for line in text.lines() {
        let line = harmless(Styled::new(), line, tone);
        for line in wrap(&line, look.room(), 2, true) {
            lines.push(look.bar(Part::Plain).then(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
