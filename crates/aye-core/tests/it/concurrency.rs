//! `concurrency`: nothing of a run happens before it has its name.

use std::sync::Arc;

use aye_core::effect::Effect;
use aye_core::event::{EventKind, FailReason};
use aye_core::flow::Flow;
use aye_core::input::{Input, Retry};
use aye_core::journal::{Blocked, Ended, Phase, RunStatus, State};
use aye_core::machine::{Limits, Machine, Refusal, Start, StartError};
use aye_core::nested::Parent;
use aye_core::secrets::Secrets;
use aye_core::skill::Skill;
use aye_core::text::World;
use indexmap::IndexMap;
use proptest::prelude::{ProptestConfig, any, proptest};
use serde_json::json;

use crate::build::{Fakes, Run, answer_of, command, dawn, driver, secs, start, steps, t};
use crate::random::{moves, skill as random_skill};

fn skill() -> Skill {
    named("deploy", steps([command("a"), command("b")]))
}

fn named(name: &str, skill: Skill) -> Skill {
    Skill { concurrency: Some(t(name)), ..skill }
}

fn blocked_by(run: &str, ahead: u32) -> Blocked {
    Blocked { holder: aye_core::id::RunId::new(run).unwrap(), ahead }
}

fn waiting(skill: Skill) -> Run {
    Run::start_as(skill, Start { blocked: Some(blocked_by("other0001", 0)), ..start() })
}

fn begun(skill: Skill, start: Start) -> Result<Option<String>, StartError> {
    let world = World { now: dawn(), names: Arc::new(Fakes::default()) };
    let flow = Arc::new(Flow::compile(skill));
    let (machine, _) = Machine::start(flow, Limits::default(), start, &world)?;
    Ok(machine.state().started.concurrency.clone())
}

#[test]
fn a_run_has_its_name_before_its_first_step_and_until_it_ends() {
    let mut run = Run::start(skill());
    assert_eq!(run.trace(), ["has deploy", "a start"]);
    run.exit(0);
    assert!(run.machine.state().claim.as_ref().unwrap().held);
    run.exit(0);
    assert_eq!(run.tail(1), ["completed"]);
    let claim = run.machine.state().claim.clone().unwrap();
    assert!(!claim.held && claim.waiting.is_none(), "{claim:?}");
}

#[test]
fn a_run_whose_name_another_has_waits_and_says_so_again_only_where_that_changes() {
    let mut run = waiting(skill());
    assert_eq!(run.trace(), ["waits for other0001 (deploy, 0 ahead)"]);
    assert_eq!((run.machine.next_effect(), run.status()), (Effect::Acquire, RunStatus::Running));
    assert_eq!(run.machine.wake_at(), None);
    run.send(Input::Tick { shown: true }).unwrap();
    run.send(Input::Blocked(blocked_by("other0001", 0))).unwrap();
    assert_eq!(run.trace().len(), 1);
    run.sleep(5);
    run.send(Input::Blocked(blocked_by("other0002", 1))).unwrap();
    assert_eq!(run.tail(1), ["waits for other0002 (deploy, 1 ahead)"]);
    run.sleep(5);
    run.send(Input::Acquired).unwrap();
    // The time counts from its first word.
    assert_eq!(run.tail(2), ["has deploy after 10000", "a start"]);
    assert_eq!(run.send(Input::Acquired), Err(Refusal::NoName));
    assert_eq!(run.send(Input::Blocked(blocked_by("other0001", 0))), Err(Refusal::NoName));
}

#[test]
fn the_time_of_a_run_stands_still_while_it_waits() {
    let mut run = waiting(Skill { timeout: Some(secs(60)), ..skill() });
    run.tick(3600);
    assert_eq!(run.machine.next_effect(), Effect::Acquire);
    run.send(Input::Acquired).unwrap();
    assert_eq!(run.tail(1), ["a start"]);
    assert_eq!(run.machine.state().deadline(), Some(dawn() + secs(3660)));
}

#[test]
fn the_time_of_the_step_around_a_run_does_not_stand_still() {
    let outer = Run::start(steps([command("a")]));
    let parent = Parent {
        run: outer.machine.state().run.clone(),
        step: "a".to_owned(),
        execution: 1,
        turn: None,
        item: None,
        form: None,
        depth: 1,
        bound: false,
        finally: false,
        repair: false,
        declined: None,
    };
    let (run, deadline) = (parent.child().unwrap(), Some(dawn() + secs(60)));
    let blocked = Some(blocked_by("other0001", 0));
    let begin = || Start {
        run: run.clone(),
        parent: Some(parent.clone()),
        deadline,
        blocked: blocked.clone(),
        ..start()
    };
    let mut run = Run::start_as(skill(), begin());
    assert_eq!(run.machine.wake_at(), deadline);
    run.tick(59);
    assert_eq!(run.machine.next_effect(), Effect::Acquire);
    run.tick(1);
    assert_eq!(run.tail(1), ["failed run_timed_out"]);
    let mut run = Run::start_as(skill(), begin());
    run.sleep(30);
    run.send(Input::Acquired).unwrap();
    assert_eq!(run.machine.state().deadline(), deadline);
}

#[test]
fn cancelling_a_run_that_waits_runs_nothing_not_even_finally() {
    let cleaning = Skill { finally: vec![command("tidy")], ..skill() };
    let mut run = waiting(cleaning.clone());
    assert!(!run.machine.has_finally_ahead());
    run.cancel("eve");
    assert_eq!(run.tail(2), ["waits for other0001 (deploy, 0 ahead)", "cancelled cancelled"]);
    // Nobody drives it: the same.
    let mut left = waiting(cleaning.clone());
    left.interrupt();
    assert_eq!(left.tail(1), ["paused interrupted"]);
    left.cancel("eve");
    assert_eq!(left.tail(1), ["cancelled cancelled"]);
    let mut going = Run::start(cleaning);
    going.cancel("eve");
    going.stopped();
    assert_eq!(going.tail(1), ["tidy start"]);
}

