//! The way through a flow if all goes well, and what lies beside it.

use aye_core::event::Range;
use aye_core::flow::{Flow, Node, NodeId, Route, Target};
use aye_core::journal::StepOutcome;
use aye_core::skill::ChoiceAction;

use super::PlannedStep;
use super::known::Known;
use super::step_facts::planned;

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a run.
    Run,
    /// In an item of a `foreach`.
    Item,
    /// In `finally`.
    Finally,
    /// In a run of this step alone: nothing follows it.
    Alone,
}

/// What a walk through a flow found.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) steps: Vec<PlannedStep>,
    pub(super) finally: Vec<PlannedStep>,
    /// The steps that only a failure or another answer leads to.
    pub(super) elsewhere: Vec<PlannedStep>,
    /// The final state.
    pub(super) end: Option<String>,
    /// Steps that ask and are not on the way, or come again in a loop.
    pub(super) may_ask: Vec<String>,
    pub(super) warnings: Vec<String>,
}

impl Walked {
    /// Whether anything in it may ask.
    pub(super) fn asks(&self) -> bool {
        let asks =
            |step: &PlannedStep| step.asks() || (step.asks_on_failure() && !step.is_left_out());
        !self.may_ask.is_empty()
            || self.steps.iter().chain(&self.finally).chain(&self.elsewhere).any(asks)
    }
}

/// Walks from the start, or where the range says. A range names a step of the flow.
pub(super) fn walk(flow: &Flow, range: Option<&Range>, place: Place, known: &Known<'_>) -> Walked {
    let mut walked = Walked::default();
    let only = matches!(range, Some(Range::Only(_)));
    let place = if only { Place::Alone } else { place };
    let seen = walked.on_the_way(flow, range, place, known);
    if only {
        return walked.without_twins();
    }
    let mut may_ask = again(flow, &seen);
    may_ask.retain(|node| {
        let at = seen.iter().position(|(seen, _)| seen == node);
        at.and_then(|at| walked.steps.get(at)).is_some_and(PlannedStep::asks)
    });
    for node in reached(flow, &seen) {
        if seen.iter().any(|(seen, _)| *seen == node) {
            continue;
        }
        let step = planned(flow, node, place, known, &mut walked.warnings);
        may_ask.extend(step.asks().then_some(node));
        walked.elsewhere.push(step);
    }
    may_ask.sort_unstable();
    let name = |node: NodeId| flow.nodes[node].step.name.value.clone();
    walked.may_ask = may_ask.into_iter().map(name).collect();
    for node in flow.body().len()..flow.nodes.len() {
        let step = planned(flow, node, Place::Finally, known, &mut walked.warnings);
        walked.finally.push(step);
    }
    walked.without_twins()
}

/// A node on the way, and whether it is run, as far as that is known.
type Seen = (NodeId, Option<bool>);

impl Walked {
    fn on_the_way(
        &mut self,
        flow: &Flow,
        range: Option<&Range>,
        place: Place,
        known: &Known<'_>,
    ) -> Vec<Seen> {
        let from = range.and_then(|range| flow.find(range.step()));
        let mut next = from.map_or(flow.start, Target::Step);
        let mut seen: Vec<Seen> = Vec::new();
        let has = |seen: &[Seen], node: NodeId| seen.iter().any(|(seen, _)| *seen == node);
        // Where the run continues if the steps of a `then` that may end it are left out.
        let mut around: Vec<Target> = Vec::new();
        loop {
            let node = match next {
                Target::Step(node) => node,
                Target::End(end) => {
                    // A `then` that did not end the run has led there already.
                    around.retain(|target| !matches!(target, Target::Step(id) if has(&seen, *id)));
                    let Some(target) = around.pop() else {
                        self.end.clone_from(&flow.endings[end].name);
                        return seen;
                    };
                    next = target;
                    continue;
                }
            };
            let step = &flow.nodes[node].step;
            if has(&seen, node) {
                self.warnings
                    .push(format!("loops back to `{}`; the plan ends here", step.name.value));
                return seen;
            }
            let step = planned(flow, node, place, known, &mut self.warnings);
            let left_out = step.is_left_out();
            let runs = if step.condition.is_none() { Some(true) } else { step.holds };
            self.steps.push(step);
            seen.push((node, runs));
            let outcome = if left_out { StepOutcome::Skipped } else { StepOutcome::Success };
            // The first answer that lets the run continue stands for all of them.
            let answer = flow.nodes[node].likely_answer().filter(|_| !left_out);
            if place == Place::Alone {
                return seen;
            }
            if let (None, Route::To(target)) = (runs, flow.route(node, &StepOutcome::Skipped, None))
                && flow.route(node, &StepOutcome::Success, answer) != Route::To(target)
            {
                around.push(target);
            }
            match flow.route(node, &outcome, answer) {
                Route::To(target) => next = target,
                Route::Done | Route::Uncaught => return seen,
            }
        }
    }

    /// A step that is the body of a `foreach` has its name and its risks.
    fn without_twins(mut self) -> Self {
        let mut kept: Vec<String> = Vec::new();
        self.warnings.retain(|warning| {
            let first = !kept.contains(warning);
            kept.extend(first.then(|| warning.clone()));
            first
        });
        self
    }
}

/// Where a node may lead.
fn targets(flow: &Flow, node: NodeId, seen: &[Seen]) -> Vec<NodeId> {
    let Node { step, routes } = &flow.nodes[node];
    let runs = match seen.iter().find(|(seen, _)| *seen == node) {
        Some((_, runs)) => *runs,
        None => step.condition.is_none().then_some(true),
    };
    let skips = step
        .question()
        .is_some_and(|ask| ask.options.iter().any(|choice| choice.action == ChoiceAction::Skip));
    let all: Vec<Target> = match runs {
        Some(false) => match flow.route(node, &StepOutcome::Skipped, None) {
            Route::To(target) => vec![target],
            Route::Done | Route::Uncaught => Vec::new(),
        },
        Some(true) | None => {
            let ways = routes.labelled().into_iter();
            let ways = ways.filter(|(word, _)| word != "skipped" || runs.is_none() || skips);
            ways.map(|(_, target)| target).collect()
        }
    };
    let step = |target| match target {
        Target::Step(next) => Some(next),
        Target::End(_) => None,
    };
    all.into_iter().filter_map(step).collect()
}

/// Every node that a run may come to, in the order of the file.
fn reached(flow: &Flow, seen: &[Seen]) -> Vec<NodeId> {
    let mut reached: Vec<NodeId> = Vec::new();
    let mut open: Vec<NodeId> = seen.first().map(|(node, _)| *node).into_iter().collect();
    while let Some(node) = open.pop() {
        if reached.contains(&node) || flow.is_in_finally(node) {
            continue;
        }
        reached.push(node);
        open.extend(targets(flow, node, seen));
    }
    reached.sort_unstable();
    reached
}

/// The nodes on the way that can be reached from themselves: they come again.
fn again(flow: &Flow, seen: &[Seen]) -> Vec<NodeId> {
    let mut again: Vec<NodeId> = Vec::new();
    for &(node, _) in seen {
        let (mut met, mut open) = (Vec::new(), targets(flow, node, seen));
        while let Some(next) = open.pop().filter(|_| !again.contains(&node)) {
            if next == node {
                again.push(node);
            } else if !met.contains(&next) {
                met.push(next);
                open.extend(targets(flow, next, seen));
            }
        }
    }
    again
}
