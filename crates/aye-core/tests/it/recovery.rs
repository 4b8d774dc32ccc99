//! Steps that failed and steps of which nobody knows how they ended.

use aye_core::event::{Event, EventKind};
use aye_core::input::{Input, Retry};
use aye_core::journal::{FoldError, State, StepStatus};
use aye_core::machine::{Refusal, Start};
use aye_core::question::{Answer, AnswerScope, Channel};
use aye_core::skill::{AskKind, By, OnError, Step};
use serde_json::Value;

use crate::build::{
    Run, answer_of, command, confirm, driver, gated, idempotent, on_error, program, start, state,
    states, steps, when,
};

#[test]
fn an_idempotent_step_runs_again_after_a_crash() {
    let mut run = Run::start(steps([idempotent(command("a"))]));
    run.crash();
    run.attach();
    assert_eq!(
        run.trace(),
        ["a start", "resumed", "a unknown", "a retry 2 idempotent", "a start 2"]
    );
    assert_eq!(run.execution().attempt, 2);
    run.crash();
    run.attach();
    assert_eq!(run.tail(1), ["a start 3"]);
}

#[test]
fn an_idempotent_step_runs_again_after_an_interrupt() {
    let mut run = Run::start(steps([idempotent(command("a"))]));
    run.interrupt();
    run.stopped();
    run.crash();
    run.attach();
    assert_eq!(run.tail(3), ["resumed", "a retry 2 idempotent", "a start 2"]);
}

/// A run with a step of unknown outcome; the question is open.
fn unsure() -> Run {
    let mut run = Run::start(steps([command("a"), when(command("b"), "a is defined")]));
    run.crash();
    run.attach();
    assert_eq!(run.tail(3), ["resumed", "a unknown", "a ask recover"]);
    run
}

#[test]
fn a_step_of_unknown_outcome_is_somebodys_decision() {
    let mut run = unsure();
    assert_eq!(run.question().kind, AskKind::Recover);
    assert_eq!(run.question().follows.as_deref(), Some("a"));
    assert_eq!(run.machine.state().steps["a"].status, StepStatus::Unknown);
    run.answer("retry");
    assert_eq!(run.tail(2), ["a retry 2 answer", "a start 2"]);

    let mut run = unsure();
    run.answer("done");
    assert_eq!(run.tail(2), ["a marked", "b start"]);
    assert_eq!(run.machine.state().outputs["a"], Value::Null);
    let marked = run.machine.state().steps["a"].message.clone();
    assert_eq!(marked.as_deref(), Some("marked as done by ann"));

    let mut run = unsure();
    run.answer("skip");
    assert_eq!(run.tail(3), ["a skip answer", "b skip condition", "completed"]);

    let mut run = unsure();
    run.answer("abort");
    assert_eq!(run.tail(1), ["failed aborted"]);
    assert_eq!(run.machine.state().end_message.as_deref(), Some("`a` was aborted by ann"));
    // The person who retries it knows that its outcome is unknown.
    let answer = Some(Box::new(answer_of("bob", "retry")));
    let (driver, step, edits) = (driver("bob"), None, None);
    run.send(Input::Retry(Retry { driver, epoch: 0, step, edits, turn: None, answer })).unwrap();
    assert_eq!(run.tail(3), ["resumed", "a retry 2 answer", "a start 2"]);
}

#[test]
fn an_interrupted_step_is_asked_about_too() {
    let mut run = Run::start(steps([command("a")]));
    run.interrupt();
    run.stopped();
    run.attach();
    assert_eq!(run.tail(2), ["resumed", "a ask recover"]);
    assert!(run.question().message.contains("was stopped before it ended"));
}

#[test]
fn the_question_survives_another_crash_and_is_asked_once() {
    let mut run = unsure();
    let id = run.question().id.clone();
    run.crash();
    run.attach();
    assert_eq!(run.tail(2), ["a ask recover", "resumed"]);
    assert_eq!(run.question().id, id);
}

#[test]
fn ask_on_error_offers_the_same_ways() {
    let failed = || {
        let mut run = Run::start(steps([on_error(command("a"), OnError::Ask), command("b")]));
        run.exit(2);
        assert_eq!(run.tail(2), ["a failure", "a ask recover"]);
        run
    };
    assert_eq!(failed().question().message, "`a` failed: exit code 2");
    for (answer, expected) in [
        ("retry", "a start 2"),
        ("done", "b start"),
        ("skip", "b start"),
        ("abort", "failed aborted"),
    ] {
        let mut run = failed();
        run.answer(answer);
        assert_eq!(run.tail(1), [expected]);
    }
    let mut run = failed();
    run.answer("retry");
    run.exit(2);
    run.answer("retry");
    assert_eq!(run.tail(1), ["a start 3"]);
    // A time-out is an error like any other.
    let mut run = Run::start(steps([on_error(command("a"), OnError::Ask)]));
    run.time_out();
    assert_eq!(run.tail(1), ["a ask recover"]);
}

