//! A line of text that is being typed.

use aye_core::diagnostic::{is_hidden, visible};
use unicode_width::UnicodeWidthChar as _;

use super::key::Key;

/// The longest answer; what goes beyond is not taken.
pub const LONGEST: usize = 64 * 1024;

/// Text and where the cursor is in it. The text is kept as typed; what is
/// shown of it is always harmless.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    chars: Vec<char>,
    cursor: usize,
}

/// What a key did to the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited {
    /// Text or cursor may have changed.
    Yes,
    /// Pasted line breaks became spaces.
    Joined,
    /// There is no room for more.
    Full,
    /// The key is none for editing.
    No,
}

impl Line {
    /// A line with a text, the cursor at its end.
    pub fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        Self { cursor: chars.len(), chars }
    }

    /// The text.
    pub fn text(&self) -> String {
        self.chars.iter().collect()
    }

    /// Whether nothing is typed.
    pub fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }

    /// Takes a key.
    pub fn key(&mut self, key: &Key) -> Edited {
        match key {
            Key::Char(c) => return self.insert(&[*c]),
            Key::Paste(text) => return self.paste(text),
            Key::Backspace | Key::Ctrl('h') => self.remove(self.before()..self.cursor),
            Key::Delete | Key::Ctrl('d') => self.remove(self.cursor..self.after()),
            Key::Left | Key::Ctrl('b') => self.cursor = self.before(),
            Key::Right | Key::Ctrl('f') => self.cursor = self.after(),
            Key::Home | Key::Ctrl('a') => self.cursor = 0,
            Key::End | Key::Ctrl('e') => self.cursor = self.chars.len(),
            Key::WordLeft => self.cursor = self.word_left(),
            Key::WordRight => self.cursor = self.word_right(),
            Key::Ctrl('u') => self.remove(0..self.cursor),
            Key::Ctrl('k') => self.remove(self.cursor..self.chars.len()),
            Key::Ctrl('w') => self.remove(self.word_left()..self.cursor),
            Key::Enter | Key::Esc | Key::Tab | Key::Up | Key::Down => return Edited::No,
            Key::PageUp | Key::PageDown | Key::Ctrl(_) | Key::Other => return Edited::No,
        }
        Edited::Yes
    }

    fn insert(&mut self, chars: &[char]) -> Edited {
        if self.chars.len() + chars.len() > LONGEST {
            return Edited::Full;
        }
        self.chars.splice(self.cursor..self.cursor, chars.iter().copied());
        self.cursor += chars.len();
        Edited::Yes
    }

    fn paste(&mut self, text: &str) -> Edited {
        let text = text.trim_end_matches(['\r', '\n']).replace("\r\n", "\n");
        let joined = text.contains(['\r', '\n']);
        let chars: Vec<char> = text
            .chars()
            .map(|c| if matches!(c, '\r' | '\n' | '\t') { ' ' } else { c })
            .filter(|c| !c.is_control())
            .collect();
        match self.insert(&chars) {
            Edited::Yes if joined => Edited::Joined,
            edited => edited,
        }
    }

    fn remove(&mut self, range: std::ops::Range<usize>) {
        self.cursor = range.start;
        self.chars.drain(range);
    }

    /// Where the character before the cursor begins, marks upon it included.
    fn before(&self) -> usize {
        let mut at = self.cursor;
        while at > 0 {
            at -= 1;
            if !is_mark(self.chars[at]) {
                break;
            }
        }
        at
    }

    fn after(&self) -> usize {
        let mut at = (self.cursor + 1).min(self.chars.len());
        while at < self.chars.len() && is_mark(self.chars[at]) {
            at += 1;
        }
        at
    }

    fn word_left(&self) -> usize {
        let mut at = self.cursor;
        while at > 0 && !self.chars[at - 1].is_alphanumeric() {
            at -= 1;
        }
        while at > 0 && self.chars[at - 1].is_alphanumeric() {
            at -= 1;
        }
        at
    }

    fn word_right(&self) -> usize {
        let mut at = self.cursor;
        while at < self.chars.len() && !self.chars[at].is_alphanumeric() {
            at += 1;
        }
        while at < self.chars.len() && self.chars[at].is_alphanumeric() {
            at += 1;
        }
        at
    }

    /// What fits into a number of columns around the cursor, and the cursor's
    /// column in it. A secret shows a dot for each character.
    pub fn window(&self, columns: usize, dot: Option<char>) -> (String, usize) {
        let columns = columns.max(2);
        let mut first = self.cursor;
        let mut before = 0;
        // The cursor itself takes a column.
        while first > 0 {
            let wide = cell(self.chars[first - 1], dot).1;
            if before + wide + 1 > columns {
                break;
            }
            before += wide;
            first -= 1;
        }
        let mut text = String::new();
        let mut used = 0;
        for c in &self.chars[first..] {
            let (shown, wide) = cell(*c, dot);
            if used + wide > columns {
                break;
            }
            text.push_str(&shown);
            used += wide;
        }
        (text, before)
    }
}

/// A character that sits upon the one before it.
fn is_mark(c: char) -> bool {
    !is_hidden(c) && c.width() == Some(0)
}

/// A character as shown, and its columns.
fn cell(c: char, dot: Option<char>) -> (String, usize) {
    if let Some(dot) = dot {
        return if is_mark(c) { (String::new(), 0) } else { (dot.to_string(), 1) };
    }
    let text = visible(c.encode_utf8(&mut [0; 4])).into_owned();
    let width = crate::term::width(&text);
    (text, width)
}
