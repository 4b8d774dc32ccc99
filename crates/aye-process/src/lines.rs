//! Lines for a live view: whole, safe, and with progress bars that work.
//!
//! Colours are kept; every other escape sequence and control character is
//! dropped, so that a child cannot move the cursor, change the title or
//! talk to the terminal. A carriage return starts the line again, so a
//! progress bar shows its last state; [`Lines::pending`] is that state while the line
//! is not finished.

use crate::text::Decoder;

/// A line that is longer is cut, so that memory stays bounded.
const LONGEST: usize = 16 * 1024;

/// Colours that are carried from line to line; more is not sensible.
const LONGEST_STYLE: usize = 256;

const RESET: &str = "\x1b[0m";

/// Splits one stream of a child into lines.
#[derive(Debug, Default)]
pub struct Lines {
    decoder: Decoder,
    state: State,
    line: String,
    /// Colour sequences in force, to be repeated on the next line.
    style: String,
    /// A carriage return was seen; what follows overwrites, unless it is a line end.
    returned: bool,
    escape: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and intermediate bytes, such as `ESC ( B`.
    Short,
    /// Inside `ESC [`.
    Control,
    /// Inside OSC, DCS, APC, PM or SOS, until BEL or ST.
    String,
    /// Inside one of these, after an ESC.
    StringEscape,
}

impl Lines {
    /// An empty splitter.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes bytes as they arrive; every finished line goes to `emit`,
    /// without its end.
    pub fn push(&mut self, bytes: &[u8], emit: &mut dyn FnMut(&str)) {
        let mut text = String::new();
        self.decoder.push(bytes, &mut text);
        for letter in text.chars() {
            self.step(letter, emit);
        }
    }

    /// The last line, if the stream did not end with a line end.
    pub fn finish(&mut self, emit: &mut dyn FnMut(&str)) {
        let mut text = String::new();
        self.decoder.finish(&mut text);
        for letter in text.chars() {
            self.step(letter, emit);
        }
        if !self.line.is_empty() && self.line != self.style {
            self.end_line(emit);
        }
    }

    /// The line that is not finished, such as a progress bar; may be empty.
    #[must_use]
    pub fn pending(&self) -> String {
        self.closed()
    }

    fn step(&mut self, letter: char, emit: &mut dyn FnMut(&str)) {
        match (self.state, letter) {
            // A new sequence or a line end gets us out of anything but a string.
            (State::Text | State::Escape | State::Short | State::Control, '\x1b') => {
                self.escape.clear();
                self.state = State::Escape;
            }
            (State::Text, letter) => self.text(letter, emit),
            (State::Escape, '[') => self.state = State::Control,
            (State::Escape, ']' | 'P' | '_' | '^' | 'X') => self.state = State::String,
            (State::Escape, ' '..='/') => self.state = State::Short,
            (State::Escape | State::Short, letter) => {
                self.state = State::Text;
                if letter.is_control() {
                    self.text(letter, emit);
                }
            }
            (State::Control, '\x20'..='\x3f') => {
                if self.escape.len() < LONGEST_STYLE {
                    self.escape.push(letter);
                }
            }
            (State::Control, letter) => {
                self.state = State::Text;
                if letter == 'm' {
                    self.colour();
                } else if letter.is_control() {
                    self.text(letter, emit);
                }
            }
            (State::String, '\x07' | '\u{9c}') | (State::StringEscape, '\\') => {
                self.state = State::Text;
            }
            (State::String, '\x1b') => self.state = State::StringEscape,
            // A string never crosses a line: its end must have been lost.
            (State::String | State::StringEscape, '\n') => {
                self.state = State::Text;
                self.text(letter, emit);
            }
            (State::String, _) => {}
            (State::StringEscape, _) => self.state = State::String,
        }
    }

    fn text(&mut self, letter: char, emit: &mut dyn FnMut(&str)) {
        match letter {
            '\n' => {
                self.returned = false;
                self.end_line(emit);
            }
            '\r' => self.returned = true,
            '\t' => self.write(letter, emit),
            // The single-character forms of `ESC [` and of `ESC ]` and the like.
            '\u{9b}' => {
                self.escape.clear();
                self.state = State::Control;
            }
            '\u{9d}' | '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => self.state = State::String,
            letter if letter.is_control() => {}
            letter => self.write(letter, emit),
        }
    }

