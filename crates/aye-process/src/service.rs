//! A program that serves several steps: it is started once, talked to through
//! its pipes, and ended with the run.
//!
//! It takes no slot and belongs to no step: the scan for strays leaves it
//! alone. Like everything else it does not survive a runner that is killed.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::error::SpawnError;
use crate::exit::Status;
use crate::resolve::{refused, resolve};
use crate::spawn::handle;
use crate::spec::Spec;
use crate::survivors::RUN_VARIABLE;
use crate::{guard, reap, tree};

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
    tree::adopt_orphans();
    guard::settle();
    let mut command = plain_command(spec, path.clone());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = guard::spare_started(|| {
        let child = command.spawn()?;
        let pid = i32::try_from(child.id()).unwrap_or(i32::MAX);
        Ok((child, pid))
    })
    .map_err(|source| refused(spec, path, source))?;
    let pid = i32::try_from(child.id()).unwrap_or(i32::MAX);
    // From here on dropping it kills the child.
    let service = Service { pid, handle: handle(pid), status: None };
    match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
        (Some(stdin), Some(stdout), Some(stderr)) => {
            let pipes = Pipes { stdin: stdin.into(), stdout: stdout.into(), stderr: stderr.into() };
            Ok((service, pipes))
        }
        _ => Err(SpawnError::Failed {
            program: spec.program.to_string_lossy().into_owned(),
            source: io::Error::other("it has no pipes"),
        }),
    }
}

/// Program, arguments, directory, environment and run; no descriptors yet.
fn plain_command(spec: &Spec, path: PathBuf) -> Command {
    let mut command = Command::new(path);
    command.arg0(&spec.program).args(&spec.args).process_group(0);
    if let Some(cwd) = &spec.cwd {
        command.current_dir(cwd);
    }
    for (name, value) in &spec.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(run) = &spec.run {
        command.env(RUN_VARIABLE, run);
    }
    command
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
