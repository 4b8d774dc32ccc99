//! Aye's core: no files, no clocks, no environment, no randomness.
//!
//! ```text
//! text -> skill (read, check) -> flow (graph) -> machine (inputs in, events out)
//!                                                   |             ^
//!                                       journal::State = fold of the events
//!                                                   |
//!                                                effect (what to do next)
//! ```
//!
//! Touches nothing: `clippy.toml` forbids it. Events and effects go to the driver in
//! `aye-runtime`, which commits the events and carries out the effects.

pub mod advice;
pub mod child_schedule;
pub mod diagnostic;
pub mod digest;
pub mod effect;
pub mod error_code;
pub mod event;
pub mod facts;
pub mod fix;
pub mod flow;
pub mod form;
pub mod heal;
pub mod id;
pub mod input;
pub mod journal;
pub mod kept_output;
pub mod machine;
pub mod nested;
pub mod pattern;
pub mod question;
pub mod secrets;
pub mod skill;
pub mod span;
pub mod step_kind;
pub mod text;
pub mod value;
mod word_enum;
pub mod yaml;
