//! How a child ended and what it left.

use std::fs::File;
use std::io;
use std::time::Duration;

use crate::log;
use crate::terminal_hint::{LAST_WORDS, wanted_terminal};
use crate::text;

/// What the operating system reports about the leader of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It returned this code.
    Exited(i32),
    /// This signal ended it.
    Signaled(i32),
    /// It could not be ended or somebody else waited for it.
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
    /// Ended by us: somebody cancelled it.
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
    /// Somebody still held an output pipe when its deadline passed; there may
    /// have been more output.
    pub leaky: bool,
    /// When its time was up a process of it stood still: something had stopped
    /// it (`SIGSTOP`), and nothing continued it.
    pub stopped: bool,
    /// It had the terminal, which is gone: what it did then is not to be trusted, and whoever
    /// runs us is told nothing of it.
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

    /// The stable code of an end that we brought about.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        match self.outcome {
            Outcome::Exited(_) | Outcome::Signaled(_) => None,
            Outcome::TimedOut => Some("TIMEOUT"),
            Outcome::Cancelled | Outcome::Interrupted => Some("CANCELLED"),
        }
    }
}

/// A captured stream. With a log the bytes stay in the file until asked for.
#[derive(Debug)]
pub struct Output {
    total: u64,
    limit: usize,
    source: Source,
    plain: Option<Plain>,
    plain_total: Option<u64>,
}

/// Bytes that may hold a secret: never printed.
struct Plain(Vec<u8>);

impl std::fmt::Debug for Plain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

#[derive(Debug)]
enum Source {
    Memory(Vec<u8>),
    File(File),
}

impl Output {
    pub(crate) fn memory(total: u64, bytes: Vec<u8>) -> Self {
        Self {
            total,
            limit: bytes.len(),
            source: Source::Memory(bytes),
            plain: None,
            plain_total: None,
        }
    }

    pub(crate) fn file(total: u64, limit: usize, file: Option<File>) -> Self {
        let source = file.map_or_else(|| Source::Memory(Vec::new()), Source::File);
        Self { total, limit, source, plain: None, plain_total: None }
    }

    pub(crate) fn with_plain(self, plain: Option<(u64, Vec<u8>)>) -> Self {
        let (total, plain) = plain.unzip();
        Self { plain: plain.map(Plain), plain_total: total, ..self }
    }

    /// The newest bytes as they came, at most 10 MiB, where
    /// [`Spec::masks`](crate::Spec::masks) hide some of them everywhere else.
    #[must_use]
    pub fn plain(&self) -> Option<&[u8]> {
        self.plain.as_ref().map(|plain| plain.0.as_slice())
    }

    /// Like [`text_of_last`](Self::text_of_last), of the bytes as they came.
    #[must_use]
    pub fn plain_text_of_last(&self, most: usize) -> String {
        match self.plain() {
            None => self.text_of_last(most),
            Some(plain) => {
                let bytes = &plain[plain.len().saturating_sub(most)..];
                marked(bytes.to_vec(), self.plain_total())
            }
        }
    }

    /// All bytes the child wrote, as they came.
    #[must_use]
    pub fn plain_total(&self) -> u64 {
        self.plain_total.unwrap_or(self.total)
    }

    /// All bytes the child wrote.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether it wrote nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// How many of the oldest bytes [`bytes`](Self::bytes) leaves out.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.total.saturating_sub(self.limit as u64)
    }

    /// The newest bytes, as many as the step's limit allows.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.last(self.limit)
    }

    /// Like [`bytes`](Self::bytes), without a copy if they are in memory.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        match self.source {
            Source::Memory(bytes) => bytes,
            Source::File(_) => self.bytes(),
        }
    }

    /// The newest bytes, at most `most` and at most the step's limit.
    #[must_use]
    pub fn last(&self, most: usize) -> Vec<u8> {
        let most = most.min(self.limit);
        match &self.source {
            Source::Memory(bytes) => bytes[bytes.len().saturating_sub(most)..].to_vec(),
            Source::File(file) => log::read_tail(file, self.total, most).unwrap_or_default(),
        }
    }

    /// The newest bytes as text, with a line in front that says how many
    /// were dropped. Cut between characters; bytes that are no text become `U+FFFD`.
    #[must_use]
    pub fn text(&self) -> String {
        self.text_of_last(self.limit)
    }

    /// Like [`text`](Self::text) for at most `most` bytes.
    #[must_use]
    pub fn text_of_last(&self, most: usize) -> String {
        marked(self.last(most), self.total)
    }
}

/// The end of a stream as text, with a line in front if some is missing. It
/// may be long: it is not copied.
fn marked(mut bytes: Vec<u8>, total: u64) -> String {
    let dropped = total.saturating_sub(bytes.len() as u64);
    if dropped == 0 {
        return text::lossy(bytes);
    }
    let cut = text::first_boundary(&bytes);
    let mark = format!("[{} bytes dropped]\n", dropped + cut as u64);
    bytes.reserve_exact(mark.len());
    bytes.splice(..cut, mark.into_bytes());
    text::lossy(bytes)
}
