//! Tools that the settings call destructive: their steps are, whatever the
//! skill says, and whoever takes the run up.

use aye_core::effect::Task;
use aye_core::error_code::ErrorCode;
use aye_core::event::{EventKind, SkillStarted};
use aye_core::fix::{Act, KnownFix};
use aye_core::input::{End, Finished, Input};
use aye_core::machine::{Limits, Machine, Refusal, Start};
use aye_core::nested::ChildRun;
use aye_core::question::{Answer, Channel, Edits};
use aye_core::skill::{Action, By, Skill, Step, parse};
use serde_json::{Value, json};

use crate::build::{Run, answer_of, asking, confirm, gated, start, step, steps, t};

fn tool(name: &str, tool: &str) -> Step {
    let args = json!({ "path": "/tmp/x" });
    let step = step(name, Action::Tool { tool: t(tool), args, span: Default::default() });
    Step { on_error: Some(aye_core::skill::OnError::Ask), ..step }
}

/// A run whose settings call `wipe` destructive.
fn marked(skill: Skill) -> Run {
    Run::start_as(skill, Start { destructive_tools: vec!["wipe".to_owned()], ..start() })
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

fn relayed_edit() -> Answer {
    let Value::Object(set) = json!({ "path": "/" }) else { unreachable!() };
    Answer {
        edits: Some(Edits { set, ..Edits::default() }),
        prompter: Channel::Assistant,
        ..answer_of("bot", "edit")
    }
}

#[test]
fn what_an_assistant_changes_in_it_never_runs_unseen() {
    let mut run = marked(steps([tool("a", "wipe")]));
    fail(&mut run, None);
    match run.say(relayed_edit()) {
        // It may not even propose it, or a person sees it first.
        Err(Refusal::NotAllowed(_)) => {}
        Err(other) => panic!("{other}"),
        Ok(()) => {
            assert_eq!(run.tail(1), ["a ask gate"]);
            assert_eq!(run.question().by, By::Human);
            let yes = Answer { prompter: Channel::Assistant, ..answer_of("bot", "proceed") };
            assert!(matches!(run.say(yes), Err(Refusal::NotAllowed(_))));
        }
    }
    // The settings say nothing of this one.
    let mut run = marked(steps([tool("a", "look")]));
    fail(&mut run, None);
    run.say(relayed_edit()).unwrap();
    assert_eq!(run.tail(1), ["a start 2"]);
}

#[test]
fn consent_to_it_is_not_remembered() {
    let remembering = || aye_core::skill::Ask { remember: true, ..confirm("go?") };
    let remembers = |step: Step| marked(steps([step])).question().remember;
    assert!(!remembers(gated(tool("a", "wipe"), remembering())));
    assert!(remembers(gated(tool("a", "look"), remembering())));
    // Nor is the yes of the question that it follows.
    let follows = |name: &str| {
        let run = marked(steps([asking("q", remembering()), tool("a", name)]));
        run.question().remember
    };
    assert!(!follows("wipe"));
    assert!(follows("look"));
}

#[test]
fn no_fix_stands_in_for_it_or_changes_it_unseen() {
    let known = |args: Value, replace: Option<Act>| KnownFix {
        short: String::new(),
        obstacle: None,
        id: "fix-1".to_owned(),
        message: "it helped before".to_owned(),
        args: args.as_object().cloned().unwrap_or_default(),
        first: None,
        replace,
        max_uses: 1,
    };
    let mut run = marked(steps([tool("a", "wipe")]));
    let act = Act { command: vec!["mend".to_owned()], ..Act::default() };
    fail(&mut run, Some(known(json!({}), Some(act))));
    assert_eq!(run.tail(1), ["a ask recover"]);
    let mut run = marked(steps([tool("a", "wipe")]));
    fail(&mut run, Some(known(json!({ "path": "/" }), None)));
    assert_eq!(run.tail(1), ["a ask gate"]);
    assert_eq!(run.question().by, By::Human);
}

#[test]
fn the_journal_says_so_and_a_resumed_run_decides_the_same() {
    let mut run = marked(steps([tool("a", "wipe")]));
    let written = serde_json::to_value(&run.events[0]).unwrap();
    assert_eq!(written["destructive_tools"], json!(["wipe"]));
    fail(&mut run, None);
    // The skill's text says nothing of it, and the settings may be others now.
    run.crash();
    assert!(run.machine.flow().nodes[0].step.destructive);
    // A journal from before has no such list.
    let mut old = written;
    old.as_object_mut().unwrap().remove("destructive_tools");
    let old: aye_core::event::Event = serde_json::from_value(old).unwrap();
    let EventKind::SkillStarted(started) = old.kind else { panic!("the first") };
    let SkillStarted { destructive_tools, .. } = *started;
    assert!(destructive_tools.is_empty());
}

#[test]
fn the_steps_of_a_loop_and_below_it_are_marked_too() {
    let text = "
name: t
steps:
  - name: each
    foreach: [1, 2]
    as: n
    steps:
      - name: deep
        foreach: [3]
        as: m
        tool: wipe
        args: { path: '{{ m }}' }
";
    let skill = parse("t.yaml", text).skills.into_iter().next().unwrap();
    let run = marked(skill);
    let Task::Nested(nested) = run.execution().task else { panic!("nothing is nested") };
    let child = run.machine.child(&nested.children[0], None, &run.world).unwrap();
    let ChildRun::Steps { flow, outer } = child else { panic!("an item") };
    let begin = Start {
        run: nested.children[0].parent.child().unwrap(),
        outer: Some(*outer),
        parent: Some(nested.children[0].parent.clone()),
        destructive_tools: run.machine.state().started.destructive_tools.clone(),
        ..start()
    };
    let (inner, _) = Machine::start(flow, Limits::default(), begin, &run.world).unwrap();
    let Action::ForEach(deep) = &inner.flow().nodes[0].step.action else { panic!("a loop") };
    assert!(deep.body[0].destructive);
}
