//! Skill files: from text to a checked [`Skill`].
//!
//! `text -> yaml (positions, limits) -> document (the schema) -> check -> Skill`
//!
//! Touches nothing. A checked skill goes to `flow`.

mod ask_limits;
mod check;
mod document;
mod duration;
mod environment;
mod given;
mod heal_rule;
mod inputs;
mod model;
mod parse;
mod patch;
mod schema;
mod secret_source;
mod size;

pub use ask_limits::AskLimits;
pub use duration::{DurationError, format_duration, parse_duration};
pub use environment::{is_production, stricter};
pub use given::{Given, InputError, Inputs, resolve_inputs};
pub use heal_rule::HealRule;
pub use inputs::InputMismatch;
pub use model::*;
pub use parse::{Parsed, parse};
pub use patch::{PatchError, first_line, patch_block};
pub use schema::schema;
pub use secret_source::SecretSource;
pub use size::{SizeError, parse_size};