#[test]
fn a_run_that_is_cut_off_keeps_its_name_and_one_that_waits_waits_again() {
    let mut run = Run::start(skill());
    run.crash();
    run.attach();
    assert!(run.machine.state().claim.as_ref().unwrap().held);
    let mut run = waiting(skill());
    run.crash();
    assert!(matches!(run.machine.next_effect(), Effect::Rest(_)), "no process drives it");
    assert_eq!(run.send(Input::Acquired), Err(Refusal::NotDriven));
    run.attach();
    assert_eq!(run.machine.next_effect(), Effect::Acquire);
    run.send(Input::Acquired).unwrap();
    assert_eq!(run.tail(1), ["a start"]);
}

#[test]
fn a_run_that_is_tried_again_needs_its_name_again() {
    let mut run = Run::start(skill());
    run.exit(1);
    assert_eq!(run.tail(1), ["failed step_failed"]);
    let answer = Some(Box::new(answer_of("bob", "retry")));
    let (driver, step, edits) = (driver("bob"), None, None);
    run.send(Input::Retry(Retry { driver, epoch: 0, step, edits, turn: None, answer })).unwrap();
    assert_eq!(run.tail(2), ["resumed", "a retry 2 answer"]);
    assert_eq!(run.machine.next_effect(), Effect::Acquire);
    run.send(Input::Blocked(blocked_by("other0001", 0))).unwrap();
    run.cancel("eve");
    assert_eq!(run.tail(1), ["cancelled cancelled"]);
}

#[test]
fn waiting_for_each_other_fails_the_run_that_would_begin_it() {
    let mut run = waiting(Skill { finally: vec![command("tidy")], ..skill() });
    let holder = blocked_by("other0001", 0).holder;
    run.send(Input::Deadlock { holder }).unwrap();
    assert_eq!(run.machine.state().phase, Phase::Ended(Ended::Failed(FailReason::Deadlock)));
    let message = run.machine.state().end_message.clone().unwrap();
    assert!(message.contains("run `other0001` holds the name `deploy`"), "{message}");
}

#[test]
fn the_name_is_a_template_and_a_run_inside_shares_the_one_around_it() {
    let inputs: IndexMap<_, _> = [("env".to_owned(), json!("stage"))].into();
    let skill = || named(" deploy-{{ inputs.env }} ", steps([command("a")]));
    let start = || Start { inputs: inputs.clone(), ..start() };
    assert_eq!(begun(skill(), start()), Ok(Some("deploy-stage".to_owned())));
    let shared_names = vec!["deploy-stage".to_owned()];
    assert_eq!(begun(skill(), Start { shared_names, ..start() }), Ok(None));
    let shared_names = vec!["deploy-other".to_owned()];
    let begun = begun(skill(), Start { shared_names, ..start() });
    assert_eq!(begun, Ok(Some("deploy-stage".to_owned())));
}

#[test]
fn a_name_that_cannot_be_used_keeps_a_run_from_beginning() {
    let refused = |name: &str, start: Start| match begun(named(name, steps([command("a")])), start)
        .unwrap_err()
    {
        StartError::Concurrency { message, hint: Some(_) } => message,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused("{{ '' }}", start()), "is empty");
    assert!(refused("{{ 'a\\nb' }}", start()).contains("line break"));
    assert!(refused(&"x".repeat(201), start()).contains("200 bytes"));
    let mut secrets = Secrets::default();
    secrets.insert("token", "hunter22");
    let inputs: IndexMap<_, _> = [("token".to_owned(), json!("hunter22"))].into();
    let secret = refused("d-{{ inputs.token }}", Start { inputs, secrets, ..start() });
    assert!(secret.contains("secret"), "{secret}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    /// Whatever happens to a run: between its beginning, or another attempt after
    /// its end, and `concurrency_acquired` no step starts and nobody is asked.
    #[test]
    fn nothing_happens_without_the_name(
        skill in random_skill(true),
        waits in any::<bool>(),
        moves in moves(50),
    ) {
        let blocked = waits.then(|| blocked_by("other0001", 0));
        let mut run = Run::start_as(named("n", skill), Start { blocked, ..start() });
        for (n, what) in moves.iter().enumerate() {
            match what {
                crate::random::Move::Sleep(seconds) => run.sleep(*seconds),
                crate::random::Move::Crash => run.crash(),
                crate::random::Move::Branch(_) => {}
                _ => {
                    let state = run.machine.state();
                    if let Some(input) = what.input(state.executions, state.questions) {
                        let _ = run.send(input);
                    }
                }
            }
            if n % 7 == 3 {
                let _ = run.send(Input::Blocked(blocked_by("other0002", 1)));
            }
            if n % 7 == 6 {
                let _ = run.send(Input::Acquired);
            }
        }
        let mut held = false;
        for (n, event) in run.events.iter().enumerate() {
            match &event.kind {
                EventKind::ConcurrencyAcquired { .. } => {
                    assert!(!held, "twice: {event:?}");
                    held = true;
                }
                EventKind::StepStarted(_)
                | EventKind::StepSkipped { .. }
                | EventKind::ConfirmationRequired(_)
                | EventKind::SkillFinishing(_)
                | EventKind::SkillCompleted { .. } => assert!(held, "without the name: {event:?}"),
                _ => {}
            }
            let state = State::fold(&run.events[..=n]).unwrap();
            if matches!(state.phase, Phase::Ended(_)) {
                held = false;
            }
            assert_eq!(state.claim.as_ref().unwrap().held, held, "{event:?}");
        }
    }
}
