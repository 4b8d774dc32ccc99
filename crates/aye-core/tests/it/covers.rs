//! A yes covers what was looked at when it was asked for: each way in which it
//! can become something else before the step starts.

use aye_core::effect::Effect;
use aye_core::error_code::ErrorCode;
use aye_core::event::{Event, EventKind};
use aye_core::facts::{Fact, FactKind, Inspected};
use aye_core::input::Input;
use aye_core::journal::Phase;
use aye_core::machine::{Limits, Machine, Refusal, Start};
use aye_core::question::{Answer, AnswerScope, Channel, Edits};
use aye_core::secrets::Secrets;
use aye_core::skill::{Action, Ask, EndStatus, ForEach, OnError, Retry, RetryOn, Skill, Step};
use serde_json::{Value, json};

use crate::build::{
    Run, answer_of, asking, choose, command, confirm, end, gated, note, on_error, program, start,
    state, states, step, steps, t, when,
};

fn script() -> Step {
    program("a", "sh", &["deploy.sh"])
}

/// What was changed, and from what to what.
fn changed(run: &Run) -> Vec<String> {
    let told = |text: &Option<String>| text.clone().unwrap_or_default();
    let changes = run.question().changed.iter();
    changes
        .map(|one| format!("{}: {} -> {}", one.what, told(&one.before), told(&one.after)))
        .collect()
}

/// A run whose script is there.
fn begun(skill: Skill) -> Run {
    let names = std::sync::Arc::new(crate::build::Fakes::default());
    names.set("file.deploy.sh", "one");
    Run::start_in(skill, start(), names)
}

#[test]
fn the_question_holds_what_decides() {
    let env = [("T".to_owned(), Some(t("stage")))].into();
    let step = Step { env, stdin: Some(t("drop database")), cwd: Some(t("/srv")), ..script() };
    let run = begun(steps([gated(step, confirm("Refresh the cache?"))]));
    let facts = run.question().facts.clone().unwrap();
    let told: Vec<String> =
        facts.iter().map(|fact| format!("{}={}", fact.label(), fact.value)).collect();
    assert_eq!(
        told,
        [
            "machine=box",
            "command=sh deploy.sh",
            "env `T`=stage",
            "stdin=drop database",
            "program `sh`=sh",
            "file `deploy.sh`=deploy.sh",
            "directory=/srv",
        ]
    );
}

#[test]
fn a_changed_script_is_asked_about_again_with_the_difference() {
    let mut run = begun(steps([gated(script(), confirm("go?"))]));
    run.names.set("file.deploy.sh", "two");
    run.answer("yes");
    assert_eq!(run.tail(2), ["ann says yes (terminal)", "a ask gate"]);
    assert_eq!(
        changed(&run),
        ["file `deploy.sh`: deploy.sh (sha256 one) -> deploy.sh (sha256 two)"]
    );
    run.answer("yes");
    assert_eq!(run.tail(1), ["a start"]);
}

#[test]
fn it_is_looked_at_after_a_crash_and_after_an_answer_while_nobody_drove_the_run() {
    for answer_first in [true, false] {
        let mut run = begun(steps([gated(script(), confirm("go?"))]));
        if answer_first {
            // The answer is written down, and Aye dies before it looks.
            let question = run.question().id.clone();
            let answer = answer_of("ann", "yes");
            let request = aye_core::input::Request::answer(question, answer);
            run.tell(Input::Request(request)).unwrap();
            assert_eq!(run.machine.next_effect(), Effect::Inspect);
            run.crash();
        } else {
            run.crash();
            run.answer("yes");
        }
        assert_eq!(run.tail(1), ["ann says yes (terminal)"]);
        run.names.set("link./w", "/elsewhere");
        run.attach();
        assert_eq!(run.tail(1), ["a ask gate"]);
        assert_eq!(changed(&run), ["directory: /w -> /elsewhere"]);
    }
}

