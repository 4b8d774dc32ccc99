//! What people are told whose answer came too late.

use std::time::Duration;

use aye_core::event::{Event, EventKind};
use aye_core::id::QuestionId;
use jiff::Timestamp;

use crate::error::Error;
use crate::fmt::{duration, escape_control_line};
use crate::store::{QuestionRow, QuestionState, RunRow};

use super::journal_reader::JournalReader;

impl JournalReader {
    /// Why an answer to this question does not count, if it was decided before:
    /// what was decided, by what, and how to stop what follows.
    pub fn late_answer(
        &self,
        question: &QuestionId,
        now: Timestamp,
    ) -> Result<Option<Error>, Error> {
        let question = self.find_question(question.as_str())?;
        if question.state == QuestionState::Open {
            return Ok(None);
        }
        let events = self.events(&question.run)?;
        let decided = events.iter().rev().find_map(|event| decision(event, &question));
        let words = decided
            .or_else(|| events.iter().rev().find_map(cancelled))
            .unwrap_or_else(|| "the run ended before anyone answered".to_owned());
        let ms = question.closed.map(|at| now.as_millisecond() - at.as_millisecond());
        let ago = ms.and_then(|ms| u64::try_from(ms).ok()).map(Duration::from_millis);
        let ago = ago.map(|ago| format!(", {} ago", duration(ago))).unwrap_or_default();
        let hint = self.outermost(&question.run)?.map(|run| how_to_stop(&run));
        let message = format!("question `{}` is decided: {words}{ago}", question.id);
        Ok(Some(Error::Refused { message, hint }))
    }
}

fn decision(event: &Event, question: &QuestionRow) -> Option<String> {
    match &event.kind {
        EventKind::ConfirmationAnswered(answered)
            if answered.question == question.id && answered.refused.is_none() =>
        {
            let answer = &answered.answer;
            let value = answered.label.as_deref().or(answer.value.as_str()).unwrap_or("***");
            let (by, through) = (escape_control_line(&answer.by), answer.prompter.spoken());
            Some(format!("{by} answered `{}` through {through}", escape_control_line(value)))
        }
        EventKind::ConfirmationExpired { question: expired, withdrawn: true, .. }
            if *expired == question.id =>
        {
            Some("the run was stopped before anyone answered".to_owned())
        }
        EventKind::ConfirmationExpired { question: expired, applied, withdrawn: false }
            if *expired == question.id =>
        {
            Some(match applied {
                Some(value) => format!(
                    "nobody answered in time, and its default `{}` was taken",
                    escape_control_line(value)
                ),
                None => "nobody answered in time, which counts as no".to_owned(),
            })
        }
        _ => None,
    }
}

/// Why the run of a question was cancelled, where a reason was given.
fn cancelled(event: &Event) -> Option<String> {
    match &event.kind {
        EventKind::SkillCancelled { message, .. } => message.as_deref().map(escape_control_line),
        _ => None,
    }
}

fn how_to_stop(run: &RunRow) -> String {
    match run.status.is_ended() {
        true => format!("the run is over; `aye show {}` shows how it ended", run.id),
        false => format!("`aye cancel {}` stops the run", run.id),
    }
}
