//! Transitions that are named after answers.

use aye_core::event::EventKind;
use aye_core::flow::{Concern, Flow, analyze};
use aye_core::journal::{Ended, Phase};
use aye_core::skill::{ChoiceAction, EndStatus, Skill};

use crate::build::{
    Run, asking, choice, choose, command, confirm, end, expiring, gated, state, states,
};

/// `pick` asks where to; each answer has a state.
fn pick() -> Skill {
    let pick = asking("pick", choose("Where?", &["canary", "everywhere"]));
    states([
        state(pick, &[("canary", "small"), ("everywhere", "all")]),
        state(command("small"), &[]),
        state(command("all"), &[]),
    ])
}

#[test]
fn an_answer_leads_to_its_own_state() {
    for (answer, started) in [("canary", "small start"), ("everywhere", "all start")] {
        let mut run = Run::start(pick());
        run.answer(answer);
        assert_eq!(run.tail(1), [started]);
        run.crash();
        run.attach();
        run.answer("done");
        assert_eq!(run.tail(1), ["completed"]);
    }
}

#[test]
fn the_question_says_where_each_answer_leads() {
    let run = Run::start(pick());
    let Phase::Asking { question, .. } = &run.machine.state().phase else { panic!() };
    let leads: Vec<String> =
        question.leads.iter().map(|lead| format!("{} {lead}", lead.answer)).collect();
    assert_eq!(leads, ["canary small", "everywhere all"]);
}

#[test]
fn an_answer_without_a_transition_is_a_success_or_a_decline() {
    let ask = || {
        let mut ask = confirm("go?");
        ask.options.push(choice("later", ChoiceAction::Skip));
        asking("x", ask)
    };
    let to = [("later", "queue"), ("success", "ok"), ("declined", "over")];
    let skill = || {
        let rest = [state(command("queue"), &[]), state(command("ok"), &[])];
        let ends = [end("over", EndStatus::ByOutcome)];
        states([state(ask(), &to)].into_iter().chain(rest).chain(ends))
    };
    for (answer, tail) in [("yes", "ok start"), ("later", "queue start"), ("skip", "ok start")] {
        let mut run = Run::start(skill());
        run.answer(answer);
        assert_eq!(run.tail(1), [tail], "{answer}");
    }
    let mut run = Run::start(skill());
    run.answer("no");
    assert!(matches!(run.machine.state().phase, Phase::Ended(Ended::Cancelled(_))));
}

#[test]
fn a_no_that_leads_to_an_end_by_its_own_name_is_still_a_no() {
    let skill = states([
        state(asking("x", confirm("go?")), &[("yes", "over"), ("no", "over")]),
        end("over", EndStatus::ByOutcome),
    ]);
    let flow = Flow::compile(skill.clone());
    let over = flow.endings.iter().position(|end| end.name.is_some()).unwrap();
    assert_eq!(flow.statuses_at(over), [EndStatus::Completed, EndStatus::Cancelled]);
    let mut run = Run::start(skill.clone());
    run.answer("no");
    assert!(matches!(run.machine.state().phase, Phase::Ended(Ended::Cancelled(_))));
    let mut run = Run::start(skill);
    run.answer("yes");
    assert_eq!(run.machine.state().phase, Phase::Ended(Ended::Completed));
}

#[test]
fn a_gate_takes_the_transition_of_an_answer_that_does_not_run_the_state() {
    let to = [("skip", "later"), ("no", "undo"), ("success", "ok")];
    let skill = || {
        let rest = ["later", "undo", "ok"].map(|name| state(command(name), &[]));
        states([state(gated(command("x"), confirm("go?")), &to)].into_iter().chain(rest))
    };
    for (answer, tail) in [("skip", "later start"), ("no", "undo start"), ("yes", "x start")] {
        let mut run = Run::start(skill());
        run.answer(answer);
        assert_eq!(run.tail(1), [tail], "{answer}");
    }
}