#[test]
fn another_machine_is_asked_about_again() {
    let mut run = begun(steps([gated(script(), confirm("go?"))]));
    run.crash();
    run.answer("yes");
    let driver =
        aye_core::event::Driver { host: "other".to_owned(), ..crate::build::driver("bob") };
    run.send(Input::Attach(aye_core::input::Attach { driver, epoch: 0 })).unwrap();
    assert_eq!(run.tail(1), ["a ask gate"]);
    assert_eq!(changed(&run), ["machine: box -> other"]);
}

#[test]
fn what_keeps_changing_fails_the_step_and_is_named() {
    let mut run = begun(steps([gated(script(), confirm("go?"))]));
    for n in 0..4 {
        assert_eq!(run.tail(1), ["a ask gate"], "{n}");
        run.names.set("file.deploy.sh", &format!("version {n}"));
        run.answer("yes");
    }
    assert_eq!(run.tail(2), ["a failure", "failed step_failed"]);
    let record = &run.machine.state().steps["a"];
    assert_eq!(record.code, Some(ErrorCode::Changed));
    let message = record.message.as_deref().unwrap();
    assert!(message.contains("keeps changing: file `deploy.sh`"), "{message}");
}

#[test]
fn no_error_rule_passes_over_what_keeps_changing() {
    let step = on_error(script(), OnError::Continue);
    let mut run = begun(steps([gated(step, confirm("go?")), command("b")]));
    for n in 0..4 {
        run.names.set("file.deploy.sh", &format!("version {n}"));
        run.answer("yes");
    }
    assert_eq!(run.tail(1), ["failed step_failed"]);
}

#[test]
fn a_retry_runs_what_was_agreed_to() {
    let mut run = begun(steps([gated(on_error(script(), OnError::Ask), confirm("go?"))]));
    run.answer("yes");
    run.exit(1);
    run.answer("retry");
    assert_eq!(run.tail(1), ["a start 2"], "nothing has changed");
    run.exit(1);
    // What healed it, or anybody else, wrote to the script.
    run.names.set("file.deploy.sh", "healed");
    run.answer("retry");
    assert_eq!(run.tail(1), ["a ask gate"]);
    run.answer("yes");
    assert_eq!(run.tail(1), ["a start 3"]);
}

/// Someone gives the step another script after it has failed.
fn edit(run: &mut Run) {
    let set = json!({ "1": "other.sh" }).as_object().unwrap().clone();
    let edits = Some(Edits { set, ..Edits::default() });
    run.say(Answer { edits, ..answer_of("ann", "edit") }).unwrap();
}

#[test]
fn what_was_edited_is_compared_before_the_skill_tries_it_again() {
    let on = RetryOn { failure: false, timeout: false, codes: vec![75] };
    let retry = Some(Retry {
        attempts: 5,
        backoff: std::time::Duration::ZERO,
        factor: 1.0,
        max: std::time::Duration::ZERO,
        jitter: false,
        on,
    });
    for name in ["env.TARGET", "branch", "link./w"] {
        let env = [("T".to_owned(), Some(t("{{ env.TARGET }}")))].into();
        let stdin = Some(t("use {{ branch }}"));
        let step = Step { env, stdin, retry: retry.clone(), ..script() };
        let skill = steps([gated(on_error(step, OnError::Ask), confirm("go?"))]);
        let names = std::sync::Arc::new(crate::build::Fakes::default());
        names.set("env.TARGET", "stage");
        names.set("branch", "stage");
        let mut run = Run::start_in(skill, start(), names);
        run.answer("yes");
        run.exit(1);
        edit(&mut run);
        assert_eq!(run.tail(1), ["a ask gate"], "nobody has agreed to the other script");
        run.answer("yes");
        assert_eq!(run.tail(1), ["a start 2"]);
        run.exit(75);
        assert_eq!(run.tail(1), ["a start 3"], "nothing has changed");
        let agreed = run.process();
        run.names.set(name, "/production");
        run.exit(75);
        if name == "link./w" {
            assert_eq!(run.tail(1), ["a ask gate"]);
            assert_eq!(changed(&run), ["directory: /w -> /production"]);
            continue;
        }
        // It runs with what was shown.
        assert_eq!(run.tail(1), ["a start 4"]);
        assert_eq!(run.process(), agreed);
    }
}

