//! Graphs: compiling, routing, looking for what is wrong.

use aye_core::flow::{Concern, Flow, Route, Target, analyze};
use aye_core::journal::StepOutcome;
use aye_core::skill::{EndStatus, OnError, Skill, Step};

use crate::build::{command, confirm, end, gated, note, on_error, state, states, steps};

/// Where `from` leads, by name; `uncaught` and `done` are not targets.
fn way(flow: &Flow, from: &str, outcome: &StepOutcome) -> String {
    match flow.route(flow.find(from).unwrap(), outcome, None) {
        Route::To(Target::Step(node)) => flow.nodes[node].step.name.value.clone(),
        Route::To(Target::End(end)) => {
            format!("end {}", flow.endings[end].name.as_deref().unwrap_or("of steps"))
        }
        Route::Uncaught => "uncaught".to_owned(),
        Route::Done => "done".to_owned(),
    }
}

/// A state `x` with these transitions among states of every needed name.
fn around(x: Step, to: &[(&str, &str)]) -> Flow {
    let others = ["s", "f", "t", "d", "c", "zero", "seven"];
    let others = others.iter().map(|name| state(command(name), &[]));
    Flow::compile(states(std::iter::once(state(x, to)).chain(others)))
}

const EVERY: [(&str, &str); 7] = [
    ("success", "s"),
    ("failure", "f"),
    ("timeout", "t"),
    ("declined", "d"),
    ("cancelled", "c"),
    ("0", "zero"),
    ("7", "seven"),
];

const NO: StepOutcome = StepOutcome::Declined { expired: false, by: None };

#[test]
fn every_row_of_the_routing_table() {
    type Row = (&'static [&'static str], OnError, StepOutcome, &'static str);
    let rows: &[Row] = &[
        // success: exact code 0, `success`, end
        (&["0", "success"], OnError::Fail, StepOutcome::Success, "zero"),
        (&["success", "7"], OnError::Fail, StepOutcome::Success, "s"),
        (
            &["failure", "timeout", "declined", "cancelled"],
            OnError::Fail,
            StepOutcome::Success,
            "done",
        ),
        // skipped: `success`, end; there was no exit code
        (&["0", "success"], OnError::Fail, StepOutcome::Skipped, "s"),
        (&["0", "failure"], OnError::Fail, StepOutcome::Skipped, "done"),
        // failure: exact code, `failure`, continue
        (&["7", "failure", "success"], OnError::Continue, StepOutcome::Failure(Some(7)), "seven"),
        (&["7", "failure", "success"], OnError::Fail, StepOutcome::Failure(Some(8)), "f"),
        (&["7", "failure", "success"], OnError::Fail, StepOutcome::Failure(None), "f"),
        (&["7", "failure", "success"], OnError::Continue, StepOutcome::Failure(Some(8)), "f"),
        (&["7", "success"], OnError::Continue, StepOutcome::Failure(Some(8)), "s"),
        (&["7"], OnError::Continue, StepOutcome::Failure(Some(8)), "done"),
        (&["7", "success", "timeout"], OnError::Fail, StepOutcome::Failure(Some(8)), "uncaught"),
        (&["7", "success", "timeout"], OnError::Ask, StepOutcome::Failure(Some(8)), "uncaught"),
        // time-out: `timeout`, `failure`, continue
        (&["timeout", "failure"], OnError::Continue, StepOutcome::Timeout, "t"),
        (&["failure", "success"], OnError::Continue, StepOutcome::Timeout, "f"),
        (&["success"], OnError::Continue, StepOutcome::Timeout, "s"),
        (&["success", "7", "0"], OnError::Fail, StepOutcome::Timeout, "uncaught"),
        // the run's time-out: `timeout`, `failure`; `continue` does not outlast it
        (&["timeout", "failure"], OnError::Fail, StepOutcome::RunTimeout, "t"),
        (&["failure", "success"], OnError::Continue, StepOutcome::RunTimeout, "f"),
        (&["success"], OnError::Continue, StepOutcome::RunTimeout, "uncaught"),
        // declined: `declined`, `failure`; never as success
        (&["declined", "failure"], OnError::Fail, NO, "d"),
        (&["failure", "success"], OnError::Fail, NO, "f"),
        (&["success", "cancelled"], OnError::Continue, NO, "uncaught"),
        // cancelled: only `cancelled`
        (&["cancelled", "failure"], OnError::Fail, StepOutcome::Cancelled, "c"),
        (
            &["success", "failure", "timeout", "declined"],
            OnError::Continue,
            StepOutcome::Cancelled,
            "uncaught",
        ),
    ];
    for (words, tolerance, outcome, expected) in rows {
        let to: Vec<(&str, &str)> =
            EVERY.into_iter().filter(|(word, _)| words.contains(word)).collect();
        let flow = around(on_error(command("x"), *tolerance), &to);
        assert_eq!(way(&flow, "x", outcome), *expected, "{words:?} {tolerance:?} {outcome:?}");
    }
}

