//! A person at a terminal: a real pseudo-terminal with the real program.

use std::io::{self, Read as _};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::cli::harness::{AYE, Place};

use super::vt::Vt;

/// Long enough for the slowest machine; nothing waits that long when it works.
const PATIENCE: Duration = Duration::from_secs(30);

/// A program on a terminal of its own.
pub(crate) struct Terminal {
    child: Child,
    master: OwnedFd,
    slave: OwnedFd,
    pub(super) vt: Vt,
    /// Everything the program wrote.
    pub(super) raw: Vec<u8>,
    before: Termios,
}

impl Terminal {
    /// `aye` with these arguments on a terminal of the usual size.
    pub(crate) fn aye(place: &Place, args: &[&str]) -> Self {
        Self::sized(place, args, 80, 24)
    }

    pub(super) fn sized(place: &Place, args: &[&str], columns: u16, rows: u16) -> Self {
        Self::run(place, AYE, args, columns, rows, &[], true)
    }

    pub(crate) fn with(place: &Place, args: &[&str], env: &[(&str, &str)]) -> Self {
        Self::run(place, AYE, args, 80, 24, env, true)
    }

    /// The same without `TERM`.
    pub(super) fn without_term(place: &Place, args: &[&str]) -> Self {
        let args = [&["-u", "TERM", AYE][..], args].concat();
        Self::run(place, "env", &args, 80, 24, &[], true)
    }

    /// The same with standard output captured elsewhere, as in `$(…)`.
    pub(super) fn captured(place: &Place, args: &[&str]) -> Self {
        Self::run(place, AYE, args, 80, 24, &[], false)
    }

    /// A shell with job control.
    pub(super) fn shell(place: &Place) -> Self {
        let env = [("PS1", "$ "), ("AYE", AYE), ("HISTFILE", "/dev/null")];
        let args = ["--norc", "--noediting", "-i"];
        let mut shell = Self::run(place, "bash", &args, 80, 24, &env, true);
        shell.wait_for("$");
        shell
    }

    /// A shell to edit lines in, with `aye` on its path.
    pub(super) fn editing(place: &Place) -> Self {
        let directory = std::path::Path::new(AYE).parent().unwrap();
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", directory.display());
        let env = [("PS1", "$ "), ("PATH", path.as_str()), ("HISTFILE", "/dev/null")];
        let mut shell = Self::run(place, "bash", &["--norc", "-i"], 80, 24, &env, true);
        shell.wait_for("$");
        shell
    }

    /// A shell that tells its jobs nothing when its window is closed.
    pub(super) fn dash(place: &Place) -> Self {
        let env = [("PS1", "$ "), ("AYE", AYE)];
        let mut shell = Self::run(place, "dash", &["-i"], 80, 24, &env, true);
        shell.wait_for("$");
        shell
    }

