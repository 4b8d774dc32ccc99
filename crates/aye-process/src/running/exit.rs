//! How a child ended and what it left.

use std::io;
use std::time::Duration;

use crate::output::captured::Output;
use crate::output::log::LogDigest;

use super::terminal_hint::{LAST_WORDS, wanted_terminal};

/// What the operating system reports about the leader of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It returned this code.
    Exited(i32),
    /// This signal ended it.
    Signaled(i32),
    /// It could not be ended or someone else waited for it.
    Lost,
}

impl Status {
    pub(crate) fn from_raw(raw: i32) -> Self {
        if libc::WIFEXITED(raw) {
            Self::Exited(libc::WEXITSTATUS(raw))
        } else if libc::WIFSIGNALED(raw) {
            Self::Signaled(libc::WTERMSIG(raw))
        } else {
            Self::Lost
        }
    }
}

/// Why a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that we did not send.
    Signaled(i32),
    /// Ended by us: its time was up.
    TimedOut,
    /// Ended by us: someone cancelled it.
    Cancelled,
    /// Ended by us: the runner was interrupted.
    Interrupted,
}

/// A process that could not be ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Its number.
    pub pid: i32,
    /// What its program is called, where the system tells.
    pub name: Option<String>,
}

/// Everything known about a child that has ended.
#[derive(Debug)]
pub struct Exit {
    /// Why it ended.
    pub outcome: Outcome,
    /// What the operating system says, also when we ended it.
    pub status: Status,
    /// Standard output.
    pub stdout: Output,
    /// Standard error.
    pub stderr: Output,
    /// From start to the end of the last process, pauses not counted.
    pub duration: Duration,
    /// Someone still held an output pipe when its deadline passed; there may
    /// have been more output.
    pub leaky: bool,
    /// When its time was up a process of it stood still: something had stopped
    /// it (`SIGSTOP`), and nothing continued it.
    pub stopped: bool,
    /// The last signal that we sent to end it, if we ended it.
    pub ended_with: Option<i32>,
    /// It had the terminal, which is gone. What it did after that cannot be trusted, and Aye does
    /// not report it to its caller.
    pub hung_up: bool,
    /// Processes that went on after the leader had ended by itself, and that
    /// we ended.
    pub leftovers: usize,
    /// Processes that could not be ended, such as those of another user.
    pub left_running: Vec<Left>,
    /// Largest resident size of any one process, in bytes. Known where it is more than the
    /// runner's own, which the kernel counts until the `exec`.
    pub peak_memory: Option<u64>,
    /// Processor time of all processes that were waited for.
    pub cpu_time: Duration,
    /// Why the log is incomplete, if it is. The tail is complete in any case.
    pub log_error: Option<io::Error>,
    /// The digest of the log, if [`Spec::digest`](crate::Spec::digest) asked for it and the log
    /// is complete.
    pub digest: Option<LogDigest>,
}

impl Exit {
    /// The code a shell would report: 128+n for a signal, 124 for a time-out,
    /// 143 when cancelled, 130 when interrupted.
    #[must_use]
    pub fn exit_code(&self) -> i32 {
        match self.outcome {
            Outcome::Exited(code) => code,
            Outcome::Signaled(signal) => 128 + signal,
            Outcome::TimedOut => 124,
            Outcome::Cancelled => 128 + libc::SIGTERM,
            Outcome::Interrupted => 128 + libc::SIGINT,
        }
    }

    /// What would have helped, for the `hint:` line.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        if self.stopped {
            return Some("something stopped it (SIGSTOP), and nothing continued it");
        }
        let wanted = || {
            // With a pseudo-terminal both streams are one.
            let said = if self.stderr.is_empty() { &self.stdout } else { &self.stderr };
            wanted_terminal(&said.text_of_last(LAST_WORDS))
        };
        (!self.success() && wanted())
            .then_some("a step has no terminal; `interactive: true` gives it one")
    }

    /// Why its log does not hold all of its output, in words.
    #[must_use]
    pub fn log_problem(&self) -> Option<String> {
        self.log_error.as_ref().map(|error| format!("its log is not complete: {error}"))
    }

    /// Ended by itself with code 0.
    #[must_use]
    pub fn success(&self) -> bool {
        self.outcome == Outcome::Exited(0)
    }
}
