//! Functions that people who write Python take for granted.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use minijinja::value::{Object, ObjectRepr, Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior, Value};

use super::compare;

/// Adds them all.
pub(super) fn add(engine: &mut Environment<'_>) {
    for kind in [Type::Str, Type::Int, Type::Float, Type::Bool, Type::List, Type::Dict] {
        engine.add_global(kind.name(), Value::from_object(kind));
    }
    engine.add_function("len", length);
    engine.add_function("isinstance", is_instance);
    engine.add_function("any", |value: Value| Ok::<_, Error>(items(&value)?.any(|v| v.is_true())));
    engine.add_function("all", |value: Value| Ok::<_, Error>(items(&value)?.all(|v| v.is_true())));
    engine.add_function("min", |args: Rest<Value>| extreme("min", &args, Ordering::Less));
    engine.add_function("max", |args: Rest<Value>| extreme("max", &args, Ordering::Greater));
    for name in ["sum", "abs", "round"] {
        engine.add_function(name, move |state: &mut State<'_, '_>, value: Value| {
            state.apply_filter(name, &[value])
        });
    }
    engine.add_function("sorted", |state: &mut State<'_, '_>, value: Value| {
        state.apply_filter("sort", &[value])
    });
}

/// How long a value is; nothing at all has no length, which is 0.
pub(super) fn length(state: &State<'_, '_>, value: &Value) -> Result<usize, Error> {
    match value.kind() {
        ValueKind::None => Ok(0),
        ValueKind::Undefined if is_lenient(state) => Ok(0),
        ValueKind::Undefined => Err(ErrorKind::UndefinedError.into()),
        kind => value.len().ok_or_else(|| wrong(format!("a {kind} has no length"))),
    }
}

