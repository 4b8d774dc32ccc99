//! One line that says what became of a step or a question.

use std::time::Duration;

use aye_core::event::{
    BadOutcome, Event, EventKind, Finishing, PauseReason, ProcessRecord, RetryReason, StepStarted,
};
use aye_core::journal::{Phase, State};
use aye_core::question::Channel;

use crate::paint::{Glyph, Paint, Tone, duration, escape_control, escape_control_line, plural};
use crate::signs;
use crate::words::about_inside;
use aye_runtime::clock::ms_between;

use super::failures::shortened;
use super::timeline::{channel_words, ended_words, origin_words};

/// What is said of a step that has not begun because others run.
pub(super) const QUEUED: &str = "waiting for a slot";

/// What is said of a question whose run was stopped.
pub(super) const WITHDRAWN: &str = "withdrawn: the run was stopped";

/// As much of a command as a line shows.
const LONGEST_COMMAND: usize = 200;

/// The line for an event, or nothing if it has none of its own.
pub fn step_line(event: &Event, paint: Paint) -> Option<String> {
    let mark = |glyph, tone| paint.text(tone, paint.glyph(glyph));
    let name = |step: &str| paint.text(Tone::Strong, step);
    let dim = |text: &str| paint.text(Tone::Dim, text);
    Some(match &event.kind {
        EventKind::StepStarted(started) => {
            // Nobody reads a long argument here; the journal has it.
            let command = paint.cut(&started_words(started, paint)?, LONGEST_COMMAND);
            format!(
                "{} {}  {}",
                mark(Glyph::Running, Tone::Mark),
                name(&started.step),
                dim(&command)
            )
        }
        EventKind::StepQueued { step, .. } => {
            format!("{} {}  {}", mark(Glyph::Paused, Tone::Dim), name(step), dim(QUEUED))
        }
        EventKind::StepDequeued { step, .. } => {
            format!("{} {}  {}", mark(Glyph::Running, Tone::Mark), name(step), dim("has a slot"))
        }
        EventKind::StepCompleted(done) => {
            let took =
                done.process.as_ref().map(|process| process.duration_ms).or(done.duration_ms);
            let after = took.map(Duration::from_millis);
            let mut parts = Vec::new();
            let mut note =
                done.note.iter().flat_map(|note| note.trim().lines()).map(escape_control);
            parts.extend(note.next());
            parts.extend(after.map(duration));
            parts.extend(done.marked_by.as_ref().map(|who| format!("marked as done by {who}")));
            parts.extend(done.process.as_ref().and_then(ProcessRecord::left_behind));
            let mut line = format!(
                "{} {}  {}",
                mark(Glyph::Done, Tone::Good),
                name(&done.step),
                dim(&parts.join(", "))
            );
            let remarks = done.process.iter().flat_map(|process| &process.remarks);
            note.chain(remarks.map(|remark| escape_control(remark)))
                .for_each(|more| line.push_str(&format!("\n  {}", dim(&more))));
            line
        }
        EventKind::StepFailed(failed) => {
            // What was never started has used nothing, and took no time.
            let process = failed.process.as_ref().filter(|process| process.cpu_ms.is_some());
            let took = process.map(|process| process.duration_ms).or(failed.duration_ms);
            let after = took.map(Duration::from_millis);
            let said = shortened(&failed.message, &event.run.outermost());
            let mut lines = said.lines().map(escape_control_line);
            let mut message = lines.next().unwrap_or_default();
            if let Some(target) = &failed.leads_to {
                message.push_str(&format!(", which leads to `{}`,", escape_control_line(target)));
            }
            let (glyph, tone) = signs::of_failure(failed);
            let glyph = mark(glyph, tone);
            let message = match failed.leads_to {
                Some(_) => message,
                None => paint.text(tone, &message),
            };
            let mut line = format!("{glyph} {}  {message}", name(&failed.step));
            let ended = failed.outcome != BadOutcome::Interrupted;
            if let Some(after) = after.filter(|_| ended) {
                // A sentence of the author's may not continue with "after", and
                // one about a limit has said when it was up.
                let killed;
                let between = match failed.outcome {
                    BadOutcome::Timeout if process.is_some_and(|p| p.left_running > 0) => {
                        ", stopped after "
                    }
                    BadOutcome::Timeout => {
                        let how = process.and_then(ended_words);
                        killed = format!(", {} after ", how.as_deref().unwrap_or("ended"));
                        killed.as_str()
                    }
                    _ if failed.guarded => ", ",
                    _ => " after ",
                };
                line.push_str(&dim(&format!("{between}{}", duration(after))));
            }
            if let Some(left) = process.and_then(ProcessRecord::left_behind) {
                line.push_str(&dim(&format!(", {left}")));
            }
            // Code and a caret below it keep their columns.
            lines.for_each(|more| line.push_str(&format!("\n  {}", dim(&more))));
            let remarks = failed.process.iter().flat_map(|process| &process.remarks);
            for hint in failed.hint.iter().chain(remarks) {
                line.push_str(&format!("\n  {} {}", dim("hint:"), escape_control_line(hint)));
            }
            line
        }
        EventKind::StepSkipped { step, message, .. } => {
            let why = message.as_deref().map(escape_control_line).unwrap_or_default();
            format!("{} {}  {}", mark(Glyph::Skipped, Tone::Dim), name(step), dim(&why))
        }
        EventKind::StepRetried { step, attempt, why, not_before, answer, .. } => {
            let why = match why {
                RetryReason::Idempotent => "it may be run twice",
                RetryReason::Answer => "requested by a person",
                RetryReason::Policy => "as its `retry` says",
                RetryReason::Healed => "repaired",
                RetryReason::Fixed => "with what is known to help",
                RetryReason::Relayed => "requested, not by a person",
            };
            let program = answer.as_ref().and_then(|answer| answer.started_by());
            let why = match program {
                Some(program) => format!("requested by {}", escape_control_line(program)),
                None => why.to_owned(),
            };
            let wait =
                not_before.map(|at| duration(Duration::from_millis(ms_between(event.at, at))));
            let wait = wait.map(|wait| format!(" in {wait}")).unwrap_or_default();
            format!(
                "{} {}  {}",
                mark(Glyph::Running, Tone::Warn),
                name(step),
                dim(&format!("attempt {attempt}{wait}: {why}"))
            )
        }
        EventKind::AutoHealTriggered(heal) => {
            let kind = heal.category.map(|kind| format!(" ({})", kind.word())).unwrap_or_default();
            format!(
                "{} {}  {}",
                mark(Glyph::Running, Tone::Warn),
                name(&heal.step),
                dim(&format!(
                    "known error{kind}: `{}` repairs it",
                    escape_control_line(&heal.rule)
                ))
            )
        }
        EventKind::AutoHealCompleted { step, rule, healed, message, duration_ms, .. } => {
            let took =
                duration_ms.map(|ms| duration(Duration::from_millis(ms))).unwrap_or_default();
            let (glyph, words) = match (healed, message) {
                (true, _) => {
                    (mark(Glyph::Done, Tone::Good), format!("`{rule}` ran in {took}"))
                }
                (false, why) => {
                    let why = why.as_deref().map(escape_control_line).unwrap_or_default();
                    (mark(Glyph::Failed, Tone::Warn), format!("`{rule}` did not repair it: {why}"))
                }
            };
            format!("{glyph} {}  {}", name(step), dim(&escape_control_line(&words)))
        }
        EventKind::MemoryLearned(what) if what.is_silent() => return None,
        EventKind::MemoryRecalled(what) | EventKind::MemoryLearned(what) => {
            let step = what.step.as_deref().map(|step| format!("{}  ", name(step)));
            let said = escape_control_line(&what.message);
            let words = format!("{}{}", step.unwrap_or_default(), dim(&format!("memory: {said}")));
            format!("{} {words}", mark(Glyph::Dot, Tone::Dim))
        }
        EventKind::ConfirmationAnswered(answered) => {
            let value = answered.answer.value.as_str().unwrap_or("***");
            let label = answered.label.as_deref().unwrap_or(value);
            let who = match answered.answer.prompter {
                Channel::Override => "--yes".to_owned(),
                prompter => {
                    let through = channel_words(prompter, answered.answer.proof);
                    format!("{} through {through}", answered.answer.by)
                }
            };
            let who = match origin_words(&answered.answer) {
                Some(origin) => format!("{who}, {}", escape_control_line(&origin)),
                None => who,
            };
            match &answered.refused {
                None => {
                    let after = duration(Duration::from_millis(answered.latency_ms));
                    let reason = answered.answer.reason.as_deref().map(escape_control_line);
                    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                    format!(
                        "{} {}  {}",
                        mark(Glyph::Answered, Tone::Mark),
                        paint.text(Tone::Strong, &paint.cut(&escape_control_line(label), 60)),
                        dim(&format!("answered by {who} after {after}{reason}"))
                    )
                }
                Some(why) => format!(
                    "{} {}",
                    mark(Glyph::Failed, Tone::Warn),
                    dim(&format!("the answer of {who} was refused: {}", escape_control_line(why)))
                ),
            }
        }
        EventKind::ConfirmationExpired { withdrawn: true, .. } => {
            format!("{} {WITHDRAWN}", mark(Glyph::Asking, Tone::Dim))
        }
        EventKind::ConfirmationExpired { applied, .. } => {
            let taken = match applied {
                Some(value) => {
                    format!("nobody answered in time: `{}` is taken", escape_control_line(value))
                }
                None => "no answer in time: counts as no".to_owned(),
            };
            format!("{} {}", mark(Glyph::Asking, Tone::Warn), taken)
        }
        EventKind::SkillPaused { why: PauseReason::Interrupted, message, .. } => {
            let by = message.as_deref().unwrap_or("a signal");
            format!("{} interrupted by {by}", mark(Glyph::Paused, Tone::Warn))
        }
        EventKind::SkillPaused { why: PauseReason::Waiting, message, .. } => {
            let why = message.as_deref().map(escape_control_line)?;
            format!("{} nobody can be asked here: {why}", mark(Glyph::Paused, Tone::Warn))
        }
        EventKind::SkillPaused { why: PauseReason::Resting, message, .. } => {
            let why = message.as_deref().map(escape_control_line)?;
            let words = format!("rests: {why}; an answer resumes it");
            format!("{} {}", mark(Glyph::Paused, Tone::Dim), dim(&words))
        }
        EventKind::SkillResumed { suspended_ms: Some(ms), .. } => {
            let after = duration(Duration::from_millis(*ms));
            format!("{} resumed after {after}", mark(Glyph::Running, Tone::Mark))
        }
        EventKind::SkillResumed { driver, .. } => {
            let who = format!("{} on {}", driver.user, driver.host);
            format!("{} resumed by {}", mark(Glyph::Running, Tone::Mark), escape_control_line(&who))
        }
        EventKind::ConcurrencyWaiting { name, holder, ahead } => {
            let mut words = format!("waits for run {holder}: {}", has_name(name));
            if *ahead > 0 {
                let runs = plural(usize::try_from(*ahead).unwrap_or(usize::MAX), "run");
                let verb = if *ahead == 1 { "waits" } else { "wait" };
                words.push_str(&format!("; {runs} {verb} before this one"));
            }
            let cancel = dim(&format!("aye cancel {holder}  ends that run"));
            format!("{} {words}\n  {cancel}", mark(Glyph::Paused, Tone::Dim))
        }
        EventKind::ConcurrencyAcquired { waited_ms: None, .. } => return None,
        EventKind::ConcurrencyAcquired { name, waited_ms: Some(ms) } => {
            let after = duration(Duration::from_millis(*ms));
            let words = format!("holds the name `{}` after {after}", escape_control_line(name));
            format!("{} {words}", mark(Glyph::Running, Tone::Mark))
        }
        EventKind::SkillFinishing(finishing) => {
            let words = dim(finishing_words(finishing));
            format!("{} {}  {words}", mark(Glyph::Running, Tone::Mark), name("finally"))
        }
        EventKind::SkillStarted(_)
        | EventKind::SkillStopping(_)
        | EventKind::SkillCompleted { .. }
        | EventKind::SkillFailed { .. }
        | EventKind::SkillCancelled { .. }
        | EventKind::ConfirmationRequired(_)
        // The prompt shows advice beside its question, and the record keeps it.
        | EventKind::ConfirmationAdvised { .. }
        | EventKind::ConfirmationHeld { .. } => return None,
    })
}

