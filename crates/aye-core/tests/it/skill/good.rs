//! Documents with nothing wrong: what they become.

use std::time::Duration;

use aye_core::skill::{
    Action, Ask, AskKind, Body, By, ChoiceAction, EndStatus, InputType, OnError, Skill, State,
    Step, StepTimeout, parse,
};
use aye_core::step_kind::StepKind;
use serde_json::json;

use super::{dedent, sound};

fn steps(skill: &Skill) -> &[Step] {
    match &skill.body {
        Body::Steps(steps) => steps,
        Body::States { .. } => panic!("states"),
    }
}

fn states(skill: &Skill) -> (&str, &[State]) {
    match &skill.body {
        Body::States { initial, states } => (initial, states),
        Body::Steps(_) => panic!("steps"),
    }
}

fn ask(step: &Step) -> &Ask {
    match &step.action {
        Action::Ask(ask) => ask,
        other => panic!("{other:?}"),
    }
}

fn target(target: &Option<aye_core::span::Spanned<String>>) -> Option<&str> {
    target.as_ref().map(|target| target.value.as_str())
}

const RELEASE: &str = r#"
    name: release
    description: Promote a commit to production
    version: 1.10
    tags: [release, 2024]
    inputs:
      - { name: commit, type: string, required: true, match: "^[0-9a-f]{40}$" }
      - { name: environment, type: string, default: stage, enum: [stage, production] }
      - { name: token, type: secret, required: false }
      - { name: since, default: "{{ today }}" }
    steps:
      - name: plan
        shell: |
          git log -1 --format=%H "{{ inputs.commit }}"
        output: plan
      - name: confirm_release
        confirm:
          title: Production release
          message: "Release `{{ plan }}`?"
          options:
            - { label: Proceed, value: proceed, description: Create the merge request }
            - { label: Cancel, value: cancel, action: cancel }
          timeout: 10m
          default: cancel
          ai_assist: true
          by: human
          remember: false
        output: decision
      - name: merge_request
        command: ./make-mr
        args: ["{{ plan }}", 1.10, true, 0x1F, ~nobody]
        condition: decision == 'proceed'
        destructive: true
        timeout: 2m
        on_error: ask
        env: { LEVEL: 3, DEBUG: null, ON: no }
    outputs:
      - { name: summary, value: "Released {{ plan }}" }
      - { name: parts, value: { a: [1, "{{ plan }}"] } }
"#;

#[test]
fn steps_in_order() {
    let skill = sound(RELEASE);
    assert_eq!(*skill.name, "release");
    assert_eq!(skill.version.as_deref(), Some("1.10"));
    assert_eq!(skill.tags, ["release", "2024"]);
    assert_eq!(skill.timeout, None);
    assert_eq!(skill.cleanup, Duration::from_secs(60));
    assert_eq!(skill.step_limit, 1000);

    let kinds: Vec<InputType> = skill.inputs.iter().map(|input| input.kind).collect();
    assert_eq!(kinds, [InputType::String, InputType::String, InputType::Secret, InputType::String]);
    assert!(skill.inputs[0].required);
    assert_eq!(skill.inputs[1].default, Some(json!("stage")));
    assert_eq!(skill.inputs[1].choices, [json!("stage"), json!("production")]);

    let [plan, confirm, merge] = steps(&skill) else { panic!("three steps") };
    assert_eq!(plan.action.kind(), StepKind::Shell);
    assert_eq!(target(&plan.output), Some("plan"));

    let question = ask(confirm);
    assert_eq!(question.kind, AskKind::Confirm);
    assert_eq!(question.timeout, StepTimeout::After(Duration::from_secs(600)));
    assert_eq!(target(&question.default), Some("cancel"));
    assert_eq!(question.by, By::Human);
    assert!(question.ai_assist && question.overridable && !question.remember);
    assert_eq!(question.approvals, 1);
    assert_eq!(question.options[1].action, ChoiceAction::Cancel);

    let Action::Command { program, args } = &merge.action else { panic!("a command") };
    assert_eq!(program.value, "./make-mr");
    // As written, not as YAML reads it.
    let args: Vec<&str> = args.iter().map(|arg| arg.as_str()).collect();
    assert_eq!(args, ["{{ plan }}", "1.10", "true", "0x1F", "~nobody"]);
    assert_eq!(merge.timeout, StepTimeout::After(Duration::from_secs(120)));
    assert_eq!(merge.on_error, Some(OnError::Ask));
    assert!(merge.destructive && !merge.idempotent);
    let env: Vec<(&str, Option<&str>)> =
        merge.env.iter().map(|(name, value)| (name.as_str(), target(value))).collect();
    assert_eq!(env, [("LEVEL", Some("3")), ("DEBUG", None), ("ON", Some("no"))]);

    assert_eq!(skill.outputs[1].value, json!({ "a": [1, "{{ plan }}"] }));
}

