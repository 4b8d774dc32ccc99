//! Asking in a window of the desktop.
//!
//! ```text
//! question -> card -> window -> zenity | kdialog | osascript -> process
//!                       ^                                          |
//!                       '---------- conversation <-----------------'  exit code, output
//! ```
//!
//! [`card`](self) is the question as text, `conversation` which window comes next and what
//! its end means, and each program a way to show a window; none of them does any IO.
//! [`DesktopPrompter`] runs one process for each question that is shown, and ends it when
//! the question is closed. [`NotificationPrompter`] does the same with notifications
//! (`notice`; `click` opens what it is about); `service` shows those that nobody waits on.
//! `available` and `display` find out whether a window can be shown, when there is something
//! to show and not before.
//!
//! Touches processes and the socket of the display; answers go to the driver.

mod available;
mod card;
mod click;
mod conversation;
mod display;
mod kdialog;
mod notice;
mod notification;
mod osascript;
mod program;
mod prompter;
mod service;
mod text;
mod trial;
mod window;
mod zenity;

pub use available::{Surroundings, obstacle};
pub use notification::{NotificationConfig, NotificationPrompter};
pub use prompter::{DesktopConfig, DesktopPrompter};
pub(crate) use service::{Note, NotificationService};
pub use trial::{Trial, try_out, try_out_notifications};
