//! What can go wrong, and the exit code it stands for.

use std::path::{Path, PathBuf};

use aye_core::error_code::ErrorCode;
use aye_core::journal::FoldError;
use aye_core::skill::InputError;
use aye_process::Signal;

use serde::{Deserialize, Serialize};

use crate::invalid_skill::InvalidSkill;
use crate::store::{LeaseError, StoreError};
use crate::tools::ToolError;

/// An error as another process is told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of error.
    pub kind: ErrorKind,
    /// What went wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The exit code it stands for.
    pub exit_code: u8,
}

/// The kinds of errors, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "they are the variants of `Error`")]
pub enum ErrorKind {
    Usage,
    InvalidSkill,
    Inputs,
    NotFound,
    File,
    System,
    Settings,
    Store,
    Held,
    Journal,
    Output,
    Unattended,
    Tool,
    Interrupted,
    Refused,
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        Self {
            kind: error.kind(),
            message: error.to_string(),
            hint: error.hint(),
            exit_code: error.exit_code(),
        }
    }
}

/// A failure that ends a command: printed once, at the edge.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line makes no sense.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to write instead.
        hint: Option<String>,
    },
    /// The skill has errors.
    #[error("{0}")]
    InvalidSkill(InvalidSkill),
    /// Inputs are missing or wrong.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n     "))]
    Inputs(Vec<InputError>),
    /// There is no such thing.
    #[error("{message}")]
    NotFound {
        /// What was looked for.
        message: String,
        /// Where to look instead.
        hint: Option<String>,
    },
    /// A file cannot be read or written.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    File {
        /// `read` or `write`.
        doing: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// `aye.toml` makes no sense: what and where.
    #[error("{0}")]
    Settings(String),
    /// The journal cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Someone else drives the run, or its lease cannot be used.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// The journal of a run makes no sense.
    #[error("the journal of run `{run}` is damaged: {error}")]
    Journal {
        /// Which run.
        run: String,
        /// What is wrong.
        error: FoldError,
    },
    /// Standard input cannot be read.
    #[error("cannot read standard input: {0}")]
    Input(#[source] std::io::Error),
    /// Standard output cannot be written to.
    #[error("cannot write to standard output: {0}")]
    Output(#[source] std::io::Error),
    /// The working directory cannot be found.
    #[error("cannot find the current directory: {0}")]
    Directory(#[source] std::io::Error),
    /// Something cannot be written as JSON.
    #[error("cannot write {what} as JSON: {source}")]
    Json {
        /// What.
        what: &'static str,
        /// Why.
        source: serde_json::Error,
    },
    /// Aye cannot be told to stop.
    #[error("cannot catch signals: {0}")]
    Signals(#[source] std::io::Error),
    /// The system does not tell what becomes of running processes.
    #[error("cannot wait for processes: {0}")]
    Wait(#[source] std::io::Error),
    /// The log of a step cannot be read.
    #[error("cannot read the log: {0}")]
    Log(#[source] std::io::Error),
    /// The system refuses.
    #[error("cannot {doing}: {source}")]
    System {
        /// What.
        doing: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// Nobody can connect.
    #[error("cannot listen at `{address}`: {source}")]
    Listen {
        /// Where.
        address: std::net::SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// A question, and nobody who could be asked.
    #[error("{message}")]
    Unattended {
        /// Why.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// A tool gave no result.
    #[error(transparent)]
    Tool(ToolError),
    /// Someone wanted Aye to stop before it had begun.
    #[error("{message}")]
    Interrupted {
        /// How.
        signal: Signal,
        /// What was stopped.
        message: String,
        /// How to continue.
        hint: Option<String>,
    },
    /// Another process refused: the one that was to drive the run.
    #[error("{}", .0.message)]
    Remote(Failure),
    /// What was asked for did not happen.
    #[error("{message}")]
    Refused {
        /// Why.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
}

impl Error {
    /// A usage error with a hint.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: Some(hint.into()) }
    }

    /// Something that is not there.
    pub fn not_found(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::NotFound { message: message.into(), hint: Some(hint.into()) }
    }

    /// The program cannot be found that is to do something.
    pub(crate) fn no_program(to: &str) -> Self {
        Self::Refused { message: format!("cannot find the `aye` program to {to} with"), hint: None }
    }

    /// For `map_err`: this cannot be done with the file.
    pub fn file(doing: &'static str, path: &Path) -> impl Fn(std::io::Error) -> Self + Copy {
        move |source| Self::File { doing, path: path.to_path_buf(), source }
    }

    /// For `map_err`: the system refuses this.
    pub fn system(doing: &'static str) -> impl Fn(std::io::Error) -> Self + Copy {
        move |source| Self::System { doing, source }
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Usage { .. } => ErrorKind::Usage,
            Self::InvalidSkill(_) => ErrorKind::InvalidSkill,
            Self::Inputs(_) => ErrorKind::Inputs,
            Self::NotFound { .. } => ErrorKind::NotFound,
            Self::File { .. } | Self::Log(_) | Self::Input(_) => ErrorKind::File,
            Self::Directory(_)
            | Self::Json { .. }
            | Self::Signals(_)
            | Self::Wait(_)
            | Self::System { .. }
            | Self::Listen { .. } => ErrorKind::System,
            Self::Settings(_) => ErrorKind::Settings,
            Self::Store(_) | Self::Lease(LeaseError::Store(_)) => ErrorKind::Store,
            Self::Lease(LeaseError::Held(_)) => ErrorKind::Held,
            Self::Journal { .. } => ErrorKind::Journal,
            Self::Output(_) => ErrorKind::Output,
            Self::Unattended { .. } => ErrorKind::Unattended,
            Self::Tool(_) => ErrorKind::Tool,
            Self::Interrupted { .. } => ErrorKind::Interrupted,
            Self::Refused { .. } => ErrorKind::Refused,
            Self::Remote(failure) => failure.kind,
        }
    }

    /// The exit code it stands for.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage { .. } | Self::InvalidSkill(_) | Self::Inputs(_) | Self::Settings(_) => 2,
            Self::NotFound { .. } => 3,
            Self::Remote(failure) => failure.exit_code,
            Self::Unattended { .. } => 6,
            Self::Interrupted { signal, .. } => u8::try_from(signal.exit_code()).unwrap_or(1),
            Self::Tool(error) => match &error.code {
                ErrorCode::ToolArguments => 2,
                ErrorCode::ToolNotFound => 3,
                ErrorCode::NotTrusted => 6,
                ErrorCode::Timeout => 124,
                _ => 1,
            },
            Self::File { source, .. } if source.kind() == std::io::ErrorKind::NotFound => 3,
            Self::File { .. }
            | Self::Store(_)
            | Self::Journal { .. }
            | Self::Input(_)
            | Self::Directory(_)
            | Self::Json { .. }
            | Self::Signals(_)
            | Self::Wait(_)
            | Self::Log(_)
            | Self::System { .. }
            | Self::Listen { .. } => 4,
            Self::Lease(LeaseError::Store(_)) => 4,
            // As if the signal had ended us, as other programs are.
            Self::Output(error) if error.kind() == std::io::ErrorKind::BrokenPipe => 141,
            Self::Lease(LeaseError::Held(_)) | Self::Output(_) | Self::Refused { .. } => 1,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Usage { hint, .. }
            | Self::NotFound { hint, .. }
            | Self::Unattended { hint, .. }
            | Self::Interrupted { hint, .. }
            | Self::Refused { hint, .. } => hint.clone(),
            Self::Tool(error) => error.hint.clone(),
            Self::Remote(failure) => failure.hint.clone(),
            Self::Inputs(errors) => {
                let hints: Vec<String> = errors.iter().filter_map(InputError::hint).collect();
                (!hints.is_empty()).then(|| hints.join("\n    "))
            }
            Self::Settings(_) => Some(
                "`aye init` in an empty directory makes an `aye.toml` with every key".to_owned(),
            ),
            Self::File { source, .. } => match source.kind() {
                std::io::ErrorKind::NotFound => Some("check the path".to_owned()),
                std::io::ErrorKind::InvalidData => Some("save it as UTF-8 text".to_owned()),
                _ => None,
            },
            Self::Store(error) => Some(error.hint().to_owned()),
            Self::Lease(LeaseError::Held(held)) => Some(format!(
                "`aye watch {run}` shows it; `aye answer` and `aye cancel {run}` reach it from here",
                run = held.run
            )),
            Self::Lease(error) => Some(error.hint().to_owned()),
            Self::Journal { run, .. } => Some(format!("`aye audit {run}` says what was changed")),
            Self::InvalidSkill(_)
            | Self::Input(_)
            | Self::Output(_)
            | Self::Directory(_)
            | Self::Json { .. }
            | Self::Signals(_)
            | Self::Wait(_)
            | Self::Log(_)
            | Self::System { .. }
            | Self::Listen { .. } => None,
        }
    }
}
