//! What repairs the steps that a `confirm` or `choose` step leads to runs because of that yes:
//! the question shows it, and the yes is bound to it. A repair is not repaired itself.

use std::sync::Arc;

use aye_core::heal::HealMatch;
use aye_core::machine::Start;
use aye_core::nested::{Nested, Parent};
use aye_core::skill::{Action, Ask, ForEach, HealRule, Skill, Step};
use serde_json::json;

use crate::build::{
    Fakes, Run, asking, choose, command, confirm, gated, program, start, step, steps, t,
    through_json, when,
};

fn rule(name: &str, repair: Step) -> HealRule {
    let when = HealMatch { codes: vec![3], ..HealMatch::default() };
    HealRule { name: name.to_owned(), when, repair, retries: 1, backoff: Default::default() }
}

fn repair(arg: &str) -> Step {
    program("repair", "sh", &["t.sh", arg])
}

/// A question, a step that it leads to and another one; a rule repairs them with this.
fn asked(repair: Step) -> Skill {
    let ask = Ask { remember: true, ..confirm("Deploy?") };
    let heal = vec![rule("h", repair)];
    Skill { heal, ..steps([asking("ok", ask), command("deploy"), command("later")]) }
}

fn begun(skill: Skill, contents: &str) -> Run {
    let names = Fakes::default();
    names.set("file.t.sh", contents);
    let inputs = [("target".to_owned(), json!("stage"))].into_iter().collect();
    Run::start_in(skill, Start { inputs, ..start() }, Arc::new(names))
}

/// A list of two items that this is done for.
fn each(body: Vec<Step>) -> Step {
    let each = ForEach {
        items: json!([1, 2]),
        span: Default::default(),
        name: "item".to_owned(),
        label: None,
        parallel: 1,
        fail_fast: None,
        body,
    };
    step("each", Action::ForEach(Box::new(each)))
}

fn called(name: &str) -> Step {
    let (skill, span) = (t("sub"), Default::default());
    step(name, Action::Skill { skill, inputs: Default::default(), span })
}

fn shows(run: &Run, line: &str) -> bool {
    run.question().facts.iter().flatten().any(|fact| fact.line() == line)
}

fn lists(run: &Run, note: &str) -> bool {
    run.question().not_covered.iter().any(|one| one == note)
}

#[test]
fn the_question_shows_them_and_a_remembered_yes_is_bound_to_them() {
    let recall = |arg: &str, contents: &str| {
        let run = begun(asked(repair(arg)), contents);
        assert!(shows(&run, "command of the repair `h`: sh t.sh stage"), "{:?}", run.question());
        assert!(lists(&run, "repairs of later steps: `h`"));
        run.question().recall.clone()
    };
    let same = recall("stage", "one");
    assert!(same.is_some());
    assert_ne!(same, recall("stage", "two"));
    // For the later step it is not compared, so it must be the same in every run.
    assert_eq!(recall("{{ inputs.target }}", "one"), None);
    // Without a later step it is compared wherever it runs.
    let two = |arg: &str| {
        let skill = asked(repair(arg));
        let when = HealMatch { step: Some("deploy".to_owned()), ..skill.heal[0].when.clone() };
        let heal = vec![HealRule { when, ..skill.heal[0].clone() }];
        begun(Skill { heal, ..skill }, "one").question().recall.clone()
    };
    assert!(two("stage").is_some());
    assert_eq!(two("stage"), two("{{ inputs.target }}"));
}

#[test]
fn one_that_is_not_what_was_agreed_to_is_not_run() {
    for change in [false, true] {
        let mut run = begun(asked(repair("stage")), "one");
        run.answer("yes");
        if change {
            run.names.set("file.t.sh", "two");
        }
        run.exit(3);
        if !change {
            assert_eq!(run.tail(1), ["deploy heal h"]);
            continue;
        }
        assert_eq!(run.tail(1), ["deploy ask recover"]);
        assert_eq!(
            run.question().changed[0].line(),
            "file `t.sh` of the repair `h`: t.sh (sha256 one) -> t.sh (sha256 two)"
        );
        run.crash();
        run.attach();
        run.answer("skip");
        assert_eq!(run.tail(1), ["later start"]);
    }
}

#[test]
fn one_that_depends_on_the_failure_or_on_a_step_is_named_and_not_remembered() {
    for arg in ["{{ error }}", "{{ now }}", "{{ steps.deploy.exit_code }}", "{{ ok }}"] {
        let run = begun(asked(repair(arg)), "one");
        assert!(lists(&run, "repairs that depend on what fails: `h`"), "{arg}");
        assert!(!run.question().remember, "{arg}");
    }
}

