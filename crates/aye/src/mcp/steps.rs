//! The steps of a run in few words.

use aye_core::journal::State;
use serde_json::{Value, json};

use super::budget;

/// How many steps are told.
const RECENT: usize = 5;
/// How much of what a step wrote is told when it failed.
const TAIL: usize = 600;

/// The last steps, the newest last.
pub(super) fn recent(state: &State) -> Value {
    let mut steps: Vec<_> = state.steps.iter().filter(|(_, step)| step.visits > 0).collect();
    steps.sort_by_key(|(_, step)| step.ended.or(step.started));
    let shown = steps.iter().rev().take(RECENT).rev().map(|(name, step)| {
        let mut shown = json!({ "step": name, "status": step.status });
        if let Some(message) = &step.message {
            shown["message"] = budget::text(message, budget::VALUE).into();
        }
        shown
    });
    shown.collect()
}

/// What is known of a step that failed, in one text: its message, its hint,
/// and the end of what it wrote.
pub(super) fn failure(state: &State, step: &str) -> Value {
    let Some(record) = state.steps.get(step) else { return Value::from("") };
    let mut parts = Vec::new();
    parts.extend(record.code.as_ref().map(|code| format!("[{code}]")));
    parts.extend(record.message.clone());
    parts.extend(record.hint.as_ref().map(|hint| format!("hint: {hint}")));
    if let Some(process) = &record.process {
        let said = process.said();
        let said = said.trim_end();
        let from = said.char_indices().rev().nth(TAIL).map_or(0, |(at, _)| at);
        if !said.is_empty() {
            parts.push(format!("output: {}", &said[from..]));
        }
    }
    Value::from(budget::text(&parts.join("\n"), 2 * TAIL))
}
