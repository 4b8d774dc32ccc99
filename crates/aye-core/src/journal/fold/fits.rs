//! Which events can happen where a run stands.

use crate::event::{EventKind, Stopping};
use crate::id::QuestionId;
use crate::journal::phase::{Phase, Transition};
use crate::journal::state::State;

impl State {
    /// Whether a fact can happen where the run stands.
    pub(super) fn fits(&self, kind: &EventKind) -> bool {
        let execution_runs = |execution: u32| matches!(&self.phase, Phase::Running { execution: e, .. } if *e == execution);
        let asks = |id: &QuestionId| matches!(&self.phase, Phase::Asking { question, .. } if question.id == *id);
        let between = matches!(self.phase, Phase::Transition(_));
        let asking = matches!(self.phase, Phase::Asking { .. });
        let nested = matches!(self.phase, Phase::Running { nested: true, .. });
        match kind {
            EventKind::SkillStarted(_) => false,
            EventKind::SkillPaused { .. } => self.paused.is_none() && (between || asking || nested),
            EventKind::SkillStopping(why) => {
                let running = matches!(self.phase, Phase::Running { .. });
                let first = match (&self.stopping, why) {
                    (None, _) => true,
                    // A cancel ends the run for good; an interrupt gives way.
                    (Some(Stopping::Interrupted { .. }), Stopping::Cancelled { .. }) => true,
                    (Some(_), _) => false,
                };
                running && first && self.paused.is_none()
            }
            EventKind::SkillResumed { .. } => {
                !matches!(self.phase, Phase::Ended(_)) || self.failed_step().is_some()
            }
            EventKind::ConcurrencyAcquired { name, .. }
            | EventKind::ConcurrencyWaiting { name, .. } => {
                let wanted = self.claim.as_ref().is_some_and(|claim| claim.name == *name);
                between && wanted && self.needs_name() && self.paused.is_none()
            }
            EventKind::MemoryRecalled(what) => match &what.fix {
                None => !matches!(self.phase, Phase::Ended(_)),
                Some(_) => {
                    matches!(&self.phase, Phase::Transition(Transition::Settled(settled)) if what.step.as_ref() == Some(&settled.step))
                }
            },
            // How a run ended is something to learn from.
            EventKind::MemoryLearned(_) => true,
            EventKind::SkillFinishing(_) => between && self.finally.is_none(),
            EventKind::SkillCompleted { .. } | EventKind::SkillFailed { .. } => between,
            EventKind::SkillCancelled { .. } => between || asking,
            EventKind::StepStarted(started) => between && started.execution == self.executions + 1,
            EventKind::AutoHealTriggered(heal) => {
                matches!(&self.phase, Phase::Transition(Transition::Settled(settled)) if settled.step == heal.step)
                    && heal.execution == self.executions + 1
            }
            EventKind::AutoHealCompleted { execution, .. } => {
                matches!(&self.phase, Phase::Running { execution: e, healing: Some(_), .. } if e == execution)
            }
            EventKind::StepQueued { execution, .. } | EventKind::StepDequeued { execution, .. } => {
                execution_runs(*execution)
            }
            EventKind::StepCompleted(done) => between || execution_runs(done.execution),
            EventKind::StepFailed(failed) => between || execution_runs(failed.execution),
            EventKind::StepSkipped { .. } | EventKind::StepRetried { .. } => between,
            EventKind::ConfirmationRequired(_) => between,
            EventKind::ConfirmationHeld { question, .. }
            | EventKind::ConfirmationAdvised { question, .. } => asks(question),
            EventKind::ConfirmationAnswered(answered) => {
                answered.refused.is_some() || asks(&answered.question)
            }
            EventKind::ConfirmationExpired { question, .. } => asks(question),
        }
    }
}

/// Where a run stands, in words.
pub(super) fn phase_word(phase: &Phase) -> &'static str {
    match phase {
        Phase::Transition(_) => "between steps",
        Phase::Running { .. } => "running a step",
        Phase::Asking { .. } => "waiting for an answer",
        Phase::Ended(_) => "over",
    }
}
