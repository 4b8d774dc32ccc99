//! How each event changes the state. `fits` says which events can follow;
//! `steps` and `questions` take in what happens to them.
//!
//! Touches nothing but the state; everything else reads that.

mod fits;
mod questions;
mod steps;

use std::sync::Arc;

use indexmap::IndexMap;
use jiff::SignedDuration;

use crate::event::{Event, EventKind, SkillStarted, Stopping, VERSION};

use super::claim::Claim;
use super::finally::Finally;
use super::phase::{Ended, Phase, Resolution, Transition};
use super::state::State;
use fits::phase_word;

/// Why events are not a journal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// There is nothing.
    #[error("the journal is empty")]
    Empty,
    /// The first event must be `skill_started`.
    #[error("the journal begins with `{0}` instead of `skill_started`")]
    Beginning(&'static str),
    /// Written by a newer program.
    #[error("event {seq} has version {version}; this program knows up to {VERSION}")]
    Version {
        /// Which event.
        seq: u64,
        /// Its version.
        version: u32,
    },
    /// An event is missing or there twice.
    #[error("event {found} follows event {last}")]
    Gap {
        /// The last one applied.
        last: u64,
        /// The next one's number.
        found: u64,
    },
    /// It belongs to another run.
    #[error("event {0} belongs to another run")]
    Foreign(u64),
    /// It cannot happen where the run stands.
    #[error("event {seq}: `{kind}` does not fit while the run is {phase}")]
    Misfit {
        /// Which event.
        seq: u64,
        /// What it says.
        kind: &'static str,
        /// Where the run stands.
        phase: &'static str,
    },
}

impl State {
    /// The state after a run's first event.
    pub fn begin(event: &Event) -> Result<Self, FoldError> {
        let EventKind::SkillStarted(started) = &event.kind else {
            return Err(FoldError::Beginning(event.kind.name()));
        };
        check_version(event)?;
        if event.seq != 1 {
            return Err(FoldError::Gap { last: 0, found: event.seq });
        }
        let started: SkillStarted = SkillStarted::clone(started);
        let (driver, epoch) = (started.driver.clone(), started.epoch);
        let claim = started.concurrency.clone().map(Claim::new);
        let turn =
            started.parent.as_ref().map_or(0, |parent| parent.turn.unwrap_or(parent.execution));
        Ok(Self {
            run: event.run.clone(),
            seq: event.seq,
            yes: started.yes,
            started,
            started_at: event.at,
            updated_at: event.at,
            phase: Phase::Transition(Transition::Begun),
            driver,
            epoch,
            fixes: IndexMap::new(),
            turn,
            paused: None,
            stopping: None,
            executions: 0,
            visits: 0,
            questions: 0,
            secret_questions: Vec::new(),
            agreed: false,
            claim,
            winding_down: None,
            finally: None,
            ending_since: None,
            outputs: Arc::default(),
            hidden: Vec::new(),
            steps: Arc::default(),
            current: None,
            entered_after: None,
            entered_at: event.at,
            covered: IndexMap::new(),
            results: IndexMap::new(),
            final_state: None,
            end_message: None,
            decided_by: None,
            survivors: None,
            ended_by: None,
        })
    }

    /// The state after all these events.
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<Self, FoldError> {
        let mut events = events.into_iter();
        let mut state = Self::begin(events.next().ok_or(FoldError::Empty)?)?;
        for event in events {
            state.apply(event)?;
        }
        Ok(state)
    }

    /// Takes one more event in. On an error the state is as it was.
    pub fn apply(&mut self, event: &Event) -> Result<(), FoldError> {
        check_version(event)?;
        if event.run != self.run {
            return Err(FoldError::Foreign(event.seq));
        }
        if event.seq != self.seq + 1 {
            return Err(FoldError::Gap { last: self.seq, found: event.seq });
        }
        if !self.fits(&event.kind) {
            let phase = phase_word(&self.phase);
            return Err(FoldError::Misfit { seq: event.seq, kind: event.kind.name(), phase });
        }
        self.seq = event.seq;
        let idle = event.at.duration_since(std::mem::replace(&mut self.updated_at, event.at));
        self.take(event, idle);
        let cancelled = matches!(self.stopping, Some(Stopping::Cancelled { .. }));
        // A cancel stands while the clean-up of a run inside waits for an answer.
        if self.paused.is_some() && !cancelled || !matches!(self.phase, Phase::Running { .. }) {
            self.stopping = None;
        }
        Ok(())
    }

    fn cut_off(&mut self, ended: Option<u32>) {
        if let Some(ended) = ended {
            *self.survivors.get_or_insert(0) += ended;
        }
    }

