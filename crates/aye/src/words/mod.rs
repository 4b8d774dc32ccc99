//! What prompts and reports say in the same words: where a step is, where an answer leads, how
//! long a step took.
//!
//! Touches nothing; what it returns goes to `prompt`, `report` and `cli`, which show it.

mod durations;
mod leads;
mod place;

pub use durations::took;
pub use leads::lead_words;
pub use place::{about_inside, place_words};
