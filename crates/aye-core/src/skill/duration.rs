//! Durations as people write them: `30s`, `5m`, `1h30m`, `500ms`, `2d`, `45.5s`.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use crate::diagnostic::{Unit, quote};
use crate::yaml::decode::Text;

/// Units and their milliseconds, the longest first.
const UNITS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Thirty years: as good as for ever, and far from any overflow.
const LONGEST: u64 = 30 * 365 * 86_400_000;

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// Nothing there.
    #[error("a duration is missing")]
    Empty,
    /// A number without a unit.
    #[error("{} has no unit", quote(.0))]
    NoUnit(String),
    /// A unit nobody knows.
    #[error("{} is not a unit of time", quote(.0))]
    UnknownUnit(String),
    /// Units twice, or not from long to short.
    #[error("the units are not in the order `d`, `h`, `m`, `s`, `ms`")]
    Order,
    /// More than thirty years.
    #[error("longer than 30 years")]
    TooLong,
    /// Parts of a millisecond.
    #[error("{} is not a whole number of milliseconds", quote(.0))]
    TooFine(String),
    /// Anything else.
    #[error("{} is not a duration", quote(.0))]
    Malformed(String),
}

impl DurationError {
    /// What a number without a unit is in each.
    pub(super) fn readings(&self) -> Vec<(Unit, String)> {
        let Self::NoUnit(number) = self else { return Vec::new() };
        let Ok(count) = number.parse::<u64>() else { return Vec::new() };
        let (ms, s) = (Duration::from_millis(count), Duration::from_secs(count));
        vec![(Unit::Milliseconds, compact(ms)), (Unit::Seconds, compact(s))]
    }

    /// Whether it is a word for no limit at all.
    pub(super) fn is_endless(&self) -> bool {
        matches!(self, Self::Malformed(word) if is_endless(word))
    }

    /// What to write instead.
    pub fn hint(&self) -> String {
        match self {
            Self::NoUnit(number) => match number.parse::<u64>() {
                // What looks like milliseconds probably is.
                Ok(count) if (1000..=LONGEST).contains(&count) => format!(
                    "write `{}` if these are milliseconds, `{number}s` if they are seconds",
                    compact(Duration::from_millis(count))
                ),
                Err(_) => format!("write `{number}s` for seconds"),
                Ok(_) => format!("write `{number}s` for seconds or `{number}ms` for milliseconds"),
            },
            Self::TooLong => "write `0` for no limit".to_owned(),
            Self::TooFine(_) => "decimals are for longer units, as in `1.5s` or `2.5h`".to_owned(),
            Self::Malformed(word) if is_endless(word) => "write `0` for no limit".to_owned(),
            _ => "write it like `30s`, `5m`, `1h30m`, `45.5s`, `500ms` or `2d`".to_owned(),
        }
    }
}

/// Words that people write for no limit at all.
fn is_endless(word: &str) -> bool {
    let words = ["none", "never", "off", "no", "false", "infinite", "infinity", "unlimited"];
    words.contains(&word.to_lowercase().as_str())
}

/// Reads a duration. A number needs its unit, `0` excepted.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let whole = text.trim();
    if whole.is_empty() {
        return Err(DurationError::Empty);
    }
    let malformed = || DurationError::Malformed(whole.to_owned());
    let mut rest = whole;
    let mut total: u64 = 0;
    let mut next_unit = 0;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = rest.split_at(digits);
        let (part, after) = fraction(after);
        let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (unit, after) = after.split_at(letters);
        if number.is_empty() {
            return Err(malformed());
        }
        if unit.is_empty() {
            let zero = number.bytes().all(|b| b == b'0') && part.is_empty();
            let alone = after.is_empty() && number.len() + part.len() == whole.len();
            return match (alone, zero) {
                (true, true) => Ok(Duration::ZERO),
                (true, false) => Err(DurationError::NoUnit(whole.to_owned())),
                (false, _) => Err(malformed()),
            };
        }
        let Some(index) = UNITS.iter().position(|(name, _)| *name == unit) else {
            return Err(DurationError::UnknownUnit(unit.to_owned()));
        };
        if index < next_unit {
            return Err(DurationError::Order);
        }
        next_unit = index + 1;
        let count: u64 = number.parse().map_err(|_| DurationError::TooLong)?;
        let fine = || DurationError::TooFine(whole.to_owned());
        let below = millis_of(part, UNITS[index].1).ok_or_else(fine)?;
        if !part.is_empty() && !after.is_empty() {
            return Err(malformed());
        }
        total = count
            .checked_mul(UNITS[index].1)
            .and_then(|more| total.checked_add(more)?.checked_add(below))
            .filter(|total| *total <= LONGEST)
            .ok_or(DurationError::TooLong)?;
        rest = after.trim_start_matches(' ');
    }
    Ok(Duration::from_millis(total))
}

/// What follows the point of a number, with the point: `.5`.
fn fraction(text: &str) -> (&str, &str) {
    let digits = text
        .strip_prefix('.')
        .map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    text.split_at(if digits == 0 { 0 } else { digits + 1 })
}

