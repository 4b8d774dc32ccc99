//! Rendering.

use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::error_code::ErrorCode;

use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, Expression, Template};
use serde_json::Value;

use super::compare::guarded;
use super::cost::{Cost, estimate_cost, tame};
use super::engine::{engine, is_function};
use super::isolated::{TemplateKind, evaluate_isolated};
use super::missing::undefined;
use super::not_given::{checked, missing_inputs};
use super::python_fallback::{Spliced, calls_foreign, calls_now, outside_quotes};
use super::scope::{Expressions, Scope};

/// The longest text that comes out of a template.
const LONGEST: usize = 32 << 20;

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
    pub code: ErrorCode,
}

impl TextError {
    /// A template that is wrong.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, range: None, code: ErrorCode::Template }
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

/// The expression of a condition. Braces may stand around all of it; inside it
/// they would be a mapping of mappings, which is never what was meant.
pub(super) fn condition_of(condition: &str) -> Result<&str, TextError> {
    let expression = lone_expression(condition).unwrap_or(condition).trim();
    let Some(at) = ["{{", "{%"].into_iter().find_map(|open| outside_quotes(expression, open))
    else {
        return Ok(expression);
    };
    let start = condition.find(expression).unwrap_or_default() + at;
    Err(TextError {
        hint: Some("drop the braces: a condition is one expression, such as `x > 0`".to_owned()),
        range: Some(start..start + 2),
        ..TextError::new("a part of this condition stands in braces")
    })
}

/// The names a template uses, dotted; fails if it cannot be read.
pub fn names_in(template: &str) -> Result<Vec<String>, TextError> {
    names_in_with(template, None)
}

/// The names a condition uses, dotted; fails if it cannot be read.
pub fn names_in_condition(condition: &str) -> Result<Vec<String>, TextError> {
    names_in_condition_with(condition, None)
}

/// As [`names_in`], with someone who reads what the engine cannot.
pub fn names_in_with(
    template: &str,
    expressions: Option<&dyn Expressions>,
) -> Result<Vec<String>, TextError> {
    if is_plain(template) {
        return Ok(Vec::new());
    }
    estimate_cost(template, false)?;
    let missing = BTreeSet::new();
    let template = tame(template, false);
    with_template(engine(false), &template, &missing, expressions, |compiled, spliced| {
        with_foreign(sorted(compiled.undeclared_variables(true)), spliced, expressions)
    })?
}

/// As [`names_in_condition`], with someone who reads what the engine cannot.
pub fn names_in_condition_with(
    condition: &str,
    expressions: Option<&dyn Expressions>,
) -> Result<Vec<String>, TextError> {
    let expression = condition_of(condition)?;
    estimate_cost(expression, true)?;
    with_expression(engine(false), &tame(expression, true), expressions, |compiled, spliced| {
        with_foreign(sorted(compiled.undeclared_variables(true)), spliced, expressions)
    })?
}

/// Adds the names of what was taken out.
fn with_foreign(
    mut names: Vec<String>,
    spliced: &Spliced<'_>,
    expressions: Option<&dyn Expressions>,
) -> Result<Vec<String>, TextError> {
    let (Some(expressions), false) = (expressions, spliced.foreign.is_empty()) else {
        return Ok(names);
    };
    for source in spliced.foreign.iter() {
        names.extend(expressions.names(source)?.into_iter().map(without_method));
    }
    // Names that the template itself gives are known to it alone.
    let own = spliced.own_names();
    names.retain(|name| !own.contains(name.split('.').next().unwrap_or(name)));
    names.sort();
    names.dedup();
    Ok(names)
}

/// The engine counts its own functions among the names.
fn sorted(names: std::collections::HashSet<String>) -> Vec<String> {
    let mut names: Vec<String> = names.into_iter().map(without_method).collect();
    names.retain(|name| !is_function(name) && name != super::python_fallback::EXPRESSION);
    names.sort();
    names.dedup();
    names
}

/// `inputs.get` is `inputs`: the engine takes methods for keys.
fn without_method(mut name: String) -> String {
    let methods = [".get", ".items", ".keys", ".values"];
    if let Some(method) = methods.iter().find(|method| name.ends_with(**method)) {
        name.truncate(name.len() - method.len());
    }
    name
}

/// Reads a template, once if it is plain Jinja, and hands it on. The inputs
/// that are `missing` are not to be written to its text.
pub(super) fn with_template<T>(
    engine: &Environment<'_>,
    template: &str,
    missing: &BTreeSet<String>,
    expressions: Option<&dyn Expressions>,
    then: impl FnOnce(&Template<'_, '_>, &Spliced<'_>) -> T,
) -> Result<T, TextError> {
    let ready = |template: &str| checked(&guarded(template, false), missing).into_owned();
    let wrong = match engine.template_from_named_str("template", &ready(template)) {
        Ok(compiled)
            if !calls_now(template)
                && !calls_foreign(template, &compiled.undeclared_variables(false)) =>
        {
            return Ok(then(&compiled, &Spliced::untouched(template)));
        }
        Ok(_) => None,
        Err(_) => engine.template_from_named_str("template", template).err(),
    };
    let spliced = Spliced::template(template, engine, expressions);
    match engine.template_from_named_str("template", &ready(&spliced.text)) {
        Ok(compiled) => Ok(then(&compiled, &spliced)),
        // What is wrong is said of the template as it was written.
        Err(error) => Err(explain(&wrong.unwrap_or(error), None, &[])),
    }
}

/// Reads an expression, once if it is plain Jinja, and hands it on.
pub(super) fn with_expression<T>(
    engine: &Environment<'_>,
    expression: &str,
    expressions: Option<&dyn Expressions>,
    then: impl FnOnce(&Expression<'_, '_>, &Spliced<'_>) -> T,
) -> Result<T, TextError> {
    let wrong = match engine.compile_expression(&guarded(expression, true)) {
        Ok(compiled)
            if !calls_now(expression)
                && !calls_foreign(expression, &compiled.undeclared_variables(false)) =>
        {
            return Ok(then(&compiled, &Spliced::untouched(expression)));
        }
        Ok(_) => None,
        Err(_) => engine.compile_expression(expression).err(),
    };
    let spliced = Spliced::expression(expression, engine, expressions);
    match engine.compile_expression(&guarded(&spliced.text, true)) {
        Ok(compiled) => Ok(then(&compiled, &spliced)),
        Err(error) => Err(explain(&wrong.unwrap_or(error), None, &[])),
    }
}

/// Renders a template; one that is exactly one expression keeps its type.
pub fn render(template: &str, scope: &Scope) -> Result<Value, TextError> {
    if is_plain(template) {
        return Ok(Value::String(template.to_owned()));
    }
    if let Some(expression) = lone_expression(template)
        && let Ok(value) = evaluate(expression, scope)
    {
        return to_data(&value?);
    }
    render_text(template, scope).map(Value::String)
}

/// Evaluates an expression; the outer error says that nobody can read it.
fn evaluate(
    expression: &str,
    scope: &Scope,
) -> Result<Result<minijinja::Value, TextError>, TextError> {
    match estimate_cost(expression, true) {
        Ok(Cost::Low) => return evaluate_here(expression, scope),
        // A syntax error is reported for the template as a whole.
        Ok(Cost::High) => names_in_condition_with(expression, scope.world.names.expressions())?,
        Err(error) => return Ok(Err(error)),
    };
    match evaluate_isolated::<Value>(TemplateKind::Expression, expression, scope) {
        Ok(None) => evaluate_here(expression, scope),
        Ok(Some(value)) => Ok(Ok(Serde(value).into())),
        Err(error) => Ok(Err(error)),
    }
}

/// As [`evaluate`], on the spot.
pub(super) fn evaluate_here(
    expression: &str,
    scope: &Scope,
) -> Result<Result<minijinja::Value, TextError>, TextError> {
    let engine = engine(scope.lenient);
    with_expression(engine, expression, scope.world.names.expressions(), |compiled, spliced| {
        let used = || sorted(compiled.undeclared_variables(true));
        match compiled.eval(spliced.context(scope)) {
            Ok(value) if value.is_undefined() && scope.lenient => Ok(minijinja::Value::from(())),
            Ok(value) if value.is_undefined() => {
                Err(explain(&ErrorKind::UndefinedError.into(), Some(scope), &used()))
            }
            Ok(value) => Ok(value),
            Err(error) => Err(explain(&error, Some(scope), &used())),
        }
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
    evaluate(condition_of(condition)?, scope)?.map(|value| value.is_true())
}

fn render_text(template: &str, scope: &Scope) -> Result<String, TextError> {
    match evaluate_isolated(TemplateKind::Text, template, scope)? {
        Some(text) => Ok(text),
        None => render_text_here(template, scope),
    }
}

/// Renders a template to text, on the spot.
pub(super) fn render_text_here(template: &str, scope: &Scope) -> Result<String, TextError> {
    let mut text = Vec::new();
    render_with(engine(scope.lenient), template, scope, &mut text)?;
    String::from_utf8(text).map_err(|error| TextError::new(error.to_string()))
}

/// Renders with this engine to this writer.
pub(super) fn render_with(
    engine: &Environment<'_>,
    template: &str,
    scope: &Scope,
    to: impl Write,
) -> Result<(), TextError> {
    let missing = if template.contains("inputs") { missing_inputs(scope) } else { BTreeSet::new() };
    let expressions = scope.world.names.expressions();
    with_template(engine, template, &missing, expressions, |compiled, spliced| {
        let to = Limited { to, left: LONGEST };
        let rendered = compiled.render_captured_to(spliced.context(scope), to);
        rendered.map(drop).map_err(|error| {
            explain(&error, Some(scope), &sorted(compiled.undeclared_variables(true)))
        })
    })?
}

/// A writer that takes no more than fits.
struct Limited<W> {
    to: W,
    left: usize,
}

impl<W: Write> Write for Limited<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    // Also called for nothing at all, which the default would not pass on.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(left) = self.left.checked_sub(bytes.len()) else {
            let message = format!("the text is longer than {} MiB", LONGEST >> 20);
            return Err(io::Error::other(message));
        };
        self.left = left;
        self.to.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

pub(super) fn to_data(value: &minijinja::Value) -> Result<Value, TextError> {
    serde_json::to_value(value)
        .map_err(|error| TextError::new(format!("the result is not data: {error}")))
}

fn explain(error: &Error, scope: Option<&Scope>, used: &[String]) -> TextError {
    let source = std::error::Error::source(error);
    if let Some(carried) = source.and_then(|source| source.downcast_ref::<TextError>()) {
        return carried.clone();
    }
    if let (ErrorKind::UndefinedError, Some(scope)) = (error.kind(), scope) {
        if scope.world.names.remote_scope().is_some() {
            return TextError {
                code: ErrorCode::Undefined,
                ..TextError::new("a name is not defined")
            };
        }
        return undefined(scope, used);
    }
    let message = match (error.kind(), error.detail()) {
        (ErrorKind::OutOfFuel, _) => "the template does too much work".to_owned(),
        (kind, Some(detail)) => format!("{kind}: {detail}"),
        (kind, None) => kind.to_string(),
    };
    TextError { range: error.range(), ..TextError::new(message) }
}