#[test]
fn a_written_failure_path_goes_before_asking() {
    let mut run = Run::start(states([
        state(on_error(command("a"), OnError::Ask), &[("failure", "b")]),
        state(command("b"), &[]),
    ]));
    run.exit(2);
    assert_eq!(run.tail(1), ["b start"]);
}

#[test]
fn a_step_that_could_not_be_rendered_is_retried_as_its_second_attempt() {
    let mut run = Run::start(steps([on_error(program("a", "{{ branch }}", &[]), OnError::Ask)]));
    assert_eq!(run.tail(2), ["a failure", "a ask recover"]);
    run.answer("retry");
    assert_eq!(run.tail(3), ["a retry 2 answer", "a failure", "a ask recover"]);
    run.names.set("branch", "now-there");
    run.answer("retry");
    assert_eq!(run.tail(2), ["a retry 3 answer", "a start 3"]);
}

#[test]
fn a_retry_of_a_changed_command_asks_its_gate_again() {
    let names = std::sync::Arc::new(crate::build::Fakes::default());
    names.set("branch", "one");
    let step = gated(program("a", "deploy", &["{{ branch }}"]), confirm("go?"));
    let skill = steps([on_error(step, OnError::Ask)]);
    let mut run = Run::start_in(skill, start(), names);
    run.answer("yes");
    run.exit(1);
    run.answer("retry");
    assert_eq!(run.tail(1), ["a start 2"]);
    run.exit(1);
    run.names.set("branch", "two");
    run.answer("retry");
    assert_eq!(run.tail(2), ["a retry 3 answer", "a ask gate"]);
    run.answer("yes");
    assert_eq!(run.tail(1), ["a start 3"]);
}

#[test]
fn whoever_may_pass_the_gate_may_say_what_becomes_of_the_step() {
    let ask = aye_core::skill::Ask { by: By::Human, ..confirm("go?") };
    let mut run = Run::start(steps([gated(command("a"), ask)]));
    run.answer("yes");
    run.crash();
    run.attach();
    let relayed = Answer { prompter: Channel::Assistant, ..answer_of("ann", "retry") };
    assert!(matches!(run.say(relayed), Err(Refusal::NotAllowed(_))));
    run.answer("retry");
    assert_eq!(run.tail(1), ["a start 2"]);
}

#[test]
fn what_is_no_journal_is_refused_and_leaves_the_state_alone() {
    let mut run = Run::start(steps([command("a"), command("b")]));
    run.exit(0);
    let events = run.events.clone();
    assert_eq!(State::fold(&[]).unwrap_err(), FoldError::Empty);
    assert_eq!(State::fold(&events[1..]).unwrap_err(), FoldError::Beginning("step_started"));
    let with = |n: usize, change: &dyn Fn(&mut Event)| {
        let mut events = events.clone();
        change(&mut events[n]);
        State::fold(&events).unwrap_err()
    };
    assert_eq!(with(0, &|e| e.seq = 2), FoldError::Gap { last: 0, found: 2 });
    assert_eq!(with(2, &|e| e.seq = 9), FoldError::Gap { last: 2, found: 9 });
    assert_eq!(with(1, &|e| e.v = 2), FoldError::Version { seq: 2, version: 2 });
    assert_eq!(with(0, &|e| e.v = 2), FoldError::Version { seq: 1, version: 2 });
    let other = aye_core::id::RunId::new("run00002").unwrap();
    assert_eq!(with(1, &|e| e.run = other.clone()), FoldError::Foreign(2));
    let twice = with(2, &|e| e.kind = events[1].kind.clone());
    assert_eq!(twice, FoldError::Misfit { seq: 3, kind: "step_started", phase: "running a step" });
    let paused = EventKind::SkillPaused {
        why: aye_core::event::PauseReason::Waiting,
        message: None,
        duration_ms: None,
    };
    let mut state = State::fold(&events).unwrap();
    let before = state.clone();
    let seq = state.seq + 1;
    let misfit = Event { seq, kind: paused, ..events[0].clone() };
    assert!(state.apply(&misfit).is_err());
    assert_eq!(state, before);
}

