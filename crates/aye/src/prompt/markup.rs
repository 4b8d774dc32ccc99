//! Messages: Markdown-light, and nothing in them that steers the terminal.
//!
//! `# headings`, `**bold**`, `` `code` `` and lists. Without colours the marks stay as they
//! are written, because nothing else would show them.

use aye_core::diagnostic::{is_hidden, visible};

use crate::paint::{Paint, Tone};

use super::style::Styled;
use super::wrap::wrap;

/// The lines of a message, none wider than `columns`.
pub fn message(text: &str, columns: usize, paint: Paint) -> Vec<Styled> {
    text.trim_end_matches(['\n', '\r', ' '])
        .split('\n')
        .flat_map(|line| paragraph(line, columns, paint))
        .collect()
}

fn paragraph(line: &str, columns: usize, paint: Paint) -> Vec<Styled> {
    let line = line.strip_suffix('\r').unwrap_or(line).replace('\t', "    ");
    let indent = line.len() - line.trim_start_matches(' ').len();
    let text = &line[indent..];
    // What is quoted is shown as it is: a mark may be a part of it.
    if text.starts_with("| ") {
        return wrap(&harmless(Styled::new(), &line, None), columns, indent + 2, true);
    }
    if let (Some(heading), true) = (heading(text), paint.color) {
        let heading = harmless(Styled::new(), heading, Some(Tone::Strong));
        return wrap(&heading, columns, 0, true);
    }
    let (mark, text) = match item(text) {
        Some((_, "")) => (String::new(), &line[indent..]),
        Some(("-" | "*", text)) if paint.unicode => ("• ".to_owned(), text),
        Some((mark, text)) => (format!("{mark} "), text),
        None => (String::new(), text),
    };
    let hang = indent + mark.chars().count();
    let styled = Styled::new()
        .plain(" ".repeat(indent))
        .tone(Tone::Dim, mark)
        .then(inline(text, paint.color));
    wrap(&styled, columns, hang, true)
}

/// The line of a message that asks: its first. Below a heading that is not the question
/// itself, it is the first that is not a part of a list or of a quotation.
pub fn asking_line(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    if heading(first).is_none_or(|heading| heading.ends_with('?')) {
        return first;
    }
    let asks =
        |line: &&str| heading(line).is_none() && item(line).is_none() && !line.starts_with('|');
    lines.find(asks).unwrap_or(first)
}

/// The text of a heading: `## Like this`.
fn heading(text: &str) -> Option<&str> {
    let (marks, heading) = text.split_once(' ')?;
    let is_mark = (1..=6).contains(&marks.len()) && marks.bytes().all(|byte| byte == b'#');
    Some(heading.trim().trim_end_matches('#').trim_end()).filter(|text| is_mark && !text.is_empty())
}

/// The mark of a list's item and its text.
fn item(text: &str) -> Option<(&str, &str)> {
    let (mark, rest) = text.split_once(' ')?;
    let number = mark.strip_suffix('.').is_some_and(|number| {
        !number.is_empty() && number.len() < 4 && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    (mark == "-" || mark == "*" || number).then_some((mark, rest.trim_start()))
}

/// Bold and code within a line.
fn inline(text: &str, styled: bool) -> Styled {
    let mut line = Styled::new();
    let mut rest = text;
    if !styled {
        return harmless(line, rest, None);
    }
    loop {
        let bold = rest.find("**").and_then(|at| enclosed(rest, at, "**"));
        let code = rest.find('`').and_then(|at| enclosed(rest, at, "`"));
        let (tone, at, inner, mark) = match (bold, code) {
            (Some((at, inner)), Some((other, _))) if at < other => (Tone::Strong, at, inner, 2),
            (_, Some((at, inner))) => (Tone::Mark, at, inner, 1),
            (Some((at, inner)), None) => (Tone::Strong, at, inner, 2),
            (None, None) => break,
        };
        line = harmless(line, &rest[..at], None);
        line = harmless(line, inner, Some(tone));
        rest = &rest[at + inner.len() + 2 * mark..];
    }
    harmless(line, rest, None)
}

/// The text between two marks, if it is not empty.
fn enclosed<'a>(text: &'a str, at: usize, mark: &str) -> Option<(usize, &'a str)> {
    let inner = &text[at + mark.len()..];
    let end = inner.find(mark)?;
    (end > 0).then(|| (at, &inner[..end]))
}

/// Adds text; what would be hidden in it is written out and stands out.
pub fn harmless(mut line: Styled, text: &str, tone: Option<Tone>) -> Styled {
    let mut rest = text;
    while let Some(at) = rest.find(is_odd) {
        let odd = rest[at..].chars().take_while(|c| is_odd(*c)).map(char::len_utf8).sum::<usize>();
        line = add(line, &rest[..at], tone);
        line = line.tone(Tone::Warn, visible(&rest[at..at + odd]));
        rest = &rest[at + odd..];
    }
    add(line, rest, tone)
}

fn is_odd(c: char) -> bool {
    is_hidden(c) || matches!(c, '\n' | '\t')
}

fn add(line: Styled, text: &str, tone: Option<Tone>) -> Styled {
    match tone {
        Some(tone) => line.tone(tone, text),
        None => line.plain(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_not_what_is_asked() {
        for (text, line) in [
            ("# Heading\n\nGo **bold**?\nmore", "Go **bold**?"),
            ("\n## Really?\nmore", "## Really?"),
            ("Go?\n# Plan", "Go?"),
            ("# Only this\n- one\n| two", "# Only this"),
            ("", ""),
        ] {
            assert_eq!(asking_line(text), line);
        }
    }

    fn shown(text: &str, color: bool) -> Vec<String> {
        let paint = Paint { color, unicode: true };
        message(text, 40, paint).iter().map(|line| line.render(paint)).collect()
    }

    #[test]
    fn headings_stand_out_or_keep_their_marks() {
        let text = "## Plan ##\nsay #1\n####### no\n#no";
        let plain = ["\u{1b}[1mPlan\u{1b}[0m", "say #1", "####### no", "#no"];
        assert_eq!(shown(text, true), plain);
        assert_eq!(shown(text, false), ["## Plan ##", "say #1", "####### no", "#no"]);
        assert_eq!(
            shown("# \u{1b}[2Jx", true),
            ["\u{1b}[33m\\u{1b}\u{1b}[0m\u{1b}[1m[2Jx\u{1b}[0m"]
        );
    }
}
