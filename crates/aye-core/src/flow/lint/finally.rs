//! Questions in `finally`, whose time is limited whatever they say.

use crate::diagnostic::{Diagnostic, quote};
use crate::skill::{Action, Ask, Step, StepTimeout, format_duration};

use super::super::graph::Flow;

/// `timeout: 0` means "wait for ever", and in `finally` nothing does.
pub(super) fn questions_without_limit(flow: &Flow) -> Vec<Diagnostic> {
    let steps = &flow.nodes[flow.body().len()..];
    let mut found = Vec::new();
    steps.iter().for_each(|node| look(&node.step, flow, &mut found));
    found
}

fn look(step: &Step, flow: &Flow, found: &mut Vec<Diagnostic>) {
    let itself = match &step.action {
        Action::Ask(ask) => Some(&**ask),
        _ => None,
    };
    let waits = |ask: &Ask| ask.timeout == StepTimeout::Unlimited;
    if [step.confirmation.as_ref(), itself].into_iter().flatten().any(waits) {
        let message = format!("`timeout: 0` of step {} is in `finally`", quote(&step.name));
        let cleanup = format_duration(flow.skill.cleanup);
        found.push(
            Diagnostic::warning("limited-question", message)
                .label(step.span, "no question waits for ever there")
                .hint(format!(
                    "the question waits for half of the time that is left of `cleanup` \
                     ({cleanup}), and then the step is skipped: give it a `timeout`"
                )),
        );
    }
    if let Action::ForEach(each) = &step.action {
        each.body.iter().for_each(|step| look(step, flow, found));
    }
}
