//! A `timeout` transition of a question that is never taken.

use crate::diagnostic::{Diagnostic, quote};
use crate::skill::{Action, StepTimeout};

use super::super::graph::Flow;

/// Silence takes the transition where nothing else is declared for it and it has an end.
pub(super) fn never_taken(flow: &Flow) -> Vec<Diagnostic> {
    let states = flow.body().iter().filter(|node| node.times_out_unanswered());
    let never = states.filter_map(|node| {
        let Action::Ask(ask) = &node.step.action else { return None };
        let why = match (ask.timeout, &ask.default) {
            (StepTimeout::Unlimited, _) => "with `timeout: 0` the question waits for ever",
            (_, Some(_)) => "when its time is up, the question takes its `default`",
            (_, None) => return None,
        };
        let name = quote(&node.step.name);
        let message = format!("the `timeout` transition of state {name} is never taken");
        let warning = Diagnostic::warning("unused-transition", message);
        Some(warning.label(node.step.name.span, why).hint("remove one of the two"))
    });
    never.collect()
}