    fn write(&mut self, letter: char, emit: &mut dyn FnMut(&str)) {
        if std::mem::take(&mut self.returned) {
            self.line.clone_from(&self.style);
        }
        self.line.push(letter);
        if self.line.len() >= LONGEST {
            self.end_line(emit);
        }
    }

    /// Takes over a colour sequence if it is one.
    fn colour(&mut self) {
        if !self.escape.bytes().all(|byte| byte.is_ascii_digit() || byte == b';' || byte == b':') {
            return;
        }
        let sequence = format!("\x1b[{}m", self.escape);
        let resets = matches!(self.escape.as_str(), "" | "0" | "00");
        if resets || self.style.len() + sequence.len() > LONGEST_STYLE {
            self.style.clear();
        }
        if !resets {
            self.style.push_str(&sequence);
        }
        if !self.returned {
            self.line.push_str(&sequence);
        }
    }

    fn end_line(&mut self, emit: &mut dyn FnMut(&str)) {
        emit(&self.closed());
        self.line.clone_from(&self.style);
    }

    /// The line so that what follows it is not coloured.
    fn closed(&self) -> String {
        if self.style.is_empty() { self.line.clone() } else { format!("{}{RESET}", self.line) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<String> {
        let mut results = Vec::new();
        for size in [1, 2, 3, bytes.len().max(1)] {
            let mut all = Vec::new();
            let mut splitter = Lines::new();
            let mut emit = |line: &str| all.push(line.to_owned());
            for chunk in bytes.chunks(size) {
                splitter.push(chunk, &mut emit);
            }
            splitter.finish(&mut emit);
            results.push(all);
        }
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "chunks matter: {results:?}");
        results.remove(0)
    }

    #[test]
    fn lines_keep_blanks_and_lose_only_their_ends() {
        assert_eq!(lines(b"a\n  b \r\n\nlast"), ["a", "  b ", "", "last"]);
        assert!(lines(b"").is_empty());
        assert_eq!(lines("ü\n🎉".as_bytes()), ["ü", "🎉"]);
        assert_eq!(lines(b"\xff\n"), ["\u{fffd}"]);
    }

    #[test]
    fn a_progress_bar_shows_its_last_state() {
        assert_eq!(lines(b"10%\r50%\r100%\ndone\n"), ["100%", "done"]);
        assert_eq!(lines(b"\r\x1b[K10%\r\x1b[K20%\n"), ["20%"]);
        let mut splitter = Lines::new();
        splitter.push(b"10%\r50%", &mut |_| panic!("no line yet"));
        assert_eq!(splitter.pending(), "50%");
        splitter.push(b"\r", &mut |_| panic!("no line yet"));
        assert_eq!(splitter.pending(), "50%");
    }

    #[test]
    fn colours_stay_and_do_not_leak() {
        assert_eq!(lines(b"\x1b[31mred\x1b[0m plain\n"), ["\x1b[31mred\x1b[0m plain"]);
        assert_eq!(
            lines(b"\x1b[1;31mred\nstill\x1b[m no\n"),
            ["\x1b[1;31mred\x1b[0m", "\x1b[1;31mstill\x1b[m no"]
        );
        assert_eq!(lines(b"\x1b[38;2;1;2;3mx\n"), ["\x1b[38;2;1;2;3mx\x1b[0m"]);
    }

    #[test]
    fn everything_else_is_dropped() {
        assert_eq!(lines(b"a\x1b[2J\x1b[1;1Hb\x1b]0;title\x07c\x1b]52;c;aGk=\x1b\\d\n"), ["abcd"]);
        assert_eq!(lines(b"a\x1bP1;2q evil \x1b\\b\x1b(Bc\x07\x08d\n"), ["abcd"]);
        assert_eq!(lines("a\u{9b}2Jb\u{9d}title\u{9c}c\n".as_bytes()), ["abc"]);
        assert_eq!(lines(b"\x1b]never ended\nnext\n"), ["", "next"]);
        assert_eq!(lines(b"\x1b[?25lx\x1b[>4;2my\n"), ["xy"]);
    }

    #[test]
    fn a_line_without_an_end_is_cut() {
        let long = vec![b'x'; 3 * LONGEST + 5];
        assert_eq!(
            lines(&long).iter().map(String::len).collect::<Vec<_>>(),
            [LONGEST, LONGEST, LONGEST, 5]
        );
    }
}
