//! The end of a report: what happened and what to do next.

use std::fmt::Write as _;
use std::time::Duration;

use aye_core::event::{CancelReason, FailReason, PauseReason};
use aye_core::id::RunId;
use aye_core::journal::{Ended, Phase, State, StepStatus};
use serde_json::Value;

use crate::paint::{
    Glyph, Paint, Tone, duration, escape_control, escape_control_line, plural, shell_word,
};
use crate::words::lead_words;
use aye_runtime::clock::ms_between;
use aye_runtime::driver::Outcome;
use aye_runtime::usecases::run_command;

use super::asked::{covered_text, first_words};
use super::failures::shortened;
use super::offered::Offered;
use super::step_line::has_name;

/// What happened, in a few lines, for this user.
pub fn summary(
    state: &State,
    outcome: Outcome,
    inside: Option<u32>,
    lost: &[String],
    user: &str,
    paint: Paint,
) -> String {
    let context = RunContext { outer: &state.run, driven: false, waiting: 0, inside, lost, user };
    told(state, outcome, context, paint)
}

/// Where a run stands, for someone who looks at it from elsewhere.
pub fn standing(state: &State, context: RunContext<'_>, paint: Paint) -> String {
    told(state, Outcome::of(state), context, paint)
}

/// What the journal of a run does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunContext<'a> {
    /// The run it is in the end inside of, or itself.
    pub outer: &'a RunId,
    /// Whether someone drives that one, and so this one.
    pub driven: bool,
    /// How many questions are open in it and in the runs inside it.
    pub waiting: u32,
    /// What [`stopped`] says of the runs inside it.
    pub inside: Option<u32>,
    /// The secrets that have to be given again to drive it.
    pub lost: &'a [String],
    /// Who looks at it.
    pub user: &'a str,
}

