//! Failed steps that are given something else: by people, by assistants, by
//! memory; and runs that continue after they failed.

use aye_core::effect::Task;
use aye_core::error_code::ErrorCode;
use aye_core::event::{Driver, MemoryKind, Remembered};
use aye_core::fix::{Act, KnownFix};
use aye_core::input::{End, Finished, Input, Retry};
use aye_core::journal::Phase;
use aye_core::machine::{Refusal, Start};
use aye_core::nested::ChildRetry;
use aye_core::question::{Answer, Channel, Edits, Origin};
use aye_core::skill::{Action, Ask, By, OnError, Skill, Step};
use serde_json::{Value, json};

use crate::build::{
    Run, answer_of, command, confirm, driver, gated, on_error, program, start, steps, t,
};

fn edits(set: Value) -> Edits {
    let Value::Object(set) = set else { panic!("no mapping: {set}") };
    Edits { set, ..Edits::default() }
}

fn edit(set: Value) -> Answer {
    Answer { edits: Some(edits(set)), ..answer_of("ann", "edit") }
}

fn relayed(answer: Answer) -> Answer {
    Answer { prompter: Channel::Assistant, ..answer }
}

fn deploy() -> Step {
    on_error(program("a", "deploy", &["abc", "--force"]), OnError::Ask)
}

fn failed(step: Step) -> Run {
    let mut run = Run::start(steps([step, command("b")]));
    run.exit(2);
    run
}

fn known(args: Value) -> KnownFix {
    KnownFix {
        short: String::new(),
        obstacle: None,
        id: "fix-1".to_owned(),
        message: "it helped before".to_owned(),
        args: match args {
            Value::Object(args) => args,
            other => panic!("no mapping: {other}"),
        },
        first: None,
        replace: None,
        max_uses: 1,
    }
}

/// The step fails, and memory knows what to do about it.
fn fail_with(run: &mut Run, known: KnownFix) {
    let process = aye_core::event::ProcessRecord { exit_code: Some(2), ..Default::default() };
    let end = End::Exited { value: Value::Null, parsed: None };
    let bare = Finished::bare(run.running(), end, None);
    let finished = Finished { process: Some(process), known: Some(Box::new(known)), ..bare };
    run.send(Input::Finished(finished)).unwrap();
}

fn attended(skill: Skill) -> Run {
    Run::start_as(skill, Start { driver: Driver { attended: true, ..driver("ann") }, ..start() })
}

#[test]
fn arguments_are_changed_added_and_left_out() {
    let mut run = failed(deploy());
    run.say(edit(json!({ "1": "v1", "3": 7 }))).unwrap();
    assert_eq!(run.process().argv, ["deploy", "v1", "--force", "7"]);
    run.exit(2);
    // What was changed stays; the next change is on top.
    run.say(edit(json!({ "2": "--dry {{ run.id }}" }))).unwrap();
    assert_eq!(run.process().argv, ["deploy", "v1", "--dry {{ run.id }}", "7"]);
    run.exit(2);
    let only = Edits { only: true, ..edits(json!({ "1": "x" })) };
    run.say(Answer { edits: Some(only), ..answer_of("ann", "edit") }).unwrap();
    assert_eq!(run.process().argv, ["deploy", "x"]);
    run.exit(0);
    assert_eq!(run.tail(2), ["a done", "b start"]);
}

#[test]
fn three_times_is_enough() {
    let mut run = failed(deploy());
    for n in 0..3 {
        assert!(run.question().offer("edit").is_some());
        run.say(edit(json!({ "1": format!("v{n}") }))).unwrap();
        run.exit(2);
    }
    assert!(run.question().offer("edit").is_none());
    assert!(matches!(run.say(edit(json!({ "1": "v" }))), Err(Refusal::NotOffered { .. })));
    run.answer("retry");
    assert_eq!(run.process().argv, ["deploy", "v2", "--force"]);
}

