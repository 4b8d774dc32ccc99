//! Looking at what decides what a step does: the host's part of what a yes
//! covers. Nothing is started and nothing is changed.
//!
//! | concern | file |
//! |---|---|
//! | which files a command line names | `program` |
//! | which a shell script names | `script` |
//! | what a word may be | `word` |
//! | which programs start another | `wrapper` |
//! | what is in a file | `contents` |
//!
//! Touches files, for reading. The facts go back to the machine, which binds a yes to them.

mod contents;
mod program;
mod script;
mod word;
mod wrapper;

pub use contents::Contents;
pub use program::Invocation;
