//! Skill files: from text to a checked [`Skill`].
//!
//! `text -> yaml (positions, limits) -> document (the schema) -> check -> Skill`

mod model;
mod span;

pub use model::*;
pub(crate) use span::SPANNED;
pub use span::{Span, Spanned};