/// Bytes as in an address: letters, digits, `-_.~` and what is `kept` stay as they are.
pub fn percent_encoded(bytes: &[u8], kept: &str) -> String {
    let stays = |byte: u8| {
        byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || kept.as_bytes().contains(&byte)
    };
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match stays(byte) {
            true => text.push(char::from(byte)),
            false => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// As in an address; a mapping becomes `a=1&b=2`.
pub(super) fn url_encode(state: &State<'_, '_>, value: &Value) -> Result<String, Error> {
    let encoded = |value: &Value| percent_encoded(value.to_string().as_bytes(), "/");
    match value.kind() {
        ValueKind::Undefined if !is_lenient(state) => Err(ErrorKind::UndefinedError.into()),
        ValueKind::Undefined | ValueKind::None => Ok(String::new()),
        ValueKind::Map => {
            let mut pairs = Vec::new();
            for key in value.try_iter()? {
                let item = value.get_item(&key)?;
                if !(item.is_none() || item.is_undefined()) {
                    pairs.push(format!("{}={}", encoded(&key), encoded(&item)));
                }
            }
            Ok(pairs.join("&"))
        }
        _ => Ok(encoded(value)),
    }
}

/// Refuses a width or precision that nobody wants: the engine would panic.
pub(super) fn check_format<'a>(
    format: &Value,
    args: impl IntoIterator<Item = &'a Value>,
) -> Result<(), Error> {
    let text = format.as_str().unwrap_or_default();
    let long = |digits: &str| digits.trim_start_matches('0').len() > 6;
    let written = text.split(|c: char| !c.is_ascii_digit()).any(long);
    // `%*d` takes its width from what it is given.
    let given = text.contains('*')
        && args.into_iter().any(|arg| arg.as_i64().is_some_and(|n| n.unsigned_abs() > 999_999));
    match written || given {
        true => Err(wrong("a width of more than 999999 is too large".to_owned())),
        false => Ok(()),
    }
}

fn is_lenient(state: &State<'_, '_>) -> bool {
    state.env().undefined_behavior() == UndefinedBehavior::Chainable
}

fn wrong(message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

fn items(value: &Value) -> Result<minijinja::value::ValueIter, Error> {
    if value.is_undefined() {
        return Err(ErrorKind::UndefinedError.into());
    }
    value.try_iter()
}

/// `max(xs)` and `max(a, b)`.
fn extreme(name: &str, args: &[Value], wanted: Ordering) -> Result<Value, Error> {
    let best = match args {
        [list] => compare::extreme(name, items(list)?, wanted),
        _ if args.iter().any(Value::is_undefined) => Err(ErrorKind::UndefinedError.into()),
        _ => compare::extreme(name, args.iter().cloned(), wanted),
    };
    best?.ok_or_else(|| wrong("an empty list has no smallest and no largest item".to_owned()))
}

/// `isinstance(x, str)`, `isinstance(x, (list, dict))`.
fn is_instance(value: &Value, kinds: &Value) -> Result<bool, Error> {
    if let Some(kind) = kinds.downcast_object_ref::<Type>() {
        return Ok(kind.holds(value));
    }
    if kinds.kind() != ValueKind::Seq {
        return Err(wrong("`isinstance` needs a type: str, int, float, bool, list, dict".into()));
    }
    for kind in kinds.try_iter()? {
        if is_instance(value, &kind)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A type: converts when called, and can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Str,
    Int,
    Float,
    Bool,
    List,
    Dict,
}

impl Type {
    fn name(self) -> &'static str {
        match self {
            Self::Str => "str",
            Self::Int => "int",
            Self::Float => "float",
            Self::Bool => "bool",
            Self::List => "list",
            Self::Dict => "dict",
        }
    }

    fn holds(self, value: &Value) -> bool {
        match (self, value.kind()) {
            (Self::Str, ValueKind::String)
            | (Self::Bool | Self::Int, ValueKind::Bool)
            | (Self::List, ValueKind::Seq)
            | (Self::Dict, ValueKind::Map) => true,
            (Self::Int, ValueKind::Number) => value.is_integer(),
            (Self::Float, ValueKind::Number) => !value.is_integer(),
            _ => false,
        }
    }

    fn convert(self, state: &mut State<'_, '_>, value: Value) -> Result<Value, Error> {
        match self {
            Self::Str => Ok(Value::from(value.to_string())),
            Self::Bool => Ok(Value::from(value.is_true())),
            Self::Int | Self::Float => {
                let value = match value.as_str() {
                    Some(text) => Value::from(text.trim()),
                    None => value,
                };
                state.apply_filter(self.name(), &[value])
            }
            Self::List => Ok(value.try_iter()?.collect()),
            Self::Dict => state.apply_filter("items", &[value]).map(|pairs| {
                Value::from_pairs(pairs.try_iter().into_iter().flatten().filter_map(|pair| {
                    Some((pair.get_item_by_index(0).ok()?, pair.get_item_by_index(1).ok()?))
                }))
            }),
        }
    }

    /// `str()`
    fn empty(self) -> Value {
        match self {
            Self::Str => Value::from(""),
            Self::Int => Value::from(0),
            Self::Float => Value::from(0.0),
            Self::Bool => Value::from(false),
            Self::List => Value::from(Vec::<Value>::new()),
            Self::Dict => Value::from_pairs(std::iter::empty::<(Value, Value)>()),
        }
    }
}

impl Object for Type {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        match args {
            [] => Ok(self.empty()),
            [value] if value.is_undefined() => {
                if is_lenient(state) {
                    Ok(self.empty())
                } else {
                    Err(ErrorKind::UndefinedError.into())
                }
            }
            // `dict(a=1)`
            [value] if **self == Self::Dict && value.is_kwargs() => {
                Ok(Value::from_pairs(value.try_iter()?.filter_map(|key| {
                    let item = value.get_item(&key).ok()?;
                    Some((key, item))
                })))
            }
            [value] => self.convert(state, value.clone()),
            _ => Err(wrong(format!("`{}` takes one value", self.name()))),
        }
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
