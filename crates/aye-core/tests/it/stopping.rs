//! Time limits, cancelling, interrupting.

use aye_core::effect::Effect;
use aye_core::event::{BadOutcome, EventKind, PauseReason};
use aye_core::input::{Attach, End, Finished, Input};
use aye_core::journal::{RunStatus, StepStatus};
use aye_core::machine::Refusal;
use aye_core::skill::{EndStatus, OnError, Skill, Step, StepTimeout};
use serde_json::Value;

use crate::build::{
    Run, asking, attach, command, confirm, driver, end, expiring, gated, on_error, secs, start,
    state, states, steps,
};

fn within(seconds: u64, skill: Skill) -> Skill {
    Skill { timeout: Some(secs(seconds)), ..skill }
}

/// `work`, and `clean` when it times out or is cancelled.
fn with_clean_up() -> Skill {
    states([
        state(
            command("work"),
            &[("success", "done"), ("timeout", "clean"), ("cancelled", "clean")],
        ),
        state(command("clean"), &[("success", "done")]),
        end("done", EndStatus::Completed),
    ])
}

#[test]
fn a_step_may_take_the_nearer_of_its_own_time_and_the_runs() {
    let step = |timeout, interactive| Step { timeout, interactive, ..command("a") };
    let limit = |step: Step, run: Option<u64>| {
        let skill = Skill { timeout: run.map(secs), ..steps([step]) };
        Run::start(skill).execution().timeout
    };
    assert_eq!(limit(step(StepTimeout::Default, false), None), Some(secs(120)));
    assert_eq!(limit(step(StepTimeout::Default, true), None), None);
    assert_eq!(limit(step(StepTimeout::Unlimited, false), None), None);
    assert_eq!(limit(step(StepTimeout::After(secs(7)), false), None), Some(secs(7)));
    assert_eq!(limit(step(StepTimeout::After(secs(7)), false), Some(5)), Some(secs(5)));
    assert_eq!(limit(step(StepTimeout::Unlimited, false), Some(5)), Some(secs(5)));
}

#[test]
fn the_runs_limit_ends_the_step_and_lets_clean_up_run() {
    let mut run = Run::start(within(60, with_clean_up()));
    run.sleep(60);
    run.time_out();
    assert_eq!(run.tail(2), ["work timeout, winding down", "clean start"]);
    // It has its own budget, and no more.
    assert_eq!(run.execution().timeout, Some(secs(30)));
    run.sleep(5);
    run.exit(0);
    assert_eq!(run.tail(2), ["clean done", "failed run_timed_out"]);
}

#[test]
fn a_timer_that_fires_a_hair_early_is_still_the_runs() {
    let mut run = Run::start(within(60, with_clean_up()));
    run.sleep(59);
    run.time_out();
    assert_eq!(run.tail(2), ["work timeout, winding down", "clean start"]);
}

#[test]
fn clean_up_that_takes_too_long_is_ended_with_the_run() {
    let skill = states([
        state(command("work"), &[("timeout", "clean")]),
        state(command("clean"), &[("timeout", "more"), ("success", "more")]),
        state(command("more"), &[]),
    ]);
    let mut run = Run::start(within(60, skill));
    run.sleep(60);
    run.time_out();
    run.sleep(30);
    run.time_out();
    // The next step would be beyond the budget.
    assert_eq!(run.tail(2), ["clean timeout", "failed run_timed_out"]);
    let message = run.machine.state().end_message.clone().unwrap();
    assert_eq!(message, "the run's time limit was up; the time for clean-up was up");
}

#[test]
fn a_clean_up_that_leads_nowhere_does_not_make_the_run_a_success() {
    let skill = states([
        state(command("work"), &[("timeout", "clean"), ("cancelled", "clean")]),
        state(command("clean"), &[]),
    ]);
    let mut run = Run::start(within(60, skill.clone()));
    run.sleep(60);
    run.time_out();
    run.exit(0);
    assert_eq!(run.tail(1), ["failed run_timed_out"]);
    let mut run = Run::start(skill);
    run.cancel("eve");
    run.stopped();
    run.exit(0);
    assert_eq!(run.tail(1), ["cancelled cancelled"]);
    assert_eq!(run.machine.state().ended_by.as_deref(), Some("eve"));
}

#[test]
fn continue_does_not_outlast_the_run() {
    let tolerant = on_error(command("a"), OnError::Continue);
    let mut run = Run::start(within(60, steps([tolerant, command("b")])));
    run.sleep(60);
    run.time_out();
    assert_eq!(run.tail(2), ["a timeout, winding down", "failed run_timed_out"]);
}

