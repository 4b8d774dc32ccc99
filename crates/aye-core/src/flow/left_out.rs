//! Results that a run which begins later, or is one step, will not have.

use std::collections::BTreeSet;

use crate::event::Range;
use crate::journal::StepOutcome;
use crate::skill::{OnError, Step, Template};
use crate::text::{self, Expressions};

use super::graph::{Flow, NodeId, Target};
use super::lint::asks_first;
use super::route::Route;
use super::texts::{Kind, each_string, each_text, results_of};

/// A result that is needed and certain to be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// What needs it: "step `b`", "output `x`".
    pub needed_by: String,
    /// Its name.
    pub result: String,
    /// The step that would give it.
    pub given_by: String,
}

impl Flow {
    /// What is certain to be missing in a part of this flow if all goes well:
    /// what steps on the way use, no step of the part gives, and one that is
    /// left out does.
    pub fn left_out(&self, range: &Range, expressions: Option<&dyn Expressions>) -> Vec<LeftOut> {
        let Some(from) = self.find(range.step()) else { return Vec::new() };
        if self.skill.lenient == Some(true) {
            return Vec::new();
        }
        let only = matches!(range, Range::Only(_));
        let (way, ends) = if only { (vec![from], false) } else { self.way_from(from) };
        let mut run = if only { vec![from] } else { self.reachable_from(from) };
        let finally = self.body().len()..self.nodes.len();
        run.extend(finally.clone().filter(|_| !only));
        let given: BTreeSet<String> =
            run.iter().flat_map(|node| results_of(&self.nodes[*node].step)).collect();
        let mut found: Vec<LeftOut> = Vec::new();
        let mut look = |needed_by: &str, template: &str, kind: Kind, local: &BTreeSet<String>| {
            for result in used_in(template, kind, expressions) {
                let missing = !given.contains(&result) && !local.contains(&result);
                let giver = self.nodes.iter().find(|node| results_of(&node.step).contains(&result));
                if let Some(giver) = giver.filter(|_| missing) {
                    let given_by = giver.step.name.value.clone();
                    let news = LeftOut { needed_by: needed_by.to_owned(), result, given_by };
                    found.extend((!found.contains(&news)).then_some(news));
                }
            }
        };
        for node in way.into_iter().chain(finally.filter(|_| !only)) {
            let step = &self.nodes[node].step;
            let needed_by = format!("step `{}`", step.name.value);
            certain_texts(step, &mut |template, kind, local| {
                look(&needed_by, template, kind, local);
            });
        }
        for output in self.skill.outputs.iter().filter(|_| ends) {
            let needed_by = format!("output `{}`", output.name.value);
            each_string(&output.value, &mut |text| {
                look(&needed_by, text, Kind::Template, &BTreeSet::new());
            });
        }
        found
    }

    /// The nodes that are certain to run if all goes well, and whose failure is
    /// one of the run.
    pub(super) fn certain_to_run(&self) -> BTreeSet<NodeId> {
        let Target::Step(start) = self.start else { return BTreeSet::new() };
        let (way, _) = self.way_from(start);
        let certain = |node: &NodeId| {
            let step = &self.nodes[*node].step;
            step.condition.is_none() && step.on_error != Some(OnError::Continue)
        };
        way.into_iter().filter(certain).collect()
    }

    /// The nodes from here on if all goes well, and whether that leads to an end.
    fn way_from(&self, from: NodeId) -> (Vec<NodeId>, bool) {
        let (mut way, mut next) = (Vec::new(), from);
        loop {
            if way.contains(&next) {
                return (way, false);
            }
            way.push(next);
            let node = &self.nodes[next];
            // What belongs to a step with a condition may be left out with it.
            let outcome = match node.step.condition {
                Some(_) => StepOutcome::Skipped,
                None => StepOutcome::Success,
            };
            let answer = node.likely_answer().filter(|_| node.step.condition.is_none());
            match self.route(next, &outcome, answer) {
                Route::To(Target::Step(node)) => next = node,
                Route::To(Target::End(_)) | Route::Done => return (way, true),
                Route::Uncaught => return (way, false),
            }
        }
    }

    /// Every node that may be run from here on, this one included.
    fn reachable_from(&self, from: NodeId) -> Vec<NodeId> {
        let (mut reached, mut open) = (Vec::new(), vec![from]);
        while let Some(node) = open.pop() {
            if reached.contains(&node) {
                continue;
            }
            reached.push(node);
            let routes = self.nodes[node].routes.labelled();
            open.extend(routes.into_iter().filter_map(|(_, target)| match target {
                Target::Step(next) => Some(next),
                Target::End(_) => None,
            }));
        }
        reached
    }
}

/// The texts of a step that are certain to be looked at: of one with a
/// condition, that.
fn certain_texts(step: &Step, report: &mut impl FnMut(&Template, Kind, &BTreeSet<String>)) {
    match &step.condition {
        Some(condition) => report(condition, Kind::Condition, &BTreeSet::new()),
        None => each_text(step, &BTreeSet::new(), report),
    }
}

/// The names that a text needs to have a value.
fn used_in(template: &str, kind: Kind, expressions: Option<&dyn Expressions>) -> BTreeSet<String> {
    let names = match kind {
        // Anyone who asks whether it is there knows that it may not be.
        _ if asks_first(template) => return BTreeSet::new(),
        Kind::Template => text::names_in_with(template, expressions),
        Kind::Condition => text::names_in_condition_with(template, expressions),
        // A block may catch what is missing, and braces in prose may mean nothing.
        Kind::Code | Kind::Prose => return BTreeSet::new(),
    };
    let first = |name: String| name.split('.').next().map(str::to_owned);
    let names = names.unwrap_or_default().into_iter().filter_map(first);
    names.filter(|name| !text::BUILT_IN.contains(&name.as_str())).collect()
}
