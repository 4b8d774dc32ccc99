//! Rendering.

use minijinja::{Environment, Error, ErrorKind};
use serde_json::Value;

use crate::diagnostic::did_you_mean;

use super::engine::{engine, is_function};
use super::scope::{Expressions, Scope};
use super::splice::{Spliced, now_called};

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
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, range: None, code: "TEMPLATE" }
    }
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
    names_in_with(template, None)
}

/// The names a condition uses, dotted; fails if it cannot be read.
pub fn names_in_condition(condition: &str) -> Result<Vec<String>, TextError> {
    names_in_condition_with(condition, None)
}

/// As [`names_in`], with somebody who reads what the engine cannot.
pub fn names_in_with(
    template: &str,
    expressions: Option<&dyn Expressions>,
) -> Result<Vec<String>, TextError> {
    if is_plain(template) {
        return Ok(Vec::new());
    }
    let engine = engine(false);
    let spliced = read(engine, template, expressions)?;
    let compiled = engine.template_from_named_str("template", &spliced.text);
    let compiled = compiled.map_err(|error| explain(&error, None, &[]))?;
    let mut names = sorted(compiled.undeclared_variables(true));
    if let Some(expressions) = expressions {
        for source in spliced.foreign.iter() {
            names.extend(expressions.names(source)?);
        }
    }
    // Names that the template itself gives are known to it alone.
    if !spliced.foreign.is_empty() {
        let own = spliced.own_names();
        names.retain(|name| !own.contains(name.split('.').next().unwrap_or(name)));
        names.sort();
        names.dedup();
    }
    Ok(names)
}

/// As [`names_in_condition`], with somebody who reads what the engine cannot.
pub fn names_in_condition_with(
    condition: &str,
    expressions: Option<&dyn Expressions>,
) -> Result<Vec<String>, TextError> {
    let expression = lone_expression(condition).unwrap_or(condition);
    match engine(false).compile_expression(&now_called(expression)) {
        Ok(compiled) => Ok(sorted(compiled.undeclared_variables(true))),
        Err(error) => match expressions.map(|other| other.names(expression.trim())) {
            Some(Ok(names)) => Ok(names),
            Some(Err(_)) | None => Err(explain(&error, None, &[])),
        },
    }
}

/// The engine counts its own functions among the names.
fn sorted(names: std::collections::HashSet<String>) -> Vec<String> {
    let mut names: Vec<String> = names.into_iter().filter(|name| !is_function(name)).collect();
    names.retain(|name| name != super::splice::EXPRESSION);
    names.sort();
    names
}

/// A template that the engine can read.
fn read<'a>(
    engine: &Environment<'_>,
    template: &'a str,
    expressions: Option<&dyn Expressions>,
) -> Result<Spliced<'a>, TextError> {
    let unreadable = engine.template_from_named_str("template", template).err();
    if unreadable.is_none() && !template.contains("now(") {
        return Ok(Spliced::untouched(template));
    }
    let spliced = Spliced::template(template, engine, expressions);
    // What is wrong is said of the template as it was written.
    match (unreadable, engine.template_from_named_str("template", &spliced.text)) {
        (Some(error), Err(_)) => Err(explain(&error, None, &[])),
        _ => Ok(spliced),
    }
}

/// Renders a template; one that is exactly one expression keeps its type.
pub fn render(template: &str, scope: &Scope) -> Result<Value, TextError> {
    if is_plain(template) {
        return Ok(Value::String(template.to_owned()));
    }
    if let Some(expression) = lone_expression(template)
        && let Some(value) = evaluate(expression, scope)
    {
        return match value? {
            Evaluated::Here(value) => to_data(&value),
            Evaluated::Elsewhere(value) => Ok(value),
        };
    }
    render_text(template, scope).map(Value::String)
}

/// The value of an expression, and where it came from.
enum Evaluated {
    Here(minijinja::Value),
    Elsewhere(Value),
}

/// Evaluates an expression; `None` if nobody can read it.
fn evaluate(expression: &str, scope: &Scope) -> Option<Result<Evaluated, TextError>> {
    let called = now_called(expression);
    let Ok(compiled) = engine(scope.lenient).compile_expression(&called) else {
        let expressions = scope.world.names.expressions()?;
        expressions.names(expression).ok()?;
        return Some(expressions.evaluate(expression, scope).map(Evaluated::Elsewhere));
    };
    let used = || compiled.undeclared_variables(true).into_iter().collect::<Vec<_>>();
    Some(match compiled.eval(minijinja::Value::from_object(scope.clone())) {
        Ok(value) if value.is_undefined() && scope.lenient => Ok(Evaluated::Elsewhere(Value::Null)),
        Ok(value) if value.is_undefined() => Err(undefined(scope, &used())),
        Ok(value) => Ok(Evaluated::Here(value)),
        Err(error) => Err(explain(&error, Some(scope), &used())),
    })
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
    let expression = lone_expression(condition).unwrap_or(condition).trim();
    match evaluate(expression, scope) {
        Some(value) => Ok(match value? {
            Evaluated::Here(value) => value.is_true(),
            Evaluated::Elsewhere(value) => is_true(&value),
        }),
        None => match engine(scope.lenient).compile_expression(expression) {
            Err(error) => Err(explain(&error, None, &[])),
            Ok(_) => Err(TextError::new("the condition cannot be read")),
        },
    }
}

/// Whether data counts as true.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

fn render_text(template: &str, scope: &Scope) -> Result<String, TextError> {
    let mut text = Vec::new();
    render_with(engine(scope.lenient), template, scope, &mut text)?;
    String::from_utf8(text).map_err(|error| TextError::new(error.to_string()))
}

/// Renders with this engine to this writer.
pub(super) fn render_with(
    engine: &Environment<'_>,
    template: &str,
    scope: &Scope,
    to: impl std::io::Write,
) -> Result<(), TextError> {
    let spliced = read(engine, template, scope.world.names.expressions())?;
    let compiled = engine
        .template_from_named_str("template", &spliced.text)
        .map_err(|error| explain(&error, None, &[]))?;
    let rendered = compiled.render_captured_to(spliced.context(scope), to);
    rendered.map(drop).map_err(|error| {
        let used: Vec<String> = compiled.undeclared_variables(true).into_iter().collect();
        explain(&error, Some(scope), &used)
    })
}

pub(super) fn to_data(value: &minijinja::Value) -> Result<Value, TextError> {
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
    let source = std::error::Error::source(error);
    if let Some(carried) = source.and_then(|source| source.downcast_ref::<TextError>()) {
        return carried.clone();
    }
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
