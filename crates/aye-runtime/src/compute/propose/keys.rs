//! Keys that a mapping does not have.

use std::ops::Range;
use std::rc::Rc;

use aye_core::diagnostic::surely_meant;
use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{
    AnyNodeRef, Expr, ExprAttribute, ExprContext, ExprStringLiteral, ExprSubscript,
    StringFlags as _,
};
use ruff_text_size::{Ranged, TextRange};

use super::super::source::METHODS;
use super::Fix;
use super::code::{Code, bytes_of, is_simple};
use super::shape::{Shape, keys_of_all};

/// `x["key"]`, or `env.NAME`, which is looked up in the same way.
pub(super) fn missing(code: &Code<'_>, place: &Range<usize>, message: &str) -> Option<Fix> {
    let environment = message.starts_with("the environment has no ");
    let read = |node: AnyNodeRef<'_>| match node {
        AnyNodeRef::ExprSubscript(read) if read.ctx == ExprContext::Load => match &*read.slice {
            Expr::StringLiteral(key) => is_about(message, key.value.to_str()),
            Expr::Name(_) | Expr::Attribute(_) => bytes_of(read.range()) == *place,
            _ => false,
        },
        AnyNodeRef::ExprAttribute(read) => environment && is_about(message, read.attr.as_str()),
        _ => false,
    };
    let index = code.find(place, read)?;
    match code.node(index) {
        AnyNodeRef::ExprSubscript(read) => {
            near_key(code, index, read).or_else(|| get(code, index, read))
        }
        AnyNodeRef::ExprAttribute(read) => get_attribute(code, index, read),
        _ => None,
    }
}

/// Whether the message of an error names this key.
fn is_about(message: &str, key: &str) -> bool {
    let bare = |text: &str| text.trim_matches(['\'', '"', '`']).to_owned();
    let named = ["there is no key ", "the environment has no "];
    let named = named.iter().find_map(|start| message.strip_prefix(start));
    bare(named.unwrap_or(message)) == bare(key)
}

/// `x.key` of a mapping.
pub(super) fn attribute(
    code: &Code<'_>,
    place: &Range<usize>,
    key: &str,
    message: &str,
) -> Option<Fix> {
    let index = code.find(place, |node| {
        matches!(node, AnyNodeRef::ExprAttribute(read)
            if read.ctx == ExprContext::Load && read.attr.as_str() == key)
    })?;
    let AnyNodeRef::ExprAttribute(read) = code.node(index) else { return None };
    let near = match code.values(&read.value) {
        Some(maps) => nearest(&maps, key)?,
        // The message says which keys there are.
        None => {
            let (_, keys) = message.split_once("; it has: ").unwrap_or_default();
            surely_meant(key, keys.split(", ")).map(str::to_owned)
        }
    };
    match near {
        Some(near) => {
            let why = no_key(code, &read.value, key, &near);
            as_attribute(code, index, read, &near, Fix::new(why))
        }
        None => get_attribute(code, index, read),
    }
}

/// The key that was meant: `None` if the mapping has the key after all (or
/// nobody knows), `Some(None)` if it has nothing like it.
#[expect(clippy::option_option, reason = "unknown, known to be none, and known are three things")]
pub(super) fn nearest(maps: &[Rc<Shape>], key: &str) -> Option<Option<String>> {
    let keys = keys_of_all(maps)?;
    if keys.contains(&key) {
        return None;
    }
    Some(surely_meant(key, keys).map(str::to_owned))
}

fn no_key(code: &Code<'_>, map: &Expr, key: &str, near: &str) -> String {
    let map = one_line(code, map);
    format!("{map} has no key `{key}`, but it has `{near}`")
}

/// An expression in a sentence.
pub(super) fn one_line(code: &Code<'_>, expr: &Expr) -> String {
    let text = &code.text[bytes_of(expr.range())];
    match text.len() <= 40 && !text.contains(['\n', '\r', '`']) {
        true => format!("`{text}`"),
        false => "the mapping".to_owned(),
    }
}

/// Writes `x.near` in the place of `x.key`, or `x["near"]` if it has to be.
pub(super) fn as_attribute(
    code: &Code<'_>,
    index: usize,
    read: &ExprAttribute,
    near: &str,
    fix: Fix,
) -> Option<Fix> {
    let fix = if reads_as_attribute(near) {
        fix.edit(bytes_of(read.attr.range()), near)
    } else {
        brackets(code, index, read, near, fix)?
    };
    Some(fix.suggest(near))
}

