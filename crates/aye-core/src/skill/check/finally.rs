//! Steps that run however the others ended.

use super::Checker;
use super::step::collect_names;
use crate::diagnostic::{Diagnostic, quote};
use crate::skill::document::StepItem;
use crate::skill::{Action, Body, Step};
use crate::span::Span;
use crate::yaml::decode::{Field, Raw};

impl Checker<'_> {
    pub(super) fn finally(
        &mut self,
        list: Field<Vec<Raw<StepItem>>>,
        body: Option<&Body>,
    ) -> Vec<Step> {
        let Some(list) = list.take() else { return Vec::new() };
        let steps = self.step_list(list, "finally");
        let mut names: Vec<(&str, Span)> = Vec::new();
        match body {
            Some(Body::Steps(steps)) => {
                steps.iter().for_each(|step| collect_names(step, &mut names));
            }
            Some(Body::States { states, .. }) => {
                names.extend(states.iter().map(|it| (it.step.name.as_str(), it.step.name.span)));
            }
            None => {}
        }
        steps.iter().for_each(|step| collect_names(step, &mut names));
        self.unique(names, "duplicate-name", "step");
        steps.iter().for_each(|step| self.no_return(step));
        steps
    }

    /// A `return` would keep the steps after it from running.
    fn no_return(&mut self, step: &Step) {
        if let Action::Return { .. } = step.action {
            let message = format!("{} is a `return` in `finally`", quote(&step.name));
            self.report.push(
                Diagnostic::error("return-in-finally", message)
                    .label(step.span, "")
                    .hint("every step of `finally` runs: remove the `return`"),
            );
        }
        step.then.iter().for_each(|step| self.no_return(step));
    }
}
