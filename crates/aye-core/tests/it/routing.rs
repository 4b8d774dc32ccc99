//! Which way a run goes: outcomes, conditions, ranges, limits.

use aye_core::error_code::ErrorCode;
use aye_core::event::{FailReason, ProcessRecord};
use aye_core::input::End;
use aye_core::journal::{Ended, Phase, StepStatus};
use aye_core::machine::{Limits, Machine, Start, StartError};
use aye_core::question::Lead;
use aye_core::skill::{EndStatus, OnError, OutputSpec, Skill, Step};
use aye_core::text::World;
use serde_json::{Value, json};

use crate::build::{
    Run, asking, choice, command, confirm, dawn, end, gated, note, on_error, start, state, states,
    steps, t, when,
};

fn ended(run: &Run) -> Ended {
    match run.machine.state().phase {
        Phase::Ended(ended) => ended,
        ref other => panic!("not over: {other:?}"),
    }
}

#[test]
fn steps_run_in_order_to_the_end() {
    let mut run = Run::start(steps([command("a"), note("n"), command("b")]));
    run.exit(0);
    run.exit(0);
    assert_eq!(run.trace(), ["a start", "a done", "n done", "b start", "b done", "completed"]);
    assert_eq!(run.machine.state().visits, 3);
}

#[test]
fn a_skill_without_steps_completes_at_once() {
    assert_eq!(Run::start(steps([])).trace(), ["completed"]);
}

#[test]
fn a_failure_ends_a_run_that_does_not_catch_it() {
    let mut run = Run::start(steps([command("a"), command("b")]));
    run.exit(3);
    assert_eq!(run.tail(2), ["a failure", "failed step_failed"]);
    assert_eq!(run.machine.state().end_message.as_deref(), Some("step `a`: exit code 3"));
}

/// A state `x` that leads to a state for each outcome.
fn crossroads() -> Skill {
    let to = [
        ("success", "ok"),
        ("failure", "bad"),
        ("timeout", "late"),
        ("declined", "refused"),
        ("cancelled", "undo"),
        ("101", "lint"),
    ];
    let ways = ["ok", "bad", "late", "refused", "undo", "lint"];
    let ways = ways.map(|name| state(command(name), &[]));
    states([state(gated(command("x"), confirm("?")), &to)].into_iter().chain(ways))
}

#[test]
fn a_run_follows_the_outcome() {
    let way = |act: &dyn Fn(&mut Run)| {
        let mut run = Run::start(crossroads());
        act(&mut run);
        run.tail(1).concat()
    };
    assert_eq!(way(&|run| run.answer("no")), "refused start");
    assert_eq!(way(&|run| run.answer("skip")), "ok start");
    let after_yes = |act: &dyn Fn(&mut Run)| {
        way(&|run| {
            run.answer("yes");
            act(run);
        })
    };
    assert_eq!(after_yes(&|run| run.exit(0)), "ok start");
    assert_eq!(after_yes(&|run| run.exit(1)), "bad start");
    assert_eq!(after_yes(&|run| run.exit(101)), "lint start");
    assert_eq!(after_yes(&Run::time_out), "late start");
    assert_eq!(
        after_yes(&|run| {
            run.cancel("eve");
            run.stopped();
        }),
        "undo start"
    );
}

#[test]
fn a_program_that_could_not_be_started_has_a_code_and_an_exit_code() {
    let mut run = Run::start(states([
        state(command("x"), &[("127", "install"), ("failure", "bad")]),
        state(command("install"), &[]),
        state(command("bad"), &[]),
    ]));
    let not_started = End::NotStarted {
        code: ErrorCode::CommandNotFound,
        exit_code: Some(127),
        message: "`x` was not found".to_owned(),
        hint: Some("install it".to_owned()),
    };
    run.finish(not_started, None);
    assert_eq!(run.tail(2), ["x failure", "install start"]);
    let record = &run.machine.state().steps["x"];
    assert_eq!(record.code, Some(ErrorCode::CommandNotFound));
    assert_eq!(record.hint.as_deref(), Some("install it"));
}

#[test]
fn a_signal_is_a_failure_with_a_name() {
    let mut run = Run::start(steps([command("a")]));
    let process =
        ProcessRecord { exit_code: Some(137), signal: Some(9), ..ProcessRecord::default() };
    run.finish(End::Exited { value: Value::Null, parsed: None }, Some(process));
    assert_eq!(run.machine.state().steps["a"].message.as_deref(), Some("ended by signal 9"));
}

#[test]
fn continue_goes_on_and_leaves_the_result_unset() {
    let mut run = Run::start(steps([
        on_error(command("a"), OnError::Continue),
        when(command("b"), "a is defined"),
        when(command("c"), "steps.a.exit_code == 4"),
    ]));
    run.exit(4);
    assert_eq!(run.machine.state().end_message, None);
    assert_eq!(run.tail(3), ["a failure", "b skip condition", "c start"]);
}

