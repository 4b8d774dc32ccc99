//! What a question shows and what it is bound to hold no secret, and no digest from which one
//! could be guessed.

use std::sync::Arc;

use aye_core::digest::digest;
use aye_core::event::EventKind;
use aye_core::facts::FactKind;
use aye_core::machine::Start;
use aye_core::secrets::Secrets;
use aye_core::skill::{Action, Ask, EndStatus, ForEach, OnError, Step};
use serde_json::json;

use crate::build::{
    Fakes, Run, asking, command, confirm, end, gated, input, on_error, program, start, state,
    states, step, steps, t,
};

fn shell(name: &str, script: &str) -> Step {
    step(name, Action::Shell { script: t(script) })
}

fn names(set: &[(&str, &str)]) -> Arc<Fakes> {
    let names = Fakes::default();
    set.iter().for_each(|(name, value)| names.set(&format!("env.{name}"), value));
    Arc::new(names)
}

fn secret(value: &str) -> Start {
    let mut secrets = Secrets::default();
    secrets.insert("token", value);
    let inputs = [("token".to_owned(), json!({ "$secret": true }))].into_iter().collect();
    Start { inputs, secrets, ..start() }
}

#[test]
fn a_variable_with_the_name_of_a_secret_is_masked_wherever_it_is_shown() {
    let line = "curl -u u:{{ env.MY_PASSWORD }} https://x";
    let words = ["-u", "u:{{ env.MY_PASSWORD }}"];
    let ask = Ask {
        details: Some(t("with {{ env.MY_PASSWORD }}")),
        ..confirm("As {{ env.MY_PASSWORD }}?")
    };
    for skill in [
        steps([gated(shell("a", line), ask.clone())]),
        steps([gated(program("a", "curl", &words), ask.clone())]),
        steps([asking("ok", ask), program("a", "curl", &words)]),
        steps([Step { description: Some("{{ env.MY_PASSWORD }}".to_owned()), ..shell("a", line) }]),
    ] {
        let mut run = Run::start_in(skill, start(), names(&[("MY_PASSWORD", "hunter42secret")]));
        if run.tail(1)[0].contains("ask") {
            assert!(run.question().follows.as_ref().unwrap().contains("***"));
            assert!(run.question().message.contains("with ***"));
            run.answer("yes");
        }
        assert_eq!(run.tail(1), ["a start"]);
        let journal = run.json();
        assert!(!journal.contains("hunter42"), "{journal}");
        // The program itself gets it.
        assert!(format!("{:?}", run.process()).contains("hunter42secret"));
    }
}

#[test]
fn what_is_changed_about_a_step_shows_no_variable_with_the_name_of_a_secret() {
    let a = on_error(program("a", "curl", &["u:{{ env.MY_PASSWORD }}"]), OnError::Ask);
    let skill = steps([gated(a, confirm("go?"))]);
    let mut run = Run::start_in(skill, start(), names(&[("MY_PASSWORD", "hunter42secret")]));
    run.answer("yes");
    run.exit(1);
    let given = run.machine.arguments("a", &run.world).unwrap();
    assert_eq!(given["1"], "u:***");
}

#[test]
fn the_name_of_a_skill_is_masked() {
    let action = Action::Skill {
        skill: t("x/{{ inputs.token }}.yaml"),
        inputs: Default::default(),
        span: Default::default(),
    };
    for gate in [false, true] {
        let plain = step("a", action.clone());
        let a = if gate { gated(plain, confirm("go?")) } else { plain };
        let mut run = Run::start_as(steps([a]), secret("Tr0ub4dor3xyzzy"));
        if gate {
            run.answer("yes");
        }
        assert_eq!(run.tail(1), ["a start"]);
        let journal = run.json();
        assert!(!journal.contains("Tr0ub4dor"), "{journal}");
        let started = run.events.iter().find_map(|event| match &event.kind {
            EventKind::StepStarted(started) => started.command.clone(),
            _ => None,
        });
        assert_eq!(started.as_deref(), Some("x/***.yaml"));
    }
}

