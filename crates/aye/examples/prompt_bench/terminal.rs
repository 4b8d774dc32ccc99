//! A program on a pseudo-terminal, and when it painted what.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// What was written so far.
#[derive(Debug, Default)]
struct Seen {
    bytes: u64,
    /// When the first line of a prompt came.
    paints: Vec<Timestamp>,
}

/// A program on a terminal; it is ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Terminal {
    child: Child,
    seen: Arc<Mutex<Seen>>,
}

impl Terminal {
    pub(crate) fn start(
        program: &Path,
        args: &[&str],
        directory: &Path,
        home: &Path,
    ) -> io::Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(name, flags, Mode::empty())?;
        tcsetwinsize(&master, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 })?;
        let child = Command::new("setsid")
            .arg("--ctty")
            .arg(program)
            .args(args)
            .current_dir(directory)
            .env("AYE_HOME", home)
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8")
            .env_remove("CI")
            .stdin(Stdio::from(slave.try_clone()?))
            .stdout(Stdio::from(slave.try_clone()?))
            .stderr(Stdio::from(slave))
            .spawn()?;
        let seen = Arc::new(Mutex::new(Seen::default()));
        let into = Arc::clone(&seen);
        std::thread::spawn(move || watch(&master, &into));
        Ok(Self { child, seen })
    }

    pub(crate) fn paints(&self) -> Vec<Timestamp> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).paints.clone()
    }

    pub(crate) fn written(&self) -> u64 {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn watch(master: &OwnedFd, seen: &Mutex<Seen>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = rustix::io::read(master, &mut buffer) {
        let now = Timestamp::now();
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.bytes += count as u64;
        if buffer[..count].windows(3).any(|three| three == "╭".as_bytes()) {
            seen.paints.push(now);
        }
    }
}
