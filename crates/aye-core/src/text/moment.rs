//! `now()`: the time of the run, with the methods of a date in Python.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::Offset;
use minijinja::value::{Object, ObjectRepr};
use minijinja::{Error, ErrorKind, State, Value};

/// A moment, in UTC.
#[derive(Debug)]
pub(super) struct Moment(Timestamp);

impl Moment {
    /// The moment that `now` stands for.
    pub(super) fn from_state(state: &State<'_, '_>) -> Result<Self, Error> {
        let now = state.lookup("now");
        let now = now.as_ref().and_then(|now| now.as_str()).and_then(|now| now.parse().ok());
        now.map(Self).ok_or_else(|| ErrorKind::UndefinedError.into())
    }

    fn show(&self, format: &str) -> Result<Value, Error> {
        let zoned = self.0.to_zoned(Offset::UTC.to_time_zone());
        let text = jiff::fmt::strtime::format(format, &zoned);
        let text = text.map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()));
        text.map(Value::from)
    }
}

impl Object for Moment {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let civil = Offset::UTC.to_datetime(self.0);
        let part = match key.as_str()? {
            "year" => i64::from(civil.year()),
            "month" => i64::from(civil.month()),
            "day" => i64::from(civil.day()),
            "hour" => i64::from(civil.hour()),
            "minute" => i64::from(civil.minute()),
            "second" => i64::from(civil.second()),
            _ => return None,
        };
        Some(Value::from(part))
    }

    fn call_method(
        self: &Arc<Self>,
        _state: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        match (method, args) {
            ("isoformat", []) => Ok(Value::from(self.0.to_string().replace('Z', "+00:00"))),
            ("date", []) => self.show("%Y-%m-%d"),
            ("time", []) => self.show("%H:%M:%S"),
            ("timestamp", []) => Ok(Value::from(self.0.as_second())),
            ("strftime", [format]) if format.as_str().is_some() => {
                self.show(format.as_str().unwrap_or_default())
            }
            _ => Err(Error::new(
                ErrorKind::UnknownMethod,
                "`now()` has `isoformat()`, `strftime(…)`, `date()`, `time()`, `timestamp()`",
            )),
        }
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_string())
    }
}
