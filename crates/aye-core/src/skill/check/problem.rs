//! Decoding problems in words.

use super::report::Report;
use crate::diagnostic::{Diagnostic, quote, quote_list};
use crate::skill::document::{instead_of, misspelt_other_word, other_value, other_word};
use crate::span::Span;
use crate::yaml::decode::{Fault, Problem};

/// What a problem was found in.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// In words, such as "step `build`".
    pub(super) words: &'a str,
    /// Keys the type has that do not belong here.
    pub(super) not_here: &'a [&'a str],
}

/// Words a problem.
pub(super) fn diagnose(problem: Problem, place: Place<'_>, report: &Report) -> Diagnostic {
    let Place { words: place, not_here } = place;
    let span = problem.span.unwrap_or_default();
    let key = problem.key.as_deref();
    match problem.fault {
        Fault::UnknownKey { key, known } => {
            let known = known.iter().copied().filter(|key| !not_here.contains(key));
            unknown_key(&key, &known.collect::<Vec<_>>(), span, place, report)
        }
        Fault::RepeatedKey { key } => {
            Diagnostic::error("duplicate-key", format!("`{key}` is given twice in {place}"))
                .label(span, "another name of the same key")
        }
        Fault::MissingKey { key } => {
            Diagnostic::error("missing-key", format!("{place} has no `{key}`")).label(span, "")
        }
        Fault::Mismatch { found, expected } => mismatch(key, &found, &expected, span, place),
        Fault::UnknownWord { word, known } => unknown_word(key, &word, known, span, report),
        Fault::Other(message) => Diagnostic::error("wrong-type", message).label(span, ""),
    }
}

/// The key that a misspelt one, or another tool's word, stands for.
pub(super) fn suggestion<'a>(key: &str, known: &[&'a str], report: &Report) -> Option<&'a str> {
    let ours = |word: &str| known.iter().copied().find(|key| *key == word);
    other_word(key, known)
        .and_then(ours)
        .or_else(|| report.suggestion(key, known.iter().copied()))
        .or_else(|| misspelt_other_word(key, known).and_then(ours))
}

fn unknown_key(key: &str, known: &[&str], span: Span, place: &str, report: &Report) -> Diagnostic {
    let message = format!("unknown key {} in {place}", quote(key));
    let diagnostic = Diagnostic::error("unknown-key", message);
    let instead = instead_of(key, known);
    match (other_word(key, known), instead) {
        (Some(meant), Some(hint)) => {
            return diagnostic.label(span, format!("did you mean `{meant}`?")).hint(hint);
        }
        (None, Some(hint)) => return diagnostic.label(span, "").hint(hint),
        (_, None) => {}
    }
    match suggestion(key, known, report) {
        Some(meant) => diagnostic.label(span, format!("did you mean `{meant}`?")),
        None => {
            let keys = quote_list(known.iter().copied(), "and");
            let notes = match known.contains(&"metadata") && known.contains(&"steps") {
                true => "; notes of your own go under `metadata:`",
                false => "",
            };
            diagnostic.label(span, "").hint(format!("the keys here are {keys}{notes}"))
        }
    }
}

fn mismatch(key: Option<&str>, found: &str, expected: &str, span: Span, place: &str) -> Diagnostic {
    let diagnostic = match key {
        Some(key) if found == "nothing" => {
            Diagnostic::error("wrong-type", format!("{} has no value", quote(key)))
                .label(span, format!("expected {expected}"))
        }
        Some(key) => Diagnostic::error("wrong-type", format!("{} must be {expected}", quote(key)))
            .label(span, format!("this is {found}")),
        None => Diagnostic::error("wrong-type", format!("{place} must be {expected}"))
            .label(span, format!("this is {found}")),
    };
    match (key, found, expected) {
        (Some(key @ ("inputs" | "outputs")), "a mapping", _) => {
            let rest = if key == "inputs" { "type: string" } else { "value: …" };
            diagnostic
                .hint(format!("write a list with a name each:\n{key}:\n  - {{ name: …, {rest} }}"))
        }
        (Some("steps"), "a mapping", _) => diagnostic
            .hint("write a list: `- name: …` for each step; states with names go under `states:`"),
        (Some("states"), "a list", _) => diagnostic.hint(
            "write a mapping from each state's name to the state; a list goes under `steps:`",
        ),
        (Some("shell"), "`true`" | "`false`", _) => {
            diagnostic.hint("`shell` holds the script itself: `shell: npm run build`")
        }
        (Some(_), "nothing", _) => diagnostic.hint("give it a value or remove the key"),
        (_, _, "text") if found.starts_with("the number") || found.starts_with('`') => {
            diagnostic.hint("put it in quotes if it is meant as text")
        }
        (Some(key), _, "a list") => match found.strip_prefix("the text ") {
            Some(text) => diagnostic.hint(format!("write `{key}: [{}]`", text.trim_matches('`'))),
            None => diagnostic,
        },
        // `- limit` where a name alone says nothing more.
        (None, _, expected) if expected.ends_with("with a `name`") => match found {
            found if found.starts_with("the text ") => {
                let name = found.trim_start_matches("the text ").trim_matches('`');
                diagnostic.hint(format!("write `- {{ name: {name} }}`"))
            }
            _ => diagnostic,
        },
        (_, "the text `yes`" | "the text `on`", "`true` or `false`") => {
            diagnostic.hint("write `true`")
        }
        (_, "the text `no`" | "the text `off`", "`true` or `false`") => {
            diagnostic.hint("write `false`")
        }
        _ => diagnostic,
    }
}

fn unknown_word(
    key: Option<&str>,
    word: &str,
    known: &[&'static str],
    span: Span,
    report: &Report,
) -> Diagnostic {
    let what = key.map_or_else(|| "this".to_owned(), |key| format!("`{key}`"));
    let list = quote_list(known.iter().copied(), "or");
    let diagnostic = Diagnostic::error("unknown-word", format!("{what} cannot be {}", quote(word)));
    let other = key.and_then(|key| other_value(key, word)).filter(|ours| known.contains(ours));
    let diagnostic = match other.or_else(|| report.suggestion(word, known.iter().copied())) {
        Some(meant) => diagnostic.label(span, format!("did you mean `{meant}`?")),
        None => diagnostic.label(span, format!("expected {list}")),
    };
    match key {
        Some("by") => diagnostic.hint(format!("people are given as a list: `by: [{word}]`")),
        _ => diagnostic,
    }
}
