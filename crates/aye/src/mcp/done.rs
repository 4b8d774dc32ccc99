//! What was done in a run beside its steps: what memory and heal rules did, what
//! was decided, and the fixes that were proposed.

use std::collections::HashMap;

use aye_core::event::EventKind;
use aye_core::id::{QuestionId, RunId};
use aye_core::question::Edits;
use serde_json::{Value, json};

use aye_runtime::error::Error;
use aye_runtime::memory::{Fix, Lesson, Memory, OriginKind, Standing};
use aye_runtime::usecases::JournalReader;

use super::budget;

/// How many uses of memory are told: the last.
const MEMORY: usize = 5;
/// How many decisions.
const DECISIONS: usize = 3;

/// The last of what was done beside the steps.
pub(super) struct Done {
    /// What memory and heal rules did.
    pub(super) memory: Vec<String>,
    /// What was answered, or taken because nobody did.
    pub(super) decisions: Vec<String>,
    /// Fixes that were proposed: what each does, and who lets it be used.
    pub(super) proposals: Vec<Value>,
}

/// What was done in a run and in those inside it.
pub(super) fn done(journal: &JournalReader, run: &RunId, known: &Memory) -> Result<Done, Error> {
    let (mut memory, mut decisions, mut proposals) = (Vec::new(), Vec::new(), Vec::new());
    let mut steps: HashMap<QuestionId, String> = HashMap::new();
    // The rules of a skill have names of their own; those of memory have ids.
    let named = |rule: &str| match Fix::is_full_id(rule) {
        true => known.short_id(rule),
        false => rule.to_owned(),
    };
    // What ran for a step, and has yet to show that it helped.
    let mut ran: HashMap<(RunId, String), String> = HashMap::new();
    for (_, event) in journal.events_within(run)? {
        match &event.kind {
            EventKind::MemoryRecalled(what) => memory.push(what.message.clone()),
            EventKind::MemoryLearned(what) => match proposed(what.lesson.as_deref()) {
                Some(fix) => proposals.push(json!({
                    "id": fix.id,
                    "agreeing": budget::line(&fix.summary(), 2 * budget::VALUE),
                    "person": format!("aye memory agree {}", fix.id),
                })),
                None if what.is_silent() => {}
                None => memory.push(format!("learned: {}", what.message)),
            },
            EventKind::StepRetried { step, fix: Some(fix), edits: Some(edits), .. } => {
                memory.push(format!("`{}` changed `{step}`: {}", named(fix), changes(edits)));
            }
            EventKind::AutoHealCompleted { step, rule, healed: true, .. } => {
                ran.insert((event.run.clone(), step.clone()), named(rule));
            }
            EventKind::AutoHealCompleted { step, rule, healed: false, .. } => {
                memory.push(format!("`{}` did not repair `{step}`", named(rule)));
            }
            EventKind::StepCompleted(one) => {
                if let Some(rule) = ran.remove(&(event.run.clone(), one.step.clone())) {
                    memory.push(format!("`{rule}` repaired `{}`", one.step));
                }
            }
            EventKind::StepFailed(one) => {
                if let Some(rule) = ran.remove(&(event.run.clone(), one.step.clone())) {
                    memory.push(format!("`{rule}` did not repair `{}`", one.step));
                }
            }
            EventKind::ConfirmationRequired(question) => {
                steps.insert(question.id.clone(), question.step.clone());
            }
            EventKind::ConfirmationAnswered(one) if one.refused.is_none() => {
                let answer = &one.answer;
                let step = steps.get(&one.question).map_or("", String::as_str);
                let value = answer.value.as_str().unwrap_or("***");
                let through = answer.prompter.spoken();
                decisions.push(format!("`{step}`: {} answered `{value}` ({through})", answer.by));
            }
            EventKind::ConfirmationExpired { question, applied, withdrawn: false } => {
                let step = steps.get(question).map_or("", String::as_str);
                let taken = match applied {
                    Some(value) => format!("`{value}` was taken"),
                    None => "that counted as no".to_owned(),
                };
                decisions.push(format!("`{step}`: nobody answered in time; {taken}"));
            }
            _ => {}
        }
    }
    Ok(Done { memory: last(&memory, MEMORY), decisions: last(&decisions, DECISIONS), proposals })
}

/// The last of many lines, each cut; command lines in them are for people.
fn last(all: &[String], most: usize) -> Vec<String> {
    let first = all.len().saturating_sub(most);
    let cut = |words: &String| budget::line(&for_people(words), 2 * budget::VALUE);
    all[first..].iter().map(cut).collect()
}

/// The fix that a lesson proposes.
fn proposed(lesson: Option<&Value>) -> Option<Fix> {
    let lesson = serde_json::from_value::<Lesson>(lesson?.clone()).ok()?;
    let Lesson::Fix { fix, .. } = lesson else { return None };
    let waits = fix.from.kind != OriginKind::Person && fix.standing() == Standing::Proposed;
    waits.then_some(*fix)
}

/// What a step is given differently, in words.
fn changes(edits: &Edits) -> String {
    let one = |(name, value): (&String, &Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("`{name}` is now `{}`", budget::line(&value, 80))
    };
    edits.set.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The text with every command line said to be the person's.
pub(super) fn for_people(text: &str) -> String {
    const COMMAND: &str = "`aye ";
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(COMMAND) {
        let before = &rest[..at];
        told.push_str(before);
        // The clause that it stands in says so already.
        let clause = told.rsplit([';', '\n']).next().unwrap_or_default();
        if !clause.contains("person") {
            told.push_str("for the person: ");
        }
        told.push_str(COMMAND);
        rest = &rest[at + COMMAND.len()..];
    }
    told.push_str(rest);
    told
}

/// The same for an error; the lines of a skill file that it quotes stay as they are.
pub(super) fn error_for_people(error: &str) -> String {
    let line = |line: &str| {
        let rest = line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
        if rest.starts_with('|') { line.to_owned() } else { for_people(line) }
    };
    error.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_said_to_be_for_the_person_once() {
        for (text, told) in [
            ("nothing", "nothing"),
            (
                "kept; `aye memory forget a` takes it back",
                "kept; for the person: `aye memory forget a` takes it back",
            ),
            ("a person can run `aye trust`", "a person can run `aye trust`"),
            (
                "`aye show a` shows it, `aye cancel a` ends it",
                "for the person: `aye show a` shows it, `aye cancel a` ends it",
            ),
        ] {
            assert_eq!(for_people(text), told);
            assert_eq!(for_people(told), told, "saying it twice changes nothing");
        }
    }

    #[test]
    fn what_an_error_quotes_stays_as_it_is() {
        let error = "`a` cannot be run\n   |\n 7 | shell: \"`aye run b`\"\nhint: see `aye check`";
        let told = error.replace("see `aye", "see for the person: `aye");
        assert_eq!(error_for_people(error), told);
    }
}
