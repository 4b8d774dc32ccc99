//! What advisors and assistants are told: enough, little enough, nothing secret.

use std::sync::Arc;

use aye_core::event::ProcessRecord;
use aye_core::id::QuestionId;
use aye_core::journal::{State, StepRecord, StepStatus};
use aye_core::question::{Offer, Purpose, Question};
use aye_core::secrets::Secrets;
use aye_core::skill::{AskKind, By, ChoiceAction};
use aye_core::step_kind::StepKind;
use aye_runtime::advisor::{BUDGET, tell};
use aye_runtime::question_context::{
    QuestionContext, RecentStep, Redactor, Sources, VALUE, failure, recent_steps,
};
use indexmap::IndexMap;
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn offer(value: &str, label: &str, action: ChoiceAction) -> Offer {
    Offer::new(value, label, action)
}

fn question(message: &str) -> Question {
    Question {
        purpose: Purpose::Gate,
        step: "deploy".into(),
        title: "Release".into(),
        options: vec![
            offer("proceed", "Proceed", ChoiceAction::Proceed),
            offer("cancel", "Cancel", ChoiceAction::Cancel),
        ],
        by: By::Human,
        ai_assist: true,
        follows: Some("kubectl apply -f web.yaml".into()),
        digest: "0".into(),
        ..Question::new(QuestionId::from_text("abcdefgh12-1"), AskKind::Confirm, message)
    }
}

#[test]
fn only_a_title_that_someone_gave_is_told() {
    let mut question = question("Release it?");
    assert_eq!(told(&question, &run(), None)["title"], "Release");
    for kind in [AskKind::Confirm, AskKind::Choose, AskKind::Input, AskKind::Recover] {
        (question.kind, question.title) = (kind, kind.usual_title().into());
        assert_eq!(told(&question, &run(), None).get("title"), None, "{kind:?}");
    }
}

fn run() -> State {
    let event = json!({
        "v": 1, "run": "abcdefgh12", "seq": 1, "at": "2026-11-16T04:52:49.884Z",
        "type": "skill_started", "skill": "release", "file": "release.yaml", "source": "0",
        "steps": 3, "workspace": "/work", "driver": { "user": "ada", "host": "vm", "pid": 1 },
        "environment": "production",
    });
    State::begin(&serde_json::from_value(event).unwrap()).unwrap()
}

fn step(status: StepStatus, stdout: &str, stderr: &str) -> StepRecord {
    let code = if status == StepStatus::Completed { 0 } else { 3 };
    let process: ProcessRecord = serde_json::from_value(json!({
        "exit_code": code, "duration_ms": 12, "stdout": stdout, "stderr": stderr,
    }))
    .unwrap();
    StepRecord {
        status,
        visits: 1,
        attempt: 1,
        execution: 1,
        kind: Some(StepKind::Command),
        message: (status != StepStatus::Completed).then(|| "exit code 3".into()),
        process: Some(process),
        ..StepRecord::default()
    }
}

fn with(mut state: State, steps: Vec<(&str, StepRecord)>, results: Vec<(String, Value)>) -> State {
    state.steps = Arc::new(steps.into_iter().map(|(name, step)| (name.to_owned(), step)).collect());
    state.outputs = Arc::new(results.into_iter().collect::<IndexMap<_, _>>());
    state
}

fn context(question: &Question, run: &State, secrets: Option<&Secrets>) -> QuestionContext {
    QuestionContext::of(Sources { question, run: Some(run), around: &[], step: None, secrets })
}

fn told(question: &Question, run: &State, secrets: Option<&Secrets>) -> Map<String, Value> {
    let fields = tell(&context(question, run, secrets), BUDGET);
    let text = Value::Object(fields.clone()).to_string();
    assert!(text.len() <= BUDGET, "{} bytes", text.len());
    let read: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read, Value::Object(fields.clone()), "valid JSON");
    fields
}