#[test]
fn an_edit_is_a_yes_to_the_edit_alone() {
    for moved in [false, true] {
        let step = on_error(when(script(), "ok == 'yes'"), OnError::Ask);
        let mut run = begun(steps([asking("ok", confirm("go?")), step]));
        run.answer("yes");
        run.exit(1);
        if moved {
            run.names.set("link./w", "/elsewhere");
        }
        edit(&mut run);
        match moved {
            false => assert_eq!(run.tail(1), ["a start 2"]),
            true => {
                assert_eq!(run.tail(1), ["a ask gate"]);
                assert_eq!(changed(&run), ["directory: /w -> /elsewhere"]);
            }
        }
    }
}

#[test]
fn a_question_covers_every_step_that_uses_its_answer() {
    let skill =
        steps([asking("ok", confirm("go?")), command("between"), when(script(), "ok == 'yes'")]);
    for change in [false, true] {
        let mut run = begun(skill.clone());
        run.answer("yes");
        assert_eq!(run.tail(1), ["between start"]);
        if change {
            run.names.set("file.deploy.sh", "two");
        }
        run.exit(0);
        if change {
            assert_eq!(run.tail(1), ["a ask gate"]);
            let message = &run.question().message;
            assert!(message.contains("not what was agreed to at `ok`"), "{message}");
            run.names.set("file.deploy.sh", "three");
            run.answer("proceed");
            assert_eq!(run.tail(1), ["a ask gate"], "asked about `two`");
            run.answer("proceed");
        }
        assert_eq!(run.tail(1), ["a start"]);
    }
}

/// `ask`, then `a` and `fix` in turns until `a` succeeds.
fn in_turns(a: Step) -> Skill {
    states([
        state(asking("ask", confirm("go?")), &[("success", "a"), ("declined", "stop")]),
        state(a, &[("success", "done"), ("failure", "fix"), ("7", "ask")]),
        state(command("fix"), &[("success", "a")]),
        end("done", EndStatus::Completed),
        end("stop", EndStatus::Cancelled),
    ])
}

#[test]
fn every_visit_is_compared_with_what_was_agreed_to() {
    let mut run = begun(in_turns(script()));
    run.answer("yes");
    run.exit(1);
    run.exit(0);
    assert_eq!(run.tail(1), ["a start"], "nothing has changed");
    run.exit(1);
    run.names.set("file.deploy.sh", "fixed");
    run.exit(0);
    assert_eq!(run.tail(1), ["a ask gate"]);
    assert_eq!(
        changed(&run),
        ["file `deploy.sh`: deploy.sh (sha256 one) -> deploy.sh (sha256 fixed)"]
    );
    assert!(run.question().message.contains("not what was agreed to at `ask`"));
    run.crash();
    run.attach();
    run.answer("proceed");
    assert_eq!(run.tail(1), ["a start"]);
    // Agreed to as it is now, that is what the next visit is compared with.
    run.exit(1);
    run.exit(0);
    assert_eq!(run.tail(1), ["a start"]);
    run.exit(1);
    run.names.set("file.deploy.sh", "one");
    run.exit(0);
    assert_eq!(run.tail(1), ["a ask gate"]);
}

#[test]
fn another_yes_to_the_same_question_takes_the_place_of_the_first() {
    let mut run = begun(in_turns(script()));
    run.answer("yes");
    run.exit(7);
    assert_eq!(run.tail(1), ["ask ask ask"]);
    run.names.set("file.deploy.sh", "two");
    run.answer("yes");
    assert_eq!(run.tail(1), ["ask ask ask"], "asked about `one`");
    run.answer("yes");
    assert_eq!(run.tail(1), ["a start"]);
    run.exit(1);
    run.exit(0);
    assert_eq!(run.tail(1), ["a start"], "`two` was agreed to");
}

