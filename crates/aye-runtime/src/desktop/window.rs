//! What a window asks, whichever program shows it.

use aye_core::question::{AnswerScope, Question};
use aye_core::skill::{AskKind, ChoiceAction};

use crate::fmt::escape_control_line;

/// What a row says that declines and says nothing else.
pub(super) const DECLINES: &str = "declines";

/// A window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Window {
    /// Text that is too long for the others: read first, answered then.
    Read,
    /// One of these.
    Pick(Vec<Row>),
    /// Text.
    Write {
        /// What stands there already.
        initial: String,
        /// It is not shown.
        hidden: bool,
    },
}

/// Something that can be picked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// On one line, unlike the label of any other row.
    pub(super) label: String,
    /// What it says of itself, on one line.
    pub(super) about: Option<String>,
    /// Where it leads, on one line.
    pub(super) leads: Option<String>,
    /// It declines.
    pub(super) declines: bool,
    /// What picking it does.
    pub(super) pick: Pick,
}

/// What picking a row does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pick {
    /// The option at this place; how far it is to be remembered.
    Offer(usize, Option<AnswerScope>),
    /// The option at this place is to be remembered; another window asks how far.
    Remember(usize),
    /// An answer in one's own words.
    Write,
}

/// How a window ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Closed {
    /// The row at this place was picked.
    Row(usize),
    /// This was written.
    Text(String),
    /// The text was read, and is to be answered.
    Read,
    /// It was closed, with Escape or a button that says so: no answer.
    Later,
    /// The program could not show it, or not to the end, and why.
    Failed(String),
}

/// What can be picked of a question.
pub(super) fn rows(question: &Question) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    if question.kind == AskKind::Input {
        let alone = question.options.is_empty();
        let label = if alone { "Answer…" } else { "Write an answer…" }.to_owned();
        rows.push(Row { label, about: None, leads: None, declines: false, pick: Pick::Write });
    }
    for (index, offer) in question.options.iter().enumerate() {
        // What someone changes is written in an editor, which needs a terminal.
        if question.kind == AskKind::Recover && offer.value == "edit" {
            continue;
        }
        let described = offer.description.as_deref().filter(|text| !text.trim().is_empty());
        let row = Row {
            label: escape_control_line(&offer.label),
            about: described.map(escape_control_line),
            leads: question.lead(&offer.value).map(|lead| escape_control_line(&lead.to_string())),
            declines: offer.action == ChoiceAction::Cancel,
            pick: Pick::Offer(index, None),
        };
        let remembered = match scopes(question, &offer.value)[..] {
            [] => None,
            [scope] => Some((scope.reach(), Pick::Offer(index, Some(scope)))),
            _ => Some(("…", Pick::Remember(index))),
        };
        let remembered = remembered.map(|(reach, pick)| {
            let gap = if reach == "…" { "" } else { " " };
            Row {
                label: format!("{}, and remember it{gap}{reach}", row.label),
                pick,
                ..row.clone()
            }
        });
        rows.push(row);
        rows.extend(remembered);
    }
    tell_apart(&mut rows, question);
    rows
}

/// How far this answer may be remembered, the narrowest first.
pub(super) fn scopes(question: &Question, value: &str) -> Vec<AnswerScope> {
    let allowed = |scope: &AnswerScope| question.remember_obstacle(value, *scope).is_none();
    let commits = question.commits(&value.into());
    question.remember_scopes().iter().copied().filter(|scope| commits && allowed(scope)).collect()
}

/// How far an answer is to be remembered, and what that covers: a row for each.
pub(super) fn scope_rows(question: &Question, value: &str) -> Vec<Row> {
    let at = question.options.iter().position(|offer| offer.value == value).unwrap_or_default();
    let row = |scope: AnswerScope| Row {
        label: capitalized(scope.reach()),
        about: Some(escape_control_line(&question.remember_covers(scope))),
        leads: None,
        declines: false,
        pick: Pick::Offer(at, Some(scope)),
    };
    scopes(question, value).into_iter().map(row).collect()
}