const DEPLOY: &str = r#"
    name: deploy
    initial: build
    timeout: 1h
    cleanup: 30s
    step_limit: 50
    states:
      build:   { command: cargo, args: [build, --release], timeout: 10m, transitions: { success: confirm, failure: failed, timeout: failed, 101: lint } }
      confirm: { command: ./deploy, args: ["{{ branch }}"], confirmation: { message: "Deploy {{ branch }}?", timeout: 30s, default: no }, transitions: { success: done, failure: failed, declined: done } }
      lint:    { command: cargo, args: [clippy], timeout: 0, on_success: build, on_failure: null }
      done:    { type: final }
      failed:  { type: final, status: failed }
"#;

#[test]
fn states_with_transitions() {
    let skill = sound(DEPLOY);
    assert_eq!(skill.timeout, Some(Duration::from_secs(3600)));
    assert_eq!(skill.cleanup, Duration::from_secs(30));
    assert_eq!(skill.step_limit, 50);

    let (initial, states) = states(&skill);
    assert_eq!(initial, "build");
    let [build, confirm, lint, done, failed] = states else { panic!("five states") };
    assert_eq!(target(&build.transitions.timeout), Some("failed"));
    assert_eq!(build.transitions.codes[&101].value, "lint");
    let gate = confirm.step.confirmation.as_ref().expect("a confirmation");
    assert_eq!(gate.timeout, StepTimeout::After(Duration::from_secs(30)));
    assert_eq!(target(&gate.default), Some("cancel"));
    assert_eq!(target(&confirm.transitions.declined), Some("done"));
    assert_eq!(lint.step.timeout, StepTimeout::Unlimited);
    assert_eq!(target(&lint.transitions.success), Some("build"));
    assert_eq!(target(&lint.transitions.failure), None);
    assert_eq!((done.ends, &done.step.action), (Some(EndStatus::ByOutcome), &Action::Note));
    assert_eq!(failed.ends, Some(EndStatus::Failed));
}

#[test]
fn spans_point_at_what_was_written() {
    let text = dedent(DEPLOY);
    let skill = sound(DEPLOY);
    let (_, states) = states(&skill);
    let code = &states[0].transitions.codes[&101];
    assert_eq!(&text[code.span.start..code.span.end], "lint");
    let name = &states[1].step.name;
    assert_eq!(&text[name.span.start..name.span.end], "confirm");
    assert_eq!(&text[states[3].step.span.start..states[3].step.span.end], "{ type: final }");
}

#[test]
fn several_skills_in_a_file() {
    let parsed = parse(
        "skills.yaml",
        &dedent(
            "
            workflows:
              first:
                name: The first one
                initialState: toString
                globalTimeout: 5m
                states:
                  toString: { command: make, transitions: {} }
              second: { steps: [{ name: one, comand: make }] }
              third: { steps: [{ name: one, command: make }] }
            metadata: { version: 1, created: today }
            ",
        ),
    );
    // One bad skill does not take the others with it.
    let names: Vec<&str> = parsed.skills.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["first", "third"]);
    assert_eq!(parsed.diagnostics.len(), 1);
    assert_eq!(parsed.skills[0].description.as_deref(), Some("The first one"));
    assert_eq!(parsed.skills[0].timeout, Some(Duration::from_secs(300)));
}

