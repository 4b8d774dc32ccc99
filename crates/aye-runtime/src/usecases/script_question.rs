//! A question of a shell script as a run of one step: it is in the inbox and
//! in the journal like any other, and the first valid answer wins.

use std::path::PathBuf;
use std::time::Duration;

use aye_core::diagnostic::Diagnostic;
use aye_core::event::{Answered, CancelReason, EventKind};
use aye_core::id::{QuestionId, RunId};
use aye_core::journal::Ended;
use aye_core::question::{Answer, Offer, Question};
use aye_core::skill::AskKind;
use serde_json::{Map, Value, json};

use crate::driver::Outcome;
use crate::error::Error;
use crate::runtime::Runtime;
use crate::skills::SkillFile;

use super::active_run::{FinishedRun, Surface};
use super::start::StartRequest;

/// The one step of such a run.
const STEP: &str = "question";

/// What a script asks. Its texts are shown as they are: they are not templates.
pub struct ScriptQuestion<'a> {
    /// Kind, title, message, options, default, pattern, and whether it is a secret.
    pub question: &'a Question,
    /// How long it may wait; `None` waits for ever.
    pub limit: Option<Duration>,
    /// Yes in advance.
    pub yes: bool,
}

/// A question that was asked, and what came of it.
pub struct AskedInRun {
    /// The run that records it.
    pub run: RunId,
    /// The question.
    pub question: Option<QuestionId>,
    /// What came of it.
    pub outcome: ScriptOutcome,
}

/// What came of a script's question.
pub enum ScriptOutcome {
    /// Someone answered, or `--yes` did.
    Answered {
        /// The answer; a secret as it was typed.
        value: String,
        /// Who answered, and through what.
        answer: Box<Answer>,
    },
    /// Nobody answered in time; the default, if there is one.
    Expired(Option<String>),
    /// The person who was asked left without an answer, or the run was cancelled.
    Cancelled,
    /// Aye was told to stop by this signal. The question is withdrawn: nobody
    /// waits for its answer any more.
    Stopped(i32),
}

impl Runtime {
    /// Asks, and waits for the answer.
    pub fn ask_in_run(
        &self,
        asking: &ScriptQuestion<'_>,
        surface: Surface<'_>,
    ) -> Result<AskedInRun, Error> {
        let name = asking.question.kind.word();
        let text = skill_text(name, asking);
        let read = SkillFile::from_text(PathBuf::new(), text.clone());
        if let Some(error) = read.diagnostics.into_iter().find(Diagnostic::is_error) {
            let hint = "ask it without `--journal`".to_owned();
            return Err(Error::usage(error.message, error.hint.unwrap_or(hint)));
        }
        let request = StartRequest::of_question(name, text, asking.yes, self);
        let active = self.start_requested(request, false, &mut |_| {})?;
        let run = active.run().clone();
        let mut finished = active.drive(surface)?;
        let outcome = match finished.outcome {
            Outcome::Interrupted(signal) => {
                // It ends by the signal either way.
                let _ = self.withdraw_run(&finished, "the script was interrupted");
                ScriptOutcome::Stopped(signal)
            }
            Outcome::Paused(_) => {
                self.withdraw_run(&finished, "left without an answer")?;
                ScriptOutcome::Cancelled
            }
            Outcome::Ended(ended) => outcome(ended, &finished)?,
        };
        let events = finished.journal.events(&run)?;
        let question = events.iter().find_map(|event| match &event.kind {
            EventKind::ConfirmationRequired(question) => Some(question.id.clone()),
            EventKind::ConfirmationAnswered(answered) => Some(answered.question.clone()),
            _ => None,
        });
        finished.tidy_up();
        Ok(AskedInRun { run, question, outcome })
    }

