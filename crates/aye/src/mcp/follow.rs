//! Waiting for a run that another process drives: until it asks, ends or rests,
//! or patience is over. The journal tells; nothing here holds the run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use aye_core::event::{Event, EventKind};
use aye_core::id::{QuestionId, RunId};
use tokio::sync::mpsc::UnboundedSender;

use aye_runtime::error::Error;
use aye_runtime::usecases::Overview;

use super::run_status::standing;
use super::server_state::ServerState;

/// How long a ring of the bell is waited for; then we look anyway.
const LOOK: Duration = Duration::from_millis(200);
/// How often it is looked whether someone still drives the run.
const DRIVER: Duration = Duration::from_secs(1);
/// So long memory has to answer a question before an assistant is told of it.
const MOMENT: Duration = Duration::from_millis(300);
/// Silence makes clients give up: after so long we say that it continues.
const SILENCE: Duration = Duration::from_secs(10);

/// What ended the waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FollowOutcome {
    /// The run asks, has ended, or no process drives it.
    Rests,
    /// It continues.
    GoesOn,
    /// The caller wants it stopped.
    Stopped,
}

/// How far a run is, for people who look.
pub(super) struct Progress {
    pub(super) words: String,
    /// How many of its steps have begun, and how many it has.
    pub(super) step: u32,
    pub(super) steps: u32,
}

/// What is waited for.
pub(super) struct Following {
    pub(super) run: RunId,
    pub(super) patience: Duration,
    /// The question that was open before: that it still is, is not news.
    pub(super) known: Option<String>,
    /// Set when the request is cancelled.
    pub(super) stop: Arc<AtomicBool>,
    /// The last event that was told.
    pub(super) after: Arc<AtomicU64>,
    /// Where the run is, for people who look.
    pub(super) news: UnboundedSender<Progress>,
}

/// Waits; blocks its thread.
pub(super) fn follow(server: &ServerState, following: &Following) -> Result<FollowOutcome, Error> {
    let journal = server.runtime.journal()?;
    let since = Instant::now();
    let mut told = Instant::now();
    let after = following.after.load(Ordering::Relaxed);
    let mut subscription = journal.subscribe_to_run(&following.run, after)?;
    let mut last = String::new();
    let steps = journal.run(&following.run)?.map_or(0, |row| row.steps);
    let mut step = 0;
    let say = |words: String, step: u32| {
        // Nobody may be there to hear it: that is fine.
        let _ = following.news.send(Progress { words, step, steps });
    };
    let mut looked: Option<Instant> = None;
    let mut resting = false;
    let mut asked = None;
    loop {
        let events = subscription.events()?;
        let news = !events.is_empty();
        for (number, event) in events {
            following.after.store(number, Ordering::Relaxed);
            if let EventKind::StepStarted(started) = &event.kind
                && event.run == following.run
            {
                step = started.index.unwrap_or(step).max(step);
            }
            if let Some(words) = words(&event) {
                last.clone_from(&words);
                told = Instant::now();
                say(words, step);
            }
        }
        // What happened until then has been told now.
        if resting {
            return Ok(FollowOutcome::Rests);
        }
        // A driver that dies says nothing: its lock is looked at from time to time.
        if news || looked.is_none_or(|looked| looked.elapsed() >= DRIVER) {
            looked = Some(Instant::now());
            let look = journal.overview(&following.run)?;
            if rests(&look, following.known.as_deref()) {
                if !is_memorys_turn(&look, &mut asked) {
                    resting = true;
                    continue;
                }
                looked = None;
            }
        }
        if following.stop.load(Ordering::Relaxed) {
            return Ok(FollowOutcome::Stopped);
        }
        if since.elapsed() >= following.patience || server.is_closing() {
            return Ok(FollowOutcome::GoesOn);
        }
        if told.elapsed() >= SILENCE {
            told = Instant::now();
            say(format!("still running: {last}"), step);
        }
        let rest = following.patience.saturating_sub(since.elapsed());
        subscription.wait(LOOK.min(rest).max(Duration::from_millis(1)))?;
    }
}

/// Whether there is something to tell: not that it continues, and not a question
/// that is known.
fn rests(look: &Overview, known: Option<&str>) -> bool {
    let asks = look.asks.as_ref().map(|asking| asking.question.id.as_str());
    !standing(look).continues() && (known.is_none() || asks != known)
}

/// Whether a question was asked this very moment that memory may answer before anyone else;
/// `asked` is the last such question, and when it was seen.
fn is_memorys_turn(look: &Overview, asked: &mut Option<(QuestionId, Instant)>) -> bool {
    let Some(asking) = look.asks.as_ref().filter(|asking| asking.question.remember) else {
        return false;
    };
    let id = &asking.question.id;
    let (_, since) = match asked.take() {
        Some(known) if known.0 == *id => asked.insert(known),
        _ => asked.insert((id.clone(), Instant::now())),
    };
    look.driven && since.elapsed() < MOMENT
}

/// An event as progress, if it is worth telling.
fn words(event: &Event) -> Option<String> {
    let step = |step: &str, what: &str| Some(format!("step {step} {what}"));
    match &event.kind {
        EventKind::StepStarted(started) => step(&started.step, "started"),
        EventKind::StepCompleted(completed) => step(&completed.step, "completed"),
        EventKind::StepFailed(failed) => step(&failed.step, "failed"),
        EventKind::StepSkipped { step: name, .. } => step(name, "skipped"),
        EventKind::StepRetried { step: name, .. } => step(name, "is tried again"),
        EventKind::AutoHealTriggered(heal) => step(&heal.step, "is being repaired"),
        EventKind::ConfirmationRequired(question) => step(&question.step, "asks"),
        EventKind::SkillFinishing(finishing) => {
            Some(format!("finally runs after the run {}", finishing.end.status()))
        }
        _ => None,
    }
}
