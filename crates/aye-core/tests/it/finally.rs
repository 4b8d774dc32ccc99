//! `finally`: however a run ends, once, and never after a step in doubt.

use aye_core::event::{CancelReason, EventKind, FailReason, Finishing, RunEnd};
use aye_core::input::{End, Input, Request, Retry};
use aye_core::journal::{Ended, Phase, StepStatus};
use aye_core::machine::{Limits, Machine, Start, StartError};
use aye_core::skill::{Action, EndStatus, OnError, Skill, Step};

use crate::build::{
    Run, answer_of, asking, command, confirm, driver, end, expiring, gated, idempotent, on_error,
    program, secs, start, state, states, steps,
};

/// `a`, `b`, and then however that ended `tell` and `tidy`.
fn skill() -> Skill {
    with_finally(steps([command("a"), command("b")]))
}

fn with_finally(skill: Skill) -> Skill {
    let tell = program("tell", "tell", &["{{ run.status }}/{{ run.failed_step }}/{{ run.error }}"]);
    Skill { finally: vec![tell, command("tidy")], ..skill }
}

fn ended(run: &Run) -> Ended {
    match run.machine.state().phase {
        Phase::Ended(ended) => ended,
        ref other => panic!("not over: {other:?}"),
    }
}

/// What `tell` was given.
fn told(run: &Run) -> Vec<String> {
    let argv = |event: &aye_core::event::Event| match &event.kind {
        EventKind::StepStarted(started) if started.step == "tell" => started.argv.get(1).cloned(),
        _ => None,
    };
    run.events.iter().filter_map(argv).collect()
}

fn cancel(run: &mut Run) {
    run.send(Input::Request(Request::Cancel { by: "eve".to_owned(), reason: None, now: false }))
        .unwrap();
}

fn retry() -> Input {
    let answer = Some(Box::new(answer_of("bob", "retry")));
    let (driver, step, edits) = (driver("bob"), None, None);
    Input::Retry(Retry { driver, epoch: 0, step, edits, turn: None, answer })
}

fn message(run: &Run) -> &str {
    run.machine.state().end_message.as_deref().unwrap_or_default()
}

#[test]
fn it_runs_after_a_good_end_which_is_recorded_first() {
    let mut run = Run::start(skill());
    (0..4).for_each(|_| run.exit(0));
    assert_eq!(
        run.trace(),
        [
            "a start",
            "a done",
            "b start",
            "b done",
            "finishing completed",
            "tell start",
            "tell done",
            "tidy start",
            "tidy done",
            "completed"
        ]
    );
    assert_eq!(told(&run), ["completed//"]);
}

#[test]
fn it_runs_after_a_failure_a_decline_and_a_final_state() {
    let mut run = Run::start(skill());
    run.exit(3);
    assert_eq!(run.tail(2), ["finishing failed", "tell start"]);
    assert_eq!(told(&run), ["failed/a/step `a`: exit code 3"]);
    run.exit(0);
    run.exit(0);
    assert_eq!(run.tail(1), ["failed step_failed"]);
    assert_eq!(message(&run), "step `a`: exit code 3");

    let mut run = Run::start(with_finally(steps([gated(command("a"), confirm("go?"))])));
    run.answer("no");
    assert_eq!(run.tail(2), ["finishing cancelled", "tell start"]);
    run.exit(0);
    run.exit(0);
    assert_eq!(ended(&run), Ended::Cancelled(CancelReason::Declined));

    let states =
        states([state(command("a"), &[("success", "over")]), end("over", EndStatus::Failed)]);
    let mut run = Run::start(with_finally(states));
    (0..3).for_each(|_| run.exit(0));
    assert_eq!(ended(&run), Ended::Failed(FailReason::FinalState));
    assert_eq!(run.machine.state().final_state.as_deref(), Some("over"));
    assert_eq!(told(&run), ["failed/a/ended in `over`"]);
}

