//! Places inside a value: dotted paths for changes, queries for reading.

use serde_json::{Map, Value};

/// How deep a path leads. Every reader and writer of a file goes as deep as its values do.
const DEEPEST: usize = 32;

/// The parts of a dotted path.
pub(super) fn parts(path: &str) -> Result<Vec<&str>, String> {
    let parts: Vec<&str> = path.split('.').take(DEEPEST + 1).collect();
    if parts.len() > DEEPEST {
        let start: String = path.chars().take(60).collect();
        return Err(format!("the path `{start}…` has more than {DEEPEST} parts"));
    }
    match parts.iter().any(|part| part.is_empty()) {
        true => Err(format!("`{path}` is not a path; write names with dots: `environments.stage`")),
        false => Ok(parts),
    }
}

/// The place that a dotted path leads to; mappings on the way are made.
pub(super) fn place<'a>(root: &'a mut Value, path: &str) -> Result<&'a mut Value, String> {
    let mut at = root;
    let mut walked = String::new();
    for part in parts(path)? {
        if at.is_null() {
            *at = Value::Object(Map::new());
        }
        at = match at {
            Value::Object(map) => map.entry(part).or_insert(Value::Null),
            Value::Array(list) => {
                let length = list.len();
                let index = part.parse::<usize>().ok().filter(|index| *index < length);
                let index = index.ok_or_else(|| {
                    format!("`{walked}` is a list of {length}: `{part}` is not one of its places")
                })?;
                &mut list[index]
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Null => {
                return Err(format!("`{walked}` is a plain value: it has no `{part}`"));
            }
        };
        if !walked.is_empty() {
            walked.push('.');
        }
        walked.push_str(part);
    }
    Ok(at)
}

/// What a query finds, in order. A query is a path: names with dots, `[0]` and
/// `[-1]` for places in lists, `[*]` for all, `[?name == "value"]` for those
/// that fit; `$.` may stand in front, as in JSONPath.
///
/// # Errors
/// When it is not such a path.
pub fn query(value: &Value, written: &str) -> Result<Vec<Value>, String> {
    let mut found = vec![value];
    for step in steps(written)? {
        let mut next = Vec::new();
        for value in found {
            step.walk(value, &mut next);
        }
        found = next;
    }
    Ok(found.into_iter().cloned().collect())
}

enum Step {
    Name(String),
    Index(i64),
    All,
    Where { name: String, is: bool, value: Value },
}

impl Step {
    fn walk<'a>(&self, value: &'a Value, found: &mut Vec<&'a Value>) {
        match self {
            Self::Name(name) => found.extend(value.get(name)),
            Self::Index(index) => {
                let Some(list) = value.as_array() else { return };
                let from_end = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
                let at = match index {
                    0.. => Some(from_end),
                    _ => list.len().checked_sub(from_end),
                };
                found.extend(at.and_then(|at| list.get(at)));
            }
            Self::All => found.extend(each(value)),
            Self::Where { name, is, value: wanted } => {
                let has = |one: &&Value| (one.get(name).unwrap_or(&Value::Null) == wanted) == *is;
                found.extend(each(value).filter(has));
            }
        }
    }
}

fn each(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(list) => Box::new(list.iter()),
        Value::Object(map) => Box::new(map.values()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            Box::new(std::iter::empty())
        }
    }
}

fn steps(written: &str) -> Result<Vec<Step>, String> {
    let wrong = || {
        format!(
            "`{written}` is not a query; write a path such as `active_issues[0].key`, \
             `$.active_issues[*].key` or `active_issues[?status == \"open\"]`"
        )
    };
    let mut rest = written.trim();
    rest = rest.strip_prefix('$').unwrap_or(rest);
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (step, after) = bracket(inside).ok_or_else(wrong)?;
            steps.push(step);
            rest = after;
            continue;
        }
        rest = match rest.strip_prefix('.') {
            Some(after) => after,
            None if steps.is_empty() => rest,
            None => return Err(wrong()),
        };
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        steps.push(match name {
            "" => return Err(wrong()),
            name if name.contains([']', '?', '\'', '"']) => return Err(wrong()),
            "*" => Step::All,
            name => Step::Name(name.to_owned()),
        });
        rest = after;
    }
    Ok(steps)
}

