//! The state of a run.

use std::sync::Arc;

use indexmap::IndexMap;
use jiff::Timestamp;
use serde_json::Value;

use crate::advice::Advice;
use crate::event::{
    CancelReason, Driver, PauseReason, RunEnd, SkillStarted, Stopping, WindDownReason, WindingDown,
};
use crate::id::{QuestionId, RunId};
use crate::question::{Agreement, Purpose, Question};

use super::claim::{Claim, Waiting};
use super::finally::Finally;
use super::phase::{Ended, Phase, RunStatus, Settled};
use super::record::{Covered, StepRecord};

/// Everything a run is: the fold of its events.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The run.
    pub run: RunId,
    /// The last event's number.
    pub seq: u64,
    /// How it began.
    pub started: SkillStarted,
    /// When it began.
    pub started_at: Timestamp,
    /// When its last event was.
    pub updated_at: Timestamp,
    /// Where it stands.
    pub phase: Phase,
    /// Who drives it, or did last.
    pub driver: Driver,
    /// `--yes` answers its questions until it ends. A retry of a failed run does
    /// not inherit it.
    pub yes: bool,
    /// The epoch of the lease under which it was last driven.
    pub epoch: u64,
    /// How often each fix from memory was used.
    pub fixes: IndexMap<String, u32>,
    /// The start of the step around it that it was last begun or retried for.
    pub turn: u32,
    /// Nobody drives it, and why.
    pub paused: Option<PauseReason>,
    /// The running step is to be ended, and why.
    pub stopping: Option<Stopping>,
    /// How often a step was started.
    pub executions: u32,
    /// How often a step was entered, left out ones included.
    pub visits: u32,
    /// How many questions were asked.
    pub questions: u32,
    /// Those of them whose answers must not be written down.
    pub secret_questions: Vec<QuestionId>,
    /// A guarded question (`by`, `approvals`, `type_to_confirm`, `reauth`) was answered: what
    /// follows is what a person agreed to.
    pub agreed: bool,
    /// The name of its `concurrency`.
    pub claim: Option<Claim>,
    /// Only a clean-up path may still run.
    pub winding_down: Option<WindingDown>,
    /// `finally` runs, or has run: how the run ends was decided.
    pub finally: Option<Finally>,
    /// When it last began to end: a cancel was taken, or its clean-up began.
    pub ending_since: Option<Timestamp>,
    /// Results by output name.
    pub outputs: Arc<IndexMap<String, Value>>,
    /// Those of them that held a secret: what they were is in memory only.
    pub hidden: Vec<String>,
    /// What is known of each step, in the order first met.
    pub steps: Arc<IndexMap<String, StepRecord>>,
    /// The step that was entered last.
    pub current: Option<String>,
    /// How the step before it ended.
    pub entered_after: Option<Settled>,
    /// When that was, or when its last retry was decided: `now` in its
    /// templates, so that what is asked, intended and done is the same.
    pub entered_at: Timestamp,
    /// Steps that someone agreed to at an earlier question: each visit to one is compared with
    /// that, until the question is answered anew.
    pub covered: IndexMap<String, Covered>,
    /// The skill's named outputs, once completed.
    pub results: IndexMap<String, Value>,
    /// The final state, in `states:` skills.
    pub final_state: Option<String>,
    /// Why it failed or was cancelled, in words.
    pub end_message: Option<String>,
    /// The step that the last event of a bad end names.
    pub decided_by: Option<String>,
    /// It was cut off, and so many of its processes were found and ended.
    pub survivors: Option<u32>,
    /// Who cancelled or declined.
    pub ended_by: Option<String>,
}

impl State {
    /// Where the run stands.
    pub fn status(&self) -> RunStatus {
        match (&self.phase, self.paused) {
            (Phase::Ended(Ended::Completed), _) => RunStatus::Completed,
            (Phase::Ended(Ended::Failed(_)), _) => RunStatus::Failed,
            (Phase::Ended(Ended::Cancelled(_)), _) => RunStatus::Cancelled,
            (Phase::Transition(_) | Phase::Running { .. } | Phase::Asking { .. }, Some(_)) => {
                RunStatus::Paused
            }
            (Phase::Transition(_) | Phase::Running { .. } | Phase::Asking { .. }, None) => {
                RunStatus::Running
            }
        }
    }

    /// The open question.
    pub fn asking(&self) -> Option<&Question> {
        match &self.phase {
            Phase::Asking { question, .. } => Some(question),
            Phase::Transition(_) | Phase::Running { .. } | Phase::Ended(_) => None,
        }
    }

    /// Whether its question is open.
    pub fn is_asking(&self) -> bool {
        self.asking().is_some()
    }

    /// Whether it is at work: it runs and asks nothing. If no process drives it, it was cut off.
    pub fn is_at_work(&self) -> bool {
        self.status() == RunStatus::Running && !self.is_asking()
    }