#[test]
fn it_runs_after_a_cancel_and_a_second_cancel_ends_it() {
    let mut run = Run::start(skill());
    cancel(&mut run);
    run.finish(End::Stopped, None);
    assert_eq!(run.tail(2), ["finishing cancelled", "tell start"]);
    run.exit(0);
    run.exit(0);
    assert_eq!(ended(&run), Ended::Cancelled(CancelReason::Cancelled));
    assert_eq!(message(&run), "cancelled by eve");

    let mut run = Run::start(skill());
    cancel(&mut run);
    run.finish(End::Stopped, None);
    cancel(&mut run);
    run.finish(End::Stopped, None);
    assert_eq!(run.machine.state().steps.get("tidy"), None);
    assert_eq!(ended(&run), Ended::Cancelled(CancelReason::Cancelled));
    assert_eq!(message(&run), "cancelled by eve; `finally`: step `tell`: cancelled by eve");
}

/// The run around it is cancelled. What has begun is finished; of a step in doubt the rest follows.
#[test]
fn a_cancel_of_the_run_around_it_does_not_end_it() {
    let around = || Input::CancelledAround { by: "eve".to_owned(), reason: None };
    let mut run = Run::start(skill());
    (0..2).for_each(|_| run.exit(0));
    run.send(around()).unwrap();
    assert_eq!(run.tail(1), ["tell start"]);
    (0..2).for_each(|_| run.exit(0));
    assert_eq!(run.tail(1), ["completed"]);

    // Before it, it is a cancel like any other.
    let mut run = Run::start(skill());
    run.send(around()).unwrap();
    run.finish(End::Stopped, None);
    assert_eq!(run.tail(2), ["finishing cancelled", "tell start"]);
    run.send(around()).unwrap();
    (0..2).for_each(|_| run.exit(0));
    assert_eq!(message(&run), "cancelled by eve");

    for interrupted in [true, false] {
        let mut run = Run::start(skill());
        (0..2).for_each(|_| run.exit(0));
        match interrupted {
            true => {
                run.send(Input::Interrupt { signal: "SIGINT".to_owned() }).unwrap();
                run.finish(End::Stopped, None);
            }
            false => run.crash(),
        }
        run.attach();
        run.send(around()).unwrap();
        assert_eq!(run.tail(3), ["withdrawn", "tell cancelled", "tidy start"]);
        run.exit(0);
        assert_eq!(ended(&run), Ended::Failed(FailReason::Finally));
        assert_eq!(message(&run), "`finally`: step `tell`: cancelled by eve");
    }
}

#[test]
fn it_runs_when_a_question_is_cancelled_and_when_nobody_drives_the_run() {
    let mut run = Run::start(with_finally(steps([asking("q", confirm("go?"))])));
    cancel(&mut run);
    assert_eq!(run.tail(2), ["finishing cancelled", "tell start"]);

    let mut run = Run::start(with_finally(steps([asking("q", confirm("go?"))])));
    run.send(Input::Leave { message: "nobody".to_owned() }).unwrap();
    assert!(!run.trace().iter().any(|line| line.contains("finishing")), "never at a pause");
    cancel(&mut run);
    assert_eq!(run.tail(1), ["finishing cancelled"]);
    run.attach();
    assert_eq!(run.tail(1), ["tell start"]);
}

#[test]
fn it_does_not_run_at_an_interrupt_but_goes_on_where_it_was_interrupted() {
    let mut run = Run::start(skill());
    let interrupt = || Input::Interrupt { signal: "SIGINT".to_owned() };
    run.send(interrupt()).unwrap();
    run.finish(End::Stopped, None);
    assert!(!run.trace().iter().any(|line| line.contains("finishing")), "{:?}", run.trace());
    run.attach();
    run.answer("done");
    run.exit(0);
    run.send(interrupt()).unwrap();
    run.finish(End::Stopped, None);
    assert_eq!(run.machine.state().steps["tell"].status, StepStatus::Interrupted);
    // However long nobody took it up, it has the time that it had.
    run.sleep(86_400);
    run.attach();
    run.answer("retry");
    run.exit(0);
    run.exit(0);
    assert_eq!(run.tail(1), ["completed"]);
}

