//! Where a secret input comes from when nobody gives it.

use std::fmt;

/// Where each driver of a run reads a secret, so that nobody has to keep it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// An environment variable.
    Env(String),
    /// A file; a relative path is one of the workspace.
    File(String),
    /// What a program writes: its name or path, and its arguments.
    Command(Vec<String>),
}

impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "environment variable `{name}`"),
            Self::File(path) => write!(f, "file `{path}`"),
            Self::Command(argv) => write!(f, "command `{}`", argv.join(" ")),
        }
    }
}