/// Two secrets of the same name, or two values of a variable that stands as `***`, have the
/// same digests: nobody can try which one it was.
#[test]
fn no_digest_depends_on_what_is_masked() {
    let env = |name: &str, value: &str| Step {
        env: [(name.to_owned(), Some(t(value)))].into(),
        ..shell("a", "true")
    };
    let digests = |step: Step, value: &str| {
        // As an input the same value would be masked wherever it is.
        let as_input = format!("{step:?}").contains("inputs.token");
        let start = if as_input { secret(value) } else { start() };
        let ask = Ask { remember: true, ..confirm("go?") };
        let skill = steps([gated(step, ask)]);
        let run = Run::start_in(skill, start, names(&[("VAULT_TOKEN", value)]));
        let question = run.question();
        assert!(!run.json().contains(&format!("{value}\"")), "{}", run.json());
        let facts = question.facts.iter().flatten().map(|fact| fact.digest.clone());
        (facts.collect::<Vec<_>>(), question.digest.clone(), question.recall.clone())
    };
    for step in [
        env("PIN_TOKEN", "{{ env.VAULT_TOKEN }}"),
        env("PIN_TOKEN", "{{ inputs.token }}"),
        env("DATABASE_URL", "pg://u:{{ env.VAULT_TOKEN }}@h"),
        Step { stdin: Some(t("x {{ env.VAULT_TOKEN }} y")), ..shell("a", "true") },
        Step { cwd: Some(t("/{{ env.VAULT_TOKEN }}")), ..shell("a", "true") },
        shell("a", "login {{ env.VAULT_TOKEN }}"),
        shell("a", "login {{ inputs.token }}"),
    ] {
        assert_eq!(digests(step.clone(), "4711"), digests(step.clone(), "0815"), "{step:?}");
    }
}

#[test]
fn the_text_of_a_script_is_still_bound() {
    let facts = |script: &str| {
        let run = Run::start(steps([gated(shell("a", script), confirm("go?")), command("b")]));
        let facts = run.question().facts.clone().unwrap();
        facts.into_iter().find(|fact| fact.kind == FactKind::Command).unwrap()
    };
    assert_ne!(facts("true"), facts("false"));
    assert_eq!(facts("true").digest, Some(digest(&[b"sh", b"-c", b"true"])));
}

/// A step with a variable that its name hides.
fn hidden(value: &str) -> Step {
    Step { env: [("OBJECT_KEY".to_owned(), Some(t(value)))].into(), ..command("a") }
}

#[test]
fn what_only_its_name_hides_is_not_remembered() {
    for (value, known) in [
        ("{{ inputs.target }}", false),
        ("{{ inputs.target }}{{ inputs.token }}", false),
        ("{{ inputs.token | default(inputs.target) }}", false),
        ("{{ env.TARGET }}", false),
        ("stage", false),
        ("{{ inputs.token }}", true),
        ("{{ inputs.token | trim }}", true),
        ("{{ env.VAULT_TOKEN }}", true),
    ] {
        let ask = || Ask { remember: true, ..confirm("go?") };
        for skill in
            [steps([gated(hidden(value), ask())]), steps([asking("ok", ask()), hidden(value)])]
        {
            let mut start = secret("hunter2-hunter2");
            start.inputs.insert("target".to_owned(), json!("stage"));
            let set = [("VAULT_TOKEN", "tok-12345678"), ("TARGET", "stage")];
            let run = Run::start_in(skill, start, names(&set));
            let note =
                "the value of `OBJECT_KEY`: its name hides it, so the answer is not remembered";
            let question = run.question();
            assert_eq!(question.remember, known, "{value}");
            assert_eq!(question.not_covered.iter().any(|one| one == note), !known, "{value}");
            let shown = question.facts.iter().flatten().find(|fact| fact.kind == FactKind::Env);
            assert_eq!(shown.unwrap().value, "***", "{value}");
        }
    }
}

