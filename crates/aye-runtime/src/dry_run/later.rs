//! What nobody can know before the run.

use std::collections::BTreeSet;

use aye_core::event::Range;
use aye_core::flow::{Flow, results_of};
use aye_core::skill::{Action, Body, Step};
use aye_core::text::{self, TextError};

use crate::compute::PythonExpressions;

/// The names that have a value only while the run continues. A template that has
/// something to offer instead of one (`default`, `is defined`) is not known
/// before either.
#[derive(Clone)]
pub(super) struct Later(BTreeSet<String>);

impl Later {
    /// The names of this flow; what a range leaves out will have no value.
    pub(super) fn of(flow: &Flow, range: Option<&Range>) -> Self {
        let from = range.and_then(|range| flow.find(range.step()));
        let nodes = match (range, &flow.skill.body) {
            (Some(Range::Only(_)), _) => &[],
            (Some(Range::From(_)), Body::Steps(_)) => &flow.nodes[from.unwrap_or(0)..],
            _ => &flow.nodes[..],
        };
        let mut names = BTreeSet::new();
        if !nodes.is_empty() {
            names.insert("steps".to_owned());
        }
        nodes.iter().for_each(|node| add(&node.step, &mut names));
        Self(names)
    }

    /// One more such name.
    pub(super) fn add(&mut self, name: &str) {
        self.0.insert(name.to_owned());
    }

    /// Whether a template uses one.
    pub(super) fn is_used_in(&self, template: &str) -> bool {
        self.has_any(text::names_in_with(template, Some(&PythonExpressions)))
    }

    /// Whether a condition does.
    pub(super) fn decides(&self, condition: &str) -> bool {
        self.has_any(text::names_in_condition_with(condition, Some(&PythonExpressions)))
    }

    /// What cannot be read counts as none; it is reported elsewhere.
    fn has_any(&self, names: Result<Vec<String>, TextError>) -> bool {
        let first = |name: &'_ String| name.split('.').next().unwrap_or(name).to_owned();
        names.unwrap_or_default().iter().any(|name| self.0.contains(&first(name)))
    }
}

fn add(step: &Step, names: &mut BTreeSet<String>) {
    names.extend(results_of(step));
    step.then.iter().for_each(|step| add(step, names));
    if let Action::ForEach(each) = &step.action {
        names.extend([each.name.clone(), "index".to_owned()]);
        each.body.iter().for_each(|step| add(step, names));
    }
}
