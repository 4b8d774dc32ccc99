//! Which steps are still to come.

use std::collections::HashSet;

use aye_core::event::{Event, EventKind, Range};
use aye_core::flow::{Flow, Route, Target};
use aye_core::journal::{State, StepOutcome};
use aye_core::skill::Body;

use crate::paint::{Paint, escape_control_line};
use crate::term;

use super::super::step_line::first_line;
use super::lanes::follows_again;

/// The plan of the run itself, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The steps that were entered.
    seen: HashSet<String>,
    /// The step that was entered last.
    current: Option<String>,
    range: Option<Range>,
    /// How the run ends is decided: only `finally` is still to come.
    finishing: bool,
    /// The longest name inside, with what stands in front of it.
    longest_item: usize,
}

/// A step that is still to come.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Upcoming {
    pub(super) name: String,
    /// What the file says of it.
    pub(super) text: String,
    /// It is one of `finally`, which is still to begin.
    pub(super) in_finally: bool,
}

impl Plan {
    /// Takes in what happened in the run itself.
    pub(super) fn event(&mut self, event: &Event, state: &State) {
        self.range.clone_from(&state.started.range);
        self.finishing = state.finally.is_some();
        if matches!(event.kind, EventKind::SkillResumed { .. }) {
            let steps = state.steps.keys().filter(|step| !follows_again(state, step));
            self.seen = steps.cloned().collect();
            self.current.clone_from(&state.current);
        }
        if let EventKind::StepStarted(started) = &event.kind {
            let longest = started.labels.iter().map(|label| term::width(label) + 2).max();
            self.longest_item = self.longest_item.max(longest.unwrap_or(0));
        }
        if let Some(step) = event.kind.step() {
            self.seen.insert(step.to_owned());
            self.current = Some(step.to_owned());
        }
    }

    /// Takes in the names of the steps of a skill inside, so far in.
    pub(super) fn inside(&mut self, event: &Event, depth: usize) {
        let EventKind::SkillStarted(started) = &event.kind else { return };
        let longest = started.step_list.iter().map(|step| term::width(&step.name) + 2 * depth);
        self.longest_item = self.longest_item.max(longest.max().unwrap_or(0));
    }

    /// The columns that the longest name takes.
    pub(super) fn longest_name(&self, flow: &Flow) -> usize {
        let names = flow.nodes.iter().map(|node| term::width(&node.step.name.value));
        let has_finally = flow.body().len() < flow.nodes.len();
        let names = names.chain(has_finally.then_some("finally".len()));
        names.max().unwrap_or(0).max(self.longest_item)
    }

    /// How many steps there are in all, where they follow one another.
    pub(super) fn count(&self, flow: &Flow) -> Option<usize> {
        match (&flow.skill.body, &self.range) {
            (Body::States { .. }, _) | (_, Some(Range::Only(_))) => None,
            // What was not entered by now is not reached any more.
            (Body::Steps(_), _) if self.finishing => {
                let nodes = flow.nodes.iter().enumerate();
                let counts = nodes.filter(|(at, node)| {
                    flow.is_in_finally(*at) || self.seen.contains(&node.step.name.value)
                });
                Some(counts.count())
            }
            (Body::Steps(_), Some(Range::From(step))) => Some(flow.nodes.len() - flow.find(step)?),
            (Body::Steps(_), None) => Some(flow.nodes.len()),
        }
        .filter(|all| *all > 1)
    }

    /// The steps that follow if all goes well.
    pub(super) fn upcoming(&self, flow: &Flow, paint: Paint) -> Vec<Upcoming> {
        if matches!(self.range, Some(Range::Only(_))) {
            return Vec::new();
        }
        let mut next = self.next(flow);
        let mut on_the_way: HashSet<usize> = HashSet::new();
        let mut steps = Vec::new();
        let finally = flow.body().len()..flow.nodes.len();
        let mut add = |at: usize| {
            let step = &flow.nodes[at].step;
            if !self.seen.contains(&step.name.value) {
                let text = step.description.as_ref().map(|text| first_line(text, paint));
                steps.push(Upcoming {
                    name: escape_control_line(&step.name.value),
                    text: text.unwrap_or_default(),
                    in_finally: !self.finishing && flow.is_in_finally(at),
                });
            }
        };
        while let Some(at) = next.filter(|at| !finally.contains(at) && on_the_way.insert(*at)) {
            add(at);
            next = follow(flow, at);
        }
        // It follows however the rest ends.
        finally.for_each(add);
        steps
    }

    /// Where the steps that are still to come begin.
    fn next(&self, flow: &Flow) -> Option<usize> {
        let first = match flow.start {
            Target::Step(first) => Some(first),
            Target::End(_) => None,
        };
        let current = self.current.as_ref().and_then(|step| flow.find(step));
        match current {
            // The step at which the end was decided belongs to the body.
            Some(at) if self.finishing && !flow.is_in_finally(at) => None,
            Some(at) => follow(flow, at),
            None if self.finishing || self.current.is_some() => None,
            None => first,
        }
    }

    /// The steps that were not reached, where they follow one another.
    pub(super) fn unreached<'f>(&self, flow: &'f Flow) -> Vec<&'f str> {
        if matches!(flow.skill.body, Body::States { .. }) || self.range.is_some() {
            return Vec::new();
        }
        let names = flow.nodes.iter().map(|node| node.step.name.value.as_str());
        names.filter(|name| !self.seen.contains(*name)).collect()
    }
}

/// The step that follows if all goes well.
fn follow(flow: &Flow, at: usize) -> Option<usize> {
    match flow.route(at, &StepOutcome::Success, None) {
        Route::To(Target::Step(next)) => Some(next),
        Route::To(Target::End(_)) | Route::Done | Route::Uncaught => None,
    }
}