#[test]
fn nothing_runs_after_a_step_in_doubt_until_somebody_says_what_became_of_it() {
    let mut run = Run::start(skill());
    run.crash();
    run.attach();
    assert!(matches!(run.machine.state().phase, Phase::Asking { .. }));
    run.answer("abort");
    assert_eq!(run.tail(2), ["finishing failed", "tell start"]);

    // The run's time is up and nobody has said it: then nothing runs.
    let mut run = Run::start(Skill { timeout: Some(secs(60)), ..skill() });
    run.crash();
    run.attach();
    run.tick(100);
    assert_eq!(ended(&run), Ended::Failed(FailReason::RunTimedOut));
    assert!(message(&run).ends_with("`finally` was not run"), "{}", message(&run));
    assert_eq!(run.machine.state().steps.get("tell"), None);

    // In `finally` too, for as long as it takes.
    let mut run = Run::start(skill());
    run.exit(0);
    run.exit(0);
    run.crash();
    run.attach();
    run.tick(100_000);
    let Phase::Asking { question, .. } = &run.machine.state().phase else { panic!() };
    assert_eq!(question.step, "tell");
    run.answer("done");
    run.exit(0);
    assert_eq!(run.tail(1), ["completed"]);
}

#[test]
fn a_step_that_may_be_repeated_is_run_again_after_a_crash() {
    let finally = vec![idempotent(command("tell")), command("tidy")];
    let mut run = Run::start(Skill { finally, ..steps([command("a")]) });
    run.exit(0);
    run.crash();
    run.attach();
    run.exit(0);
    run.exit(0);
    assert_eq!(run.tail(1), ["completed"]);
}

#[test]
fn a_failure_in_it_does_not_stop_the_next_and_spoils_a_good_end() {
    let mut run = Run::start(skill());
    [0, 0, 7, 0].into_iter().for_each(|code| run.exit(code));
    assert_eq!(run.tail(4), ["tell failure", "tidy start", "tidy done", "failed finally"]);
    assert_eq!(message(&run), "`finally`: step `tell`: exit code 7");

    let mut run = Run::start(skill());
    [3, 7, 0].into_iter().for_each(|code| run.exit(code));
    assert_eq!(ended(&run), Ended::Failed(FailReason::StepFailed));
    assert_eq!(message(&run), "step `a`: exit code 3; `finally`: step `tell`: exit code 7");

    let finally = vec![on_error(command("tell"), OnError::Continue)];
    let mut run = Run::start(Skill { finally, ..steps([command("a")]) });
    [0, 7].into_iter().for_each(|code| run.exit(code));
    assert_eq!(run.tail(1), ["completed"]);
}

#[test]
fn nobody_is_asked_about_a_failure_in_it() {
    let driver = aye_core::event::Driver { attended: true, ..driver("ann") };
    let finally = vec![on_error(command("tell"), OnError::Ask), command("tidy")];
    let skill = Skill { finally, ..steps([command("a")]) };
    let mut run = Run::start_as(skill, Start { driver, ..start() });
    run.exit(0);
    run.exit(7);
    assert_eq!(run.tail(1), ["tidy start"]);
}

#[test]
fn an_unanswered_question_in_it_leaves_its_step_out() {
    let gate = |name: &str, ask| gated(command(name), ask);
    let cases: [fn(&mut Run); 3] = [
        |run| run.tick(20),
        |run| run.tick_unseen(40),
        |run| run.send(Input::Leave { message: "nobody".to_owned() }).unwrap(),
    ];
    for end_it in cases {
        let ask = expiring(confirm("tell?"), 20, None);
        let finally = vec![gate("tell", ask), note_done()];
        let mut run = Run::start(Skill { finally, ..steps([command("a")]) });
        run.exit(0);
        end_it(&mut run);
        assert_eq!(run.machine.state().steps["tell"].status, StepStatus::Skipped);
    }
    // One that waits for ever leaves half of the time to what follows, and so does a default
    // that proceeds and that nobody saw.
    for ask in [confirm("tell?"), expiring(confirm("tell?"), 100, Some("yes"))] {
        let finally = vec![gate("tell", ask), command("tidy")];
        let mut run = Run::start(Skill { finally, ..steps([command("a")]) });
        run.exit(0);
        run.tick_unseen(14);
        assert!(matches!(run.machine.state().phase, Phase::Asking { .. }));
        run.tick_unseen(1);
        assert_eq!(run.machine.state().steps["tell"].status, StepStatus::Skipped);
        run.exit(0);
        assert_eq!(ended(&run), Ended::Completed);
    }
}

