//! Inputs: types, defaults, what is refused and how.

use aye_core::skill::{Given, InputError, InputSpec, InputType, Inputs, resolve_inputs};
use serde_json::{Value, json};

use crate::build::t;

fn spec(name: &str, kind: InputType) -> InputSpec {
    InputSpec {
        from: None,
        name: t(name),
        description: None,
        kind,
        required: false,
        default: None,
        choices: Vec::new(),
        pattern: None,
    }
}

fn resolve(specs: &[InputSpec], given: &[(&str, Given)]) -> Result<Inputs, Vec<InputError>> {
    let given = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    // Templates in defaults are someone else's work: mark that it was done.
    resolve_inputs(specs, given, |value| match value.as_str() {
        Some("broken") => Err("cannot be rendered".to_owned()),
        Some(text) => Ok(json!(text.replace("{{ branch }}", "main"))),
        None => Ok(value.clone()),
    })
}

fn one(kind: InputType, given: Given) -> Result<Value, String> {
    match resolve(&[spec("x", kind)], &[("x", given)]) {
        Ok(inputs) => Ok(inputs.values["x"].clone()),
        Err(errors) => Err(errors[0].to_string()),
    }
}

fn text(text: &str) -> Given {
    Given::Text(text.to_owned())
}

#[test]
fn text_is_read_as_the_type() {
    let rows = [
        (InputType::String, "5", json!("5")),
        (InputType::String, "", json!("")),
        (InputType::Integer, "5", json!(5)),
        (InputType::Integer, "-3", json!(-3)),
        (InputType::Number, "2.5", json!(2.5)),
        (InputType::Number, "1e3", json!(1000.0)),
        (InputType::Boolean, "true", json!(true)),
        (InputType::Boolean, "Yes", json!(true)),
        (InputType::Boolean, "off", json!(false)),
        (InputType::Boolean, "0", json!(false)),
        (InputType::Array, "a, b", json!(["a", "b"])),
        (InputType::Array, "[1, 2]", json!([1, 2])),
        (InputType::Array, "5", json!(["5"])),
        (InputType::Array, "1,2", json!(["1", "2"])),
        (InputType::Array, "true", json!(["true"])),
        (InputType::Array, "", json!([])),
        (InputType::Object, r#"{"a": 1}"#, json!({ "a": 1 })),
        (InputType::Secret, "s", json!("s")),
    ];
    for (kind, given, expected) in rows {
        assert_eq!(one(kind, text(given)), Ok(expected), "{kind:?} {given:?}");
    }
}

#[test]
fn text_that_is_not_of_the_type_is_refused() {
    let rows = [
        (InputType::Integer, "2.5"),
        (InputType::Integer, "five"),
        (InputType::Integer, "null"),
        (InputType::Integer, "99999999999999999999999999"),
        (InputType::Integer, ""),
        (InputType::Number, "NaN"),
        (InputType::Number, "true"),
        (InputType::Boolean, "maybe"),
        (InputType::Boolean, ""),
        (InputType::Object, "[1]"),
        (InputType::Array, "[1, 2"),
        (InputType::Array, " [a, b]"),
        (InputType::Object, "a: 1"),
    ];
    for (kind, given) in rows {
        assert!(one(kind, text(given)).is_err(), "{kind:?} {given:?}");
    }
}

#[test]
fn data_means_what_it_is_or_what_it_can_only_mean() {
    let rows = [
        (InputType::String, json!(5), Some(json!("5"))),
        (InputType::String, json!(true), Some(json!("true"))),
        (InputType::String, json!([1]), None),
        (InputType::Integer, json!("5"), Some(json!(5))),
        (InputType::Integer, json!(5.5), None),
        (InputType::Number, json!(5), Some(json!(5))),
        (InputType::Boolean, json!("yes"), Some(json!(true))),
        (InputType::Boolean, json!(1), None),
        (InputType::Array, json!(["a"]), Some(json!(["a"]))),
        (InputType::Array, json!("a"), None),
        (InputType::Object, json!({}), Some(json!({}))),
        (InputType::Secret, json!(1234), Some(json!("1234"))),
    ];
    for (kind, data, expected) in rows {
        let found = one(kind, Given::Data(data.clone()));
        assert_eq!(found.clone().ok(), expected, "{kind:?} {data} {found:?}");
    }
}

#[test]
fn defaults_are_rendered_checked_and_only_used_when_nothing_is_given() {
    let with = |default: Value, kind| InputSpec { default: Some(default), ..spec("x", kind) };
    let resolved = |spec: InputSpec, given: &[(&str, Given)]| {
        resolve(&[spec], given).map(|inputs| inputs.values["x"].clone())
    };
    let branch = || with(json!("{{ branch }}"), InputType::String);
    assert_eq!(resolved(branch(), &[]), Ok(json!("main")));
    assert_eq!(resolved(branch(), &[("x", text("other"))]), Ok(json!("other")));
    assert_eq!(resolved(branch(), &[("x", Given::Data(Value::Null))]), Ok(json!("main")));
    // What is given is never rendered.
    assert_eq!(resolved(branch(), &[("x", text("{{ branch }}"))]), Ok(json!("{{ branch }}")));
    assert_eq!(resolved(with(json!("7"), InputType::Integer), &[]), Ok(json!(7)));
    assert!(resolved(with(json!("{{ branch }}"), InputType::Integer), &[]).is_err());
    assert!(resolved(with(json!("broken"), InputType::String), &[]).is_err());
    assert_eq!(resolved(spec("x", InputType::Integer), &[]), Ok(Value::Null));
}

#[test]
fn enum_and_match_are_kept() {
    let level =
        InputSpec { choices: vec![json!("low"), json!("high")], ..spec("x", InputType::String) };
    assert!(resolve(std::slice::from_ref(&level), &[("x", text("low"))]).is_ok());
    let error = &resolve(&[level], &[("x", text("mid"))]).unwrap_err()[0];
    let message = error.to_string();
    assert!(message.contains("`low`") && message.contains("`high`"), "{message}");
    let sha = InputSpec { pattern: Some(t("^[0-9a-f]{4}$")), ..spec("x", InputType::String) };
    assert!(resolve(std::slice::from_ref(&sha), &[("x", text("00ff"))]).is_ok());
    assert!(resolve(&[sha], &[("x", text("00fg"))]).is_err());
}

#[test]
fn everything_wrong_is_reported_at_once() {
    let specs = [
        InputSpec { required: true, ..spec("commit", InputType::String) },
        spec("count", InputType::Integer),
    ];
    let errors = resolve(&specs, &[("comit", text("x")), ("count", text("x"))]).unwrap_err();
    let hints: Vec<Option<String>> = errors.iter().map(InputError::hint).collect();
    assert_eq!(errors[0], InputError::Missing("commit".to_owned()));
    assert!(matches!(&errors[1], InputError::Invalid { name, .. } if name == "count"));
    assert!(matches!(&errors[2], InputError::Unknown { name, .. } if name == "comit"));
    assert_eq!(hints[2].as_deref(), Some("did you mean `commit`?"));
    let nothing = resolve(&[], &[("zzz", text("x"))]).unwrap_err();
    let hint = "it takes no inputs; declare it in the skill: \
                `- { name: zzz, type: string }` under `inputs:`";
    assert_eq!(nothing[0].hint().as_deref(), Some(hint));
    // Null is nothing, also where something is required.
    let errors = resolve(&specs[..1], &[("commit", Given::Data(Value::Null))]).unwrap_err();
    assert_eq!(errors, [InputError::Missing("commit".to_owned())]);
}

#[test]
fn secrets_are_kept_apart_and_never_shown() {
    let secret = InputSpec { pattern: Some(t("^ok")), ..spec("token", InputType::Secret) };
    let inputs = resolve(std::slice::from_ref(&secret), &[("token", text("ok-hunter2"))]).unwrap();
    assert_eq!(inputs.secrets.get("token"), Some("ok-hunter2"));
    assert!(!format!("{:?}", inputs.secrets).contains("hunter2"));
    let list = Given::Data(json!(["hunter2"]));
    for given in [text("hunter2"), list] {
        let errors = resolve(std::slice::from_ref(&secret), &[("token", given)]).unwrap_err();
        assert!(!format!("{errors:?} {}", errors[0]).contains("hunter2"), "{errors:?}");
    }
    let picky = InputSpec { choices: vec![json!("a")], ..spec("token", InputType::Secret) };
    let errors = resolve(&[picky], &[("token", text("hunter2"))]).unwrap_err();
    assert!(!errors[0].to_string().contains("hunter2"));
}
