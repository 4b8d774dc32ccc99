//! Where an answer leads.

use crate::journal::StepOutcome;
use crate::question::{Lead, Purpose, SILENCE};
use crate::skill::{Action, Ask, Body, Choice, ChoiceAction, EndStatus};

use super::graph::{Flow, NodeId, Target};
use super::route::Route;

impl Flow {
    /// Where each answer to a question of this step leads. What the options of a question
    /// about a failure do is said of each of them. Nothing follows a step that is run
    /// `alone`.
    pub fn leads(&self, node: NodeId, ask: &Ask, purpose: Purpose, alone: bool) -> Vec<Lead> {
        if purpose == Purpose::Recover {
            return Vec::new();
        }
        let lead = |choice: &Choice| Lead {
            answer: choice.value.clone(),
            ..self.lead(node, (choice.action, Some(&choice.value)), purpose, alone)
        };
        ask.options.iter().map(lead).collect()
    }

    /// Where a no to the question of this step leads.
    pub fn decline_lead(&self, node: NodeId, purpose: Purpose) -> Lead {
        self.lead(node, (ChoiceAction::Cancel, None), purpose, false)
    }

    /// Where no answer to the question of this step leads, where that is not where a no leads, or
    /// where a no cannot be said.
    pub fn silence_lead(&self, node: NodeId, ask: &Ask, purpose: Purpose) -> Option<Lead> {
        let late = purpose == Purpose::Ask && self.nodes[node].times_out_unanswered();
        let no = ask.options.iter().any(|option| option.action == ChoiceAction::Cancel);
        if ask.default.is_some() || no && !late || purpose == Purpose::Recover {
            return None;
        }
        let lead = match self.nodes[node].routes.timeout.filter(|_| late) {
            Some(target) => self.led_to(node, target),
            None => self.decline_lead(node, purpose),
        };
        Some(Lead { answer: SILENCE.to_owned(), ..lead })
    }

    /// Where a way that a declined question takes ends.
    fn led_to(&self, node: NodeId, target: Target) -> Lead {
        match target {
            Target::Step(next) => Lead::new(Some(self.nodes[next].step.name.value.clone()), None),
            Target::End(end) => {
                let ending = &self.endings[end];
                let status = match ending.status {
                    EndStatus::ByOutcome => {
                        let declined = StepOutcome::Declined { expired: true, by: None };
                        self.status_after(node, &declined)
                    }
                    status => status,
                };
                Lead::new(ending.name.clone(), Some(status))
            }
        }
    }

    fn lead(
        &self,
        node: NodeId,
        (action, answer): (ChoiceAction, Option<&str>),
        purpose: Purpose,
        alone: bool,
    ) -> Lead {
        let step = &self.nodes[node].step;
        let name = &step.name.value;
        let gates = purpose == Purpose::Gate && !matches!(step.action, Action::Note);
        let outcome = match action {
            ChoiceAction::Proceed if gates => {
                return Lead { to: Some(name.clone()), ..Lead::said(format!("runs {name}")) };
            }
            ChoiceAction::Proceed => StepOutcome::Success,
            ChoiceAction::Skip => StepOutcome::Skipped,
            ChoiceAction::Cancel => StepOutcome::Declined { expired: false, by: None },
        };
        let route = match alone {
            true => Route::alone(&outcome),
            false => self.route(node, &outcome, answer),
        };
        // However a step of `finally` ends, the next one follows.
        let is_finally = node >= self.body().len() && !alone;
        let in_order = matches!(self.skill.body, Body::Steps(_));
        if is_finally || in_order && matches!(route, Route::To(Target::Step(_))) {
            return match gates {
                true => Lead::said(format!("skips {name}")),
                false => Lead::continues(),
            };
        }
        match route {
            Route::To(Target::Step(next)) => {
                Lead::new(Some(self.nodes[next].step.name.value.clone()), None)
            }
            Route::To(Target::End(end)) => {
                let ending = &self.endings[end];
                let status = match ending.status {
                    EndStatus::ByOutcome => self.status_after(node, &outcome),
                    status => status,
                };
                Lead::new(ending.name.clone(), Some(status))
            }
            Route::Done => Lead::new(None, Some(EndStatus::Completed)),
            Route::Uncaught => Lead::new(None, Some(EndStatus::Cancelled)),
        }
    }
}
