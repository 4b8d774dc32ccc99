//! Which way a run goes when a step has ended.

use crate::journal::StepOutcome;
use crate::skill::OnError;

use super::graph::{Flow, NodeId, Target};

/// What follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Go there.
    To(Target),
    /// Nothing catches this outcome: it decides the run.
    Uncaught,
    /// Nothing is written and nothing went wrong: the run ends well here.
    Done,
}

impl Route {
    /// The way after this outcome of a step that is run alone: nothing follows it.
    pub fn alone(outcome: &StepOutcome) -> Self {
        match outcome {
            StepOutcome::Success | StepOutcome::Skipped => Self::Done,
            _ => Self::Uncaught,
        }
    }
}

impl Flow {
    /// The way from `node` after `outcome`; `answer` is what was answered to
    /// the step's question, if that decided the outcome.
    ///
    /// | outcome | looks at, in order |
    /// |---|---|
    /// | success | the answer, exact code 0, `success`, end |
    /// | skipped | the answer, past what belongs to the step, `success`, end |
    /// | failure | exact code, `failure`, `on_error: continue` -> as success |
    /// | guarded | `failure` |
    /// | time-out | `timeout`, `failure`, `on_error: continue` -> as success |
    /// | the run's time-out | `timeout`, `failure` |
    /// | no answer to a question that is a step of its own | `timeout`, as declined |
    /// | declined | the answer, `declined`, `failure` |
    /// | cancelled | `cancelled` |
    pub fn route(&self, node: NodeId, outcome: &StepOutcome, answer: Option<&str>) -> Route {
        let Some(node) = self.nodes.get(node) else {
            return Route::Uncaught;
        };
        let routes = &node.routes;
        let answered = answer.and_then(|answer| routes.answers.get(answer)).copied();
        let onward = routes.success.map_or(Route::Done, Route::To);
        let tolerated = |route: Option<Target>| match (route, node.step.on_error) {
            (Some(target), _) => Route::To(target),
            (None, Some(OnError::Continue)) => onward,
            (None, Some(OnError::Fail | OnError::Ask | OnError::AutoHeal) | None) => {
                Route::Uncaught
            }
        };
        match outcome {
            StepOutcome::Success | StepOutcome::Skipped | StepOutcome::Declined { .. }
                if answered.is_some() =>
            {
                answered.map_or(Route::Uncaught, Route::To)
            }
            StepOutcome::Success => {
                routes.codes.get(&0).map_or(onward, |target| Route::To(*target))
            }
            StepOutcome::Skipped => routes.skipped.map_or(onward, Route::To),
            StepOutcome::Failure(code) => {
                let exact = code.and_then(|code| routes.codes.get(&code)).copied();
                tolerated(exact.or(routes.failure))
            }
            StepOutcome::Guarded => routes.failure.map_or(Route::Uncaught, Route::To),
            StepOutcome::Timeout => tolerated(routes.timeout.or(routes.failure)),
            StepOutcome::RunTimeout => {
                routes.timeout.or(routes.failure).map_or(Route::Uncaught, Route::To)
            }
            StepOutcome::Declined { expired, .. } => {
                let silent = *expired && answer.is_none() && node.times_out_unanswered();
                let late = routes.timeout.filter(|_| silent);
                late.or(routes.declined).or(routes.failure).map_or(Route::Uncaught, Route::To)
            }
            StepOutcome::Cancelled => routes.cancelled.map_or(Route::Uncaught, Route::To),
        }
    }
}