#[test]
fn a_clean_up_step_that_fails_is_named() {
    let mut run = Run::start(within(60, with_clean_up()));
    run.sleep(60);
    run.time_out();
    run.exit(1);
    let message = run.machine.state().end_message.clone().unwrap();
    assert_eq!(message, "the run's time limit was up; clean-up step `clean` failed");
}

#[test]
fn a_step_is_not_started_when_the_time_is_up() {
    let mut run = Run::start(within(60, steps([command("a"), command("b")])));
    run.sleep(61);
    run.exit(0);
    assert_eq!(run.tail(3), ["a done", "b timeout, winding down", "failed run_timed_out"]);
}

#[test]
fn an_answer_in_time_does_not_start_a_step_too_late() {
    let mut run = Run::start(within(60, steps([gated(command("a"), confirm("?"))])));
    run.leave();
    run.answer("yes");
    run.sleep(61);
    run.attach();
    assert_eq!(run.tail(3), ["resumed", "a timeout, winding down", "failed run_timed_out"]);
}

#[test]
fn a_question_open_when_the_runs_time_is_up_leads_to_clean_up() {
    let ask = expiring(confirm("?"), 3600, Some("yes"));
    let skill = states([
        state(gated(command("work"), ask), &[("timeout", "clean"), ("declined", "never")]),
        state(command("clean"), &[]),
        state(command("never"), &[]),
    ]);
    let mut run = Run::start(within(60, skill));
    assert_eq!(run.machine.wake_at(), Some("2026-01-01T00:01:00Z".parse().unwrap()));
    run.tick(60);
    assert_eq!(
        run.trace(),
        ["work ask gate", "expired", "work timeout, winding down", "clean start"]
    );
    let EventKind::StepFailed(failed) = &run.events[3].kind else { panic!() };
    assert_eq!(failed.execution, 0, "the step behind the gate never started");
    run.exit(0);
    assert_eq!(run.tail(1), ["failed run_timed_out"]);
}

#[test]
fn a_question_that_expired_before_the_run_did_takes_its_default() {
    let ask = expiring(confirm("?"), 50, Some("no"));
    let mut run = Run::start(within(60, steps([gated(command("a"), ask)])));
    // Nobody looked at the clock for a while.
    run.tick(70);
    assert_eq!(run.tail(3), ["expired, takes no", "a skip expired", "cancelled expired"]);
}

#[test]
fn a_question_in_clean_up_ends_with_the_budget() {
    let skill = states([
        state(command("work"), &[("timeout", "clean")]),
        state(asking("clean", confirm("undo?")), &[("timeout", "never")]),
        state(command("never"), &[]),
    ]);
    let mut run = Run::start(within(60, skill));
    run.sleep(60);
    run.time_out();
    run.tick(30);
    assert_eq!(run.tail(3), ["expired", "clean timeout", "failed run_timed_out"]);
}

#[test]
fn what_is_known_of_a_step_survives_the_end_of_the_run() {
    let mut run = Run::start(within(60, steps([command("a")])));
    run.crash();
    run.attach();
    run.tick(60);
    assert_eq!(run.machine.state().steps["a"].status, StepStatus::Unknown);
    assert_eq!(run.tail(2), ["expired", "failed run_timed_out"]);
    let message = run.machine.state().end_message.clone().unwrap();
    assert_eq!(
        message,
        "the run's time limit was up; the outcome of `a` is unknown, and nobody said what to do"
    );
}

#[test]
fn nothing_runs_after_a_step_of_unknown_outcome_unless_somebody_says_so() {
    let skill = states([state(command("work"), &[("timeout", "work"), ("cancelled", "work")])]);
    let mut run = Run::start(within(60, skill.clone()));
    run.crash();
    run.attach();
    run.tick(60);
    assert_eq!(run.tail(2), ["expired", "failed run_timed_out"]);
    let mut run = Run::start(skill);
    run.crash();
    run.attach();
    run.cancel("eve");
    assert_eq!(run.tail(2), ["work ask recover", "cancelled cancelled"]);
}

#[test]
fn cancelling_a_running_step_stops_it_and_cleans_up() {
    let mut run = Run::start(with_clean_up());
    run.cancel("eve");
    assert_eq!(run.machine.next_effect(), Effect::Stop { execution: 1 });
    // Another one comes too late to have done it.
    run.cancel("mallory");
    run.stopped();
    assert_eq!(run.tail(2), ["work cancelled, winding down", "clean start"]);
    run.exit(0);
    assert_eq!(run.tail(1), ["cancelled cancelled"]);
    assert_eq!(run.machine.state().ended_by.as_deref(), Some("eve"));
}