#[test]
fn what_cannot_be_changed_is_refused() {
    let mut run = failed(deploy());
    let bad = |run: &mut Run, answer| assert!(matches!(run.say(answer), Err(Refusal::BadEdit(_))));
    assert_eq!(run.say(answer_of("ann", "edit")), Err(Refusal::NoEdits));
    assert_eq!(run.say(edit(json!({}))), Err(Refusal::NoEdits));
    bad(&mut run, edit(json!({ "tag": "x" })));
    bad(&mut run, edit(json!({ "9": "x" })));
    bad(&mut run, edit(json!({ "1": ["x"] })));
    bad(&mut run, Answer { edits: Some(edits(json!({ "1": "x" }))), ..answer_of("ann", "retry") });
    run.answer("skip");
    assert_eq!(run.tail(1), ["b start"]);
}

#[test]
fn a_gate_is_asked_again_and_shows_what_changed() {
    let mut run = Run::start(steps([gated(deploy(), confirm("go?"))]));
    run.answer("yes");
    run.exit(1);
    run.say(edit(json!({ "1": "v1" }))).unwrap();
    assert_eq!(run.tail(1), ["a ask gate"]);
    assert_eq!(run.question().message, "go?\n\nChanged since it failed:\n  1: abc -> v1");
    assert_eq!(run.question().follows.as_deref(), Some("deploy v1 --force"));
    run.answer("yes");
    assert_eq!(run.process().argv, ["deploy", "v1", "--force"]);
}

#[test]
fn what_an_assistant_changed_in_something_final_is_seen_by_a_person() {
    let destructive = Step { destructive: true, ..deploy() };
    let mut run = failed(destructive.clone());
    assert_eq!(run.question().by, By::Human);
    let changed = relayed(edit(json!({ "1": "v1" })));
    assert!(matches!(run.say(changed), Err(Refusal::NotAllowed(_))));
    assert!(matches!(run.say(relayed(answer_of("bot", "retry"))), Err(Refusal::NotAllowed(_))));
    // A person who changes it has seen it.
    let mut run = failed(destructive);
    run.say(edit(json!({ "1": "v1" }))).unwrap();
    assert_eq!(run.tail(1), ["a start 2"]);
}

#[test]
fn an_assistant_does_not_write_what_is_run() {
    let mut run = failed(deploy());
    run.say(relayed(edit(json!({ "0": "rm", "1": "-rf" })))).unwrap();
    assert_eq!(run.tail(1), ["a ask gate"]);
    assert!(run.question().message.contains("0: deploy -> rm"), "{}", run.question().message);
    assert!(matches!(run.say(relayed(answer_of("bot", "proceed"))), Err(Refusal::NotAllowed(_))));
    // A form that showed the difference is enough, unless it comes from a step.
    let form = Answer { prompter: Channel::Elicited, ..answer_of("bot", "proceed") };
    let origin = Origin { started_by: Some("a step".to_owned()), ..Origin::default() };
    let stepped = Answer { origin: Some(Box::new(origin)), ..form.clone() };
    assert!(matches!(run.say(stepped), Err(Refusal::NotAllowed(_))));
    run.say(form).unwrap();
    assert_eq!(run.process().argv, ["rm", "-rf", "--force"]);
    // A skill may leave it to the assistant.
    let mut run = failed(Step { assistant_may_edit: true, ..deploy() });
    run.say(relayed(edit(json!({ "1": "v1" })))).unwrap();
    assert_eq!(run.process().argv, ["deploy", "v1", "--force"]);
    // As it is written, it may be tried again.
    let mut run = failed(deploy());
    run.say(relayed(answer_of("bot", "retry"))).unwrap();
    assert_eq!(run.tail(1), ["a start 2"]);
}

#[test]
fn a_known_fix_is_tried_before_anybody_is_asked() {
    let mut run = Run::start(steps([deploy(), command("b")]));
    fail_with(&mut run, known(json!({ "1": "v{{ args['1'] }}" })));
    assert_eq!(run.tail(4), ["a failure", "recalled fix", "a retry 2 fixed", "a start 2"]);
    assert_eq!(run.process().argv, ["deploy", "vabc", "--force"]);
    // Once a run: then someone is asked.
    fail_with(&mut run, known(json!({ "1": "x" })));
    assert_eq!(run.tail(2), ["a failure", "a ask recover"]);
}

