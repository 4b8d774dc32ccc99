//! Lending the real terminal to a child and getting it back clean.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr, tcsetpgrp};

use crate::system::dispositions::with_blocked;
use crate::system::group;

/// Leaves whatever a full-screen program may have left on: alternate screen,
/// mouse, focus and paste reports, application keys, hidden cursor, colours.
///
/// Leaving the alternate screen restores the cursor that was saved on the way
/// there, also where the screen is not on, and then one that an earlier program
/// saved. So it is entered first, which saves the cursor if it is not on and is
/// nothing if it is.
const RESET: &[u8] =
    b"\x1b[?1049h\x1b[?1049l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\
\x1b[?1l\x1b>\x1b[?7h\x1b[?25h\x1b[0m";

/// The modes of a terminal, to be restored later.
#[derive(Debug)]
pub struct Terminal {
    device: File,
    modes: Termios,
}

impl Terminal {
    /// Remembers the modes of the controlling terminal; `None` without one.
    #[must_use]
    pub fn save() -> Option<Self> {
        let device = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
        let modes = tcgetattr(&device).ok()?;
        Some(Self { device, modes })
    }

    /// Sets the remembered modes and leaves everything a full-screen program
    /// may have left on.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn restore(&self) -> io::Result<()> {
        // Also from the background, where it would stop us.
        with_blocked(libc::SIGTTOU, || {
            tcsetattr(&self.device, OptionalActions::Now, &self.modes)?;
            (&self.device).write_all(RESET)
        })
    }

    /// Like [`restore`](Self::restore), but leaves the modes to the process that has the terminal now.
    fn reset(&self) -> io::Result<()> {
        with_blocked(libc::SIGTTOU, || (&self.device).write_all(RESET))
    }

    /// Whether nobody is at the other end any more.
    fn is_hung_up(&self) -> bool {
        // A read ends before the kernel signals the hang-up, and a poll knows just as early.
        let mut device = [PollFd::new(&self.device, PollFlags::empty())];
        let _ = poll(&mut device, Some(&Timespec::default()));
        device[0].revents().contains(PollFlags::HUP)
    }

    /// Whether our process group is the one the terminal talks to.
    #[must_use]
    pub fn is_foreground(&self) -> bool {
        group::in_foreground(&self.device)
    }
}

/// The terminal of our job, as the guard remembers it.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(crate) struct Owner {
    terminal: Terminal,
    group: i32,
}

#[cfg(target_os = "linux")]
impl Owner {
    /// `None` if our group is not in the foreground.
    pub(crate) fn find() -> Option<Self> {
        let terminal = Terminal::save()?;
        let group = group::own();
        terminal.is_foreground().then_some(Self { terminal, group })
    }

    /// Gives the terminal back to our job if a step that is gone still has
    /// it; after a crash its modes too.
    pub(crate) fn restore(&self, crashed: bool) {
        let device = &self.terminal.device;
        let holder = group::foreground(device);
        let held = holder.is_some_and(|group| group == self.group || group_exists(group));
        if let (false, Some(group)) = (held, Pid::from_raw(self.group)) {
            let _ = with_blocked(libc::SIGTTOU, || tcsetpgrp(device, group));
        }
        if crashed && group::foreground(device) == Some(self.group) {
            let _ = self.terminal.restore();
        }
    }
}

fn group_exists(group: i32) -> bool {
    // One that has no number here is not ours to judge.
    Pid::from_raw(group)
        .is_none_or(|group| rustix::process::test_kill_process_group(group) != Err(Errno::SRCH))
}

/// A terminal on loan to a child's process group.
#[derive(Debug)]
pub(crate) struct Handover {
    terminal: Terminal,
    /// The child's modes while it is stopped.
    theirs: Option<Termios>,
    /// The child's group, 0 before it has one.
    group: i32,
    /// Whether the child has it now. A job in the background never gets it,
    /// and must not take it from the shell afterwards.
    held: bool,
}

impl Handover {
    pub(crate) fn prepare() -> Option<Self> {
        Some(Self { terminal: Terminal::save()?, theirs: None, group: 0, held: false })
    }

    /// What the child takes before it is the new program, so that not even its
    /// first instruction runs in the background; nothing if we are there ourselves.
    pub(crate) fn lend(&mut self) -> Option<BorrowedFd<'_>> {
        self.held = self.terminal.is_foreground();
        self.held.then(|| self.terminal.device.as_fd())
    }

    /// Makes the child's group the foreground group, if ours is.
    pub(crate) fn give(&mut self, group: i32) {
        self.group = group;
        let Some(group) = Pid::from_raw(group) else {
            return;
        };
        let device = self.terminal.device.as_fd();
        if !self.terminal.is_foreground() {
            return;
        }
        let _ = with_blocked(libc::SIGTTOU, || -> io::Result<()> {
            if let Some(theirs) = &self.theirs {
                tcsetattr(device, OptionalActions::Now, theirs)?;
            }
            Ok(tcsetpgrp(device, group)?)
        });
        self.held = true;
        // It may have touched the terminal before it was allowed to, and been stopped.
        let _ = kill_process_group(group, Signal::CONT);
    }

    /// Whether nobody is at the other end any more.
    pub(crate) fn is_hung_up(&self) -> bool {
        self.terminal.is_hung_up()
    }

    /// Whether the terminal talks to this group.
    pub(crate) fn belongs_to(&self, group: i32) -> bool {
        group::foreground(&self.terminal.device) == Some(group)
    }

    /// The child was stopped: ours again, until [`give`](Self::give).
    pub(crate) fn interrupt(&mut self) {
        if !self.held {
            return;
        }
        self.theirs = tcgetattr(&self.terminal.device).ok();
        if !self.reclaim() {
            return;
        }
        let modes = &self.terminal.modes;
        let _ = with_blocked(libc::SIGTTOU, || {
            tcsetattr(&self.terminal.device, OptionalActions::Now, modes)
        });
    }

    /// The child has ended, in whatever way. False if the terminal is gone: the kernel tells
    /// the group that had it, which was the child's, and not ours.
    pub(crate) fn take_back(mut self) -> bool {
        let is_there = !self.terminal.is_hung_up();
        if self.held && is_there {
            // It may go any moment; then there is nothing left to clean.
            let _ = if self.reclaim() { self.terminal.restore() } else { self.terminal.reset() };
        }
        is_there
    }

    /// Makes our group the foreground group again, if the child's was. False
    /// if someone else has the terminal: a shell takes it as soon as its job
    /// is gone, and without a guard that is before we are.
    pub(crate) fn reclaim(&mut self) -> bool {
        let ours = group::own();
        let holder = group::foreground(&self.terminal.device);
        let taken =
            holder.is_some_and(|group| group != ours && group != self.group && group_exists(group));
        if let (true, false, Some(own)) =
            (std::mem::take(&mut self.held), taken, Pid::from_raw(ours))
        {
            let _ = with_blocked(libc::SIGTTOU, || tcsetpgrp(&self.terminal.device, own));
        }
        !taken
    }
}
