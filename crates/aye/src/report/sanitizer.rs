//! A step's line made safe to show: its colours may stay, nothing in it can
//! move the cursor or hide.

use aye_core::diagnostic::visible;
use aye_process::lines::{is_plain, is_printable};

use crate::term;

/// Ends whatever colours a line has begun.
const RESET: &str = "\u{1b}[0m";

/// Colours that are carried from line to line; more is not sensible.
const LONGEST_STYLE: usize = 256;

/// Makes the lines of one stream safe to show.
#[derive(Debug, Default, Clone)]
pub(crate) struct Sanitizer {
    /// The colours in force, which the next line continues with.
    style: String,
}

impl Sanitizer {
    /// The line as it would look in the end: the last state of one that was
    /// rewritten with carriage returns, colours kept if `color`, other
    /// commands to the terminal dropped, hidden characters written out.
    pub(crate) fn line(&mut self, line: &str, color: bool) -> String {
        let mut text = String::with_capacity(line.len());
        self.push_line(&mut text, line, color);
        text
    }

    /// Appends such a line; quick for what is plain ASCII.
    pub(super) fn push_line(&mut self, text: &mut String, line: &str, color: bool) {
        if self.is_plain() && is_plain(line.as_bytes()) {
            text.push_str(line);
            return;
        }
        let shown = line.rsplit('\r').find(|part| !part.is_empty()).unwrap_or("");
        let before = line.trim_end_matches('\r').len().saturating_sub(shown.len());
        pieces(&line[..before]).for_each(|piece| self.follow(&piece));
        let mut painted = color && !self.style.is_empty();
        if painted {
            text.push_str(&self.style);
        }
        for piece in pieces(shown) {
            self.follow(&piece);
            match piece {
                Piece::Text(part) => {
                    let parts: Vec<_> = part.split('\t').map(visible).collect();
                    text.push_str(&parts.join("\t"));
                }
                Piece::Style(style) if color => {
                    text.push_str(style);
                    painted = true;
                }
                Piece::Style(_) | Piece::Other => {}
            }
        }
        if painted {
            text.push_str(RESET);
        }
    }

    /// Whether no colour is in force: plain lines are shown as they are.
    pub(super) fn is_plain(&self) -> bool {
        self.style.is_empty()
    }

    /// What an unfinished line looks like so far.
    pub(super) fn pending(&self, line: &str, color: bool) -> String {
        self.clone().line(line, color)
    }

    fn follow(&mut self, piece: &Piece<'_>) {
        let Piece::Style(style) = piece else { return };
        let codes = style.trim_start_matches("\u{1b}[").trim_end_matches('m');
        let mut each = codes.split(';');
        let resets = each.next().is_none_or(|code| code.chars().all(|c| c == '0'));
        if resets || self.style.len() + style.len() > LONGEST_STYLE {
            self.style.clear();
        }
        if !resets || each.next().is_some() {
            self.style.push_str(style);
        }
    }
}

/// A tidy line in rows of at most `columns`; tabs become spaces, a colour goes
/// on in the next row.
pub(super) fn rows(line: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    if is_printable(line.as_bytes()) {
        return match line {
            "" => vec![String::new()],
            line => cut(line, columns).map(str::to_owned).collect(),
        };
    }
    let mut rows = Vec::new();
    let mut row = String::new();
    let mut style = String::new();
    let mut used = 0;
    for piece in pieces(line) {
        match piece {
            Piece::Text(text) => {
                for c in text.chars() {
                    let (shown, width) = match c {
                        '\t' => (' ', 8 - used % 8),
                        c => (c, term::char_width(c)),
                    };
                    if used > 0 && used + width > columns {
                        if !style.is_empty() {
                            row.push_str(RESET);
                        }
                        rows.push(std::mem::replace(&mut row, style.clone()));
                        used = 0;
                        if c == '\t' {
                            continue;
                        }
                    }
                    let times = if c == '\t' { width } else { 1 };
                    row.extend(std::iter::repeat_n(shown, times));
                    used += width;
                }
            }
            Piece::Style(code) => {
                row.push_str(code);
                if code == RESET || code == "\u{1b}[m" {
                    style.clear();
                } else {
                    style.push_str(code);
                }
            }
            Piece::Other => {}
        }
    }
    rows.push(row);
    rows
}

/// ASCII text in pieces of so many columns.
fn cut(text: &str, columns: usize) -> impl Iterator<Item = &str> {
    (0..text.len()).step_by(columns).map(move |at| &text[at..text.len().min(at + columns)])
}

/// The columns that a tidy row takes.
pub(super) fn painted_width(row: &str) -> usize {
    pieces(row).map(|piece| if let Piece::Text(text) = piece { term::width(text) } else { 0 }).sum()
}

/// A painted row without its colours.
pub(super) fn bare(row: &str) -> String {
    pieces(row).map(|piece| if let Piece::Text(text) = piece { text } else { "" }).collect()
}

/// A stretch of a line.
enum Piece<'a> {
    /// Plain text.
    Text(&'a str),
    /// A colour or another look of the text that follows.
    Style(&'a str),
    /// Anything else a terminal would obey.
    Other,
}

fn pieces(mut rest: &str) -> impl Iterator<Item = Piece<'_>> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (end, style) = match rest.find('\u{1b}') {
            None => {
                let text = std::mem::take(&mut rest);
                return Some(Piece::Text(text));
            }
            Some(0) => escape(rest),
            Some(at) => {
                let (text, after) = rest.split_at(at);
                rest = after;
                return Some(Piece::Text(text));
            }
        };
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(if style && !conceals(piece) { Piece::Style(piece) } else { Piece::Other })
    })
}

