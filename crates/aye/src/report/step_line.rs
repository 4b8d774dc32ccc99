//! One line that says what became of a step or a question.

use std::time::Duration;

use aye_core::event::{BadOutcome, Event, Fact, PauseReason, RetryReason};
use aye_core::journal::State;
use aye_core::question::Prompter;

use crate::paint::{Glyph, Paint, Tone, duration, inert_line};

/// The line for an event, or nothing if it has none of its own.
pub fn step_line(event: &Event, paint: Paint) -> Option<String> {
    let mark = |glyph, tone| paint.text(tone, paint.glyph(glyph));
    let name = |step: &str| paint.text(Tone::Strong, step);
    let dim = |text: &str| paint.text(Tone::Dim, text);
    Some(match &event.fact {
        Fact::StepStarted(started) => {
            let command = first_line(started.command.as_ref()?, paint);
            format!(
                "{} {}  {}",
                mark(Glyph::Running, Tone::Ask),
                name(&started.step),
                dim(&command)
            )
        }
        Fact::StepCompleted(done) => {
            let after = done.process.as_ref().map(|p| Duration::from_millis(p.duration_ms));
            let mut parts = Vec::new();
            parts.extend(after.map(duration));
            parts.extend(done.marked_by.as_ref().map(|who| format!("marked as done by {who}")));
            if let Some(process) = &done.process
                && process.leaky
            {
                parts.push("left a process behind, which was ended".to_owned());
            }
            format!(
                "{} {}  {}",
                mark(Glyph::Done, Tone::Good),
                name(&done.step),
                dim(&parts.join(", "))
            )
        }
        Fact::StepFailed(failed) => {
            // What was never started has used nothing, and took no time.
            let process = failed.process.as_ref().filter(|process| process.peak_memory.is_some());
            let after = process.map(|process| Duration::from_millis(process.duration_ms));
            let glyph = match failed.outcome {
                BadOutcome::Unknown | BadOutcome::Interrupted => mark(Glyph::Asking, Tone::Warn),
                BadOutcome::Failure | BadOutcome::Timeout | BadOutcome::Cancelled => {
                    mark(Glyph::Failed, Tone::Bad)
                }
            };
            let mut line = format!(
                "{glyph} {}  {}",
                name(&failed.step),
                paint.text(Tone::Bad, &inert_line(&failed.message))
            );
            let ended = failed.outcome != BadOutcome::Interrupted;
            if let Some(after) = after.filter(|_| ended) {
                line.push_str(&dim(&format!(" after {}", duration(after))));
            }
            if let Some(hint) = &failed.hint {
                line.push_str(&format!("\n  {} {}", dim("hint:"), inert_line(hint)));
            }
            line
        }
        Fact::StepSkipped { step, message, .. } => {
            let why = message.as_deref().map(inert_line).unwrap_or_default();
            format!("{} {}  {}", mark(Glyph::Skipped, Tone::Dim), name(step), dim(&why))
        }
        Fact::StepRetried { step, attempt, why } => {
            let why = match why {
                RetryReason::Idempotent => "it may be run twice",
                RetryReason::Answer => "as asked",
            };
            format!(
                "{} {}  {}",
                mark(Glyph::Running, Tone::Warn),
                name(step),
                dim(&format!("attempt {attempt}: {why}"))
            )
        }
        Fact::ConfirmationAnswered(answered) => {
            let value = answered.answer.value.as_str().unwrap_or("***");
            let label = answered.label.as_deref().unwrap_or(value);
            let who = match answered.answer.prompter {
                Prompter::Override => "--yes".to_owned(),
                prompter => format!("{} through {}", answered.answer.by, prompter.word()),
            };
            match &answered.refused {
                None => {
                    let after = duration(Duration::from_millis(answered.latency_ms));
                    let reason = answered.answer.reason.as_deref().map(inert_line);
                    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                    format!(
                        "{} {}  {}",
                        mark(Glyph::Answered, Tone::Ask),
                        paint.text(Tone::Strong, &crate::term::cut(&inert_line(label), 60)),
                        dim(&format!("answered by {who} after {after}{reason}"))
                    )
                }
                Some(why) => format!(
                    "{} {}",
                    mark(Glyph::Failed, Tone::Warn),
                    dim(&format!("an answer by {who} was refused: {}", inert_line(why)))
                ),
            }
        }
        Fact::ConfirmationExpired { applied, .. } => {
            let taken = match applied {
                Some(value) => format!("nobody answered in time: `{}` is taken", inert_line(value)),
                None => "nobody answered in time: that is no".to_owned(),
            };
            format!("{} {}", mark(Glyph::Asking, Tone::Warn), taken)
        }
        Fact::SkillPaused { why: PauseReason::Interrupted, message } => {
            let by = message.as_deref().unwrap_or("a signal");
            format!("{} interrupted by {by}", mark(Glyph::Paused, Tone::Warn))
        }
        Fact::SkillPaused { why: PauseReason::Waiting, message } => {
            let why = message.as_deref().map(inert_line)?;
            format!("{} nobody can be asked here: {why}", mark(Glyph::Paused, Tone::Warn))
        }
        Fact::SkillResumed { driver } => {
            let who = format!("{} on {}", driver.user, driver.host);
            format!("{} resumed by {}", mark(Glyph::Running, Tone::Ask), inert_line(&who))
        }
        Fact::SkillStarted(_)
        | Fact::SkillCompleted { .. }
        | Fact::SkillFailed { .. }
        | Fact::SkillCancelled { .. }
        | Fact::ConfirmationRequired(_)
        | Fact::ConfirmationHeld { .. } => return None,
    })
}

/// The line above a run: which skill, and the run's id for other commands.
pub(super) fn heading(event: &Event, state: &State, paint: Paint) -> Option<String> {
    let mut about = format!("run {}", event.run);
    match &event.fact {
        Fact::SkillStarted(_) => {}
        Fact::SkillResumed { driver } => {
            about
                .push_str(&inert_line(&format!(", resumed by {} on {}", driver.user, driver.host)));
        }
        _ => return None,
    }
    let skill = paint.text(Tone::Strong, &inert_line(&state.started.skill));
    Some(format!("{skill}  {}", paint.text(Tone::Dim, &about)))
}

/// A script is shown by its first line.
pub(super) fn first_line(command: &str, paint: Paint) -> String {
    let mut lines = command.trim().lines();
    let first = inert_line(lines.next().unwrap_or_default());
    match lines.next() {
        Some(_) => format!("{first} {}", paint.glyph(Glyph::Ellipsis)),
        None => first,
    }
}
