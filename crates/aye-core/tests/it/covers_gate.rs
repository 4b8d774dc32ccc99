//! A yes to a step's own gate starts more than the step: the commands that guard it, its
//! `then`, and what repairs them. The question shows these too, and the yes is bound to them.

use std::sync::Arc;

use aye_core::facts::Change;
use aye_core::heal::HealMatch;
use aye_core::machine::{Limits, Machine, Refusal, Start};
use aye_core::question::{Answer, Channel};
use aye_core::secrets::Secrets;
use aye_core::skill::{
    Action, Ask, By, EndStatus, Guard, GuardCheck, HealRule, OnError, Skill, Step,
};
use serde_json::json;

use crate::build::{
    Fakes, Run, answer_of, asking, command, confirm, end, gated, note, on_error, program, start,
    state, states, step, steps, t, when,
};

/// A step with a gate and steps that belong to it.
fn cache(then: impl IntoIterator<Item = Step>) -> Step {
    let ask = Ask { remember: true, ..confirm("Refresh the cache?") };
    gated(Step { then: then.into_iter().collect(), ..command("cache") }, ask)
}

fn script() -> Step {
    program("t", "sh", &["t.sh"])
}

fn begun(skill: Skill) -> Run {
    begun_with(skill, &[])
}

fn begun_with(skill: Skill, set: &[(&str, &str)]) -> Run {
    let names = Fakes::default();
    names.set("file.t.sh", "one");
    set.iter().for_each(|(name, value)| names.set(name, value));
    let inputs = [("target".to_owned(), json!("stage"))].into_iter().collect();
    Run::start_in(skill, Start { inputs, ..start() }, Arc::new(names))
}

/// What is shown of another step than the one with the gate.
fn shown(run: &Run) -> Vec<String> {
    let facts = run.question().facts.iter().flatten();
    let others = facts.filter(|fact| fact.step.is_some() && fact.kind.to_string() != "machine");
    others.map(|fact| format!("{}={}", fact.label(), fact.value)).collect()
}

fn listed(run: &Run, note: &str) -> bool {
    run.question().not_covered.iter().any(|one| one == note)
}

fn guarded(step: Step, program: &str, arg: &str) -> Step {
    let check = GuardCheck::Command { program: t(program), args: vec![t(arg)], cwd: None };
    Step { guards: vec![Guard { check, message: None }], ..step }
}

#[test]
fn the_question_shows_what_belongs_to_the_step() {
    let env = [("T".to_owned(), Some(t("stage")))].into();
    let drop = Step { stdin: Some(t("drop database")), env, cwd: Some(t("/db")), ..script() };
    let run = begun(steps([guarded(cache([drop]), "sh", "t.sh")]));
    assert_eq!(
        shown(&run),
        [
            "command of `cache.check`=sh t.sh",
            "command of `t`=sh t.sh",
            "env `T` of `t`=stage",
            "stdin of `t`=drop database",
            "program `sh` of `cache.check`=sh",
            "file `t.sh` of `cache.check`=t.sh",
            "directory of `cache.check`=/w",
            "program `sh` of `t`=sh",
            "file `t.sh` of `t`=t.sh",
            "directory of `t`=/db",
        ]
    );
    assert!(run.question().remember);
}

