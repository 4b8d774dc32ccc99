//! Expansions, comments, parentheses and redirections.

use super::code::{Code, End};
use super::frame::{Arith, Frame, Kind};
use super::param::{self, Param, Part};
use super::place::Style;
use super::reader::{Item, Read, Reader};
use super::value::refused;

impl Reader<'_> {
    /// A backslash and what it quotes.
    pub(super) fn backslash(&mut self) -> Read {
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

    pub(super) fn dollar(&mut self) -> Read {
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

    pub(super) fn open_param(&mut self) {
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

    pub(super) fn set_part(&mut self, to: Part) {
        if let Some(Kind::Param(param)) = self.stack.last_mut().map(|frame| &mut frame.kind) {
            param.part = to;
        }
    }

    pub(super) fn open_backtick(&mut self) {
        self.note('$');
        self.take(1);
        self.push(Kind::Code(Code::new(End::Backtick)));
    }

    pub(super) fn in_backticks(&self) -> bool {
        self.stack.iter().any(is_backtick)
    }

    /// The first backtick ends it, whatever is open inside.
    pub(super) fn close_backtick(&mut self) -> Read {
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
    pub(super) fn comment(&mut self) -> Read {
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

    pub(super) fn parenthesis(&mut self, letter: char) -> Read {
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

    pub(super) fn redirection(&mut self, letter: char) -> Read {
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
}

fn is_backtick(frame: &Frame) -> bool {
    matches!(&frame.kind, Kind::Code(code) if code.end == End::Backtick)
}
