//! A value at its place: how it is quoted there, and whether it may be.

use crate::error_code::ErrorCode;
use crate::text::TextError;

use super::code::{Code, Need};
use super::frame::Kind;
use super::pieces::Piece;
use super::place::Style;
use super::reader::{Read, Reader};
use super::word::is_name;

const NAME_IT: &str = "give it a name on a line before, `v={{ … }}`, and use `\"$v\"` there";

impl Reader<'_> {
    pub(super) fn value(&mut self, piece: &Piece) -> Read {
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
    pub(super) fn check_need(&mut self, piece: &Piece) -> Read {
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
    pub(super) fn word_of(&mut self) -> Option<&mut Code> {
        for frame in self.stack.iter_mut().rev() {
            match &mut frame.kind {
                Kind::Code(code) => return Some(code),
                Kind::Double { .. } | Kind::Single { .. } | Kind::Ansi | Kind::Param(_) => {}
                Kind::Arith(_) | Kind::Here(_) => return None,
            }
        }
        None
    }
}

pub(super) fn refused(message: &str, hint: &str) -> TextError {
    TextError { hint: Some(hint.to_owned()), ..TextError::new(message) }
}

pub(super) fn not(need: Need) -> TextError {
    let (message, hint) = match need {
        Need::Integer | Need::Anything => (
            "a value that the shell would calculate with is not an integer",
            "only whole numbers may stand there; `=` and `!=` compare any text",
        ),
        Need::Name => (
            "a value that names a variable is not a name",
            "only letters, digits and `_` may stand there",
        ),
    };
    TextError { code: ErrorCode::InjectionDetected, ..refused(message, hint) }
}