#[test]
fn a_step_that_ended_before_the_stop_reached_it_is_cleaned_up_all_the_same() {
    let mut run = Run::start(with_clean_up());
    run.cancel("eve");
    run.exit(0);
    assert_eq!(run.tail(2), ["work cancelled, winding down", "clean start"]);
    // Without a clean-up it is a result like any other, and the run ends.
    let mut run = Run::start(steps([command("a"), command("b")]));
    run.cancel("eve");
    run.exit(0);
    assert_eq!(run.tail(2), ["a done", "cancelled cancelled"]);
}

#[test]
fn cancelling_an_open_question_takes_the_clean_up_path() {
    let skill = states([
        state(asking("q", confirm("?")), &[("cancelled", "clean"), ("declined", "never")]),
        state(command("clean"), &[]),
        state(command("never"), &[]),
    ]);
    let mut run = Run::start(skill.clone());
    run.cancel("eve");
    assert_eq!(run.tail(3), ["withdrawn", "q cancelled, winding down", "clean start"]);
    // With nobody to run it, the run just ends.
    let mut run = Run::start(skill);
    run.leave();
    run.cancel("eve");
    assert_eq!(run.tail(1), ["cancelled cancelled"]);
    let mut run = Run::start(steps([asking("q", confirm("?"))]));
    run.cancel("eve");
    assert_eq!(run.tail(1), ["cancelled cancelled"]);
}

#[test]
fn cancelling_a_run_that_nobody_drives_ends_it() {
    let mut run = Run::start(with_clean_up());
    run.crash();
    run.cancel("eve");
    assert_eq!(run.tail(2), ["work unknown", "cancelled cancelled"]);
    assert_eq!(run.machine.state().steps["work"].status, StepStatus::Unknown);
    let mut run = Run::start(steps([command("a"), command("b")]));
    run.interrupt();
    run.exit(0);
    assert_eq!(run.status(), RunStatus::Paused);
    run.cancel("eve");
    assert_eq!(run.tail(2), ["paused interrupted", "cancelled cancelled"]);
}

#[test]
fn an_interrupt_stops_the_step_and_pauses_the_run() {
    let mut run = Run::start(steps([command("a"), command("b")]));
    run.interrupt();
    assert_eq!(run.machine.next_effect(), Effect::Stop { execution: 1 });
    run.stopped();
    assert_eq!(run.tail(2), ["a interrupted", "paused interrupted"]);
    assert_eq!(run.machine.next_effect(), Effect::Rest(Some(PauseReason::Interrupted)));
}

#[test]
fn an_interrupted_step_that_still_ended_well_is_not_repeated() {
    let mut run = Run::start(steps([command("a"), command("b")]));
    run.interrupt();
    run.exit(0);
    run.attach();
    assert_eq!(run.tail(4), ["a done", "paused interrupted", "resumed", "b start"]);
}

#[test]
fn cancelling_wins_over_interrupting() {
    for first in [Run::interrupt as fn(&mut Run), |run| run.cancel("eve")] {
        let mut run = Run::start(steps([command("a")]));
        first(&mut run);
        run.interrupt();
        run.cancel("eve");
        run.stopped();
        assert_eq!(run.tail(2), ["a cancelled, winding down", "cancelled cancelled"]);
    }
}

#[test]
fn an_interrupt_leaves_a_question_open() {
    let mut run = Run::start(steps([gated(command("a"), confirm("?"))]));
    run.interrupt();
    assert_eq!((run.status(), run.machine.state().is_asking()), (RunStatus::Paused, true));
    assert_eq!(run.machine.next_effect(), Effect::Rest(Some(PauseReason::Interrupted)));
    run.answer("yes");
    assert_eq!((run.status(), run.machine.state().is_asking()), (RunStatus::Paused, false));
    run.attach();
    assert_eq!(run.tail(3), ["ann says yes (terminal)", "resumed", "a start"]);
}