/// What is said of the run that has a name.
pub(super) fn has_name(name: &str) -> String {
    format!("it holds the name `{}`", escape_control_line(name))
}

/// Why `finally` begins.
pub(super) fn finishing_words(finishing: &Finishing) -> &'static str {
    match finishing.end.status() {
        "completed" => "the steps are done",
        "cancelled" => "the run was cancelled",
        _ => "the run failed",
    }
}

/// The line for an event while a run continues.
pub(super) fn live_line(event: &Event, state: &State, paint: Paint) -> Option<String> {
    // The run inside has said already why it rests.
    let inside = matches!(state.phase, Phase::Running { nested: true, .. });
    if inside && matches!(event.kind, EventKind::SkillPaused { .. }) {
        return None;
    }
    let own = heading(event, state, paint).or_else(|| step_line(event, paint));
    own.or_else(|| left_out(event, state, paint))
}

/// The steps of `finally` that did not run although it began: its time was up, or it was
/// cancelled as well.
fn left_out(event: &Event, state: &State, paint: Paint) -> Option<String> {
    let (EventKind::SkillFailed { .. } | EventKind::SkillCancelled { .. }) = &event.kind else {
        return None;
    };
    let steps = state.started.step_list.iter().filter(|_| state.finally.is_some());
    let names = steps.filter(|step| step.finally && !state.steps.contains_key(&step.name));
    let names: Vec<String> = names.map(|step| escape_control_line(&step.name)).collect();
    let words = format!("{} not reached: {}", paint.glyph(Glyph::Pending), names.join(", "));
    (!names.is_empty()).then(|| paint.text(Tone::Dim, &words))
}