/// Writes `x["key"]` in the place of `x.attr`.
pub(super) fn brackets(
    code: &Code<'_>,
    index: usize,
    read: &ExprAttribute,
    key: &str,
    fix: Fix,
) -> Option<Fix> {
    let key = code.string(index, key)?;
    let dot = code.dot(read)?;
    Some(fix.edit(dot, "").edit(bytes_of(read.attr.range()), format!("[{key}]")))
}

/// Whether `x.key` reads this key of a mapping, and no method of it.
pub(super) fn reads_as_attribute(key: &str) -> bool {
    is_name(key) && !METHODS.contains(&key) && !key.starts_with("__")
}

fn is_name(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_alphabetic())
        && chars.all(|c| c == '_' || c.is_alphanumeric())
        && !is_keyword(word)
}

/// Words that cannot be an attribute.
fn is_keyword(word: &str) -> bool {
    const KEYWORDS: [&str; 35] = [
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class",
        "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global",
        "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return",
        "try", "while", "with", "yield",
    ];
    KEYWORDS.contains(&word)
}

fn near_key(code: &Code<'_>, index: usize, read: &ExprSubscript) -> Option<Fix> {
    let Expr::StringLiteral(literal) = &*read.slice else { return None };
    let key = literal.value.to_str();
    let near = nearest(&code.values(&read.value)?, key)??;
    let inside = content(code, index, literal)?;
    let why = no_key(code, &read.value, key, &near);
    is_simple(&near).then(|| Fix::new(why).edit(inside, near.clone()).suggest(near))
}

/// What stands between the quotes of a simple string.
fn content(code: &Code<'_>, index: usize, literal: &ExprStringLiteral) -> Option<Range<usize>> {
    let part = literal.as_single_part_string()?;
    let Range { start, end } = bytes_of(part.range());
    let quote = part.flags.quote_str().len();
    let inside = start + quote..end.checked_sub(quote)?;
    // Prefixes and escapes: what is written is not what is meant.
    let plain = code.text.get(inside.clone()) == Some(literal.value.to_str());
    (plain && !code.shows_itself(index)).then_some(inside)
}

/// `x["key"]` as `x.get("key")`, where nothing is asked of the value.
fn get(code: &Code<'_>, index: usize, read: &ExprSubscript) -> Option<Fix> {
    // The key may be there, and what is missing something else.
    if let (Expr::StringLiteral(key), Some(maps)) = (&*read.slice, code.values(&read.value))
        && maps.iter().all(|map| map.get(key.value.to_str()).is_some())
    {
        return None;
    }
    if code.has_classes() || !code.takes_none(index) {
        return None;
    }
    let before = TextRange::new(read.value.end(), read.slice.start());
    let open = code.token(before, TokenKind::Lsqb)?;
    let end = bytes_of(read.range()).end;
    let fix = Fix::new(may_be_missing(code, &read.value));
    Some(fix.edit(open, ".get(").edit(end.checked_sub(1)?..end, ")"))
}

/// `x.key` as `x.get("key")`, where nothing is asked of the value.
fn get_attribute(code: &Code<'_>, index: usize, read: &ExprAttribute) -> Option<Fix> {
    if code.has_classes() || !code.takes_none(index) {
        return None;
    }
    let key = code.string(index, read.attr.as_str())?;
    let fix = Fix::new(may_be_missing(code, &read.value));
    Some(fix.edit(bytes_of(read.attr.range()), format!("get({key})")))
}

fn may_be_missing(code: &Code<'_>, map: &Expr) -> String {
    format!("{} has no such key; `get` gives None where one is missing", one_line(code, map))
}

#[cfg(test)]
mod tests {
    use super::{is_about, reads_as_attribute};

    #[test]
    fn messages_name_their_key() {
        for (message, key) in [
            ("there is no key `comit`", "comit"),
            ("'comit'", "comit"),
            ("a key", "a key"),
            ("the environment has no `HOEM`", "HOEM"),
        ] {
            assert!(is_about(message, key), "{message}");
            assert!(!is_about(message, "commit"), "{message}");
            assert!(!is_about(message, "o"), "{message}");
        }
    }

    #[test]
    fn only_names_that_are_no_methods_are_read_as_attributes() {
        for key in ["commit", "_x1", "größe"] {
            assert!(reads_as_attribute(key), "{key}");
        }
        for key in ["items", "get", "a-b", "1a", "", "class", "__len__", "a b", "None"] {
            assert!(!reads_as_attribute(key), "{key}");
        }
    }
}
