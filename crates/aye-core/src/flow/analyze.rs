//! What looks wrong with a graph although it can be run.

use crate::diagnostic::Diagnostic;
use crate::skill::{Ask, AskLimits, Body, EndStatus, OnError, State, Step};

use crate::span::Span;

use super::graph::{Flow, Node, NodeId, Target};

/// The most states of a cycle that are named.
const LONGEST: usize = 12;

/// The most cycles that are reported: a tangle has hundreds, and all say the same.
const MOST: usize = 20;

/// Something a person should look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Concern {
    /// No way leads there.
    Unreachable {
        /// The state.
        state: String,
        /// Where its name stands.
        span: Span,
    },
    /// These states can go round for ever; the step limit ends it.
    Cycle {
        /// In order, beginning with the first in the file.
        states: Vec<String>,
        /// Where the first one's name stands.
        span: Span,
    },
    /// Only failures lead there, and the run still ends as completed.
    FailureEndsWell {
        /// The state.
        state: String,
        /// Where its name stands.
        span: Span,
    },
    /// Saying no there, or nothing, does what a failure does.
    DeclineFails {
        /// The state with the gate.
        state: String,
        /// Where a failure leads.
        target: String,
        /// What is inside of the state: there the questions are.
        inside: Inside,
        /// Where the state's name stands.
        span: Span,
    },
    /// This answer ends the run, although others lead on.
    AnswerEnds {
        /// The state that asks.
        state: String,
        /// The answer.
        answer: String,
        /// Where the state's name stands.
        span: Span,
    },
    /// `on_error: ask` has no effect: a failure leads somewhere.
    NeverAsks {
        /// The state.
        state: String,
        /// Where a failure leads.
        target: String,
        /// Where the state's name stands.
        span: Span,
    },
    /// No way leads to an end.
    NoEnd {
        /// Where the initial state is named.
        span: Span,
    },
}

/// What a question of a state is inside of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inside {
    /// The state itself asks.
    Nothing,
    /// A skill that it calls.
    Skill,
    /// The items of a `foreach`: a no leaves only the item out.
    Items,
}

impl Concern {
    /// The stable name of the concern.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } => "unreachable",
            Self::Cycle { .. } => "cycle",
            Self::FailureEndsWell { .. } => "failure-completes",
            Self::DeclineFails { .. } => "decline-fails",
            Self::AnswerEnds { .. } => "answer-ends",
            Self::NeverAsks { .. } => "never-asks",
            Self::NoEnd { .. } => "no-end",
        }
    }

    /// In words.
    pub fn message(&self) -> String {
        match self {
            Self::Unreachable { state, .. } => format!("state `{state}` cannot be reached"),
            Self::Cycle { states, .. } => {
                let first = states.first().map_or("", String::as_str);
                let shown = match states.len() {
                    0..=LONGEST => states.join(" -> "),
                    all => {
                        let (begin, end) = (&states[..LONGEST - 2], &states[all - 1]);
                        format!("{} -> … -> {end}", begin.join(" -> "))
                    }
                };
                let count = match states.len() {
                    0..=LONGEST => String::new(),
                    all => format!(" ({all} states)"),
                };
                format!("cycle: {shown} -> {first}{count}")
            }
            Self::FailureEndsWell { state, .. } => {
                format!("only failures lead to `{state}`, and the run ends there as completed")
            }
            Self::DeclineFails { state, target, inside, .. } => match inside {
                Inside::Nothing => format!("a no at `{state}`, or no answer, leads to `{target}`"),
                Inside::Skill => format!(
                    "a no in the skill that `{state}` calls, or no answer, leads to `{target}`"
                ),
                Inside::Items => {
                    format!("no answer in an item of `{state}` leads to `{target}`")
                }
            },
            Self::AnswerEnds { state, answer, .. } => {
                format!("the answer `{answer}` at `{state}` leads nowhere: the run ends there")
            }
            Self::NeverAsks { state, target, .. } => {
                format!("`on_error: ask` of `{state}` never asks: a failure leads to `{target}`")
            }
            Self::NoEnd { .. } => "no path leads to a final state".to_owned(),
        }
    }

    /// As a warning.
    pub fn diagnostic(&self) -> Diagnostic {
        let said = Diagnostic::warning(self.code(), self.message()).label(self.span(), "");
        said.hint_if(self.hint())
    }

    /// Where.
    pub fn span(&self) -> Span {
        match self {
            Self::Unreachable { span, .. }
            | Self::Cycle { span, .. }
            | Self::FailureEndsWell { span, .. }
            | Self::DeclineFails { span, .. }
            | Self::AnswerEnds { span, .. }
            | Self::NeverAsks { span, .. }
            | Self::NoEnd { span } => *span,
        }
    }

    /// What to write instead, where that is plain.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::FailureEndsWell { .. } => {
                Some("lead it to a final state with `status: failed`".to_owned())
            }
            Self::DeclineFails { .. } => {
                Some("add `declined: …` to its transitions, the state for a no".to_owned())
            }
            Self::AnswerEnds { answer, .. } => Some(format!(
                "add `{answer}: …` to its transitions, or `success: …` for every other answer"
            )),
            Self::NeverAsks { .. } => {
                Some("remove `on_error`, or the transition `failure`".to_owned())
            }
            Self::Unreachable { .. } | Self::Cycle { .. } | Self::NoEnd { .. } => None,
        }
    }
}

