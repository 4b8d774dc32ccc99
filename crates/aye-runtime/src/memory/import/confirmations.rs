//! `confirmations.yaml`: what someone said at a step.

use serde_json::{Map, Value};

use crate::memory::Memory;
use crate::memory::original::{OriginalChoice, is_original, original_id};

use super::{ImportOutcome, Report};

/// Whether an entry is what someone said at a step.
pub(super) fn is_one(key: &str, entry: &Value) -> bool {
    const SAID: [&str; 4] = ["auto_proceed", "last_choice", "choice_history", "environment_rules"];
    is_original(key) && SAID.iter().any(|said| entry.get(said).is_some())
}

pub(super) fn import(memory: &Memory, map: &Map<String, Value>, report: &mut Report) {
    for (key, entry) in map {
        if !is_original(key) {
            report.pass_over(key.clone(), "it is not called `SKILL:STEP`");
            continue;
        }
        let choice: OriginalChoice = match serde_json::from_value(entry.clone()) {
            Ok(choice) => choice,
            Err(error) => {
                report.pass_over(key.clone(), format!("it is not valid: {error}"));
                continue;
            }
        };
        let kept = match memory.keep_original(key, entry) {
            Ok(true) => ImportOutcome::Kept,
            Ok(false) => ImportOutcome::Known,
            Err(error) => {
                let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
                report.pass_over(key.clone(), format!("{error}{hint}"));
                continue;
            }
        };
        let strict =
            choice.environment_rules.iter().filter(|(name, _)| choice.always_asks(Some(name)));
        let strict: Vec<&str> = strict.map(|(name, _)| name.as_str()).collect();
        let mut about = match (choice.auto_proceed, choice.wanted()) {
            (_, Some((wanted, _))) => format!(
                "the yes is not used: it does not say what it was for; answer `{wanted}` once more \
                 and remember it"
            ),
            (Some(false), None) => "Aye always asks".to_owned(),
            (_, None) => "nothing is answered for it".to_owned(),
        };
        if !strict.is_empty() {
            about.push_str(&format!("; always asked in {}", strict.join(", ")));
        }
        if !choice.choice_history.is_empty() {
            about.push_str(&format!("; {} earlier answers are kept", choice.choice_history.len()));
        }
        about.push_str(&format!("; `{}` in memory", original_id(key)));
        report.add(key.clone(), kept, about);
    }
}