/// Whether a style makes text invisible: code 8, but not as the number of a colour.
fn conceals(style: &str) -> bool {
    let mut codes = style.trim_start_matches("\u{1b}[").trim_end_matches('m').split([';', ':']);
    while let Some(code) = codes.next() {
        match code.trim_start_matches('0') {
            "8" => return true,
            "38" | "48" | "58" => {
                let numbers = if codes.next() == Some("5") { 1 } else { 3 };
                codes.by_ref().take(numbers).for_each(drop);
            }
            _ => {}
        }
    }
    false
}

/// How long the escape sequence at the beginning is, and whether it is a style.
fn escape(text: &str) -> (usize, bool) {
    let after = &text[1..];
    let Some(first) = after.chars().next() else { return (1, false) };
    match first {
        '[' => match after[1..].find(|c: char| ('@'..='~').contains(&c)) {
            Some(at) => {
                let (parameters, end) = after[1..].split_at(at);
                let plain = |c: char| c.is_ascii_digit() || c == ';' || c == ':';
                (at + 3, end.starts_with('m') && parameters.chars().all(plain))
            }
            None => (text.len(), false),
        },
        // Titles, links and the like, up to a bell or a string terminator.
        ']' | 'P' | 'X' | '^' | '_' => {
            let bell = after.find('\u{7}').map(|at| at + 2);
            let terminator = after.find("\u{1b}\\").map(|at| at + 3);
            let end = [bell, terminator].into_iter().flatten().min();
            (end.unwrap_or(text.len()), false)
        }
        // Character sets and the like, such as `ESC ( B`.
        ' '..='/' => match after.find(|c: char| !(' '..='/').contains(&c)) {
            Some(at) => (1 + at + after[at..].chars().next().map_or(0, char::len_utf8), false),
            None => (text.len(), false),
        },
        other => (1 + other.len_utf8(), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sanitized(line: &str, color: bool) -> String {
        Sanitizer::default().line(line, color)
    }

    #[test]
    fn nothing_conceals_what_a_step_wrote() {
        let line = "\u{1b}[8ma\u{1b}[1;08mb\u{1b}[38;5;8mc\u{1b}[48;2;8;8;8md";
        let shown = "ab\u{1b}[38;5;8mc\u{1b}[48;2;8;8;8md\u{1b}[0m";
        assert_eq!(Sanitizer::default().line(line, true), shown);
    }

    #[test]
    fn colours_stay_or_go_and_the_rest_of_the_escapes_goes() {
        let line = "\u{1b}]0;title\u{7}\u{1b}[2K\u{1b}[1;31mred\u{1b}(B\u{1b}[m \u{1b}[5Aup";
        assert_eq!(sanitized(line, false), "red up");
        assert_eq!(sanitized(line, true), "\u{1b}[1;31mred\u{1b}[m up\u{1b}[0m");
        assert_eq!(sanitized("\u{1b}[", true), "");
        assert_eq!(sanitized("\u{1b}", true), "");
        assert_eq!(sanitized("\u{1b}(", true), "");
        assert_eq!(sanitized("\u{1b}\u{fc}x", true), "x");
        assert_eq!(sanitized("a\u{1b}[?25lx\u{1b}[>4;2my", true), "axy");
        assert_eq!(sanitized("a\u{1b}P1;2q evil \u{1b}\\b\u{1b}]52;c;aGk=\u{1b}\\c", true), "abc");
    }

    #[test]
    fn what_was_rewritten_is_shown_as_it_ended() {
        assert_eq!(sanitized("10%\r50%\r100%\r", false), "100%");
        assert_eq!(sanitized("\r\u{1b}[K10%\r\u{1b}[K20%", false), "20%");
        assert_eq!(sanitized("\r", false), "");
    }

    #[test]
    fn a_colour_goes_on_in_the_next_line_and_nowhere_else() {
        let mut tidy = Sanitizer::default();
        assert_eq!(tidy.line("\u{1b}[1;31mred", true), "\u{1b}[1;31mred\u{1b}[0m");
        assert_eq!(tidy.pending("still", true), "\u{1b}[1;31mstill\u{1b}[0m");
        assert_eq!(tidy.pending("still", false), "still");
        let end = "\u{1b}[1;31mto the\u{1b}[m end\u{1b}[0m";
        assert_eq!(tidy.line("to the\u{1b}[m end", true), end);
        assert_eq!(tidy.line("plain", true), "plain");
        tidy.line("a bar \u{1b}[0;32m50%\rdone", true);
        assert_eq!(tidy.line("green", true), "\u{1b}[0;32mgreen\u{1b}[0m");
    }

    #[test]
    fn hidden_characters_are_written_out_and_tabs_are_not() {
        assert_eq!(sanitized("a\tb\u{202e}c\u{8}", false), "a\tb\\u{202e}c\\u{8}");
    }

    #[test]
    fn long_lines_are_wrapped_with_their_colour() {
        assert_eq!(rows("abcdef", 4), ["abcd", "ef"]);
        assert_eq!(rows("", 4), [""]);
        assert_eq!(rows("a\tb", 20), ["a       b"]);
        assert_eq!(rows("\u{65e5}\u{672c}", 3), ["\u{65e5}", "\u{672c}"]);
        assert_eq!(
            rows("\u{1b}[31mabcdef\u{1b}[0m", 4),
            ["\u{1b}[31mabcd\u{1b}[0m", "\u{1b}[31mef\u{1b}[0m"]
        );
    }
}