#[test]
fn a_fix_that_changes_nothing_or_cannot_be_used_is_none() {
    for args in [json!({ "1": "abc" }), json!({ "1": "{{ nobody }}" }), json!({ "nine": "x" })] {
        let mut run = Run::start(steps([deploy()]));
        fail_with(&mut run, known(args));
        assert_eq!(run.tail(1), ["a ask recover"]);
    }
}

#[test]
fn no_fix_gets_past_a_gate() {
    let mut run = Run::start(steps([gated(deploy(), confirm("go?"))]));
    run.answer("yes");
    fail_with(&mut run, known(json!({ "1": "v1" })));
    assert_eq!(run.tail(2), ["a retry 2 fixed", "a ask gate"]);
    assert!(run.question().message.contains("1: abc -> v1"));
    // Where nobody wrote a gate, what cannot be undone has one.
    let mut run = Run::start(steps([Step { destructive: true, ..deploy() }]));
    fail_with(&mut run, known(json!({ "1": "v1" })));
    assert_eq!(run.tail(1), ["a ask gate"]);
    // Nothing stands in for a step that was gated.
    let act = Some(Act { command: vec!["mend".to_owned()], ..Act::default() });
    let mut run = Run::start(steps([Step { destructive: true, ..deploy() }]));
    fail_with(&mut run, KnownFix { replace: act, ..known(json!({})) });
    assert_eq!(run.tail(1), ["a ask recover"]);
}

/// It may have changed what the step works on: memory does not answer for a person then.
#[test]
fn the_gate_after_a_fix_is_not_answered_from_memory() {
    let ask = Ask { remember: true, ..confirm("go?") };
    let act = Some(Act { command: vec!["mend".to_owned()], ..Act::default() });
    let mut run = Run::start(steps([gated(deploy(), ask)]));
    assert!(run.question().remember);
    run.answer("yes");
    fail_with(&mut run, KnownFix { first: act, ..known(json!({})) });
    assert_eq!(run.tail(1), ["a heal fix-1"]);
    let end = End::Exited { value: Value::Null, parsed: None };
    run.send(Input::Finished(Finished::bare(run.running(), end, None))).unwrap();
    assert_eq!(run.tail(2), ["a retry 2 fixed", "a ask gate"]);
    assert!(!run.question().remember);
}

#[test]
fn a_repair_comes_first_and_a_replacement_is_the_step() {
    let act = || Some(Act { command: vec!["mend".to_owned()], ..Act::default() });
    let done = |run: &mut Run, value: Value| {
        let end = End::Exited { value, parsed: None };
        run.send(Input::Finished(Finished::bare(run.running(), end, None))).unwrap();
    };
    let mut run = Run::start(steps([deploy(), command("b")]));
    fail_with(&mut run, KnownFix { first: act(), ..known(json!({ "1": "v1" })) });
    assert_eq!(run.tail(2), ["recalled fix", "a heal fix-1"]);
    done(&mut run, Value::Null);
    assert_eq!(run.tail(3), ["a healed true", "a retry 2 fixed", "a start 2"]);
    assert_eq!(run.process().argv, ["deploy", "v1", "--force"]);

    let mut run = Run::start(steps([deploy(), command("b")]));
    fail_with(&mut run, KnownFix { replace: act(), ..known(json!({})) });
    done(&mut run, json!("instead"));
    assert_eq!(run.tail(3), ["a healed true", "a done", "b start"]);
    assert_eq!(run.machine.state().outputs["a"], "instead");
}

#[test]
fn a_run_that_failed_goes_on_where_it_failed() {
    let mut run = Run::start(steps([program("a", "deploy", &["abc"]), command("b")]));
    run.exit(2);
    assert_eq!(run.tail(1), ["failed step_failed"]);
    run.crash();
    let retry = |step: Option<&str>, set: Option<Value>| {
        let step = step.map(str::to_owned);
        let answer = Some(Box::new(answer_of("bob", "retry")));
        let edits = set.map(edits);
        Input::Retry(Retry { driver: driver("bob"), epoch: 0, step, edits, turn: None, answer })
    };
    assert_eq!(run.send(retry(Some("b"), None)), Err(Refusal::NotFailed));
    assert!(matches!(run.send(retry(None, Some(json!({ "x": 1 })))), Err(Refusal::BadEdit(_))));
    run.send(retry(Some("a"), Some(json!({ "1": "v1" })))).unwrap();
    assert_eq!(run.tail(3), ["resumed", "a retry 2 answer", "a start 2"]);
    assert_eq!(run.process().argv, ["deploy", "v1"]);
    run.exit(0);
    run.exit(0);
    assert_eq!(run.tail(1), ["completed"]);
    assert_eq!(run.send(retry(None, None)), Err(Refusal::NotFailed));
}

