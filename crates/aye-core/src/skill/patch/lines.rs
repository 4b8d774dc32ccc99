//! Where the lines of a block stand in its file.

use std::ops::Range;

use super::Span;

/// Code that stands in its file line by line, each line with the same blanks
/// before it.
pub(super) struct Lines<'a> {
    /// What stands before each line.
    pub(super) indent: &'a str,
    /// For each line the bytes of the file, without its break and with it.
    pub(super) places: Vec<(Range<usize>, Range<usize>)>,
}

impl<'a> Lines<'a> {
    /// The lines of the code whose first character stands at `span`; `None` if
    /// it is written in another way.
    pub(super) fn find(text: &'a str, span: Span, code: &str) -> Option<Self> {
        let body = code.trim_end_matches('\n');
        // Blank lines before the code are not in the span.
        let blank = body.len() - body.trim_start_matches('\n').len();
        let mut at = text.get(..span.start)?.rfind('\n')? + 1;
        for _ in 0..blank {
            at = text[..at - 1].rfind('\n')? + 1;
        }
        let mut indent = None;
        let mut places = Vec::new();
        let mut written = text[at..].split_inclusive('\n');
        for line in body.split('\n') {
            let whole = written.next()?;
            let own = whole.strip_suffix('\n').unwrap_or(whole);
            let own = own.strip_suffix('\r').unwrap_or(own);
            let before = if line.is_empty() { own } else { own.strip_suffix(line)? };
            let fits = line.is_empty() || *indent.get_or_insert(before) == before;
            if !fits || before.bytes().any(|byte| byte != b' ') {
                return None;
            }
            places.push((at..at + own.len(), at..at + whole.len()));
            at += whole.len();
        }
        Some(Self { indent: indent?, places })
    }
}

/// The line of the file, from 1, on which the first line of a block stands;
/// `None` if the lines of the block are not lines of the file.
pub fn first_line(text: &str, span: Span, code: &str) -> Option<usize> {
    let lines = Lines::find(text, span, code)?;
    let (first, _) = lines.places.first()?;
    Some(text[..first.start].matches('\n').count() + 1)
}
