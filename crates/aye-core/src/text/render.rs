//! Rendering.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};
use serde_json::Value;

use crate::diagnostic::did_you_mean;

use super::scope::Scope;

/// Bounds the work of one template: loops over long lists are no programs.
const FUEL: u64 = 1_000_000;

static ENGINE: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut engine = Environment::new();
    engine.set_undefined_behavior(UndefinedBehavior::Strict);
    engine.set_auto_escape_callback(|_| AutoEscape::None);
    engine.set_fuel(Some(FUEL));
    // Text is taken as it was written: a script keeps its last line break.
    let mut syntax = SyntaxConfig::builder();
    syntax.keep_trailing_newline(true);
    if let Ok(syntax) = syntax.build() {
        engine.set_syntax(syntax);
    }
    engine.add_filter("quote", |value: minijinja::Value| super::shell::quote_filter(&value));
    engine
});

/// Why a template or condition gave no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TextError {
    /// What is wrong, in words.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
    /// Bytes of the template it is about.
    pub range: Option<std::ops::Range<usize>>,
    /// What a step that fails because of it reports: `TEMPLATE`,
    /// `INJECTION_DETECTED` or `RESOURCE_LIMIT`.
    pub code: &'static str,
}

impl TextError {
    /// A template that is wrong.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, range: None, code: "TEMPLATE" }
    }
}

/// The engine, for those who need it a little different.
pub(super) fn engine() -> &'static Environment<'static> {
    &ENGINE
}

/// Whether the text has anything to render.
pub(super) fn is_plain(template: &str) -> bool {
    !(template.contains("{{") || template.contains("{%") || template.contains("{#"))
}

/// The expression, if the template is exactly one.
fn lone_expression(template: &str) -> Option<&str> {
    let inner = template.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    let inner = inner.strip_prefix('-').unwrap_or(inner);
    Some(inner.strip_suffix('-').unwrap_or(inner).trim())
}

/// The names a template uses, dotted; fails if it cannot be read.
pub fn names_in(template: &str) -> Result<Vec<String>, TextError> {
    if is_plain(template) {
        return Ok(Vec::new());
    }
    match ENGINE.template_from_named_str("template", template) {
        Ok(compiled) => Ok(sorted(compiled.undeclared_variables(true))),
        Err(error) => Err(explain(&error, None, &[])),
    }
}

/// The names a condition uses, dotted; fails if it cannot be read.
pub fn names_in_condition(condition: &str) -> Result<Vec<String>, TextError> {
    match ENGINE.compile_expression(lone_expression(condition).unwrap_or(condition)) {
        Ok(compiled) => Ok(sorted(compiled.undeclared_variables(true))),
        Err(error) => Err(explain(&error, None, &[])),
    }
}

/// The engine counts its own functions among the names.
fn sorted(names: std::collections::HashSet<String>) -> Vec<String> {
    let is_function = |name: &str| ENGINE.globals().any(|(global, _)| global == name);
    let mut names: Vec<String> = names.into_iter().filter(|name| !is_function(name)).collect();
    names.sort();
    names
}

/// Renders a template; one that is exactly one expression keeps its type.
pub fn render(template: &str, scope: &Scope) -> Result<Value, TextError> {
    if is_plain(template) {
        return Ok(Value::String(template.to_owned()));
    }
    if let Some(expression) = lone_expression(template)
        && let Ok(compiled) = ENGINE.compile_expression(expression)
    {
        let used: Vec<String> = compiled.undeclared_variables(true).into_iter().collect();
        let value = compiled.eval(minijinja::Value::from_object(scope.clone()));
        return match value {
            Ok(value) if value.is_undefined() => Err(undefined(scope, &used)),
            Ok(value) => to_data(&value),
            Err(error) => Err(explain(&error, Some(scope), &used)),
        };
    }
    render_text(template, scope).map(Value::String)
}