#[test]
fn a_step_that_timed_out_uncaught_says_so() {
    let mut run = Run::start(steps([command("a")]));
    run.time_out();
    assert_eq!(ended(&run), Ended::Failed(FailReason::StepTimedOut));
}

#[test]
fn ends_say_how_a_run_ended() {
    for (status, expected) in [
        (EndStatus::Completed, "completed in fin"),
        (EndStatus::Failed, "failed final_state"),
        (EndStatus::Cancelled, "cancelled final_state"),
    ] {
        let mut run =
            Run::start(states([state(command("a"), &[("success", "fin")]), end("fin", status)]));
        run.exit(0);
        assert_eq!(run.tail(1), [expected]);
    }
}

#[test]
fn a_condition_that_does_not_hold_skips_the_step() {
    let mut run = Run::start(steps([
        when(command("a"), "false"),
        when(command("b"), "{{ 1 == 1 }}"),
        when(command("c"), "nothing_such"),
    ]));
    assert_eq!(run.trace(), ["a skip condition", "b start"]);
    run.exit(0);
    assert_eq!(run.tail(2), ["c failure", "failed step_failed"]);
    let record = &run.machine.state().steps["c"];
    assert_eq!(record.code, Some(ErrorCode::Template));
    assert_eq!(record.message.as_deref(), Some("condition: `nothing_such` is not defined"));
}

#[test]
fn from_begins_later_and_goes_on() {
    let mut run = Run::from(steps([command("a"), command("b"), command("c")]), "b");
    run.exit(0);
    run.exit(0);
    assert_eq!(run.trace(), ["b start", "b done", "c start", "c done", "completed"]);
}

#[test]
fn only_runs_one_step_whatever_comes_of_it() {
    let skill = || {
        let mut skill = states([
            state(command("a"), &[("success", "b"), ("failure", "b"), ("cancelled", "b")]),
            state(command("b"), &[]),
        ]);
        skill.outputs =
            vec![OutputSpec { name: t("o"), value: json!("{{ b }}"), span: Default::default() }];
        skill
    };
    let mut run = Run::only(skill(), "a");
    run.exit(0);
    // Outputs speak of the whole skill: they are not rendered.
    assert_eq!(run.trace(), ["a start", "a done", "completed"]);
    let mut run = Run::only(skill(), "a");
    run.exit(1);
    assert_eq!(run.tail(1), ["failed step_failed"]);
    let mut run = Run::only(skill(), "a");
    run.cancel("eve");
    run.stopped();
    assert_eq!(run.tail(1), ["cancelled cancelled"]);
}

#[test]
fn a_question_of_one_step_alone_says_where_each_answer_leads() {
    let asks = |run: Run| -> Vec<String> {
        let question = run.question();
        let says = |lead: &Lead| format!("{}: {lead}", lead.answer);
        question.leads.iter().map(says).collect()
    };
    // In the whole skill a no leads to a state; alone it ends the run, and so does all else.
    let whole = asks(Run::start(crossroads()));
    assert_eq!(whole, ["yes: runs x", "no: refused", "skip: ok"]);
    let alone = asks(Run::only(crossroads(), "x"));
    let (no, skip) = ("no: the run ends (cancelled)", "skip: the run ends (completed)");
    assert_eq!(alone, ["yes: runs x", no, skip]);
    let confirms = || steps([asking("sure", confirm("?")), command("b")]);
    assert_eq!(asks(Run::start(confirms()))[0], "yes: the run continues");
    assert_eq!(asks(Run::only(confirms(), "sure"))[0], "yes: the run ends (completed)");
    // What is said is what happens.
    for (answer, ends) in [("no", "cancelled"), ("skip", "completed")] {
        let mut run = Run::only(crossroads(), "x");
        run.answer(answer);
        assert_eq!(run.tail(1)[0].split(' ').next(), Some(ends), "{answer}");
    }
}

#[test]
fn a_range_that_names_no_step_is_refused_with_a_guess() {
    let names = std::sync::Arc::new(crate::build::Fakes::default());
    let world = World { now: dawn(), names };
    let flow = std::sync::Arc::new(aye_core::flow::Flow::compile(steps([command("build")])));
    let range = Some(aye_core::event::Range::From("biuld".to_owned()));
    let error = Machine::start(flow, Limits::default(), Start { range, ..start() }, &world);
    assert_eq!(
        error.err(),
        Some(StartError::NoSuchStep {
            step: "biuld".to_owned(),
            nearest: Some("build".to_owned())
        })
    );
}

