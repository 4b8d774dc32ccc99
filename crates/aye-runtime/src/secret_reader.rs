//! The port through which secrets are read where `from:` says they are.
//!
//! Each driver reads them anew: nothing here keeps one. Adapters:
//! [`SystemSecrets`], the default; [`MemorySecrets`], for tests. Both pass the
//! contract in `tests/it/secret_reader.rs`.
//!
//! Touches variables, files and processes. The driver hands the values to steps and to the mask.

mod memory;
mod system;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;
use std::path::Path;

use aye_core::skill::SecretSource;
use aye_process::SpawnError;
use aye_process::policy::{Policy, Refusal};

pub use memory::MemorySecrets;
pub use system::SystemSecrets;

/// The longest secret, in bytes.
pub const LARGEST: usize = 64 * 1024;

/// Reads secrets.
pub trait SecretReader: Debug + Send + Sync {
    /// The text at a source as it is now; `None` if there is none.
    ///
    /// # Errors
    /// When it cannot be read, or is longer than [`LARGEST`].
    fn read(
        &self,
        source: &SecretSource,
        place: &SecretPlace<'_>,
    ) -> Result<Option<String>, SecretError>;
}

/// Where sources are looked up.
#[derive(Debug, Clone, Copy)]
pub struct SecretPlace<'a> {
    /// What paths are relative to, and where commands run.
    pub directory: &'a Path,
    /// The environment.
    pub env: &'a BTreeMap<String, String>,
    /// What may run.
    pub policy: &'a Policy,
}

/// Why a secret could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// A directory, a pipe or a device.
    #[error("it is not a file")]
    NotAFile,
    /// It is longer than [`LARGEST`].
    #[error("it is longer than {} KiB", LARGEST >> 10)]
    TooLong,
    /// The system does not let it be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The command names no program.
    #[error("no program is named")]
    NoProgram,
    /// The command cannot be started.
    #[error("{0}")]
    NotStarted(#[from] SpawnError),
    /// The policy does not allow the command.
    #[error("{0}")]
    NotAllowed(#[from] Refusal),
    /// The command failed.
    #[error("it ended with exit code {0}")]
    Failed(i32),
    /// The command took too long.
    #[error("it takes more than {0} s")]
    TimedOut(u64),
    /// The command was ended by a signal.
    #[error("it was ended")]
    Ended,
}

/// The text, unless it is too long.
fn within_limit(text: String) -> Result<String, SecretError> {
    if text.len() > LARGEST { Err(SecretError::TooLong) } else { Ok(text) }
}
