//! Messages: Markdown-light, and nothing in them that steers the terminal.
//!
//! `# headings`, `**bold**`, `` `code` ``, fenced code, links and lists. Where nothing can be
//! bold, the marks within lines stay as they are written, because nothing else would show them.

use aye_core::diagnostic::{is_hidden, visible};

use crate::paint::{Paint, Tone};

use super::style::Styled;
use super::wrap::wrap;

/// Columns in front of a block of code.
const CODE: usize = 4;

/// The lines of a message, none wider than `columns`.
pub fn message(text: &str, columns: usize, paint: Paint) -> Vec<Styled> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for line in text.trim_end_matches(['\n', '\r', ' ']).split('\n') {
        match (fence, fence_mark(line)) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if mark.starts_with(open) && line.trim() == mark => {
                fence = None;
            }
            (Some(_), _) => lines.extend(code(line, columns)),
            (None, None) => lines.extend(paragraph(line, columns, paint)),
        }
    }
    lines
}

/// What begins or ends a block of code: three of these or more.
fn fence_mark(line: &str) -> Option<&str> {
    let line = line.trim();
    let first = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = line.trim_start_matches(first);
    let mark = &line[..line.len() - rest.len()];
    // More than the name of a language is text, which has to be shown.
    let is_language = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '#' | '.');
    (mark.len() >= 3 && rest.trim_start().chars().all(is_language)).then_some(mark)
}

/// A line of a block of code: as it is, further in.
fn code(line: &str, columns: usize) -> Vec<Styled> {
    let line = line.strip_suffix('\r').unwrap_or(line).replace('\t', "    ");
    let indent = CODE + line.len() - line.trim_start_matches(' ').len();
    let styled = Styled::new().plain(" ".repeat(CODE)).then(harmless(Styled::new(), &line, None));
    wrap(&styled, columns, indent, true)
}

fn paragraph(line: &str, columns: usize, paint: Paint) -> Vec<Styled> {
    let line = line.strip_suffix('\r').unwrap_or(line).replace('\t', "    ");
    let indent = line.len() - line.trim_start_matches(' ').len();
    let text = &line[indent..];
    // What is quoted is shown as it is: a mark may be a part of it.
    if text.starts_with("| ") {
        return wrap(&harmless(Styled::new(), &line, None), columns, indent + 2, true);
    }
    if let (Some(heading), true) = (heading(text), paint.shows_marked()) {
        let heading = harmless(Styled::new(), heading, Some(Tone::Bold));
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
        .then(inline(text, paint.shows_marked()));
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

/// Bold, code and links within a line.
fn inline(text: &str, styled: bool) -> Styled {
    let mut line = Styled::new();
    let mut rest = text;
    loop {
        let bold = rest.find("**").and_then(|at| enclosed(rest, at, "**"));
        let bold = bold.map(|(at, inner)| (at, Marked::Bold(inner)));
        let code = rest.find('`').and_then(|at| enclosed(rest, at, "`"));
        let code = code.map(|(at, inner)| (at, Marked::Code(inner)));
        let found = [code, bold, link(rest)].into_iter().flatten().min_by_key(|(at, _)| *at);
        let Some((at, marked)) = found else { break };
        line = harmless(line, &rest[..at], None);
        let (mark, inner, tone) = match marked {
            Marked::Bold(inner) => ("**", inner, Tone::Bold),
            Marked::Code(inner) => ("`", inner, Tone::Code),
            Marked::Link { text, target } => {
                line = harmless(line, text, None);
                line = harmless(line, &format!(" ({target})"), None);
                rest = &rest[at + text.len() + target.len() + "[]()".len()..];
                continue;
            }
        };
        let end = at + inner.len() + 2 * mark.len();
        line = match styled {
            true => harmless(line, inner, Some(tone)),
            false => harmless(line, &rest[at..end], None),
        };
        rest = &rest[end..];
    }
    harmless(line, rest, None)
}

/// What is marked within a line.
enum Marked<'a> {
    Bold(&'a str),
    Code(&'a str),
    Link { text: &'a str, target: &'a str },
}

/// The first `[text](target)`.
fn link(line: &str) -> Option<(usize, Marked<'_>)> {
    let middle = line.find("](")?;
    let at = line[..middle].rfind('[')?;
    let text = &line[at + 1..middle];
    let target = &line[middle + 2..];
    let target = &target[..target.find(')')?];
    let is_link = !text.is_empty() && !target.is_empty() && !target.contains(' ');
    is_link.then_some((at, Marked::Link { text, target }))
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
        let paint = Paint { color, bold: false, unicode: true };
        message(text, 40, paint).iter().map(|line| line.render(paint)).collect()
    }

    #[test]
    fn headings_stand_out_or_keep_their_marks() {
        let text = "## Plan ##\nsay #1\n####### no\n#no";
        let plain = ["\u{1b}[1mPlan\u{1b}[0m", "say #1", "####### no", "#no"];
        assert_eq!(shown(text, true), plain);
        assert_eq!(shown(text, false), ["## Plan ##", "say #1", "####### no", "#no"]);
        let bold = Paint { color: false, bold: true, unicode: true };
        let lines = message("# Plan\n**now** `x`", 40, bold);
        let lines: Vec<String> = lines.iter().map(|line| line.render(bold)).collect();
        assert_eq!(lines, ["\u{1b}[1mPlan\u{1b}[0m", "\u{1b}[1mnow\u{1b}[0m \u{1b}[4mx\u{1b}[0m"]);
        assert_eq!(
            shown("# \u{1b}[2Jx", true),
            ["\u{1b}[33m\\u{1b}\u{1b}[0m\u{1b}[1m[2Jx\u{1b}[0m"]
        );
    }

    #[test]
    fn code_and_links_are_shown_without_their_marks() {
        let text = "Do:\n```sh\nmake *all*\n  x `y`\n````\nsee [the docs](http://x.y/z), [no] (link)\n~~~\n# a";
        assert_eq!(
            shown(text, false),
            [
                "Do:",
                "    make *all*",
                "      x `y`",
                "see the docs (http://x.y/z), [no] (link)",
                "    # a"
            ]
        );
        for line in ["```x``` is code", "``` this matters"] {
            assert_eq!(shown(line, false), [line]);
        }
        assert_eq!(shown("| [x](y) |", false), ["| [x](y) |"]);
    }
}
