//! Whole skills in the machine: retries, guards, early ends, loops, sub-skills.

use aye_core::effect::{Effect, Task};
use aye_core::error_code::ErrorCode;
use aye_core::flow::Flow;
use aye_core::input::End;
use aye_core::journal::RunStatus;
use aye_core::machine::{Limits, Machine};
use aye_core::nested::{Child, ChildRun, Nested, ParentScope};
use aye_core::skill::{Skill, parse};
use serde_json::{Value, json};

use crate::build::{Run, driver, start};

fn skill(text: &str) -> Skill {
    let mut parsed = parse("test.yaml", text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    parsed.skills.remove(0)
}

pub(crate) fn run(text: &str) -> Run {
    Run::start(skill(text))
}

fn failed(run: &mut Run, message: &str) {
    let end = End::Failed {
        code: ErrorCode::ToolFailed,
        message: message.to_owned(),
        hint: None,
        proposal: None,
    };
    run.finish(end, None);
}

fn nested(run: &Run) -> Nested {
    match run.execution().task {
        Task::Nested(nested) => *nested,
        other => panic!("nothing is nested: {other:?}"),
    }
}

#[test]
fn a_step_is_tried_again_after_its_wait_and_not_before() {
    let mut run = run("
name: t
steps:
  - { name: a, command: make, retry: { attempts: 3, backoff: 10s, factor: 3, jitter: false } }
");
    run.exit(1);
    let Effect::Wait { until } = run.machine.next_effect() else {
        panic!("{:?}", run.machine.next_effect())
    };
    assert_eq!(run.machine.wake_at(), Some(until));
    run.tick(9);
    assert_eq!(run.machine.next_effect(), Effect::Wait { until });
    run.tick(1);
    assert_eq!(run.execution().attempt, 2);
    run.exit(1);
    run.tick(29);
    assert!(matches!(run.machine.next_effect(), Effect::Wait { .. }));
    run.tick(1);
    assert_eq!(run.execution().attempt, 3);
    run.exit(1);
    assert_eq!(run.status(), RunStatus::Failed);
    let record = &run.machine.state().steps["a"];
    assert_eq!((record.visits, record.attempt), (1, 3));
}

#[test]
fn a_wait_survives_a_crash_and_ends_with_the_runs_time() {
    let text = "
name: t
timeout: 60s
steps:
  - { name: a, command: make, retry: { attempts: 2, backoff: 30s, jitter: false } }
";
    let mut crashed = run(text);
    crashed.exit(1);
    crashed.crash();
    crashed.attach();
    assert!(matches!(crashed.machine.next_effect(), Effect::Wait { .. }));
    crashed.tick(30);
    assert_eq!(crashed.execution().attempt, 2);
    let mut late =
        run(&text.replace("30s", "10m").replace("jitter: false", "jitter: false, max: 1h"));
    late.exit(1);
    late.tick(61);
    assert_eq!(late.status(), RunStatus::Failed);
    assert!(late.machine.state().end_message.as_deref().unwrap().contains("time limit"));
}

#[test]
fn only_what_the_retry_names_is_tried_again() {
    let text = |on: &str| {
        format!(
            "name: t\nsteps:\n  - {{ name: a, command: make, retry: {{ attempts: 2, backoff: 0s, on: [{on}] }} }}\n"
        )
    };
    let mut codes = run(&text("75"));
    codes.exit(1);
    assert_eq!(codes.status(), RunStatus::Failed);
    let mut codes = run(&text("75"));
    codes.exit(75);
    assert_eq!(codes.execution().attempt, 2);
    let mut time = run(&text("timeout"));
    time.time_out();
    assert_eq!(time.execution().attempt, 2);
    let mut hopeless = run(&text("failure"));
    let end = End::NotStarted {
        code: ErrorCode::CommandNotFound,
        exit_code: Some(127),
        message: "no make".to_owned(),
        hint: None,
    };
    hopeless.finish(end, None);
    assert_eq!(hopeless.status(), RunStatus::Failed);
}

#[test]
fn chance_shortens_waits_the_same_way_each_time() {
    let text =
        "name: t\nsteps:\n  - { name: a, command: make, retry: { attempts: 2, backoff: 100s } }\n";
    let wait = || {
        let mut run = run(text);
        run.exit(1);
        run.machine.wake_at().unwrap().duration_since(run.world.now).as_secs()
    };
    assert_eq!(wait(), wait());
    assert!((50..=100).contains(&wait()), "{}", wait());
}

#[test]
fn a_guard_stops_the_run_even_where_failures_are_passed_over() {
    let text = "
name: t
steps:
  - name: a
    tool: x.y
    on_error: continue
    validate:
      - { condition: a.ok, error_message: 'not ok: {{ a.why }}' }
      - { expect_success: true, error_message: Give up }
  - { name: b, command: make }
";
    let mut good = run(text);
    good.finish(End::Exited { value: json!({ "ok": true }), parsed: None }, None);
    assert_eq!(good.execution().step, "b");
    let mut bad = run(text);
    bad.finish(End::Exited { value: json!({ "ok": false, "why": "rain" }), parsed: None }, None);
    assert_eq!(bad.status(), RunStatus::Failed);
    assert_eq!(bad.machine.state().end_message.as_deref(), Some("step `a`: not ok: rain"));
    let mut broken = run(text);
    failed(&mut broken, "boom");
    assert_eq!(broken.machine.state().end_message.as_deref(), Some("step `a`: Give up (boom)"));
}

#[test]
fn a_command_guards_a_step_and_a_step_that_is_left_out_is_not_guarded() {
    let text = "
name: t
inputs: [{ name: on, type: boolean, default: true }]
steps:
  - { name: a, condition: CONDITION, command: make, validate: { command: check, args: [it], error_message: No } }
  - { name: b, command: ship }
";
    let mut checked = run(&text.replace("CONDITION", "1 == 1"));
    checked.exit(0);
    assert_eq!(checked.process().argv, ["check", "it"]);
    checked.exit(3);
    assert_eq!(
        checked.machine.state().end_message.as_deref(),
        Some("step `a.check`: No (exit code 3)")
    );
    let skipped = run(&text.replace("CONDITION", "1 == 2"));
    assert_eq!(skipped.execution().step, "b");
}

#[test]
fn a_return_ends_the_run_well_and_what_follows_is_not_run() {
    let text = "
name: t
steps:
  - name: early
    condition: CONDITION
    then:
      - { name: tidy, command: tidy }
      - return: 'nothing to do: {{ tidy }}'
  - { name: rest, command: make }
outputs: [{ name: made, value: '{{ rest }}' }]
";
    let mut early = run(&text.replace("CONDITION", "1 == 1"));
    assert_eq!(early.execution().step, "tidy");
    early.exit_with(0, json!("clean"));
    assert_eq!(early.status(), RunStatus::Completed);
    assert_eq!(early.machine.state().results["result"], "nothing to do: clean");
    let late = run(&text.replace("CONDITION", "1 == 2"));
    assert_eq!(late.execution().step, "rest");
}

const LOOP: &str = "
name: t
steps:
  - { name: list, compute: 'result = [1, 2]' }
  - { name: each, foreach: '{{ list }}', as: n, parallel: 2, command: echo, args: ['{{ n }}', '{{ index }}'] }
";

#[test]
fn a_loop_is_a_run_for_each_item_and_goes_on_with_the_list_it_began_with() {
    let mut run = run(LOOP);
    run.finish(End::Exited { value: json!(["x", "y"]), parsed: None }, None);
    let before = nested(&run);
    assert_eq!(before.parallel, 2);
    let ids: Vec<String> =
        before.children.iter().map(|child| child.parent.child().unwrap().to_string()).collect();
    assert_eq!(ids, ["run00001_2_0", "run00001_2_1"]);
    run.crash();
    run.attach();
    assert_eq!(nested(&run), before, "a crash changes nothing: what is inside knows how far it is");
    let (mut inner, inner_run) = begin(&run, &before.children[1]);
    assert_eq!(inner_run, json!(["echo", "y", "1"]));
    assert!(
        !inner
            .handle(aye_core::input::Input::Tick { shown: true }, &run.world)
            .events
            .iter()
            .any(|_| true)
    );
    run.finish(End::Exited { value: json!(["a", "b"]), parsed: None }, None);
    assert_eq!(run.status(), RunStatus::Completed);
}

/// The steps of a child and what they see.
fn steps_of(run: &Run, child: &Child) -> (std::sync::Arc<Flow>, ParentScope) {
    match run.machine.child(child, None, &run.world).unwrap() {
        ChildRun::Steps { flow, outer } => (flow, *outer),
        ChildRun::Skill { .. } => panic!("a skill"),
    }
}

/// The run of an item, and what it runs first.
fn begin(run: &Run, child: &Child) -> (Machine, Value) {
    let (flow, outer) = steps_of(run, child);
    let begin = aye_core::machine::Start {
        run: child.parent.child().unwrap(),
        parent: Some(child.parent.clone()),
        outer: Some(outer),
        ..start()
    };
    let (machine, _) = Machine::start(flow, Limits::default(), begin, &run.world).unwrap();
    let execution = machine.execution(&run.world).unwrap().unwrap();
    let Task::Process(process) = execution.task else { panic!("a program") };
    (machine, json!(process.argv))
}

#[test]
fn a_list_that_is_none_fails_and_an_empty_one_is_done() {
    let mut wrong = run(LOOP);
    wrong.finish(End::Exited { value: json!(5), parsed: None }, None);
    assert!(wrong.machine.state().end_message.as_deref().unwrap().contains("`5` is not a list"));
    let mut empty = run(LOOP);
    empty.finish(End::Exited { value: json!([]), parsed: None }, None);
    assert_eq!(empty.status(), RunStatus::Completed);
    assert_eq!(empty.machine.state().outputs["each"], json!([]));
    let mut lines = run(LOOP);
    lines.finish(End::Exited { value: json!("one\n\n two \n"), parsed: None }, None);
    assert_eq!(nested(&lines).children.len(), 2);
    let mut map = run(LOOP);
    map.finish(End::Exited { value: json!({ "k": 1 }), parsed: None }, None);
    let (_, outer) = steps_of(&map, &nested(&map).children[0]);
    assert_eq!(outer.locals["n"], json!({ "key": "k", "value": 1 }));
}

#[test]
fn a_list_that_is_none_may_be_passed_over_unless_something_has_to_hold() {
    let passed = LOOP.replace("as: n,", "as: n, on_error: continue,");
    for (text, status) in [
        (passed.clone(), RunStatus::Completed),
        (passed.replace("as: n,", "as: n, validate: { condition: 'true' },"), RunStatus::Failed),
    ] {
        let mut wrong = run(&text);
        wrong.finish(End::Exited { value: json!(5), parsed: None }, None);
        assert_eq!(wrong.status(), status, "{text}");
    }
    let lenient = "
name: t
undefined: lenient
steps: [{ name: each, foreach: '{{ nothing }}', command: echo }]
";
    let empty = run(lenient);
    assert_eq!(empty.status(), RunStatus::Completed);
    assert_eq!(empty.machine.state().outputs["each"], json!([]));
}

#[test]
fn a_nested_step_rests_where_it_is_and_is_never_in_doubt() {
    let text = "name: t\nsteps:\n  - { name: call, skill: other, inputs: { a: 'x{{ 1 + 1 }}' } }\n";
    let mut run = run(text);
    let called = run.machine.child(&nested(&run).children[0], None, &run.world).unwrap();
    let ChildRun::Skill { skill, inputs, .. } = called else { panic!("a skill") };
    assert_eq!((skill.as_str(), &inputs["a"]), ("other", &json!("x2")));
    run.interrupt();
    run.stopped();
    assert_eq!(run.status(), RunStatus::Paused);
    run.crash();
    run.attach();
    assert!(matches!(run.machine.next_effect(), Effect::Run { .. }));
    run.leave();
    assert_eq!(run.status(), RunStatus::Paused);
    run.attach();
    let declined =
        End::Declined { expired: false, by: Some("bob".to_owned()), message: "no".to_owned() };
    run.finish(declined, None);
    assert_eq!(run.status(), RunStatus::Cancelled);
    assert_eq!(run.machine.state().ended_by.as_deref(), Some("bob"));
    let _ = driver("ann");
}

#[test]
fn what_a_tool_said_in_lines_is_there_by_key() {
    let mut run = run(
        "name: t\nsteps:\n  - { name: a, tool: x.y, output: r }\n  - { name: b, command: echo, args: ['{{ r_parsed.state }}'] }\n",
    );
    run.finish(
        End::Exited { value: json!("State: up"), parsed: Some(json!({ "state": "up" })) },
        None,
    );
    assert_eq!(run.process().argv, ["echo", "up"]);
}

const HEALED: &str = "
name: t
heal:
  - name: login
    match: { command: kubectl, error: [unauthorized, '403'] }
    repair: { command: kube-login, args: ['{{ failed }}', '{{ error }}'] }
    backoff: 2s
steps:
  - { name: a, command: kubectl, args: [get, pods], on_error: auto_heal }
  - { name: b, command: make }
";

fn said(run: &mut Run, code: i32, stderr: &str) {
    let process = aye_core::event::ProcessRecord {
        exit_code: Some(code),
        stderr: stderr.to_owned(),
        ..Default::default()
    };
    run.finish(End::Exited { value: json!(""), parsed: None }, Some(process));
}

#[test]
fn a_known_error_is_repaired_and_the_step_tried_again() {
    let mut run = run(HEALED);
    said(&mut run, 1, "error: You must be logged in (Unauthorized)\n");
    let repair = nested(&run);
    let (_, argv) = begin(&run, &repair.children[0]);
    assert_eq!(argv[0], "kube-login");
    assert_eq!(argv[1], "a");
    assert!(argv[2].as_str().unwrap().contains("Unauthorized"), "{argv}");
    // A crash in between changes nothing.
    run.crash();
    run.attach();
    assert_eq!(nested(&run), repair);
    run.finish(End::Exited { value: json!(""), parsed: None }, None);
    assert!(matches!(run.machine.next_effect(), Effect::Wait { .. }));
    run.tick(2);
    assert_eq!((run.execution().step.as_str(), run.execution().attempt), ("a", 2));
    run.exit(0);
    assert_eq!(run.execution().step, "b");
    assert!(run.trace().contains(&"a healed true".to_owned()), "{:?}", run.trace());
    assert_eq!(run.machine.state().steps["a"].heals, 1);
}

#[test]
fn what_is_not_the_known_error_is_not_repaired() {
    let mut run = run(HEALED);
    said(&mut run, 1, "MR !1403 not found");
    assert_eq!(run.status(), RunStatus::Failed);
}

#[test]
fn a_repair_that_fails_or_does_not_help_leaves_the_failure_as_it_was() {
    let mut broken = run(HEALED);
    said(&mut broken, 7, "HTTP 403");
    failed(&mut broken, "no login");
    assert_eq!(broken.status(), RunStatus::Failed);
    assert_eq!(broken.machine.state().end_message.as_deref(), Some("step `a`: exit code 7"));
    let mut useless = run(HEALED);
    said(&mut useless, 7, "HTTP 403");
    useless.finish(End::Exited { value: json!(""), parsed: None }, None);
    useless.tick(2);
    said(&mut useless, 7, "HTTP 403");
    assert_eq!(useless.status(), RunStatus::Failed, "once is enough");
    let mut passed = run(&HEALED.replace("auto_heal", "continue"));
    said(&mut passed, 7, "HTTP 403");
    failed(&mut passed, "no login");
    assert_eq!(passed.execution().step, "b");
}

#[test]
fn a_repair_is_stopped_like_any_step() {
    let mut cancelled = run(HEALED);
    said(&mut cancelled, 7, "HTTP 403");
    cancelled.cancel("bob");
    cancelled.stopped();
    assert_eq!(cancelled.status(), RunStatus::Cancelled);
    let mut interrupted = run(HEALED);
    said(&mut interrupted, 7, "HTTP 403");
    interrupted.interrupt();
    interrupted.stopped();
    assert_eq!(interrupted.status(), RunStatus::Paused);
    interrupted.attach();
    assert_eq!(nested(&interrupted).children.len(), 1);
}
