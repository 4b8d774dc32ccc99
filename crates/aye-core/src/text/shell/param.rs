//! `${…}`: what may stand where in it.

use super::place::Style;

/// The state of one `${…}`.
pub(super) struct Param {
    /// Inside double quotes or a here-document.
    pub(super) quoted: bool,
    /// Inside a here-document, where quotes in it are doubtful.
    pub(super) here: bool,
    /// Inside arithmetic.
    pub(super) arith: bool,
    pub(super) part: Part,
}

impl Param {
    /// Whether the shell calculates with what stands there.
    pub(super) fn calculates(&self) -> bool {
        self.arith || self.part == Part::Numbers
    }

    /// How a value is placed; `None` where none may stand.
    pub(super) fn style(&self) -> Option<Style> {
        match self.part {
            Part::Name | Part::Other => None,
            _ if self.calculates() => Some(Style::Number),
            Part::Word if self.here => Some(Style::Here),
            Part::Word if self.quoted => Some(Style::Double),
            // Without quotes of its own it would be a pattern.
            Part::Pattern if self.here => None,
            Part::Word | Part::Pattern | Part::Numbers => Some(Style::Word),
        }
    }
}

/// Which part of it the reader is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Before the operator.
    Name,
    /// `:-`, `=`, `?`, `+`: a word.
    Word,
    /// `#`, `%`, `/`, `^`, `,`: a pattern.
    Pattern,
    /// `:`: numbers, which are calculated.
    Numbers,
    /// Anything else: no place for a value.
    Other,
}

/// How the text after `${` begins: how many characters make up the name, and
/// whether a value may come later at all.
pub(super) fn header(text: &str) -> (usize, Part) {
    let name = text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').count();
    match text.chars().next() {
        Some('@' | '*' | '?' | '$' | '-') => (1, Part::Name),
        // `${#x}` and `${!x}` take no words; what looks like it is too rare.
        Some('#' | '!') => (1, Part::Other),
        _ if name > 0 => (name, Part::Name),
        _ => (0, Part::Other),
    }
}

/// What the operator at the beginning of this text makes of the rest, and
/// how many characters it has.
pub(super) fn operator(text: &str) -> (usize, Part) {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(':'), Some('-' | '=' | '?' | '+')) => (2, Part::Word),
        (Some(':'), _) => (1, Part::Numbers),
        (Some('-' | '=' | '?' | '+'), _) => (1, Part::Word),
        (Some('#'), Some('#')) | (Some('%'), Some('%')) | (Some('/'), Some('/' | '#' | '%')) => {
            (2, Part::Pattern)
        }
        (Some('#' | '%' | '/' | '^' | ','), _) => (1, Part::Pattern),
        _ => (0, Part::Other),
    }
}
