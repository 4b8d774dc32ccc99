//! Changing one compute block in the text of a skill file.
//!
//! Only the lines or characters that differ are written; the rest of the file
//! stays as it is, byte for byte, comments included. Nothing is trusted to
//! have worked: the new text is read again, and has to say the same as before
//! but for this one block.
//!
//! Touches nothing: the caller writes the new text to the file.

mod lines;
mod scalar;
mod verify;

use std::fmt;

use crate::span::Span;
pub use lines::first_line;
use verify::Before;

/// Why a block was not changed. The file is as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchError {
    /// What is in the way.
    pub message: String,
    /// What to do instead.
    pub hint: String,
}

impl PatchError {
    fn new(message: impl Into<String>, hint: &str) -> Self {
        Self { message: message.into(), hint: hint.to_owned() }
    }
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PatchError {}

/// Changes the code of the compute step whose code stands at `span`
/// (`Action::Compute`'s `code.span`) and is `old`; gives the whole new text.
pub fn patch_block(text: &str, span: Span, old: &str, new: &str) -> Result<String, PatchError> {
    let before = Before::read(text, span, old)?;
    if old == new {
        return Ok(text.to_owned());
    }
    let tries = scalar::replace(text, span, old, new);
    tries.into_iter().find(|changed| before.holds(changed, new)).ok_or_else(|| {
        PatchError::new(
            "the code is written in a way that cannot be changed here",
            "change it by hand, or write it as a block: `compute: |` with the code below",
        )
    })
}