#[test]
fn what_belongs_to_the_step_is_asked_about_again_when_it_has_changed() {
    for in_states in [false, true] {
        let (guard, skill) = match in_states {
            false => ("t", steps([cache([script()])])),
            true => {
                let cache = guarded(cache([]), "sh", "t.sh");
                let states = states([
                    state(cache, &[("success", "done")]),
                    end("done", EndStatus::Completed),
                ]);
                ("cache.check", states)
            }
        };
        // Before the yes.
        let mut run = begun(skill.clone());
        run.names.set("file.t.sh", "two");
        run.answer("yes");
        assert_eq!(run.tail(1), ["cache ask gate"]);
        run.answer("yes");
        assert_eq!(run.tail(1), ["cache start"]);
        run.exit(0);
        assert_eq!(run.tail(1), [format!("{guard} start")]);
        // While the step itself ran.
        let mut run = begun(skill);
        run.answer("yes");
        run.names.set("file.t.sh", "two");
        run.exit(0);
        assert_eq!(run.tail(1), [format!("{guard} ask gate")]);
        let question = run.question();
        assert!(question.message.contains("not what was agreed to at `cache`"));
        assert!(question.changed[0].line().contains("(sha256 one) -> t.sh (sha256 two)"));
        run.crash();
        run.attach();
        run.answer("proceed");
        assert_eq!(run.tail(1), [format!("{guard} start")]);
    }
}

#[test]
fn another_attempt_shows_all_of_it_again() {
    let cache = Step { action: program("x", "sh", &["c.sh"]).action, ..cache([script()]) };
    let skill = steps([on_error(cache, OnError::Ask)]);
    let mut run = begun_with(skill, &[("file.c.sh", "one")]);
    run.answer("yes");
    run.exit(1);
    run.names.set("file.c.sh", "two");
    run.answer("retry");
    assert_eq!(run.tail(1), ["cache ask gate"]);
    assert!(shown(&run).contains(&"file `t.sh` of `t`=t.sh".to_owned()));
    run.answer("yes");
    assert_eq!(run.tail(1), ["cache start 2"]);
    // It changes before a start that shows what belongs to it.
    run.exit(1);
    run.names.set("file.c.sh", "three");
    run.answer("retry");
    let facts = run.question().facts.iter().flatten();
    assert!(facts.clone().all(|fact| fact.kind.to_string() != "unsettled"), "{facts:?}");
}

#[test]
fn a_change_at_a_later_visit_shows_what_belongs_to_the_step() {
    let a = guarded(program("a", "sh", &["t.sh"]), "sh", "t.sh");
    let skill = states([
        state(asking("ask", confirm("go?")), &[("success", "a")]),
        state(a, &[("success", "done"), ("failure", "fix")]),
        state(command("fix"), &[("success", "a")]),
        end("done", EndStatus::Completed),
    ]);
    let mut run = begun(skill);
    run.answer("yes");
    run.exit(1);
    run.names.set("file.t.sh", "two");
    run.exit(0);
    assert_eq!(run.tail(1), ["a ask gate"]);
    let changed: Vec<String> = run.question().changed.iter().map(Change::line).collect();
    assert_eq!(changed, ["file `t.sh`: t.sh (sha256 one) -> t.sh (sha256 two)"]);
    assert!(shown(&run).contains(&"file `t.sh` of `a.check`=t.sh".to_owned()));
}

#[test]
fn who_had_to_agree_to_the_step_has_to_agree_to_the_change() {
    let ask = Ask { by: By::Human, ..confirm("go?") };
    let mut run = begun(steps([Step { confirmation: Some(ask), ..cache([script()]) }]));
    run.answer("yes");
    run.names.set("file.t.sh", "two");
    run.exit(0);
    let relayed = Answer { prompter: Channel::Assistant, ..answer_of("bot", "proceed") };
    assert!(matches!(run.say(relayed), Err(Refusal::NotAllowed(_))));
}

#[test]
fn what_depends_on_the_step_is_said_and_not_remembered() {
    let reads = |text: &str| program("t", "deploy", &[text]);
    let own = |step: Step| Step { then: vec![reads("stage")], ..step };
    let block = Action::Compute { code: t("result = cache"), python: false, reads_files: false };
    for then in [
        reads("{{ cache }}"),
        reads("{{ steps.cache.stdout }}"),
        when(reads("stage"), "cache == 'x'"),
        when(reads("stage"), "steps.cache.exit_code == 0"),
        step("t", block),
        own(when(note("n"), "cache == 'x'")),
    ] {
        for lenient in [false, true] {
            let skill = Skill { lenient: Some(lenient), ..steps([cache([then.clone()])]) };
            let run = begun(skill);
            assert!(listed(&run, "`t`: what it does is not known yet"), "{then:?}");
            assert!(!run.question().remember, "{then:?}");
        }
    }
    let check = guarded(cache([]), "test", "{{ cache }}");
    let run = begun(steps([check]));
    assert!(listed(&run, "`cache.check`: what it does is not known yet"));
    assert!(!run.question().remember);
}

