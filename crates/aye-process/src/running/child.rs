//! A child between its start and the end of its last process.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::clock::Clock;
use super::exit::{Exit, Left, Outcome, Status};
use super::stop::Stage;
use crate::output::capture::{Capture, Log, View};
use crate::output::captured::Output;
use crate::output::log::Writer;
use crate::system::reap;
use crate::terminal::handover::Handover;
use crate::terminal::pty;
use crate::tree::Member;
use crate::tree::slots::Slot;

/// Why a child is to be ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Someone cancelled it: `SIGTERM`, grace, `SIGKILL`.
    Cancel,
    /// Ctrl-C: `SIGINT` first, the rest as for [`Stop::Cancel`] a second later.
    Interrupt,
    /// Its time is up.
    Timeout,
}

/// A child that has been started. Dropping it kills its whole tree.
#[derive(Debug)]
pub struct Running {
    pub(crate) pid: i32,
    pub(crate) handle: Option<OwnedFd>,
    pub(crate) slot: Option<Slot>,
    pub(crate) clock: Clock,
    pub(crate) limit: Option<Duration>,
    pub(crate) grace: Duration,
    pub(crate) linger: Duration,
    pub(crate) streams: [Option<Capture>; 2],
    pub(crate) log: Log,
    pub(crate) live: bool,
    held: bool,
    pub(crate) feed: Option<Feed>,
    pub(crate) terminal: Option<Handover>,
    pub(crate) pty: Option<OwnedFd>,
    pub(crate) stage: Stage,
    pub(crate) why: Option<Stop>,
    pub(crate) status: Option<Status>,
    pub(crate) members: Vec<Member>,
    pub(crate) leaky: bool,
    pub(crate) stopped: bool,
    /// The last signal that was sent to end it.
    pub(crate) sent: Option<Signal>,
    pub(crate) leftovers: usize,
    pub(crate) left_running: Vec<Left>,
    pub(crate) peak_memory: u64,
    /// Ours when it was started.
    own_peak: u64,
    pub(crate) cpu_time: Duration,
}

/// Bytes on their way to a child's standard input.
#[derive(Debug)]
pub(crate) struct Feed {
    pub(crate) pipe: OwnedFd,
    pub(crate) bytes: Vec<u8>,
    pub(crate) written: usize,
}

impl Running {
    pub(crate) fn new(pid: i32, handle: Option<OwnedFd>, slot: Slot, now: Instant) -> Self {
        Self {
            pid,
            handle,
            slot: Some(slot),
            clock: Clock::start(now),
            limit: None,
            grace: Duration::ZERO,
            linger: Duration::ZERO,
            streams: [None, None],
            log: Log::default(),
            live: false,
            held: false,
            feed: None,
            terminal: None,
            pty: None,
            stage: Stage::Running,
            why: None,
            status: None,
            members: Vec::new(),
            leaky: false,
            stopped: false,
            sent: None,
            leftovers: 0,
            left_running: Vec::new(),
            peak_memory: 0,
            own_peak: reap::own_peak_memory(),
            cpu_time: Duration::ZERO,
        }
    }