/// Looks a `states:` flow over. `steps:` cannot go wrong in these ways.
pub fn analyze(flow: &Flow) -> Vec<Concern> {
    let Body::States { initial, states } = &flow.skill.body else {
        return Vec::new();
    };
    let mut concerns = Vec::new();

    let mut reached = vec![false; flow.nodes.len()];
    let mut ends = vec![false; flow.endings.len()];
    let mut open = vec![flow.start];
    let mut ending = false;
    while let Some(target) = open.pop() {
        match target {
            Target::End(end) => {
                ends[end] = true;
                ending = true;
            }
            Target::Step(node) if reached[node] => {}
            Target::Step(node) => {
                reached[node] = true;
                let Node { routes, .. } = &flow.nodes[node];
                let leads_on = routes.success.is_some() || routes.codes.contains_key(&0);
                ending |= !leads_on && !flow.nodes[node].is_decided_by_answers();
                open.extend(successors(flow, node));
            }
        }
    }
    for state in states {
        let name = &state.step.name;
        let known = match flow.find(name) {
            Some(node) => reached[node],
            None => flow
                .endings
                .iter()
                .position(|end| end.name.as_deref() == Some(name.as_str()))
                .is_some_and(|end| ends[end]),
        };
        if !known {
            concerns.push(Concern::Unreachable { state: name.value.clone(), span: name.span });
        }
    }
    let mut cycles = cycles(flow);
    // The short ones are those that someone can do something about.
    cycles.sort_by_key(Vec::len);
    cycles.truncate(MOST);
    cycles.sort();
    for cycle in cycles {
        let span = flow.nodes[cycle[0]].step.name.span;
        let states = cycle.into_iter().map(|n| flow.nodes[n].step.name.value.clone()).collect();
        concerns.push(Concern::Cycle { states, span });
    }
    concerns.extend(ends_well_after_failure(flow, states));
    concerns.extend(declines_that_fail(flow));
    for node in flow.body().iter().filter(|node| node.step.on_error == Some(OnError::Ask)) {
        let Some(target) = node.routes.failure else { continue };
        let target = match target {
            Target::Step(next) => flow.nodes[next].step.name.value.clone(),
            Target::End(end) => flow.endings[end].name.clone().unwrap_or_default(),
        };
        let name = &node.step.name;
        concerns.push(Concern::NeverAsks { state: name.value.clone(), target, span: name.span });
    }
    for node in &flow.nodes {
        let name = &node.step.name;
        concerns.extend(node.answers_without_target().into_iter().map(|answer| {
            let (state, answer) = (name.value.clone(), answer.to_owned());
            Concern::AnswerEnds { state, answer, span: name.span }
        }));
    }
    if !ending {
        concerns.push(Concern::NoEnd { span: initial.span });
    }
    concerns
}

