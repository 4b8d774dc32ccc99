//! The driver: carries out what the machine wants.
//!
//! ```text
//! machine.wants() -> act (process) or ask (prompter) -> Input
//!        ^                                               |
//!        +---- state <- events <- commit <- machine.handle
//! ```
//!
//! One loop, one thread: a child's end, a signal, a letter in the mailbox, a
//! key at the prompt and a deadline all become one [`aye_core::input::Input`]
//! and are handled in turn. The events of one input are committed before
//! anything is done about them.

mod act;
mod ask;
mod drive;
mod logs;
mod mail;
mod outcome;

pub use ask::{Asked, Posed, Prompter};
pub use drive::{Driver, Parts};
pub use outcome::Outcome;
