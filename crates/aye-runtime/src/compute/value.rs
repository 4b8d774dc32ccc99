//! Values of the engine and values of a run.

use monty_types::{DictPairs, MontyObject};
use serde_json::{Map, Number, Value};

/// Deeper data cannot be read back from a journal.
const DEPTH: usize = 100;

/// A value of a run as one of the engine.
pub(super) fn to_engine(value: &Value) -> MontyObject {
    match value {
        Value::Null => MontyObject::None,
        Value::Bool(value) => MontyObject::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(int), _) => MontyObject::Int(int),
            (None, Some(int)) => MontyObject::BigInt(int.into()),
            (None, None) => MontyObject::Float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => MontyObject::String(text.clone()),
        Value::Array(items) => MontyObject::List(items.iter().map(to_engine).collect()),
        Value::Object(map) => {
            let pair = |(key, item): (&String, &Value)| {
                (MontyObject::String(key.clone()), to_engine(item))
            };
            MontyObject::Dict(map.iter().map(pair).collect::<DictPairs>())
        }
    }
}

/// A value of the engine as data, with its size limited.
pub(super) fn to_data(object: &MontyObject, limit: usize) -> Result<Value, String> {
    let mut reader = Reader { left: limit, limit, path: Vec::new() };
    reader.data(object)
}

struct Reader {
    left: usize,
    limit: usize,
    path: Vec<String>,
}

impl Reader {
    fn data(&mut self, object: &MontyObject) -> Result<Value, String> {
        self.take(8)?;
        Ok(match object {
            MontyObject::None => Value::Null,
            MontyObject::Bool(value) => Value::Bool(*value),
            MontyObject::Int(int) => Value::from(*int),
            MontyObject::BigInt(int) => match u64::try_from(int) {
                Ok(int) => Value::from(int),
                Err(_) => return Err(self.no_data("has an integer beyond 64 bits", "str(x)")),
            },
            MontyObject::Float(float) => match Number::from_f64(*float) {
                Some(number) => Value::Number(number),
                None => {
                    let what = format!("has the number {float}, which is not data");
                    return Err(self.no_data(&what, "None if math.isnan(x) else x"));
                }
            },
            MontyObject::String(text) | MontyObject::Path(text) => self.text(text)?,
            MontyObject::List(items)
            | MontyObject::Tuple(items)
            | MontyObject::Set(items)
            | MontyObject::FrozenSet(items)
            | MontyObject::NamedTuple { values: items, .. } => self.items(items)?,
            MontyObject::Dict(pairs) => self.map(pairs)?,
            MontyObject::Date(_) | MontyObject::DateTime(_) | MontyObject::Time(_) => {
                Value::String(moment(object))
            }
            MontyObject::TimeDelta(delta) => {
                let seconds = f64::from(delta.days) * 86_400.0 + f64::from(delta.seconds);
                let seconds = seconds + f64::from(delta.microseconds) / 1e6;
                Number::from_f64(seconds).map_or(Value::Null, Value::Number)
            }
            MontyObject::Bytes(_) => return Err(self.no_data("has bytes", "x.decode()")),
            MontyObject::Cycle(..) => return Err(self.no_data("contains itself", "x.copy()")),
            other => {
                let kind = match other {
                    MontyObject::Repr(repr) => repr.trim_matches(['<', '>']).split(' ').next(),
                    other => Some(other.type_name()),
                };
                let what = format!("has a {}, which is not data", kind.unwrap_or("thing"));
                return Err(self.no_data(&what, "str(x)"));
            }
        })
    }

    fn text(&mut self, text: &str) -> Result<Value, String> {
        self.take(text.len())?;
        Ok(Value::String(text.to_owned()))
    }

    fn items(&mut self, items: &[MontyObject]) -> Result<Value, String> {
        let each = items.iter().enumerate();
        each.map(|(index, item)| self.inside(format!("[{index}]"), item))
            .collect::<Result<Vec<Value>, String>>()
            .map(Value::Array)
    }

    fn map(&mut self, pairs: &DictPairs) -> Result<Value, String> {
        let mut map = Map::with_capacity(pairs.len());
        for (key, item) in pairs {
            // As Python writes mappings as JSON.
            let name = match key {
                MontyObject::String(text) => text.clone(),
                MontyObject::None => "null".to_owned(),
                MontyObject::Bool(value) => value.to_string(),
                MontyObject::Int(int) => int.to_string(),
                MontyObject::Float(_) => key.py_repr(),
                other => {
                    let what = format!("has a key that is a {}", other.type_name());
                    return Err(self.no_data(&what, "str(key)"));
                }
            };
            self.take(name.len())?;
            let item = self.inside(format!("[{name:?}]"), item)?;
            map.insert(name, item);
        }
        Ok(Value::Object(map))
    }

    fn inside(&mut self, step: String, item: &MontyObject) -> Result<Value, String> {
        self.path.push(step);
        if self.path.len() > DEPTH {
            self.path.truncate(3);
            return Err(format!("{} is nested more than {DEPTH} levels deep", self.place()));
        }
        let item = self.data(item)?;
        self.path.pop();
        Ok(item)
    }

    fn take(&mut self, bytes: usize) -> Result<(), String> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(format!("the result is larger than {} KiB", self.limit >> 10)),
        }
    }

    fn place(&self) -> String {
        format!("result{}", self.path.concat())
    }

    fn no_data(&self, what: &str, instead: &str) -> String {
        format!("`{}` {what}; write `{instead}`", self.place())
    }
}

/// Dates as ISO 8601 writes them.
fn moment(object: &MontyObject) -> String {
    let offset = |seconds: Option<i32>| match seconds {
        None => String::new(),
        Some(seconds) => {
            let sign = if seconds < 0 { '-' } else { '+' };
            let minutes = seconds.abs() / 60;
            format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
        }
    };
    let micros = |micros: u32| {
        if micros == 0 { String::new() } else { format!(".{micros:06}") }
    };
    match object {
        MontyObject::Date(d) => format!("{:04}-{:02}-{:02}", d.year, d.month, d.day),
        MontyObject::DateTime(d) => format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}{}",
            d.year,
            d.month,
            d.day,
            d.hour,
            d.minute,
            d.second,
            micros(d.microsecond),
            offset(d.offset_seconds)
        ),
        MontyObject::Time(t) => format!(
            "{:02}:{:02}:{:02}{}{}",
            t.hour,
            t.minute,
            t.second,
            micros(t.microsecond),
            offset(t.offset_seconds)
        ),
        other => other.py_repr(),
    }
}
