//! What holds for every flow and whatever the world does.

use std::sync::Arc;

use aye_core::effect::Effect;
use aye_core::event::{Event, EventKind, FailReason, RetryReason};
use aye_core::flow::Flow;
use aye_core::input::{Attach, End, Input};
use aye_core::journal::{Ended, Phase, State};
use aye_core::machine::{Limits, Machine, Refusal, Start};
use aye_core::question::Purpose;
use aye_core::secrets::Secrets;
use aye_core::skill::Skill;
use proptest::prelude::{ProptestConfig, any, proptest};

use crate::build::{Run, attach, driver, start};
use crate::oracle::{self, SILENCE, Script, UNSEEN, Verdict, foresee};
use crate::random::{Fate, Move, fate, moves, skill};

fn begin(skill: Skill, yes: bool) -> Run {
    let names = Arc::new(crate::build::Fakes::default());
    names.set("branch", "one");
    Run::start_in(skill, Start { yes, ..start() }, names)
}

/// Lets something happen to a run. `Run::send` checks the fold every time.
fn play(run: &mut Run, what: &Move) {
    match what {
        Move::Sleep(seconds) => run.sleep(*seconds),
        Move::Crash => run.crash(),
        Move::Branch(name) => run.names.set("branch", name),
        _ => {
            // What is due by now comes first.
            run.look();
            let state = run.machine.state();
            let Some(input) = what.input(state.executions, state.questions) else { return };
            let before = (run.machine.state().clone(), run.machine.next_effect(), run.events.len());
            let refusal = run.send(input.clone()).err();
            check_refusal(run, &input, refusal.as_ref(), &before);
            check_silence(run, &input, &before);
        }
    }
}

/// A refused input changes nothing; a refused answer is recorded and nothing
/// else.
fn check_refusal(
    run: &Run,
    input: &Input,
    refusal: Option<&Refusal>,
    before: &(State, Effect, usize),
) {
    let (state, wants, count) = before;
    let fresh = &run.events[*count..];
    let was_over = matches!(state.phase, Phase::Ended(_));
    let again = matches!(input, Input::Retry(_)) && state.failed_step().is_some();
    // How a run ended is something to learn from.
    let learns = matches!(input, Input::Remembered { learned: true, .. });
    let taken = again || learns;
    assert!(!was_over || taken || refusal.is_some(), "{input:?} was taken after the end");
    let after = run.machine.state();
    if learns {
        let expected = State { seq: after.seq, updated_at: after.updated_at, ..state.clone() };
        assert_eq!((&expected, fresh.len()), (after, 1));
    }
    if refusal.is_none() {
        return;
    }
    assert_eq!(&run.machine.next_effect(), wants);
    match input {
        Input::Request(aye_core::input::Request::Answer { .. }) => {
            assert_eq!(fresh.len(), 1);
            let EventKind::ConfirmationAnswered(answered) = &fresh[0].kind else {
                panic!("{:?}", fresh[0])
            };
            assert!(answered.refused.is_some());
            let mut expected = state.clone();
            expected.seq = after.seq;
            expected.updated_at = after.updated_at;
            assert_eq!(&expected, after);
        }
        _ => {
            assert_eq!(fresh, []);
            assert_eq!(state, after);
        }
    }
}

/// Silence lets a run continue only where someone could have broken it.
fn check_silence(run: &Run, input: &Input, (state, _, count): &(State, Effect, usize)) {
    for event in &run.events[*count..] {
        if let EventKind::ConfirmationExpired { applied: Some(value), .. } = &event.kind {
            let Phase::Asking { question, .. } = &state.phase else { panic!("{event:?}") };
            let shown = matches!(input, Input::Tick { shown: true });
            assert!(shown || !question.continues(&value.as_str().into()), "{event:?}");
        }
    }
}

