//! Here-documents.

use super::code::Code;
use super::frame::{Frame, Kind};
use super::reader::{Item, Read, Reader};
use super::value::refused;

/// A here-document whose body begins at the next line.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Pending {
    pub(super) delimiter: String,
    /// `<<-`: tabs before the delimiter do not count.
    pub(super) strip: bool,
    /// The delimiter was quoted: nothing in the body expands.
    pub(super) quoted: bool,
}

/// The body of one.
pub(super) struct Here {
    pub(super) doc: Pending,
    /// Those that follow it.
    pub(super) next: Vec<Pending>,
}

impl Pending {
    /// Whether a line, without its line break, is the delimiter.
    pub(super) fn ends_at(&self, line: &str) -> bool {
        let line = if self.strip { line.trim_start_matches('\t') } else { line };
        line == self.delimiter
    }
}

impl Reader<'_> {
    /// `<<` and its delimiter.
    pub(super) fn open_here(&mut self) -> Read {
        self.take(2);
        let strip = self.peek(0) == Some('-');
        self.take(usize::from(strip));
        while matches!(self.peek(0), Some(' ' | '\t')) {
            self.take(1);
        }
        let mut doc = Pending { delimiter: String::new(), strip, quoted: false };
        let mut quote = None;
        while let Some(item) = self.items.get(self.at).copied() {
            let Item::Letter(letter) = item else {
                return Err(refused(
                    "the delimiter of a here-document contains a value",
                    "write a fixed word, such as `EOF`",
                ));
            };
            match (letter, quote) {
                (letter, Some(open)) if letter == open => quote = None,
                (letter, Some(_)) => doc.delimiter.push(letter),
                ('\'' | '"', None) => {
                    (quote, doc.quoted) = (Some(letter), true);
                }
                ('\\', None) => doc.quoted = true,
                (' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')', None) => break,
                (letter, None) => doc.delimiter.push(letter),
            }
            if matches!(letter, '$' | '`') || (letter == '\\' && quote.is_some()) {
                self.doubt("the delimiter of a here-document is not a plain word");
            }
            self.take(1);
        }
        self.code(|code| code.pending.push(doc));
        Ok(())
    }

    pub(super) fn line_break(&mut self) -> Read {
        self.end_word()?;
        self.code(Code::end_command);
        let docs = self.code(|code| std::mem::take(&mut code.pending));
        self.take(1);
        if !docs.is_empty() {
            self.open_bodies(docs);
            self.here_line();
        }
        Ok(())
    }

    pub(super) fn open_bodies(&mut self, mut docs: Vec<Pending>) {
        if !docs.is_empty() {
            let doc = docs.remove(0);
            self.push(Kind::Here(Here { doc, next: docs }));
        }
    }

    /// At the beginning of a line of a here-document: whether it ends here.
    pub(super) fn here_line(&mut self) {
        while let Some(Kind::Here(here)) = self.stack.last().map(|frame| &frame.kind) {
            let Some(line) = self.line(self.at) else { return };
            if !here.doc.ends_at(&line) {
                return;
            }
            let next = here.next.clone();
            self.take(line.chars().count());
            self.stack.pop();
            if next.is_empty() {
                return;
            }
            self.take(1);
            self.open_bodies(next);
        }
    }

    /// The line from there on; `None` if there is a value in it.
    pub(super) fn line(&self, from: usize) -> Option<String> {
        let mut line = String::new();
        for item in self.items.iter().skip(from) {
            match item {
                Item::Letter('\n') => break,
                Item::Letter(letter) => line.push(*letter),
                Item::Value(_) => return None,
            }
        }
        Some(line)
    }

    /// Shells differ about a delimiter that is not plainly on its own: in the
    /// middle of something inside the here-document, or of a line.
    pub(super) fn doubt_if_delimiter(&mut self, distance: usize, open: usize) {
        let Some(line) = self.line(self.at + distance) else { return };
        let ends = |frame: &Frame| match &frame.kind {
            Kind::Here(here) => here.doc.ends_at(&line),
            _ => false,
        };
        if self.stack.iter().take(open).any(ends) {
            self.doubt("a here-document may end in the middle of something");
        }
    }
}