/// What stands in brackets, and what comes after them.
fn bracket(inside: &str) -> Option<(Step, &str)> {
    let inside = inside.trim_start();
    if let Some(after) = inside.strip_prefix('*') {
        return Some((Step::All, after.trim_start().strip_prefix(']')?));
    }
    if let Some(condition) = inside.strip_prefix('?') {
        let condition = condition.trim_start();
        let (condition, round) = match condition.strip_prefix('(') {
            Some(condition) => (condition, true),
            None => (condition, false),
        };
        let condition = condition.trim_start();
        let condition = condition.strip_prefix("@.").unwrap_or(condition);
        let end = condition.find(|c: char| !(c.is_alphanumeric() || "_-".contains(c)))?;
        let (name, after) = condition.split_at(end);
        let after = after.trim_start();
        let (is, after) = match (after.strip_prefix("=="), after.strip_prefix("!=")) {
            (Some(after), _) => (true, after),
            (None, Some(after)) => (false, after),
            (None, None) => return None,
        };
        let (value, after) = literal(after.trim_start())?;
        let after = after.trim_start();
        let after = if round { after.strip_prefix(')')?.trim_start() } else { after };
        return Some((Step::Where { name: name.to_owned(), is, value }, after.strip_prefix(']')?));
    }
    let (value, after) = literal(inside)?;
    let step = match value {
        Value::String(name) => Step::Name(name),
        Value::Number(number) => Step::Index(number.as_i64()?),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    Some((step, after.trim_start().strip_prefix(']')?))
}

/// A text in quotes, a number, `true`, `false` or `null` at the beginning.
fn literal(text: &str) -> Option<(Value, &str)> {
    let quote = text.chars().next()?;
    if quote == '\'' || quote == '"' {
        let (value, after) = text[1..].split_once(quote)?;
        return Some((Value::from(value), after));
    }
    let end = text.find([']', ')', ' ']).unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    let value: Value = serde_json::from_str(word).ok()?;
    Some((value, after))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_query_finds_what_its_path_leads_to() {
        let data = json!({
            "issues": [
                { "key": "A-1", "status": "open", "n": 1 },
                { "key": "A-2", "status": "done", "n": 2 },
            ],
            "environments": { "stage": { "status": "ok" }, "a.b": 7 },
        });
        for (written, wanted) in [
            ("issues[0].key", json!(["A-1"])),
            ("$.issues[-1].key", json!(["A-2"])),
            ("issues[*].key", json!(["A-1", "A-2"])),
            ("issues[?status == \"open\"].key", json!(["A-1"])),
            ("$.issues[?(@.status != 'open')].key", json!(["A-2"])),
            ("issues[?n == 2].status", json!(["done"])),
            ("environments.*.status", json!(["ok"])),
            ("environments['a.b']", json!([7])),
            ("nothing.here", json!([])),
            ("issues[7]", json!([])),
            ("issues[-7]", json!([])),
            ("$", json!([data])),
        ] {
            assert_eq!(json!(query(&data, written).expect(written)), wanted, "{written}");
        }
        for written in ["a..b", "a[", "a[?]", "a]b", "a[x]", "issues[0]key", "a.[0]"] {
            assert!(query(&data, written).is_err(), "{written}");
        }
    }

    #[test]
    fn a_place_is_made_where_there_is_none_and_nothing_is_written_over() {
        let mut data = json!({ "a": { "b": 1 }, "l": [{ "x": 1 }] });
        *place(&mut data, "a.c.d").expect("made") = json!(2);
        *place(&mut data, "l.0.x").expect("there") = json!(3);
        assert_eq!(data, json!({ "a": { "b": 1, "c": { "d": 2 } }, "l": [{ "x": 3 }] }));
        let deep = vec!["d"; DEEPEST + 1].join(".");
        for path in ["a.b.c", "l.1.x", "l.x", "", "a..b", &deep] {
            assert!(place(&mut data, path).is_err(), "{path}");
        }
    }
}