/// What every journal keeps to, seen from outside.
fn check_journal(events: &[Event]) {
    let mut running: Option<u32> = None;
    let mut executions = 0;
    let mut open = false;
    let mut over = false;
    for (n, event) in events.iter().enumerate() {
        assert_eq!(event.seq, n as u64 + 1);
        assert!(n == 0 || event.at >= events[n - 1].at);
        let refused = matches!(&event.kind, EventKind::ConfirmationAnswered(answered) if answered.refused.is_some());
        // A run whose step failed may be taken up again.
        let again = matches!(event.kind, EventKind::SkillResumed { .. });
        if over && again {
            assert!(State::fold(&events[..n]).unwrap().failed_step().is_some(), "{event:?}");
            over = false;
        }
        let learned = matches!(event.kind, EventKind::MemoryLearned(_));
        assert!(!over || refused || learned, "after the end: {event:?}");
        match &event.kind {
            EventKind::StepStarted(started) => {
                assert_eq!(running, None, "two steps at once: {event:?}");
                assert!(!open, "a step starts while a question is open: {event:?}");
                assert!(started.execution > executions);
                executions = started.execution;
                // A question has started too, and acts when it is answered.
                let state = State::fold(&events[..=n]).unwrap();
                let acts = matches!(state.phase, Phase::Running { .. });
                running = acts.then_some(started.execution);
            }
            EventKind::AutoHealTriggered(heal) => {
                assert_eq!(running, None, "a repair beside a step: {event:?}");
                running = Some(heal.execution);
            }
            EventKind::AutoHealCompleted { execution, .. } => {
                assert_eq!(running, Some(*execution));
                running = None;
            }
            EventKind::StepQueued { execution, .. } | EventKind::StepDequeued { execution, .. } => {
                assert_eq!(running, Some(*execution));
            }
            EventKind::StepCompleted(done) => {
                assert!(running.is_none_or(|execution| execution == done.execution));
                running = None;
            }
            EventKind::StepFailed(failed) => {
                assert!(running.is_none_or(|execution| execution == failed.execution));
                running = None;
            }
            EventKind::ConfirmationRequired(_) => {
                assert_eq!(running, None, "asked while a step runs: {event:?}");
                assert!(!open, "two questions at once: {event:?}");
                open = true;
            }
            EventKind::StepSkipped { .. } | EventKind::StepRetried { .. } => open = false,
            EventKind::ConfirmationExpired { .. } => open = false,
            EventKind::ConfirmationAnswered(answered) => {
                // Where several must agree it may stay open; `fold` knows.
                if answered.refused.is_none() {
                    let state = State::fold(&events[..=n]).unwrap();
                    open = matches!(state.phase, Phase::Asking { .. });
                }
            }
            EventKind::SkillCompleted { .. } | EventKind::SkillFailed { .. } => {
                assert_eq!(running, None);
                over = true;
            }
            EventKind::SkillCancelled { .. } => {
                assert_eq!(running, None);
                over = true;
            }
            EventKind::SkillFinishing(_) => {
                assert_eq!(running, None);
                assert!(!open, "a question is open: {event:?}");
            }
            EventKind::SkillStarted(_) => assert_eq!(n, 0),
            EventKind::SkillStopping(_) => assert!(running.is_some(), "nothing runs: {event:?}"),
            EventKind::SkillPaused { .. } | EventKind::SkillResumed { .. } => {}
            EventKind::ConcurrencyAcquired { .. } | EventKind::ConcurrencyWaiting { .. } => {
                assert_eq!(running, None, "a step runs without the name: {event:?}");
                assert!(!open, "a question without the name: {event:?}");
            }
            EventKind::MemoryRecalled(_) | EventKind::MemoryLearned(_) => {}
            EventKind::ConfirmationHeld { .. } | EventKind::ConfirmationAdvised { .. } => {
                assert!(open);
            }
        }
    }
}

/// A step that may have happened is not started again on its own account.
fn check_no_silent_repeat(events: &[Event]) {
    let mut doubtful: Option<(String, bool)> = None;
    let mut allowed = false;
    for event in events {
        match &event.kind {
            EventKind::StepFailed(failed) => {
                use aye_core::event::BadOutcome;
                if matches!(failed.outcome, BadOutcome::Unknown | BadOutcome::Interrupted) {
                    let again = events.iter().any(|e| {
                        matches!(&e.kind, EventKind::StepStarted(s)
                            if s.execution == failed.execution && s.idempotent)
                    });
                    doubtful = Some((failed.step.clone(), again));
                    allowed = false;
                } else if doubtful.as_ref().is_some_and(|(name, _)| *name != failed.step) {
                    // The clean-up led through another step: what follows is its route.
                    doubtful = None;
                }
            }
            EventKind::StepRetried { step, why, .. } => {
                if let Some((name, again)) = &doubtful {
                    assert_eq!(name, step);
                    let said = matches!(why, RetryReason::Answer | RetryReason::Relayed);
                    assert!(said || *again, "{event:?}");
                    allowed = true;
                }
            }
            EventKind::StepStarted(started) => {
                if let Some((name, _)) = doubtful.take() {
                    assert!(allowed || started.step != name, "silently repeated: {event:?}");
                }
            }
            EventKind::StepSkipped { .. } | EventKind::StepCompleted(_) => doubtful = None,
            // It was to be run again, and the time for that was up.
            EventKind::SkillFailed { .. } if allowed => doubtful = None,
            _ => {}
        }
    }
}

