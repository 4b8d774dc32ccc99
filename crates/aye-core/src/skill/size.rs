//! Amounts of memory as people write them: `512MB`, `2GB`, `64MiB`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use crate::diagnostic::quote;
use crate::yaml::decode::Text;

/// Units and their bytes.
const UNITS: [(&str, u64); 7] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// Why a text is not an amount of memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// A number without a unit.
    #[error("{} has no unit", quote(.0))]
    NoUnit(String),
    /// Nothing, or zero.
    #[error("no memory at all")]
    Nothing,
    /// Anything else.
    #[error("{} is not an amount of memory", quote(.0))]
    Malformed(String),
}

impl SizeError {
    /// What to write instead.
    pub fn hint(&self) -> String {
        match self {
            Self::NoUnit(number) => format!("write `{number}MB` or `{number}B`"),
            Self::Nothing | Self::Malformed(_) => "write it like `512MB` or `2GB`".to_owned(),
        }
    }
}

/// Reads an amount of memory, in bytes.
pub fn parse_size(text: &str) -> Result<u64, SizeError> {
    let text = text.trim();
    let malformed = || SizeError::Malformed(text.to_owned());
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err(malformed());
    }
    let unit = unit.trim();
    if unit.is_empty() && number.bytes().any(|b| b != b'0') {
        return Err(SizeError::NoUnit(number.to_owned()));
    }
    let known = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
    let count: u64 = number.parse().map_err(|_| malformed())?;
    match known.and_then(|(_, bytes)| count.checked_mul(*bytes)) {
        _ if count == 0 => Err(SizeError::Nothing),
        Some(bytes) => Ok(bytes),
        None => Err(malformed()),
    }
}

/// An amount of memory in a document, not looked at yet.
#[derive(Debug)]
pub(super) struct Size(pub(super) Text);

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Text::expecting("an amount of memory such as `512MB`", deserializer).map(Self)
    }
}

impl JsonSchema for Size {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "An amount of memory such as `512MB`, `2GB` or `64MiB`.",
            "type": "string",
            "pattern": "^[0-9]+ *([kKmMgG][iI]?)?[bB]$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read() {
        assert_eq!(parse_size("512MB"), Ok(512_000_000));
        assert_eq!(parse_size("64 MiB"), Ok(64 << 20));
        assert_eq!(parse_size("2gb"), Ok(2_000_000_000));
        assert_eq!(parse_size("100B"), Ok(100));
    }

    #[test]
    fn what_is_no_amount_says_what_to_write() {
        assert_eq!(parse_size("512"), Err(SizeError::NoUnit("512".to_owned())));
        assert_eq!(parse_size("0MB"), Err(SizeError::Nothing));
        for bad in ["", "MB", "5 parsecs", "-1MB", "99999999999GB"] {
            assert_eq!(parse_size(bad), Err(SizeError::Malformed(bad.to_owned())), "{bad}");
        }
        assert_eq!(SizeError::NoUnit("5".to_owned()).hint(), "write `5MB` or `5B`");
    }
}