#[test]
fn what_only_its_name_hides_is_asked_about_again_when_an_earlier_step_gives_it_anew() {
    let fix = Step { output: Some(t("next")), ..command("fix") };
    let skill = states([
        state(fix, &[("success", "ask")]),
        state(asking("ask", confirm("go?")), &[("success", "a")]),
        state(hidden("{{ next }}"), &[("success", "done"), ("failure", "again")]),
        state(Step { output: Some(t("next")), ..command("again") }, &[("success", "a")]),
        end("done", EndStatus::Completed),
    ]);
    let mut run = Run::start(skill);
    run.exit_with(0, json!("stage"));
    run.answer("yes");
    assert_eq!(run.tail(1), ["a start"], "nothing has changed");
    run.exit(1);
    run.exit_with(0, json!("production"));
    assert_eq!(run.tail(1), ["a ask gate"]);
    let changed = run.question().changed[0].line();
    assert_eq!(
        changed,
        "env `OBJECT_KEY`: *** (of `fix` at start 1) -> *** (of `fix` at start 1, `again` at start 4)"
    );
}

#[test]
fn what_only_its_name_hides_is_compared_before_another_attempt() {
    for change in [false, true] {
        let a = on_error(hidden("{{ branch }}"), OnError::Ask);
        let names = names(&[]);
        names.set("branch", "stage");
        let mut run = Run::start_in(steps([gated(a, confirm("go?"))]), start(), names);
        run.answer("yes");
        run.exit(1);
        if change {
            run.names.set("branch", "production");
        }
        run.answer("retry");
        match change {
            false => assert_eq!(run.tail(1), ["a start 2"]),
            true => {
                assert_eq!(run.tail(1), ["a ask gate"]);
                let changed = run.question().changed[0].line();
                assert_eq!(changed, "env `OBJECT_KEY`: *** (another value) -> *** (as it is now)");
                run.answer("yes");
                assert_eq!(run.tail(1), ["a start 2"]);
            }
        }
    }
}

/// A step with an argument that it also puts into a variable with the name of a secret.
fn keyed(name: &str) -> Step {
    let env = [("OBJECT_KEY".to_owned(), Some(t("{{ inputs.target }}")))].into();
    Step { env, ..program(name, "deploy", &["{{ inputs.target }}"]) }
}

fn begun(skill: aye_core::skill::Skill, target: &str) -> Run {
    let inputs = [("target".to_owned(), json!(target))].into_iter().collect();
    Run::start_as(skill, Start { inputs, ..start() })
}

/// The name of a variable hides its value, and not what a question shows elsewhere: a skill
/// could hide any command like that.
#[test]
fn what_a_name_hides_is_shown_where_else_it_stands_and_nothing_is_asked_twice() {
    let retry = aye_core::skill::Retry { attempts: 3, ..Default::default() };
    let retried = Step { retry: Some(retry), ..keyed("a") };
    let mut run = begun(steps([gated(retried, confirm("To {{ inputs.target }}?"))]), "production");
    assert_eq!(run.question().message, "To production?");
    assert_eq!(run.question().follows.as_deref(), Some("deploy production"));
    let key = run.question().facts.iter().flatten().find(|fact| fact.kind == FactKind::Env);
    assert_eq!(key.unwrap().value, "***");
    run.answer("yes");
    // What is recorded of the step has it masked from its start on.
    let started = run.events.iter().find_map(|event| match &event.kind {
        EventKind::StepStarted(started) => started.command.clone(),
        _ => None,
    });
    assert_eq!(started.as_deref(), Some("deploy '***'"));
    run.exit(1);
    run.crash();
    run.attach();
    run.tick(60);
    assert_eq!(run.tail(1), ["a start 2"], "nothing has changed");
    run.exit(1);
    run.tick(120);
    assert_eq!(run.tail(1), ["a start 3"], "nothing has changed");
}

#[test]
fn an_answer_for_a_value_that_a_name_hides_is_not_given_for_another() {
    let ask = |message: &str| Ask { remember: true, ..confirm(message) };
    let later = program("b", "deploy", &["{{ inputs.target }}"]);
    for skill in [
        steps([gated(later.clone(), ask("go?")), keyed("a")]),
        steps([gated(command("b"), ask("To {{ inputs.target }}?")), keyed("a")]),
        steps([keyed("a"), gated(later.clone(), ask("go?"))]),
    ] {
        let recall = |target: &str| {
            let mut run = begun(skill.clone(), target);
            if run.tail(1) == ["a start"] {
                run.machine.mask_env(&run.process(), &run.world.clone());
                run.exit(0);
            }
            run.question().recall.clone().expect("it may be remembered")
        };
        assert_ne!(recall("production"), recall("stage-europe"), "{skill:?}");
        assert_eq!(recall("production"), recall("production"));
    }
}

