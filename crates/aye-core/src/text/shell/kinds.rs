//! What a letter means in each kind of text.

use super::code::Code;
use super::frame::{Arith, Kind};
use super::param::{self, Part};
use super::reader::{Read, Reader};

impl Reader<'_> {
    pub(super) fn in_code(&mut self, letter: char) -> Read {
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

    pub(super) fn in_double(&mut self, letter: char, unsure: bool) -> Read {
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

    pub(super) fn in_single(&mut self, letter: char, unsure: bool) -> Read {
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

    pub(super) fn in_ansi(&mut self, letter: char) -> Read {
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

    pub(super) fn in_arith(&mut self, letter: char) -> Read {
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

    pub(super) fn in_param(&mut self, letter: char) -> Read {
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

    pub(super) fn in_here(&mut self, letter: char, quoted: bool) -> Read {
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
}
