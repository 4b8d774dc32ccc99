//! What is known of a value: its type and its keys, never what it holds.

use std::rc::Rc;

use serde_json::Value;

/// The outline of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    /// A mapping with these keys.
    Map(Vec<(String, Rc<Shape>)>),
    /// A list of these.
    List(Vec<Rc<Shape>>),
    /// A value of this type.
    Other(&'static str),
    /// Anything.
    Unknown,
}

impl Shape {
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Object(map) => {
                let entry =
                    |(key, value): (&String, &Value)| (key.clone(), Rc::new(Self::of(value)));
                Self::Map(map.iter().map(entry).collect())
            }
            Value::Array(items) => {
                Self::List(items.iter().map(|item| Rc::new(Self::of(item))).collect())
            }
            other => Self::Other(super::super::error::type_of(other)),
        }
    }

    /// What stands under a key of a mapping.
    pub(super) fn get(&self, key: &str) -> Option<&Rc<Self>> {
        match self {
            Self::Map(entries) => {
                entries.iter().find(|(own, _)| own == key).map(|(_, shape)| shape)
            }
            _ => None,
        }
    }

    /// The name of its type, if it is known.
    pub(super) fn type_name(&self) -> Option<&'static str> {
        match self {
            Self::Map(_) => Some("dict"),
            Self::List(_) => Some("list"),
            Self::Other(name) => Some(name),
            Self::Unknown => None,
        }
    }
}

/// The type that all of these have.
pub(super) fn type_of_all(shapes: &[Rc<Shape>]) -> Option<&'static str> {
    let mut names = shapes.iter().map(|shape| shape.type_name());
    let first = names.next()??;
    names.all(|name| name == Some(first)).then_some(first)
}

/// The keys that all of these have; `None` if one is not a mapping.
pub(super) fn keys_of_all(shapes: &[Rc<Shape>]) -> Option<Vec<&str>> {
    let (first, rest) = shapes.split_first()?;
    let Shape::Map(first) = &**first else { return None };
    if !rest.iter().all(|shape| matches!(**shape, Shape::Map(_))) {
        return None;
    }
    let keys = first.iter().map(|(key, _)| key.as_str());
    Some(keys.filter(|key| rest.iter().all(|shape| shape.get(key).is_some())).collect())
}