/// Renders a template to text.
pub fn text(template: &str, scope: &Scope) -> Result<String, TextError> {
    if is_plain(template) {
        return Ok(template.to_owned());
    }
    render_text(template, scope)
}

/// Renders every string inside a value.
pub fn render_value(value: &Value, scope: &Scope) -> Result<Value, TextError> {
    Ok(match value {
        Value::String(template) => render(template, scope)?,
        Value::Array(items) => {
            items.iter().map(|item| render_value(item, scope)).collect::<Result<_, _>>()?
        }
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, item)| Ok((key.clone(), render_value(item, scope)?)))
                .collect::<Result<_, TextError>>()?,
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}

/// Whether a condition holds: native truthiness, not a comparison of text.
pub fn holds(condition: &str, scope: &Scope) -> Result<bool, TextError> {
    let expression = lone_expression(condition).unwrap_or(condition);
    let compiled =
        ENGINE.compile_expression(expression).map_err(|error| explain(&error, None, &[]))?;
    let used: Vec<String> = compiled.undeclared_variables(true).into_iter().collect();
    match compiled.eval(minijinja::Value::from_object(scope.clone())) {
        Ok(value) if value.is_undefined() => Err(undefined(scope, &used)),
        Ok(value) => Ok(value.is_true()),
        Err(error) => Err(explain(&error, Some(scope), &used)),
    }
}

fn render_text(template: &str, scope: &Scope) -> Result<String, TextError> {
    let mut text = Vec::new();
    render_with(&ENGINE, template, scope, &mut text)?;
    String::from_utf8(text).map_err(|error| TextError::new(error.to_string()))
}

/// Renders with this engine to this writer.
pub(super) fn render_with(
    engine: &Environment<'_>,
    template: &str,
    scope: &Scope,
    to: impl std::io::Write,
) -> Result<(), TextError> {
    let compiled = engine
        .template_from_named_str("template", template)
        .map_err(|error| explain(&error, None, &[]))?;
    let rendered = compiled.render_captured_to(minijinja::Value::from_object(scope.clone()), to);
    rendered.map(drop).map_err(|error| {
        let used: Vec<String> = compiled.undeclared_variables(true).into_iter().collect();
        explain(&error, Some(scope), &used)
    })
}

fn to_data(value: &minijinja::Value) -> Result<Value, TextError> {
    serde_json::to_value(value)
        .map_err(|error| TextError::new(format!("the result is no data: {error}")))
}

fn undefined(scope: &Scope, used: &[String]) -> TextError {
    if let Some(name) = scope.lost_secret(used) {
        return TextError {
            hint: Some("secrets are not kept: give it again".to_owned()),
            ..TextError::new(format!("the secret `{name}` is not known"))
        };
    }
    let mut missing: Vec<&String> = used.iter().filter(|name| !scope.knows(name)).collect();
    missing.sort();
    let Some(name) = missing.first() else {
        return TextError {
            hint: Some(
                "a key is missing; write `x.key | default('')` or ask `x.key is defined`"
                    .to_owned(),
            ),
            ..TextError::new("the value is not defined")
        };
    };
    let known: Vec<String> = scope.names().into_iter().chain(scope.inputs_named()).collect();
    let hint = match did_you_mean(name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known names: {}", known.join(", ")),
    };
    TextError { hint: Some(hint), ..TextError::new(format!("`{name}` is not defined")) }
}

fn explain(error: &Error, scope: Option<&Scope>, used: &[String]) -> TextError {
    if let (ErrorKind::UndefinedError, Some(scope)) = (error.kind(), scope) {
        return undefined(scope, used);
    }
    let message = match (error.kind(), error.detail()) {
        (ErrorKind::OutOfFuel, _) => "the template does too much work".to_owned(),
        (kind, Some(detail)) => format!("{kind}: {detail}"),
        (kind, None) => kind.to_string(),
    };
    TextError { range: error.range(), ..TextError::new(message) }
}
