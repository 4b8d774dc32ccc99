//! What a person agreed to is not changed unseen by an assistant or a fix: at a
//! question before the step, at a gate around it.

use aye_core::effect::Task;
use aye_core::error_code::ErrorCode;
use aye_core::fix::KnownFix;
use aye_core::input::{End, Finished, Input};
use aye_core::machine::{Refusal, Start};
use aye_core::nested::Parent;
use aye_core::question::{Answer, Channel, Edits};
use aye_core::skill::{Action, Ask, By, ForEach, OnError, Step};
use serde_json::{Value, json};

use crate::build::{
    Run, answer_of, asking, choose, command, confirm, gated, start, step, steps, t,
};

fn tool() -> Step {
    let args = json!({ "tag": "v1" });
    let deploy = Action::Tool { tool: t("deploy"), args, span: Default::default() };
    Step { on_error: Some(OnError::Ask), ..step("d", deploy) }
}

fn set() -> serde_json::Map<String, Value> {
    [("tag".to_owned(), json!("evil"))].into_iter().collect()
}

fn by_assistant(answer: Answer) -> Answer {
    Answer { prompter: Channel::Assistant, ..answer }
}

/// The tool fails, and the assistant wants other arguments.
fn fail_and_change(run: &mut Run) {
    fail(run, None);
    let edits = Some(Edits { set: set(), ..Edits::default() });
    run.say(by_assistant(Answer { edits, ..answer_of("bot", "edit") })).unwrap();
}

fn fail(run: &mut Run, known: Option<KnownFix>) {
    let end = End::Failed {
        code: ErrorCode::ToolFailed,
        message: "no".to_owned(),
        hint: None,
        proposal: None,
    };
    let bare = Finished::bare(run.running(), end, None);
    run.send(Input::Finished(Finished { known: known.map(Box::new), ..bare })).unwrap();
}

/// A person has to see it; no word and no form of an assistant is enough.
fn waits_for_a_person(run: &mut Run) {
    assert_eq!(run.tail(1), ["d ask gate"]);
    // What the journal of the run itself says is enough.
    run.crash();
    run.attach();
    for prompter in [Channel::Assistant, Channel::Elicited] {
        let yes = Answer { prompter, ..answer_of("bot", "proceed") };
        assert!(matches!(run.say(yes), Err(Refusal::NotAllowed(_))), "{prompter:?}");
    }
    assert!(run.question().message.contains("tag: v1 -> evil"), "{}", run.question().message);
    run.say(answer_of("ann", "proceed")).unwrap();
    assert_eq!(run.tail(1), ["d start 2"]);
}

fn guards() -> [Ask; 5] {
    [
        Ask { by: By::Human, ..confirm("Deploy v1?") },
        Ask { by: By::Names(vec!["ann".to_owned()]), ..confirm("Deploy v1?") },
        Ask { typed: Some(t("v1")), ..confirm("Deploy v1?") },
        Ask { reauth: true, ..confirm("Deploy v1?") },
        Ask { by: By::Human, ..choose("Where?", &["here", "there"]) },
    ]
}

fn agree(run: &mut Run) {
    let value = run.question().options[0].value.clone();
    let typed = run.question().typed.clone();
    run.say(Answer { typed, reauth: true, ..answer_of("ann", &value) }).unwrap();
}

#[test]
fn a_question_before_the_step_binds_it() {
    for guard in guards() {
        let mut run = Run::start(steps([asking("q", guard), tool()]));
        agree(&mut run);
        fail_and_change(&mut run);
        waits_for_a_person(&mut run);
    }
    // What else happens between does not matter.
    let mut run = Run::start(steps([asking("q", guards()[0].clone()), command("log"), tool()]));
    agree(&mut run);
    run.exit(0);
    fail_and_change(&mut run);
    waits_for_a_person(&mut run);
    // The skill lets an assistant edit the step, not what a person agreed to.
    let editable = Step { assistant_may_edit: true, ..tool() };
    let mut run = Run::start(steps([asking("q", guards()[0].clone()), editable]));
    agree(&mut run);
    fail_and_change(&mut run);
    waits_for_a_person(&mut run);
}