fn told(state: &State, outcome: Outcome, context: RunContext<'_>, paint: Paint) -> String {
    let RunContext { outer, driven, waiting, inside, lost, user } = context;
    let again = given_again(lost);
    let mut text = String::new();
    let skill = paint.text(Tone::Strong, &state.started.skill);
    let run = &state.run;
    let took = duration(Duration::from_millis(ms_between(state.started_at, state.updated_at)));
    let mark = |glyph, tone| paint.text(tone, paint.glyph(glyph));
    let mut next: Vec<(&str, String)> = Vec::new();
    let mut covered = String::new();
    let why = state.end_message.as_ref().map(|why| shortened(why, outer));
    let mut why = why.iter().flat_map(|why| why.lines()).map(escape_control);
    // Writing to a string cannot fail.
    match outcome {
        Outcome::Ended(Ended::Completed) => {
            let _ = write!(text, "{} {skill} completed in {took}", mark(Glyph::Done, Tone::Good));
            if let Some(end) = &state.final_state {
                let _ = write!(text, " at `{}`", escape_control_line(end));
            }
        }
        Outcome::Ended(Ended::Failed(reason)) => {
            let why = why.next().unwrap_or_default();
            let _ = write!(text, "{} {skill} failed: {why}", mark(Glyph::Failed, Tone::Bad));
            let step = state.decisive_step().and_then(|step| state.steps.get_key_value(step));
            if let (
                Some((step, record)),
                FailReason::StepFailed | FailReason::StepTimedOut | FailReason::Finally,
            ) = (step, reason)
            {
                if record.process.as_ref().is_some_and(|process| !process.said().is_empty()) {
                    next.push(("output", format!("aye logs {run} {step}")));
                }
                // Its results so far are kept; a change of the skill needs a new run.
                let again = match state.failed_step() {
                    // What is inside of a step is tried again with it.
                    Some(_) if record.execution > 0 => format!("aye retry {outer}{again}"),
                    // What could not even be written down needs a change of the skill.
                    Some(_) | None => run_command(state, lost),
                };
                next.push(("try again", again));
            }
        }
        Outcome::Ended(Ended::Cancelled(reason)) => {
            let why = why.next().unwrap_or_default();
            let said = match reason {
                // It says itself who cancelled it.
                CancelReason::Cancelled => "",
                CancelReason::Declined | CancelReason::Expired | CancelReason::FinalState => {
                    "cancelled: "
                }
            };
            let _ = write!(text, "{} {skill} {said}{why}", mark(Glyph::Failed, Tone::Dim));
        }
        Outcome::Paused(_) | Outcome::Interrupted(_) => {
            let rests = !driven && state.paused == Some(PauseReason::Resting);
            let why = match &state.phase {
                Phase::Asking { question, agreed, .. } => {
                    let go_on = match driven || rests || outer != run {
                        true => String::new(),
                        false => format!(" --resume{again}"),
                    };
                    // Nobody would be there to keep a secret.
                    let offered = Offered::to(user, question, &state.agreement());
                    if driven || !question.secret {
                        next.push((
                            "answer",
                            offered.command.map_or_else(|why| why, |command| command + &go_on),
                        ));
                    }
                    let workspace = Some(state.started.workspace.as_str());
                    covered = covered_text(question, run.as_str(), workspace, usize::MAX, paint);
                    let leads = lead_words(question, paint).join(", ");
                    if !leads.is_empty() {
                        covered.push_str(&format!("  {}\n", paint.text(Tone::Dim, &leads)));
                    }
                    next.push(("inbox", "aye inbox".to_owned()));
                    if !driven && !rests {
                        next.push(("wait", format!("aye resume {outer} --detach{again}")));
                    }
                    let some = (!agreed.is_empty())
                        .then(|| format!("{} of {} agreed", agreed.len(), question.approvals));
                    let another =
                        offered.needs_another.then(|| "another person has to agree".to_owned());
                    let notes: Vec<String> = some.into_iter().chain(another).collect();
                    let notes = match notes.is_empty() {
                        true => String::new(),
                        false => format!(" ({})", notes.join(", ")),
                    };
                    format!("waits for an answer{notes}: {}", first_words(&question.message))
                }
                Phase::Running { step, nested: true, .. }
                    if waiting > 0
                        || rests
                        || (!driven && state.paused == Some(PauseReason::Waiting)) =>
                {
                    next.push(("answer", "aye inbox".to_owned()));
                    if !driven && !rests {
                        next.push(("wait", format!("aye resume {outer} --detach{again}")));
                    }
                    format!("waits for an answer inside `{step}`")
                }
                Phase::Transition(_) if state.waits_for_name().is_some() => {
                    let holder = state.waits_for_name().map(|(_, waiting)| &waiting.holder);
                    if let Some(holder) = holder {
                        next.push(("that run", format!("aye show {holder}")));
                        // Without a driver nobody looks whether that run has ended.
                        if driven {
                            next.push(("end it", format!("aye cancel {holder}")));
                        }
                    }
                    match (driven, state.is_at_work()) {
                        (true, _) => waits_words(state, "waits"),
                        (false, true) => {
                            format!("was cut off; it {}", waits_words(state, "waited"))
                        }
                        (false, false) => {
                            format!("is paused; it {}", waits_words(state, "waited"))
                        }
                    }
                }
                Phase::Running { step, .. } if driven => format!("is running: at `{step}`"),
                Phase::Transition(_) | Phase::Running { .. } | Phase::Ended(_) if driven => {
                    "is running".to_owned()
                }
                Phase::Transition(_) | Phase::Running { .. } | Phase::Ended(_) => {
                    if state.is_at_work() {
                        "was cut off".to_owned()
                    } else {
                        "is paused".to_owned()
                    }
                }
            };
            next.push(match driven {
                true => ("watch", format!("aye watch {run}")),
                false => ("resume", format!("aye resume {outer}{again}")),
            });
            next.push(("cancel", format!("aye cancel {outer}")));
            let mark = match (driven, &state.phase) {
                (false, _) => mark(Glyph::Paused, Tone::Warn),
                (true, _) if state.waits_for_name().is_some() => mark(Glyph::Paused, Tone::Dim),
                (true, _) if waiting > 0 => mark(Glyph::Asking, Tone::Ask),
                (true, _) => mark(Glyph::Running, Tone::Mark),
            };
            let _ = write!(text, "{mark} {skill} {why}");
        }
    }
    let counts = counts(state, inside);
    if !counts.is_empty() {
        let _ = write!(text, "  {}", paint.text(Tone::Dim, &counts));
    }
    text.push('\n');
    // What the step has said already is not said again.
    let said = state.decisive_step().and_then(|step| state.steps.get(step)?.message.as_ref());
    let ends = |message: &String| state.end_message.as_ref().is_some_and(|e| e.ends_with(message));
    if !said.is_some_and(ends) {
        why.for_each(|more| text.push_str(&format!("  {}\n", paint.text(Tone::Dim, &more))));
    }
    text.push_str(&covered);
    for (name, value) in &state.results {
        let name = paint.text(Tone::Dim, &format!("{name}:"));
        let _ = match value {
            Value::String(value) if value.trim_end().contains('\n') => {
                let line = |line| match escape_control_line(line) {
                    line if line.trim().is_empty() => "\n".to_owned(),
                    line => format!("    {line}\n"),
                };
                let lines: String = value.trim_end().lines().map(line).collect();
                write!(text, "  {name}\n{lines}")
            }
            Value::String(value) => writeln!(text, "  {name} {}", escape_control_line(value)),
            other => writeln!(text, "  {name} {}", escape_control_line(&other.to_string())),
        };
    }
    let widest = next.iter().map(|(what, _)| what.len()).max().unwrap_or(0);
    for (what, command) in next {
        let command = command.replace('…', paint.glyph(Glyph::Ellipsis));
        let _ =
            writeln!(text, "  {}  {command}", paint.text(Tone::Dim, &format!("{what:widest$}")));
    }
    text
}

