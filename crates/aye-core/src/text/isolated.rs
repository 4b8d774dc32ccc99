//! Templates that may be much work, evaluated where they can be stopped.
//!
//! [`evaluate_template`] is what is done there, with a scope that holds nothing and asks
//! for every name ([`RemoteScope`](super::scope::RemoteScope)).

use std::ops::Range;

use crate::error_code::ErrorCode;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cost::{Cost, estimate_cost};
use super::missing::undefined;
use super::render::{self, TextError};
use super::scope::Scope;
use super::shell::pieces;

/// What a template is, and so what its value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TemplateKind {
    /// One expression, to data.
    Expression,
    /// A template, to text.
    Text,
    /// A script, to its pieces.
    Script,
}

/// Why there is no value.
#[derive(Debug, Serialize, Deserialize)]
struct Failure {
    message: String,
    hint: Option<String>,
    range: Option<Range<usize>>,
    undefined: bool,
}

/// Evaluates a template; what comes back is for [`evaluate_isolated`] to read.
pub fn evaluate_template(kind: TemplateKind, template: &str, scope: &Scope) -> Value {
    let result = match kind {
        TemplateKind::Expression => render::evaluate_here(template, scope)
            .and_then(|value| value)
            .and_then(|value| render::to_data(&value)),
        TemplateKind::Text => render::render_text_here(template, scope).map(Value::String),
        TemplateKind::Script => pieces::pieces_here(template, scope).and_then(|pieces| {
            serde_json::to_value(pieces).map_err(|e| TextError::new(e.to_string()))
        }),
    };
    let result = result.map_err(|error| Failure {
        undefined: error.code == ErrorCode::Undefined,
        message: error.message,
        hint: error.hint,
        range: error.range,
    });
    serde_json::to_value(result).unwrap_or_default()
}

/// Evaluates a template where it can be stopped, if it may be much work and
/// there is such a place.
pub(super) fn evaluate_isolated<T: DeserializeOwned>(
    kind: TemplateKind,
    template: &str,
    scope: &Scope,
) -> Result<Option<T>, TextError> {
    if estimate_cost(template, kind == TemplateKind::Expression)? == Cost::Low {
        return Ok(None);
    }
    let Some(expressions) = scope.world.names.expressions() else { return Ok(None) };
    let Some(result) = expressions.evaluate_isolated(kind, template, scope) else {
        return Ok(None);
    };
    let unreadable = |error: serde_json::Error| TextError::new(error.to_string());
    let result: Result<Value, Failure> = serde_json::from_value(result?).map_err(unreadable)?;
    match result {
        Ok(value) => serde_json::from_value(value).map(Some).map_err(unreadable),
        Err(failure) if failure.undefined => {
            let names = match kind {
                TemplateKind::Expression => {
                    render::names_in_condition_with(template, Some(expressions))
                }
                TemplateKind::Text | TemplateKind::Script => {
                    render::names_in_with(template, Some(expressions))
                }
            };
            Err(undefined(scope, &names.unwrap_or_default()))
        }
        Err(Failure { message, hint, range, .. }) => {
            Err(TextError { hint, range, ..TextError::new(message) })
        }
    }
}
