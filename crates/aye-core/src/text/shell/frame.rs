//! Where in a script the reader is.

use super::code::Code;
use super::here::Here;
use super::param::Param;

/// One level of nesting.
pub(super) struct Frame {
    pub(super) kind: Kind,
    /// How many values were placed before it was opened.
    pub(super) since: usize,
}

/// What kind of text it is.
pub(super) enum Kind {
    /// Commands: the script itself, `( … )`, `$( … )` or backticks.
    Code(Code),
    /// `"…"`. Shells differ about those inside `"${x:-"…"}"`: `unsure`.
    Double { unsure: bool },
    /// `'…'`, with the same doubt.
    Single { unsure: bool },
    /// `$'…'`, which is not the same in all shells.
    Ansi,
    /// `${…}`.
    Param(Param),
    /// `$(( … ))`, `(( … ))`, `$[ … ]` or a subscript.
    Arith(Arith),
    /// The body of a here-document.
    Here(Here),
}

/// Arithmetic.
pub(super) struct Arith {
    /// Ends at `]`, not at `))`.
    pub(super) bracket: bool,
    /// Brackets or parentheses open inside.
    pub(super) depth: usize,
}

impl Kind {
    /// What to call it when it is not closed.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Code(_) => "parenthesis or backtick",
            Self::Double { .. } => "double quote",
            Self::Single { .. } | Self::Ansi => "single quote",
            Self::Param(_) => "`${`",
            Self::Arith(_) => "arithmetic expression",
            Self::Here(_) => "here-document",
        }
    }
}
