//! Which runs of a nested step to start, and how the step ends.
//!
//! This depends only on what the runs report. After a restart the host reports
//! again which runs have started and which have ended, in any order, and the
//! result is the same.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error_code::ErrorCode;
use crate::event::{CancelReason, FailReason};
use crate::input::{End, Finished};
use crate::journal::{Ended, Phase, State};
use crate::nested::{Nested, Parent};

/// The runs of a nested step: which continue, and how the others ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildSchedule {
    parallel: usize,
    fail_fast: bool,
    is_list: bool,
    runs: Vec<Slot>,
    /// The next that has not been begun.
    next: usize,
    going: usize,
    /// Nothing further is begun.
    held: bool,
}

/// One of the runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Slot {
    Waiting,
    Going,
    Ended(Box<ChildEnd>),
}

/// How a run inside a step ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildEnd {
    /// How.
    pub outcome: Ended,
    /// By then the time of the step was up.
    pub past: bool,
    /// What it gives to the step.
    pub result: Value,
    /// What the run is called beneath its step.
    pub label: String,
    /// In words.
    pub message: String,
    /// Who declined.
    pub by: Option<String>,
    /// A person agreed in it to what follows.
    pub agreed: bool,
}

impl ChildEnd {
    /// How a run ended, if it has; `past` says that the time of the step is up.
    pub fn of(state: &State, result: Value, past: bool) -> Option<Self> {
        let Phase::Ended(outcome) = state.phase else { return None };
        let label = state.started.parent.as_ref().map(|parent| Parent::label(parent));
        Some(Self {
            outcome,
            past,
            result,
            label: label.unwrap_or_default(),
            message: state.end_message.clone().unwrap_or_default(),
            by: state.ended_by.clone(),
            agreed: state.agreed,
        })
    }

    /// A run that could not be begun.
    pub fn refused(label: String, message: String) -> Self {
        let outcome = Ended::Failed(FailReason::StepFailed);
        let (past, result) = (false, Value::Null);
        Self { outcome, past, result, label, message, by: None, agreed: false }
    }

    fn is_timed_out(&self) -> bool {
        self.past && self.outcome == Ended::Failed(FailReason::RunTimedOut)
    }

    fn is_failed(&self) -> bool {
        matches!(self.outcome, Ended::Failed(_)) && !self.is_timed_out()
    }

    /// Someone said no, which in a list leaves only that item out.
    fn is_declined(&self) -> bool {
        use CancelReason::{Declined, FinalState};
        matches!(self.outcome, Ended::Cancelled(Declined | FinalState))
    }

    fn is_cancelled(&self) -> bool {
        matches!(self.outcome, Ended::Cancelled(_))
    }
}

impl ChildSchedule {
    /// Nothing has been begun yet.
    pub fn new(nested: &Nested) -> Self {
        Self {
            parallel: nested.parallel.max(1),
            fail_fast: nested.fail_fast,
            is_list: nested.is_list,
            runs: vec![Slot::Waiting; nested.children.len()],
            next: 0,
            going: 0,
            held: false,
        }
    }

    /// Whether a failure inside keeps further runs from starting. One that a person is being
    /// asked about counts: nobody knows yet how it ends.
    pub fn is_fail_fast(&self) -> bool {
        self.fail_fast
    }

    /// The index of the run that [`Self::begin`] would begin.
    pub fn upcoming(&self) -> Option<usize> {
        let room = !self.held && self.going < self.parallel && self.next < self.runs.len();
        room.then_some(self.next)
    }

    /// The run to begin now, if there is room for one. It counts as begun.
    pub fn begin(&mut self) -> Option<usize> {
        let index = self.upcoming()?;
        self.runs[index] = Slot::Going;
        self.going += 1;
        self.next += 1;
        Some(index)
    }

    /// A run that an earlier driver has begun.
    pub fn begun(&mut self, index: usize) {
        let Some(slot @ Slot::Waiting) = self.runs.get_mut(index) else { return };
        *slot = Slot::Going;
        self.going += 1;
        self.next = self.next.max(index + 1);
    }

