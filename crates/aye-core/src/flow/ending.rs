//! How a run ends at a final state without a `status`.

use crate::journal::StepOutcome;
use crate::skill::{Action, AskKind, Choice, ChoiceAction, EndStatus};

use super::graph::{Flow, Node, NodeId, Target};

impl Flow {
    /// How a run ends that this outcome of a step led to a final state.
    pub fn status_after(&self, node: NodeId, outcome: &StepOutcome) -> EndStatus {
        let Some(Node { routes, .. }) = self.nodes.get(node) else { return EndStatus::Completed };
        let caught = match outcome {
            StepOutcome::Success | StepOutcome::Skipped => return EndStatus::Completed,
            StepOutcome::Declined { .. } | StepOutcome::Cancelled => return EndStatus::Cancelled,
            // An author who names an exit code expects it.
            StepOutcome::Failure(Some(code)) if routes.codes.contains_key(code) => {
                return EndStatus::Completed;
            }
            StepOutcome::Failure(_) => routes.failure.is_some(),
            StepOutcome::Timeout => routes.timeout.or(routes.failure).is_some(),
            StepOutcome::Guarded | StepOutcome::RunTimeout => true,
        };
        // `on_error: continue` takes the way of a success.
        if caught { EndStatus::Failed } else { EndStatus::Completed }
    }

    /// How a run can end at one of [`Flow::endings`], as its way there decides.
    pub fn statuses_at(&self, end: usize) -> Vec<EndStatus> {
        let Some(ending) = self.endings.get(end) else { return Vec::new() };
        if ending.status != EndStatus::ByOutcome {
            return vec![ending.status];
        }
        // A final state that acts is a step before its end.
        let acting = ending.name.as_deref().and_then(|name| self.find(name));
        let target = acting.map_or(Target::End(end), Target::Step);
        let mut found = Vec::new();
        if self.start == target {
            found.push(EndStatus::Completed);
        }
        for node in &self.nodes {
            for (word, to) in node.routes.labelled() {
                if to == target {
                    found.extend(statuses_by(&word, node));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// How a run ends that went this way to a final state.
fn statuses_by(word: &str, node: &Node) -> Vec<EndStatus> {
    match word {
        "failure" if node.can_decline() && node.routes.declined.is_none() => {
            vec![EndStatus::Failed, EndStatus::Cancelled]
        }
        "failure" | "timeout" => vec![EndStatus::Failed],
        "declined" | "cancelled" => vec![EndStatus::Cancelled],
        answer if node.routes.answers.contains_key(answer) && node.declines_with(answer) => {
            vec![EndStatus::Cancelled]
        }
        _ => vec![EndStatus::Completed],
    }
}

impl Node {
    /// The first answer to its own question that lets the run continue.
    pub fn likely_answer(&self) -> Option<&str> {
        let Action::Ask(ask) = &self.step.action else { return None };
        let mut options = ask.options.iter();
        options.find(|it| it.action == ChoiceAction::Proceed).map(|it| it.value.as_str())
    }

    /// Answers that end the run although others are transitions.
    pub(super) fn answers_without_target(&self) -> Vec<&str> {
        let Action::Ask(ask) = &self.step.action else { return Vec::new() };
        let routes = &self.routes;
        if routes.answers.is_empty() || routes.success.is_some() {
            return Vec::new();
        }
        let goes_on = ask.options.iter().filter(|it| it.action != ChoiceAction::Cancel);
        let values = goes_on.map(|it| it.value.as_str());
        values.filter(|value| !routes.answers.contains_key(*value)).collect()
    }

    /// Whether every answer that lets the run continue has a transition.
    pub fn is_decided_by_answers(&self) -> bool {
        !self.routes.answers.is_empty() && self.answers_without_target().is_empty()
    }

    /// Whether this answer to its question is a no.
    pub fn declines_with(&self, answer: &str) -> bool {
        let options = self.step.question().map(|ask| ask.options.as_slice()).unwrap_or_default();
        options.iter().any(|it| it.value == answer && it.action == ChoiceAction::Cancel)
    }

    /// The answer that silence takes, where every no to its own question has a transition, so that
    /// nothing else declines.
    pub fn routed_no(&self) -> Option<&str> {
        let Action::Ask(ask) = &self.step.action else { return None };
        let declines = |it: &&Choice| it.action == ChoiceAction::Cancel;
        let mut values = ask.options.iter().filter(declines).map(|it| it.value.as_str());
        let all = values.clone().all(|value| self.routes.answers.contains_key(value));
        values.next().filter(|_| all)
    }

    /// Whether someone can say no there.
    pub fn can_decline(&self) -> bool {
        let asks = self.step.action.ask().is_some_and(|ask| {
            ask.kind == AskKind::Confirm
                || ask.options.iter().any(|option| option.action == ChoiceAction::Cancel)
        });
        asks || self.step.confirmation.is_some()
    }
}
