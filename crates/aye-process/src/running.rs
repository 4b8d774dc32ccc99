//! A child between its start and the end of its last process.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::capture::{Capture, Log, View};
use crate::clock::Clock;
use crate::exit::{Exit, Outcome, Output, Status};
use crate::reap;
use crate::slots::Slot;
use crate::terminal::Handover;
use crate::tree::{self, Member, Root};

/// How long an interrupted program has before `SIGTERM` follows `SIGINT`.
const INTERRUPT_TIME: Duration = Duration::from_secs(1);

/// The most that leftovers of a program that ended by itself get after `SIGTERM`.
const LEFTOVER_GRACE: Duration = Duration::from_secs(1);

/// How long the pipes may stay open once the last process is gone.
const DRAIN_TIME: Duration = Duration::from_millis(50);

/// How long we wait for processes that do not even obey `SIGKILL`.
const KILL_TIME: Duration = Duration::from_secs(2);

/// How often the tree is looked at when its members cannot be watched.
const BLIND_INTERVAL: Duration = Duration::from_millis(10);

/// Why a child is to be ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Somebody cancelled it: `SIGTERM`, grace, `SIGKILL`.
    Cancel,
    /// Ctrl-C: `SIGINT` first, the rest as for [`Stop::Cancel`] a second later.
    Interrupt,
    /// Its time is up.
    Timeout,
}