/// The line above a run: which skill, and the run's id for other commands.
fn heading(event: &Event, state: &State, paint: Paint) -> Option<String> {
    let mut about = format!("run {}", event.run);
    if let Some(parent) = &state.started.parent {
        let (EventKind::SkillStarted(_) | EventKind::SkillResumed { .. }) = &event.kind else {
            return None;
        };
        let label = paint.text(Tone::Strong, &escape_control_line(&parent.label()));
        let about = paint.text(Tone::Dim, &about_inside(state));
        return Some(format!("{label}  {about}").trim_end().to_owned());
    }
    match &event.kind {
        EventKind::SkillStarted(_) => {}
        EventKind::SkillResumed { suspended_ms: Some(_), .. } => return None,
        EventKind::SkillResumed { driver, .. } => {
            about.push_str(&escape_control_line(&format!(
                ", resumed by {} on {}",
                driver.user, driver.host
            )));
        }
        _ => return None,
    }
    let skill = paint.text(Tone::Strong, &escape_control_line(&state.started.skill));
    Some(format!("{skill}  {}", paint.text(Tone::Dim, &about)))
}

/// What a step that starts is about to do; nothing for questions and blocks,
/// which have words of their own.
pub(super) fn started_words(started: &StepStarted, paint: Paint) -> Option<String> {
    match (&started.command, started.items.len()) {
        (Some(command), _) => Some(first_line(command, paint)),
        (None, 0) => None,
        (None, items) => Some(plural(items, "item")),
    }
}

/// A script is shown by its first line.
pub(super) fn first_line(command: &str, paint: Paint) -> String {
    let mut lines = command.trim().lines();
    let first = escape_control_line(lines.next().unwrap_or_default());
    match lines.next() {
        Some(_) => format!("{first} {}", paint.glyph(Glyph::Ellipsis)),
        None => first,
    }
}
