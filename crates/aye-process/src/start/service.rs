//! A program that serves several steps: it is started once, talked to through
//! its pipes, and ended with the run.
//!
//! It takes no slot and belongs to no step: the scan for strays leaves it
//! alone. Like everything else it does not survive a runner that is killed.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::error::SpawnError;
use super::launch::{Launch, Started};
use super::resolve::{resolve, unprepared};
use super::spawn::{environment, handle as pid_handle, not_started, pipe};
use super::spec::{Limits, Spec};
use crate::running::exit::Status;
use crate::system::reap;
use crate::{guard, tree};

/// How long a killed service may take to be gone.
const KILL_TIME: Duration = Duration::from_secs(2);

/// A service that has been started. Dropping it kills it.
#[derive(Debug)]
pub struct Service {
    pid: i32,
    handle: Option<OwnedFd>,
    status: Option<Status>,
}

/// Our ends of a service's pipes. Closing its input is how it is asked to end.
#[derive(Debug)]
pub struct Pipes {
    /// To its standard input.
    pub stdin: OwnedFd,
    /// From its standard output.
    pub stdout: OwnedFd,
    /// From its standard error.
    pub stderr: OwnedFd,
}

/// Starts a service: program, arguments, directory, environment and run of
/// the [`Spec`] count, everything else does not.
///
/// # Errors
/// See [`SpawnError`]; nothing is left behind then.
pub fn serve(spec: &Spec) -> Result<(Service, Pipes), SpawnError> {
    let path = resolve(spec)?;
    reap::require_children();
    reap::adopt_orphans();
    guard::settle();
    let unprepared = |source| unprepared(spec, source);
    let (input, stdin) = pipe().map_err(unprepared)?;
    let (stdout, output) = pipe().map_err(unprepared)?;
    let (stderr, errors) = pipe().map_err(unprepared)?;
    let launch = Launch {
        program: &path,
        name: &spec.program,
        args: &spec.args,
        environment: environment(spec, None).map_err(unprepared)?,
        cwd: spec.cwd.as_deref(),
        files: [&input, &output, &errors].map(|end| Some(end.as_fd())),
        limits: Limits::default(),
        terminal: None,
        session: true,
    };
    let Started { pid, handle } = guard::spare_started(|| launch.start(), |started| started.pid)
        .map_err(|(step, source)| not_started(spec, path.clone(), step, source))?;
    let handle = handle.or_else(|| pid_handle(pid));
    Ok((Service { pid, handle, status: None }, Pipes { stdin, stdout, stderr }))
}

impl Service {
    /// The process id, which is also the id of its process group.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Readable when it has ended; `None` where the system has no such thing.
    #[must_use]
    pub fn handle(&self) -> Option<BorrowedFd<'_>> {
        self.handle.as_ref().map(AsFd::as_fd)
    }

    /// How it ended, `None` while it runs. What is left of its group when it
    /// has ended is killed.
    pub fn try_wait(&mut self) -> Option<Status> {
        if self.status.is_some() {
            return self.status;
        }
        let pid = Pid::from_raw(self.pid)?;
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(pid), look) {
            Ok(None) | Err(rustix::io::Errno::INTR) => return None,
            Ok(Some(_)) => {
                // Nobody has waited for it, so the number is still its own.
                let _ = kill_process_group(pid, Signal::KILL);
                let ended = reap::try_wait(self.pid);
                self.status = Some(ended.map_or(Status::Lost, |(raw, _)| Status::from_raw(raw)));
            }
            Err(_) => self.status = Some(Status::Lost),
        }
        guard::forget(self.pid);
        self.status
    }

    /// Asks all its processes to end: `SIGTERM`.
    pub fn terminate(&mut self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    /// Ends all its processes: `SIGKILL`.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
    }

    fn signal(&mut self, signal: Signal) {
        if self.try_wait().is_some() {
            return;
        }
        let elsewhere = tree::below(self.pid);
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = kill_process_group(pid, signal);
        }
        for member in elsewhere.iter().filter(|member| member.group != self.pid) {
            member.signal(signal);
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let give_up = Instant::now() + KILL_TIME;
        self.kill();
        while self.try_wait().is_none() && Instant::now() < give_up {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
