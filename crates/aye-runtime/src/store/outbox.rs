//! The port of the outbox: messages to people that an event causes, from the
//! transaction of that event until they are delivered.

use std::fmt;
use std::sync::Arc;

use aye_core::event::Event;
use aye_core::id::{QuestionId, RunId};
use aye_core::word_enum;
use jiff::Timestamp;

use super::{RunRow, StoreError};

word_enum! {
    /// What a message tells.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Occasion {
        /// A question waits.
        Question = "question",
        /// The question still waits.
        Reminder = "reminder",
        /// The question still waits, and another person hears of it.
        Escalation = "escalation",
        /// The time of a question is about to run out.
        Expiring = "expiring",
        /// A run failed.
        Failed = "failed",
        /// A run completed.
        Completed = "completed",
        /// A run was declined or cancelled.
        Cancelled = "cancelled",
    }
}

word_enum! {
    /// What became of a message.
    #[derive(Hash)]
    pub enum MessageState {
        /// It is to be sent, or is being sent.
        Waiting = "waiting",
        /// The channel took it.
        Sent = "sent",
        /// There was nothing left to tell when its turn came.
        Withdrawn = "withdrawn",
        /// The channel never took it.
        Failed = "failed",
        /// It was sent, and taken back when the question was decided.
        Retracted = "retracted",
    }
}

/// A message that an event causes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// The channel's name in the settings of the run's project.
    pub channel: String,
    /// Digest of the channel's settings that someone agreed to.
    pub agreed: String,
    /// What it tells.
    pub occasion: Occasion,
    /// The question it is about.
    pub question: Option<QuestionId>,
    /// When it is sent at the earliest.
    pub due: Timestamp,
}

/// A message in the outbox. Its text is made from the journal when it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    /// Its number: newer messages have larger ones.
    pub id: i64,
    /// The run.
    pub run: RunId,
    /// The event that caused it.
    pub seq: u64,
    /// The channel's name.
    pub channel: String,
    /// Digest of the channel's settings that someone agreed to.
    pub agreed: String,
    /// What it tells.
    pub occasion: Occasion,
    /// The question it is about.
    pub question: Option<QuestionId>,
    /// When it is sent at the earliest.
    pub due: Timestamp,
    /// What became of it.
    pub state: MessageState,
    /// How often it was tried.
    pub attempts: u32,
    /// Until when a process has it to itself.
    pub claimed: Option<Timestamp>,
    /// What came of the last attempt, in words.
    pub result: Option<String>,
    /// When that was.
    pub tried: Option<Timestamp>,
    /// What the channel needs to take it back.
    pub receipt: Option<String>,
}

/// What is to be done with a claimed message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    /// Tell someone.
    Send,
    /// Take it back: the question is decided.
    Retract,
}

/// What came of a claimed message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// What became of it.
    pub state: MessageState,
    /// When it is tried again, if it waits.
    pub due: Timestamp,
    /// What came of the attempt, in words.
    pub result: Option<String>,
    /// What the channel needs to take it back.
    pub receipt: Option<String>,
    /// Whether anything was tried: a message that was only put off was not.
    pub tried: bool,
}

/// Decides which messages an event causes. It is asked inside the transaction
/// that appends the event, so it must not wait for anything.
pub trait Announcer: fmt::Debug + Send + Sync {
    /// The messages that this event of a run causes.
    fn messages(&self, event: &Event, run: &RunRow) -> Vec<NewMessage>;

    /// The events that it was asked about are committed.
    fn committed(&self);
}

/// A right to answer one question with one option, kept as a digest only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerToken {
    /// Digest of the token.
    pub digest: String,
    /// The question.
    pub question: QuestionId,
    /// The digest of the question that was shown.
    pub shown: String,
    /// The one value it answers with; any that may be relayed if there is none.
    pub choice: Option<String>,
    /// Who was notified.
    pub person: String,
    /// When it was used.
    pub used: Option<Timestamp>,
}

/// Messages to people.
pub trait Outbox {
    /// From now on every append of this store asks `announcer` what its events
    /// cause, and adds that in the same transaction.
    fn announce_with(&mut self, announcer: Option<Arc<dyn Announcer>>);

    /// Takes a message that is due, or one to take back because its question is
    /// decided, and keeps it from others until `until`. Channels in `busy` are
    /// left out.
    fn claim_message(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        busy: &[String],
    ) -> Result<Option<(Job, MessageRow)>, StoreError>;

    /// Writes down what came of a claimed message.
    fn settle_message(
        &mut self,
        id: i64,
        settled: &Settled,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// When the next message is due that nobody has claimed beyond that.
    fn next_message(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError>;

    /// Whether a message of this run, or of one inside it, is due or being sent.
    fn has_due_message(&self, run: &RunId, now: Timestamp) -> Result<bool, StoreError>;

    /// The messages about a run and those inside it, the oldest first.
    fn messages(&self, run: &RunId) -> Result<Vec<MessageRow>, StoreError>;

    /// The newest messages of all runs, at most `limit`, the newest first.
    fn newest_messages(&self, limit: u32) -> Result<Vec<MessageRow>, StoreError>;

    /// Keeps a right to answer.
    fn keep_token(&mut self, token: &AnswerToken) -> Result<(), StoreError>;

    /// The right with this digest.
    fn token(&self, digest: &str) -> Result<Option<AnswerToken>, StoreError>;

    /// Uses a right up; false if it was used before, or is none.
    fn use_token(&mut self, digest: &str, now: Timestamp) -> Result<bool, StoreError>;
}
