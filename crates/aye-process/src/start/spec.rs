//! What to run: a plain description, built by the caller, consumed by [`spawn`](crate::spawn()).

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long a process may continue after `SIGTERM` before it is killed, unless
/// [`set_grace`] or [`Spec::grace`] says otherwise.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(5);

static GRACE: AtomicU64 = AtomicU64::new(DEFAULT_GRACE.as_millis() as u64);

/// Sets the time between `SIGTERM` and `SIGKILL` for every [`Spec`] made from now on.
pub fn set_grace(grace: Duration) {
    GRACE.store(u64::try_from(grace.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// The time between `SIGTERM` and `SIGKILL`, unless a [`Spec`] says otherwise.
#[must_use]
pub fn grace() -> Duration {
    Duration::from_millis(GRACE.load(Ordering::Relaxed))
}

/// How many of the newest bytes of a stream are kept for the result.
pub const DEFAULT_TAIL: usize = 10 * 1024 * 1024;

/// How long the leftovers of a program that ended by itself, and processes that
/// still hold its pipes, may continue. The deadline is absolute: output does
/// not extend it.
pub const DEFAULT_LINGER: Duration = Duration::from_millis(200);

/// Where a child reads from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// End of file at once; a child that reads never hangs.
    #[default]
    Empty,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
}

/// Where an output stream of a child goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sink {
    /// Read by us: log, tail and live view.
    #[default]
    Capture,
    /// To `/dev/null`.
    Discard,
}

/// Resource limits. They hold for each process of the step, not for their sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Writable memory in bytes (`RLIMIT_DATA`: heap and private mappings).
    pub memory: Option<u64>,
    /// Processor time in whole seconds (`RLIMIT_CPU`).
    pub cpu_seconds: Option<u64>,
}

impl Limits {
    /// Whether there is anything to set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A program to run and everything about how to run it.
#[derive(Debug, Clone)]
pub struct Spec {
    /// A name looked up in `PATH`, or a path; a relative path with a slash is
    /// relative to [`cwd`](Self::cwd).
    pub program: OsString,
    /// The arguments, without the program's name. No shell sees them.
    pub args: Vec<OsString>,
    /// The working directory; `None` is the runner's own.
    pub cwd: Option<PathBuf>,
    /// Changes to the inherited environment, in order; `None` removes.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// Standard input.
    pub stdin: Stdin,
    /// Standard output.
    pub stdout: Sink,
    /// Standard error.
    pub stderr: Sink,
    /// Base path of the log files, see [`log`](mod@crate::log). Without one the tail is
    /// kept in memory.
    pub log: Option<PathBuf>,
    /// Whether the digest of the log is wanted: [`Exit::digest`](crate::Exit::digest).
    pub digest: bool,
    /// Whether the callback of [`wait`](crate::wait()) wants the bytes. Without a viewer
    /// they go to the log without passing through this process.
    pub live: bool,
    /// Byte strings, such as secret inputs, that are replaced by `***` in log,
    /// tail and live view.
    pub masks: Vec<Vec<u8>>,
    /// The time the program may take; `None` is for ever.
    pub timeout: Option<Duration>,
    /// A second limit from outside, such as the run's own deadline.
    pub deadline: Option<Instant>,
    /// Time between `SIGTERM` and `SIGKILL`.
    pub grace: Duration,
    /// See [`DEFAULT_LINGER`].
    pub linger: Duration,
    /// Newest bytes kept of each stream.
    pub tail_limit: usize,
    /// Give the program the real terminal, in our session; nothing is captured.
    /// Every other program is in a session of its own, from which it cannot
    /// reach the terminal.
    pub interactive: bool,
    /// Give the program a pseudo-terminal for its output, so that it prints
    /// colours and progress. Both streams arrive as [`Stream::Stdout`](crate::Stream::Stdout).
    pub tty: bool,
    /// Resource limits.
    pub limits: Limits,
    /// Put into the child's environment as [`RUN_VARIABLE`](crate::survivors::RUN_VARIABLE), so
    /// that [`survivors::find`](crate::survivors::find) can find whatever is left of a run.
    pub run: Option<String>,
    /// It is not a step: it takes no place among the children that may run at
    /// once, so that no step has to wait for it.
    pub aside: bool,
}

impl Spec {
    /// A captured program without arguments, input, log or time-out.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: None,
            env: Vec::new(),
            stdin: Stdin::Empty,
            stdout: Sink::Capture,
            stderr: Sink::Capture,
            log: None,
            digest: false,
            live: false,
            masks: Vec::new(),
            timeout: None,
            deadline: None,
            grace: Duration::from_millis(GRACE.load(Ordering::Relaxed)),
            linger: DEFAULT_LINGER,
            tail_limit: DEFAULT_TAIL,
            interactive: false,
            tty: false,
            limits: Limits::default(),
            run: None,
            aside: false,
        }
    }

    /// Appends arguments.
    #[must_use]
    pub fn args<I>(mut self, args: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// The value a variable will have in the child.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        self.env
            .iter()
            .rev()
            .find(|(key, _)| key == name)
            .map_or_else(|| std::env::var_os(name), |(_, value)| value.clone())
    }
}