#[test]
fn steps_lead_to_the_next_and_the_last_to_the_end() {
    let flow = Flow::compile(steps([command("a"), command("b")]));
    assert_eq!(flow.start, Target::Step(0));
    assert_eq!(way(&flow, "a", &StepOutcome::Success), "b");
    assert_eq!(way(&flow, "a", &StepOutcome::Failure(Some(1))), "uncaught");
    assert_eq!(way(&flow, "b", &StepOutcome::Skipped), "end of steps");
    assert_eq!(flow.find("c"), None);
    assert_eq!(Flow::compile(steps([])).start, Target::End(0));
}

#[test]
fn an_unknown_node_leads_nowhere() {
    let flow = Flow::compile(steps([command("a")]));
    assert_eq!(flow.route(99, &StepOutcome::Success, None), Route::Uncaught);
}

#[test]
fn a_final_state_that_does_nothing_is_an_end() {
    let flow = Flow::compile(states([
        state(command("a"), &[("success", "done"), ("failure", "failed")]),
        end("done", EndStatus::Completed),
        end("failed", EndStatus::Failed),
    ]));
    assert_eq!(flow.nodes.len(), 1);
    assert_eq!(way(&flow, "a", &StepOutcome::Success), "end done");
    assert_eq!(way(&flow, "a", &StepOutcome::Failure(None)), "end failed");
}

#[test]
fn a_final_state_that_acts_is_a_step_before_its_end() {
    let mut last = end("done", EndStatus::Completed);
    last.step = command("done");
    let flow = Flow::compile(states([state(command("a"), &[("success", "done")]), last]));
    assert_eq!(way(&flow, "a", &StepOutcome::Success), "done");
    assert_eq!(way(&flow, "done", &StepOutcome::Success), "end done");
    // A final state does not hide its own failure.
    assert_eq!(way(&flow, "done", &StepOutcome::Failure(Some(1))), "uncaught");
}

#[test]
fn a_final_state_with_a_gate_still_asks() {
    let mut last = end("done", EndStatus::Completed);
    last.step = gated(note("done"), confirm("sure?"));
    let flow = Flow::compile(states([state(command("a"), &[("success", "done")]), last]));
    assert_eq!(way(&flow, "a", &StepOutcome::Success), "done");
}

fn messages(skill: Skill) -> Vec<String> {
    analyze(&Flow::compile(skill)).iter().map(Concern::message).collect()
}

#[test]
fn a_sound_flow_raises_no_concern() {
    assert_eq!(messages(steps([command("a"), command("b")])), [""; 0]);
    let sound =
        states([state(command("a"), &[("success", "done")]), end("done", EndStatus::Completed)]);
    assert_eq!(messages(sound), [""; 0]);
    // A state without a way on is the end of the run.
    assert_eq!(messages(states([state(command("a"), &[])])), [""; 0]);
}

