//! Secrets reach the command and nothing else.

use aye_core::error_code::ErrorCode;
use aye_core::event::ProcessRecord;
use aye_core::id::QuestionId;
use aye_core::input::{End, Input, Request};
use aye_core::machine::{Refusal, Start};
use aye_core::question::Answer;
use aye_core::secrets::Secrets;
use aye_core::skill::{Action, Ask, OnError, OutputSpec, Step};
use serde_json::{Value, json};

use crate::build::{
    Run, answer_of, asking, choice, command, confirm, expiring, gated, input, on_error, program,
    start, steps, t,
};

const SECRET: &str = "hunter2'quoted";

/// A run with the secret input `token`.
fn run_with(secret: &str, steps_: Vec<Step>) -> Run {
    let mut secrets = Secrets::default();
    secrets.insert("token", secret);
    let inputs = [("token".to_owned(), json!(secret)), ("user".to_owned(), json!("ann"))].into();
    Run::start_as(steps(steps_), Start { inputs, secrets, ..start() })
}

fn silent(run: &Run, secret: &str) {
    let journal = run.json();
    assert!(!journal.contains(secret), "{journal}");
    assert!(!format!("{:?}", run.machine.secrets()).contains(secret));
}

#[test]
fn a_secret_reaches_the_command_and_not_the_journal() {
    let step = Step {
        env: [("TOKEN".to_owned(), Some(t("{{ inputs.token }}")))].into(),
        stdin: Some(t("{{ inputs.token }}\n")),
        cwd: Some(t("/{{ inputs.token }}")),
        ..program(
            "a",
            "curl",
            &["-u", "{{ inputs.user }}:{{ inputs.token }}", "{{ inputs.token }}"],
        )
    };
    let ask = Ask { title: Some(t("{{ inputs.token }}")), ..confirm("Use {{ inputs.token }}?") };
    let mut run = run_with(SECRET, vec![gated(step, ask)]);
    assert_eq!(run.question().message, "Use ***?");
    assert_eq!(run.question().follows.as_deref(), Some("curl -u 'ann:***' '***'"));
    run.answer("yes");
    let process = run.process();
    assert_eq!(process.argv[2], format!("ann:{SECRET}"));
    assert_eq!(process.env["TOKEN"].as_deref(), Some(SECRET));
    assert_eq!(process.stdin, Some(format!("{SECRET}\n")));
    let process = ProcessRecord {
        exit_code: Some(0),
        stdout: format!("token {SECRET}!"),
        stderr: SECRET.to_owned(),
        ..ProcessRecord::default()
    };
    let mut value = serde_json::Map::new();
    value.insert(format!("key {SECRET}"), json!(["x", { "deep": SECRET }]));
    run.finish(End::Exited { value: value.into(), parsed: None }, Some(process));
    assert_eq!(run.tail(1), ["completed"]);
    silent(&run, "hunter2");
}

#[test]
fn a_secret_of_digits_is_masked_in_numbers() {
    let mut run = run_with("905471", vec![command("a")]);
    run.exit_with(0, json!({ "pin": 905_471, "port": 8080 }));
    silent(&run, "905471");
    assert_eq!(run.machine.state().outputs["a"], json!({ "pin": "***", "port": 8080 }));
}

#[test]
fn a_line_break_at_its_end_does_not_uncover_a_secret() {
    let mut run = run_with("hunter2\n", vec![command("a")]);
    run.exit_with(0, json!("got hunter2."));
    silent(&run, "hunter2");
}

#[test]
fn errors_cancels_and_pauses_do_not_tell() {
    let tolerant = |name| on_error(command(name), OnError::Continue);
    let script = Action::Shell { script: t("{{ inputs.token | int }}") };
    let mut run = run_with(
        "hunter2",
        vec![
            tolerant("a"),
            on_error(crate::build::step("b", script), OnError::Continue),
            command("c"),
            gated(command("d"), confirm("?")),
        ],
    );
    run.finish(
        End::NotStarted {
            code: ErrorCode::SpawnFailed,
            exit_code: None,
            message: "hunter2 is not a program".to_owned(),
            hint: Some("not hunter2".to_owned()),
        },
        None,
    );
    run.exit(0);
    let reasoned =
        Answer { reason: Some("hunter2".to_owned()), ..answer_of("ann", "maybe hunter2") };
    assert!(matches!(run.say(reasoned), Err(Refusal::NotOffered { .. })));
    run.send(Input::Leave { message: "hunter2 left".to_owned() }).unwrap();
    let reason = Some("hunter2 is known".to_owned());
    run.send(Input::Request(Request::Cancel { by: "eve".to_owned(), reason, now: false })).unwrap();
    assert_eq!(run.tail(1), ["cancelled cancelled"]);
    silent(&run, "hunter2");
}