#[test]
fn a_remembered_yes_is_bound_to_what_belongs_to_the_step() {
    let recall = |then: Step, set: &[(&str, &str)]| {
        let run = begun_with(steps([cache([then])]), set);
        assert!(run.question().remember);
        run.question().recall.clone().unwrap()
    };
    let deploy = |target: &str| program("t", "deploy", &[target]);
    let same = recall(deploy("stage"), &[]);
    assert_eq!(same, recall(deploy("{{ inputs.target }}"), &[]));
    assert_ne!(same, recall(deploy("production"), &[]));
    assert_ne!(recall(script(), &[]), recall(script(), &[("file.t.sh", "two")]));
    let on_branch = || when(deploy("stage"), "branch == 'main'");
    let elsewhere = recall(on_branch(), &[("branch", "other")]);
    assert_ne!(elsewhere, recall(on_branch(), &[("branch", "main")]));
}

#[test]
fn what_something_outside_leaves_out_is_asked_about_if_it_runs_after_all() {
    let then = when(script(), "branch == 'main'");
    let mut run = begun_with(steps([cache([then])]), &[("branch", "other")]);
    assert_eq!(shown(&run), ["value `condition` of `t`=`branch == 'main'` is false"]);
    run.names.set("branch", "main");
    run.answer("yes");
    run.exit(0);
    assert_eq!(run.tail(1), ["t ask gate"]);
}

#[test]
fn what_is_asked_about_by_itself_is_not_shown() {
    let asked = || gated(script(), confirm("and this?"));
    let around = |step: Step| Step { then: vec![script()], ..step };
    for then in [
        vec![asked()],
        vec![asking("ok", confirm("sure?")), script()],
        vec![around(gated(note("n"), confirm("sure?")))],
        vec![around(asking("ok", confirm("sure?")))],
    ] {
        assert_eq!(shown(&begun(steps([cache(then.clone())]))), [""; 0], "{then:?}");
    }
    // Nobody may be asked there, or nobody says yes.
    for then in [
        vec![when(asking("ok", confirm("sure?")), "branch == 'x'"), script()],
        vec![asking("ok", crate::build::input("Which?")), script()],
    ] {
        let run = begun_with(steps([cache(then)]), &[("branch", "main")]);
        assert!(shown(&run).contains(&"command of `t`=sh t.sh".to_owned()));
    }
}

#[test]
fn alone_the_step_starts_nothing_else() {
    let run = Run::only(steps([cache([script()])]), "cache");
    assert_eq!(shown(&run), [""; 0]);
}

fn rule(name: &str, repair: Step) -> HealRule {
    let when = HealMatch { codes: vec![3], ..HealMatch::default() };
    HealRule { name: name.to_owned(), when, repair, retries: 1, backoff: Default::default() }
}

/// A step with a gate and a rule that repairs it with this.
fn repaired(repair: Step) -> Skill {
    let failing = on_error(cache([]), OnError::AutoHeal);
    Skill { heal: vec![rule("h", repair)], ..steps([failing]) }
}

#[test]
fn a_repair_is_shown_and_part_of_what_is_remembered() {
    let recall = |arg: &str, contents: &str| {
        let skill = repaired(program("repair", "sh", &["t.sh", arg]));
        let run = begun_with(skill, &[("file.t.sh", contents)]);
        assert!(shown(&run).contains(&"command of the repair `h`=sh t.sh stage".to_owned()));
        assert!(run.question().remember);
        run.question().recall.clone()
    };
    let same = recall("stage", "one");
    assert_eq!(same, recall("{{ inputs.target }}", "one"));
    assert_ne!(same, recall("stage", "two"));
}