/// States that only failures lead to and that end a run as completed.
fn ends_well_after_failure(flow: &Flow, states: &[State]) -> Vec<Concern> {
    let reach = |follow: &dyn Fn(&str) -> bool| {
        let mut reached: Vec<Target> = Vec::new();
        let mut open = vec![flow.start];
        while let Some(target) = open.pop() {
            if reached.contains(&target) {
                continue;
            }
            reached.push(target);
            if let Target::Step(node) = target {
                let routes = flow.nodes[node].routes.labelled();
                open.extend(routes.iter().filter(|(word, _)| follow(word)).map(|route| route.1));
            }
        }
        reached
    };
    let all = reach(&|_| true);
    let well = reach(&|word| !matches!(word, "failure" | "timeout"));
    let completes = |target: Option<Target>| match target {
        None => true,
        Some(Target::Step(_)) => false,
        Some(Target::End(end)) => flow.endings[end].status == EndStatus::Completed,
    };
    let ends_well = |name: &str| match flow.find(name) {
        Some(node) => {
            let routes = &flow.nodes[node].routes;
            let onward = routes.codes.get(&0).copied().or(routes.success);
            // A final state that acts ends as its way there says.
            let by_outcome = matches!(onward, Some(Target::End(end))
                if flow.endings[end].status == EndStatus::ByOutcome
                    && flow.endings[end].name.as_deref() != Some(name));
            (Target::Step(node), by_outcome || completes(onward))
        }
        None => {
            let end = flow.endings.iter().position(|end| end.name.as_deref() == Some(name));
            let end = end.unwrap_or_default();
            (Target::End(end), completes(Some(Target::End(end))))
        }
    };
    let found = states.iter().map(|state| &state.step.name).filter(|name| {
        let (target, well_ended) = ends_well(name);
        well_ended && all.contains(&target) && !well.contains(&target)
    });
    found
        .map(|name| Concern::FailureEndsWell { state: name.value.clone(), span: name.span })
        .collect()
}

/// Gated states whose failure is handled and whose refusal is not.
fn declines_that_fail(flow: &Flow) -> Vec<Concern> {
    let mut found = Vec::new();
    for node in flow.body() {
        let asks = |step: &Step| {
            let limit = |ask: &Ask| {
                AskLimits::default().wait(ask.timeout, step.confirmation.is_some()).is_some()
            };
            step.question().is_some_and(limit)
        };
        let inside = match node.can_decline() {
            true => Inside::Nothing,
            false if node.step.action.body().iter().any(asks) => Inside::Items,
            false => continue,
        };
        found.extend(decline_fails(flow, node, inside));
    }
    found
}

/// What is to be said of questions inside of a state whose failure is handled and whose
/// refusal is not.
pub fn decline_fails(flow: &Flow, node: &Node, inside: Inside) -> Option<Concern> {
    let (None, Some(target)) = (node.routes.declined, node.routes.failure) else { return None };
    let target = match target {
        Target::Step(next) => flow.nodes[next].step.name.value.clone(),
        // Nothing is done there, and the run counts as cancelled.
        Target::End(end)
            if matches!(flow.endings[end].status, EndStatus::ByOutcome | EndStatus::Cancelled) =>
        {
            return None;
        }
        Target::End(end) => flow.endings[end].name.clone().unwrap_or_default(),
    };
    let name = &node.step.name;
    let (state, span) = (name.value.clone(), name.span);
    Some(Concern::DeclineFails { state, target, inside, span })
}

fn successors(flow: &Flow, node: NodeId) -> Vec<Target> {
    flow.nodes[node].routes.labelled().into_iter().map(|(_, target)| target).collect()
}

/// One cycle for each back edge of a depth-first walk, each named once.
fn cycles(flow: &Flow) -> Vec<Vec<NodeId>> {
    let mut found: Vec<Vec<NodeId>> = Vec::new();
    let mut done = vec![false; flow.nodes.len()];
    for root in 0..flow.nodes.len() {
        // (node, its unvisited successors); the stack's nodes are the path.
        let mut path: Vec<(NodeId, Vec<Target>)> = Vec::new();
        if !done[root] {
            path.push((root, successors(flow, root)));
        }
        while let Some((node, todo)) = path.last_mut() {
            match todo.pop() {
                None => {
                    done[*node] = true;
                    path.pop();
                }
                Some(Target::End(_)) => {}
                Some(Target::Step(next)) => {
                    if let Some(from) = path.iter().position(|(n, _)| *n == next) {
                        let mut cycle: Vec<NodeId> = path[from..].iter().map(|(n, _)| *n).collect();
                        let first =
                            cycle.iter().enumerate().min_by_key(|(_, n)| **n).map_or(0, |(i, _)| i);
                        cycle.rotate_left(first);
                        if !found.contains(&cycle) {
                            found.push(cycle);
                        }
                    } else if !done[next] {
                        path.push((next, successors(flow, next)));
                    }
                }
            }
        }
    }
    found.sort();
    found
}
