//! Diagnostics for people: message, place, the line itself, a caret.

use std::fmt::Write as _;
use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use super::{Diagnostic, Severity, Source, visible};
use crate::span::Span;

/// Columns of source text shown; longer lines are cut around the caret.
const WIDTH: usize = 100;
/// Fewer columns show nothing of a line.
const LEAST_WIDTH: usize = 8;
/// Columns kept before the caret when a line is cut, and as a part of a narrow one.
const BEFORE: usize = 30;
const TAB: &str = "    ";

/// The text for a log, with a line break at its end.
pub fn render(diagnostic: &Diagnostic, source: &Source<'_>, colour: bool) -> String {
    render_within(diagnostic, source, colour, usize::MAX)
}

/// The text for a terminal of this width: the lines of the source are cut to what fits, so
/// that the caret stays below its place.
pub fn render_within(
    diagnostic: &Diagnostic,
    source: &Source<'_>,
    colour: bool,
    columns: usize,
) -> String {
    let paint = Paint { colour };
    let accent = match diagnostic.severity {
        Severity::Error => "1;31",
        Severity::Warning => "1;33",
    };
    let mut out = String::new();
    let head = format!("{}[{}]", diagnostic.severity.word(), diagnostic.code);
    let message = visible(&diagnostic.message);
    line(
        &mut out,
        format_args!("{}{}", paint.with(accent, &head), paint.with("1", &format!(": {message}"))),
    );

    let marks = marks(diagnostic, source);
    let last_line = marks.iter().map(|mark| mark.line).max().unwrap_or(1);
    let gutter = last_line.to_string().len() + 1;
    // Beside the rail and its blank, an ellipsis may stand on each side.
    let room = columns.saturating_sub(gutter + " | ".len());
    let width = room.saturating_sub(2).clamp(LEAST_WIDTH, WIDTH);
    let rail = |number: &str| paint.with("1;34", &format!("{number:>gutter$} |"));
    let place = source.position(source.clamp(diagnostic.span()).start);
    let arrow = paint.with("1;34", &format!("{:gutter$}-->", ""));
    let name = visible(source.name);
    if marks.is_empty() {
        line(&mut out, format_args!("{arrow} {name}"));
    } else {
        line(&mut out, format_args!("{arrow} {name}:{}:{}", place.line, place.column));
        line(&mut out, format_args!("{}", rail("")));
    }

    let mut shown = None;
    for mark in &marks {
        if shown != Some(mark.line) {
            if shown.is_some_and(|before| before + 1 < mark.line) {
                line(
                    &mut out,
                    format_args!("{}", paint.with("1;34", &format!("{:>gutter$}", "..."))),
                );
            }
            let text = Excerpt::of(source, mark, width).text;
            let text = text.trim_end();
            let space = if text.is_empty() { "" } else { " " };
            line(&mut out, format_args!("{}{space}{text}", rail(&mark.line.to_string())));
            shown = Some(mark.line);
        }
        let excerpt = Excerpt::of(source, mark, width);
        let (sign, style) = if mark.main { ("^", accent) } else { ("-", "1;34") };
        let remark = visible(mark.text);
        let signs = sign.repeat(excerpt.width);
        let beside = excerpt.indent + excerpt.width + 1 + columns_of(&remark) <= room;
        let under = match remark.as_ref() {
            remark if beside && !remark.is_empty() => format!("{signs} {remark}"),
            _ => signs,
        };
        line(
            &mut out,
            format_args!(
                "{} {:indent$}{}",
                rail(""),
                "",
                paint.with(style, &under),
                indent = excerpt.indent
            ),
        );
        if !beside && !remark.is_empty() {
            for words in words_within(&remark, room) {
                line(&mut out, format_args!("{} {}", rail(""), paint.with(style, &words)));
            }
        }
    }
    if let Some(hint) = &diagnostic.hint {
        if !marks.is_empty() {
            line(&mut out, format_args!("{}", rail("")));
        }
        // A hint may show several lines of YAML to write.
        for (index, text) in hint.lines().enumerate() {
            let word =
                if index == 0 { paint.with("1;36", "hint") + ": " } else { "      ".to_owned() };
            line(&mut out, format_args!("{word}{}", visible(text)));
        }
    }
    out
}

