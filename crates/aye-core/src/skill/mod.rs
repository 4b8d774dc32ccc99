//! Skill files: from text to a checked [`Skill`].
//!
//! `text -> yaml (positions, limits) -> document (the schema) -> check -> Skill`

mod inputs;
mod model;
mod span;

pub use inputs::{Given, InputError, Inputs, resolve_inputs};
pub use model::*;
pub use span::{Span, Spanned};
