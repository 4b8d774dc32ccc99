//! Inputs that do not fit.

use crate::id::QuestionId;

/// Why an input changed nothing. Refused answers are recorded all the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The run is over.
    #[error("the run is over")]
    Ended,
    /// No step runs, or another than the one reported.
    #[error("execution {0} is not running")]
    NotRunning(u32),
    /// A step runs; only its end or a stop fits.
    #[error("a step is running")]
    Busy,
    /// No question is open.
    #[error("question `{0}` is not open")]
    NotOpen(QuestionId),
    /// Another question is open.
    #[error("question `{0}` is not the one that is open; `{1}` is")]
    OtherQuestion(QuestionId, QuestionId),
    /// Answered after its deadline.
    #[error("question `{0}` has expired")]
    Expired(QuestionId),
    /// The value is not one of the options.
    #[error("`{value}` is not offered; choose one of {offered}")]
    NotOffered {
        /// What was answered.
        value: String,
        /// What could have been.
        offered: String,
    },
    /// The text does not match the pattern.
    #[error("the answer does not match `{0}`")]
    NoMatch(String),
    /// An `input` question needs text.
    #[error("the answer must be text")]
    NotText,
    /// This person or channel may not answer.
    #[error("{0}")]
    NotAllowed(String),
    /// The same person agreed already.
    #[error("{0} has agreed already; another person has to")]
    AlreadyAgreed(String),
    /// The person who started the run does not count.
    #[error("{0} started the run; another person has to agree")]
    Starter(String),
    /// Those who must agree chose differently.
    #[error("others agreed on `{0}`")]
    Disagrees(String),
    /// The text that had to be typed was not.
    #[error("to agree, `{0}` has to be typed")]
    NotTyped(String),
    /// A one-time code is needed.
    #[error("a one-time code is needed")]
    NoReauth,
    /// The one-time code does not count.
    #[error("{0}")]
    WrongCode(String),
    /// The question has changed since it was shown.
    #[error("the question has changed since it was shown")]
    Changed,
    /// `edit` without a change.
    #[error("say what to change")]
    NoEdits,
    /// A change that cannot be made.
    #[error("{0}")]
    BadEdit(String),
    /// Only a run whose last step failed can continue at that step.
    #[error("the run did not end because a step failed")]
    NotFailed,
    /// A deadline can be held for five minutes in all.
    #[error("the deadline cannot be held any longer")]
    HeldEnough,
    /// A question takes ten pieces of advice.
    #[error("this question has enough advice")]
    AdvisedEnough,
    /// Advice without words or an option that is offered.
    #[error("the advice says nothing: write a text, or name one of the options")]
    NoAdvice,
    /// This process drives the run already.
    #[error("the run is driven already")]
    Driven,
    /// It comes from a driver that has lost the run.
    #[error("another process has taken over this run (epoch {current}; this has epoch {epoch})")]
    Stale {
        /// When it was begun.
        epoch: u64,
        /// Where the run is now.
        current: u64,
    },
    /// The run does not wait for anything to be looked at.
    #[error("nothing waits to be inspected")]
    NothingToInspect,
    /// The run does not wait for the name of its `concurrency`.
    #[error("the run does not wait for a name")]
    NoName,
    /// Nobody drives the run.
    #[error("no process drives the run")]
    NotDriven,
}
