//! Expressions that the template engine cannot read.
//!
//! `{{ any(x for x in xs) }}` is not Jinja, but it is Python. Such pieces of a
//! template are taken out, evaluated by [`Expressions`] when the engine comes
//! to them, and come back as values: never as text of the template.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use indexmap::IndexMap;
use minijinja::value::{Enumerator, Object, ObjectRepr, Serde};
use minijinja::{Environment, Error, ErrorKind, State, Value};

use super::render::TextError;
use super::scope::{BUILT_IN, Expressions, Scope, is_work_memory};

/// What stands in a template for an expression that was taken out.
pub(super) const EXPRESSION: &str = "__expression";
/// What stands in a template for `now` where it is called.
pub(super) const NOW: &str = "__now";

/// A template that the engine can read, and what was taken out of it.
pub(super) struct Spliced<'a> {
    /// The template.
    pub(super) text: Cow<'a, str>,
    /// The expressions, by number.
    pub(super) foreign: Arc<[String]>,
}

impl<'a> Spliced<'a> {
    /// The template as it is.
    pub(super) fn untouched(text: &'a str) -> Self {
        Self { text: Cow::Borrowed(text), foreign: Arc::default() }
    }

    /// Takes out of a template what the engine cannot read. What nobody can
    /// read stays.
    pub(super) fn template(
        template: &'a str,
        engine: &Environment<'_>,
        expressions: Option<&dyn Expressions>,
    ) -> Self {
        let mut text = String::with_capacity(template.len());
        let mut foreign = Vec::new();
        let mut done = 0;
        for piece in expressions_in(template) {
            let source = &template[piece.clone()];
            text.push_str(&template[done..piece.start]);
            done = piece.end;
            match readable(source, engine, expressions, &mut foreign) {
                Some(readable) => text.push_str(&readable),
                None => text.push_str(source),
            }
        }
        text.push_str(&template[done..]);
        Self { text: Cow::Owned(text), foreign: foreign.into() }
    }

    /// Takes out of an expression what the engine cannot read.
    pub(super) fn expression(
        source: &'a str,
        engine: &Environment<'_>,
        expressions: Option<&dyn Expressions>,
    ) -> Self {
        let mut foreign = Vec::new();
        match readable(source, engine, expressions, &mut foreign) {
            Some(text) => Self { text, foreign: foreign.into() },
            None => Self::untouched(source),
        }
    }

    /// The names that the template itself gives.
    pub(super) fn own_names(&self) -> BTreeSet<&str> {
        let mut own = BTreeSet::new();
        for tag in self.text.split("{%").skip(1) {
            let tag = tag.trim_start_matches(['-', '+']).trim_start();
            let given = match first_word(tag) {
                ("for", rest) => tag[rest..].split(" in ").next(),
                ("set", rest) => tag[rest..].split(['=', '%']).next(),
                _ => None,
            };
            own.extend(given.into_iter().flat_map(|names| names.split(',')).map(str::trim));
        }
        own.insert("loop");
        own
    }

    /// The names of a scope, and the expressions that were taken out.
    pub(super) fn context(&self, scope: &Scope) -> Value {
        if self.foreign.is_empty() {
            return Value::from_object(scope.clone());
        }
        let foreign = Arc::clone(&self.foreign);
        Value::from_object(Context { scope: Arc::new(scope.clone()), foreign })
    }
}

/// The expression as the engine can read it, with what it cannot taken out.
fn readable<'s>(
    source: &'s str,
    engine: &Environment<'_>,
    expressions: Option<&dyn Expressions>,
    foreign: &mut Vec<String>,
) -> Option<Cow<'s, str>> {
    let called = now_called(source);
    if let Ok(compiled) = engine.compile_expression(&called)
        && !is_known_elsewhere(source, &compiled.undeclared_variables(false), expressions)
    {
        return Some(called);
    }
    // The engine's filters may follow what only others can read.
    let bar = end_of(source, 0, "|").filter(|bar| {
        engine.compile_expression(&format!("{EXPRESSION}{}", &source[*bar..])).is_ok()
    });
    let (own, filters) = source.split_at(bar.unwrap_or(source.len()));
    expressions?.names(own.trim()).ok()?;
    foreign.push(own.trim().to_owned());
    Some(Cow::Owned(format!(" {EXPRESSION}({}) {filters}", foreign.len() - 1)))
}

/// Whether something is called there that is not a function of the engine.
pub(super) fn calls_foreign(text: &str, names: &HashSet<String>) -> bool {
    names.iter().any(|name| is_call(text, name) && !super::engine::is_function(name))
}

/// Whether such a function is one for those who read other expressions:
/// `dir()`. They do not count it among the names that they need.
fn is_known_elsewhere(
    source: &str,
    names: &HashSet<String>,
    expressions: Option<&dyn Expressions>,
) -> bool {
    let mut called = names
        .iter()
        .filter(|name| is_call(source, name) && !super::engine::is_function(name))
        .peekable();
    if called.peek().is_none() {
        return false;
    }
    let needed = expressions.and_then(|expressions| expressions.names(source.trim()).ok());
    needed.is_some_and(|needed| called.all(|name| !needed.contains(name)))
}

/// Whether a name is followed by a bracket somewhere.
fn is_call(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| text[at + name.len()..].starts_with('('))
}

/// Whether `now` may be called there.
pub(super) fn calls_now(text: &str) -> bool {
    text.contains("now(")
}

