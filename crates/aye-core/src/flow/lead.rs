//! Where an answer leads.

use crate::journal::StepOutcome;
use crate::question::{Lead, Purpose};
use crate::skill::{Action, Ask, Body, Choice, ChoiceAction, EndStatus};

use super::graph::{Flow, NodeId, Target};
use super::route::Route;

impl Flow {
    /// Where each answer to a question of this step leads. In a list of steps
    /// that is plain: on, or to the end.
    pub fn leads(&self, node: NodeId, ask: &Ask, purpose: Purpose) -> Vec<Lead> {
        match (&self.skill.body, purpose) {
            (Body::States { .. }, Purpose::Gate | Purpose::Ask) => {}
            (Body::States { .. }, Purpose::Recover) | (Body::Steps(_), _) => return Vec::new(),
        }
        let lead = |choice: &Choice| {
            let (to, ends) = self.lead(node, choice.action, Some(&choice.value), purpose);
            Lead { answer: choice.value.clone(), to, ends }
        };
        ask.options.iter().map(lead).collect()
    }

    /// Where a no to the question of this step leads.
    pub fn decline_lead(&self, node: NodeId, purpose: Purpose) -> Lead {
        let (to, ends) = self.lead(node, ChoiceAction::Cancel, None, purpose);
        Lead { answer: "no".to_owned(), to, ends }
    }

    fn lead(
        &self,
        node: NodeId,
        action: ChoiceAction,
        answer: Option<&str>,
        purpose: Purpose,
    ) -> (Option<String>, Option<EndStatus>) {
        let step = &self.nodes[node].step;
        let acts = purpose == Purpose::Gate && !matches!(step.action, Action::Note);
        let outcome = match action {
            ChoiceAction::Proceed if acts => return (Some(step.name.value.clone()), None),
            ChoiceAction::Proceed => StepOutcome::Success,
            ChoiceAction::Skip => StepOutcome::Skipped,
            ChoiceAction::Cancel => StepOutcome::Declined { expired: false, by: None },
        };
        match self.route(node, &outcome, answer) {
            Route::To(Target::Step(next)) => (Some(self.nodes[next].step.name.value.clone()), None),
            Route::To(Target::End(end)) => {
                let ending = &self.endings[end];
                let status = match ending.status {
                    EndStatus::ByOutcome => self.status_after(node, &outcome),
                    status => status,
                };
                (ending.name.clone(), Some(status))
            }
            Route::Done => (None, Some(EndStatus::Completed)),
            Route::Uncaught => (None, Some(EndStatus::Cancelled)),
        }
    }
}
