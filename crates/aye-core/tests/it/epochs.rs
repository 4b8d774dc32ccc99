//! Who may say what: drivers come and go, and what an earlier one says is late.

use std::sync::Arc;

use aye_core::effect::{Effect, Rendered, Task};
use aye_core::event::{Event, EventKind, Stopping};
use aye_core::input::{Attach, End, Finished, Input, Request};
use aye_core::journal::{Phase, RunStatus};
use aye_core::machine::{Limits, Machine, Refusal, Start};
use aye_core::nested::ChildRun;
use aye_core::secrets::Secrets;
use aye_core::skill::parse;
use serde_json::{Value, json};

use crate::build::{Run, command, driver, idempotent, start, state, states, steps, through_json};

fn look(run: &Run) -> Machine {
    let flow = Arc::clone(&run.flow);
    Machine::restore(flow, Limits::default(), Secrets::default(), &run.events, None).unwrap()
}

fn kinds(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.kind.name()).collect()
}

fn cancel() -> Input {
    Input::Request(Request::Cancel {
        by: "eve".to_owned(),
        reason: Some("wrong".to_owned()),
        now: false,
    })
}

fn done(epoch: u64) -> Input {
    let end = End::Exited { value: Value::Null, parsed: None };
    Input::Finished(Finished { epoch, ..Finished::bare(1, end, None) })
}

#[test]
fn a_live_step_is_not_lost_because_somebody_looked() {
    let run = Run::start(steps([command("a"), command("b")]));
    let mut other = look(&run);
    assert_eq!(other.next_effect(), Effect::Run { execution: 1 });
    let reaction = other.handle(cancel(), &run.world);
    assert_eq!(kinds(&reaction.events), ["skill_stopping"]);
    assert!(matches!(other.state().phase, Phase::Running { .. }));
    assert_eq!(other.next_effect(), Effect::Stop { execution: 1 });
    // Someone who holds the lease that its driver had knows that it is gone.
    let mut after = look(&run).under(2);
    let reaction = after.handle(cancel(), &run.world);
    assert_eq!(kinds(&reaction.events), ["step_failed", "skill_cancelled"]);
}

#[test]
fn only_a_new_epoch_puts_a_running_step_in_doubt() {
    let run = Run::start(steps([idempotent(command("a"))]));
    let attach = |epoch| Input::Attach(Attach { driver: driver("bob"), epoch });
    let again = look(&run).handle(attach(1), &run.world);
    assert_eq!((again.events.len(), again.refusal), (0, Some(Refusal::Driven)));
    let mut next = look(&run);
    let reaction = next.handle(attach(2), &run.world);
    assert_eq!(reaction.refusal, None);
    assert_eq!(
        kinds(&reaction.events),
        ["skill_resumed", "step_failed", "step_retried", "step_started"]
    );
    assert_eq!(next.state().epoch, 2);
    // What the first driver's step came to is of no interest any more.
    let mut late = next.clone();
    let end = End::Exited { value: Value::Null, parsed: None };
    let of_first = Finished { epoch: 1, ..Finished::bare(2, end, None) };
    let refused = late.handle(Input::Finished(of_first), &run.world);
    assert_eq!(refused.refusal, Some(Refusal::Stale { epoch: 1, current: 2 }));
    assert_eq!(
        next.handle(attach(1), &run.world).refusal,
        Some(Refusal::Stale { epoch: 1, current: 2 })
    );
    // A driver that lost the run and does not know it yet.
    let mut lost = look(&run).under(0);
    assert_eq!(lost.handle(done(1), &run.world).refusal, Some(Refusal::NotDriven));
}

