//! Filters and tests that a template uses and that do not exist.

use std::collections::BTreeSet;

use minijinja::ErrorKind;

use super::cost::{estimate_cost, tame};
use super::engine::engine;
use super::python_fallback::expressions_in;
use super::render::{TextError, condition_of, is_plain, with_expression, with_template};
use super::scope::Expressions;

/// A filter or a test that there is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord {
    /// `filter` or `test`.
    pub kind: &'static str,
    /// How it is called.
    pub name: String,
}

/// The first filter or test of a template that there is not.
pub fn unknown_word_in(
    template: &str,
    expressions: Option<&dyn Expressions>,
) -> Result<Option<UnknownWord>, TextError> {
    if is_plain(template) {
        return Ok(None);
    }
    // What is not Jinja is taken out before.
    estimate_cost(template, false)?;
    let missing = BTreeSet::new();
    let template = tame(template, false);
    with_template(engine(false), &template, &missing, expressions, |_, spliced| {
        expressions_in(&spliced.text).into_iter().find_map(|at| unknown(&spliced.text[at]))
    })
}

/// The first filter or test of a condition that there is not.
pub fn unknown_word_in_condition(
    condition: &str,
    expressions: Option<&dyn Expressions>,
) -> Result<Option<UnknownWord>, TextError> {
    let expression = condition_of(condition)?;
    estimate_cost(expression, true)?;
    with_expression(engine(false), &tame(expression, true), expressions, |_, spliced| {
        unknown(&spliced.text)
    })
}

/// Looks for `| name`, `is name` and `is not name` in an expression that the
/// engine can read.
fn unknown(expression: &str) -> Option<UnknownWord> {
    let tokens = tokens(expression);
    let is_name = |token: &&str| token.starts_with(|c: char| c.is_alphabetic() || c == '_');
    for (at, token) in tokens.iter().enumerate() {
        let next = |by: usize| tokens.get(at + by).copied().filter(is_name);
        let attribute = at.checked_sub(1).is_some_and(|before| tokens[before] == ".");
        let (kind, name) = match *token {
            "|" => ("filter", next(1)),
            "is" if !attribute && next(1) == Some("not") => ("test", next(2)),
            "is" if !attribute => ("test", next(1)),
            _ => continue,
        };
        if let Some(name) = name.filter(|name| !exists(kind, name)) {
            return Some(UnknownWord { kind, name: name.to_owned() });
        }
    }
    None
}

/// Called without anything a filter that exists complains of something else.
fn exists(kind: &str, name: &str) -> bool {
    let mut state = engine(false).empty_state();
    let tried = if kind == "filter" {
        state.apply_filter(name, &[]).err()
    } else {
        state.perform_test(name, &[]).err()
    };
    let unknown = |error: minijinja::Error| {
        matches!(error.kind(), ErrorKind::UnknownFilter | ErrorKind::UnknownTest)
    };
    !tried.is_some_and(unknown)
}

/// Words and signs, without blanks and what stands in quotes.
fn tokens(expression: &str) -> Vec<&str> {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = expression.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' | '\'' => {
                let mut escaped = false;
                let close = rest.char_indices().skip(1).find(|(_, c)| {
                    let closes = !escaped && *c == first;
                    escaped = !escaped && *c == '\\';
                    closes
                });
                close.map_or(rest.len(), |(at, _)| at + 1)
            }
            c if in_word(c) => rest.find(|c| !in_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}
