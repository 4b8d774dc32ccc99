//! The template engine and what it knows beyond its own filters.
//!
//! Templates were written by people who know Jinja2 and Python: methods of
//! strings, lists and mappings work as there, and so do a few functions.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Rest, ValueKind, ValueOrKwargs};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State, UndefinedBehavior, Value};

use super::moment::Moment;
use super::{compare, filters, functions, not_given};

/// Bounds the work of one template: loops over long lists are not programs.
const FUEL: u64 = 1_000_000;

static STRICT: LazyLock<Environment<'static>> = LazyLock::new(|| make(UndefinedBehavior::Strict));
static LENIENT: LazyLock<Environment<'static>> =
    LazyLock::new(|| make(UndefinedBehavior::Chainable));

/// The engine that names without a value are errors for, or the one for which
/// they are empty.
pub(super) fn engine(lenient: bool) -> &'static Environment<'static> {
    if lenient { &LENIENT } else { &STRICT }
}

/// Whether the engine itself answers this name.
pub(super) fn is_function(name: &str) -> bool {
    STRICT.globals().any(|(global, _)| global == name)
}

/// How templates are written. Text is taken as it was written: a script keeps
/// its last line break.
pub(super) fn syntax() -> SyntaxConfig {
    static SYNTAX: LazyLock<SyntaxConfig> = LazyLock::new(|| {
        let mut syntax = SyntaxConfig::builder();
        syntax.keep_trailing_newline(true);
        syntax.build().unwrap_or_default()
    });
    SYNTAX.clone()
}

fn make(undefined: UndefinedBehavior) -> Environment<'static> {
    let mut engine = Environment::new();
    engine.set_undefined_behavior(undefined);
    engine.set_auto_escape_callback(|_| AutoEscape::None);
    engine.set_fuel(Some(FUEL));
    engine.set_syntax(syntax());
    engine.set_unknown_method_callback(method);
    engine.add_filter("quote", |value: Value| super::shell::quote_filter(&value));
    engine.add_filter("length", functions::length);
    engine.add_filter("count", functions::length);
    engine.add_filter("urlencode", functions::url_encode);
    engine.add_filter("format", |state: &mut State, text: Value, args: Rest<ValueOrKwargs>| {
        functions::check_format(&text, args.iter().map(|arg| &**arg))?;
        minijinja::filters::format(state, &text, args)
    });
    engine.add_filter("basename", |path: String| {
        path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned()
    });
    engine.add_function(super::python_fallback::NOW, |state: &State| {
        Moment::from_state(state).map(Value::from_object)
    });
    functions::add(&mut engine);
    compare::add(&mut engine);
    filters::add(&mut engine);
    not_given::add(&mut engine);
    engine
}

/// Methods as Python has them.
fn method(
    state: &mut State<'_, '_>,
    value: &Value,
    name: &str,
    args: &[Value],
) -> Result<Value, Error> {
    if state.env().undefined_behavior() == UndefinedBehavior::Chainable
        && matches!(value.kind(), ValueKind::Undefined | ValueKind::None)
    {
        return Ok(Value::UNDEFINED);
    }
    if value.is_undefined() {
        return Err(ErrorKind::UndefinedError.into());
    }
    // An input that was not given is `none`, and has no value all the same.
    if let ("get", [key, default]) = (name, args)
        && state.lookup("inputs").is_some_and(|inputs| inputs == *value)
    {
        let found = value.get_item(key)?;
        let missing = found.is_none() || found.is_undefined();
        return Ok(if missing { default.clone() } else { found });
    }
    if name == "format" {
        functions::check_format(value, args)?;
    }
    minijinja_contrib::pycompat::unknown_method_callback(state, value, name, args)
}
