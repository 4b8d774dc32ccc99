//! A pseudo-terminal with a program in it, as a terminal window has.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, tcgetattr};

use crate::helper::LONG;

pub(crate) struct Pseudo {
    master: File,
    child: Child,
    /// Keeps the line alive between programs.
    slave: OwnedFd,
    pub(crate) seen: String,
    /// How much of `seen` was waited for already.
    used: usize,
}

impl Pseudo {
    pub(crate) fn start(mut command: Command) -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("pty");
        grantpt(&master).expect("grant");
        unlockpt(&master).expect("unlock");
        let name = ptsname(&master, Vec::new()).expect("name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(name, flags, Mode::empty()).expect("slave");
        let copy = || slave.try_clone().expect("copy");
        // `/dev/tty` must be usable after the user was changed.
        let _ = rustix::fs::fchmod(&slave, Mode::from_raw_mode(0o666));
        command.stdin(copy()).stdout(copy()).stderr(copy()).env("TERM", "xterm");
        // SAFETY: async-signal-safe calls.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                libc::ioctl(0, libc::TIOCSCTTY, 0);
                Ok(())
            });
        }
        let child = command.spawn().expect("started");
        drop(command);
        Self { master: File::from(master), child, slave, seen: String::new(), used: 0 }
    }

    pub(crate) fn send(&mut self, keys: &[u8]) {
        self.master.write_all(keys).expect("typed");
    }

    /// Waits until the screen shows `text`, after what was waited for before.
    pub(crate) fn until(&mut self, text: &str) {
        let give_up = Instant::now() + LONG;
        loop {
            if let Some(at) = self.seen[self.used..].find(text) {
                self.used += at + text.len();
                return;
            }
            assert!(Instant::now() < give_up, "`{text}` did not appear in {:?}", &self.seen);
            self.read_for(Duration::from_millis(100));
        }
    }

    fn read_for(&mut self, time: Duration) {
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(time.subsec_nanos()) };
        let mut asked = [PollFd::from_borrowed_fd(self.master.as_fd(), PollFlags::IN)];
        if poll(&mut asked, Some(&timeout)).unwrap_or(0) == 0 {
            return;
        }
        let mut buffer = [0; 4096];
        if let Ok(read) = self.master.read(&mut buffer) {
            self.seen.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    }

    /// The modes of the terminal now.
    pub(crate) fn modes(&self) -> Termios {
        tcgetattr(&self.slave).expect("modes")
    }

    /// The group the terminal talks to.
    pub(crate) fn foreground(&self) -> i32 {
        rustix::termios::tcgetpgrp(&self.master).map_or(0, |group| group.as_raw_nonzero().get())
    }

    /// Closes the window.
    pub(crate) fn hang_up(mut self) {
        // Dropping it would kill what the kernel is to tell.
        let (gone, _) = std::os::unix::net::UnixStream::pair().expect("a pair");
        self.master = File::from(OwnedFd::from(gone));
        self.child.wait().expect("it ends");
    }

    /// Waits for the end; the exit code, negative for a signal.
    pub(crate) fn end(&mut self) -> i32 {
        let give_up = Instant::now() + LONG;
        loop {
            if let Some(status) = self.child.try_wait().expect("wait") {
                self.read_for(Duration::ZERO);
                return status.code().unwrap_or_else(|| -status.signal().unwrap_or(0));
            }
            assert!(Instant::now() < give_up, "no end; seen {:?}", &self.seen);
            self.read_for(Duration::from_millis(10));
        }
    }
}

impl Drop for Pseudo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