    fn run(
        place: &Place,
        program: &str,
        args: &[&str],
        columns: u16,
        rows: u16,
        env: &[(&str, &str)],
        stdout: bool,
    ) -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(name, flags, Mode::empty()).unwrap();
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let before = tcgetattr(&slave).unwrap();
        // `setsid --ctty` makes standard input the controlling terminal.
        let aye = place.command(&[]);
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(program).args(args);
        command.current_dir(aye.get_current_dir().unwrap()).env_clear();
        for (name, value) in aye.get_envs() {
            command.env(name, value.unwrap());
        }
        command.env("TERM", "xterm-256color").envs(env.iter().copied());
        let end = || Stdio::from(slave.try_clone().unwrap());
        command.stdin(end()).stderr(end());
        command.stdout(if stdout { end() } else { Stdio::piped() });
        let child = command.spawn().unwrap();
        let vt = Vt::new(usize::from(columns), usize::from(rows));
        Self { child, master, slave, vt, raw: Vec::new(), before }
    }

    /// Types.
    pub(crate) fn keys(&mut self, text: &str) -> &mut Self {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let count = rustix::io::write(&self.master, rest).unwrap();
            rest = &rest[count..];
        }
        self
    }

    /// Reads until the screen shows a text.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) -> &mut Self {
        self.wait(&format!("`{text}`"), |vt| vt.all().contains(text))
    }

    /// Reads until the screen shows it no more.
    #[track_caller]
    pub(super) fn wait_gone(&mut self, text: &str) -> &mut Self {
        self.wait(&format!("no `{text}`"), |vt| !vt.screen().contains(text))
    }

    #[track_caller]
    pub(super) fn wait(&mut self, what: &str, done: impl Fn(&Vt) -> bool) -> &mut Self {
        let give_up = Instant::now() + PATIENCE;
        // A picture is looked at when it is whole.
        while self.vt.drawing || !done(&self.vt) {
            assert!(Instant::now() < give_up, "waited for {what} in:\n{}", self.vt.all());
            if !self.read(Duration::from_millis(200)) && self.child.try_wait().unwrap().is_some() {
                assert!(done(&self.vt), "ended before {what}:\n{}", self.vt.all());
            }
        }
        self
    }

    /// Reads what comes within a time; says whether anything came.
    pub(super) fn read(&mut self, limit: Duration) -> bool {
        let limit = Timespec::try_from(limit).unwrap();
        let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
        if poll(&mut fds, Some(&limit)).unwrap_or(0) == 0 {
            return false;
        }
        let mut buffer = [0; 4096];
        let count = rustix::io::read(&self.master, &mut buffer).unwrap_or(0);
        self.vt.write(&buffer[..count]);
        self.raw.extend_from_slice(&buffer[..count]);
        count > 0
    }

    /// Changes the window.
    pub(super) fn resize(&mut self, columns: u16, rows: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.master, size).unwrap();
        self.vt = Vt::new(usize::from(columns), usize::from(rows));
    }

    /// The process.
    pub(super) fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }

    /// Everything it has shown.
    pub(crate) fn shown(&self) -> String {
        self.vt.all()
    }

    /// Waits for the end; everything that was written is read.
    #[track_caller]
    pub(crate) fn end(&mut self) -> Option<i32> {
        let give_up = Instant::now() + PATIENCE;
        let status = loop {
            self.read(Duration::from_millis(20));
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < give_up, "still running:\n{}", self.vt.all());
        };
        while self.read(Duration::from_millis(0)) {}
        status.code()
    }

    /// What went to the captured standard output.
    pub(super) fn stdout(&mut self) -> String {
        let mut text = String::new();
        let mut pipe = self.child.stdout.take().unwrap();
        pipe.read_to_string(&mut text).unwrap();
        text
    }

    /// The terminal is as it was found, and nothing waits to be read.
    #[track_caller]
    pub(super) fn assert_clean(&self) {
        let after = tcgetattr(&self.slave).unwrap();
        assert_eq!(after.local_modes, self.before.local_modes);
        assert_eq!(after.input_modes, self.before.input_modes);
        assert_eq!(after.output_modes, self.before.output_modes);
        let codes = |modes: &Termios| format!("{:?}", modes.special_codes);
        assert_eq!(codes(&after), codes(&self.before));
        assert!(!self.vt.paste, "bracketed paste is still on");
        assert_eq!(rustix::io::ioctl_fionread(self.slave.as_fd()).unwrap(), 0, "input is left");
    }

    /// Whether keys are echoed by the terminal right now.
    pub(super) fn echoes(&self) -> bool {
        tcgetattr(&self.slave).unwrap().local_modes.contains(rustix::termios::LocalModes::ECHO)
    }

    /// The window is closed.
    pub(super) fn hang_up(self) -> io::Result<Option<i32>> {
        let Self { mut child, master, slave, .. } = self;
        drop(slave);
        drop(master);
        Ok(child.wait()?.code())
    }
}

/// Answers a question whose text has to be typed, on a terminal, after these
/// keys; the run, which nobody drives, continues there or not.
pub(crate) fn type_to_confirm(
    place: &Place,
    question: &str,
    keys: Option<&str>,
    text: &str,
    go_on: bool,
) {
    let mut terminal = Terminal::aye(place, &["answer", question]);
    if let Some(keys) = keys {
        terminal.wait_for("Step failed").keys(keys);
    }
    // "To agree, type …", or "For Retry, type …" where a failed step asks.
    let asks = format!(", type {text}");
    terminal.wait_for(&asks).keys(text).wait_for(&format!("❯ {text}")).keys("\r");
    terminal.wait_for("Resume it here?").keys(if go_on { "y" } else { "n" });
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
}
