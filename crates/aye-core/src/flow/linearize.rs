//! Steps in order, with what belongs to them: `then`, and guards that are commands.

use crate::skill::{Action, Guard, GuardCheck, Step};

use crate::span::Spanned;

use super::graph::{Node, Routes, Target};

/// Lays steps out one after the other; the last leads to `after`.
pub(super) fn in_order(steps: &[Step], after: Target) -> (Vec<Node>, Target) {
    let mut nodes = Vec::new();
    let start = if steps.is_empty() { after } else { Target::Step(0) };
    linearize(steps, after, &mut nodes);
    (nodes, start)
}

fn linearize(steps: &[Step], after: Target, nodes: &mut Vec<Node>) {
    for (index, step) in steps.iter().enumerate() {
        let id = nodes.len();
        let checks = checks(step);
        let next = match index + 1 < steps.len() {
            true => Target::Step(id + size(step)),
            false => after,
        };
        let inside = match step.then.is_empty() {
            true => next,
            false => Target::Step(id + 1 + checks.len()),
        };
        let onward = match checks.is_empty() {
            true => inside,
            false => Target::Step(id + 1),
        };
        let ends = matches!(step.action, Action::Return { .. });
        let success = if ends { Target::End(0) } else { onward };
        let skipped = (success != next).then_some(next);
        let routes = Routes { success: Some(success), skipped, ..Routes::default() };
        nodes.push(Node { step: step.clone(), routes });
        chain(checks, id + 1, inside, None, nodes);
        linearize(&step.then, next, nodes);
    }
}

/// Appends the steps of `finally`: however one of them ends, the next follows.
pub(super) fn append_finally(steps: &[Step], end: Target, nodes: &mut Vec<Node>) {
    for (index, step) in steps.iter().enumerate() {
        let first = nodes.len();
        let after = match index + 1 < steps.len() {
            true => Target::Step(first + size(step)),
            false => end,
        };
        linearize(std::slice::from_ref(step), after, nodes);
        for Node { routes, .. } in &mut nodes[first..] {
            routes.failure = Some(after);
            routes.timeout = Some(after);
            routes.declined = Some(after);
        }
    }
}

/// How many nodes a step becomes.
fn size(step: &Step) -> usize {
    1 + checks(step).len() + step.then.iter().map(size).sum::<usize>()
}

/// Puts the commands that guard a state between it and where it leads.
pub(super) fn with_guards(mut nodes: Vec<Node>) -> Vec<Node> {
    for id in 0..nodes.len() {
        let checks = checks(&nodes[id].step);
        if checks.is_empty() {
            continue;
        }
        let first = nodes.len();
        let routes = &mut nodes[id].routes;
        let onward = routes.codes.shift_remove(&0).or(routes.success).unwrap_or(Target::End(0));
        let failure = routes.failure;
        routes.success = Some(Target::Step(first));
        routes.skipped = Some(onward);
        chain(checks, first, onward, failure, &mut nodes);
    }
    nodes
}

/// Steps that lead to each other, the last one to `onward`.
fn chain(
    steps: Vec<Step>,
    first: usize,
    onward: Target,
    failure: Option<Target>,
    nodes: &mut Vec<Node>,
) {
    let last = steps.len();
    for (index, step) in steps.into_iter().enumerate() {
        let next = if index + 1 < last { Target::Step(first + index + 1) } else { onward };
        let routes = Routes { success: Some(next), failure, ..Routes::default() };
        nodes.push(Node { step, routes });
    }
}

/// The commands among a step's guards, as steps.
pub(super) fn checks(step: &Step) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for guard in &step.guards {
        let GuardCheck::Command { program, args, cwd } = &guard.check else { continue };
        let number = match steps.len() {
            0 => String::new(),
            before => format!("-{}", before + 1),
        };
        let name = format!("{}.check{number}", step.name.value);
        let action = Action::Command { program: program.clone(), args: args.clone() };
        steps.push(Step {
            cwd: cwd.clone(),
            idempotent: true,
            guards: vec![Guard { check: GuardCheck::Success, message: guard.message.clone() }],
            ..Step::bare(Spanned::new(name, step.name.span), program.span, action)
        });
    }
    steps
}