#[test]
fn a_later_visit_sees_the_outside_as_it_was_shown() {
    let names = std::sync::Arc::new(crate::build::Fakes::default());
    names.set("branch", "stage");
    let a = program("a", "deploy", &["{{ branch }}"]);
    let mut run = Run::start_in(in_turns(a), start(), names);
    run.answer("yes");
    run.exit(1);
    run.names.set("branch", "production");
    run.exit(0);
    assert_eq!(run.tail(1), ["a start"]);
    assert_eq!(run.process().argv, ["deploy", "stage"]);
}

#[test]
fn a_question_covers_what_belongs_to_a_step_that_uses_its_answer() {
    let noted = Step { then: vec![script()], ..when(note("b"), "ok == 'yes'") };
    let own = Step { then: vec![command("between"), script()], ..asking("ok", confirm("go?")) };
    for skill in [steps([asking("ok", confirm("go?")), command("between"), noted]), steps([own])] {
        let mut run = begun(skill);
        run.answer("yes");
        assert_eq!(run.tail(1), ["between start"]);
        run.names.set("file.deploy.sh", "two");
        run.exit(0);
        assert_eq!(run.tail(1), ["a ask gate"]);
    }
}

#[test]
fn what_a_copy_of_the_answer_decides_is_not_covered_and_that_is_said() {
    let ask = Ask { remember: true, ..confirm("go?") };
    let copy = step(
        "copy",
        Action::Compute {
            code: "result = ok".to_owned().into(),
            python: false,
            reads_files: false,
        },
    );
    let run = begun(steps([asking("ok", ask), copy, when(script(), "copy == 'yes'")]));
    assert!(!run.question().remember);
    assert_eq!(run.question().not_covered, ["`a`: what it does is not known yet"]);
}

#[test]
fn the_one_who_had_to_agree_has_to_agree_again() {
    let ask = Ask { by: aye_core::skill::By::Human, ..confirm("go?") };
    let mut run =
        begun(steps([asking("ok", ask), command("between"), when(script(), "ok == 'yes'")]));
    run.answer("yes");
    run.names.set("file.deploy.sh", "two");
    run.exit(0);
    let relayed = Answer { prompter: Channel::Assistant, ..answer_of("bot", "proceed") };
    assert!(matches!(run.say(relayed), Err(Refusal::NotAllowed(_))));
}

#[test]
fn each_answer_is_for_the_steps_it_leads_to() {
    let skill = steps([
        asking("where", choose("Where?", &["stage", "production"])),
        program("a", "deploy", &["{{ where }}"]),
    ]);
    let mut run = begun(skill);
    let facts = run.question().facts.clone().unwrap();
    let commands = facts.iter().filter(|fact| fact.kind == FactKind::Command);
    let commands: Vec<_> =
        commands.map(|fact| (fact.answer.as_deref(), fact.value.as_str())).collect();
    let expected = [(Some("stage"), "deploy stage"), (Some("production"), "deploy production")];
    assert_eq!(commands, expected);
    run.names.set("file.deploy", "another program");
    run.answer("stage");
    assert_eq!(run.tail(1), ["where ask ask"]);
}

#[test]
fn what_cannot_be_told_yet_is_said_and_not_remembered() {
    let remember = || Ask { remember: true, ..confirm("go?") };
    let known = steps([asking("ok", remember()), when(script(), "ok == 'yes'")]);
    assert!(begun(known).question().remember);
    let later = steps([
        asking("ok", remember()),
        command("build"),
        when(program("a", "deploy", &["{{ build }}"]), "ok == 'yes'"),
    ]);
    let run = begun(later);
    assert!(!run.question().remember);
    assert_eq!(run.question().not_covered, ["`a`: what it does is not known yet"]);
}