#[test]
fn what_no_way_leads_to_is_unreachable() {
    let skill = states([
        state(command("a"), &[("success", "done")]),
        state(command("b"), &[("success", "c")]),
        state(command("c"), &[("success", "done")]),
        end("done", EndStatus::Completed),
        end("lost", EndStatus::Failed),
    ]);
    assert_eq!(
        messages(skill),
        [
            "state `b` cannot be reached",
            "state `c` cannot be reached",
            "state `lost` cannot be reached"
        ]
    );
}

#[test]
fn cycles_are_named_once_from_their_first_state() {
    let skill = states([
        state(command("a"), &[("success", "b"), ("failure", "c")]),
        state(command("b"), &[("success", "c")]),
        state(command("c"), &[("success", "a"), ("failure", "c"), ("timeout", "done")]),
        end("done", EndStatus::Completed),
    ]);
    let found = messages(skill);
    assert!(found.contains(&"cycle: c -> c".to_owned()), "{found:?}");
    assert!(found.iter().any(|text| text.starts_with("cycle: a ->")), "{found:?}");
    assert!(!found.iter().any(|text| text.starts_with("cycle: b")), "{found:?}");
}

#[test]
fn a_tangle_is_told_in_few_words() {
    let name = |number: usize| format!("s{number}");
    let all = (0..60).map(|at| {
        let (next, back) = (name((at + 1) % 60), name(at.saturating_sub(1)));
        state(command(&name(at)), &[("success", &next), ("failure", &back)])
    });
    let found = messages(states(all));
    let cycles = found.iter().filter(|text| text.starts_with("cycle: "));
    assert_eq!(cycles.count(), 20, "{found:#?}");
    assert!(found.iter().all(|text| text.len() < 100), "{found:#?}");
    let ring = (0..30).map(|at| {
        let next = name((at + 1) % 30);
        state(command(&name(at)), &[("success", &next)])
    });
    let ring = messages(states(ring));
    let shown = "cycle: s0 -> s1 -> s2 -> s3 -> s4 -> s5 -> s6 -> s7 -> s8 -> s9 -> … -> s29 -> s0 (30 states)";
    assert_eq!(ring, [shown, "no path leads to a final state"]);
}

#[test]
fn a_flow_without_an_end_says_so() {
    let round = states([
        state(command("a"), &[("success", "b")]),
        state(command("b"), &[("success", "a")]),
        end("done", EndStatus::Completed),
    ]);
    assert_eq!(
        messages(round),
        ["state `done` cannot be reached", "cycle: a -> b -> a", "no path leads to a final state"]
    );
    // Exit code 0 is success too: it leads back, not out.
    let by_code = states([state(command("a"), &[("0", "a")])]);
    assert_eq!(messages(by_code), ["cycle: a -> a", "no path leads to a final state"]);
}

#[test]
fn failures_that_end_well_and_declines_that_fail_are_told() {
    let concerns = |skill| {
        let flow = Flow::compile(skill);
        analyze(&flow).iter().map(Concern::message).collect::<Vec<_>>()
    };
    let rollback = |to: &[(&str, &str)]| {
        states([
            state(command("a"), &[("success", "done"), ("failure", "undo")]),
            state(command("undo"), to),
            end("done", EndStatus::ByOutcome),
            end("failed", EndStatus::Failed),
        ])
    };
    let told = "only failures lead to `undo`, and the run ends there as completed";
    let found = concerns(rollback(&[("success", "done")]));
    assert_eq!(found, ["state `failed` cannot be reached", told]);
    assert_eq!(concerns(rollback(&[("success", "failed")])), Vec::<String>::new());
    let gate = |to: &[(&str, &str)]| {
        states([
            state(gated(command("a"), confirm("sure?")), to),
            state(command("undo"), &[("success", "failed")]),
            end("over", EndStatus::ByOutcome),
            end("failed", EndStatus::Failed),
        ])
    };
    let said = "a no at `a`, or no answer, leads to `undo`";
    assert_eq!(concerns(gate(&[("success", "over"), ("failure", "undo")])), [said]);
    let declined = [("success", "over"), ("failure", "undo"), ("declined", "over")];
    assert_eq!(concerns(gate(&declined)), Vec::<String>::new());
}
