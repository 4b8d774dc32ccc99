//! The port of the mailbox: how a process that does not drive a run reaches
//! the one that does.
//!
//! Every request gets a verdict: from the driver, together with the events it
//! leads to, or from the store itself once the run has ended and nobody will
//! read its requests again.

use std::fmt;

use aye_core::id::RunId;
use aye_core::input::Request;
use jiff::Timestamp;

use super::StoreError;

/// Requests that wait for a driver.
pub trait Mailbox {
    /// Leaves a request for the driver of `run`, and wakes it. For a run that
    /// has ended it is refused at once. It outlives the sender; it survives a
    /// loss of power only once the driver has settled it.
    fn send(
        &mut self,
        run: &RunId,
        request: &Request,
        sender: &str,
        at: Timestamp,
    ) -> Result<RequestId, StoreError>;

    /// The requests to `run` that have no verdict, in order. One that cannot
    /// be understood, from a newer Aye, is refused here.
    fn pending(&mut self, run: &RunId) -> Result<Vec<Pending>, StoreError>;

    /// The same for `run` and all runs inside it.
    fn pending_within(&mut self, run: &RunId) -> Result<Vec<Pending>, StoreError>;

    /// What became of a request; `None` while nothing has.
    fn verdict(&self, id: RequestId) -> Result<Option<Verdict>, StoreError>;
}

/// Identifies a request; never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub i64);

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It was taken.
    Accepted,
    /// It was not, and why.
    Refused(String),
    /// It was not: the run has ended, and nobody will read its requests again.
    Ended,
}

impl Verdict {
    /// Why the request was not taken, if it was not.
    pub fn refusal(&self) -> Option<&str> {
        match self {
            Self::Accepted => None,
            Self::Refused(why) => Some(why),
            Self::Ended => Some("the run has ended"),
        }
    }
}

/// A request that waits for its verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// Which run it is for.
    pub run: RunId,
    /// To give the verdict with.
    pub id: RequestId,
    /// When it was sent.
    pub at: Timestamp,
    /// Who sent it, in words.
    pub sender: String,
    /// What is wanted.
    pub request: Request,
}