#[test]
fn whoever_is_there_is_asked_unless_the_skill_says_what_to_do() {
    let mut run = attended(steps([command("a")]));
    run.exit(2);
    assert_eq!(run.tail(1), ["a ask recover"]);
    for said in [OnError::Fail, OnError::AutoHeal] {
        let mut run = attended(steps([on_error(command("a"), said)]));
        run.exit(2);
        assert_eq!(run.tail(1), ["failed step_failed"]);
    }
    let there = Driver { attended: true, ..driver("ann") };
    let yes = Start { driver: there, yes: true, ..start() };
    let mut run = Run::start_as(steps([command("a")]), yes);
    run.exit(2);
    assert_eq!(run.tail(1), ["failed step_failed"]);
}

#[test]
fn what_usually_fails_waits_for_a_person() {
    let mut run = Run::start(steps([on_error(command("a"), OnError::Continue), command("b")]));
    let end = End::Failed {
        code: ErrorCode::UsuallyFails,
        message: "this usually fails".to_owned(),
        hint: None,
        proposal: None,
    };
    run.finish(end, None);
    assert_eq!(run.tail(1), ["a ask recover"]);
    assert_eq!(run.question().by, By::Human);
    assert!(matches!(run.say(relayed(answer_of("bot", "retry"))), Err(Refusal::NotAllowed(_))));
    run.answer("retry");
    assert_eq!(run.tail(1), ["a start 2"]);
}

#[test]
fn what_is_remembered_is_told_and_changes_nothing() {
    let mut run = Run::start(steps([command("a")]));
    let what = Remembered {
        lesson: Some(Box::new(json!({ "seen": 1 }))),
        ..Remembered::told(MemoryKind::Issue, "known".to_owned())
    };
    run.send(Input::Remembered { learned: false, what: what.clone() }).unwrap();
    run.send(Input::Remembered { learned: true, what: what.clone() }).unwrap();
    assert_eq!(run.tail(3), ["a start", "recalled issue", "learned issue"]);
    run.exit(0);
    let again = run.send(Input::Remembered { learned: false, what: what.clone() });
    assert_eq!(again, Err(Refusal::Ended));
    // How it ended is something to learn from.
    run.send(Input::Remembered { learned: true, what }).unwrap();
    assert_eq!(run.tail(1), ["learned issue"]);
    assert!(matches!(run.machine.state().phase, Phase::Ended(_)));
}

#[test]
fn nobody_said_yes_to_a_change_in_advance() {
    let mut run = Run::yes(steps([gated(deploy(), confirm("go?"))]));
    assert_eq!(run.tail(1), ["a start"], "`--yes` is for what the skill says");
    fail_with(&mut run, known(json!({ "1": "v1" })));
    assert_eq!(run.tail(1), ["a ask gate"]);
    assert!(!run.question().takes_yes());
}

#[test]
fn what_consists_of_runs_is_not_done_again_from_the_start() {
    let each = aye_core::skill::ForEach {
        items: json!([1, 2]),
        span: aye_core::span::Span::default(),
        name: "item".to_owned(),
        label: None,
        parallel: 1,
        fail_fast: None,
        body: vec![command("x")],
    };
    let step = crate::build::step("each", Action::ForEach(Box::new(each)));
    let mut run = Run::start(steps([step]));
    let end = End::Failed {
        code: ErrorCode::Nested,
        message: "1 of 2 failed".to_owned(),
        hint: None,
        proposal: None,
    };
    run.finish(end.clone(), None);
    let children = |run: &Run| match run.execution().task {
        Task::Nested(nested) => {
            let ids: Vec<String> =
                nested.children.iter().map(|c| c.parent.child().unwrap().to_string()).collect();
            (ids, nested.again)
        }
        other => panic!("{other:?}"),
    };
    for (turn, set) in [(2, None), (3, Some(json!({ "1": "v1" })))] {
        let edits = set.map(edits);
        let answer = Some(Box::new(answer_of("bob", "retry")));
        let again = Some(ChildRetry { turn, edits: edits.clone(), answer: answer.clone() });
        let retry =
            Retry { driver: driver("bob"), epoch: 0, step: None, edits, turn: None, answer };
        run.send(Input::Retry(retry)).unwrap();
        let wanted = ["run00001_1_0".to_owned(), "run00001_1_1".to_owned()].to_vec();
        assert_eq!(children(&run), (wanted.clone(), again.clone()));
        // Anyone who takes it up after a crash does the same.
        run.crash();
        run.attach();
        assert_eq!(children(&run), (wanted, again));
        run.finish(end.clone(), None);
    }
}

