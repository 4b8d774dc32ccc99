//! Scripts for a shell in which no value can become code.
//!
//! A `shell:` template is rendered to pieces ([`mod@pieces`]), a reader of shell
//! syntax walks them and finds how each value is quoted ([`reader`]), and
//! the value is handed over in an environment variable of the step: the
//! script only holds a reference to it, quoted as its place needs
//! ([`place`]). Were the reader ever wrong about a place, the worst would be
//! a word that is split or a reference that is not expanded, because shells
//! do not read the result of an expansion as code again. The few places where
//! they do (arithmetic, names of variables) get integers and names only.
//!
//! Touches nothing. The script and its variables go to the process that runs the step.

mod code;
mod frame;
mod here;
mod kinds;
mod param;
pub(super) mod pieces;
mod place;
mod reader;
mod syntax;
mod value;
mod word;

pub(super) use pieces::quote_filter;
pub(crate) use word::legible;

use super::render::{TextError, is_plain};
use super::scope::Scope;

use pieces::{Piece, pieces};
use place::{Bit, Placed};
use reader::Reader;

/// What the names of the variables begin with that hold the values of a script; a number
/// follows.
pub const VALUE_PREFIX: &str = "AYE_V";

/// What `{{ x | safe }}` may put into a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verbatim {
    /// Any text: the author said so.
    #[default]
    Anything,
    /// One plain word, else the script is refused with `INJECTION_DETECTED`.
    PlainWord,
}

/// A script and the values it refers to.
#[derive(Clone, PartialEq, Eq)]
pub struct Script {
    /// What to give to `sh -c`.
    pub text: String,
    /// Environment variables to run it with: `AYE_V1`, `AYE_V2`, …
    pub values: Vec<(String, String)>,
    shown: Vec<Bit>,
}

impl std::fmt::Debug for Script {
    // Values may be secrets: never print them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Script").field("text", &self.text).finish_non_exhaustive()
    }
}

impl Script {
    /// The script as a person would write it, with the values in place and
    /// quoted. `mask` sees each value before it is quoted, because quoting
    /// changes what a secret looks like.
    pub fn shown(&self, mask: impl Fn(&str) -> String) -> String {
        self.shown.iter().map(|bit| bit.show(&mask)).collect()
    }
}

/// Renders a script; its values become variables.
///
/// Scripts whose values stand where a shell would evaluate them, or where
/// nobody can tell, are refused.
pub fn shell_script(
    template: &str,
    scope: &Scope,
    verbatim: Verbatim,
) -> Result<Script, TextError> {
    let pieces = if is_plain(template) {
        vec![Piece::Text(template.to_owned())]
    } else {
        pieces(template, scope)?
    };
    if verbatim == Verbatim::PlainWord {
        for piece in &pieces {
            if let Piece::Verbatim(text) = piece {
                word::check_plain(text)?;
            }
        }
    }
    let Placed { text, values, shown, .. } = if pieces.iter().any(is_value) {
        Reader::new(&pieces).read()?
    } else {
        Placed::untouched(&pieces)
    };
    if text.contains('\0') {
        return Err(TextError::new("the script contains a zero byte"));
    }
    Ok(Script { text, values, shown })
}

fn is_value(piece: &Piece) -> bool {
    matches!(piece, Piece::Value(_) | Piece::Quoted(_))
}