#[test]
fn a_question_expires_while_nobody_drives() {
    let mut run = Run::start(steps([gated(command("a"), expiring(confirm("?"), 5, None))]));
    run.leave();
    run.tick(5);
    assert_eq!(run.tail(2), ["paused waiting", "expired"]);
    run.attach();
    assert_eq!(run.tail(2), ["a skip expired", "cancelled expired"]);
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let refused = |run: &mut Run, input: Input| {
        let before = (run.machine.state().clone(), run.events.len(), run.machine.next_effect());
        let refusal = run.send(input).unwrap_err();
        assert_eq!(
            before,
            (run.machine.state().clone(), run.events.len(), run.machine.next_effect())
        );
        refusal
    };
    let done = |execution| {
        let end = End::Exited { value: Value::Null, parsed: None };
        Input::Finished(Finished::bare(execution, end, None))
    };
    let leave = || Input::Leave { message: String::new() };
    let interrupt = || Input::Interrupt { signal: String::new() };

    let mut run = Run::start(steps([command("a"), gated(command("b"), confirm("?"))]));
    assert_eq!(refused(&mut run, done(7)), Refusal::NotRunning(7));
    assert_eq!(refused(&mut run, leave()), Refusal::Busy);
    let again = |epoch| Input::Attach(Attach { driver: driver("bob"), epoch });
    assert_eq!(refused(&mut run, again(1)), Refusal::Driven);
    let mut orphan = Run::start(steps([command("a")]));
    orphan.crash();
    assert_eq!(refused(&mut orphan, done(1)), Refusal::NotDriven);
    assert_eq!(refused(&mut orphan, interrupt()), Refusal::NotDriven);
    run.exit(0);
    assert_eq!(refused(&mut run, done(1)), Refusal::NotRunning(1));
    run.leave();
    assert_eq!(refused(&mut run, leave()), Refusal::NotDriven);
    assert_eq!(refused(&mut run, interrupt()), Refusal::NotDriven);
    run.attach();
    run.answer("no");
    for input in [Input::Tick { shown: true }, done(1), leave(), interrupt(), attach("bob")] {
        assert_eq!(refused(&mut run, input), Refusal::Ended);
    }
}

#[test]
fn a_step_that_waited_for_a_slot_had_not_begun_when_aye_died() {
    let mut run = Run::start(steps([command("a")]));
    run.send(Input::Queued { execution: 1 }).unwrap();
    assert!(run.machine.state().is_queued());
    let twice = run.send(Input::Queued { execution: 1 });
    assert_eq!(twice, Err(Refusal::NotRunning(1)));
    run.crash();
    run.attach();
    assert_eq!(run.machine.next_effect(), Effect::Run { execution: 1 });
    run.send(Input::Dequeued { execution: 1 }).unwrap();
    // Now it may have begun: nobody knows.
    run.crash();
    run.attach();
    assert!(matches!(run.machine.next_effect(), Effect::Ask(_)));
}

#[test]
fn a_step_that_waited_for_a_slot_when_aye_died_can_be_cancelled() {
    let mut run = Run::start(steps([command("a")]));
    run.send(Input::Queued { execution: 1 }).unwrap();
    run.crash();
    // It waits for the next driver; who has none cannot say that it is its turn.
    assert_eq!(run.send(Input::Dequeued { execution: 1 }), Err(Refusal::NotDriven));
    run.cancel("eve");
    assert_eq!(run.tail(2), ["a cancelled", "cancelled cancelled"]);
}

#[test]
fn a_driver_that_stops_a_step_of_its_own_accord_pauses_the_run() {
    let mut run = Run::start_as(steps([command("a")]), start());
    run.stopped();
    assert_eq!(run.tail(2), ["a interrupted", "paused interrupted"]);
    let EventKind::StepFailed(failed) = &run.events[2].kind else { panic!() };
    assert_eq!(failed.outcome, BadOutcome::Interrupted);
}

#[test]
fn time_that_jumps_back_does_not_turn_the_journal_round() {
    let mut run = Run::start(steps([command("a"), command("b")]));
    run.sleep(-3600);
    run.exit(0);
    assert!(run.events.is_sorted_by_key(|event| event.at));
    assert_eq!(run.tail(1), ["b start"]);
}

#[test]
fn time_that_a_run_stood_still_does_not_count() {
    let skill = Skill { timeout: Some(secs(60)), ..steps([command("a"), command("b")]) };
    let mut run = Run::start(skill);
    run.sleep(50);
    let after = std::time::Duration::from_secs(40);
    run.send(Input::Continued { after }).unwrap();
    run.sleep(30);
    run.exit(0);
    assert_eq!(run.execution().step, "b", "80 seconds have passed, 40 of them count");
    run.sleep(30);
    run.exit(0);
    assert_eq!(run.status(), RunStatus::Completed);
    let mut free = Run::start(steps([command("a")]));
    let before = free.events.len();
    free.send(Input::Continued { after }).unwrap();
    assert_eq!(free.events.len(), before, "without a limit there is nothing to record");
}