#[test]
fn a_change_of_what_a_name_hides_elsewhere_is_shown_and_asked_about() {
    let fix = |name: &str| Step { output: Some(t("next")), ..command(name) };
    let env = [("OBJECT_KEY".to_owned(), Some(t("{{ next }}")))].into();
    let skill = states([
        state(fix("fix"), &[("success", "key")]),
        state(Step { env, ..command("key") }, &[("success", "ask")]),
        state(asking("ask", confirm("go?")), &[("success", "a")]),
        state(
            program("a", "deploy", &["{{ next }}"]),
            &[("success", "done"), ("failure", "again")],
        ),
        state(fix("again"), &[("success", "a")]),
        end("done", EndStatus::Completed),
    ]);
    let mut run = Run::start(skill);
    run.exit_with(0, json!("stage-europe"));
    run.machine.mask_env(&run.process(), &run.world.clone());
    run.exit(0);
    run.answer("yes");
    assert_eq!(run.tail(1), ["a start"], "nothing has changed");
    run.exit(1);
    run.exit_with(0, json!("production"));
    assert_eq!(run.tail(1), ["a ask gate"]);
    let changed: Vec<String> =
        run.question().changed.iter().map(aye_core::facts::Change::line).collect();
    assert_eq!(changed, ["command: deploy stage-europe -> deploy production"]);
}

/// What was shown of the outside is what runs, also where a name hides it elsewhere.
#[test]
fn a_variable_that_a_name_hides_elsewhere_is_as_it_was_shown() {
    let key = |value: &str| [("OBJECT_KEY".to_owned(), Some(t(value)))].into();
    for name in ["env.TARGET", "branch"] {
        let value = format!("{{{{ {name} }}}}");
        let step = program("a", "deploy", &[&value]);
        let skill = steps([gated(step, confirm("go?")), Step { env: key(&value), ..command("k") }]);
        let fakes = Fakes::default();
        fakes.set(name, "stage-europe");
        let mut run = Run::start_in(skill, start(), Arc::new(fakes));
        run.names.set(name, "production");
        run.answer("yes");
        assert_eq!(run.tail(1), ["a start"]);
        assert_eq!(run.process().argv, ["deploy", "stage-europe"]);
    }
}

/// `now` is the moment of the visit, for every attempt.
#[test]
fn a_gate_with_the_time_in_its_command_is_asked_once_for_all_attempts() {
    let retry = aye_core::skill::Retry { attempts: 3, ..Default::default() };
    let step = Step { retry: Some(retry), ..program("a", "deploy", &["{{ now }}"]) };
    let step = on_error(step, OnError::Ask);
    let mut run = Run::start(steps([gated(step, confirm("go?"))]));
    run.answer("yes");
    let first = run.process();
    for attempt in ["a start 2", "a start 3"] {
        run.sleep(5);
        run.exit(1);
        run.tick(60);
        assert_eq!(run.tail(1), [attempt]);
        assert_eq!(run.process().argv, first.argv);
    }
    // A person who has it tried again later means later.
    run.sleep(5);
    run.exit(1);
    run.sleep(60);
    run.answer("retry");
    assert_eq!(run.tail(1), ["a ask gate"]);
}

/// A variable of another name may be what a hidden one is made of: its value is in no journal.
#[test]
fn what_a_hidden_value_is_made_of_is_not_written_down() {
    let env = [("PGPASSWORD".to_owned(), Some(t("{{ env.DB_PASS }}")))].into();
    let step = Step { env, ..command("a") };
    for skill in [
        steps([gated(step.clone(), confirm("go?"))]),
        steps([asking("ok", confirm("go?")), step.clone()]),
    ] {
        let mut run = Run::start_in(skill, start(), names(&[("DB_PASS", "c0rrect-horse")]));
        run.answer("yes");
        assert_eq!(run.tail(1), ["a start"]);
        assert!(format!("{:?}", run.process()).contains("c0rrect-horse"));
        let journal = run.json();
        assert!(!journal.contains("c0rrect"), "{journal}");
    }
}

