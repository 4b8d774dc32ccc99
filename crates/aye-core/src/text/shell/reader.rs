//! A reader of shell syntax that knows how each place in a script is quoted.
//!
//! It reads what POSIX shells have in common and what bash adds. Where they
//! differ, or where it cannot tell, it has a doubt: everything is passed on,
//! but a value that comes later is refused.

use crate::text::TextError;

use super::code::{Code, End, Need};
use super::frame::{Arith, Frame, Kind};
use super::here::{Here, Pending};
use super::param::{self, Param, Part};
use super::pieces::Piece;
use super::place::{Placed, Style};
use super::word::is_name;

/// A letter of the script, or a value in it.
#[derive(Clone, Copy)]
enum Item<'a> {
    Letter(char),
    Value(&'a Piece),
}

/// The reader.
pub(super) struct Reader<'a> {
    items: Vec<Item<'a>>,
    at: usize,
    stack: Vec<Frame>,
    placed: Placed,
    doubt: Option<&'static str>,
}

type Read = Result<(), TextError>;

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

    fn letter(&mut self, letter: char) -> Read {
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

    // ---- the kinds of text ---------------------------------------------------

    fn in_code(&mut self, letter: char) -> Read {
        let next = self.peek(1);
        match letter {
            '\\' => return self.backslash(),
            '\'' => {
                self.code(|code| code.quoted(None));
                self.take(1);
                self.push(Kind::Single { unsure: false });
            }
            '"' => {
                self.code(|code| code.quoted(None));
                self.take(1);
                self.push(Kind::Double { unsure: false });
            }
            '`' => self.open_backtick(),
            '$' => return self.dollar(),
            '#' if !self.code(|code| code.in_word()) => self.comment()?,
            '(' | ')' => return self.parenthesis(letter),
            '<' | '>' => return self.redirection(letter),
            '&' if next == Some('>') => {
                self.end_word()?;
                self.take(2);
                self.code(Code::redirection);
            }
            ';' | '&' | '|' => {
                self.end_word()?;
                self.take(1);
                self.code(Code::end_command);
            }
            ' ' | '\t' => {
                self.end_word()?;
                self.take(1);
            }
            '\n' => return self.line_break(),
            _ => {
                self.code(|code| code.letter(letter));
                self.take(1);
            }
        }
        Ok(())
    }

    fn in_double(&mut self, letter: char, unsure: bool) -> Read {
        match letter {
            '"' => self.pop(),
            '\\' => return self.backslash(),
            '`' => self.open_backtick(),
            '$' => return self.dollar(),
            _ => {
                if unsure && matches!(letter, '}' | '\'') {
                    self.doubt("shells differ about quotes inside `\"${…}\"`");
                }
                self.note(letter);
                self.take(1);
            }
        }
        Ok(())
    }

    fn in_single(&mut self, letter: char, unsure: bool) -> Read {
        if letter == '\'' {
            self.pop();
            return Ok(());
        }
        if unsure && matches!(letter, '}' | '"' | '$' | '`' | '\\') {
            self.doubt("shells differ about quotes inside `\"${…}\"`");
        }
        self.note(letter);
        self.take(1);
        Ok(())
    }

    fn in_ansi(&mut self, letter: char) -> Read {
        match (letter, self.peek(1)) {
            ('\'', _) => self.pop(),
            ('\\', Some('\'')) => {
                self.doubt("not every shell knows `\\'` inside `$'…'`");
                self.take(2);
            }
            ('\\', Some(_)) => self.take(2),
            _ => self.take(1),
        }
        Ok(())
    }

    fn in_arith(&mut self, letter: char) -> Read {
        let double = self.peek(1) == Some(')');
        let Some(Kind::Arith(arith)) = self.stack.last_mut().map(|frame| &mut frame.kind) else {
            return Ok(());
        };
        match (letter, arith.bracket) {
            ('$', _) => return self.dollar(),
            ('`', _) => self.open_backtick(),
            ('(', false) | ('[', true) => {
                arith.depth += 1;
                self.take(1);
            }
            (')', false) | (']', true) if arith.depth > 0 => {
                arith.depth -= 1;
                self.take(1);
            }
            (']', true) => self.pop(),
            (')', false) => {
                if double {
                    self.take(1);
                } else {
                    self.doubt("`((` may be arithmetic or not; write `( (`");
                }
                self.pop();
            }
            ('\'' | '"' | '\\', _) => {
                self.doubt("there is a quote inside arithmetic");
                self.take(1);
            }
            _ => self.take(1),
        }
        Ok(())
    }

    fn in_param(&mut self, letter: char) -> Read {
        let (quoted, calculates, part) = match self.stack.last().map(|frame| &frame.kind) {
            Some(Kind::Param(param)) => (param.quoted, param.calculates(), param.part),
            _ => return Ok(()),
        };
        match letter {
            '}' => self.pop(),
            '[' if part == Part::Name => {
                self.take(1);
                self.push(Kind::Arith(Arith { bracket: true, depth: 0 }));
            }
            _ if part == Part::Name => {
                let (length, part) = param::operator(&self.ahead(2));
                self.take(length);
                self.set_part(part);
            }
            '\\' => return self.backslash(),
            '`' => self.open_backtick(),
            '$' => return self.dollar(),
            '\'' | '"' => {
                if calculates {
                    self.doubt("there is a quote inside arithmetic");
                }
                self.take(1);
                self.push(if letter == '"' {
                    Kind::Double { unsure: quoted }
                } else {
                    Kind::Single { unsure: quoted }
                });
            }
            _ => self.take(1),
        }
        Ok(())
    }

    fn in_here(&mut self, letter: char, quoted: bool) -> Read {
        match letter {
            '\n' => {
                self.take(1);
                self.here_line();
            }
            '\\' if !quoted => {
                if self.peek(1) == Some('\n') {
                    self.doubt_if_delimiter(2, self.stack.len());
                }
                return self.backslash();
            }
            '`' if !quoted => self.open_backtick(),
            '$' if !quoted => return self.dollar(),
            _ => self.take(1),
        }
        Ok(())
    }

    // ---- their parts -----------------------------------------------------------

    /// A backslash and what it quotes.
    fn backslash(&mut self) -> Read {
        match self.items.get(self.at + 1) {
            Some(Item::Value(_)) => {
                Err(refused("a value follows a backslash", "leave the backslash out"))
            }
            Some(Item::Letter('\n')) => {
                self.take(2);
                Ok(())
            }
            Some(Item::Letter(letter)) => {
                self.note(*letter);
                self.take(2);
                Ok(())
            }
            None => {
                self.take(1);
                Ok(())
            }
        }
    }

    fn dollar(&mut self) -> Read {
        if let Some(Item::Value(_)) = self.items.get(self.at + 1) {
            return Err(refused(
                "a value follows a `$`",
                "write `{{ x }}` for the value, or `\\$` and `{{ x }}` for a dollar sign before it",
            ));
        }
        let plain = match self.stack.last().map(|frame| &frame.kind) {
            Some(Kind::Code(_)) => true,
            Some(Kind::Param(param)) => !param.quoted,
            _ => false,
        };
        self.note('$');
        match (self.peek(1), self.peek(2)) {
            (Some('('), Some('(')) => {
                self.take(3);
                self.push(Kind::Arith(Arith { bracket: false, depth: 0 }));
            }
            (Some('('), _) => {
                self.take(2);
                self.push(Kind::Code(Code::new(End::Dollar)));
            }
            (Some('['), _) => {
                self.take(2);
                self.push(Kind::Arith(Arith { bracket: true, depth: 0 }));
            }
            (Some('{'), _) => self.open_param(),
            (Some('\''), _) if plain => {
                self.take(2);
                self.push(Kind::Ansi);
            }
            (Some('#' | '?' | '$' | '!' | '@' | '*' | '-' | '0'..='9'), _) => self.take(2),
            _ => self.take(1),
        }
        Ok(())
    }

    fn open_param(&mut self) {
        let (mut quoted, mut here, mut arith) = (false, false, false);
        match self.stack.last().map(|frame| &frame.kind) {
            Some(Kind::Double { .. }) => quoted = true,
            Some(Kind::Here(_)) => (quoted, here) = (true, true),
            Some(Kind::Arith(_)) => (quoted, arith) = (true, true),
            Some(Kind::Param(param)) => {
                (quoted, here, arith) = (param.quoted, param.here, param.calculates());
            }
            Some(Kind::Code(_) | Kind::Single { .. } | Kind::Ansi) | None => {}
        }
        self.take(2);
        let name = self.ahead(256);
        let (length, part) = param::header(&name);
        if length == 0 {
            self.doubt("there is a `${` without a name");
        }
        self.take(length);
        self.push(Kind::Param(Param { quoted, here, arith, part }));
    }

    fn set_part(&mut self, to: Part) {
        if let Some(Kind::Param(param)) = self.stack.last_mut().map(|frame| &mut frame.kind) {
            param.part = to;
        }
    }

    fn open_backtick(&mut self) {
        self.note('$');
        self.take(1);
        self.push(Kind::Code(Code::new(End::Backtick)));
    }

    fn in_backticks(&self) -> bool {
        self.stack.iter().any(is_backtick)
    }

    /// The first backtick ends it, whatever is open inside.
    fn close_backtick(&mut self) -> Read {
        self.end_word()?;
        let open = self.stack.iter().rposition(is_backtick).unwrap_or(0);
        if open + 1 < self.stack.len() {
            self.doubt("a backtick ends inside quotes or parentheses");
        }
        self.stack.truncate(open + 1);
        self.pop();
        Ok(())
    }

    /// A comment, without the line break at its end.
    fn comment(&mut self) -> Read {
        while let Some(item) = self.items.get(self.at).copied() {
            match item {
                Item::Letter('\n') => break,
                Item::Letter('`') if self.in_backticks() => break,
                Item::Letter(_) => self.take(1),
                Item::Value(piece) => {
                    self.placed.put(piece, Style::Comment)?;
                    self.at += 1;
                }
            }
        }
        Ok(())
    }

    fn parenthesis(&mut self, letter: char) -> Read {
        self.end_word()?;
        let (end, cases, in_test) = self.code(|code| (code.end, code.cases, code.in_test()));
        match letter {
            _ if in_test => self.take(1),
            '(' if self.peek(1) == Some('(') => {
                self.take(2);
                self.push(Kind::Arith(Arith { bracket: false, depth: 0 }));
            }
            '(' => {
                self.take(1);
                self.push(Kind::Code(Code::new(End::Paren)));
            }
            _ if cases > 0 => {
                self.take(1);
                self.code(Code::end_command);
            }
            _ => match end {
                End::Script | End::Backtick => {
                    self.doubt("there is a `)` without its `(`");
                    self.take(1);
                }
                End::Paren | End::Dollar => {
                    if self.code(|code| !code.pending.is_empty()) {
                        self.doubt("a here-document has no body");
                    }
                    self.pop();
                    if end == End::Paren {
                        self.code(Code::end_command);
                    }
                }
            },
        }
        Ok(())
    }

    fn redirection(&mut self, letter: char) -> Read {
        self.code(Code::drop_descriptor);
        self.end_word()?;
        let here = letter == '<' && self.peek(1) == Some('<');
        match (here, self.peek(1), self.peek(2)) {
            (true, _, Some('<')) => self.take(3),
            (true, _, _) => return self.open_here(),
            (false, Some('&' | '|' | '>'), _) => self.take(2),
            (false, _, _) => self.take(1),
        }
        self.code(Code::redirection);
        Ok(())
    }

    /// `<<` and its delimiter.
    fn open_here(&mut self) -> Read {
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
                self.doubt("the delimiter of a here-document is no plain word");
            }
            self.take(1);
        }
        self.code(|code| code.pending.push(doc));
        Ok(())
    }

    fn line_break(&mut self) -> Read {
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

    fn open_bodies(&mut self, mut docs: Vec<Pending>) {
        if !docs.is_empty() {
            let doc = docs.remove(0);
            self.push(Kind::Here(Here { doc, next: docs }));
        }
    }

    /// At the beginning of a line of a here-document: whether it ends here.
    fn here_line(&mut self) {
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
    fn line(&self, from: usize) -> Option<String> {
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
    fn doubt_if_delimiter(&mut self, distance: usize, open: usize) {
        let Some(line) = self.line(self.at + distance) else { return };
        let ends = |frame: &Frame| match &frame.kind {
            Kind::Here(here) => here.doc.ends_at(&line),
            _ => false,
        };
        if self.stack.iter().take(open).any(ends) {
            self.doubt("a here-document may end in the middle of something");
        }
    }

    // ---- values ----------------------------------------------------------------

    fn value(&mut self, piece: &Piece) -> Read {
        if let Some(why) = self.doubt {
            return Err(refused(
                &format!("a value stands where Aye cannot tell how the shell reads it: {why}"),
                NAME_IT,
            ));
        }
        self.check_need(piece)?;
        let style = match self.stack.last().map(|frame| &frame.kind) {
            None | Some(Kind::Code(_)) => Style::Word,
            Some(Kind::Double { unsure: true } | Kind::Single { unsure: true }) => {
                return Err(refused("a value stands in quotes inside `\"${…}\"`", NAME_IT));
            }
            Some(Kind::Double { .. }) => Style::Double,
            Some(Kind::Single { .. }) => Style::Single,
            Some(Kind::Ansi) => {
                return Err(refused("a value stands inside `$'…'`", "use double quotes"));
            }
            Some(Kind::Arith(_)) => Style::Number,
            Some(Kind::Here(here)) if here.doc.quoted => {
                return Err(refused(
                    "a value stands in a here-document that expands nothing",
                    "write its delimiter without quotes, and `\\$` where a dollar sign is meant",
                ));
            }
            Some(Kind::Here(_)) => Style::Here,
            Some(Kind::Param(param)) => match param.style() {
                Some(style) => style,
                None => return Err(refused("a value stands inside `${…}`", NAME_IT)),
            },
        };
        if matches!(style, Style::Word | Style::Double | Style::Single) {
            self.note('$');
        }
        self.placed.put(piece, style)
    }

    /// Some words are more than text to the command that gets them.
    fn check_need(&mut self, piece: &Piece) -> Read {
        let words = match piece {
            Piece::Value(value) => std::slice::from_ref(value),
            Piece::Quoted(words) => words.as_slice(),
            Piece::Text(_) | Piece::Verbatim(_) => return Ok(()),
        };
        let integer = words.iter().all(|word| word.parse::<i64>().is_ok());
        let Some(code) = self.word_of() else { return Ok(()) };
        match code.need(integer) {
            Need::Anything => Ok(()),
            Need::Integer if integer => Ok(()),
            Need::Name if words.iter().all(|word| is_name(word)) => Ok(()),
            need @ (Need::Integer | Need::Name) => Err(not(need)),
        }
    }

    /// The commands of which the place is part of a word.
    fn word_of(&mut self) -> Option<&mut Code> {
        for frame in self.stack.iter_mut().rev() {
            match &mut frame.kind {
                Kind::Code(code) => return Some(code),
                Kind::Double { .. } | Kind::Single { .. } | Kind::Ansi | Kind::Param(_) => {}
                Kind::Arith(_) | Kind::Here(_) => return None,
            }
        }
        None
    }

    // ---- moving on -------------------------------------------------------------

    /// Remembers something quoted or expanded in the word it is part of.
    fn note(&mut self, letter: char) {
        if let Some(code) = self.word_of() {
            code.quoted(Some(letter));
        }
    }

    /// The commands at the top of the stack.
    fn code<T: Default>(&mut self, act: impl FnOnce(&mut Code) -> T) -> T {
        match self.stack.last_mut().map(|frame| &mut frame.kind) {
            Some(Kind::Code(code)) => act(code),
            _ => T::default(),
        }
    }

    fn end_word(&mut self) -> Read {
        match self.stack.last_mut().map(|frame| &mut frame.kind) {
            Some(Kind::Code(code)) => code.end_word().map_err(not),
            _ => Ok(()),
        }
    }

    fn doubt(&mut self, why: &'static str) {
        self.doubt.get_or_insert(why);
    }

    fn push(&mut self, kind: Kind) {
        self.stack.push(Frame { kind, since: self.placed.count });
    }

    /// Takes the closing letter and goes back to what was before.
    fn pop(&mut self) {
        self.take(1);
        self.stack.pop();
    }

    fn peek(&self, distance: usize) -> Option<char> {
        match self.items.get(self.at + distance) {
            Some(Item::Letter(letter)) => Some(*letter),
            Some(Item::Value(_)) | None => None,
        }
    }

    /// The letters that come, up to a value.
    fn ahead(&self, count: usize) -> String {
        (0..count).map_while(|distance| self.peek(distance)).collect()
    }

    /// Passes on so many letters.
    fn take(&mut self, count: usize) {
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
    fn watch_line_break(&mut self) {
        let waits = |frame: &Frame| match &frame.kind {
            Kind::Code(code) => !code.pending.is_empty(),
            _ => false,
        };
        if self.stack.iter().any(waits) {
            self.doubt("a here-document begins inside something else");
        }
        self.doubt_if_delimiter(1, self.stack.len() - 1);
    }
}

const NAME_IT: &str = "give it a name on a line before, `v={{ … }}`, and use `\"$v\"` there";

fn is_backtick(frame: &Frame) -> bool {
    matches!(&frame.kind, Kind::Code(code) if code.end == End::Backtick)
}

fn refused(message: &str, hint: &str) -> TextError {
    TextError { hint: Some(hint.to_owned()), ..TextError::new(message) }
}

fn not(need: Need) -> TextError {
    let (message, hint) = match need {
        Need::Integer | Need::Anything => (
            "a value that the shell would calculate with is no integer",
            "only whole numbers may stand there; `[ … ]` compares without evaluating",
        ),
        Need::Name => (
            "a value that names a variable is no name",
            "only letters, digits and `_` may stand there",
        ),
    };
    TextError { code: "INJECTION_DETECTED", ..refused(message, hint) }
}