#[test]
fn a_repair_that_depends_on_the_failure_is_named_and_not_remembered() {
    for arg in ["{{ error }}", "{{ args }}", "{{ steps.cache.exit_code }}", "{{ now }}"] {
        for lenient in [false, true] {
            let skill = repaired(program("repair", "sh", &["t.sh", arg]));
            let run = begun(Skill { lenient: Some(lenient), ..skill });
            assert!(listed(&run, "repairs that depend on what fails: `h`"), "{arg}");
            assert!(!run.question().remember, "{arg}");
        }
    }
    // A rule for something else, and one that asks itself, are none of its business.
    let other = rule("h", script());
    let when = HealMatch { step: Some("other".to_owned()), ..other.when.clone() };
    let asks = rule("h", gated(script(), confirm("Repair?")));
    for rule in [HealRule { when, ..other }, asks] {
        let run = begun(Skill { heal: vec![rule], ..steps([cache([])]) });
        assert_eq!(shown(&run), [""; 0]);
        assert!(run.question().not_covered.is_empty());
    }
}

#[test]
fn a_repair_that_is_not_what_was_agreed_to_is_not_run() {
    for change in [false, true] {
        let mut run = begun(repaired(script()));
        run.answer("yes");
        if change {
            run.names.set("file.t.sh", "two");
        }
        run.exit(3);
        if !change {
            assert_eq!(run.tail(1), ["cache heal h"]);
            continue;
        }
        assert_eq!(run.tail(1), ["cache ask recover"]);
        let question = run.question();
        assert!(question.message.contains("The repair `h` is not what was agreed to"));
        assert_eq!(
            question.changed[0].line(),
            "file `t.sh` of the repair `h`: t.sh (sha256 one) -> t.sh (sha256 two)"
        );
        run.crash();
        run.attach();
        run.answer("skip");
        assert_eq!(run.tail(1), ["completed"]);
    }
}

#[test]
fn the_repair_of_a_step_that_belongs_to_it_is_compared_too() {
    let heal = vec![rule("h", program("repair", "sh", &["t.sh"]))];
    let skill = Skill { heal, ..steps([cache([command("t")]), command("later")]) };
    let mut run = begun(skill.clone());
    run.answer("yes");
    run.exit(0);
    run.names.set("file.t.sh", "two");
    run.exit(3);
    assert_eq!(run.tail(1), ["t ask recover"]);
    // Nobody agreed to a repair of another step.
    let mut run = begun(skill);
    run.answer("yes");
    run.exit(0);
    run.exit(0);
    run.names.set("file.t.sh", "two");
    run.exit(3);
    assert_eq!(run.tail(1), ["later heal h"]);
}

/// A question that was asked before Aye showed what belongs to a step is asked once more.
#[test]
fn an_older_question_does_not_cover_what_belongs_to_the_step() {
    let run = begun(steps([cache([script()])]));
    let question = run.question().clone();
    let mut events = run.events.clone();
    let own = |kind: &mut aye_core::event::EventKind| {
        if let aye_core::event::EventKind::ConfirmationRequired(question) = kind {
            question.facts.iter_mut().for_each(|facts| facts.retain(|fact| fact.step.is_none()));
            question.digest = "older".to_owned();
        }
    };
    own(&mut events.last_mut().unwrap().kind);
    let machine =
        Machine::restore(run.flow.clone(), Limits::default(), Secrets::default(), &events, None);
    let mut machine = machine.unwrap().under(1);
    let request = aye_core::input::Request::answer(question.id, answer_of("ann", "yes"));
    assert_eq!(machine.handle(aye_core::input::Input::Request(request), &run.world).refusal, None);
    let inspection = machine.inspection(&run.world).unwrap();
    assert_eq!(inspection.looks.len(), 2);
}