/// A step, or an item, may have the name of a secret answer and another value.
#[test]
fn a_name_that_a_secret_answer_has_too_hides_no_other_value() {
    let ask = Ask { secret: true, ..input("Token?") };
    let over = Step {
        output: Some(aye_core::span::Spanned::new("tok".to_owned(), Default::default())),
        ..command("over")
    };
    let key = [("API_KEY".to_owned(), Some(t("{{ tok }}")))].into();
    let gate = Ask { remember: true, ..confirm("Refresh?") };
    let go = gated(Step { env: key, ..command("go") }, gate);
    for replaced in [false, true] {
        let token = Step {
            output: Some(aye_core::span::Spanned::new("tok".to_owned(), Default::default())),
            ..asking("token", ask.clone())
        };
        let skill = match replaced {
            true => steps([token, over.clone(), go.clone()]),
            false => steps([token, go.clone()]),
        };
        let mut run = Run::start(skill);
        run.answer("hunter2-swordfish");
        if replaced {
            run.exit(0);
        }
        assert_eq!(run.tail(1), ["go ask gate"]);
        assert_eq!(run.question().remember, !replaced);
    }
}

/// An input with a secret in it is hidden as a whole, and with it what else it says.
#[test]
fn what_an_input_hides_beside_a_secret_is_not_remembered() {
    for (url, remembered) in [("https://{}@stage.example/", false), ("{}", true)] {
        let mut secrets = Secrets::default();
        secrets.insert("token", "hunter2-swordfish");
        let url = url.replace("{}", "hunter2-swordfish");
        let inputs = [("url".to_owned(), json!(url))].into_iter().collect();
        let gate = Ask { remember: true, ..confirm("Refresh?") };
        let skill = steps([gated(program("a", "deploy", &["{{ inputs.url }}"]), gate)]);
        let run = Run::start_as(skill, Start { inputs, secrets, ..start() });
        assert_eq!(run.question().remember, remembered, "{:?}", run.question());
        let why = "the value of `inputs.url`: a secret is a part of it, so the answer is not \
                   remembered";
        assert_eq!(run.question().not_covered.iter().any(|one| one == why), !remembered);
    }
}

/// A process that takes a run up has only the journal, which does not have such values.
#[test]
fn what_names_of_variables_hide_is_masked_in_the_next_process_too() {
    let ci = "tok-swordfish-99";
    let with = |name: &str, value: &str| Step {
        env: [("UP_TOKEN".to_owned(), Some(t(value)))].into(),
        ..command(name)
    };
    let each = Action::ForEach(Box::new(ForEach {
        items: json!(["one-", "two-"]),
        name: "item".to_owned(),
        body: vec![with("inside", "{{ item }}{{ env.CI }}")],
        label: None,
        parallel: 1,
        fail_fast: Some(true),
        span: Default::default(),
    }));
    let values = [
        (with("a", "{{ env.CI }}"), ci.to_owned()),
        (with("a", "{{ inputs.target }}"), "production".to_owned()),
        (step("a", each), format!("two-{ci}")),
    ];
    for (first, value) in values {
        let last = gated(program("b", "echo", &["{{ env.REMOTE }}"]), confirm("push?"));
        let last = Step { description: Some("to {{ env.REMOTE }}".to_owned()), ..last };
        let inputs = [("target".to_owned(), json!("production"))].into_iter().collect();
        let remote = format!("https://{value}@host/");
        let set = names(&[("CI", ci), ("REMOTE", &remote)]);
        let mut run = Run::start_in(steps([first, last]), Start { inputs, ..start() }, set);
        run.exit_with(0, json!(["done"]));
        run.crash_knowing(Secrets::default());
        assert_eq!(run.machine.secrets().mask(&remote), "https://***@host/");
        run.attach();
        run.answer("yes");
        assert_eq!(run.tail(1), ["b start"], "nothing has changed");
    }
}