#[test]
fn one_that_destroys_makes_the_question_a_destructive_one() {
    for destructive in [false, true] {
        let repair = Step { destructive, ..repair("stage") };
        let run = begun(asked(repair.clone()), "one");
        assert_eq!(run.question().destructive, destructive);
        assert_eq!(run.question().remember, !destructive);
        let heal = vec![rule("h", repair)];
        let run = begun(Skill { heal, ..steps([gated(command("a"), confirm("go?"))]) }, "one");
        assert_eq!(run.question().destructive, destructive);
    }
}

#[test]
fn each_answer_that_proceeds_covers_them() {
    let mut run = begun(
        Skill {
            heal: vec![rule("h", repair("stage"))],
            ..steps([
                asking("where", choose("Where?", &["one", "all"])),
                when(command("few"), "where == 'one'"),
                when(command("many"), "where == 'all'"),
            ])
        },
        "one",
    );
    assert!(shows(&run, "command of the repair `h`: sh t.sh stage"));
    run.answer("all");
    assert_eq!(run.tail(1), ["many start"]);
    run.names.set("file.t.sh", "two");
    run.exit(3);
    assert_eq!(run.tail(1), ["many ask recover"]);
}

/// A rule could otherwise start itself again, and start what nobody has seen.
#[test]
fn a_repair_is_not_repaired() {
    let skill = || Skill { heal: vec![rule("h", command("repair"))], ..steps([command("a")]) };
    let mut outer = Run::start(skill());
    outer.exit(3);
    assert_eq!(outer.tail(1), ["a heal h"]);
    let nested: Nested = match outer.execution().task {
        aye_core::effect::Task::Nested(nested) => *nested,
        other => panic!("{other:?}"),
    };
    let parent: Parent = through_json(&nested.children[0].parent);
    assert!(parent.repair);
    let mut inner = Run::start_as(skill(), Start { parent: Some(parent), ..start() });
    inner.exit(3);
    assert_eq!(inner.tail(1), ["failed step_failed"]);
    // Nor is what it calls: that belongs to the repair too.
    let calls = Skill {
        heal: vec![rule("h", command("repair"))],
        ..steps([gated(command("b"), confirm("go?"))])
    };
    let parent = inner.machine.state().started.parent.as_deref().cloned();
    let run = Run::start_as(calls, Start { parent, ..start() });
    assert!(run.question().facts.iter().flatten().all(|fact| fact.step.is_none()));
}

#[test]
fn those_of_steps_inside_are_named_and_bind_what_is_remembered() {
    let recall = |arg: &str, list: bool| {
        let ask = Ask { remember: true, ..confirm("go?") };
        let body = program("restart", "flaky", &[]);
        let inner = if list { each(vec![body]) } else { called("each") };
        let only = HealMatch { command: Some("flaky".to_owned()), ..HealMatch::default() };
        let rule = HealRule { when: only, ..rule("h", repair(arg)) };
        let skill = steps([asking("ok", ask), inner]);
        let run = match list {
            true => begun(Skill { heal: vec![rule], ..skill }, "one"),
            // A rule of the project is for the skills that are called as well.
            false => Run::start_limited(skill, vec![rule]),
        };
        assert!(lists(&run, "repairs of the steps inside: `h`"), "{:?}", run.question());
        run.question().recall.clone()
    };
    for list in [true, false] {
        assert!(recall("stage", list).is_some() || !list);
        assert_ne!(recall("stage", list), recall("production", list).or(Some(String::new())));
        assert_eq!(recall("{{ error }}", list), None);
    }
}

#[test]
fn its_condition_is_part_of_what_is_agreed_to() {
    let recall = |target: &str| {
        let only = when(repair("now"), "inputs.target == 'production'");
        let skill = asked(only);
        let when = HealMatch { step: Some("deploy".to_owned()), ..skill.heal[0].when.clone() };
        let heal = vec![HealRule { when, ..skill.heal[0].clone() }];
        let inputs = [("target".to_owned(), json!(target))].into_iter().collect();
        let run = Run::start_as(Skill { heal, ..skill }, Start { inputs, ..start() });
        let shown = shows(&run, "command of the repair `h`: sh t.sh now");
        assert_eq!(shown, target == "production");
        run.question().recall.clone()
    };
    assert_ne!(recall("stage"), recall("production"));
}

/// The rule of the skill hides the one of the project: what was shown is what runs.
#[test]
fn one_of_two_rules_of_a_name_is_shown_and_runs() {
    let of_skill = HealRule {
        when: HealMatch { command: Some("other".to_owned()), ..HealMatch::default() },
        ..rule("h", repair("skill"))
    };
    let skill = steps([gated(command("flaky"), confirm("go?"))]);
    let skill = Skill { heal: vec![of_skill], ..skill };
    let mut run = Run::start_limited(skill, vec![rule("h", repair("project"))]);
    assert!(!shows(&run, "command of the repair `h`: sh t.sh project"));
    run.answer("yes");
    run.exit(3);
    assert_eq!(run.tail(1), ["failed step_failed"]);
}