/// A run inside a step of it, for an item or another skill, belongs to it.
#[test]
fn nobody_is_asked_about_a_failure_inside_it() {
    let attended = || aye_core::event::Driver { attended: true, ..driver("ann") };
    let inside = |finally| aye_core::nested::Parent {
        run: "abcdefgh12".to_owned().try_into().unwrap(),
        step: "each".to_owned(),
        execution: 1,
        turn: None,
        item: None,
        form: None,
        depth: 1,
        bound: false,
        finally,
        repair: false,
        declined: None,
    };
    for (finally, last) in [(true, "failed step_failed"), (false, "a ask recover")] {
        let parent = Some(inside(finally));
        let one = on_error(command("a"), OnError::Ask);
        let mut run = Run::start_as(steps([one]), Start { driver: attended(), parent, ..start() });
        run.exit(7);
        assert_eq!(run.tail(1), [last]);
    }

    // And a question there that nobody can be asked leaves its step out.
    let parent = Some(inside(true));
    let skill = steps([gated(command("a"), confirm("a?")), command("b")]);
    let mut run = Run::start_as(skill, Start { parent, ..start() });
    run.send(Input::Leave { message: "nobody".to_owned() }).unwrap();
    assert_eq!(run.machine.state().steps["a"].status, StepStatus::Skipped);
}

fn note_done() -> Step {
    crate::build::note("said")
}

#[test]
fn all_of_it_has_one_budget_which_a_clean_up_shares() {
    let mut run = Run::start(skill());
    run.exit(0);
    run.exit(0);
    run.sleep(30);
    run.finish(End::TimedOut, None);
    assert_eq!(ended(&run), Ended::Failed(FailReason::Finally));
    assert_eq!(run.machine.state().steps.get("tidy"), None, "its time was up");
    assert_eq!(message(&run), "`finally`: step `tell`: the time for `finally` (`cleanup`) was up");

    let states =
        states([state(command("a"), &[("cancelled", "undo")]), state(command("undo"), &[])]);
    let mut run = Run::start(with_finally(states));
    cancel(&mut run);
    run.finish(End::Stopped, None);
    assert_eq!(run.tail(1), ["undo start"]);
    run.sleep(20);
    run.exit(0);
    assert_eq!(run.tail(2), ["finishing cancelled", "tell start"]);
    assert_eq!(run.execution().timeout, Some(secs(10)), "30 seconds for both");
}

#[test]
fn a_retry_that_its_time_does_not_reach_is_not_announced() {
    let retry = |backoff| {
        let retry = aye_core::skill::Retry {
            attempts: 3,
            backoff,
            factor: 1.0,
            max: secs(600),
            jitter: false,
            on: aye_core::skill::RetryOn { failure: true, timeout: true, codes: Vec::new() },
        };
        let tell = Step { retry: Some(retry), ..command("tell") };
        let finally = vec![tell, command("tidy")];
        let mut run = Run::start(Skill { finally, ..steps([command("a")]) });
        run.exit(0);
        run.exit(7);
        run.tail(1)
    };
    assert_eq!(retry(secs(60)), ["tidy start"]);
    assert_ne!(retry(secs(1)), ["tidy start"]);
}

#[test]
fn the_step_limit_does_not_count_it() {
    let mut run = Run::start(Skill { step_limit: 1, ..skill() });
    (0..3).for_each(|_| run.exit(0));
    assert_eq!(ended(&run), Ended::Failed(FailReason::StepLimit));
    assert_eq!(told(&run).len(), 1);
}