#[test]
fn outputs_of_the_skill_do_not_tell() {
    let secrets = {
        let mut secrets = Secrets::default();
        secrets.insert("token", "hunter2");
        secrets
    };
    let inputs = [("token".to_owned(), json!("hunter2"))].into();
    let mut skill = steps([]);
    skill.outputs = vec![OutputSpec {
        name: t("o"),
        value: json!("is {{ inputs.token }}"),
        span: Default::default(),
    }];
    let run = Run::start_as(skill, Start { inputs, secrets, ..start() });
    assert_eq!(run.machine.state().results["o"], json!("is ***"));
    silent(&run, "hunter2");
}

#[test]
fn an_input_that_holds_a_secret_is_one() {
    let mut secrets = Secrets::default();
    secrets.insert("token", "hunter2");
    let inputs = [
        ("url".to_owned(), json!("https://hunter2@host")),
        ("list".to_owned(), json!(["hunter2"])),
        ("token".to_owned(), json!("hunter2")),
    ];
    let skill = steps([program("a", "curl", &["{{ inputs.url }}"])]);
    let run = Run::start_as(skill, Start { inputs: inputs.into(), secrets, ..start() });
    assert_eq!(run.process().argv, ["curl", "https://hunter2@host"]);
    silent(&run, "hunter2");
}

fn password() -> Ask {
    Ask { secret: true, pattern: Some(t("^hunter")), ..input("password?") }
}

#[test]
fn a_secret_answer_is_used_and_not_kept() {
    let mut run = run_with(
        "other",
        vec![
            asking("token", password()),
            program("a", "login", &["{{ token }}", "{{ inputs.token }}"]),
        ],
    );
    assert_eq!(
        run.say(answer_of("ann", "mistyped")).unwrap_err(),
        Refusal::NoMatch("^hunter".to_owned())
    );
    run.answer("hunter2");
    // The result of a step and an input of the same name are two secrets.
    assert_eq!(run.process().argv, ["login", "hunter2", "other"]);
    silent(&run, "hunter2");
    silent(&run, "mistyped");
    silent(&run, "other");
    run.exit_with(0, json!("other hunter2"));
    assert_eq!(run.machine.state().outputs["a"], json!("*** ***"));
}

#[test]
fn a_late_or_misdirected_secret_is_not_kept_either() {
    let mut run = run_with("x", vec![asking("p", password()), gated(command("a"), confirm("go?"))]);
    let first = run.question().id.clone();
    run.answer("hunter2");
    let late = || answer_of("eve", "hunter3");
    let foreign = QuestionId::from_text("run99999-1");
    run.reply(first.clone(), late()).unwrap_err();
    run.reply(foreign.clone(), late()).unwrap_err();
    run.answer("yes");
    run.reply(first.clone(), late()).unwrap_err();
    run.exit(0);
    run.reply(first, late()).unwrap_err();
    run.reply(foreign, late()).unwrap_err();
    silent(&run, "hunter3");
    // What was asked openly is recorded as it was answered.
    let second = QuestionId::from_text("run00001-2");
    run.reply(second, answer_of("eve", "overdue")).unwrap_err();
    assert!(run.json().contains("overdue"));
}

#[test]
fn a_replaced_secret_is_still_masked() {
    let skill = crate::build::states([
        crate::build::state(asking("p", password()), &[("success", "a")]),
        crate::build::state(command("a"), &[("success", "p")]),
    ]);
    let mut run = Run::start(skill);
    run.answer("hunter2");
    run.exit(0);
    run.answer("hunter33");
    run.exit_with(0, json!("was hunter2, is hunter33"));
    silent(&run, "hunter2");
    silent(&run, "hunter33");
}

#[test]
fn a_secret_question_has_no_default() {
    let ask = Ask { pattern: None, ..expiring(password(), 10, Some("hunter2")) };
    let mut run = Run::start(steps([asking("p", ask.clone())]));
    run.tick(10);
    assert_eq!(run.tail(1), ["cancelled expired"]);
    silent(&run, "hunter2");
    assert_eq!(Run::yes(steps([asking("p", ask)])).tail(1), ["p ask ask"]);
}

#[test]
fn an_option_that_looks_like_a_secret_is_still_an_option() {
    let ask = Ask {
        options: vec![choice("hunter2", aye_core::skill::ChoiceAction::Cancel)],
        ..confirm("?")
    };
    let mut run = run_with("hunter2", vec![gated(command("a"), ask)]);
    run.answer("hunter2");
    assert_eq!(run.tail(1), ["cancelled declined"]);
}

