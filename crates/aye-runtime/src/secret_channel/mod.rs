//! How secret answers and one-time codes reach the process that drives a run:
//! through a Unix socket, so that neither the mailbox nor a file holds them.
//!
//! ```text
//! sender: seal (handle, payload) -> send payload -> socket -> Receiver (keeps it, says ok)
//!            |                                                |
//!            +-> mailbox: the request with the handle -> driver -> Receiver::open -> the request
//! ```
//!
//! `directory` is the directory of the sockets: ours alone, not a link. `payload` is what is sent
//! and what stands in its place, `receiver` the driver's side, `sender` the other. Both sides
//! check which account is at the other end. The driver listens only while it asks for a secret or
//! a code.
//!
//! Touches sockets below `AYE_HOME`. The driver hands the secret to the machine.

mod directory;
mod payload;
mod receiver;
mod sender;

use std::path::PathBuf;

pub use payload::{SecretPayload, is_sealed, seal};
pub use receiver::{LOST, Receiver};
pub use sender::send;

/// Why a secret did not reach the driver.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The directory of the sockets cannot be used.
    #[error("`{}` {problem}", path.display())]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why not.
        problem: String,
    },
    /// Nobody listens, or does so no longer.
    #[error("the driver of the run does not take secrets at the moment")]
    NotListening,
    /// Another account listens there.
    #[error("the process at the other end belongs to another account")]
    Foreign,
    /// It is longer than a driver takes.
    #[error("it is longer than {} KiB", payload::LARGEST >> 10)]
    TooLong,
    /// The connection broke.
    #[error("cannot send it to the driver of the run: {0}")]
    Io(#[from] std::io::Error),
}

impl ChannelError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Directory { path, .. } => {
                Some(format!("remove `{}`: Aye makes it again", path.display()))
            }
            Self::NotListening | Self::Foreign | Self::Io(_) => {
                Some("answer it on the terminal where the run is driven".to_owned())
            }
            Self::TooLong => Some("let the step read it from a file".to_owned()),
        }
    }
}
