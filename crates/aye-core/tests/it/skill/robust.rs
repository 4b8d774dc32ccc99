//! No text, whatever it holds, makes the reader panic.

use aye_core::diagnostic::{Source, render, to_json};
use aye_core::skill::parse;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Reads, and does with the result whatever a program would.
fn exercise(text: &str) -> Result<(), TestCaseError> {
    let parsed = parse("demo.yaml", text);
    let source = Source::new("demo.yaml", text);
    for found in &parsed.diagnostics {
        prop_assert!(render(found, &source, true).ends_with('\n'));
        let json = to_json(found, &source);
        prop_assert!((json.line, json.column) <= (json.end_line, json.end_column));
        for (span, _) in found.labels.iter().filter(|(span, _)| span.start <= text.len()) {
            prop_assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end));
        }
    }
    // A file without errors gives skills, one with errors says so.
    prop_assert!(parsed.has_errors() || !parsed.skills.is_empty());
    Ok(())
}

fn word() -> impl Strategy<Value = String> {
    let known = "name|description|version|tags|inputs|steps|states|initial|initialState|outputs|\
        timeout|globalTimeout|cleanup|step_limit|workflows|metadata|type|required|default|enum|\
        match|command|args|shell|confirm|choose|input|condition|output|on_error|env|cwd|stdin|\
        interactive|tty|idempotent|destructive|confirmation|status|transitions|on_success|title|\
        message|options|secret|by|approvals|reauth|override|remember|ai_assist|defaultAccept|\
        label|value|action|success|failure|declined|cancelled|tool|compute|retry|final|failed|\
        human|anyone|allow|never|skip|proceed|cancel|string|integer|secret|toString|<<";
    let known: Vec<&str> = known.split('|').collect();
    prop_oneof![8 => prop::sample::select(known).prop_map(str::to_owned), 1 => ".{0,8}"]
}

fn node() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        (-2..400i32).prop_map(Value::from),
        any::<f32>().prop_map(Value::from),
        prop::sample::select(vec!["30s", "5m", "{{ x }}", "a b", "", "\u{1b}", "\u{202e}", "("])
            .prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..8)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in any::<String>()) {
        exercise(&text)?;
    }

    #[test]
    fn any_text_of_yaml_signs(text in "[-:?,\\[\\]{}#&*!|>'\"%@` \t\r\na-c0-9~<\u{feff}é日]{0,80}") {
        exercise(&text)?;
    }

    #[test]
    fn any_nodes(value in node()) {
        exercise(&value.to_string())?;
    }

    #[test]
    fn any_nodes_where_steps_are(value in node(), other in node()) {
        exercise(&json!({ "name": "demo", "steps": [value, other] }).to_string())?;
    }

    #[test]
    fn any_keys_in_a_step(keys in prop::collection::vec((word(), node()), 0..8)) {
        let mut step: serde_json::Map<String, Value> = keys.into_iter().collect();
        step.insert("name".to_owned(), json!("one"));
        exercise(&json!({ "name": "demo", "steps": [step.clone()] }).to_string())?;
        step.remove("name");
        let states = json!({ "one": step });
        exercise(&json!({ "name": "demo", "initial": "one", "states": states }).to_string())?;
    }

    #[test]
    fn any_question(keys in prop::collection::vec((word(), node()), 0..8)) {
        let question: serde_json::Map<String, Value> = keys.into_iter().collect();
        let steps = ["confirm", "choose", "input", "confirmation"]
            .map(|kind| json!({ "name": kind, kind: question }));
        exercise(&json!({ "name": "demo", "steps": steps }).to_string())?;
    }
}
