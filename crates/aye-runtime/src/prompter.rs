//! The port through which a driver asks people.
//!
//! A driver holds any number of prompters and asks each of them every open
//! question. The first valid answer wins: the core decides which that is, and
//! the driver withdraws the question everywhere else.
//!
//! Touches nothing; terminals, windows, the inbox and assistants implement it, here and in front
//! ends. A [`PromptEvent`] goes to the driver, which makes an input of the machine from it.

mod assistant;
mod inbox;
mod joining;
mod words;

use std::os::fd::BorrowedFd;
use std::time::Instant;

use aye_core::advice::Advice;
use aye_core::id::QuestionId;
use aye_core::journal::State;
use aye_core::nested::Parent;
use aye_core::question::{Answer, Channel, Question};
use aye_core::secrets::Secrets;
use jiff::{SignedDuration, Timestamp};

pub use assistant::AssistantPrompter;
pub use inbox::InboxPrompter;
pub use joining::{JoinRequests, Joining, Joins};
pub use words::expiry_words;

pub use crate::store::PresenceKind;

/// Later than this after its deadline nobody can say who saw a question then.
const LATE: SignedDuration = SignedDuration::from_secs(5);

/// Whether a question that is shown without a break since then was shown when
/// its time ran out. A machine that slept meanwhile showed nothing.
pub fn was_shown(since: Option<Timestamp>, deadline: Timestamp, now: Timestamp) -> bool {
    let in_time = now.duration_since(deadline) <= LATE;
    in_time && since.is_some_and(|since| since <= deadline)
}

/// A place where people are asked. No call waits.
pub trait Prompter {
    /// Shows the question, or what has changed since the last call, and
    /// returns what happened to it there meanwhile. The driver calls this
    /// before it waits, for as long as the question is open.
    fn ask(&mut self, asked: &AskedQuestion<'_>) -> Option<PromptEvent>;

    /// Whether someone could see the question there right now.
    fn is_showing(&self, question: &QuestionId) -> bool;

    /// Whether someone is before it who need not be called elsewhere: the question
    /// is shown, or will be as soon as what they do there is done.
    fn is_attended(&self, question: &QuestionId) -> bool {
        self.is_showing(question)
    }

    /// What other processes are told that shows a question here; nothing where nobody
    /// sees it.
    fn presence(&self) -> Option<PresenceKind> {
        None
    }

    /// The answer that was given there was refused: says why, asks on.
    fn refused(&mut self, question: &QuestionId, why: &str);

    /// Takes the question away for good.
    fn withdraw(&mut self, question: &QuestionId, why: &Withdrawn);

    /// Readable when [`ask`](Self::ask) may have something to return.
    fn wake(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// The same, for one that waits for several things at once.
    fn wakes(&self) -> Vec<BorrowedFd<'_>> {
        self.wake().into_iter().collect()
    }

    /// When [`ask`](Self::ask) wants to be called again at the latest, for
    /// instance because a countdown moves.
    fn look_at(&self) -> Option<Instant> {
        None
    }

    /// Why nobody can be asked here, as far as that is known before trying.
    fn obstacle(&self) -> Option<&str> {
        None
    }

    /// Whether it asks only what nobody has before them elsewhere.
    fn joins_unseen(&self) -> bool {
        false
    }

    /// Whether questions are shown here one at a time; the driver then asks only
    /// the first of them.
    fn one_at_a_time(&self) -> bool {
        false
    }
}

/// A question and what someone may want to know before answering it.
#[derive(Debug, Clone, Copy)]
pub struct AskedQuestion<'a> {
    /// The question.
    pub question: &'a Question,
    /// When it expires: its own deadline, which may have been held back, or
    /// the run's.
    pub deadline: Option<Timestamp>,
    /// Who agreed so far, where several have to.
    pub agreed: &'a [String],
    /// What assistants think of it; none of it counts.
    pub advice: &'a [Advice],
    /// What people wrote down about it: known issues, a line each.
    pub known: &'a [String],
    /// The run so far; none for a question that belongs to no run.
    pub run: Option<&'a State>,
    /// The steps that the run is inside of, from the outside in.
    pub around: &'a [Parent],
    /// The secrets to mask, where they are known.
    pub secrets: Option<&'a Secrets>,
    /// Which of how many it is, where several wait and one is shown at a time.
    pub among: Option<(usize, usize)>,
    /// Someone has it before them at another prompter.
    pub shown: bool,
}

impl<'a> AskedQuestion<'a> {
    /// A question that belongs to no run.
    pub fn alone(question: &'a Question, deadline: Option<Timestamp>) -> Self {
        Self {
            question,
            deadline,
            agreed: &[],
            advice: &[],
            known: &[],
            run: None,
            around: &[],
            secrets: None,
            among: None,
            shown: false,
        }
    }
}

/// What happened to a question where it is asked.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one at a time, and soon gone")]
pub enum PromptEvent {
    /// Someone answered.
    Answered {
        /// The answer.
        answer: Answer,
        /// A one-time code that was given with it.
        code: Option<String>,
    },
    /// Someone is there and needs more time: the deadline should be held.
    Engaged,
    /// An advisor that was asked there said what it thinks.
    Advised(Advice),
    /// Nobody can be asked this here, or they left without an answer, and why: in words, because
    /// the question is left to the others either way.
    Left(String),
}

/// Why a question is taken away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Withdrawn {
    /// Someone answered it.
    Answered {
        /// Who.
        by: String,
        /// Through what.
        through: Channel,
    },
    /// Its time ran out, or the run was stopped first.
    Expired,
    /// The driver no longer asks.
    Gone,
}
