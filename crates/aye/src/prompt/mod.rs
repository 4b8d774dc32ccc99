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
//! one. [`standalone`] asks without a run, for scripts; [`inbox`] asks nobody here
//! and waits for an answer from elsewhere.
//!
//! Nothing a question says reaches the terminal but through `markup` and
//! [`crate::paint::inert`], and nothing of it reaches the first columns, which
//! the frame has for itself.

mod advised;
pub mod answers;
mod available;
pub mod dialog;
mod framed;
mod hold;
mod inbox;
mod inbox_view;
pub mod key;
pub mod line;
pub mod list;
pub mod markup;
mod plain;
mod poll;
pub mod screen;
mod standalone;
pub mod style;
mod terminal;
mod tty;
pub mod typeahead_guard;
pub mod view;
pub mod wrap;

pub use available::{is_capable, obstacle};
pub use dialog::{Escape, Given};
pub use inbox::InboxPrompter;
pub use inbox_view::{InboxAction, InboxView};
pub use standalone::{AskOutcome, News, Nowhere, RemoteQuestion, ask_alone, say};
pub use terminal::{PromptConfig, TerminalPrompter};