/// A step whose answer about a failure may be remembered.
fn remembering(step: Step) -> Step {
    Step { remember_recovery: Some(Vec::new()), ..on_error(step, OnError::Ask) }
}

fn failed(skill: aye_core::skill::Skill) -> Run {
    let mut run = Run::start(skill);
    run.exit(2);
    run
}

#[test]
fn an_answer_about_a_failure_is_remembered_only_where_the_skill_allows_it() {
    use AnswerScope::{Always, Error, Skill, Step as OneStep};
    let run = failed(steps([remembering(command("a")), command("b")]));
    assert_eq!(run.question().remember_scopes(), [Error, OneStep, Skill, Always]);
    assert!(run.question().recall.is_some());
    let destructive = |step: Step| Step { destructive: true, ..step };
    for refused in [
        steps([on_error(command("a"), OnError::Ask)]),
        steps([remembering(destructive(command("a")))]),
        // What comes after it without a question of its own cannot be undone.
        steps([remembering(command("a")), destructive(command("b"))]),
    ] {
        let mut run = failed(refused);
        assert!(!run.question().remember && run.question().recall.is_none());
        let recalled = Answer::new("skip", "ann", Channel::Memory);
        assert!(matches!(run.say(recalled), Err(Refusal::NotAllowed(_))));
    }
    // Production is asked about each time.
    let start = Start { environment: Some("eu-prod".to_owned()), ..start() };
    let mut run = Run::start_as(steps([remembering(command("a"))]), start);
    run.exit(2);
    assert!(!run.question().remember);
    // What a person has to let run, a person decides about.
    let mut run = Run::start(steps([gated(remembering(command("a")), confirm("go?"))]));
    run.answer("yes");
    run.exit(2);
    assert!(!run.question().remember);
}

#[test]
fn memory_has_a_step_tried_again_once_and_then_a_person_decides() {
    let recalled = |value: &str| Answer {
        recalled: Some("pref-1".to_owned()),
        reason: Some("ann said so".to_owned()),
        ..Answer::new(value, "ann", Channel::Memory)
    };
    let mut run = failed(steps([remembering(command("a")), command("b")]));
    run.say(recalled("retry")).unwrap();
    assert_eq!(run.tail(1), ["a start 2"]);
    let said = run.events.iter().find_map(|event| match &event.kind {
        EventKind::MemoryRecalled(what) => Some(what.clone()),
        _ => None,
    });
    let said = said.unwrap();
    assert_eq!(said.id.as_deref(), Some("pref-1"));
    assert_eq!(said.message, "ann said so; `aye memory forget pref-1` takes it back");
    run.exit(2);
    assert!(matches!(run.say(recalled("retry")), Err(Refusal::NotAllowed(_))));
    run.answer("retry");
    assert_eq!(run.tail(1), ["a start 3"]);
    // What only a person may choose was chosen by one.
    let mut run = failed(steps([remembering(command("a")), command("b")]));
    run.say(recalled("skip")).unwrap();
    assert_eq!(run.tail(1), ["b start"]);
}

#[test]
fn a_remembered_answer_is_bound_to_what_the_step_does() {
    let recall = |step: Step| failed(steps([step])).question().recall.clone().unwrap();
    let one = recall(remembering(program("a", "deploy", &["x"])));
    assert_eq!(one, recall(remembering(program("b", "deploy", &["x"]))), "not to its name");
    assert_ne!(one, recall(remembering(program("a", "deploy", &["y"]))));
    let done = failed(steps([remembering(command("a"))]));
    let done = done.question();
    assert!(done.remember_obstacle("done", AnswerScope::Step).is_some());
    assert!(done.remember_obstacle("done", AnswerScope::Error).is_none());
    assert!(done.remember_obstacle("edit", AnswerScope::Error).is_some());
    assert!(done.remember_obstacle("skip", AnswerScope::Always).is_none());
}

/// To leave a step out lets what comes then run without it.
#[test]
fn leaving_a_step_out_is_remembered_only_before_what_is_always_the_same() {
    let varies = program("b", "wipe", &["{{ inputs.target }}"]);
    for (later, bound) in
        [(varies.clone(), false), (command("b"), true), (gated(varies, confirm("go?")), true)]
    {
        let run = failed(steps([remembering(command("a")), later]));
        let question = run.question();
        assert!(question.recalls("retry"));
        assert_eq!(question.recalls("skip"), bound);
        assert_eq!(question.recalls("done"), bound);
    }
}