/// The secrets that the journal does not keep, as they are given again.
pub fn given_again(lost: &[String]) -> String {
    lost.iter().map(|name| format!(" -i {}=…", shell_word(&escape_control_line(name)))).collect()
}

/// `waits for run X: it has the name Y`, if it does.
fn waits_words(state: &State, waits: &str) -> String {
    match state.waits_for_name() {
        Some((name, waiting)) => format!("{waits} for run {}: {}", waiting.holder, has_name(name)),
        None => String::new(),
    }
}

/// How many steps stand like this.
fn count(state: &State, wanted: &[StepStatus]) -> usize {
    state.steps.values().filter(|step| wanted.contains(&step.status)).count()
}

/// How many processes of a run could not be ended; nothing where nothing had
/// to be.
pub fn stopped(state: &State) -> Option<u32> {
    let processes = state.steps.values().filter_map(|step| step.process.as_ref());
    let left: u32 = processes.map(|process| process.left_running).sum();
    let stopped = [StepStatus::TimedOut, StepStatus::Cancelled, StepStatus::Interrupted];
    let some = left > 0 || count(state, &stopped) > 0 || state.survivors.is_some();
    some.then_some(left)
}

fn counts(state: &State, inside: Option<u32>) -> String {
    let count = |wanted: &[StepStatus]| count(state, wanted);
    let mut parts = Vec::new();
    // An exit code with a way of its own is an answer, not a failure.
    let routed = state.steps.values().filter(|step| step.leads_to.is_some()).count();
    let done = count(&[StepStatus::Completed]) + routed;
    parts.push(format!("{} done", plural(done, "step")));
    let skipped = count(&[StepStatus::Skipped]);
    if skipped > 0 {
        parts.push(format!("{skipped} skipped"));
    }
    let failed = count(&[StepStatus::Failed, StepStatus::TimedOut]) - routed;
    if failed > 0 {
        parts.push(format!("{failed} failed"));
    }
    if let Some(ended @ 1..) = state.survivors {
        let ended = plural(usize::try_from(ended).unwrap_or(usize::MAX), "process");
        parts.push(format!("{ended} ended after it was cut off"));
    }
    if let left @ 1.. = [stopped(state), inside].into_iter().flatten().sum::<u32>() {
        let left = plural(usize::try_from(left).unwrap_or(usize::MAX), "process");
        parts.push(format!("{left} left running"));
    }
    parts.join(", ")
}
