//! What prevents a mistake the next time: said by the error itself, or by what
//! helped.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::fingerprint::fingerprint;
use super::mistake::Mistake;

static FIRST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let named = r"[`'\x22]([^`'\x22\n]{1,60})[`'\x22]|(\S{1,60})";
    Regex::new(&format!(r"(?i)\b(?:run|call|use|execute)\s+(?:{named})\s+(?:first|before)")).ok()
});

static INSTEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let named = r"[`'\x22]([^`'\x22\n]{1,60})[`'\x22]|(\S{1,60})";
    Regex::new(&format!(r"(?i)\buse\s+(?:{named})\s+instead")).ok()
});

static EXPECTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:expected(?: format)?|must (?:match|be)|should be)\b:?\s+([^\n]{1,60})")
        .ok()
});

static MISSING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let named = r"[`'\x22]([^`'\x22\n]{1,60})[`'\x22]|(\S{1,60})";
    Regex::new(&format!(r"(?i)(?:{named})\s+(?:does not exist|is not running|not installed)")).ok()
});

/// What to do before or in the next such call, as words that follow "to prevent it,".
pub(super) fn prevention(
    mistake: Mistake,
    error: &str,
    parameter: Option<&str>,
    helped: Option<&str>,
) -> Option<String> {
    match mistake {
        Mistake::Sequence => named(&FIRST, error).map(|what| format!("call `{what}` first")),
        Mistake::WrongTool => named(&INSTEAD, error).map(|what| format!("use `{what}`")),
        Mistake::MissingPrerequisite => {
            named(&FIRST, error).map(|what| format!("call `{what}` first")).or_else(|| {
                named(&MISSING, error).map(|what| format!("see that `{what}` is there first"))
            })
        }
        Mistake::Format | Mistake::WrongParameter => {
            let by_example = helped.and_then(|helped| form(parameter, helped));
            by_example.or_else(|| {
                let form = named(&EXPECTED, error)?;
                Some(match parameter {
                    Some(parameter) => format!("give `{parameter}` as {form}"),
                    None => format!("give it as {form}"),
                })
            })
        }
    }
}

/// What a pattern names.
fn named(regex: &LazyLock<Option<Regex>>, error: &str) -> Option<String> {
    let found = regex.as_ref()?.captures(error)?;
    let word = found.iter().skip(1).flatten().next()?.as_str().trim();
    Some(word.trim_end_matches(['.', ',', ';']).to_owned()).filter(|word| !word.is_empty())
}

/// The form of the value that helped: `tag: abc -> 0123…` says how `tag` is written.
fn form(parameter: Option<&str>, helped: &str) -> Option<String> {
    let changes = helped.split(", ").filter_map(|change| {
        let (name, values) = change.split_once(": ")?;
        Some((name, values.split_once(" -> ")?.1))
    });
    let mut changes = changes.filter(|(name, _)| parameter.is_none_or(|wanted| wanted == *name));
    let (name, value) = changes.next()?;
    let shape = fingerprint(value);
    let long = value.chars().count();
    Some(match shape == value {
        true => format!("give `{name}` as in `{value}`"),
        false => format!("give `{name}` as {shape} of {long} characters"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_or_what_helped_says_what_prevents_it() {
        let sha = "0123456789012345678901234567890123456abc";
        let helped = format!("image_tag: abc123 -> {sha}");
        for (mistake, error, parameter, helped, wanted) in [
            (
                Mistake::Sequence,
                "run `bonfire reserve` first",
                None,
                None,
                "call `bonfire reserve` first",
            ),
            (
                Mistake::Sequence,
                "you have to run init before you can push",
                None,
                None,
                "call `init` first",
            ),
            (Mistake::WrongTool, "deprecated: use deploy2 instead", None, None, "use `deploy2`"),
            (
                Mistake::MissingPrerequisite,
                "branch 'topic' does not exist",
                None,
                None,
                "see that `topic` is there first",
            ),
            (
                Mistake::Format,
                "invalid date format: must be YYYY-MM-DD",
                Some("date"),
                None,
                "give `date` as YYYY-MM-DD",
            ),
            (
                Mistake::Format,
                "manifest unknown",
                Some("image_tag"),
                Some(helped.as_str()),
                "give `image_tag` as <hash> of 40 characters",
            ),
        ] {
            let said = prevention(mistake, error, parameter, helped);
            assert_eq!(said.as_deref(), Some(wanted), "{error}");
        }
        assert_eq!(prevention(Mistake::Format, "manifest unknown", None, None), None);
    }
}
