//! A named text and its lines.

use crate::span::Span;

/// The text that spans point into, with its name.
#[derive(Debug, Clone)]
pub struct Source<'a> {
    /// The name shown to people, usually a path.
    pub name: &'a str,
    /// The whole text.
    pub text: &'a str,
    /// Where each line begins and ends, its line break left out.
    lines: Vec<(usize, usize)>,
}

/// A place as people count: both from one, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

impl<'a> Source<'a> {
    /// Finds the lines of a text. `\n`, `\r\n` and a lone `\r` end a line, as
    /// they do in YAML.
    pub fn new(name: &'a str, text: &'a str) -> Self {
        // A byte-order mark is not a character of the first line.
        let mut start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut lines = Vec::new();
        let bytes = text.as_bytes();
        let mut at = start;
        while at < bytes.len() {
            let end = at;
            match bytes[at] {
                b'\n' => at += 1,
                b'\r' => at += if bytes.get(at + 1) == Some(&b'\n') { 2 } else { 1 },
                _ => {
                    at += 1;
                    continue;
                }
            }
            lines.push((start, end));
            start = at;
        }
        lines.push((start, text.len()));
        Self { name, text, lines }
    }

    /// The text of a line, counted from one, without its line break.
    pub fn line(&self, number: usize) -> &'a str {
        let (start, end) = self.line_range(number);
        &self.text[start..end]
    }

    /// First byte and one past the last byte of a line, counted from one.
    pub(super) fn line_range(&self, number: usize) -> (usize, usize) {
        let index = number.clamp(1, self.lines.len()) - 1;
        self.lines[index]
    }

    /// The place of a byte. A byte outside the text is moved into it.
    pub fn position(&self, byte: usize) -> Position {
        let byte = self.floor(byte);
        let line = self.lines.partition_point(|(start, _)| *start <= byte).max(1);
        let (start, end) = self.line_range(line);
        let column = self.text[start..byte.clamp(start, end)].chars().count() + 1;
        Position { line, column }
    }

    /// A span moved into the text and onto character borders.
    pub(super) fn clamp(&self, span: Span) -> Span {
        let start = self.floor(span.start);
        Span { start, end: self.floor(span.end).max(start) }
    }

    fn floor(&self, byte: usize) -> usize {
        self.text.floor_char_boundary(byte.min(self.text.len()))
    }
}
