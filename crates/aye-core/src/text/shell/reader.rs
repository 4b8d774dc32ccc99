//! A reader of shell syntax that knows how each place in a script is quoted.
//!
//! It reads what POSIX shells have in common and what bash adds. Where they
//! differ, or where it cannot tell, it has a doubt: everything is passed on,
//! but a value that comes later is refused.

use crate::text::TextError;

use super::code::{Code, End};
use super::frame::{Frame, Kind};
use super::pieces::Piece;
use super::place::Placed;
use super::value::not;

/// A letter of the script, or a value in it.
#[derive(Clone, Copy)]
pub(super) enum Item<'a> {
    Letter(char),
    Value(&'a Piece),
}

/// The reader.
pub(super) struct Reader<'a> {
    pub(super) items: Vec<Item<'a>>,
    pub(super) at: usize,
    pub(super) stack: Vec<Frame>,
    pub(super) placed: Placed,
    pub(super) doubt: Option<&'static str>,
}

/// What reading comes to.
pub(super) type Read = Result<(), TextError>;

impl<'a> Reader<'a> {
    pub(super) fn new(pieces: &'a [Piece]) -> Self {
        let mut items = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) | Piece::Verbatim(text) => {
                    items.extend(text.chars().map(Item::Letter));
                }
                Piece::Value(_) | Piece::Quoted(_) => items.push(Item::Value(piece)),
            }
        }
        let script = Frame { kind: Kind::Code(Code::new(End::Script)), since: 0 };
        Self { items, at: 0, stack: vec![script], placed: Placed::default(), doubt: None }
    }

    /// Reads to the end.
    pub(super) fn read(mut self) -> Result<Placed, TextError> {
        while let Some(item) = self.items.get(self.at).copied() {
            match item {
                Item::Letter(letter) => self.letter(letter)?,
                Item::Value(piece) => {
                    self.value(piece)?;
                    self.at += 1;
                }
            }
        }
        if let Some(frame) = self.stack.get(1)
            && self.placed.count > frame.since
        {
            return Err(TextError::new(format!(
                "a {} of the script is not closed, and a value follows it",
                frame.kind.name()
            )));
        }
        self.end_word()?;
        Ok(self.placed)
    }

    pub(super) fn letter(&mut self, letter: char) -> Read {
        let in_backticks = self.in_backticks();
        if in_backticks && letter == '\\' {
            self.doubt("there is a backslash inside backticks; use `$( … )`");
        }
        if in_backticks && letter == '`' {
            return self.close_backtick();
        }
        match self.stack.last().map(|frame| &frame.kind) {
            None | Some(Kind::Code(_)) => self.in_code(letter),
            Some(Kind::Double { unsure }) => self.in_double(letter, *unsure),
            Some(Kind::Single { unsure }) => self.in_single(letter, *unsure),
            Some(Kind::Ansi) => self.in_ansi(letter),
            Some(Kind::Param(_)) => self.in_param(letter),
            Some(Kind::Arith(_)) => self.in_arith(letter),
            Some(Kind::Here(here)) => {
                let quoted = here.doc.quoted;
                self.in_here(letter, quoted)
            }
        }
    }

    /// Remembers something quoted or expanded in the word it is part of.
    pub(super) fn note(&mut self, letter: char) {
        if let Some(code) = self.word_of() {
            code.quoted(Some(letter));
        }
    }

    /// The commands at the top of the stack.
    pub(super) fn code<T: Default>(&mut self, act: impl FnOnce(&mut Code) -> T) -> T {
        match self.stack.last_mut().map(|frame| &mut frame.kind) {
            Some(Kind::Code(code)) => act(code),
            _ => T::default(),
        }
    }

    pub(super) fn end_word(&mut self) -> Read {
        match self.stack.last_mut().map(|frame| &mut frame.kind) {
            Some(Kind::Code(code)) => code.end_word().map_err(not),
            _ => Ok(()),
        }
    }

    pub(super) fn doubt(&mut self, why: &'static str) {
        self.doubt.get_or_insert(why);
    }

    pub(super) fn push(&mut self, kind: Kind) {
        self.stack.push(Frame { kind, since: self.placed.count });
    }

    /// Takes the closing letter and goes back to what was before.
    pub(super) fn pop(&mut self) {
        self.take(1);
        self.stack.pop();
    }

    pub(super) fn peek(&self, distance: usize) -> Option<char> {
        match self.items.get(self.at + distance) {
            Some(Item::Letter(letter)) => Some(*letter),
            Some(Item::Value(_)) | None => None,
        }
    }

    /// The letters that come, up to a value.
    pub(super) fn ahead(&self, count: usize) -> String {
        (0..count).map_while(|distance| self.peek(distance)).collect()
    }

    /// Passes on so many letters.
    pub(super) fn take(&mut self, count: usize) {
        for _ in 0..count {
            let Some(letter) = self.peek(0) else { return };
            if letter == '\n' {
                self.watch_line_break();
            }
            self.placed.literal(letter.encode_utf8(&mut [0; 4]));
            self.at += 1;
        }
    }

    /// A line break inside something, on the way to a here-document or in one.
    pub(super) fn watch_line_break(&mut self) {
        let waits = |frame: &Frame| match &frame.kind {
            Kind::Code(code) => !code.pending.is_empty(),
            _ => false,
        };
        if self.stack.iter().any(waits) {
            self.doubt("a here-document begins inside something else");
        }
        self.doubt_if_delimiter(1, self.stack.len().saturating_sub(1));
    }
}
