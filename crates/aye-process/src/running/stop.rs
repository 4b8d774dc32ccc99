//! How a step comes to its end: the stages, and what moves it from one to the
//! next.
//!
//! ```text
//! Running --the leader ends--> Lingering --leftovers--> Terminating --grace--> Killing
//!    |  \--Ctrl-C--> Interrupting --1 s--------------------^                     |
//!    \--time-out, cancel---------------------------------/                       |
//! every stage --no process is left--> Draining --pipes closed--> Done <--2 s-----/
//! ```
//!
//! A second request to stop leads from Interrupting or Terminating to Killing.
//! Whether a stage is over is decided by the clock and by the tree, never by
//! which event woke us.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::child::{Running, Stop};
use super::exit::Left;
use crate::system::reap;
use crate::tree::slots::Slot;
use crate::tree::{self, Root};

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

/// Times are active time since the start.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stage {
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

impl Running {
    /// Asks the whole tree to end; a second request kills it.
    pub fn stop(&mut self, why: Stop) {
        let now = self.wake_clock();
        match self.stage {
            Stage::Running if why == Stop::Interrupt => {
                self.why = Some(why);
                self.stage = Stage::Interrupting(now + INTERRUPT_TIME.min(self.grace));
                self.send(Signal::INT);
            }
            Stage::Running => {
                self.why = Some(why);
                if why == Stop::Timeout {
                    self.scan();
                    self.stopped = tree::is_stopped(self.pid)
                        || self.members.iter().any(|member| tree::is_stopped(member.pid));
                }
                self.terminate(now, self.grace);
            }
            Stage::Lingering(_) => self.terminate(now, self.grace.min(LEFTOVER_GRACE)),
            Stage::Interrupting(_) | Stage::Terminating(_) => self.begin_kill(now),
            Stage::Killing(_) | Stage::Draining(_) | Stage::Done => {}
        }
    }

    /// How long after being asked to stop it is killed, unless it ends before.
    #[must_use]
    pub fn patience(&self, why: Stop) -> Duration {
        match why {
            Stop::Interrupt => INTERRUPT_TIME.min(self.grace) + self.grace,
            Stop::Timeout | Stop::Cancel => self.grace,
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
    pub(crate) fn signal_group(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = rustix::process::kill_process_group(pid, signal);
        }
    }

    /// Signals every process of the step once.
    pub(crate) fn signal_tree(&mut self, signal: Signal) {
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
        self.send(Signal::TERM);
    }

    fn begin_kill(&mut self, now: Duration) {
        self.stage = Stage::Killing(now + KILL_TIME);
        self.send(Signal::KILL);
    }

    /// Signals every process of the step to end it; what is gone needs no signal.
    fn send(&mut self, signal: Signal) {
        let lives = self.status.is_none();
        self.signal_tree(signal);
        if lives || !self.members.is_empty() {
            self.sent = Some(signal);
        }
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
                        let leader = (!ended).then_some(self.pid);
                        let pids = self.members.iter().map(|member| member.pid).chain(leader);
                        self.left_running =
                            pids.map(|pid| Left { pid, name: tree::name(pid) }).collect();
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
}
