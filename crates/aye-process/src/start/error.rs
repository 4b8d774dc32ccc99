//! Why a program could not be started. Every variant names the thing.

use std::io;
use std::path::PathBuf;

/// A program that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// No such program, neither as a path nor in `PATH`.
    #[error("command `{program}` not found")]
    NotFound {
        /// The program as it was asked for.
        program: String,
        /// What to write instead, if we can tell.
        hint: Option<String>,
    },
    /// It is there but cannot be executed.
    #[error("`{}` is not executable", path.display())]
    NotExecutable {
        /// The file that was found.
        path: PathBuf,
        /// What is wrong with it.
        hint: String,
        /// The operating system's word, if it was asked.
        #[source]
        source: Option<io::Error>,
    },
    /// The working directory is missing or is not a directory.
    #[error("working directory `{}` {problem}", path.display())]
    WorkingDirectory {
        /// The directory as it was asked for.
        path: PathBuf,
        /// `does not exist`, `is not a directory`, ...
        problem: String,
    },
    /// As many children as allowed are already running.
    #[error("too many concurrent processes: `{program}` would be number {}", limit + 1)]
    TooMany {
        /// The program as it was asked for.
        program: String,
        /// The limit, see [`slots`](crate::slots).
        limit: usize,
    },
    /// The operating system has run out of something.
    #[error("no resources left to start `{program}`: {source}")]
    Resources {
        /// The program as it was asked for.
        program: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// An interactive step without a terminal to give it.
    #[error("`{program}` needs a terminal and there is none")]
    NoTerminal {
        /// The program as it was asked for.
        program: String,
    },
    /// An interactive step whose terminal was closed in this very moment.
    #[error("the terminal was closed before `{program}` began")]
    HungUp {
        /// The program as it was asked for.
        program: String,
    },
    /// Anything else.
    #[error("cannot start `{program}`: {source}")]
    Failed {
        /// The program as it was asked for.
        program: String,
        /// What the operating system said.
        source: io::Error,
    },
}

impl SpawnError {
    /// What a shell would report: 127 not found, 126 not executable, else 1.
    #[must_use]
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::NotFound { .. } => 127,
            Self::NotExecutable { .. } => 126,
            Self::WorkingDirectory { .. }
            | Self::TooMany { .. }
            | Self::Resources { .. }
            | Self::NoTerminal { .. }
            | Self::HungUp { .. }
            | Self::Failed { .. } => 1,
        }
    }

    /// What to do about it, for the `hint:` line.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound { hint, .. } => hint.clone(),
            Self::NotExecutable { hint, .. } => Some(hint.clone()),
            Self::WorkingDirectory { .. } => Some("create it, or correct `cwd`".to_owned()),
            Self::TooMany { limit, .. } => {
                Some(format!("at most {limit} run at once; wait for one to end or raise the limit"))
            }
            Self::NoTerminal { .. } => {
                Some("run it from a terminal, or without `interactive: true`".to_owned())
            }
            Self::Failed { source, .. } if source.raw_os_error() == Some(libc::E2BIG) => Some(
                "the arguments are too long; pass the data through `stdin` or a file".to_owned(),
            ),
            Self::Resources { .. } | Self::HungUp { .. } | Self::Failed { .. } => None,
        }
    }
}