    /// Ends a run whose answer nobody waits for.
    fn withdraw_run(&self, finished: &FinishedRun, why: &str) -> Result<(), Error> {
        let Some(row) = finished.journal.run(&finished.state.run)? else { return Ok(()) };
        self.cancel(&row, self.driver().user, Some(why.to_owned()), true, &mut |_| {})?;
        Ok(())
    }
}

/// What the end of the run says about the question.
fn outcome(ended: Ended, finished: &FinishedRun) -> Result<ScriptOutcome, Error> {
    if let Ended::Cancelled(CancelReason::Cancelled) = ended {
        return Ok(ScriptOutcome::Cancelled);
    }
    let events = finished.journal.events(&finished.state.run)?;
    let closed = events.into_iter().rev().find_map(|event| match event.kind {
        EventKind::ConfirmationAnswered(answered) if answered.refused.is_none() => {
            let Answered { answer, .. } = *answered;
            let secret = finished.secrets.answer(STEP).map(str::to_owned);
            let value = secret.or_else(|| answer.value.as_str().map(str::to_owned));
            let value = value.unwrap_or_default();
            Some(ScriptOutcome::Answered { value, answer: Box::new(answer) })
        }
        EventKind::ConfirmationExpired { applied, .. } => Some(ScriptOutcome::Expired(applied)),
        _ => None,
    });
    closed.ok_or_else(|| {
        let record = finished.state.steps.get(STEP);
        let why = record.and_then(|record| record.message.clone());
        Error::Refused { message: why.unwrap_or_else(|| "it was not asked".to_owned()), hint: None }
    })
}

/// The skill that asks it, as JSON, which is YAML.
fn skill_text(name: &str, asking: &ScriptQuestion<'_>) -> String {
    let question = asking.question;
    let mut ask = Map::new();
    if !question.title.is_empty() {
        ask.insert("title".to_owned(), literal(&question.title).into());
    }
    ask.insert("message".to_owned(), literal(&question.message).into());
    if !question.options.is_empty() {
        let option = |offer: &Offer| {
            let (label, value, action) = (literal(&offer.label), &offer.value, offer.action);
            json!({ "label": label, "value": value, "action": action })
        };
        ask.insert("options".to_owned(), question.options.iter().map(option).collect());
    }
    if let Some(default) = &question.default {
        // The default of a choice is the value of an option.
        let default = match question.kind {
            AskKind::Input => literal(default),
            AskKind::Confirm | AskKind::Choose | AskKind::Recover => default.clone(),
        };
        ask.insert("default".to_owned(), default.into());
    }
    if let Some(pattern) = &question.pattern {
        ask.insert("match".to_owned(), pattern.as_str().into());
    }
    if question.secret {
        ask.insert("secret".to_owned(), true.into());
    }
    let limit = asking.limit.map_or("0".to_owned(), |limit| format!("{}ms", limit.as_millis()));
    ask.insert("timeout".to_owned(), limit.into());
    let step = json!({ "name": STEP, question.kind.word(): Value::Object(ask) });
    let skill = json!({ "name": name, "description": "Asked by a script", "steps": [step] });
    format!("{skill:#}\n")
}

/// The template that renders to exactly this text.
pub(super) fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letters.peek() {
            Some('{' | '%' | '#') if letter == '{' => out.push_str("{{ '{' }}"),
            _ => out.push(letter),
        }
    }
    out
}

/// A text as the name of a skill.
pub(super) fn as_name(text: &str) -> String {
    let fits = |c: char| if c.is_alphanumeric() || c == '-' { c } else { '_' };
    text.chars().take(60).map(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_of_a_text_are_escaped() {
        for (text, written) in [
            ("plain { one }", "plain { one }"),
            ("{{ x }}", "{{ '{' }}{ x }}"),
            ("{% if %} {# no #}", "{{ '{' }}% if %} {{ '{' }}# no #}"),
            ("{{{", "{{ '{' }}{{ '{' }}{"),
            ("ends with {", "ends with {"),
        ] {
            assert_eq!(literal(text), written);
        }
    }
}