#[test]
fn what_a_step_said_and_left_behind_is_part_of_the_question() {
    let mut run = Run::start(steps([deploy()]));
    let process = aye_core::event::ProcessRecord {
        exit_code: Some(2),
        stderr: "first\nno such tag\n".to_owned(),
        left_running: 2,
        ..Default::default()
    };
    run.finish(End::Exited { value: Value::Null, parsed: None }, Some(process));
    assert_eq!(
        run.question().message,
        "`a` failed: exit code 2\n\nno such tag\n\n2 of its processes could not be ended."
    );
}

/// What becomes of a step is decided by those who may let it run, in the same
/// way: nothing of its gate is lost with its failure.
#[test]
fn a_recovery_question_inherits_the_gate() {
    let ask = Ask {
        by: By::Names(vec!["ann".to_owned(), "bob".to_owned()]),
        approvals: 2,
        reauth: true,
        typed: Some(t("{{ skill.name }}")),
        ..confirm("go?")
    };
    let mut run = Run::start(steps([gated(deploy(), ask), command("b")]));
    let full = |by: &str, value: &str| Answer {
        typed: Some("test".to_owned()),
        reauth: true,
        ..answer_of(by, value)
    };
    run.say(full("ann", "yes")).unwrap();
    run.say(full("bob", "yes")).unwrap();
    run.exit(2);
    let question = run.question();
    assert_eq!((question.approvals, question.reauth), (2, true));
    assert_eq!(question.typed.as_deref(), Some("test"));
    assert_eq!(question.by, By::Names(vec!["ann".to_owned(), "bob".to_owned()]));
    for value in ["retry", "done", "skip"] {
        assert!(run.say(full("eve", value)).is_err(), "{value}");
        assert!(run.say(answer_of("ann", value)).is_err(), "{value}");
        let untyped = Answer { typed: None, ..full("ann", value) };
        assert!(matches!(run.say(untyped), Err(Refusal::NotTyped(_))), "{value}");
        let uncoded = Answer { reauth: false, ..full("ann", value) };
        assert_eq!(run.say(uncoded), Err(Refusal::NoReauth), "{value}");
    }
    run.say(full("ann", "skip")).unwrap();
    assert_eq!(run.tail(1), ["ann says skip (terminal)"], "one more has to agree");
    run.say(full("bob", "skip")).unwrap();
    assert_eq!(run.tail(1), ["b start"]);
}

/// One that any assistant may relay is a gate all the same.
#[test]
fn what_an_assistant_may_relay_of_a_recovery() {
    let refused = |run: &mut Run, value: &str| {
        let said = run.say(relayed(answer_of("bot", value)));
        assert!(matches!(said, Err(Refusal::NotAllowed(_))), "{value}: {said:?}");
    };
    let mut run = failed(deploy());
    for value in ["done", "skip"] {
        refused(&mut run, value);
    }
    run.say(relayed(answer_of("bot", "retry"))).unwrap();
    let mut run = Run::start(steps([gated(deploy(), confirm("go?")), command("b")]));
    run.answer("yes");
    run.exit(2);
    for value in ["retry", "done", "skip", "abort"] {
        refused(&mut run, value);
    }
    // The arguments of a tool are used at once.
    let (tool, span) = (t("git.push"), t("").span);
    let call = Action::Tool { tool, args: json!({ "force": false }), span };
    let mut run =
        Run::start(steps([on_error(Step { action: call, ..command("a") }, OnError::Ask)]));
    let code = ErrorCode::ToolFailed;
    let end = End::Failed { code, message: "no".to_owned(), hint: None, proposal: None };
    run.send(Input::Finished(Finished::bare(run.running(), end, None))).unwrap();
    run.say(relayed(edit(json!({ "force": true })))).unwrap();
    assert_eq!(run.tail(1), ["a start 2"]);
}

