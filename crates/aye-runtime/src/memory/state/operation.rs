//! Changes of a file, as data: journalled with the step's result, applied to
//! the file as it is then.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::path::place;

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Operation {
    /// The file holds this now.
    Write {
        /// All of it.
        value: Value,
    },
    /// What is at this dotted path is this now.
    Update {
        /// The path.
        path: String,
        /// The value.
        value: Value,
    },
    /// An item is added to a list.
    Append {
        /// The dotted path of the list, which is made if there is none.
        list: String,
        /// The item.
        item: Value,
        /// An item that has the same here is replaced.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        match_key: Option<String>,
        /// Only so many of the newest are kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keep: Option<usize>,
    },
    /// Items are removed from a list.
    Remove {
        /// The dotted path of the list.
        list: String,
        /// What an item is recognised by.
        match_key: String,
        /// What that is, as text.
        value: String,
    },
}

impl Operation {
    /// Changes a value; how many items it removed.
    ///
    /// # Errors
    /// When the value has something else where the change belongs.
    pub fn apply(&self, to: &mut Value) -> Result<usize, String> {
        match self {
            Self::Write { value } => {
                *to = value.clone();
                Ok(0)
            }
            Self::Update { path, value } => {
                *place(to, path)? = value.clone();
                Ok(0)
            }
            Self::Append { list: path, item, match_key, keep } => {
                let list = list(to, path)?;
                let of = |one: &Value| match_key.as_ref().and_then(|key| one.get(key).cloned());
                let known = of(item).filter(|value| !is_empty(value));
                let known = known
                    .and_then(|value| list.iter_mut().find(|one| of(one).as_ref() == Some(&value)));
                match known {
                    Some(known) => known.clone_from(item),
                    None => list.push(item.clone()),
                }
                if let Some(keep) = keep {
                    list.drain(..list.len().saturating_sub(*keep));
                }
                Ok(0)
            }
            Self::Remove { list: path, match_key, value } => {
                if to.is_null() {
                    return Ok(0);
                }
                let list = list(to, path)?;
                let before = list.len();
                list.retain(|one| as_text(one.get(match_key)) != *value);
                Ok(before - list.len())
            }
        }
    }

    /// What it does, for people.
    pub fn summary(&self) -> String {
        match self {
            Self::Write { .. } => "written".to_owned(),
            Self::Update { path, .. } => format!("`{path}` set"),
            Self::Append { list, .. } => format!("added to `{list}`"),
            Self::Remove { list, .. } => format!("removed from `{list}`"),
        }
    }
}

/// The list at a path; nothing there is an empty one.
fn list<'a>(to: &'a mut Value, path: &str) -> Result<&'a mut Vec<Value>, String> {
    let at = place(to, path)?;
    if at.is_null() {
        *at = Value::Array(Vec::new());
    }
    at.as_array_mut().ok_or_else(|| format!("`{path}` is not a list"))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

/// A value as Python's `str` has it, for what names things.
pub(super) fn as_text(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) => "None".to_owned(),
        Some(Value::Bool(true)) => "True".to_owned(),
        Some(Value::Bool(false)) => "False".to_owned(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn append(list: &str, item: Value, match_key: Option<&str>) -> Operation {
        let match_key = match_key.map(str::to_owned);
        Operation::Append { list: list.to_owned(), item, match_key, keep: None }
    }

    #[test]
    fn items_are_added_replaced_and_removed() {
        let mut data = Value::Null;
        append("mrs", json!({ "id": 1, "s": "a" }), Some("id")).apply(&mut data).expect("added");
        append("mrs", json!({ "id": 2 }), Some("id")).apply(&mut data).expect("added");
        append("mrs", json!({ "id": 1, "s": "b" }), Some("id")).apply(&mut data).expect("replaced");
        append("mrs", json!({ "s": "c" }), Some("id")).apply(&mut data).expect("added");
        append("mrs", json!({ "s": "c" }), Some("id")).apply(&mut data).expect("added");
        assert_eq!(
            data,
            json!({ "mrs": [{ "id": 1, "s": "b" }, { "id": 2 }, { "s": "c" }, { "s": "c" }] })
        );
        let remove = |value: &str| Operation::Remove {
            list: "mrs".to_owned(),
            match_key: "id".to_owned(),
            value: value.to_owned(),
        };
        assert_eq!(remove("1").apply(&mut data), Ok(1));
        assert_eq!(remove("9").apply(&mut data), Ok(0));
        assert_eq!(data["mrs"].as_array().map(Vec::len), Some(3));
        assert!(append("mrs.0.id", json!(1), None).apply(&mut data).is_err());
    }

    #[test]
    fn only_the_newest_are_kept_where_that_is_said() {
        let mut data = Value::Null;
        for n in 0..5 {
            let (list, item) = ("l".to_owned(), json!(n));
            let add = Operation::Append { list, item, match_key: None, keep: Some(3) };
            add.apply(&mut data).expect("added");
        }
        assert_eq!(data, json!({ "l": [2, 3, 4] }));
    }
}