#[test]
fn a_secret_that_was_not_given_again_is_named() {
    let mut run =
        run_with("hunter2", vec![command("a"), program("b", "login", &["{{ inputs.token }}"])]);
    run.interrupt();
    run.exit(0);
    run.machine = aye_core::machine::Machine::restore(
        std::sync::Arc::clone(&run.flow),
        aye_core::machine::Limits::default(),
        Secrets::default(),
        &run.events,
        None,
    )
    .unwrap();
    run.attach();
    let record = &run.machine.state().steps["b"];
    assert_eq!(record.message.as_deref(), Some("command: the secret `inputs.token` is not known"));
    assert_eq!(record.hint.as_deref(), Some("secrets are not kept: give it again"));
    assert_eq!(run.machine.state().outputs["a"], Value::Null);
}

/// Data with a secret in it reaches steps as it is, and the journal without the secret.
#[test]
fn data_that_holds_a_secret_is_used_as_it_is() {
    let mut secrets = Secrets::default();
    secrets.insert("pin", "443");
    let inputs: indexmap::IndexMap<String, Value> = [
        ("pin".to_owned(), json!("443")),
        ("port".to_owned(), json!(8443)),
        ("words".to_owned(), json!(["--pin", "443"])),
        ("o".to_owned(), json!({ "k": "x443", "n": 1 })),
    ]
    .into();
    let words = [
        "{{ inputs.words[1] }}",
        "{{ inputs.o.k }}",
        "{{ inputs.port + 1 if inputs.port is number else 'no number' }}",
    ];
    let skill = || steps([program("a", "login", &words), program("b", "login", &words)]);
    let mut run = Run::start_as(skill(), Start { inputs, secrets, ..start() });
    assert_eq!(run.process().argv, ["login", "443", "x443", "8444"]);
    silent(&run, "443");
    run.exit(0);
    // The next process does not know it, and says so.
    let mut secrets = Secrets::default();
    secrets.insert("pin", "443");
    run.crash_knowing(secrets);
    let error = run.machine.execution(&run.world).unwrap_err();
    assert_eq!(error.message, "the secret `inputs.words` is not known");
}

fn given(value: Value) -> Vec<OutputSpec> {
    vec![OutputSpec { name: t("o"), value, span: Default::default() }]
}

/// What a run gives to the run around it is as it is; what its journal has is not.
#[test]
fn the_run_around_gets_what_a_run_gave_as_it_is() {
    let run_of = |skill| {
        let mut secrets = Secrets::default();
        secrets.insert("token", "hunter2");
        let inputs = [("token".to_owned(), json!("hunter2"))].into();
        Run::start_as(skill, Start { inputs, secrets, ..start() })
    };
    let said = step_said("is {{ inputs.token }}");
    let mut outputs = steps([]);
    outputs.outputs = given(json!(["is {{ inputs.token }}"]));
    for (skill, name, value) in
        [(outputs, "o", json!(["is hunter2"])), (steps([said]), "result", json!("is hunter2"))]
    {
        let mut run = run_of(skill);
        assert_eq!(run.machine.result()[name], value);
        silent(&run, "hunter2");
        // The next process does not know it.
        let mut secrets = Secrets::default();
        secrets.insert("token", "hunter2");
        run.crash_knowing(secrets);
        assert_eq!(run.machine.result()[name], json!({ "$secret": true }));
    }
}

fn step_said(text: &str) -> Step {
    crate::build::step("r", Action::Return { text: t(text) })
}

/// No step runs with what a run inside gave once the process that knew it is gone.
#[test]
fn a_result_that_is_lost_is_not_used() {
    let call = Action::Skill {
        skill: t("kid.yaml"),
        inputs: Default::default(),
        span: Default::default(),
    };
    let lost = json!({ "session": { "$secret": true }, "n": 1 });
    let mut run = run_with(
        "hunter2",
        vec![crate::build::step("login", call), program("use", "curl", &["{{ login.session }}"])],
    );
    run.exit_with(0, lost);
    assert_eq!(run.machine.state().outputs["login"], json!({ "session": "***", "n": 1 }));
    assert!(run.tail(2)[0].starts_with("use failure"), "{:?}", run.tail(3));
    assert!(run.json().contains("the secret `login.session` is not known"), "{}", run.json());
}

/// Nobody can give the result of a program again.
#[test]
fn a_lost_result_says_what_can_be_done() {
    let mut run = run_with(
        "hunter2",
        vec![command("a"), gated(program("b", "use", &["{{ a }}"]), confirm("go?"))],
    );
    run.exit_with(0, json!("url for hunter2"));
    let mut secrets = Secrets::default();
    secrets.insert("token", "hunter2");
    run.crash_knowing(secrets);
    run.attach();
    run.answer("yes");
    let record = &run.machine.state().steps["b"];
    assert_eq!(record.message.as_deref(), Some("confirmation: the secret `a` is not known"));
    let hint = "a secret is in the result of step `a`, and the process that knew it has ended; a \
                new run has it again: `aye run SKILL --from a`";
    assert_eq!(record.hint.as_deref(), Some(hint));
}