/// What a question shows may happen to hold the same text as a password.
#[test]
fn a_hidden_variable_that_looks_like_something_shown_is_not_written_down() {
    let env = [("DB_PASSWORD".to_owned(), Some(t("{{ env.DB_PASS }}")))].into();
    let a = Step { env, ..program("a", "psql", &["-U", "postgres"]) };
    for skill in [
        steps([gated(a.clone(), confirm("deploy?"))]),
        steps([asking("ok", confirm("postgres?")), a.clone()]),
    ] {
        let run = Run::start_in(skill, start(), names(&[("DB_PASS", "postgres")]));
        assert!(run.question().outside.is_empty(), "{:?}", run.question().outside);
    }
}

/// A value of which a secret is only a part is hidden as a whole, whatever name it gets.
#[test]
fn what_is_hidden_beside_a_secret_is_not_remembered_under_another_name() {
    let gate = || Ask { remember: true, ..confirm("Deploy?") };
    let made =
        Action::Compute { code: t("result = inputs.url"), python: false, reads_files: false };
    let each = |items: serde_json::Value| {
        Action::ForEach(Box::new(ForEach {
            items,
            name: "item".to_owned(),
            body: vec![program("inside", "deploy", &["{{ item }}"])],
            label: None,
            parallel: 1,
            fail_fast: None,
            span: Default::default(),
        }))
    };
    let call = Action::Skill {
        skill: t("kid.yaml"),
        inputs: [("to".to_owned(), json!("{{ mk }}"))].into_iter().collect(),
        span: Default::default(),
    };
    let last = [
        program("a", "deploy", &["{{ mk }}"]),
        Step { stdin: Some(t("{{ mk }}")), ..command("a") },
        Step { env: [("API_KEY".to_owned(), Some(t("{{ mk }}")))].into(), ..command("a") },
        step("a", each(json!(["{{ mk }}"]))),
        step("a", call),
    ];
    for last in last {
        for (url, remembered) in [("https://{}@stage.example/", false), ("{}", true)] {
            // The value of a variable that its name hides is asked about in any case.
            let remembered = remembered && last.env.is_empty();
            let skill = steps([step("mk", made.clone()), gated(last.clone(), gate())]);
            let url = url.replace("{}", "hunter2-swordfish");
            let mut start = secret("hunter2-swordfish");
            start.inputs.insert("url".to_owned(), json!(url));
            let mut run = Run::start_as(skill, start);
            run.exit_with(0, json!(url));
            assert_eq!(run.question().remember, remembered, "{:?}", run.question());
            assert!(!run.json().contains("stage.example"), "{}", run.json());
        }
    }
}

/// The same in a run that gets it as an input.
#[test]
fn what_is_hidden_beside_a_secret_is_known_in_the_runs_inside() {
    let mut around = Secrets::default();
    around.insert("token", "hunter2-swordfish");
    around.keep_input("url", json!("https://hunter2-swordfish@stage.example/"));
    let mut secrets = Secrets::default();
    secrets.mask_also(&around);
    let url = json!("https://hunter2-swordfish@stage.example/");
    let inputs = [("to".to_owned(), url)].into_iter().collect();
    let gate = Ask { remember: true, ..confirm("Deploy?") };
    let skill = steps([gated(program("a", "deploy", &["{{ inputs.to }}"]), gate)]);
    let run = Run::start_as(skill, Start { inputs, secrets, ..start() });
    assert!(!run.question().remember, "{:?}", run.question());
}

#[test]
fn a_fact_about_a_secret_input_shows_stars() {
    let made = |code: &str| Action::Compute { code: t(code), python: false, reads_files: false };
    let skill = steps([gated(step("a", made("result = len(inputs.token)")), confirm("go?"))]);
    let run = Run::start_as(skill, secret("hunter2-swordfish"));
    let facts = run.question().facts.clone().unwrap();
    let token = facts.iter().find(|fact| fact.name.as_deref() == Some("inputs.token")).unwrap();
    assert_eq!(token.value, "***");
}
