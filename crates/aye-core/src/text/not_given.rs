//! Optional inputs that were not given.
//!
//! Such an input is `none`: conditions, `or` and `default` see that. Where it
//! would become a part of a text it is a name without a value, hence an error,
//! or empty in a lenient skill: `rm -r {{ inputs.dir }}/old` must not run with
//! the word `none`. What is written to a text is therefore passed through
//! [`GIVEN`] before a template is compiled.

use std::borrow::Cow;
use std::collections::BTreeSet;

use minijinja::machinery::{Token, tokenize};
use minijinja::value::Rest;
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior, Value};

use super::engine::syntax;
use super::render::TextError;
use super::scope::Scope;

/// What an expression in a text becomes: `__given(["note"], inputs.note)`.
const GIVEN: &str = "__given";

/// Filters that turn what they get into text.
const TO_TEXT: [&str; 16] = [
    "basename",
    "capitalize",
    "center",
    "e",
    "escape",
    "indent",
    "lower",
    "quote",
    "replace",
    "safe",
    "string",
    "title",
    "trim",
    "truncate",
    "upper",
    "urlencode",
];

/// Adds the function, and `default` for what was not given.
pub(super) fn add(engine: &mut Environment<'_>) {
    engine.add_function(GIVEN, |state: &State<'_, '_>, names: Vec<String>, value: Rest<Value>| {
        given(state, &names, value.first().cloned().unwrap_or_default())
    });
    for name in ["default", "d"] {
        engine.add_filter(name, |state: &State<'_, '_>, value: &Value, args: Rest<Value>| {
            let value = if value.is_none() { &Value::UNDEFINED } else { value };
            minijinja::filters::default(state, value, args)
        });
    }
}

fn given(state: &State<'_, '_>, names: &[String], value: Value) -> Result<Value, Error> {
    if !value.is_none() {
        return Ok(value);
    }
    let inputs = state.lookup("inputs").unwrap_or_default();
    let missing =
        names.iter().find(|name| inputs.get_attr(name).is_ok_and(|value| value.is_none()));
    match missing {
        None => Ok(value),
        Some(_) if state.env().undefined_behavior() == UndefinedBehavior::Chainable => {
            Ok(Value::from(""))
        }
        Some(name) => Err(not_given(name)),
    }
}

fn not_given(name: &str) -> Error {
    let message = format!("`inputs.{name}` has no value: it was not given");
    let hint = format!(
        "write `inputs.{name} or ''` if it may be missing, or declare a `default` for the input"
    );
    let error = TextError { hint: Some(hint), ..TextError::new(message) };
    Error::new(ErrorKind::UndefinedError, error.message.clone()).with_source(error)
}

/// The inputs that were not given.
pub(super) fn missing_inputs(scope: &Scope) -> BTreeSet<String> {
    match scope.value("inputs") {
        Some(serde_json::Value::Object(inputs)) => {
            inputs.into_iter().filter(|(_, value)| value.is_null()).map(|(name, _)| name).collect()
        }
        _ => BTreeSet::new(),
    }
}

/// A template in which what is written to the text is looked at, if it may be
/// one of these inputs.
pub(super) fn checked<'a>(template: &'a str, missing: &BTreeSet<String>) -> Cow<'a, str> {
    if missing.is_empty() || !template.contains("inputs") {
        return Cow::Borrowed(template);
    }
    let mut inserted: Vec<(usize, String)> = Vec::new();
    let mut open: Option<(usize, BTreeSet<&str>)> = None;
    let mut tokens = Vec::new();
    for token in tokenize(template, false, syntax()) {
        let Ok((token, span)) = token else { return Cow::Borrowed(template) };
        tokens.push((token, span.start_offset as usize..span.end_offset as usize));
    }
    for (at, (token, range)) in tokens.iter().enumerate() {
        match (token, &mut open) {
            (Token::VariableStart, _) => open = Some((range.end, BTreeSet::new())),
            (Token::VariableEnd, Some((start, names))) if !names.is_empty() => {
                inserted.push((*start, call(names)));
                inserted.push((range.start, ")".to_owned()));
                open = None;
            }
            (Token::VariableEnd, _) => open = None,
            (Token::Ident("inputs"), Some((_, names))) => {
                let Some((name, end)) = attribute(&tokens[at + 1..]) else { continue };
                let Some(name) = missing.get(name) else { continue };
                names.insert(name);
                if let [(Token::Pipe, _), (Token::Ident(filter), _), ..] = &tokens[at + 1 + end.0..]
                    && TO_TEXT.contains(filter)
                {
                    inserted.push((range.start, call(&BTreeSet::from([name.as_str()]))));
                    inserted.push((end.1, ")".to_owned()));
                }
            }
            _ => {}
        }
    }
    if inserted.is_empty() {
        return Cow::Borrowed(template);
    }
    // At one place, what was found last stands outside.
    inserted.reverse();
    inserted.sort_by_key(|(at, _)| *at);
    let mut out = String::with_capacity(template.len() * 2);
    let mut done = 0;
    for (at, words) in inserted {
        out.push_str(&template[done..at]);
        out.push_str(&words);
        done = at;
    }
    out.push_str(&template[done..]);
    Cow::Owned(out)
}

fn call(names: &BTreeSet<&str>) -> String {
    let names: Vec<&str> = names.iter().copied().collect();
    format!(" {GIVEN}({}, ", serde_json::Value::from(names))
}

/// `.NAME` or `["NAME"]`; how many tokens that is, and the byte where it ends.
fn attribute<'a>(
    tokens: &[(Token<'a>, std::ops::Range<usize>)],
) -> Option<(&'a str, (usize, usize))> {
    match tokens {
        [(Token::Dot, _), (Token::Ident(name), range), ..] => Some((name, (2, range.end))),
        [(Token::BracketOpen, _), (Token::Str(name), _), (Token::BracketClose, range), ..] => {
            Some((name, (3, range.end)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_to_the_text_is_looked_at() {
        let missing: BTreeSet<String> = ["a", "b"].map(str::to_owned).into();
        for (written, rewritten) in [
            ("x {{ inputs.a }} y", r#"x {{ __given(["a"],  inputs.a )}} y"#),
            ("{{- inputs['b'] -}}", r#"{{- __given(["b"],  inputs['b'] )-}}"#),
            ("{{ inputs.c }}{% if inputs.a %}{{ b }}{% endif %}", ""),
            ("{{ inputs.a|quote }}", r#"{{ __given(["a"],   __given(["a"], inputs.a)|quote )}}"#),
            (
                "{{ inputs.a if n else inputs.b }}",
                r#"{{ __given(["a","b"],  inputs.a if n else inputs.b )}}"#,
            ),
        ] {
            let rewritten = if rewritten.is_empty() { written } else { rewritten };
            assert_eq!(checked(written, &missing), rewritten, "{written}");
        }
    }
}
