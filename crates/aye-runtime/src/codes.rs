//! Which code a program that could not be started stands for.

use aye_core::error_code::ErrorCode;
use aye_process::SpawnError;
use aye_process::policy::Refusal;

/// Of a program that could not be started.
pub(crate) fn of_spawn(error: &SpawnError) -> ErrorCode {
    match error {
        SpawnError::NotFound { .. } => ErrorCode::CommandNotFound,
        SpawnError::NotExecutable { .. } => ErrorCode::CommandNotExecutable,
        SpawnError::WorkingDirectory { .. } => ErrorCode::WorkingDirectoryNotFound,
        SpawnError::TooMany { .. } | SpawnError::Resources { .. } => ErrorCode::ResourceLimit,
        SpawnError::NoTerminal { .. } | SpawnError::HungUp { .. } => ErrorCode::NoTerminal,
        SpawnError::Failed { .. } => ErrorCode::SpawnFailed,
    }
}

/// Of a program that the policy refuses.
pub(crate) fn of_refusal(refusal: &Refusal) -> ErrorCode {
    match refusal {
        Refusal::Command { .. } => ErrorCode::CommandNotAllowed,
        Refusal::Directory { .. } => ErrorCode::PathTraversal,
    }
}