    fn take(&mut self, event: &Event, idle: SignedDuration) {
        let at = event.at;
        match &event.kind {
            EventKind::SkillStarted(_) => {}
            EventKind::SkillPaused { why, .. } => self.paused = Some(*why),
            EventKind::SkillStopping(why) => {
                self.stopping = Some(why.clone());
                if let Stopping::Cancelled { .. } = why {
                    self.ending_since = Some(at);
                }
            }
            EventKind::SkillResumed { driver, suspended_ms, turn, ended, epoch } => {
                self.paused = None;
                // A process that resumes it wants it to continue; a cancel stands.
                if let Some(Stopping::Interrupted { .. }) = self.stopping {
                    self.stopping = None;
                }
                self.epoch = *epoch;
                self.turn = turn.unwrap_or(self.turn);
                self.cut_off(*ended);
                self.driver.clone_from(driver);
                match suspended_ms {
                    Some(ms) => self.give_back(*ms),
                    // Nobody drove it: `finally` has the time it had left, and a run that is
                    // retried has that of before its end.
                    None if self.finally.is_some() || matches!(self.phase, Phase::Ended(_)) => {
                        self.give_back(u64::try_from(idle.as_millis()).unwrap_or(0));
                    }
                    None => {}
                }
                self.reopen(at);
            }
            EventKind::ConcurrencyAcquired { waited_ms, .. } => {
                self.claim.iter_mut().for_each(Claim::acquire);
                // The limit of a step around it continues.
                if self.started.parent.is_none() {
                    self.give_back(waited_ms.unwrap_or(0));
                }
            }
            EventKind::ConcurrencyWaiting { holder, ahead, .. } => {
                if let Some(claim) = &mut self.claim {
                    claim.wait(holder.clone(), *ahead, at);
                }
            }
            EventKind::SkillFinishing(finishing) => {
                self.finally = Some(Finally::begin(finishing, at, &self.steps));
                self.ending_since = Some(at);
                self.phase = Phase::Transition(Transition::Finishing);
            }
            EventKind::SkillCompleted { state, outputs, .. } => {
                self.results.clone_from(outputs);
                self.final_state.clone_from(state);
                self.end(Ended::Completed);
            }
            EventKind::SkillFailed { why, message, step, state, .. } => {
                self.decided_by.clone_from(step);
                self.end_message = Some(message.clone());
                self.final_state.clone_from(state);
                self.end(Ended::Failed(*why));
            }
            EventKind::SkillCancelled { why, by, message, step, ended, state, .. } => {
                self.decided_by.clone_from(step);
                self.cut_off(*ended);
                self.end_message.clone_from(message);
                self.final_state.clone_from(state);
                self.ended_by.clone_from(by);
                self.end(Ended::Cancelled(*why));
            }
            EventKind::StepStarted(started) => self.step_started(started, at),
            EventKind::StepQueued { step, .. } => self.queued(step, true, at),
            EventKind::StepDequeued { step, .. } => self.queued(step, false, at),
            EventKind::StepCompleted(done) => self.step_completed(done, at),
            EventKind::StepFailed(failed) => self.step_failed(failed, at),
            EventKind::StepSkipped { .. } => self.step_skipped(&event.kind, at),
            EventKind::StepRetried { .. } => self.step_retried(&event.kind, at),
            EventKind::AutoHealTriggered(heal) => self.heal_triggered(heal),
            EventKind::AutoHealCompleted { step, .. } => self.heal_completed(step),
            EventKind::MemoryRecalled(what) => self.recalled(what),
            EventKind::MemoryLearned(_) => {}
            EventKind::ConfirmationRequired(question) => self.ask(question, at),
            EventKind::ConfirmationHeld { deadline, left_ms, .. } => {
                self.held(*deadline, *left_ms, at);
            }
            EventKind::ConfirmationAdvised { advice, .. } => self.advised(advice),
            EventKind::ConfirmationAnswered(answered) => self.answered(answered, at),
            EventKind::ConfirmationExpired { applied, .. } => {
                self.resolve(Resolution::Expired(applied.clone()));
            }
        }
    }

    /// Moves the limits of the run and of its running step: it stood still.
    fn give_back(&mut self, ms: u64) {
        let later = SignedDuration::from_millis(i64::try_from(ms).unwrap_or(i64::MAX));
        let shift = |at: &mut jiff::Timestamp| *at = at.checked_add(later).unwrap_or(*at);
        self.started.deadline.iter_mut().for_each(shift);
        if let Some(winding) = &mut self.winding_down {
            shift(&mut winding.until);
        }
        if let Some(finally) = &mut self.finally {
            shift(&mut finally.until);
        }
        if let Phase::Running { deadline, .. } = &mut self.phase {
            deadline.iter_mut().for_each(shift);
        }
    }

    fn end(&mut self, ended: Ended) {
        self.phase = Phase::Ended(ended);
        self.paused = None;
        self.claim.iter_mut().for_each(Claim::release);
    }
}

fn check_version(event: &Event) -> Result<(), FoldError> {
    if event.v > VERSION {
        return Err(FoldError::Version { seq: event.seq, version: event.v });
    }
    Ok(())
}