    /// Whether the run needs the name of its `concurrency` before anything else.
    pub fn needs_name(&self) -> bool {
        let open = !matches!(self.phase, Phase::Ended(_));
        open && self.claim.as_ref().is_some_and(|claim| !claim.held)
    }

    /// What the run waits for, if it waits for the name of its `concurrency`.
    pub fn waits_for_name(&self) -> Option<(&str, &Waiting)> {
        let claim = self.claim.as_ref()?;
        Some((&claim.name, claim.waiting.as_ref()?))
    }

    /// Who has agreed to the open question so far.
    pub fn agreement(&self) -> Agreement {
        let (by, on) = match &self.phase {
            Phase::Asking { agreed, agreed_on, .. } => (agreed.clone(), agreed_on.clone()),
            Phase::Transition(_) | Phase::Running { .. } | Phase::Ended(_) => Default::default(),
        };
        Agreement { by, on, starter: self.started.starter().to_owned() }
    }

    /// What the outside was when someone was asked about the current step.
    pub(crate) fn outside(&self) -> Option<&Arc<IndexMap<String, Value>>> {
        Some(&self.steps.get(self.current.as_ref()?)?.outside)
    }

    /// When the open question expires: by its own deadline or the run's.
    pub fn question_deadline(&self) -> Option<Timestamp> {
        let question = self.asking()?;
        [question.deadline, self.deadline_over(question)].into_iter().flatten().min()
    }

    /// What assistants think of the open question, in the order in which they said it.
    pub fn advice(&self) -> &[Advice] {
        match &self.phase {
            Phase::Asking { advice, .. } => advice,
            Phase::Transition(_) | Phase::Running { .. } | Phase::Ended(_) => &[],
        }
    }

    /// Whether this run asked a question of this name whose answer may be shown.
    pub fn asked_openly(&self, question: &QuestionId) -> bool {
        question.run().as_ref() == Some(&self.run)
            && question.number().is_some_and(|n| (1..=self.questions).contains(&n))
            && !self.secret_questions.contains(question)
    }

    /// When the run has to be over: its own deadline, its clean-up's or that of
    /// `finally`.
    pub fn deadline(&self) -> Option<Timestamp> {
        match (&self.finally, &self.winding_down) {
            (Some(finally), _) => Some(finally.until),
            (None, Some(winding)) => Some(winding.until),
            (None, None) => self.started.deadline,
        }
    }

    /// Whether a cancel that was sent at this time asks for what has begun since. Only a later
    /// one may end the clean-up itself: who sent it could see that there is one.
    pub fn is_ending_since(&self, sent: Timestamp) -> bool {
        self.ending_since.is_some_and(|since| sent <= since)
    }

    /// Whether another cancel ends the run without what is left of its clean-up, and that of the
    /// runs inside it: it was cancelled before, or runs its `finally`.
    pub fn ends_on_cancel(&self) -> bool {
        let stopping = matches!(self.stopping, Some(Stopping::Cancelled { .. }));
        let winding = self.winding_down.as_ref().map(|winding| &winding.why);
        stopping || self.finally.is_some() || matches!(winding, Some(WindDownReason::Cancelled))
    }

    /// Whether the run waits at a gate whose step has not begun: its `cancelled` transition has
    /// nothing to clean up.
    pub fn is_before_step(&self) -> bool {
        match &self.phase {
            Phase::Asking { question, .. } if question.purpose == Purpose::Gate => {
                self.steps.get(&question.step).is_none_or(|record| record.execution == 0)
            }
            Phase::Asking { .. }
            | Phase::Transition(_)
            | Phase::Running { .. }
            | Phase::Ended(_) => false,
        }
    }

    /// Whether only `finally` is left of a run that nobody has cancelled.
    pub fn is_only_finishing(&self) -> bool {
        let ended = matches!(self.phase, Phase::Ended(_));
        let cancelled =
            |end: &RunEnd| matches!(end, RunEnd::Cancelled { why: CancelReason::Cancelled, .. });
        !ended && self.finally.as_ref().is_some_and(|finally| !cancelled(&finally.end))
    }

    /// When the run's time ends an open question. What became of a step of
    /// `finally` that is in doubt is asked for as long as it takes.
    pub(crate) fn deadline_over(&self, question: &Question) -> Option<Timestamp> {
        match (&self.finally, question.purpose) {
            (Some(_), Purpose::Recover) => None,
            (_, _) => self.deadline(),
        }
    }

    /// The step that decided how the run ends; the last one while that is open.
    pub fn decisive_step(&self) -> Option<&str> {
        match (&self.finally, &self.phase) {
            (Some(_), Phase::Ended(_)) => self.decided_by.as_deref(),
            (Some(finally), _) => finally.end.step(),
            (None, _) => self.current.as_deref(),
        }
    }
}
