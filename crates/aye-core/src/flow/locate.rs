//! From the place of a whole value to the place inside it that is meant.

use crate::skill::Template;
use crate::span::Span;

/// Where a name stands in the text that a span covers; the span itself if it
/// is not found, as in text that is written with escapes.
pub(super) fn name_in(source: &str, span: Span, name: &str) -> Span {
    let Some(covered) = source.get(span.start..span.end) else { return span };
    let mut found = covered.match_indices(name).filter(|(at, _)| {
        let before = covered[..*at].chars().next_back();
        let after = covered[at + name.len()..].chars().next();
        let in_word = |c: char| c.is_alphanumeric() || c == '_';
        // `x.name` and `'name'` are something else, and so is the key `name:`.
        !before.is_some_and(|c| in_word(c) || c == '.')
            && !after.is_some_and(|c| in_word(c) || c == ':')
            && !matches!((before, after), (Some('\''), Some('\'')) | (Some('"'), Some('"')))
    });
    // Words of a text are not names: what stands in braces comes first.
    let in_braces = |at: usize| {
        let before = &covered[..at];
        let opened = before.rfind("{{").max(before.rfind("{%"));
        let closed = before.rfind("}}").max(before.rfind("%}"));
        opened > closed
    };
    let all: Vec<usize> = found.by_ref().map(|(at, _)| at).collect();
    let best = all.iter().copied().find(|at| in_braces(*at)).or(all.first().copied());
    match best {
        Some(at) => Span { start: span.start + at, end: span.start + at + name.len() },
        None => span,
    }
}

/// Where the line of a template that holds this byte of it stands.
pub(super) fn line_in(source: &str, span: Span, template: &str, at: usize) -> Span {
    let Some(covered) = source.get(span.start..span.end) else { return span };
    let at = at.min(template.len());
    let Some(before) = template.get(..at) else { return span };
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = template[start..].lines().next().unwrap_or_default().trim();
    match covered.find(line) {
        Some(found) if !line.is_empty() => {
            Span { start: span.start + found, end: span.start + found + line.len() }
        }
        _ => span,
    }
}

/// Where a piece of a text stands as it was written, if it does.
pub(super) fn text_in(source: &str, span: Span, text: &str) -> Option<Span> {
    let start = span.start + source.get(span.start..span.end)?.find(text)?;
    Some(Span { start, end: start + text.len() })
}

/// Where the piece of a template that begins at this byte stands as it was
/// written. One that stands there several times is found by its number.
pub(super) fn text_at(source: &str, template: &Template, at: usize, text: &str) -> Option<Span> {
    let covered = source.get(template.span.start..template.span.end)?;
    let places = |within: &str| within.match_indices(text).map(|(at, _)| at).collect::<Vec<_>>();
    let (here, there) = (places(template), places(covered));
    let number = here.iter().position(|place| *place == at)?;
    // Where they are not as many, escapes or other texts are among them.
    let number = if here.len() == there.len() { number } else { 0 };
    let start = template.span.start + there.get(number)?;
    Some(Span { start, end: start + text.len() })
}