#[test]
fn a_retry_and_from_run_it_again_and_only_does_not() {
    let mut run = Run::start(skill());
    [3, 0, 0].into_iter().for_each(|code| run.exit(code));
    run.send(retry()).unwrap();
    assert_eq!(run.tail(1), ["a start 2"]);
    (0..4).for_each(|_| run.exit(0));
    assert_eq!(run.tail(1), ["completed"]);
    assert_eq!(told(&run), ["failed/a/step `a`: exit code 3", "completed//"]);

    let mut run = Run::from(skill(), "b");
    run.exit(0);
    assert_eq!(run.tail(1), ["tell start"]);
    let mut run = Run::only(skill(), "b");
    run.exit(0);
    assert_eq!(run.tail(1), ["completed"]);
}

#[test]
fn a_retry_of_a_run_that_failed_in_it_begins_there() {
    let mut run = Run::start(skill());
    [0, 0, 7, 0].into_iter().for_each(|code| run.exit(code));
    run.sleep(1000);
    run.send(retry()).unwrap();
    assert_eq!(run.tail(1), ["tell start 2"]);
    assert_eq!(run.execution().timeout, Some(secs(30)), "all of its time");
    run.exit(0);
    assert_eq!(run.tail(1), ["tidy start"]);
    run.exit(0);
    assert_eq!(run.tail(1), ["completed"]);
    assert_eq!(told(&run), ["completed//", "completed//"]);
}

#[test]
fn a_range_cannot_begin_in_it() {
    let range = Some(aye_core::event::Range::From("tell".to_owned()));
    let flow = std::sync::Arc::new(aye_core::flow::Flow::compile(skill()));
    let world = Run::start(steps([])).world;
    let error = Machine::start(flow, Limits::default(), Start { range, ..start() }, &world).err();
    assert_eq!(error, Some(StartError::InFinally { step: "tell".to_owned() }));
}

#[test]
fn what_is_done_for_each_item_sees_how_the_run_ended() {
    let each = aye_core::skill::ForEach {
        items: serde_json::json!(["x"]),
        span: Default::default(),
        name: "item".to_owned(),
        label: None,
        parallel: 1,
        fail_fast: None,
        body: vec![program("say", "say", &["{{ run.status }}"])],
    };
    let finally = vec![crate::build::step("each", Action::ForEach(Box::new(each)))];
    let mut run = Run::start(Skill { finally, ..steps([command("a")]) });
    run.exit(3);
    let aye_core::effect::Task::Nested(nested) = run.execution().task else { panic!() };
    let child = run.machine.child(&nested.children[0], None, &run.world).unwrap();
    let aye_core::nested::ChildRun::Steps { outer, .. } = child else { panic!() };
    assert_eq!(outer.ending["status"], "failed");
}

#[test]
fn the_recorded_end_reads_back() {
    let end = RunEnd::Cancelled {
        why: CancelReason::Declined,
        by: Some("eve".to_owned()),
        message: None,
        step: Some("a".to_owned()),
        state: None,
    };
    let until = crate::build::dawn();
    let finishing = EventKind::SkillFinishing(Box::new(Finishing { end, until }));
    let line = serde_json::to_string(&finishing).unwrap();
    assert_eq!(
        line,
        r#"{"type":"skill_finishing","status":"cancelled","why":"declined","by":"eve","step":"a","until":"2026-01-01T00:00:00Z"}"#
    );
    assert_eq!(serde_json::from_str::<EventKind>(&line).unwrap(), finishing);
}

#[test]
fn a_question_of_a_run_that_is_cancelled_is_withdrawn_and_not_expired() {
    let mut run = Run::start(with_finally(steps([asking("q", confirm("Go?")), command("a")])));
    run.leave();
    cancel(&mut run);
    assert_eq!(run.tail(3), ["paused waiting", "withdrawn", "finishing cancelled"]);
    let line = run.json();
    assert!(line.contains(r#""withdrawn":true"#), "{line}");
}

#[test]
fn a_yes_in_finally_starts_nothing_of_what_follows() {
    let ask = asking("ask", confirm("Sure?"));
    let skill = Skill { finally: vec![ask, command("tidy")], ..steps([command("a")]) };
    let mut run = Run::start(skill);
    run.exit(0);
    let question = run.question();
    assert_eq!((question.follows.as_deref(), &question.facts), (None, &None), "{question:?}");
}
