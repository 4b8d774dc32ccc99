//! Advice is recorded and shown. It answers nothing.

use aye_core::advice::{Advice, LONGEST, MOST};
use aye_core::event::EventKind;
use aye_core::id::QuestionId;
use aye_core::input::{Input, Request};
use aye_core::journal::Phase;
use aye_core::machine::{Refusal, Start};
use aye_core::secrets::Secrets;
use aye_core::skill::Ask;
use serde_json::json;

use crate::build::{Run, command, confirm, gated, start, steps};

fn advice(option: Option<&str>, text: &str) -> Advice {
    Advice { by: "bot".to_owned(), option: option.map(str::to_owned), text: text.to_owned() }
}

fn advise(run: &mut Run, said: Advice) -> Result<(), Refusal> {
    let question = run.question().id.clone();
    run.send(Input::Request(Request::Advise { question, advice: said }))
}

fn heard(run: &Run) -> Vec<Advice> {
    match &run.machine.state().phase {
        Phase::Asking { advice, .. } => advice.clone(),
        other => panic!("not asking: {other:?}"),
    }
}

fn gate(ask: Ask) -> Run {
    Run::start(steps(vec![gated(command("deploy"), ask)]))
}

#[test]
fn advice_is_recorded_and_the_question_stays_as_it_is() {
    let mut run = gate(confirm("go?"));
    let before = (run.question().clone(), run.machine.wake_at());
    advise(&mut run, advice(Some("yes"), "the tests pass")).unwrap();
    assert_eq!((run.question().clone(), run.machine.wake_at()), before);
    assert_eq!(heard(&run), [advice(Some("yes"), "the tests pass")]);
    assert_eq!(run.trace().last().unwrap(), "bot advises");
    run.answer("no");
    assert!(run.trace().iter().all(|line| !line.contains("start")), "{:?}", run.trace());
}

#[test]
fn it_counts_for_none_of_those_who_must_agree() {
    let mut run = gate(Ask { approvals: 2, ..confirm("go?") });
    advise(&mut run, advice(Some("yes"), "")).unwrap();
    run.say(crate::build::answer_of("ann", "yes")).unwrap();
    assert!(matches!(run.machine.state().phase, Phase::Asking { .. }), "one person agreed");
}

#[test]
fn an_option_that_is_not_offered_and_words_without_end_are_cut() {
    let mut run = gate(confirm("go?"));
    advise(&mut run, advice(Some("explode"), &"ä".repeat(10_000))).unwrap();
    let [said] = heard(&run).try_into().unwrap();
    assert_eq!(said.option, None);
    assert_eq!(said.text.chars().count(), LONGEST + 1);
    assert_eq!(advise(&mut run, advice(Some("explode"), " \n")), Err(Refusal::NoAdvice));
}

#[test]
fn a_question_has_enough_at_some_point() {
    let mut run = gate(confirm("go?"));
    for _ in 0..MOST {
        advise(&mut run, advice(None, "wait")).unwrap();
    }
    assert_eq!(advise(&mut run, advice(None, "wait")), Err(Refusal::AdvisedEnough));
    assert_eq!(heard(&run).len(), MOST);
}

#[test]
fn it_is_for_the_open_question_and_holds_no_secret() {
    let mut secrets = Secrets::default();
    secrets.insert("token", "hunter2quoted");
    let inputs = [("token".to_owned(), json!("hunter2quoted"))].into();
    let step = gated(command("deploy"), confirm("go?"));
    let mut run = Run::start_as(steps(vec![step]), Start { inputs, secrets, ..start() });
    let other = QuestionId::from_text("other00001-7");
    let request = Request::Advise { question: other.clone(), advice: advice(None, "x") };
    let open = run.question().id.clone();
    assert_eq!(run.send(Input::Request(request)), Err(Refusal::OtherQuestion(other, open)));
    advise(&mut run, advice(None, "use hunter2quoted")).unwrap();
    assert_eq!(heard(&run)[0].text, "use ***");
    assert!(!run.json().contains("hunter2quoted"));
    let question = run.question().id.clone();
    run.answer("yes");
    let late = Request::Advise { question: question.clone(), advice: advice(None, "late") };
    assert_eq!(run.send(Input::Request(late)), Err(Refusal::NotOpen(question)));
    let advised = |event: &&aye_core::event::Event| {
        matches!(event.kind, EventKind::ConfirmationAdvised { .. })
    };
    assert_eq!(run.events.iter().filter(advised).count(), 1);
}
