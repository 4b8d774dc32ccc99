//! Why a call gave no result.

use aye_core::error_code::ErrorCode;

use crate::schema::Problem;

/// A call that gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// Why.
    pub code: ErrorCode,
    /// What went wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ToolError {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The tool ran and said that it failed.
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::ToolFailed, message)
    }

    /// There is no such tool.
    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::ToolNotFound, message)
    }

    /// The server cannot be used.
    pub(super) fn server(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::ToolServer, message)
    }

    /// The arguments do not fit; nothing was called.
    pub(super) fn arguments(tool: &str, problems: &[Problem]) -> Self {
        let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let mut hints: Vec<&str> =
            problems.iter().filter_map(|problem| problem.hint.as_deref()).collect();
        hints.dedup();
        let message = format!("the arguments do not fit `{tool}`: {}", all.join("; "));
        let hint = match hints.is_empty() {
            true => format!("`aye tools list` shows the arguments of `{tool}`"),
            false => hints.join("; "),
        };
        Self::new(ErrorCode::ToolArguments, message).hint(hint)
    }
}
