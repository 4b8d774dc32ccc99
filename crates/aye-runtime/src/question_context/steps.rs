//! The last steps before a question.

use aye_core::journal::{State, StepRecord, StepStatus};
use serde_json::{Value, json};

use super::{Redactor, STEPS, VALUE};

/// A step that was met, and what became of it.
#[derive(Debug, Clone)]
pub struct RecentStep {
    /// Its name.
    pub step: String,
    /// It is in a run around the one that asks.
    pub is_around: bool,
    /// How it stands.
    pub status: StepStatus,
    /// It has not begun: it waits until fewer processes run.
    pub queued: bool,
    /// The exit code of its process.
    pub exit_code: Option<i32>,
    /// What is said of its end.
    pub message: Option<String>,
    /// The end of what it wrote; of what went wrong, if it failed.
    pub output: Option<String>,
    /// What it returned.
    pub result: Option<Value>,
}

impl RecentStep {
    /// How it stands, in a word: a step that waits for its turn does not run yet.
    pub fn standing(&self) -> &'static str {
        if self.queued { "queued" } else { self.status.word() }
    }
}

/// The last steps of a run and of the runs `around` it (the nearest first), the newest
/// last. One that has not begun and of which nothing is known is none of them.
pub fn recent_steps(run: &State, around: &[State], redactor: &Redactor<'_>) -> Vec<RecentStep> {
    let runs = around.iter().rev().map(|run| (run, true)).chain([(run, false)]);
    let met = runs.flat_map(|(run, is_around)| {
        let says = |record: &StepRecord| {
            record.visits > 0 && (record.status != StepStatus::Waiting || record.message.is_some())
        };
        let met = run.steps.iter().filter(move |(_, record)| says(record));
        met.map(move |(name, record)| (run, is_around, name, record))
    });
    let mut steps: Vec<_> = met.collect();
    steps.sort_by_key(|(.., record)| record.ended.or(record.started));
    let last = &steps[steps.len().saturating_sub(STEPS)..];
    let shown = last.iter().map(|(run, is_around, name, record)| {
        let result = given(run, name, record);
        let result = result.filter(|value| !value.is_null() && **value != json!(""));
        RecentStep {
            step: redactor.whole(name),
            is_around: *is_around,
            status: record.status,
            queued: record.queued,
            exit_code: record.process.as_ref().and_then(|process| process.exit_code),
            message: record.message.as_ref().map(|message| redactor.whole(message)),
            output: output(record, redactor),
            result: result.map(|result| redactor.value(result, VALUE)),
        }
    });
    shown.collect()
}

/// The end of what it wrote; of what went wrong, if it failed.
fn output(record: &StepRecord, redactor: &Redactor<'_>) -> Option<String> {
    let process = record.process.as_ref()?;
    let failed = record.status != StepStatus::Completed;
    let text = match failed && !process.stderr.trim().is_empty() {
        true => &process.stderr,
        false => &process.stdout,
    };
    let end = redactor.end(text.trim_end(), usize::MAX, usize::MAX);
    (!end.is_empty()).then_some(end)
}

/// The result of a step, if the value of that name is the one that it gave: another
/// step, or a later start of this one, may have used the name since.
fn given<'a>(run: &'a State, step: &str, record: &StepRecord) -> Option<&'a Value> {
    let output = record.output.as_ref().filter(|_| record.status == StepStatus::Completed)?;
    let used = run.steps.iter().filter(|(_, other)| other.output.as_ref() == Some(output));
    let last = used.max_by_key(|(_, other)| (other.ended.or(other.started), other.execution))?;
    run.outputs.get(output).filter(|_| last.0 == step)
}