#[test]
fn a_default_that_is_taken_goes_its_own_way() {
    let ask = expiring(confirm("go?"), 20, Some("no"));
    let skill = states([
        state(asking("x", ask), &[("no", "undo"), ("declined", "other")]),
        state(command("undo"), &[]),
        state(command("other"), &[]),
    ]);
    let mut run = Run::start(skill);
    run.tick(20);
    assert_eq!(run.tail(1), ["undo start"]);
    let answered = run.events.iter().find_map(|event| match &event.kind {
        EventKind::StepSkipped { answer, .. } => answer.clone(),
        _ => None,
    });
    assert_eq!(answered.as_deref(), Some("no"));
}

#[test]
fn answers_that_lead_nowhere_are_told() {
    let text = "name: s\nstates:\n  pick: { choose: { message: Where?, options: [a, b, c] }, \
                transitions: { a: done } }\n  done: { type: final }\n";
    let parsed = aye_core::skill::parse("s.yaml", text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let flow = Flow::compile(parsed.skills[0].clone());
    let told: Vec<String> = analyze(&flow).iter().map(Concern::message).collect();
    assert_eq!(
        told,
        [
            "the answer `b` at `pick` leads nowhere: the run ends there",
            "the answer `c` at `pick` leads nowhere: the run ends there",
        ]
    );
}

/// Silence is a no: it takes the same way as the answer that declines.
#[test]
fn silence_leads_where_the_answer_that_declines_leads() {
    let skill = || {
        let ask = asking("pick", expiring(confirm("Go?"), 3, None));
        states([
            state(ask, &[("yes", "a"), ("no", "b")]),
            state(command("a"), &[]),
            state(command("b"), &[]),
        ])
    };
    for silent in [true, false] {
        let mut run = Run::start(skill());
        match silent {
            true => run.tick(3),
            false => run.answer("no"),
        }
        assert_eq!(run.tail(1), ["b start"]);
    }
}

/// A question that is a state of its own can time out, and its step cannot.
#[test]
fn a_timeout_transition_is_where_silence_leads_from_a_question() {
    let to = [("canary", "a"), ("timeout", "late"), ("failure", "a")];
    let rest = || [state(command("a"), &[]), state(command("late"), &[])];
    let pick = |ask| {
        let pick = state(asking("pick", expiring(ask, 3, None)), &to);
        states([pick].into_iter().chain(rest()))
    };
    for ask in [choose("Where?", &["canary"]), confirm("Where?")] {
        let mut run = Run::start(pick(ask));
        let lead = run.question().lead(aye_core::question::SILENCE).map(ToString::to_string);
        assert_eq!(lead.as_deref(), Some("late"));
        run.tick(3);
        assert_eq!(run.tail(1), ["late start"]);
    }
    // A declared default is what silence says.
    let ask = expiring(confirm("Where?"), 3, Some("no"));
    let skill = states([state(asking("pick", ask), &to)].into_iter().chain(rest()));
    let mut run = Run::start(skill);
    run.tick(3);
    assert_eq!(run.tail(1), ["a start"]);
    // At a gate, `timeout` is the end of the command.
    let gate = gated(command("pick"), expiring(confirm("Run?"), 3, None));
    let mut run = Run::start(states([state(gate, &to)].into_iter().chain(rest())));
    run.tick(3);
    assert_eq!(run.tail(1), ["a start"]);
}

/// Nobody can say no to it: what silence does is said.
#[test]
fn a_choice_without_a_no_says_what_silence_does() {
    let run = Run::start(states([state(
        asking("pick", expiring(choose("Where?", &["canary"]), 3, None)),
        &[("canary", "pick")],
    )]));
    let lead = run.question().lead(aye_core::question::SILENCE).map(ToString::to_string);
    assert_eq!(lead.as_deref(), Some("the run ends (cancelled)"));
}