/// It runs because of the same yes, whatever was known of its step then.
#[test]
fn one_whose_step_was_not_known_yet_is_compared_too() {
    let later = when(program("deploy", "deploy", &["{{ mid }}"]), "ok == 'yes'");
    let asked = steps([asking("ok", confirm("Deploy?")), command("mid"), later]);
    let parent = Step {
        then: vec![program("deploy", "deploy", &["{{ a }}"])],
        ..gated(command("a"), confirm("go?"))
    };
    for (skill, step) in [(asked, "mid"), (steps([parent]), "a")] {
        let mut run = begun(Skill { heal: vec![rule("h", repair("stage"))], ..skill }, "one");
        assert!(shows(&run, "command of the repair `h`: sh t.sh stage"), "{:?}", run.question());
        run.answer("yes");
        assert_eq!(run.tail(1), [format!("{step} start")]);
        run.exit(0);
        run.names.set("file.t.sh", "two");
        assert_eq!(run.tail(1), ["deploy start"]);
        run.exit(3);
        assert_eq!(run.tail(1), ["deploy ask recover"], "{step}");
    }
}

/// The run of a repair, and the names that its scripts have.
fn repairing(skill: Skill) -> (Run, Arc<Fakes>) {
    let mut outer = begun(skill, "one");
    outer.answer("yes");
    outer.exit(3);
    assert_eq!(outer.tail(1), ["a heal h"]);
    let aye_core::effect::Task::Nested(nested) = outer.execution().task else { panic!() };
    let child = outer.machine.child(&nested.children[0], None, &outer.world).unwrap();
    let aye_core::nested::ChildRun::Steps { flow, outer: scope } = child else { panic!() };
    let names = Arc::clone(&outer.names);
    let parent = Some(nested.children[0].parent.clone());
    let start = Start { parent, outer: Some(*scope), ..start() };
    (Run::start_in(flow.skill.clone(), start, Arc::clone(&names)), names)
}

/// The repair starts more than once after one failure: after a crash, and where it retries.
#[test]
fn every_start_of_it_is_compared_with_what_was_agreed_to() {
    let retry = aye_core::skill::Retry { attempts: 3, ..Default::default() };
    for repair in [
        Step { idempotent: true, ..repair("stage") },
        Step { retry: Some(retry), ..repair("stage") },
    ] {
        for change in [false, true] {
            let gate = gated(command("a"), confirm("go?"));
            let skill = Skill { heal: vec![rule("h", repair.clone())], ..steps([gate]) };
            let (mut run, names) = repairing(skill);
            assert_eq!(run.tail(1), ["repair start"]);
            if change {
                names.set("file.t.sh", "two");
            }
            match repair.idempotent {
                true => {
                    run.crash();
                    run.attach();
                }
                false => {
                    run.exit(1);
                    run.tick(3600);
                }
            }
            match change {
                false => assert_eq!(run.tail(1), ["repair start 2"]),
                true => {
                    // Another attempt by its own `retry` would be compared too.
                    let last = if repair.idempotent {
                        "failed step_failed"
                    } else {
                        "repair retry 3 policy"
                    };
                    assert_eq!(run.tail(1), [last]);
                    let journal = run.json();
                    let why = "it is not what was agreed to: file `t.sh`";
                    assert!(journal.contains(why), "{journal}");
                }
            }
        }
    }
}

/// What a tool does only the settings say, also of one that repairs.
#[test]
fn one_that_calls_a_destructive_tool_is_never_remembered() {
    let wipe = Action::Tool {
        tool: aye_core::span::Spanned::new("wipe".to_owned(), Default::default()),
        args: json!({}),
        span: Default::default(),
    };
    let ask = Ask { remember: true, ..confirm("go?") };
    let start = || Start { destructive_tools: vec!["wipe".to_owned()], ..start() };
    for skill in [
        steps([gated(command("a"), ask.clone())]),
        steps([asking("ok", ask.clone()), command("a")]),
    ] {
        let own = Skill { heal: vec![rule("h", step("repair", wipe.clone()))], ..skill.clone() };
        let run = Run::start_as(own, start());
        assert!(run.question().destructive && !run.question().remember);
        let rules = vec![rule("h", step("repair", wipe.clone()))];
        let run = Run::start_limited_as(skill, rules, start());
        assert!(run.question().destructive && !run.question().remember);
    }
}