#[test]
fn what_destroys_something_later_is_not_remembered() {
    let ask = Ask { remember: true, ..confirm("go?") };
    let drop = Step { destructive: true, ..when(script(), "ok == 'yes'") };
    let run = begun(steps([asking("ok", ask), command("between"), drop]));
    assert!(!run.question().remember);
}

#[test]
fn values_that_a_block_or_a_loop_reads_are_covered() {
    let block = Action::Compute {
        code: t("result = inputs['target'] + build"),
        python: false,
        reads_files: false,
    };
    let each = Action::ForEach(Box::new(ForEach {
        label: None,
        items: json!(["a", "{{ inputs.target }}"]),
        name: "item".to_owned(),
        body: vec![command("inner")],
        parallel: 1,
        fail_fast: None,
        span: Default::default(),
    }));
    for (action, expected) in [
        (block, vec!["code", "value `inputs.target`"]),
        (each, vec!["items", "code", "value `inputs.target`"]),
    ] {
        let skill = steps([gated(step("a", action), confirm("go?"))]);
        let start = Start {
            inputs: [("target".to_owned(), json!("stage"))].into_iter().collect(),
            ..start()
        };
        let run = Run::start_as(skill, start);
        let facts = run.question().facts.clone().unwrap();
        let labels: Vec<String> = facts.iter().skip(1).map(Fact::label).collect();
        assert_eq!(labels, expected);
        assert!(facts.iter().any(|fact| fact.value.contains("stage")), "{facts:?}");
    }
}

#[test]
fn a_yes_in_advance_looks_at_nothing() {
    let run = Run::yes(steps([gated(script(), confirm("go?"))]));
    assert_eq!(run.tail(1), ["a start"]);
    let inspected = |event: &Event| match &event.kind {
        EventKind::ConfirmationRequired(question) => question.facts.is_some(),
        _ => false,
    };
    assert!(!run.events.iter().any(inspected));
}

#[test]
fn a_step_without_a_gate_is_not_looked_at() {
    let mut run = Run::start(steps([command("a"), command("b")]));
    assert_eq!(run.machine.inspection(&run.world), None);
    run.exit(0);
    assert_eq!(run.machine.next_effect(), Effect::Run { execution: 2 });
}

#[test]
fn what_changes_while_it_is_looked_at_is_asked_about_and_not_waited_for() {
    let names = std::sync::Arc::new(crate::build::Fakes::default());
    names.set("branch", "one");
    let mut run = Run::start_in(
        steps([command("first"), gated(program("a", "deploy", &["{{ branch }}"]), confirm("go?"))]),
        start(),
        names,
    );
    let end = aye_core::input::End::Exited { value: Value::Null, parsed: None };
    run.tell(Input::Finished(aye_core::input::Finished::bare(1, end, None))).unwrap();
    let inspection = run.machine.inspection(&run.world).unwrap();
    run.names.set("branch", "two");
    let inspected = Inspected { inspection, facts: vec![Vec::new()] };
    run.tell(Input::Inspected(Box::new(inspected))).unwrap();
    assert_eq!(run.tail(1), ["a ask gate"]);
    run.answer("yes");
    assert_eq!(run.tail(1), ["a ask gate"], "nobody has seen what `deploy two` is");
    run.answer("yes");
    assert_eq!(run.tail(1), ["a start"]);
    assert_eq!(run.process().argv, ["deploy", "two"]);
}

#[test]
fn nothing_is_taken_that_was_not_asked_for() {
    let mut run = begun(steps([gated(script(), confirm("go?"))]));
    let inspection = aye_core::facts::Inspection { at: run.world.now, looks: Vec::new() };
    let inspected = || {
        let inspection = inspection.clone();
        Input::Inspected(Box::new(Inspected { inspection, facts: Vec::new() }))
    };
    assert_eq!(run.tell(inspected()), Err(Refusal::NothingToInspect));
    run.answer("yes");
    assert_eq!(run.tell(inspected()), Err(Refusal::NothingToInspect));
    run.exit(0);
    assert_eq!(run.tell(inspected()), Err(Refusal::Ended));
}

