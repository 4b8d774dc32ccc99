//! Asking a person on the terminal.
//!
//! Data flow. [`TerminalPrompter`] opens the terminal (`tty`) when there is a
//! question and waits in one `poll` for keys, for the caller's descriptors and
//! for the countdown to change. Bytes become keys (`key`), keys change a
//! `dialog` (with a `line` or a `list` in it) until it yields an answer, and
//! the `view` of question, dialog, window and moment becomes lines that the
//! `screen` paints where they differ. `key`, `dialog`, `line`, `list`, `view`
//! and what they use do no IO. `plain` and `answers` are the same for whole
//! lines instead of keys. `advised` waits for an advisor too, where there is
//! one. [`alone`] asks without a run, for scripts; [`inbox`] asks nobody here
//! and waits for an answer from elsewhere.
//!
//! Nothing a question says reaches the terminal but through `markup` and
//! [`crate::paint::inert`], and nothing of it reaches the first columns, which
//! the frame has for itself.

mod advised;
mod alone;
pub mod answers;
mod available;
mod desk;
pub mod dialog;
mod framed;
mod hold;
mod inbox;
pub mod key;
pub mod line;
pub mod list;
pub mod markup;
mod plain;
mod poll;
pub mod screen;
pub mod style;
pub mod tail;
mod terminal;
mod tty;
pub mod view;
pub mod wrap;

pub use alone::{Alone, Elsewhere, News, Nowhere, ask_alone, say};
pub use available::{is_capable, obstacle};
pub use desk::{Desk, Wish};
pub use dialog::{Escape, Given};
pub use inbox::InboxPrompter;
pub use terminal::{Manner, TerminalPrompter};
