//! Skills without a file.

use std::time::Duration;

use aye_core::flow::Flow;
use aye_core::skill::{Action, Ask, AskKind, Body, EndStatus, Skill, State, Step, Transitions};
use aye_core::span::Span;

/// A command step; the words are split at spaces.
pub(super) fn command(name: &str, line: &str) -> Step {
    let mut words = line.split(' ').map(|word| word.to_owned().into());
    let program = words.next().unwrap_or_default();
    step(name, Action::Command { program, args: words.collect() })
}

pub(super) fn shell(name: &str, script: &str) -> Step {
    step(name, Action::Shell { script: script.to_owned().into() })
}

pub(super) fn question(name: &str, kind: AskKind, message: &str) -> Step {
    step(name, Action::Ask(Box::new(ask(kind, message))))
}

pub(super) fn note(name: &str) -> Step {
    step(name, Action::Note)
}

/// The step, with a question before it.
pub(super) fn gated(mut step: Step, message: &str) -> Step {
    step.confirmation = Some(ask(AskKind::Confirm, message));
    step
}

pub(super) fn only_if(mut step: Step, condition: &str) -> Step {
    step.condition = Some(condition.to_owned().into());
    step
}

/// A state; routes are written `success: confirm, 101: lint`.
pub(super) fn state(step: Step, routes: &str) -> State {
    let mut transitions = Transitions::default();
    for route in routes.split(", ").filter(|route| !route.is_empty()) {
        let (outcome, target) =
            route.split_once(": ").expect("a route is written `outcome: target`");
        let target = target.to_owned().into();
        match outcome {
            "success" => transitions.success = Some(target),
            "failure" => transitions.failure = Some(target),
            "timeout" => transitions.timeout = Some(target),
            "declined" => transitions.declined = Some(target),
            "cancelled" => transitions.cancelled = Some(target),
            code => {
                transitions.codes.insert(code.parse().expect("an outcome or an exit code"), target);
            }
        }
    }
    State { step, transitions, ends: None }
}

pub(super) fn ending(name: &str, status: EndStatus) -> State {
    State { step: note(name), transitions: Transitions::default(), ends: Some(status) }
}

pub(super) fn line(name: &str, steps: Vec<Step>) -> Flow {
    flow(name, Body::Steps(steps))
}

/// Begins with the first state.
pub(super) fn states(name: &str, states: Vec<State>) -> Flow {
    let initial = states[0].step.name.clone();
    flow(name, Body::States { initial, states })
}

fn flow(name: &str, body: Body) -> Flow {
    Flow::compile(Skill {
        environment: None,
        span: Span::default(),
        name: name.to_owned().into(),
        lines: Default::default(),
        description: None,
        version: None,
        tags: Vec::new(),
        inputs: Vec::new(),
        body,
        finally: Vec::new(),
        concurrency: None,
        outputs: Vec::new(),
        timeout: None,
        cleanup: Duration::from_secs(30),
        step_limit: 1000,
        lenient: None,
        defaults: serde_json::Value::Null,
        heal: Vec::new(),
    })
}

fn step(name: &str, action: Action) -> Step {
    Step::bare(name.to_owned().into(), Span::default(), action)
}

fn ask(kind: AskKind, message: &str) -> Ask {
    Ask { overridable: true, ..Ask::new(kind, message.to_owned().into()) }
}