#[test]
fn without_such_a_question_a_tools_arguments_are_the_assistants() {
    for before in [vec![], vec![asking("q", confirm("Deploy v1?"))]] {
        let asks = !before.is_empty();
        let mut run = Run::start(steps(before.into_iter().chain([tool()])));
        if asks {
            agree(&mut run);
        }
        fail_and_change(&mut run);
        assert_eq!(run.tail(1), ["d start 2"]);
    }
}

#[test]
fn no_fix_changes_it_or_stands_in_for_it() {
    let known = KnownFix {
        short: String::new(),
        obstacle: None,
        id: "fix-1".to_owned(),
        message: "it helped before".to_owned(),
        args: set(),
        first: None,
        replace: None,
        max_uses: 1,
    };
    let mut run = Run::start(steps([asking("q", guards()[0].clone()), tool()]));
    agree(&mut run);
    fail(&mut run, Some(known.clone()));
    waits_for_a_person(&mut run);
    let act = aye_core::fix::Act { command: vec!["other".to_owned()], ..Default::default() };
    let mut run = Run::start(steps([asking("q", guards()[0].clone()), tool()]));
    agree(&mut run);
    fail(&mut run, Some(KnownFix { args: Default::default(), replace: Some(act), ..known }));
    assert_eq!(run.tail(1), ["d ask recover"]);
}

fn child_of(run: &Run) -> Parent {
    let Task::Nested(nested) = run.execution().task else { panic!("nothing is nested") };
    nested.children[0].parent.clone()
}

/// The tool in a run of its own, inside the step that `outer` runs.
fn inside(outer: &Run) -> Run {
    let parent = Some(child_of(outer));
    let begun = Start { run: child_of(outer).child().unwrap(), parent, ..start() };
    Run::start_as(steps([tool()]), begun)
}

fn each() -> Step {
    let each = ForEach {
        items: json!([1]),
        span: Default::default(),
        name: "item".to_owned(),
        label: None,
        parallel: 1,
        fail_fast: None,
        body: vec![tool()],
    };
    step("each", Action::ForEach(Box::new(each)))
}

fn sub_skill() -> Step {
    step(
        "sub",
        Action::Skill { skill: t("inner"), inputs: Default::default(), span: Default::default() },
    )
}

#[test]
fn the_gate_of_a_step_around_it_binds_it() {
    for nested in [each(), sub_skill()] {
        let question = asking("q", guards()[0].clone());
        let around = guards().map(|guard| vec![gated(nested.clone(), guard)]).into_iter();
        for skill in around.chain([vec![question, nested.clone()]]) {
            let mut outer = Run::start(steps(skill));
            agree(&mut outer);
            let mut run = inside(&outer);
            fail_and_change(&mut run);
            waits_for_a_person(&mut run);
        }
        let outer = Run::start(steps([Step { destructive: true, ..nested.clone() }]));
        let mut run = inside(&outer);
        fail_and_change(&mut run);
        waits_for_a_person(&mut run);
        // One level further in, too.
        let mut outer = Run::start(steps([gated(nested.clone(), guards()[0].clone())]));
        agree(&mut outer);
        let parent = Some(child_of(&outer));
        let begun = Start { run: child_of(&outer).child().unwrap(), parent, ..start() };
        assert!(child_of(&Run::start_as(steps([nested.clone()]), begun)).bound);
        // A gate that anybody passes promises nothing.
        let mut outer = Run::start(steps([gated(nested, confirm("Go?"))]));
        agree(&mut outer);
        let mut run = inside(&outer);
        fail_and_change(&mut run);
        assert_eq!(run.tail(1), ["d start 2"]);
    }
}

/// A sub-skill that asks for consent does so for what comes after it.
#[test]
fn a_question_inside_a_step_before_it_binds_it() {
    for agreed in [true, false] {
        let mut run = Run::start(steps([sub_skill(), tool()]));
        let end = End::Exited { value: Value::Null, parsed: None };
        let bare = Finished::bare(run.running(), end, None);
        run.send(Input::Finished(Finished { agreed, ..bare })).unwrap();
        run.crash();
        run.attach();
        // The tool may have run: that is asked about first.
        run.say(answer_of("ann", "retry")).unwrap();
        fail_and_change(&mut run);
        match agreed {
            true => assert_eq!(run.tail(1), ["d ask gate"]),
            false => assert_eq!(run.tail(1), ["d start 3"]),
        }
    }
}