#[test]
fn the_step_limit_ends_every_kind_of_loop() {
    let limited = |skill: Skill| Skill { step_limit: 5, ..skill };
    // A loop of steps that are left out needs no input at all.
    let skipped = Run::start(limited(states([
        state(when(command("a"), "false"), &[("success", "b")]),
        state(when(command("b"), "false"), &[("success", "a")]),
    ])));
    assert_eq!(ended(&skipped), Ended::Failed(FailReason::StepLimit));
    assert_eq!(skipped.machine.state().visits, 5);
    // Nor does one of notes, or of a template that cannot be rendered.
    let notes = Run::start(limited(states([state(note("a"), &[("success", "a")])])));
    assert_eq!(ended(&notes), Ended::Failed(FailReason::StepLimit));
    let broken =
        Run::start(limited(states([state(command("{{ no }}"), &[("failure", "{{ no }}")])])));
    assert_eq!(ended(&broken), Ended::Failed(FailReason::StepLimit));
    let mut own = Run::start(limited(states([state(command("a"), &[("success", "a")])])));
    for _ in 0..5 {
        own.exit(0);
    }
    assert_eq!(ended(&own), Ended::Failed(FailReason::StepLimit));
    assert_eq!(own.machine.state().executions, 5);
}

#[test]
fn gates_and_retries_are_one_visit() {
    let mut run = Run::start(steps([on_error(gated(command("a"), confirm("?")), OnError::Ask)]));
    run.answer("yes");
    run.exit(1);
    run.answer("retry");
    run.exit(0);
    assert_eq!(
        run.trace(),
        [
            "a ask gate",
            "ann says yes (terminal)",
            "a start",
            "a failure",
            "a ask recover",
            "ann says retry (terminal)",
            "a retry 2 answer",
            "a start 2",
            "a done",
            "completed"
        ]
    );
    assert_eq!(run.machine.state().visits, 1);
}

#[test]
fn a_step_visited_again_shows_nothing_of_its_last_visit() {
    let mut run = Run::start(states([
        state(when(command("a"), "b is not defined"), &[("failure", "b")]),
        state(command("b"), &[("success", "a")]),
    ]));
    run.finish(
        End::NotStarted {
            code: ErrorCode::CommandNotFound,
            exit_code: Some(127),
            message: "no".to_owned(),
            hint: Some("yes".to_owned()),
        },
        None,
    );
    run.exit(0);
    let record = &run.machine.state().steps["a"];
    assert_eq!(record.status, StepStatus::Skipped);
    assert_eq!(record.visits, 2);
    assert_eq!((&record.code, &record.hint, &record.process), (&None, &None, &None));
}

#[test]
fn named_outputs_are_rendered_at_the_end() {
    let mut skill = steps([command("a")]);
    skill.outputs = vec![
        OutputSpec { name: t("text"), value: json!("got {{ a }}"), span: Default::default() },
        OutputSpec {
            name: t("data"),
            value: json!({ "list": ["{{ a }}", 1] }),
            span: Default::default(),
        },
    ];
    let mut run = Run::start(skill.clone());
    run.exit_with(0, json!(7));
    assert_eq!(run.machine.state().results["text"], json!("got 7"));
    assert_eq!(run.machine.state().results["data"], json!({ "list": [7, 1] }));

    skill.outputs.push(OutputSpec {
        name: t("bad"),
        value: json!("{{ aa }}"),
        span: Default::default(),
    });
    let mut run = Run::start(skill);
    run.exit(0);
    assert_eq!(ended(&run), Ended::Failed(FailReason::Output));
}

#[test]
fn a_value_that_was_never_offered_is_no_consent() {
    let ask = aye_core::skill::Ask {
        options: vec![choice("go", aye_core::skill::ChoiceAction::Proceed)],
        ..crate::build::expiring(confirm("?"), 10, Some("{{ branch }}"))
    };
    let names = std::sync::Arc::new(crate::build::Fakes::default());
    names.set("branch", "main");
    let mut run = Run::start_in(steps([gated(command("a"), ask)]), start(), names);
    run.tick(10);
    assert_eq!(run.tail(3), ["expired", "a skip expired", "cancelled expired"]);
}

#[test]
fn a_final_state_takes_its_status_from_the_outcome_that_led_there() {
    let to = [("success", "over"), ("failure", "over"), ("7", "over")];
    let skill = |step: Step| states([state(step, &to), end("over", EndStatus::ByOutcome)]);
    for (code, last) in
        [(0, "completed in over"), (1, "failed final_state"), (7, "completed in over")]
    {
        let mut run = Run::start(skill(command("a")));
        run.exit(code);
        assert_eq!(run.tail(1), [last], "exit code {code}");
    }
    // A decline that `failure` catches is a decline all the same.
    let mut run = Run::start(skill(gated(command("a"), confirm("sure?"))));
    run.answer("no");
    assert_eq!(run.tail(1), ["cancelled final_state"]);
}

#[test]
fn a_final_state_that_acts_ends_as_it_was_reached() {
    let mut last = end("over", EndStatus::ByOutcome);
    last.step = command("over");
    let skill = states([state(command("a"), &[("success", "over"), ("failure", "over")]), last]);
    for (code, end) in [(0, "completed in over"), (1, "failed final_state")] {
        let mut run = Run::start(skill.clone());
        run.exit(code);
        run.exit(0);
        assert_eq!(run.tail(1), [end], "exit code {code}");
    }
}