#[test]
fn a_cancel_outlives_the_driver_that_was_told() {
    let mut run = Run::start(steps([command("a"), command("b")]));
    run.send(cancel()).unwrap();
    let EventKind::SkillStopping(why) = &run.events.last().unwrap().kind else { panic!() };
    let reason = Some("wrong".to_owned());
    assert_eq!(why, &Stopping::Cancelled { by: "eve".to_owned(), reason });
    run.crash();
    run.attach();
    assert_eq!(run.tail(3), ["resumed", "a unknown", "cancelled cancelled"]);
    assert_eq!(run.machine.state().end_message.as_deref(), Some("cancelled by eve: wrong"));
    // With what is to be done then.
    let mut run = Run::start(states([
        state(command("a"), &[("cancelled", "undo")]),
        state(command("undo"), &[]),
    ]));
    run.send(cancel()).unwrap();
    run.crash();
    run.attach();
    assert_eq!(run.tail(3), ["a unknown", "a cancelled, winding down", "undo start"]);
    run.exit(0);
    assert_eq!(run.status(), RunStatus::Cancelled);
    // A signal was for the driver that got it.
    let mut run = Run::start(steps([idempotent(command("a"))]));
    run.interrupt();
    run.crash();
    run.attach();
    assert_eq!(run.machine.next_effect(), Effect::Run { execution: 2 });
}

/// One of each kind of step that a secret has a part in.
const SECRETS: &str = "
name: t
inputs: [{ name: token, type: secret }]
steps:
  - name: program
    command: curl
    args: ['https://u:{{ inputs.token }}@host', plain]
    env: { TOKEN: '{{ inputs.token }}', OTHER: x }
    stdin: '{{ inputs.token | upper }}'
    cwd: /w
  - { name: script, shell: 'echo {{ inputs.token }}' }
  - { name: call, tool: web.get, args: { key: '{{ inputs.token }}', page: 2 } }
  - { name: sub, skill: other, inputs: { a: '{{ inputs.token }}', b: c } }
  - name: each
    foreach: ['{{ inputs.token }}', plain]
    as: n
    steps: [{ name: say, command: echo, args: ['{{ n }}'] }]
";

#[test]
fn an_execution_that_is_written_down_holds_no_secret_and_its_host_renders_it() {
    let skill = parse("t.yaml", SECRETS).skills.into_iter().next().unwrap();
    let mut secrets = Secrets::default();
    secrets.insert("token", "hunter2");
    let inputs = [("token".to_owned(), json!("hunter2"))].into();
    let mut run = Run::start_as(skill, Start { inputs, secrets, ..start() });
    let mut rendered = Vec::new();
    for _ in 0..5 {
        let execution = run.execution();
        let text = serde_json::to_string(&execution).unwrap();
        assert!(!text.to_lowercase().contains("hunter2"), "{text}");
        assert!(text.contains("$secret"), "{text}");
        rendered.push(
            match run.machine.render(through_json(&execution).task, &run.world).unwrap() {
                Rendered::Process(process) => {
                    let env: Vec<&String> = process.env.values().flatten().collect();
                    format!("{:?} {env:?} {:?} {:?}", process.argv, process.stdin, process.cwd)
                }
                Rendered::Tool(call) => Value::Object(call.args).to_string(),
                Rendered::Nested(nested) => nested
                    .children
                    .iter()
                    .map(|child| match run.machine.child(child, None, &run.world).unwrap() {
                        ChildRun::Skill { skill, inputs, .. } => format!("{skill} {inputs:?}"),
                        ChildRun::Steps { outer, .. } => outer.locals["n"].to_string(),
                    })
                    .collect::<Vec<_>>()
                    .join(" "),
                Rendered::Compute(_) => panic!("no block"),
            },
        );
        let whole = matches!(execution.task, Task::Process(_));
        run.finish(End::Exited { value: json!(if whole { "x" } else { "y" }), parsed: None }, None);
    }
    assert_eq!(
        rendered,
        [
            r#"["curl", "https://u:hunter2@host", "plain"] ["hunter2", "x"] Some("HUNTER2") Some("/w")"#,
            r#"["sh", "-c", "echo \"${AYE_V1}\""] ["hunter2"] None None"#,
            r#"{"key":"hunter2","page":2}"#,
            r#"other {"a": String("hunter2"), "b": String("c")}"#,
            r#""hunter2" "plain""#,
        ]
    );
    assert_eq!(run.status(), RunStatus::Completed);
}