#[test]
fn the_whole_situation() {
    let mut state = run();
    state.started.inputs.insert("target".into(), json!("web"));
    state.started.inputs.insert("token".into(), aye_core::secrets::secret_marker());
    let build = step(StepStatus::Completed, "compiling\nbuilt\n", "a warning");
    let test = step(StepStatus::Failed, "1 test", "no route to host\n");
    let state = with(
        state,
        vec![("build", build), ("test", test)],
        vec![("build".into(), json!({ "tag": 7 }))],
    );
    let told = told(&question("Deploy?"), &state, None);
    assert_snapshot!(serde_json::to_string_pretty(&told).unwrap(), @r#"
    {
      "version": 1,
      "skill": "release",
      "environment": "production",
      "step": "deploy",
      "kind": "confirm",
      "purpose": "gate",
      "title": "Release",
      "message": "Deploy?",
      "follows": "kubectl apply -f web.yaml",
      "options": [
        {
          "value": "proceed",
          "label": "Proceed",
          "action": "proceed"
        },
        {
          "value": "cancel",
          "label": "Cancel",
          "action": "cancel"
        }
      ],
      "steps": [
        {
          "step": "build",
          "outcome": "completed",
          "exit_code": 0,
          "output": "compiling\nbuilt"
        },
        {
          "step": "test",
          "outcome": "failed",
          "exit_code": 3,
          "message": "exit code 3",
          "output": "no route to host"
        }
      ],
      "inputs": {
        "target": "web",
        "token": "***"
      },
      "results": {
        "build": {
          "tag": 7
        }
      }
    }
    "#);
}

#[test]
fn only_the_last_steps_and_the_ends_of_what_they_wrote() {
    let names = ["a", "b", "c", "d", "e", "f", "deploy"];
    let long = format!("{}the end", "x".repeat(100_000));
    let mut steps: Vec<_> =
        names.iter().map(|name| (*name, step(StepStatus::Completed, "fine", ""))).collect();
    steps[5].1 = step(StepStatus::Completed, &long, "");
    // The step that is asked about has not begun.
    steps[6].1 = StepRecord { message: None, ..step(StepStatus::Waiting, "", "") };
    let told = told(&question("Deploy?"), &with(run(), steps, Vec::new()), None);
    let steps = told["steps"].as_array().unwrap();
    let names: Vec<&str> = steps.iter().map(|step| step["step"].as_str().unwrap()).collect();
    assert_eq!(names, ["b", "c", "d", "e", "f"]);
    let output = steps[4]["output"].as_str().unwrap();
    assert!(output.starts_with("…xxx") && output.ends_with("xthe end"), "{output}");
    assert_eq!(output.chars().count(), 300);
}

#[test]
fn what_has_no_room_is_counted() {
    let mut question = question(&"ü".repeat(5000));
    question.options = (0..200)
        .map(|at| offer(&format!("o{at}"), &format!("Option {at}"), ChoiceAction::Proceed))
        .collect();
    question.options[0].value = "v".repeat(500);
    let mut state = run();
    for at in 0..50 {
        state.started.inputs.insert(format!("input{at}"), json!("y".repeat(300)));
    }
    let results = (0..50).map(|at| (format!("result{at}"), json!(vec![at; 200]))).collect();
    let told = told(&question, &with(state, Vec::new(), results), None);
    assert!(told["message"].as_str().unwrap().ends_with('…'));
    let left = |name: &str| usize::try_from(told["left_out"][name].as_u64().unwrap()).unwrap();
    let options = told["options"].as_array().unwrap();
    assert_eq!(options.len() + left("options"), 200);
    assert_eq!(options[0]["value"], "o1", "a value that is not whole cannot be suggested");
    assert_eq!(told["inputs"].as_object().unwrap().len() + left("inputs"), 50);
    let results = told["results"].as_object().unwrap();
    assert_eq!(results.len() + left("results"), 50);
    let value = results.values().next().unwrap().as_str().unwrap();
    assert_eq!(value.chars().count(), VALUE);
    assert!(value.starts_with("[0,0,") && value.ends_with('…'), "{value}");
}

#[test]
fn a_secret_is_masked_before_anything_is_cut() {
    let token = "hunter2-correct-horse";
    let mut secrets = Secrets::default();
    secrets.insert("token", token);
    for before in [0, 150, 190, 195, 199, 8150, 8180, 8190, 8200, 8230] {
        let text = format!("{}{token}{}", "x".repeat(before), "y".repeat(20_000));
        let end = format!("{}{token}{}", "y".repeat(20_000), "x".repeat(before));
        let mut question = question(&text);
        question.follows = Some(text.clone());
        let mut state = run();
        state.started.inputs.insert("text".into(), json!(text));
        let steps = vec![("a", step(StepStatus::Failed, &end, &end))];
        let results = vec![("list".into(), json!([1, text])), (format!("n{token}"), json!(1))];
        let told = told(&question, &with(state, steps, results), Some(&secrets));
        let text = Value::Object(told).to_string();
        for part in [token, &token[..4], &token[token.len() - 4..]] {
            assert!(!text.contains(part), "{before}: {part} in {text}");
        }
    }
}

/// Advisors and assistants choose from one context: a secret that is in none of its parts is
/// told to none of them.
#[test]
fn a_secret_is_in_no_part_of_a_context() {
    let token = "hunter2-correct-horse";
    let mut secrets = Secrets::default();
    secrets.insert("token", token);
    let held = || format!("a {token} b");
    let mut question = question(&held());
    question.purpose = Purpose::Recover;
    question.step = held();
    (question.title, question.default, question.follows) = (held(), Some(held()), Some(held()));
    question.not_covered = vec![held()];
    question.options =
        vec![Offer { description: Some(held()), ..offer(&held(), &held(), ChoiceAction::Proceed) }];
    question.outside.insert(held(), json!(held()));
    let mut state = run();
    (state.started.skill, state.started.environment) = (held(), Some(held()));
    state.started.inputs.insert(held(), json!([held()]));
    let failed = StepRecord {
        message: Some(held()),
        hint: Some(held()),
        kind: Some(StepKind::Compute),
        ..step(StepStatus::Failed, &held(), &held())
    };
    let gave = StepRecord { output: Some(held()), ..step(StepStatus::Completed, &held(), "") };
    let name = held();
    let steps = vec![("one", gave), (name.as_str(), failed)];
    let state = with(state, steps, vec![(held(), json!({ held(): held() }))]);
    let context = context(&question, &state, Some(&secrets));
    assert!(context.failure.is_some() && context.steps.len() == 2, "{context:?}");
    assert!(!context.results.is_empty() && !context.outside.is_empty(), "{context:?}");
    assert_eq!(context.options[0].value, None, "it cannot be suggested");
    let all = format!("{context:?}");
    assert!(all.contains("a *** b") && !all.contains(token), "{all}");
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        "(?s).{0,300}".prop_map(Value::from),
        ("(?s).{1,9}", 1usize..5000).prop_map(|(text, times)| text.repeat(times).into()),
        Just(Value::from("\u{1}\"\\\n🎉".repeat(2000))),
    ];
    leaf.prop_recursive(3, 40, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec(("(?s).{0,20}", inner), 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

#[test]
fn a_secret_is_masked_as_a_key_too() {
    let mut secrets = Secrets::default();
    secrets.insert("token", "s3cr3t-v4lue");
    let mut state = run();
    state.started.inputs.insert("of".into(), json!({ "s3cr3t-v4lue": [{ "s3cr3t-v4lue": 1 }] }));
    let fields = told(&question("Go?"), &state, Some(&secrets));
    assert_eq!(fields["inputs"]["of"], json!({ "***": [{ "***": 1 }] }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the values are, it is valid JSON within the budget, no value
    /// is longer than it may be, and no secret is in it.
    #[test]
    fn it_fits_whatever_it_is_about(
        message in any_value(),
        inputs in prop::collection::vec(("(?s).{0,30}", any_value()), 0..30),
        results in prop::collection::vec(("(?s).{0,30}", any_value()), 0..30),
        options in prop::collection::vec(("(?s).{0,150}", "(?s).{0,150}"), 0..60),
        output in any_value(),
        bytes in 700usize..5000,
    ) {
        let secret = "s3cr3t-v4lue";
        let mut secrets = Secrets::default();
        secrets.insert("token", secret);
        let message = format!("{secret}{message}{secret}");
        let mut question = question(&message);
        question.title = message.clone();
        question.follows = Some(message.clone());
        question.options = options
            .iter()
            .map(|(value, label)| offer(value, label, ChoiceAction::Proceed))
            .collect();
        let mut state = run();
        state.started.inputs = inputs.into_iter().collect();
        state.started.inputs.insert("hidden".into(), json!([{ "a": secret }]));
        state.started.skill.clone_from(&message);
        let output = format!("{output}{secret}");
        let steps = vec![
            ("a", step(StepStatus::Completed, &output, "")),
            ("b", step(StepStatus::Failed, "", &output)),
        ];
        let state = with(state, steps, results);
        let fields = tell(&context(&question, &state, Some(&secrets)), bytes);
        let text = Value::Object(fields.clone()).to_string();
        prop_assert!(text.len() <= bytes.min(BUDGET), "{} of {bytes} bytes", text.len());
        prop_assert_eq!(&serde_json::from_str::<Value>(&text).unwrap(), &Value::Object(fields.clone()));
        prop_assert!(!text.contains(secret), "{}", text);
        for values in ["inputs", "results"].iter().filter_map(|name| fields.get(*name)) {
            for value in values.as_object().unwrap().values() {
                let long = value.as_str().map_or_else(|| value.to_string().chars().count(), |text| text.chars().count());
                prop_assert!(long <= VALUE, "{}", value);
            }
        }
    }
}

#[test]
fn a_step_that_waits_for_its_turn_does_not_run() {
    let queued = StepRecord { queued: true, ..step(StepStatus::Running, "", "") };
    let run = with(run(), vec![("build", queued)], Vec::new());
    assert_eq!(told(&question("go?"), &run, None)["steps"][0]["outcome"], "queued");
    assert_eq!(recent_steps(&run, &[], &Redactor::new(None))[0].standing(), "queued");
}

/// A step that completed as the `nth` of its run and gave its result this name.
fn gave(nth: u32, output: &str) -> StepRecord {
    let at = format!("2026-11-16T04:52:{:02}Z", 10 + nth).parse().unwrap();
    let output = Some(output.to_owned());
    StepRecord { ended: Some(at), execution: nth, output, ..step(StepStatus::Completed, "", "") }
}

fn results(steps: &[RecentStep]) -> Vec<(&str, Option<&Value>)> {
    steps.iter().map(|one| (one.step.as_str(), one.result.as_ref())).collect()
}

#[test]
fn a_result_stands_at_the_step_that_gave_it() {
    let second_value = json!("second");
    let redactor = Redactor::new(None);
    let second = || vec![("x".to_owned(), json!("second"))];
    let both = with(run(), vec![("one", gave(1, "x")), ("two", gave(2, "x"))], second());
    let told = recent_steps(&both, &[], &redactor);
    assert_eq!(results(&told), [("one", None), ("two", Some(&second_value))]);
    // In a loop the first of the file may be the last that ran.
    let back = with(run(), vec![("one", gave(3, "x")), ("two", gave(2, "x"))], second());
    let told = recent_steps(&back, &[], &redactor);
    assert_eq!(results(&told), [("two", None), ("one", Some(&second_value))]);
    // What it gave the time before is not what its failure gave.
    let failed = StepRecord { status: StepStatus::Failed, ..gave(3, "x") };
    let told = recent_steps(&with(run(), vec![("one", failed)], second()), &[], &redactor);
    assert_eq!(results(&told), [("one", None)]);
}

#[test]
fn a_result_has_two_hundred_characters_at_most() {
    let values = [json!("é".repeat(500)), json!(vec!["é"; 500]), json!({ "a": "é".repeat(500) })];
    for value in values {
        let state = with(run(), vec![("one", gave(1, "x"))], vec![("x".into(), value)]);
        let told = recent_steps(&state, &[], &Redactor::new(None));
        let result = told[0].result.as_ref().and_then(Value::as_str).unwrap();
        assert_eq!((result.chars().count(), result.ends_with('…')), (VALUE, true), "{result}");
    }
}

#[test]
fn the_steps_of_the_runs_around_are_told_too() {
    let outer = vec![("build", gave(1, "built")), ("call", gave(2, "called"))];
    let outer = with(run(), outer, vec![("built".into(), json!(7))]);
    let inner = with(run(), vec![("ship", gave(3, "ship"))], Vec::new());
    let told = recent_steps(&inner, &[outer], &Redactor::new(None));
    let seen: Vec<_> = told.iter().map(|one| (one.step.as_str(), one.is_around)).collect();
    assert_eq!(seen, [("build", true), ("call", true), ("ship", false)]);
    assert_eq!(told[0].result, Some(json!(7)));
}

#[test]
fn only_the_hint_of_a_failure_is_worded_anew() {
    let said = "one\nhint: `aye` is what the program says";
    let failed = StepRecord {
        message: Some("exit code 3\nhint: `aye` too".into()),
        hint: Some("`aye` is ours".into()),
        ..step(StepStatus::Failed, "", said)
    };
    let state = with(run(), vec![("one", failed)], Vec::new());
    let told = failure(&state, "one", &Redactor::new(None));
    assert_eq!(told.output.as_deref(), Some(said));
    let worded = told.in_words(|own| own.replace("`aye`", "ours"));
    assert_eq!(worded, format!("exit code 3\nhint: `aye` too\nhint: ours is ours\noutput: {said}"));
}
