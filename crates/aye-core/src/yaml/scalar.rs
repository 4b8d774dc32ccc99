//! The YAML 1.2 core schema: what a plain scalar is.

use super::tree::Scalar;

/// A scalar with its type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Typed<'a> {
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number too large for the signed kind.
    Unsigned(u64),
    /// Any other number.
    Float(f64),
    /// Everything else, and everything in quotes.
    Text(&'a str),
}

impl Scalar {
    /// The scalar with its type.
    pub fn typed(&self) -> Typed<'_> {
        let text = self.text.as_str();
        if !self.plain {
            return Typed::Text(text);
        }
        match text {
            "" | "~" | "null" | "Null" | "NULL" => Typed::Null,
            "true" | "True" | "TRUE" => Typed::Bool(true),
            "false" | "False" | "FALSE" => Typed::Bool(false),
            _ => number(text).unwrap_or(Typed::Text(text)),
        }
    }

    /// Whether it says nothing.
    pub fn is_null(&self) -> bool {
        self.typed() == Typed::Null
    }
}

fn number(text: &str) -> Option<Typed<'static>> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" => {
            let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
            return Some(Typed::Float(sign * f64::INFINITY));
        }
        ".nan" | ".NaN" | ".NAN" if unsigned == text => return Some(Typed::Float(f64::NAN)),
        _ => {}
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return text
            .parse()
            .map(Typed::Int)
            .or_else(|_| text.parse().map(Typed::Unsigned))
            .or_else(|_| text.parse().map(Typed::Float))
            .ok();
    }
    if is_float(unsigned) { text.parse().map(Typed::Float).ok() } else { None }
}

fn radix(digits: &str, radix: u32) -> Option<Typed<'static>> {
    // `from_str_radix` would accept a sign.
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    i64::from_str_radix(digits, radix)
        .map(Typed::Int)
        .or_else(|_| u64::from_str_radix(digits, radix).map(Typed::Unsigned))
        .ok()
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let exponent_fits = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    exponent_fits && digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        let cases = [
            ("", Typed::Null),
            ("~", Typed::Null),
            ("nUll", Typed::Text("nUll")),
            ("true", Typed::Bool(true)),
            ("no", Typed::Text("no")),
            ("on", Typed::Text("on")),
            ("y", Typed::Text("y")),
            ("12", Typed::Int(12)),
            ("-12", Typed::Int(-12)),
            ("+12", Typed::Int(12)),
            ("0x1F", Typed::Int(31)),
            ("0o17", Typed::Int(15)),
            ("0x+1", Typed::Text("0x+1")),
            ("017", Typed::Int(17)),
            ("18446744073709551615", Typed::Unsigned(u64::MAX)),
            ("1.10", Typed::Float(1.1)),
            ("1.", Typed::Float(1.0)),
            (".5", Typed::Float(0.5)),
            ("1e3", Typed::Float(1000.0)),
            ("-.inf", Typed::Float(f64::NEG_INFINITY)),
            (".", Typed::Text(".")),
            ("-", Typed::Text("-")),
            ("1e", Typed::Text("1e")),
            ("1_000", Typed::Text("1_000")),
            ("1:30", Typed::Text("1:30")),
            ("inf", Typed::Text("inf")),
            ("nan", Typed::Text("nan")),
        ];
        for (text, expected) in cases {
            let scalar = Scalar { text: text.to_owned(), plain: true };
            assert_eq!(scalar.typed(), expected, "{text}");
        }
    }

    #[test]
    fn quoted_scalars_are_text() {
        for text in ["", "true", "12"] {
            let scalar = Scalar { text: text.to_owned(), plain: false };
            assert_eq!(scalar.typed(), Typed::Text(text));
        }
    }
}
