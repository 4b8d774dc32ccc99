//! What went wrong, as clients are told: `application/problem+json` over HTTP,
//! `error` in the result of a command on the socket.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use aye_runtime::error::{Error, ErrorKind};
use aye_runtime::people::PeopleError;
use aye_runtime::usecases::{AnswerError, StartSkillError};

use crate::harmless::json_line;

/// What kind of problem it is, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Code {
    /// The request makes no sense.
    Invalid,
    /// Inputs of a skill are missing or wrong.
    Inputs,
    /// The skill has errors.
    InvalidSkill,
    /// No token or session, or one that does not count.
    Unauthorized,
    /// The person lacks the right, or the request came from a foreign place.
    Forbidden,
    /// There is no such thing, or it is not for this person.
    NotFound,
    /// The address does not take this method.
    MethodNotAllowed,
    /// The question has changed since it was shown.
    DigestMismatch,
    /// The question is decided.
    Decided,
    /// The run refused it.
    Refused,
    /// The project is not trusted: it can be read, and nothing of it is started.
    NotTrusted,
    /// The link was used before or has expired.
    DeadLink,
    /// A bearer client has to send `Idempotency-Key`.
    KeyRequired,
    /// The key was used for another request.
    KeyReused,
    /// Too many requests.
    RateLimited,
    /// The body or the message is too large.
    TooLarge,
    /// The body or the request took too long.
    TimedOut,
    /// The body is not JSON by its `Content-Type`.
    MediaType,
    /// The range is not available.
    Range,
    /// The server is busy.
    Unavailable,
    /// Something failed in the server or the journal.
    Internal,
}

impl Code {
    fn status(self) -> StatusCode {
        match self {
            Self::Invalid => StatusCode::BAD_REQUEST,
            Self::Inputs | Self::InvalidSkill | Self::KeyReused => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden | Self::NotTrusted => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::DigestMismatch | Self::Decided | Self::Refused => StatusCode::CONFLICT,
            Self::DeadLink => StatusCode::GONE,
            Self::KeyRequired => StatusCode::BAD_REQUEST,
            Self::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TimedOut => StatusCode::REQUEST_TIMEOUT,
            Self::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Range => StatusCode::RANGE_NOT_SATISFIABLE,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// In a few words.
    fn title(self) -> &'static str {
        match self {
            Self::Invalid => "The request is not valid",
            Self::Inputs => "The inputs are not valid",
            Self::InvalidSkill => "The skill has errors",
            Self::Unauthorized => "A token or a session is needed",
            Self::Forbidden => "This is not allowed",
            Self::NotFound => "Not found",
            Self::MethodNotAllowed => "The method is not allowed here",
            Self::DigestMismatch => "The question has changed",
            Self::Decided => "The question is decided",
            Self::Refused => "The run refused it",
            Self::NotTrusted => "The project is not trusted",
            Self::DeadLink => "The link cannot be used",
            Self::KeyRequired => "An idempotency key is needed",
            Self::KeyReused => "The idempotency key was used before",
            Self::RateLimited => "Too many requests",
            Self::TooLarge => "The message is too large",
            Self::TimedOut => "The request took too long",
            Self::MediaType => "The body is not JSON",
            Self::Range => "The range is not available",
            Self::Unavailable => "The server is busy",
            Self::Internal => "Internal error",
        }
    }
}

/// `error` in the result of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "CommandError")]
pub(crate) struct Problem {
    /// The kind, for programs.
    pub(crate) code: Code,
    /// What went wrong.
    #[serde(rename = "message")]
    pub(crate) detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
}

/// `application/problem+json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProblemBody<'a> {
    /// `urn:aye:problem:CODE`.
    r#type: String,
    /// The kind, in words.
    title: &'a str,
    /// The HTTP status.
    status: u16,
    /// What went wrong.
    detail: &'a str,
    /// The kind, for programs.
    code: Code,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

impl Problem {
    pub(crate) fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Nothing of that name, or nothing that this person may see.
    pub(crate) fn not_found(what: &str, name: &str) -> Self {
        let name = crate::paint::escape_control_line(name);
        Self::new(Code::NotFound, format!("there is no {what} `{name}`"))
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.code.status();
        let body = ProblemBody {
            r#type: format!(
                "urn:aye:problem:{}",
                serde_json::to_value(self.code).unwrap_or_default().as_str().unwrap_or_default()
            ),
            title: self.code.title(),
            status: status.as_u16(),
            detail: &self.detail,
            code: self.code,
            hint: self.hint.as_deref(),
        };
        let kind = HeaderValue::from_static("application/problem+json");
        let mut response =
            (status, [(header::CONTENT_TYPE, kind)], json_line(&body)).into_response();
        if self.code == Code::Unauthorized {
            let wanted = HeaderValue::from_static("Bearer realm=\"aye\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, wanted);
        }
        if matches!(self.code, Code::RateLimited | Code::Unavailable) {
            let seconds = HeaderValue::from_static("1");
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let code = match error.kind() {
            ErrorKind::Usage => Code::Invalid,
            ErrorKind::InvalidSkill => Code::InvalidSkill,
            ErrorKind::Inputs => Code::Inputs,
            ErrorKind::NotFound => Code::NotFound,
            ErrorKind::Held
            | ErrorKind::Unattended
            | ErrorKind::Tool
            | ErrorKind::Interrupted
            | ErrorKind::Refused => Code::Refused,
            ErrorKind::File
            | ErrorKind::System
            | ErrorKind::Settings
            | ErrorKind::Store
            | ErrorKind::Journal
            | ErrorKind::Output => Code::Internal,
        };
        Self { code, detail: error.to_string(), hint: error.hint() }
    }
}

impl From<AnswerError> for Problem {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Changed { .. } => Self::new(Code::DigestMismatch, error.to_string())
                .hint("read the question again and answer what it asks now"),
            AnswerError::Decided(late) => Self { code: Code::Decided, ..late.into() },
            AnswerError::OtherRequest { .. } | AnswerError::OtherRetry { .. } => {
                Self::new(Code::KeyReused, error.to_string())
                    .hint("use a new key for another request")
            }
            AnswerError::Refused { .. } => Self::new(Code::Refused, error.to_string()),
            AnswerError::Failed(error) => error.into(),
        }
    }
}

impl From<StartSkillError> for Problem {
    fn from(error: StartSkillError) -> Self {
        match error {
            StartSkillError::OtherRequest(_) => Self::new(Code::KeyReused, error.to_string())
                .hint("use a new key for another request"),
            StartSkillError::Failed(error) => error.into(),
        }
    }
}

impl From<PeopleError> for Problem {
    fn from(error: PeopleError) -> Self {
        let code = match error {
            PeopleError::DeadLink => Code::DeadLink,
            PeopleError::NotFound(_) | PeopleError::NoDevice(_) => Code::NotFound,
            PeopleError::BadName(_) => Code::Invalid,
            PeopleError::Exists(_) | PeopleError::AccountTaken { .. } => Code::Refused,
            PeopleError::File { .. } => Code::Internal,
        };
        Self::new(code, error.to_string()).hint(error.hint())
    }
}