fn round_trip(events: &[Event]) {
    for event in events {
        let line = serde_json::to_string(event).unwrap();
        let back: Event = serde_json::from_str(&line).unwrap();
        assert_eq!(&back, event, "{line}");
        assert_eq!(serde_json::to_string(&back).unwrap(), line);
    }
}

/// Plays the scripted world until the run is over.
fn drive(run: &mut Run, fate: &Fate) {
    for _ in 0..500 {
        match &run.machine.state().phase {
            Phase::Ended(_) => return,
            Phase::Running { step, .. } => match fate.exit(step) {
                Script::Exit(code) => run.exit(code),
                Script::Timeout => run.finish(End::TimedOut, None),
            },
            Phase::Asking { question, limit_ms, still_ms, .. } => {
                let attempt = run.machine.state().steps[&question.step].attempt;
                let said = match question.purpose {
                    Purpose::Recover => fate.repair(&question.step, attempt),
                    Purpose::Gate | Purpose::Ask => fate.answer(&question.step),
                };
                match (said, limit_ms, still_ms) {
                    (SILENCE | UNSEEN, None, _) => run.answer("yes"),
                    // In `finally` it has one all the same.
                    (SILENCE | UNSEEN, Some(limit), _) if *limit > 20_000 => run.answer("yes"),
                    (SILENCE, Some(_), _) => run.tick(20),
                    (UNSEEN, Some(_), None) => run.tick_unseen(20),
                    (UNSEEN, Some(limit), Some(still)) => {
                        assert_eq!(limit, still, "it has its full time again");
                        run.answer("no");
                    }
                    (said, ..) => run.answer(said),
                }
            }
            Phase::Transition(_) => run.attach(),
        }
    }
    panic!("the run does not end");
}

fn acted(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::StepStarted(started) => Some(started.step.clone()),
            _ => None,
        })
        .collect()
}