/// A run that has failed is taken up again by those who may say what becomes of
/// the step, and the journal says who did.
#[test]
fn a_run_that_failed_is_tried_again_by_those_who_may() {
    let retry = |answer: Option<Answer>| {
        let answer = answer.map(Box::new);
        Input::Retry(Retry {
            driver: driver("bob"),
            epoch: 0,
            step: None,
            edits: None,
            turn: None,
            answer,
        })
    };
    let started_by = Some("a program that run `x` started".to_owned());
    let program = Origin { started_by, ..Origin::default() };
    let by_program =
        || Answer { origin: Some(Box::new(program.clone())), ..answer_of("ann", "retry") };
    let fails = |step: Step| Step { on_error: None, ..step };
    let human = || Ask { by: By::Human, ..confirm("go?") };
    let named = || Ask { by: By::Names(vec!["ann".to_owned()]), ..confirm("go?") };
    for (step, bob_may) in [
        (gated(fails(deploy()), human()), true),
        (gated(fails(deploy()), confirm("go?")), true),
        (Step { destructive: true, ..fails(deploy()) }, true),
        (gated(fails(deploy()), named()), false),
    ] {
        let mut run = Run::start(steps([step.clone()]));
        if step.confirmation.is_some() {
            run.say(answer_of("ann", "yes")).unwrap();
        }
        run.exit(2);
        for answer in [Some(by_program()), Some(relayed(answer_of("ann", "retry"))), None] {
            assert!(matches!(run.send(retry(answer)), Err(Refusal::NotAllowed(_))));
            assert_eq!(run.tail(1), ["failed step_failed"]);
        }
        assert_eq!(run.send(retry(Some(answer_of("bob", "retry")))).is_ok(), bob_may);
        if !bob_may {
            run.send(retry(Some(answer_of("ann", "retry")))).unwrap();
        }
        assert_eq!(run.tail(2), ["a retry 2 answer", "a start 2"]);
    }
    // What nobody has to agree to may be tried again by anybody, and is told apart.
    let mut run = Run::start(steps([fails(deploy())]));
    run.exit(2);
    run.send(retry(Some(by_program()))).unwrap();
    assert_eq!(run.tail(2), ["a retry 2 relayed", "a start 2"]);
    let written = serde_json::to_string(&run.events).unwrap();
    assert!(written.contains("a program that run `x` started"), "{written}");
}

/// What an assistant relays about a step that consists of runs is not a person's
/// word inside them either.
#[test]
fn who_said_retry_is_handed_on_to_the_runs_inside() {
    let sub = Action::Skill { skill: t("x"), inputs: Default::default(), span: Default::default() };
    let mut run = Run::start(steps([on_error(crate::build::step("sub", sub), OnError::Ask)]));
    let end = End::Failed {
        code: ErrorCode::Nested,
        message: "no".to_owned(),
        hint: None,
        proposal: None,
    };
    run.finish(end, None);
    run.say(relayed(answer_of("bot", "retry"))).unwrap();
    run.crash();
    run.attach();
    let Task::Nested(nested) = run.execution().task else { panic!("nothing is nested") };
    let answer = nested.again.unwrap().answer;
    assert!(answer.as_ref().is_some_and(|answer| !answer.is_persons()), "{answer:?}");
    let human = Ask { by: By::Human, ..confirm("go?") };
    let mut inside = Run::start(steps([gated(command("a"), human)]));
    inside.say(answer_of("ann", "yes")).unwrap();
    inside.exit(2);
    let (step, edits, turn) = (None, None, Some(2));
    let retry = Retry { driver: driver("ann"), epoch: 0, step, edits, turn, answer };
    assert!(matches!(inside.send(Input::Retry(retry)), Err(Refusal::NotAllowed(_))));
}