/// `now` is a text, `now()` a moment: two names for the engine.
fn now_called(expression: &str) -> Cow<'_, str> {
    if !calls_now(expression) {
        return Cow::Borrowed(expression);
    }
    let mut text = String::with_capacity(expression.len() + NOW.len());
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in expression.char_indices() {
        let free = quote.is_none() && !(before.is_alphanumeric() || before == '_' || before == '.');
        if free && expression[at..].starts_with("now(") {
            text.push_str("__");
        }
        text.push(c);
        match quote {
            Some(open) if c == open && before != '\\' => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            _ => {}
        }
        before = c;
    }
    Cow::Owned(text)
}

/// Where the expressions of a template stand: `{{ … }}`, `{% if … %}`,
/// `{% elif … %}`, `{% for x in … %}`, `{% set x = … %}`.
pub(super) fn expressions_in(template: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = template[at..].find('{') {
        at += next;
        let rest = &template[at..];
        if rest.starts_with("{#") {
            at = rest.find("#}").map_or(template.len(), |end| at + end + 2);
        } else if rest.starts_with("{{") {
            let Some(end) = end_of(template, at + 2, "}}") else { break };
            found.push(trimmed(template, at + 2..end));
            at = end + 2;
        } else if rest.starts_with("{%") {
            let Some(end) = end_of(template, at + 2, "%}") else { break };
            let inner = trimmed(template, at + 2..end);
            let (word, _) = first_word(&template[inner.clone()]);
            at = end + 2;
            if word == "raw" {
                let close = template[at..].find("endraw").unwrap_or(template.len() - at);
                at += close;
                continue;
            }
            found.extend(in_block(template, inner));
        } else {
            at += 1;
        }
    }
    found
}

/// The expression of a block.
fn in_block(template: &str, inner: Range<usize>) -> Option<Range<usize>> {
    let text = &template[inner.clone()];
    let (word, rest) = first_word(text);
    let skip = match word {
        "if" | "elif" => rest,
        "for" => rest + text[rest..].find(" in ")? + " in ".len(),
        "set" => rest + text[rest..].find('=')? + 1,
        _ => return None,
    };
    Some(inner.start + skip..inner.end)
}

fn first_word(text: &str) -> (&str, usize) {
    let start = text.len() - text.trim_start().len();
    let word = text[start..].split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    (word, start + word.len())
}

/// Without the signs that say what to do with the blanks around.
fn trimmed(template: &str, range: Range<usize>) -> Range<usize> {
    let text = &template[range.clone()];
    let start = usize::from(text.starts_with(['-', '+']));
    let end = usize::from(text.len() > start && text.ends_with(['-', '+']));
    range.start + start..range.end - end
}

/// Where this stands first, unless in quotes.
pub(super) fn outside_quotes(text: &str, wanted: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if text[at..].starts_with(wanted) => return Some(at),
            None => {}
        }
    }
    None
}

/// Where an expression ends: quotes and brackets are passed over.
fn end_of(template: &str, start: usize, close: &str) -> Option<usize> {
    let bytes = template.as_bytes();
    let mut depth = 0_usize;
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += 1 + usize::from(bytes[at] == b'\\');
                }
            }
            _ if depth == 0 && template.get(at..)?.starts_with(close) => return Some(at),
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            // No bracket goes beyond the end of a block.
            _ if close == "%}" && template.get(at..).is_some_and(|t| t.starts_with(close)) => {
                return Some(at);
            }
            _ => {}
        }
        at += 1;
        while at < bytes.len() && !template.is_char_boundary(at) {
            at += 1;
        }
    }
    None
}

/// A scope that also has the expressions which were taken out.
struct Context {
    scope: Arc<Scope>,
    foreign: Arc<[String]>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.scope.fmt(f)
    }
}

impl Object for Context {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        if key.as_str() == Some(EXPRESSION) {
            return Some(Value::from_object(Foreign(Arc::clone(self))));
        }
        self.scope.get_value(key)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::NonEnumerable
    }
}

/// `__expression(n)`: evaluates the expression of that number.
struct Foreign(Arc<Context>);

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expression")
    }
}

impl Object for Foreign {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        let number = args.first().and_then(Value::as_usize);
        let source = number.and_then(|number| self.0.foreign.get(number));
        let names = &self.0.scope.world.names;
        let (Some(source), Some(expressions)) = (source, names.expressions()) else {
            return Err(ErrorKind::InvalidOperation.into());
        };
        let scope = with_variables(&self.0.scope, state, source, expressions).map_err(carry)?;
        let value = expressions.evaluate(source, &scope).map_err(carry)?;
        Ok(Serde(value).into())
    }
}

/// The scope as it is seen at this place of the template: `{% for %}` and
/// `{% set %}` give names, too.
fn with_variables(
    scope: &Scope,
    state: &State<'_, '_>,
    source: &str,
    expressions: &dyn Expressions,
) -> Result<Scope, TextError> {
    let mut locals: IndexMap<_, _> = IndexMap::clone(&scope.locals);
    for name in expressions.names(source)? {
        let name = name.split('.').next().unwrap_or(&name);
        if BUILT_IN.contains(&name) || super::engine::is_function(name) {
            continue;
        }
        // Work memory has functions only: expressions call them themselves.
        let is_data = |value: &Value| !value.is_undefined() && !is_work_memory(value);
        if let Some(value) = state.lookup(name).filter(is_data) {
            let data = super::render::to_data(&value)?;
            locals.insert(name.to_owned(), data);
        }
    }
    Ok(Scope { locals: Arc::new(locals), ..scope.clone() })
}

/// An error on its way through the engine.
fn carry(error: TextError) -> Error {
    Error::new(ErrorKind::InvalidOperation, error.message.clone()).with_source(error)
}