    /// A run that was begun has ended, or could not be begun after all.
    pub fn ended(&mut self, index: usize, end: ChildEnd) {
        let Some(slot @ Slot::Going) = self.runs.get_mut(index) else { return };
        let aborted = end.outcome == Ended::Failed(FailReason::Aborted);
        self.held |= aborted
            || end.is_timed_out()
            || end.is_failed() && self.fail_fast
            || end.is_cancelled() && !(self.is_list && end.is_declined());
        *slot = Slot::Ended(Box::new(end));
        self.going -= 1;
    }

    /// The step is to end: nothing further is begun.
    pub fn stop(&mut self) {
        self.held = true;
    }

    /// What the runs gave so far, in the order of the items.
    pub fn results(&self) -> impl Iterator<Item = &Value> {
        const NOTHING: &Value = &Value::Null;
        self.runs.iter().map(|run| match run {
            Slot::Ended(end) if end.outcome == Ended::Completed => &end.result,
            Slot::Ended(_) | Slot::Waiting | Slot::Going => NOTHING,
        })
    }

    /// What becomes of the step, now that nothing inside it continues.
    pub fn finish(self, epoch: u64, execution: u32, stopped: bool) -> Finished {
        let ends: Vec<&ChildEnd> = self.ends().collect();
        let agreed = ends.iter().any(|end| end.agreed);
        let left_out = match self.is_list {
            true => ends.iter().filter(|end| end.is_declined()).count(),
            false => 0,
        };
        let end = if stopped { End::Stopped } else { self.end(&ends) };
        let note = match &end {
            End::TimedOut if self.is_list => Some(self.progress(&ends)),
            _ => (left_out > 0).then(|| format!("{left_out} of {} declined", self.runs.len())),
        };
        Finished { epoch, note, agreed, ..Finished::bare(execution, end, None) }
    }

    fn ends(&self) -> impl Iterator<Item = &ChildEnd> {
        self.runs.iter().filter_map(|run| match run {
            Slot::Ended(end) => Some(&**end),
            Slot::Waiting | Slot::Going => None,
        })
    }

    /// How many of the runs are done, and how many have not been begun.
    fn progress(&self, ends: &[&ChildEnd]) -> String {
        let done = ends.iter().filter(|end| end.outcome == Ended::Completed).count();
        match self.runs.iter().filter(|run| matches!(run, Slot::Waiting)).count() {
            0 => format!("{done} of {} done", self.runs.len()),
            waiting => format!("{done} of {} done, {waiting} not started", self.runs.len()),
        }
    }

    fn end(&self, ends: &[&ChildEnd]) -> End {
        // Of several it matters which; one is the step itself.
        let said = |end: &ChildEnd| match self.is_list {
            true => format!("{}: {}", end.label, end.message),
            false => end.message.clone(),
        };
        let no = ends.iter().find(|end| end.is_cancelled() && !(self.is_list && end.is_declined()));
        if let Some(end) = no {
            let expired = end.outcome == Ended::Cancelled(CancelReason::Expired);
            let message = match self.is_list {
                true => format!("{} ({})", said(end), self.progress(ends)),
                false => said(end),
            };
            return End::Declined { expired, by: end.by.clone(), message };
        }
        if ends.iter().any(|end| end.is_timed_out()) {
            return End::TimedOut;
        }
        let failed: Vec<String> =
            ends.iter().filter(|end| end.is_failed()).map(|end| said(end)).collect();
        if failed.is_empty() {
            let mut results = self.results().cloned();
            let value = match self.is_list {
                true => Value::Array(results.collect()),
                false => results.next().unwrap_or_default(),
            };
            return End::Exited { value, parsed: None };
        }
        let message = match self.is_list {
            true => {
                let (count, all) = (failed.len(), self.runs.len());
                format!("{count} of {all} failed: {} ({})", failed.join("; "), self.progress(ends))
            }
            false => failed.join("; "),
        };
        End::Failed { code: ErrorCode::Nested, message, hint: None, proposal: None }
    }
}
