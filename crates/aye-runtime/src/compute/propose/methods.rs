//! Attributes and methods of mappings, texts and lists.

use std::ops::Range;

use aye_core::diagnostic::surely_meant;
use ruff_python_ast::{AnyNodeRef, ExprAttribute, ExprContext};
use ruff_text_size::Ranged;

use super::super::source::METHODS;
use super::Fix;
use super::code::{Code, bytes_of};
use super::keys::{as_attribute, brackets, nearest, one_line};
use super::shape::Shape;

const OF_TEXT: [&str; 35] = [
    "capitalize",
    "casefold",
    "center",
    "count",
    "encode",
    "endswith",
    "expandtabs",
    "find",
    "format",
    "index",
    "isalnum",
    "isalpha",
    "isdigit",
    "islower",
    "isnumeric",
    "isspace",
    "isupper",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "upper",
];
const OF_LISTS: [&str; 11] = [
    "append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse",
    "sort",
];

/// `'dict' object has no attribute 'x'`, and the like.
pub(super) fn missing(
    code: &Code<'_>,
    place: &Range<usize>,
    owner: &str,
    name: &str,
) -> Option<Fix> {
    let index = code.find(
        place,
        |node| matches!(node, AnyNodeRef::ExprAttribute(read) if read.attr.as_str() == name),
    )?;
    let AnyNodeRef::ExprAttribute(read) = code.node(index) else { return None };
    let methods: &[&str] = match owner {
        "dict" => &METHODS,
        "str" => &OF_TEXT,
        "list" => &OF_LISTS,
        _ => return None,
    };
    let called = code.is_called(index);
    if owner == "dict" && !called {
        return of_mapping(code, index, read);
    }
    if owner == "dict"
        && let Some(fix) = key_called(code, index, read)
    {
        return Some(fix);
    }
    let meant = surely_meant(name, methods.iter().copied()).filter(|_| called)?;
    let kind = match owner {
        "dict" => "a mapping",
        "str" => "a text",
        _ => "a list",
    };
    let why = format!("{kind} has no `{name}`, but it has `{meant}`");
    Some(Fix::new(why).edit(bytes_of(read.attr.range()), meant).suggest(meant))
}

/// `x.key = …`, and `x.key` where Python itself reads it.
fn of_mapping(code: &Code<'_>, index: usize, read: &ExprAttribute) -> Option<Fix> {
    let key = read.attr.as_str();
    let map = one_line(code, &read.value);
    let why = format!("{map} is a mapping: its keys stand in brackets");
    // To set a key it need not be there.
    let maps = code.values(&read.value).filter(|_| read.ctx == ExprContext::Load);
    if let Some(Some(near)) = maps.and_then(|maps| nearest(&maps, key)) {
        return brackets(code, index, read, &near, Fix::new(why)).map(|fix| fix.suggest(near));
    }
    brackets(code, index, read, key, Fix::new(why))
}

/// `x.key()` of a mapping that has the key: nothing in data can be called.
fn key_called(code: &Code<'_>, index: usize, read: &ExprAttribute) -> Option<Fix> {
    let key = read.attr.as_str();
    let maps = code.values(&read.value)?;
    maps.iter().all(|map| map.get(key).is_some()).then_some(())?;
    let AnyNodeRef::ExprCall(call) = code.node(code.parent(index)?) else { return None };
    let arguments = bytes_of(call.arguments.range());
    (&code.text[arguments.clone()] == "()").then_some(())?;
    let why = format!("`{key}` is a key of {}, not a function", one_line(code, &read.value));
    let fix = as_attribute(code, index, read, key, Fix::new(why))?;
    Some(fix.edit(arguments, ""))
}

/// Whether something was done with a method as if it were a value.
pub(super) fn is_function(message: &str) -> bool {
    ["'function' object", "'builtin_function_or_method' object"]
        .iter()
        .any(|start| message.starts_with(start))
}

/// `x.items` of a mapping with a key `items`: the method was found, the key
/// was meant.
pub(super) fn handed_on(code: &Code<'_>, place: &Range<usize>) -> Option<Fix> {
    let has = |map: &Shape, key: &str| map.get(key).is_some();
    let mut found = (0..code.nodes.len()).filter_map(|index| {
        let AnyNodeRef::ExprAttribute(read) = code.node(index) else { return None };
        let key = read.attr.as_str();
        let range = bytes_of(read.range());
        let here =
            range.start == place.start || (place.start <= range.start && range.end <= place.end);
        let fits = here
            && METHODS.contains(&key)
            && read.ctx == ExprContext::Load
            && !code.is_called(index)
            && !code.shows_itself(index)
            && code.values(&read.value).is_some_and(|maps| maps.iter().all(|map| has(map, key)));
        fits.then_some((index, read, key))
    });
    let (Some((index, read, key)), None) = (found.next(), found.next()) else { return None };
    let map = one_line(code, &read.value);
    let why = format!("`{key}` is a method of {map}; its key of that name stands in brackets");
    brackets(code, index, read, key, Fix::new(why)).map(|fix| fix.suggest(format!("[\"{key}\"]")))
}
