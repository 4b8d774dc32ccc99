//! New text for a scalar, in the style in which it is written.

use std::ops::Range;

use super::Span;
use super::lines::Lines;

/// Texts in which the scalar at `span` may be the new one, best first. They
/// are guesses: the caller has to parse them again.
pub(super) fn replace(text: &str, span: Span, old: &str, new: &str) -> Vec<String> {
    let mut tries: Vec<String> = block(text, span, old, new).into_iter().collect();
    match text.get(span.start..).and_then(|rest| rest.chars().next()) {
        Some('"') => tries.extend(quoted(text, span, old, new, double, |new| {
            new.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t")
        })),
        Some('\'') => {
            tries.extend(quoted(text, span, old, new, single, |new| new.replace('\'', "''")));
        }
        _ => tries.extend(plain(text, span, old, new)),
    }
    tries
}

fn splice(text: &str, range: Range<usize>, with: &str) -> String {
    let mut changed = text.to_owned();
    changed.replace_range(range, with);
    changed
}

/// How many items two sequences have in common at their start and, without
/// those, at their end.
fn common<T: PartialEq>(old: &[T], new: &[T]) -> (usize, usize) {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[start..], &new[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    (start, end)
}

/// `|`: line by line. A folded block (`>`) works if nothing in it is folded.
fn block(text: &str, span: Span, old: &str, new: &str) -> Option<String> {
    let (old_body, new_body) = (old.trim_end_matches('\n'), new.trim_end_matches('\n'));
    // How a block ends is said in the line above it, which is left alone.
    if old[old_body.len()..] != new[new_body.len()..] {
        return None;
    }
    let Lines { indent, places } = Lines::find(text, span, old)?;
    let line_break = if text[..span.start].contains("\r\n") { "\r\n" } else { "\n" };
    let old_lines: Vec<&str> = old_body.split('\n').collect();
    let new_lines: Vec<&str> = new_body.split('\n').collect();
    let (start, end) = common(&old_lines, &new_lines);
    let lines = new_lines[start..new_lines.len() - end].iter();
    let indented = |line: &&str| match line.is_empty() {
        true => String::new(),
        false => format!("{indent}{line}"),
    };
    let lines: Vec<String> = lines.map(indented).collect();
    let changed = &places[start..places.len() - end];
    Some(match (changed, lines.is_empty()) {
        ([], _) => {
            let at = places.get(start).map(|(_, whole)| whole.start);
            let at = at.or(places.last().map(|(_, whole)| whole.end))?;
            let lines: String = lines.into_iter().map(|line| line + line_break).collect();
            splice(text, at..at, &lines)
        }
        ([(_, first), .., (_, last)], true) => splice(text, first.start..last.end, ""),
        ([(_, only)], true) => splice(text, only.clone(), ""),
        // The break after the last line stays what it is, if it is one at all.
        ([(first, _), ..], false) => {
            let end = changed.last().map_or(first.end, |(last, _)| last.end);
            splice(text, first.start..end, &lines.join(line_break))
        }
    })
}

/// A character of the value and how many bytes it takes in the file.
type Unit = (char, usize);

/// In quotes: only the characters that differ, escaped as the quotes want it.
fn quoted(
    text: &str,
    span: Span,
    old: &str,
    new: &str,
    unit: fn(&str) -> Option<Unit>,
    escape: fn(&str) -> String,
) -> Option<String> {
    let first = span.start + 1;
    let mut at = first;
    let mut places = Vec::new();
    let mut chars = Vec::new();
    for wanted in old.chars() {
        let (c, bytes) = unit(text.get(at..)?)?;
        (c == wanted).then_some(())?;
        chars.push(c);
        places.push(at);
        at += bytes;
    }
    places.push(at);
    let new: Vec<char> = new.chars().collect();
    let (start, end) = common(&chars, &new);
    let range = *places.get(start)?..*places.get(chars.len() - end)?;
    let middle: String = new[start..new.len() - end].iter().collect();
    Some(splice(text, range, &escape(&middle)))
}

fn single(text: &str) -> Option<Unit> {
    match text.chars().next()? {
        '\'' => text.starts_with("''").then_some(('\'', 2)),
        // Line breaks are folded.
        '\n' | '\r' => None,
        c => Some((c, c.len_utf8())),
    }
}

fn double(text: &str) -> Option<Unit> {
    let mut chars = text.chars();
    match chars.next()? {
        '"' | '\n' | '\r' => None,
        '\\' => match chars.next()? {
            'n' => Some(('\n', 2)),
            't' => Some(('\t', 2)),
            c @ ('"' | '\\' | '/' | ' ') => Some((c, 2)),
            // The others are rare in code.
            _ => None,
        },
        c => Some((c, c.len_utf8())),
    }
}

/// Without quotes; with them if the new code needs them.
fn plain(text: &str, span: Span, old: &str, new: &str) -> Vec<String> {
    if text.get(span.start..span.end) != Some(old) || new.contains(['\n', '\r']) {
        return Vec::new();
    }
    let in_quotes = format!("'{}'", new.replace('\'', "''"));
    [new, &in_quotes].map(|with| splice(text, span.start..span.end, with)).to_vec()
}