fn verdict(run: &Run) -> Verdict {
    let step = |step: &Option<String>| step.clone().unwrap();
    match &run.events.last().unwrap().kind {
        EventKind::SkillCompleted { state, .. } => Verdict::Completed(state.clone()),
        EventKind::SkillFailed { why, step: at, state, .. } => match why {
            FailReason::StepFailed => Verdict::FailedAt(step(at)),
            FailReason::StepTimedOut => Verdict::TimedOutAt(step(at)),
            FailReason::StepLimit => Verdict::TooManySteps,
            FailReason::FinalState => Verdict::FailedIn(step(state)),
            FailReason::Aborted => Verdict::AbortedAt(step(at)),
            FailReason::Finally => Verdict::FinallyFailedAt(step(at)),
            FailReason::RunTimedOut | FailReason::Output | FailReason::Deadlock => {
                panic!("not scripted: {why:?}")
            }
        },
        EventKind::SkillCancelled { why, step: at, state, .. } => {
            use aye_core::event::CancelReason;
            match why {
                CancelReason::Declined | CancelReason::Expired => Verdict::DeclinedAt(step(at)),
                CancelReason::FinalState => Verdict::CancelledIn(step(state)),
                CancelReason::Cancelled => panic!("not scripted: {why:?}"),
            }
        }
        other => panic!("not an end: {other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn no_input_breaks_a_run(skill in skill(true), yes in any::<bool>(), moves in moves(60)) {
        let mut run = begin(skill, yes);
        for what in &moves {
            play(&mut run, what);
        }
        check_journal(&run.events);
        check_no_silent_repeat(&run.events);
        round_trip(&run.events);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn every_prefix_of_a_journal_goes_on(
        skill in skill(true),
        yes in any::<bool>(),
        before in moves(40),
        after in moves(10),
    ) {
        let mut run = begin(skill, yes);
        for what in &before {
            play(&mut run, what);
        }
        let whole = run.events.clone();
        for length in 1..=whole.len() {
            run.events = whole[..length].to_vec();
            run.crash();
            let attached = run.send(attach("bob"));
            let over = matches!(State::fold(&whole[..length]).unwrap().phase, Phase::Ended(_));
            assert_eq!(attached.is_err(), over);
            // Attached, a run is between two things only where it waits to try again.
            let waits = matches!(run.machine.next_effect(), Effect::Wait { .. });
            assert!(waits || !matches!(run.machine.state().phase, Phase::Transition(_)));
            for what in &after {
                play(&mut run, what);
            }
            check_journal(&run.events);
            check_no_silent_repeat(&run.events);
        }
    }

    #[test]
    fn the_oracle_agrees_after_a_crash_anywhere(skill in skill(false), fate in fate()) {
        let mut run = begin(skill.clone(), false);
        drive(&mut run, &fate);
        let whole = run.events.clone();
        for length in 1..whole.len() {
            run.events = whole[..length].to_vec();
            // It crashed then, not when all was over: questions have their time.
            run.world.now = whole[length - 1].at;
            run.crash();
            run.attach();
            // Someone looked: the step of unknown outcome had not happened.
            if let Phase::Asking { question, .. } = &run.machine.state().phase
                && question.purpose == Purpose::Recover
                && question.title == "Outcome unknown"
            {
                assert!(!State::fold(&whole[..length]).unwrap().steps.is_empty());
                run.answer("retry");
            }
            check_no_silent_repeat(&run.events);
            drive_on(&mut run, &fate, &whole);
        }
    }
}

/// How a run ended, however long it took.
fn end_of(events: &[Event]) -> EventKind {
    let mut end = events.last().unwrap().kind.clone();
    if let EventKind::SkillCompleted { duration_ms, .. }
    | EventKind::SkillFailed { duration_ms, .. }
    | EventKind::SkillCancelled { duration_ms, .. } = &mut end
    {
        *duration_ms = None;
    }
    end
}

/// Continues after a crash and checks that the end is the one without a crash.
/// A retry after a crash counts as an attempt, so scripts that look at the
/// attempt may end differently; all others must not.
fn drive_on(run: &mut Run, fate: &Fate, whole: &[Event]) {
    drive(run, fate);
    check_journal(&run.events);
    check_no_silent_repeat(&run.events);
    let repaired =
        |events: &[Event]| events.iter().any(|e| matches!(e.kind, EventKind::StepRetried { .. }));
    if !repaired(whole) {
        assert_eq!(end_of(&run.events), end_of(whole));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn the_oracle_agrees_on_the_path(skill in skill(false), fate in fate()) {
        let exits = |step: &str| fate.exit(step);
        let answers = |step: &str| fate.answer(step);
        let repairs = |step: &str, attempt: u32| fate.repair(step, attempt);
        let world = oracle::World { exits: &exits, answers: &answers, repairs: &repairs };
        let (path, end) = foresee(&skill, &world);
        let mut run = begin(skill, false);
        drive(&mut run, &fate);
        assert_eq!(acted(&run.events), path, "{:#?}", run.trace());
        assert_eq!(verdict(&run), end, "{:#?}", run.trace());
    }
}

#[test]
fn a_journal_of_another_skill_does_not_break_the_machine() {
    // The store keeps each run's source; should it be the wrong one all the
    // same, the run fails instead of the program.
    let other = Arc::new(Flow::compile(crate::build::steps([crate::build::command("else")])));
    let mut run = Run::start(crate::build::steps([
        crate::build::gated(crate::build::command("a"), crate::build::confirm("?")),
        crate::build::asking("q", crate::build::confirm("?")),
    ]));
    run.answer("yes");
    run.exit(0);
    run.answer("yes");
    assert_eq!(run.machine.state().phase, Phase::Ended(Ended::Completed));
    for length in 1..run.events.len() {
        let mut machine = Machine::restore(
            Arc::clone(&other),
            Limits::default(),
            Secrets::default(),
            &run.events[..length],
            None,
        )
        .unwrap();
        let attach = Attach { driver: driver("bob"), epoch: machine.state().epoch + 1 };
        let reaction = machine.handle(Input::Attach(attach), &run.world);
        assert_eq!(reaction.refusal, None);
        assert_eq!(
            machine.execution(&run.world).map(|e| e.is_none_or(|e| e.step == "else")),
            Ok(true)
        );
    }
}
