//! Asking a person on the terminal.
//!
//! Data flow. [`TerminalPrompter`] opens the terminal (`tty`) when there is a
//! question. Each turn reads bytes, which become keys (`key`), keys change a
//! `dialog` (with a `line` or a `list` in it) until it yields an answer, and
//! the `view` of question, dialog, window and moment becomes lines that the
//! [`screen`](crate::screen) paints where they differ. `key`, `dialog`, `line`, `list`, `view`
//! and what they use do no IO. `plain` and `answers` are the same for whole
//! lines instead of keys. [`SharedScreen`] is what prompt and report share:
//! [`ScreenReport`] takes the prompt away before the report prints. While a plan is
//! drawn, [`EchoOff`] keeps the terminal from echoing what is typed.
//! `standalone` asks without a run, for scripts; `script_prompter` is the same
//! prompt for a script whose question is recorded.
//!
//! The text of a question reaches the terminal only through `markup` and
//! [`crate::paint::escape_control`], and never the first columns, which belong to the
//! frame.
//!
//! Touches the terminal, in `tty` and [`screen`](crate::screen) only. The answer goes to the
//! driver.

pub mod answers;
mod attention;
mod available;
pub mod dialog;
mod echo_off;
mod framed;
mod hold;
mod inbox_view;
pub mod key;
pub mod line;
pub mod list;
pub mod markup;
mod plain;
mod poll;
mod screen_report;
mod script_prompter;
mod shared_screen;
mod standalone;
pub mod style;
mod terminal;
mod tty;
pub mod typeahead_guard;
pub mod view;
pub mod wrap;

pub use attention::{Attention, LONG};
pub use available::{is_capable, obstacle};
pub use dialog::{Escape, Given};
pub use echo_off::EchoOff;
pub use inbox_view::{InboxAction, InboxView};
pub use screen_report::ScreenReport;
pub use script_prompter::ScriptPrompter;
pub use shared_screen::SharedScreen;
pub use standalone::{AskOutcome, LocalQuestion, RemoteQuestion, Update, ask_alone, say};
pub use terminal::{PromptConfig, TerminalEvent, TerminalPrompter};