/// A part of a unit in milliseconds, if it is a whole number of them.
fn millis_of(part: &str, unit: u64) -> Option<u64> {
    let digits = part.trim_start_matches('.').trim_end_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    let parts: u64 = digits.parse().ok()?;
    let whole = 10_u64.checked_pow(u32::try_from(digits.len()).ok()?)?;
    let millis = parts.checked_mul(unit)?;
    (millis % whole == 0).then_some(millis / whole)
}

/// A duration for people: `1m 5s`, `45.5s`, `500ms`.
pub fn format_duration(duration: Duration) -> String {
    let (whole, part) = (duration.as_secs(), duration.subsec_millis());
    if whole == 0 || part == 0 {
        return written(duration, " ");
    }
    let (minutes, seconds) = (Duration::from_secs(whole - whole % 60), whole % 60);
    let part = format!("{part:03}");
    let seconds = format!("{seconds}.{}s", part.trim_end_matches('0'));
    match minutes.is_zero() {
        true => seconds,
        false => format!("{} {seconds}", written(minutes, " ")),
    }
}

/// A duration as it would be written in a file: `1m5s`, nothing left out but
/// what is below a millisecond.
fn compact(duration: Duration) -> String {
    written(duration, "")
}

fn written(duration: Duration, joint: &str) -> String {
    let mut rest = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut out = String::new();
    for (unit, millis) in UNITS {
        let count = rest / millis;
        rest %= millis;
        if count == 0 {
            continue;
        }
        if !out.is_empty() {
            out.push_str(joint);
        }
        // Writing to a string cannot fail.
        let _ = write!(out, "{count}{unit}");
    }
    if out.is_empty() { "0s".to_owned() } else { out }
}

/// A duration in a document, not looked at yet.
#[derive(Debug)]
pub(super) struct Period(pub(super) Text);

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Text::expecting("a duration such as `30s`", deserializer).map(Self)
    }
}

impl JsonSchema for Period {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A duration such as `30s`, `5m`, `1h30m`, `500ms` or `2d`; `0` is none.",
            "anyOf": [
                {
                    "type": "string",
                    "pattern": "^(?=.)([0-9]+d *)?([0-9]+h *)?([0-9]+m *)?([0-9]+(\\.[0-9]+)?s *)?([0-9]+ms)?$|^[0-9]+\\.[0-9]+[dhm]$|^0$",
                },
                { "const": 0 },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        let cases = [
            ("30s", 30_000),
            ("5m", 300_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("500ms", 500),
            ("2d", 172_800_000),
            ("1d2h3m4s5ms", 93_784_005),
            ("0", 0),
            ("0s", 0),
            (" 7s ", 7_000),
            ("45.5s", 45_500),
            ("0.25s", 250),
            ("1.5h", 5_400_000),
            ("1m1.50s", 61_500),
        ];
        for (text, millis) in cases {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_says_why() {
        use DurationError::*;
        let cases = [
            ("", Empty),
            ("30", NoUnit("30".into())),
            ("30sec", UnknownUnit("sec".into())),
            ("5M", UnknownUnit("M".into())),
            ("30s1h", Order),
            ("1s1s", Order),
            ("999999999999999999999d", TooLong),
            ("99999d", TooLong),
            ("-5s", Malformed("-5s".into())),
            ("1.5", NoUnit("1.5".into())),
            ("1.5h5m", Malformed("1.5h5m".into())),
            ("1.5ms", TooFine("1.5ms".into())),
            (".5s", Malformed(".5s".into())),
            ("5.s", Malformed("5.s".into())),
            ("5m 3", Malformed("5m 3".into())),
            ("soon", Malformed("soon".into())),
            ("５s", Malformed("５s".into())),
        ];
        for (text, error) in cases {
            assert_eq!(parse_duration(text), Err(error), "{text}");
        }
    }

    #[test]
    fn hints_name_the_unit() {
        let hint = |text: &str| parse_duration(text).map_err(|error| error.hint());
        assert_eq!(hint("30"), Err("write `30s` for seconds or `30ms` for milliseconds".into()));
        assert_eq!(
            hint("300000"),
            Err("write `5m` if these are milliseconds, `300000s` if they are seconds".into())
        );
    }

    #[test]
    fn durations_are_written() {
        let cases = [
            (0, "0s"),
            (5, "5ms"),
            (1_500, "1.5s"),
            (45_500, "45.5s"),
            (60_250, "1m 0.25s"),
            (65_000, "1m 5s"),
            (90_000_000, "1d 1h"),
        ];
        for (millis, text) in cases {
            assert_eq!(format_duration(Duration::from_millis(millis)), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_compactly_reads_back(millis in 0..=LONGEST) {
            let duration = Duration::from_millis(millis);
            proptest::prop_assert_eq!(parse_duration(&compact(duration)), Ok(duration));
        }

        #[test]
        fn reading_never_panics(text in ".*") {
            let _ = parse_duration(&text);
        }
    }
}