fn columns_of(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// A text in lines of so many columns, broken where words end.
fn words_within(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if columns_of(line) + 1 + columns_of(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

struct Paint {
    colour: bool,
}

impl Paint {
    fn with(&self, style: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{style}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// A label on one line of the source.
struct Mark<'a> {
    main: bool,
    line: usize,
    /// Bytes within the line; one that spans several lines ends with the first.
    start: usize,
    end: usize,
    /// Where the cut of this line is centred: the same for all marks on it.
    centre: usize,
    text: &'a str,
}

fn marks<'a>(diagnostic: &'a Diagnostic, source: &Source<'_>) -> Vec<Mark<'a>> {
    let mut marks: Vec<Mark<'a>> = diagnostic
        .labels
        .iter()
        .enumerate()
        .map(|(index, (span, text))| {
            let Span { start, end } = source.clamp(*span);
            let line = source.position(start).line;
            let (from, to) = source.line_range(line);
            let start = start.clamp(from, to) - from;
            let end = (end.clamp(from, to) - from).max(start);
            Mark { main: index == 0, line, start, end, centre: start, text }
        })
        .collect();
    marks.sort_by_key(|mark| (mark.line, !mark.main, mark.start));
    let centres: Vec<(usize, usize)> = marks.iter().map(|mark| (mark.line, mark.start)).collect();
    for mark in &mut marks {
        let first = centres.iter().find(|(line, _)| *line == mark.line);
        mark.centre = first.map_or(mark.start, |(_, start)| *start);
    }
    marks
}

/// A line as shown, and where a mark stands beneath it, in columns.
struct Excerpt {
    text: String,
    indent: usize,
    width: usize,
}

impl Excerpt {
    fn of(source: &Source<'_>, mark: &Mark<'_>, most: usize) -> Self {
        let line = source.line(mark.line);
        let around = window(line, mark.centre);
        let (left, right) = (around.start > 0, around.end < line.len());
        let cells: Vec<Cell> = line[around.clone()]
            .char_indices()
            .map(|(at, c)| Cell::of(around.start + at, c))
            .collect();
        let total: usize = cells.iter().map(|cell| cell.width).sum();
        let column = |byte: usize| -> usize {
            cells.iter().take_while(|cell| cell.at < byte).map(|cell| cell.width).sum()
        };
        let (start, end, centre) = (column(mark.start), column(mark.end), column(mark.centre));
        let from = if total <= most {
            0
        } else {
            centre.saturating_sub(BEFORE.min(most / 3)).min(total - most)
        };
        let to = total.min(from + most);

        let mut text = String::new();
        let (mut at, mut first) = (0, None);
        for cell in &cells {
            if at >= from && at + cell.width <= to {
                first.get_or_insert(at);
                text.push_str(&cell.text);
            }
            at += cell.width;
        }
        // A wide character on the edge moves the cut by a column.
        let from_shown = first.unwrap_or(from);
        let lead = if left || from > 0 { "…" } else { "" };
        let tail = if right || to < total { "…" } else { "" };
        let indent = start.saturating_sub(from_shown).min(most) + usize::from(!lead.is_empty());
        let width = end.min(to).saturating_sub(start.max(from_shown)).max(1);
        Self { text: format!("{lead}{text}{tail}"), indent, width }
    }
}

/// The part of a line that can matter: a line may be a megabyte long.
fn window(line: &str, centre: usize) -> Range<usize> {
    let (before, after) = line.split_at(line.floor_char_boundary(centre));
    let start = before.char_indices().rev().nth(2 * WIDTH).map_or(0, |(at, _)| at);
    let end = after.char_indices().nth(2 * WIDTH).map_or(line.len(), |(at, _)| before.len() + at);
    start..end
}

/// One character of the source as it is shown.
struct Cell {
    at: usize,
    text: String,
    width: usize,
}

impl Cell {
    fn of(at: usize, c: char) -> Self {
        let text = if c == '\t' {
            TAB.to_owned()
        } else {
            visible(c.encode_utf8(&mut [0; 4])).into_owned()
        };
        let width = text.chars().map(|c| c.width().unwrap_or(0)).sum();
        Self { at, text, width }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stays_below_its_place_in_a_narrow_window() {
        let step = "  - { name: build, description: 'a text of many more words', comand: make }";
        let text = format!("name: s\nsteps:\n{step}\n");
        let found = crate::skill::parse("s.yaml", &text).diagnostics;
        let source = Source::new("s.yaml", &text);
        for columns in [40, 60, 80, 200] {
            let shown = render_within(&found[0], &source, false, columns);
            let lines: Vec<&str> = shown.lines().collect();
            let at = lines.iter().position(|line| line.contains("^")).expect("a caret");
            let columns_of = |line: &str| line.chars().count();
            let (line, caret) = (lines[at - 1], lines[at]);
            let place = line.find("comand").map(|at| columns_of(&line[..at]));
            assert_eq!(place, caret.find('^'), "{shown}");
            let rails = lines.iter().filter(|line| line.contains('|'));
            rails.for_each(|line| assert!(columns_of(line) <= columns, "{columns}: {shown}"));
        }
    }
}