#[test]
fn secrets_are_not_in_the_facts() {
    let names = std::sync::Arc::new(crate::build::Fakes::default());
    names.set("env.API_TOKEN", "tok-12345678");
    let env = [("DB_PASSWORD".to_owned(), Some(t("written-down")))].into();
    let stdin = Some(t("{{ inputs.key }} {{ env.API_TOKEN }}"));
    let mut secrets = Secrets::default();
    secrets.insert("key", "hunter2-hunter2");
    let start = Start {
        inputs: [("key".to_owned(), json!("hunter2-hunter2"))].into_iter().collect(),
        secrets,
        ..start()
    };
    let step = Step { env, stdin, ..script() };
    let run = Run::start_in(steps([gated(step, confirm("go?"))]), start, names);
    let journal = run.json();
    for secret in ["hunter2", "tok-12345678", "written-down"] {
        assert!(!journal.contains(secret), "{secret} in {journal}");
    }
    let listed = "the values of secrets, which are shown as ***";
    assert!(run.question().not_covered.iter().any(|note| note == listed));
}

#[test]
fn nobody_is_asked_about_a_skill_that_cannot_be_loaded() {
    let action = Action::Skill {
        skill: t("{{ env.WHICH }}.yaml"),
        inputs: Default::default(),
        span: Default::default(),
    };
    let names = || {
        let names = std::sync::Arc::new(crate::build::Fakes::default());
        names.set("env.WHICH", "one");
        names
    };
    let gate = || steps([gated(step("a", action.clone()), confirm("go?"))]);
    let missing = names();
    missing.set("file.one.yaml", "missing");
    let run = Run::start_in(gate(), start(), missing);
    assert_eq!(run.tail(2), ["a failure", "failed step_failed"]);
    let message = run.machine.state().steps["a"].message.clone().unwrap();
    assert!(message.contains("there is no skill `one.yaml`"), "{message}");
    // One that is gone when someone has agreed is not run either.
    let mut run = Run::start_in(gate(), start(), names());
    run.names.set("file.one.yaml", "missing");
    run.answer("yes");
    assert_eq!(run.tail(2), ["a failure", "failed step_failed"]);
    // What was shown runs, whatever the variable says meanwhile.
    let mut run = Run::start_in(gate(), start(), names());
    run.names.set("env.WHICH", "two");
    run.answer("yes");
    assert_eq!(run.tail(1), ["a start"]);
    let record = &run.machine.state().steps["a"];
    assert_eq!(record.command.as_deref(), Some("one.yaml"));
}

/// The journal as a version before facts wrote it.
fn without_facts(events: &[Event]) -> Vec<Event> {
    let old = |event: &Event| {
        let mut json = serde_json::to_value(event).unwrap();
        for field in ["facts", "outside", "not_covered"] {
            json.as_object_mut().unwrap().remove(field);
        }
        serde_json::from_value(json).unwrap()
    };
    events.iter().map(old).collect()
}

#[test]
fn a_question_of_an_older_version_goes_by_the_older_rule() {
    for change in [false, true] {
        let names = std::sync::Arc::new(crate::build::Fakes::default());
        names.set("branch", "one");
        let gate = gated(program("a", "deploy", &["{{ branch }}"]), confirm("go?"));
        let run = Run::start_in(steps([gate]), start(), names);
        let question = run.question().clone();
        let mut events = without_facts(&run.events);
        // The digest of that version: what is asked, and the words of the command.
        let asked = json!({
            "step": question.step, "title": question.title, "message": question.message,
            "options": question.options, "typed": question.typed,
        });
        let parts = [asked.to_string(), "deploy".to_owned(), "one".to_owned()];
        let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
        if let EventKind::ConfirmationRequired(question) = &mut events.last_mut().unwrap().kind {
            question.digest = aye_core::digest::digest(&parts);
        }
        if change {
            run.names.set("branch", "two");
        }
        let flow = run.flow.clone();
        let machine =
            Machine::restore(flow, Limits::default(), Secrets::default(), &events, None).unwrap();
        let mut machine = machine.under(1);
        let request = aye_core::input::Request::answer(question.id, answer_of("ann", "yes"));
        let reaction = machine.handle(Input::Request(request), &run.world);
        assert_eq!(reaction.refusal, None);
        match (&machine.state().phase, change) {
            (Phase::Running { .. }, false) => {}
            (Phase::Asking { question, .. }, true) => {
                assert_eq!(question.follows.as_deref(), Some("deploy two"));
            }
            (phase, _) => panic!("{phase:?}"),
        }
    }
}

