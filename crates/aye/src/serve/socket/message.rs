//! What clients say and what they are told.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::serve::api::{
    AnswerBody, CancelBody, ChangedRun, HeldQuestion, RetryBody, StartBody, Started, Taken,
};
use crate::serve::clients::Client;
use crate::serve::identity::ClientKind;
use crate::serve::problem::{Code, Problem};
use crate::serve::views::Snapshot;

/// A message of a client. A field that is not known is refused: `digset` instead of `digest`
/// must not answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::serve) enum ClientMessage {
    /// Who speaks; the first message of a browser, with the secret of its session.
    Hello(Hello),
    /// Which question is shown; `null` for none.
    Show(Show),
    /// Answers a question.
    Answer(AnswerCommand),
    /// Someone looks at a question: its deadline moves when it is near, within the limit,
    /// until `release` or the end of the connection.
    Hold(QuestionCommand),
    /// Nobody looks any more.
    Release(QuestionCommand),
    /// Cancels a run.
    Cancel(CancelCommand),
    /// Continues a run that no process drives.
    Resume(RunCommand),
    /// Tries a failed step again.
    Retry(RetryCommand),
    /// Starts a skill.
    Start(StartCommand),
    /// Wants what the steps of a run write, as `step_output`.
    Follow(FollowCommand),
    /// Wants it no more.
    Unfollow(RunCommand),
    /// Wants a snapshot.
    Snapshot(PlainCommand),
}

/// Who speaks.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct Hello {
    pub(in crate::serve) id: Option<u64>,
    /// What the client is.
    pub(in crate::serve) kind: Option<ClientKind>,
    /// The question it shows.
    pub(in crate::serve) question: Option<String>,
    /// As in `show`.
    #[serde(default)]
    pub(in crate::serve) notified: Vec<String>,
    /// The half of a session that belongs to the origin.
    pub(in crate::serve) secret: Option<String>,
}

/// Which question is shown.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct Show {
    pub(in crate::serve) id: Option<u64>,
    pub(in crate::serve) question: Option<String>,
    /// Questions that an editor has told its person of, in a notification that it may hide:
    /// no window of the desktop has to, and a person's silence does not count.
    #[serde(default)]
    pub(in crate::serve) notified: Vec<String>,
}

/// An answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct AnswerCommand {
    pub(in crate::serve) id: u64,
    pub(in crate::serve) question: String,
    #[serde(flatten)]
    pub(in crate::serve) body: AnswerBody,
    #[serde(flatten)]
    #[schemars(skip)]
    _more: NothingMore,
}

/// A command about a question.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct QuestionCommand {
    pub(in crate::serve) id: u64,
    pub(in crate::serve) question: String,
}

/// A command about a run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct RunCommand {
    pub(in crate::serve) id: u64,
    pub(in crate::serve) run: String,
}

/// A command about nothing in particular.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct PlainCommand {
    pub(in crate::serve) id: u64,
}

/// A run that is to be cancelled.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct CancelCommand {
    pub(in crate::serve) id: u64,
    pub(in crate::serve) run: String,
    #[serde(flatten)]
    pub(in crate::serve) body: CancelBody,
    #[serde(flatten)]
    #[schemars(skip)]
    _more: NothingMore,
}

/// A run whose failed step is to be tried again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct RetryCommand {
    pub(in crate::serve) id: u64,
    pub(in crate::serve) run: String,
    /// Sent again with the same key, it counts once.
    pub(in crate::serve) key: Option<String>,
    #[serde(flatten)]
    pub(in crate::serve) body: RetryBody,
    #[serde(flatten)]
    #[schemars(skip)]
    _more: NothingMore,
}

/// A skill that is to be started.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct StartCommand {
    pub(in crate::serve) id: u64,
    /// Sent again with the same key, it is the same run.
    pub(in crate::serve) key: Option<String>,
    #[serde(flatten)]
    pub(in crate::serve) body: StartBody,
    #[serde(flatten)]
    #[schemars(skip)]
    _more: NothingMore,
}

/// Whose output is wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct FollowCommand {
    pub(in crate::serve) id: u64,
    pub(in crate::serve) run: String,
    /// Only of this step.
    pub(in crate::serve) step: Option<String>,
}

/// What a command has beside its fields. An answer whose `digest` is misspelt must not
/// count as one that has none.
#[derive(Debug)]
struct NothingMore;

impl<'de> Deserialize<'de> for NothingMore {
    fn deserialize<D: Deserializer<'de>>(fields: D) -> Result<Self, D::Error> {
        match Map::<String, Value>::deserialize(fields)?.keys().next() {
            None => Ok(Self),
            Some(name) => Err(D::Error::custom(format!("unknown field `{name}`"))),
        }
    }
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
    #[schemars(extend("const" = "result"))]
    pub(in crate::serve) r#type: &'static str,
    /// The number of the command; `null` if it could not be read.
    pub(in crate::serve) id: Option<u64>,
    /// Whether it was done.
    pub(in crate::serve) ok: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) error: Option<Problem>,
    /// What came of it.
    #[serde(flatten)]
    pub(in crate::serve) reply: Option<CommandReply>,
}

/// What came of a command.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::serve) enum CommandReply {
    /// Of `answer`.
    Answered(Taken),
    /// Of `hold`.
    Held(HeldQuestion),
    /// Of `start`.
    Started(Started),
    /// Of `cancel`, `resume`, `retry` and `follow`.
    Run(ChangedRun),
    /// Of `snapshot`.
    Snapshot {
        /// As the first message has it.
        #[schemars(with = "Snapshot<'static>")]
        snapshot: Value,
    },
}

/// What all connected clients get besides the journal's events.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::serve) enum Notice {
    /// Someone came, left, or shows another question.
    Clients {
        /// Who is connected, not necessarily all.
        clients: Vec<Client>,
        /// How many are.
        count: usize,
    },
    /// The server is there.
    Heartbeat {
        /// The newest event that was sent.
        n: u64,
        /// When.
        at: Timestamp,
    },
    /// The journal no longer keeps what the client has not seen. A snapshot follows.
    Gap {
        /// The last number that the client has seen.
        after: u64,
        /// The first that there is; `null` if nothing follows, or if the client has seen more
        /// than there ever was.
        from: Option<u64>,
    },
}

impl CommandResult {
    pub(in crate::serve) fn of(id: Option<u64>, done: Result<CommandReply, Problem>) -> Self {
        match done {
            Ok(reply) => Self { reply: Some(reply), ..Self::done(id) },
            Err(problem) => Self { ok: false, error: Some(problem), ..Self::done(id) },
        }
    }

    /// It was done, and there is nothing to say.
    pub(in crate::serve) fn done(id: Option<u64>) -> Self {
        Self { r#type: "result", id, ok: true, error: None, reply: None }
    }
}