    /// The process id, which is also the id of the child's process group.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Readable when the program has ended; nothing on systems without such a
    /// descriptor. For a caller that waits with a `poll` of its own and then calls
    /// [`wait_aside`](crate::wait_aside).
    #[must_use]
    pub fn wake(&self) -> Option<BorrowedFd<'_>> {
        self.deaths().next()
    }

    /// Time since the start, pauses not counted.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.clock.active(Instant::now())
    }

    /// Time left before the time-out, `None` if there is none.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        self.limit.map(|limit| limit.saturating_sub(self.elapsed()))
    }

    /// How much of the time-out has passed, 0 to 100.
    #[must_use]
    pub fn percent(&self) -> Option<u8> {
        let limit = self.limit?.as_secs_f64();
        let part = if limit > 0.0 { self.elapsed().as_secs_f64() / limit } else { 1.0 };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to 0..=100"
        )]
        Some((part * 100.0).clamp(0.0, 100.0) as u8)
    }

    /// Why it is being ended, if it is.
    #[must_use]
    pub fn stopping(&self) -> Option<Stop> {
        self.why
    }

    /// Whether [`wait`](crate::wait()) has reported the end.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }

    /// Whether the callback of [`wait`](crate::wait()) gets the bytes from now on.
    pub fn set_live(&mut self, live: bool) {
        self.live = live;
    }

    /// Leaves what the child writes where it is while it runs, for a view that
    /// cannot keep up; everything else continues.
    pub fn hold(&mut self, hold: bool) {
        self.held = hold;
    }

    /// Once the program has ended or is being ended its pipes are emptied.
    pub(crate) fn is_held(&self) -> bool {
        self.held && matches!(self.stage, Stage::Running)
    }

    /// Stops all processes of the step and its timers, for Ctrl-Z.
    pub fn pause(&mut self) {
        if !self.is_done() && self.clock.pause(Instant::now()) {
            self.signal_tree(Signal::STOP);
        }
    }

    /// Undoes [`pause`](Self::pause).
    pub fn resume(&mut self) {
        if self.clock.resume(Instant::now()) {
            self.signal_tree(Signal::CONT);
        }
    }

    /// Tells a child with [`Spec::tty`](crate::Spec::tty) the size of the window it is shown in.
    ///
    /// # Errors
    /// When the pseudo-terminal refuses.
    pub fn resize(&mut self, columns: u16, rows: u16) -> io::Result<()> {
        let Some(master) = &self.pty else {
            return Ok(());
        };
        pty::set_size(master.as_fd(), columns, rows)?;
        // It is nobody's controlling terminal, so the kernel tells nobody.
        if self.status.is_none() {
            self.signal_group(Signal::WINCH);
        }
        Ok(())
    }

    /// Everything that may become ready: the leader, the members being ended.
    pub(crate) fn deaths(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let leader = self.handle.as_ref().filter(|_| self.status.is_none()).map(AsFd::as_fd);
        leader.into_iter().chain(self.members.iter().filter_map(Member::handle))
    }

    /// Looks which of [`deaths`](Self::deaths) happened; `dead` has one entry for each.
    pub(crate) fn note_deaths(&mut self, mut dead: impl Iterator<Item = bool>) {
        let watched = self.handle.is_some() && self.status.is_none();
        let leader_died =
            if watched { dead.next().unwrap_or(false) } else { self.handle.is_none() };
        self.members.retain(|member| member.handle().is_some() && !dead.next().unwrap_or(false));
        if leader_died && self.status.is_none() {
            self.reap_leader();
        }
    }

    fn reap_leader(&mut self) {
        if let Some((raw, usage)) = reap::try_wait(self.pid) {
            self.note_end(raw, &usage);
        } else if self.handle.is_some() {
            // Dead, yet not ours to wait for: someone else did.
            self.end_with(Status::Lost);
        }
    }

    fn end_with(&mut self, status: Status) {
        self.status = Some(status);
        self.streams.iter_mut().flatten().for_each(Capture::let_end);
    }

    fn note_end(&mut self, raw: i32, usage: &libc::rusage) {
        self.end_with(Status::from_raw(raw));
        self.cpu_time += reap::cpu_time(usage);
        self.peak_memory = self.peak_memory.max(reap::peak_memory(usage));
    }

    /// Whether stops of the child are to be noticed.
    pub(crate) fn is_interactive(&self) -> bool {
        self.terminal.is_some()
    }

    /// Whether a user's stop of an interactive child was noticed. A stop for
    /// touching the terminal too early is undone instead.
    pub(crate) fn was_stopped(&mut self) -> bool {
        let Some(terminal) = &self.terminal else {
            return false;
        };
        if self.status.is_some() {
            return false;
        }
        let Some((raw, usage)) = reap::try_wait_stopped(self.pid) else {
            return false;
        };
        if !libc::WIFSTOPPED(raw) {
            self.note_end(raw, &usage);
            return false;
        }
        let signal = libc::WSTOPSIG(raw);
        if matches!(signal, libc::SIGTTIN | libc::SIGTTOU) && terminal.belongs_to(self.pid) {
            self.signal_group(Signal::CONT);
            return false;
        }
        true
    }

    /// Takes the terminal from a stopped child.
    pub(crate) fn lend_back(&mut self) {
        if let Some(terminal) = &mut self.terminal {
            terminal.interrupt();
        }
    }

    /// Gives it again.
    pub(crate) fn lend_again(&mut self) {
        if let Some(terminal) = &mut self.terminal {
            terminal.give(self.pid);
        }
    }

    /// Writes to the child's standard input what it takes.
    pub(crate) fn feed(&mut self) {
        let Some(feed) = &mut self.feed else { return };
        match rustix::io::write(&feed.pipe, &feed.bytes[feed.written..]) {
            Ok(written) => feed.written += written,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return,
            // It does not want more; that is not an error.
            Err(_) => feed.written = feed.bytes.len(),
        }
        if feed.written == feed.bytes.len() {
            self.feed = None;
        }
    }

    pub(crate) fn pump(&mut self, stream: usize, buffer: &mut Vec<u8>, view: &mut View<'_>) {
        if let Some(capture) = &mut self.streams[stream] {
            capture.pump(&mut self.log, self.live, buffer, view);
        }
    }

    /// The result, once [`advance`](Self::advance) said that it ended.
    pub(crate) fn finish(&mut self, view: &mut View<'_>) -> Exit {
        let live = self.live;
        let mut outputs = self.streams.each_mut().map(|slot| match slot.take() {
            Some(mut capture) => {
                capture.drain(&mut self.log, live, view);
                capture.finish(&mut self.log)
            }
            None => Output::memory(0, Vec::new()),
        });
        let complete = self.log.error.is_none();
        let digest = self.log.writer.as_mut().and_then(Writer::digest).filter(|_| complete);
        let status = self.status.unwrap_or(Status::Lost);
        self.slot = None;
        self.feed = None;
        self.members.clear();
        let hung_up = self.terminal.take().is_some_and(|terminal| !terminal.take_back());
        Exit {
            outcome: match (self.why, status) {
                (Some(Stop::Timeout), _) => Outcome::TimedOut,
                (Some(Stop::Cancel), _) => Outcome::Cancelled,
                (Some(Stop::Interrupt), _) => Outcome::Interrupted,
                (None, Status::Exited(code)) => Outcome::Exited(code),
                (None, Status::Signaled(signal)) => Outcome::Signaled(signal),
                (None, Status::Lost) => Outcome::Cancelled,
            },
            status,
            stderr: std::mem::replace(&mut outputs[1], Output::memory(0, Vec::new())),
            stdout: std::mem::replace(&mut outputs[0], Output::memory(0, Vec::new())),
            duration: self.elapsed(),
            leaky: self.leaky,
            stopped: self.stopped,
            ended_with: self.why.and(self.sent).map(Signal::as_raw),
            hung_up,
            leftovers: self.leftovers,
            left_running: std::mem::take(&mut self.left_running),
            peak_memory: Some(self.peak_memory).filter(|peak| *peak > self.own_peak),
            cpu_time: self.cpu_time,
            log_error: self.log.error.take(),
            digest,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.is_done() {
            return;
        }
        self.kill(Stop::Cancel);
        // Bounded by `KILL_TIME`; the output is of no interest any more.
        let _ = super::wait::wait_aside(self, &[], None);
    }
}
