//! What goes from the worker to the driver: events, and a pipe that wakes it.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use aye_core::form::Form;
use serde_json::{Map, Value};

use super::asking::Questions;
use super::error::ToolError;
use super::result::ToolResult;

/// How many lines may wait; a server that floods us loses some of its own.
const WAITING: usize = 1000;

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolEvent {
    /// A server answers for the first time.
    Started {
        /// Which.
        server: String,
        /// The version of the protocol it speaks.
        protocol: String,
    },
    /// A server had ended and was started again.
    Restarted {
        /// Which.
        server: String,
        /// How it had ended.
        why: String,
    },
    /// A call got on.
    Progress {
        /// Which.
        call: u64,
        /// What the tool says about it.
        text: String,
        /// How much of it is done, 0 to 1, if the tool knows.
        fraction: Option<f64>,
    },
    /// A line that a server wrote for people to read. Not masked.
    Log {
        /// Which.
        server: String,
        /// The line.
        line: String,
    },
    /// What a server offers, as [`Tools::list`](super::Tools::list) asked.
    Listed {
        /// Which.
        server: String,
        /// Its tools.
        result: Result<Vec<ListedTool>, ToolError>,
    },
    /// A server asks in the middle of a call; [`Tools::reply`](super::Tools::reply) answers.
    Asks {
        /// The call, or the oldest of those that it may be about.
        call: u64,
        /// Names the question.
        ask: u64,
        /// What it wants to know.
        form: Box<Form>,
    },
    /// A server no longer waits for an answer.
    AsksNoMore {
        /// Which question.
        ask: u64,
    },
    /// A server asked, and was declined without asking anybody.
    Declined {
        /// Which.
        server: String,
        /// Why.
        why: String,
    },
    /// A call ended.
    Done {
        /// Which.
        call: u64,
        /// With what.
        result: Result<ToolResult, ToolError>,
    },
}

/// A tool, as its server describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedTool {
    /// Its name, without the server's.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// Its arguments, a JSON schema.
    pub schema: Arc<Map<String, Value>>,
    /// What it gives, a JSON schema.
    pub output: Option<Arc<Map<String, Value>>>,
    /// It says of itself that it changes nothing.
    pub read_only: bool,
    /// It says of itself that it changes what cannot be changed back; the
    /// protocol's default is that it does.
    pub destructive: bool,
}

#[derive(Debug)]
struct Inner {
    events: Mutex<VecDeque<ToolEvent>>,
    read: OwnedFd,
    write: OwnedFd,
    questions: Questions,
    /// Somebody is there whom servers may ask.
    may_ask: bool,
}

/// The queue; both sides hold it.
#[derive(Debug, Clone)]
pub(super) struct Outbox(Arc<Inner>);

impl Outbox {
    pub(super) fn new(may_ask: bool) -> io::Result<Self> {
        let (read, write) = io::pipe()?;
        let (read, write) = (OwnedFd::from(read), OwnedFd::from(write));
        rustix::io::ioctl_fionbio(&read, true)?;
        rustix::io::ioctl_fionbio(&write, true)?;
        let (events, questions) = (Mutex::default(), Questions::default());
        Ok(Self(Arc::new(Inner { events, read, write, questions, may_ask })))
    }

    fn events(&self) -> std::sync::MutexGuard<'_, VecDeque<ToolEvent>> {
        self.0.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn send(&self, event: ToolEvent) {
        {
            let mut events = self.events();
            let full = events.len() >= WAITING;
            match (&event, events.back_mut()) {
                // Only the newest word on a call counts.
                (ToolEvent::Progress { call, .. }, Some(last)) if is_progress(last, *call) => {
                    *last = event;
                }
                (ToolEvent::Progress { .. } | ToolEvent::Log { .. }, _) if full => {}
                _ => events.push_back(event),
            }
        }
        // A full pipe wakes as well as one more byte.
        let _ = rustix::io::write(&self.0.write, b"!");
    }

    pub(super) fn next(&self) -> Option<ToolEvent> {
        if let Some(event) = self.events().pop_front() {
            return Some(event);
        }
        let mut bytes = [0_u8; 256];
        while rustix::io::read(&self.0.read, &mut bytes).is_ok_and(|count| count == bytes.len()) {}
        // What came between the look and the emptied pipe.
        self.events().pop_front()
    }

    pub(super) fn questions(&self) -> &Questions {
        &self.0.questions
    }

    pub(super) fn may_ask(&self) -> bool {
        self.0.may_ask
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.0.read.as_fd()
    }
}

fn is_progress(event: &ToolEvent, of: u64) -> bool {
    matches!(event, ToolEvent::Progress { call, .. } if *call == of)
}