/// Times are active time since the start.
#[derive(Debug, Clone, Copy)]
enum Stage {
    Running,
    /// The leader ended by itself; leftovers and pipe holders have until then.
    Lingering(Duration),
    /// `SIGINT` was sent, `SIGTERM` follows.
    Interrupting(Duration),
    /// `SIGTERM` was sent, `SIGKILL` follows.
    Terminating(Duration),
    /// `SIGKILL` was sent; then we give up.
    Killing(Duration),
    /// Every process is gone; the pipes have until then.
    Draining(Duration),
    Done,
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
    pub(crate) feed: Option<Feed>,
    pub(crate) terminal: Option<Handover>,
    pub(crate) pty: Option<OwnedFd>,
    stage: Stage,
    why: Option<Stop>,
    status: Option<Status>,
    members: Vec<Member>,
    leaky: bool,
    leftovers: usize,
    left_running: usize,
    peak_memory: u64,
    cpu_time: Duration,
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
            feed: None,
            terminal: None,
            pty: None,
            stage: Stage::Running,
            why: None,
            status: None,
            members: Vec::new(),
            leaky: false,
            leftovers: 0,
            left_running: 0,
            peak_memory: 0,
            cpu_time: Duration::ZERO,
        }
    }

    /// The process id, which is also the id of the child's process group.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid
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

    /// Asks the whole tree to end; a second request kills it.
    pub fn stop(&mut self, why: Stop) {
        let now = self.wake_clock();
        match self.stage {
            Stage::Running if why == Stop::Interrupt => {
                self.why = Some(why);
                self.stage = Stage::Interrupting(now + INTERRUPT_TIME.min(self.grace));
                self.signal_tree(Signal::INT);
            }
            Stage::Running => {
                self.why = Some(why);
                self.terminate(now, self.grace);
            }
            Stage::Lingering(_) => self.terminate(now, self.grace.min(LEFTOVER_GRACE)),
            Stage::Interrupting(_) | Stage::Terminating(_) => self.begin_kill(now),
            Stage::Killing(_) | Stage::Draining(_) | Stage::Done => {}
        }
    }

    /// Kills the whole tree at once.
    pub fn kill(&mut self, why: Stop) {
        let now = self.wake_clock();
        match self.stage {
            Stage::Killing(_) | Stage::Draining(_) | Stage::Done => {}
            Stage::Running
            | Stage::Lingering(_)
            | Stage::Interrupting(_)
            | Stage::Terminating(_) => {
                if self.status.is_none() {
                    self.why.get_or_insert(why);
                }
                self.begin_kill(now);
            }
        }
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
        crate::pty::set_size(master.as_fd(), columns, rows)?;
        // It is nobody's controlling terminal, so the kernel tells nobody.
        if self.status.is_none() {
            self.signal_group(Signal::WINCH);
        }
        Ok(())
    }

    fn wake_clock(&mut self) -> Duration {
        let now = Instant::now();
        self.clock.resume(now);
        self.clock.active(now)
    }

    fn root(&self) -> Root {
        Root {
            token: self.slot.as_ref().map_or(0, Slot::token),
            leader: self.pid,
            leader_lives: self.status.is_none(),
        }
    }

    /// The group's number is certain as long as the leader was not waited for.
    fn signal_group(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = rustix::process::kill_process_group(pid, signal);
        }
    }

    /// Signals every process of the step once.
    fn signal_tree(&mut self, signal: Signal) {
        let by_group = self.status.is_none();
        if by_group {
            self.signal_group(signal);
        }
        self.scan();
        for member in &self.members {
            if !(by_group && member.group == self.pid) {
                member.signal(signal);
            }
        }
        // A stopped process does not act on a signal until it is continued.
        if signal == Signal::TERM || signal == Signal::INT {
            if by_group {
                self.signal_group(Signal::CONT);
            }
            for member in &self.members {
                member.signal(Signal::CONT);
            }
        }
    }

    fn scan(&mut self) {
        let (mut cpu, mut peak) = (Duration::ZERO, 0);
        self.members = tree::members(self.root(), &mut |usage| {
            cpu += reap::cpu_time(usage);
            peak = reap::peak_memory(usage).max(peak);
        });
        self.cpu_time += cpu;
        self.peak_memory = self.peak_memory.max(peak);
    }

    fn terminate(&mut self, now: Duration, grace: Duration) {
        self.stage = Stage::Terminating(now + grace);
        self.signal_tree(Signal::TERM);
    }

    fn begin_kill(&mut self, now: Duration) {
        self.stage = Stage::Killing(now + KILL_TIME);
        self.signal_tree(Signal::KILL);
    }

    /// Whether no process but the leader is left. Looks at the tree again only
    /// when all that were known are gone; newcomers get the present signal.
    fn tree_is_empty(&mut self, signal: Option<Signal>) -> bool {
        if !self.members.is_empty() {
            return false;
        }
        self.scan();
        if let Some(signal) = signal {
            for member in &self.members {
                member.signal(signal);
                member.signal(Signal::CONT);
            }
        }
        self.members.is_empty()
    }

    fn pipes_closed(&self) -> bool {
        self.streams.iter().flatten().all(|stream| stream.pipe().is_none())
    }

    /// Does what the clock asks for; true when the step has ended.
    pub(crate) fn advance(&mut self, now: Instant) -> bool {
        let now = self.clock.active(now);
        loop {
            let ended = self.status.is_some();
            match self.stage {
                Stage::Running if ended => {
                    if self.tree_is_empty(None) && self.pipes_closed() {
                        self.stage = Stage::Done;
                    } else {
                        self.stage = Stage::Lingering(now + self.linger);
                    }
                }
                Stage::Running => {
                    if self.limit.is_none_or(|limit| now < limit) {
                        return false;
                    }
                    self.stop(Stop::Timeout);
                }
                Stage::Lingering(until) => {
                    if self.tree_is_empty(None) && self.pipes_closed() {
                        self.stage = Stage::Done;
                    } else if now < until {
                        return false;
                    } else {
                        self.leaky |= !self.pipes_closed();
                        self.members.clear();
                        self.scan();
                        if self.members.is_empty() {
                            self.stage = Stage::Done;
                        } else {
                            self.leftovers = self.members.len();
                            self.terminate(now, self.grace.min(LEFTOVER_GRACE));
                        }
                    }
                }
                Stage::Interrupting(until) => {
                    if !ended && now < until {
                        return false;
                    }
                    self.terminate(now, self.grace);
                }
                Stage::Terminating(until) => {
                    if ended && self.tree_is_empty(Some(Signal::TERM)) {
                        self.stage = Stage::Draining(now + DRAIN_TIME);
                    } else if now < until {
                        return false;
                    } else {
                        self.begin_kill(now);
                    }
                }
                Stage::Killing(until) => {
                    if self.tree_is_empty(Some(Signal::KILL)) && ended {
                        self.stage = Stage::Draining(now + DRAIN_TIME);
                    } else if now < until {
                        return false;
                    } else {
                        self.left_running = self.members.len() + usize::from(!ended);
                        self.leaky |= !self.pipes_closed();
                        self.stage = Stage::Done;
                    }
                }
                Stage::Draining(until) => {
                    if !self.pipes_closed() && now < until {
                        return false;
                    }
                    self.leaky |= !self.pipes_closed();
                    self.stage = Stage::Done;
                }
                Stage::Done => return true,
            }
        }
    }

    /// When [`advance`](Self::advance) has something to do, unless a descriptor is ready before.
    pub(crate) fn next_timer(&self, now: Instant) -> Option<Instant> {
        let due = match self.stage {
            Stage::Running => self.limit,
            Stage::Lingering(until)
            | Stage::Interrupting(until)
            | Stage::Terminating(until)
            | Stage::Killing(until)
            | Stage::Draining(until) => Some(until),
            Stage::Done => None,
        };
        let due = due.and_then(|due| self.clock.instant_of(due, now));
        let blind =
            self.handle.is_none() || self.members.iter().any(|member| member.handle().is_none());
        match (blind.then(|| now + BLIND_INTERVAL), due) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        }
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
            // Dead, yet not ours to wait for: somebody else did.
            self.status = Some(Status::Lost);
        }
    }

    fn note_end(&mut self, raw: i32, usage: &libc::rusage) {
        self.status = Some(Status::from_raw(raw));
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
            // It does not want more; that is no error.
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
                capture.close(&mut self.log, live, view);
                capture.finish(&mut self.log)
            }
            None => Output::memory(0, Vec::new()),
        });
        let status = self.status.unwrap_or(Status::Lost);
        self.slot = None;
        self.feed = None;
        self.members.clear();
        if let Some(terminal) = self.terminal.take() {
            terminal.take_back();
        }
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
            leftovers: self.leftovers,
            left_running: self.left_running,
            peak_memory: self.peak_memory,
            cpu_time: self.cpu_time,
            log_error: self.log.error.take(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.is_done() {
            return;
        }
        self.kill(Stop::Cancel);
        let one = std::slice::from_mut(self);
        // Bounded by `KILL_TIME`; the output is of no interest any more.
        let _ = crate::wait::wait(one, &[], None, &mut |_, _, _| {});
    }
}
