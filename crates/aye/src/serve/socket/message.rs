//! What clients say and what they are told.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::serve::api::{AnswerBody, CancelBody, RetryBody, StartBody};
use crate::serve::identity::ClientKind;
use crate::serve::problem::{Code, CommandError, Problem};

/// A message of a client.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::serve) enum ClientMessage {
    /// Who speaks; the first message of a browser, with the secret of its session.
    Hello(Hello),
    /// Which question is shown; `null` for none.
    Show(Show),
    /// Answers a question.
    Answer(Answer),
    /// Somebody looks at a question: its time stands still, within the limit, until
    /// `release` or the end of the connection.
    Hold(OfQuestion),
    /// Nobody looks any more.
    Release(OfQuestion),
    /// Cancels a run.
    Cancel(Cancel),
    /// Tries a failed step again.
    Retry(Retry),
    /// Starts a skill.
    Start(Start),
    /// Wants what the steps of a run write, as `step_output`.
    Follow(Follow),
    /// Wants it no more.
    Unfollow(OfRun),
    /// Wants a snapshot.
    Snapshot(Numbered),
}

/// Who speaks.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::serve) struct Hello {
    pub(in crate::serve) id: Option<u64>,
    /// What the client is.
    pub(in crate::serve) kind: Option<ClientKind>,
    /// The question it shows.
    pub(in crate::serve) question: Option<String>,
    /// The half of a session that belongs to the origin.
    pub(in crate::serve) secret: Option<String>,
}

/// Which question is shown.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::serve) struct Show {
    pub(in crate::serve) id: Option<u64>,
    pub(in crate::serve) question: Option<String>,
}

/// An answer.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::serve) struct Answer {
    pub(in crate::serve) id: u64,
    pub(in crate::serve) question: String,
    #[serde(flatten)]
    pub(in crate::serve) body: AnswerBody,
}

/// A command about a question.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::serve) struct OfQuestion {
    pub(in crate::serve) id: u64,
    pub(in crate::serve) question: String,
}

/// A command about a run.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::serve) struct OfRun {
    pub(in crate::serve) id: u64,
    pub(in crate::serve) run: String,
}

/// A command about nothing in particular.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::serve) struct Numbered {
    pub(in crate::serve) id: u64,
}

/// A run that is to be cancelled.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::serve) struct Cancel {
    pub(in crate::serve) id: u64,
    pub(in crate::serve) run: String,
    #[serde(flatten)]
    pub(in crate::serve) body: CancelBody,
}

/// A run whose failed step is to be tried again.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::serve) struct Retry {
    pub(in crate::serve) id: u64,
    pub(in crate::serve) run: String,
    #[serde(flatten)]
    pub(in crate::serve) body: RetryBody,
}

/// A skill that is to be started.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::serve) struct Start {
    pub(in crate::serve) id: u64,
    /// Sent again with the same key, it is the same run.
    pub(in crate::serve) key: Option<String>,
    #[serde(flatten)]
    pub(in crate::serve) body: StartBody,
}

/// Whose output is wanted.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::serve) struct Follow {
    pub(in crate::serve) id: u64,
    pub(in crate::serve) run: String,
    /// Only of this step.
    pub(in crate::serve) step: Option<String>,
}

impl ClientMessage {
    /// Reads a message; what it was numbered, should it make no sense.
    pub(in crate::serve) fn read(text: &str) -> Result<Self, (Option<u64>, Problem)> {
        serde_json::from_str(text).map_err(|error| {
            let value: Value = serde_json::from_str(text).unwrap_or_default();
            let detail = crate::paint::escape_control_line(&error.to_string());
            (value["id"].as_u64(), Problem::new(Code::Invalid, detail))
        })
    }
}

/// What became of a command.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::serve) struct CommandResult {
    /// `result`.
    pub(in crate::serve) r#type: &'static str,
    /// The number of the command; `null` if it could not be read.
    pub(in crate::serve) id: Option<u64>,
    /// Whether it was done.
    pub(in crate::serve) ok: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) error: Option<CommandError>,
    /// What came of it.
    #[serde(flatten)]
    pub(in crate::serve) told: Option<Value>,
}

impl CommandResult {
    pub(in crate::serve) fn of(id: Option<u64>, done: Result<Value, Problem>) -> Self {
        let (told, error) = match done {
            Ok(told) => (told.is_object().then_some(told), None),
            Err(problem) => (None, Some(problem.into())),
        };
        Self { r#type: "result", id, ok: error.is_none(), error, told }
    }
}