#[test]
fn questions_have_defaults() {
    let skill = sound(
        "
        name: demo
        steps:
          - name: short
            confirm: Continue?
          - name: for_ever
            confirm: { message: Continue?, timeout: 0, default: yes, override: never, learn_preference: true }
          - name: which
            choose: { message: Which one?, options: [one, { label: Two, value: 2 }, { value: three, action: skip }] }
          - name: text
            input: { message: Which version?, match: '^v\\d', by: [ann, bob], approvals: 2 }
          - name: gate
            command: true
            confirmation: { defaultAccept: false, type: demo, reauth: true }
          - name: note
            description: Now look at the result.
        ",
    );
    let [short, for_ever, which, text, gate, note] = steps(&skill) else { panic!("six steps") };
    let values = |ask: &Ask| -> Vec<String> {
        ask.options.iter().map(|choice| choice.value.clone()).collect()
    };
    let labels = |ask: &Ask| -> Vec<String> {
        ask.options.iter().map(|choice| choice.label.value.clone()).collect()
    };

    assert_eq!(ask(short).message.value, "Continue?");
    assert_eq!(values(ask(short)), ["proceed", "cancel"]);
    assert_eq!(labels(ask(short)), ["Proceed", "Cancel"]);
    assert_eq!(ask(short).default, None);
    assert_eq!(ask(short).timeout, StepTimeout::Default);
    assert_eq!(ask(for_ever).timeout, StepTimeout::Unlimited);
    assert_eq!(target(&ask(for_ever).default), Some("proceed"));
    assert!(!ask(for_ever).overridable && ask(for_ever).remember);
    assert_eq!(labels(ask(which)), ["one", "Two", "three"]);
    assert_eq!(values(ask(which)), ["one", "2", "three"]);
    assert_eq!(ask(which).options[2].action, ChoiceAction::Skip);
    assert_eq!(ask(text).options, []);
    assert_eq!(ask(text).by, By::Names(vec!["ann".into(), "bob".into()]));
    assert_eq!(ask(text).approvals, 2);
    let confirmation = gate.confirmation.as_ref().expect("a confirmation");
    assert_eq!(confirmation.message.value, "Execute gate?");
    assert_eq!(target(&confirmation.default), Some("cancel"));
    assert_eq!(target(&confirmation.typed), Some("demo"));
    assert_eq!(confirmation.timeout, StepTimeout::Default);
    assert_eq!(note.action, Action::Note);
}

#[test]
fn yes_and_no_in_all_ways() {
    for (word, value) in [
        ("yes", "proceed"),
        ("true", "proceed"),
        ("proceed", "proceed"),
        ("no", "cancel"),
        ("false", "cancel"),
        ("cancel", "cancel"),
        ("\"no\"", "cancel"),
    ] {
        let skill = sound(&format!(
            "name: demo\nsteps: [{{ name: one, confirm: {{ message: Continue?, default: {word} }} }}]\n"
        ));
        assert_eq!(target(&ask(&steps(&skill)[0]).default), Some(value), "{word}");
    }
}

#[test]
fn anchors_and_merge_keys() {
    let skill = sound(
        "
        name: demo
        steps:
          - &base
            name: one
            command: make
            on_error: continue
            env: &env { A: 1 }
          - <<: *base
            name: two
          - <<: [{ command: cargo }, *base]
            name: three
            env: { <<: *env, B: 2 }
        ",
    );
    let [_, two, three] = steps(&skill) else { panic!("three steps") };
    assert_eq!((two.name.as_str(), two.on_error), ("two", Some(OnError::Continue)));
    let Action::Command { program, .. } = &three.action else { panic!("a command") };
    // The first of several mappings wins.
    assert_eq!(program.value, "cargo");
    assert_eq!(three.env.keys().collect::<Vec<_>>(), ["B", "A"]);
}

#[test]
fn byte_order_mark_and_windows_line_ends() {
    let text = dedent(RELEASE).replace('\n', "\r\n");
    let parsed = parse("demo.yaml", &format!("\u{feff}{text}"));
    assert_eq!(parsed.diagnostics, []);
    let name = &parsed.skills[0].name;
    assert_eq!((name.value.as_str(), name.span.start), ("release", 3 + "name: ".len()));
    let unix = sound(RELEASE);
    for (step, same) in steps(&parsed.skills[0]).iter().zip(steps(&unix)) {
        assert_eq!(step.action, same.action);
    }
}

#[test]
fn a_path_with_spaces_is_a_program_if_arguments_stand_beside_it() {
    sound("name: demo\nsteps: [{ name: one, command: /opt/My App/run, args: [] }]\n");
    sound("name: demo\nsteps: [{ name: one, command: \"{{ inputs.program }}\" }]\n");
}