/// Answers that neither proceed nor end the run lead to something that nobody is shown.
#[test]
fn an_answer_that_leads_elsewhere_is_not_remembered() {
    let ask = || Ask { remember: true, ..confirm("go?") };
    let wipe = program("wipe", "wipe", &["{{ inputs.target }}"]);
    let skill = states([
        state(asking("ask", ask()), &[("success", "done"), ("declined", "wipe")]),
        state(wipe.clone(), &[("success", "done")]),
        end("done", EndStatus::Completed),
    ]);
    let run = begun(skill);
    assert_eq!(run.question().not_remembered, ["no"]);
    assert!(run.question().recalls("yes") && !run.question().recalls("no"));
    assert!(run.question().remember_obstacle("no", AnswerScope::Step).is_some());
    let skill = states([
        state(gated(command("a"), ask()), &[("success", "done"), ("declined", "wipe")]),
        state(wipe, &[("success", "done")]),
        end("done", EndStatus::Completed),
    ]);
    assert!(begun(skill).question().not_remembered.contains(&"no".to_owned()));
    // One that ends the run may be.
    let run = begun(steps([asking("ok", ask()), command("a")]));
    assert_eq!(run.question().not_remembered, ["skip"]);
    // Also one that was remembered before is not given.
    let mut run = begun(steps([asking("ok", ask()), command("a")]));
    let recalled = |value: &str| Answer {
        prompter: Channel::Memory,
        recalled: Some("pref-1".to_owned()),
        ..answer_of("ann", value)
    };
    assert!(matches!(run.say(recalled("skip")), Err(Refusal::NotAllowed(_))));
    run.say(recalled("no")).unwrap();
    assert_eq!(run.tail(1), ["cancelled declined"]);
}

/// What it leads to is in the run around it, which is another one each time.
#[test]
fn an_answer_inside_another_run_is_not_remembered() {
    let parent = aye_core::nested::Parent {
        run: "abcdefgh12".to_owned().try_into().unwrap(),
        step: "check".to_owned(),
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
    let inside = |skill| Run::start_as(skill, Start { parent: Some(parent.clone()), ..start() });
    let ask = || Ask { remember: true, ..confirm("go?") };
    let run = inside(steps([asking("ok", ask())]));
    assert!(!run.question().remember);
    let note = "what comes after `check`, which asks this".to_owned();
    assert!(run.question().not_covered.contains(&note));
    // A gate is about its own step.
    let run = inside(steps([gated(command("a"), ask())]));
    assert!(run.question().remember && run.question().not_covered.is_empty());
}

/// A step that asks nothing of a directory acts in the one of the run all the same.
#[test]
fn a_remembered_answer_is_for_one_directory() {
    let called =
        Action::Skill { skill: t("sub"), inputs: Default::default(), span: Default::default() };
    let ask = Ask { remember: true, ..confirm("go?") };
    let recall = |workspace: &str| {
        let skill = steps([gated(step("a", called.clone()), ask.clone())]);
        let run = Run::start_as(skill, Start { workspace: workspace.to_owned(), ..start() });
        run.question().recall.clone()
    };
    assert!(recall("/w/stage").is_some());
    assert_ne!(recall("/w/stage"), recall("/w/production"));
}
