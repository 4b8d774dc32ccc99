//! Work memory: what skills write down for the next run, below `state/`.
//!
//! ```text
//! block, tool step -> functions (names of today and of the original system)
//!   -> View (files as they are, with what this step wrote on top) -> Operation
//! step completed   -> memory_learned in the journal, one for each file
//!   -> Operation applied to the file, under the lock, once
//! ```
//!
//! A file holds what was written, and `_aye`: who wrote it last, and which
//! lessons it has taken in.
//!
//! Touches files below `state/`, through `memory_file`. What is read goes back to the block or step
//! that asked; the next run reads what was written.

mod file;
mod functions;
mod key;
mod learned_claim;
mod operation;
mod path;
mod signature;
mod view;

pub use file::{Provenance, StateChange};
pub use functions::{is_builtin_tool, is_function, no_function};
pub use key::StateKey;
pub use learned_claim::LearnedClaim;
pub use operation::Operation;
pub use path::query;
pub use view::{LearnedFix, View};