fn capitalized(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

impl Row {
    /// Everything it says beside its label.
    pub(super) fn meaning(&self) -> String {
        let leads = self.leads.as_ref().map(|leads| format!("→ {leads}"));
        let declines = self.declines && self.about.is_none() && leads.is_none();
        let declines = declines.then(|| DECLINES.to_owned());
        self.about.iter().cloned().chain(leads).chain(declines).collect::<Vec<_>>().join(" ")
    }
}

/// A name for the way out that no row has. Where names are what is returned there are four
/// rows at most.
pub(super) fn later(rows: &[Row]) -> &'static str {
    let free = |name: &&&str| !rows.iter().any(|row| row.label == **name);
    let names = ["Later", "Decide later", "Leave it open", "(later)"];
    names.iter().find(free).copied().unwrap_or("(leave it open)")
}

/// Programs return labels, and people cannot tell equal ones apart either.
fn tell_apart(rows: &mut [Row], question: &Question) {
    let given: Vec<String> = rows.iter().map(|row| row.label.clone()).collect();
    for at in 0..rows.len() {
        let same = given.iter().filter(|label| **label == given[at]).count();
        let (Pick::Offer(index, _) | Pick::Remember(index), 2..) = (rows[at].pick, same) else {
            continue;
        };
        let value = escape_control_line(&question.options[index].value);
        let label = format!("{} ({value})", given[at]);
        // Another row may be called so from the beginning.
        let is_free = |label: &String| {
            let mut others = rows.iter().enumerate().filter(|(other, _)| *other != at);
            others.all(|(_, row)| row.label != *label)
        };
        let numbered = (at + 1..).map(|number| format!("{label} #{number}"));
        let free = std::iter::once(label.clone()).chain(numbered).find(is_free);
        rows[at].label = free.unwrap_or(label);
    }
}

#[cfg(test)]
mod tests {
    use aye_core::id::{QuestionId, RunId};
    use aye_core::question::Offer;

    use super::*;

    fn question(labels: &[(&str, &str)]) -> Question {
        let id = QuestionId::new(&RunId::new("abcdefgh12").expect("an id"), 1);
        let mut question = Question::new(id, AskKind::Confirm, "Which?");
        for (value, label) in labels {
            question.options.push(Offer::new(*value, *label, ChoiceAction::Proceed));
        }
        question
    }

    fn labels(question: &Question) -> Vec<String> {
        rows(question).into_iter().map(|row| row.label).collect()
    }

    #[test]
    fn twins_are_told_apart() {
        let same = question(&[("a", "Deploy"), ("b", "Deploy"), ("c", "Stop")]);
        assert_eq!(labels(&same), ["Deploy (a)", "Deploy (b)", "Stop"]);
        let worse = question(&[("a", "X"), ("a", "X")]);
        assert_eq!(labels(&worse), ["X (a)", "X (a) #2"]);
        // One that is called what an equal one would be called keeps its name.
        let posing = question(&[("x", "Go"), ("b", "Go"), ("c", "Go (x)"), ("d", "Go (x) #1")]);
        assert_eq!(labels(&posing), ["Go (x) #2", "Go (b)", "Go (x)", "Go (x) #1"]);
        // Lines and what cannot be seen do not make a difference that nobody sees.
        let hidden = question(&[("a", "Deploy\nnow"), ("b", "Deploy now")]);
        assert_eq!(labels(&hidden), ["Deploy now (a)", "Deploy now (b)"]);
    }

    #[test]
    fn what_may_be_remembered_is_offered_so() {
        let mut asked = question(&[("yes", "Yes")]);
        asked.remember = true;
        asked.options.push(Offer::new("no", "No", ChoiceAction::Cancel));
        assert_eq!(labels(&asked), ["Yes", "Yes, and remember it…", "No"]);
        assert_eq!(rows(&asked)[1].pick, Pick::Remember(0));
        let told: Vec<(String, Pick)> =
            scope_rows(&asked, "yes").into_iter().map(|row| (row.label, row.pick)).collect();
        let scopes = [AnswerScope::Step, AnswerScope::Skill, AnswerScope::Always];
        let names = ["For this step", "For this skill", "Always"].map(str::to_owned);
        let picks = scopes.map(|scope| Pick::Offer(0, Some(scope)));
        assert_eq!(told, names.into_iter().zip(picks).collect::<Vec<_>>());
        // What may be remembered in one way only is not asked about again.
        asked.purpose = aye_core::question::Purpose::Recover;
        asked.options[0].value = "done".to_owned();
        assert_eq!(labels(&asked), ["Yes", "Yes, and remember it for this error", "No"]);
    }
}
