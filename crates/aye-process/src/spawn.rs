//! Starting a child.
//!
//! The normal path is `std::process::Command` without `pre_exec`, which is
//! `posix_spawn` and so `vfork`: its cost does not grow with our own size. The
//! child gets its own process group, an empty signal mask, the default
//! `SIGPIPE`, and no descriptor of ours but 0, 1 and 2. Only
//! resource limits and interactive steps need the slower `fork`.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use crate::capture::{Capture, Log};
use crate::dispositions::with_nothing_blocked;
use crate::error::SpawnError;
use crate::log::Writer;
use crate::resolve::{refused, resolve};
use crate::running::{Feed, Running};
use crate::slots::Slot;
use crate::spec::{Limits, Sink, Spec, Stdin, Stream};
use crate::survivors::RUN_VARIABLE;
use crate::terminal::Handover;
use crate::{guard, pty, reap, tree, vfork};

/// Starts a child.
///
/// # Errors
/// See [`SpawnError`]; nothing is left behind then.
pub fn spawn(spec: Spec) -> Result<Running, SpawnError> {
    let name = || spec.program.to_string_lossy().into_owned();
    let slot = Slot::reserve().map_err(|limit| SpawnError::TooMany { program: name(), limit })?;
    let path = resolve(&spec)?;
    let failed = |source| SpawnError::Failed { program: name(), source };

    reap::require_children();
    tree::adopt_orphans();
    guard::settle();
    vfork::keep();
    let mut command = command(&spec, path.clone(), &slot);
    let mut terminal = if spec.interactive {
        let mut handover =
            Handover::prepare().ok_or_else(|| SpawnError::NoTerminal { program: name() })?;
        handover.arrange(&mut command).map_err(failed)?;
        Some(handover)
    } else {
        None
    };
    let pty = if spec.tty && !spec.interactive {
        let pair = pty::open().map_err(failed)?;
        command.stdout(pair.slave.try_clone().map_err(failed)?);
        command.stderr(pair.slave);
        Some(pair.master)
    } else {
        None
    };

    let started = Instant::now();
    let mut child = with_nothing_blocked(|| command.spawn()).map_err(|source| {
        if let Some(terminal) = &mut terminal {
            terminal.reclaim();
        }
        refused(&spec, path, source)
    })?;
    // It still holds our copy of the pseudo-terminal's other end.
    drop(command);
    let pid = i32::try_from(child.id()).unwrap_or(i32::MAX);
    slot.set_leader(pid);

    let mut running = Running::new(pid, handle(pid), slot, started);
    // From here on dropping `running` kills the child.
    let deadline = spec.deadline.map(|deadline| deadline.saturating_duration_since(started));
    running.limit = match (spec.timeout, deadline) {
        (Some(one), Some(two)) => Some(one.min(two)),
        (one, two) => one.or(two),
    };
    running.grace = spec.grace;
    running.linger = spec.linger;
    running.live = spec.live;
    connect(&mut running, &mut child, pty, spec)
        .map_err(|(program, source)| SpawnError::Failed { program, source })?;
    if let Some(mut terminal) = terminal {
        terminal.give(pid);
        running.terminal = Some(terminal);
    }
    Ok(running)
}

/// Program, arguments, directory, environment and run; no descriptors yet.
pub(crate) fn plain_command(spec: &Spec, path: PathBuf) -> Command {
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

fn command(spec: &Spec, path: PathBuf, slot: &Slot) -> Command {
    let mut command = plain_command(spec, path);
    command.env(tree::TOKEN_VARIABLE, tree::token_value(slot.token()));
    if spec.interactive {
        command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    } else {
        command.stdin(match &spec.stdin {
            Stdin::Empty => Stdio::null(),
            Stdin::Bytes(bytes) if bytes.is_empty() => Stdio::null(),
            Stdin::Bytes(_) => Stdio::piped(),
            Stdin::Inherit => Stdio::inherit(),
        });
        command.stdout(stdio(spec.stdout)).stderr(stdio(spec.stderr));
    }
    set_limits(&mut command, spec.limits);
    command
}

fn stdio(sink: Sink) -> Stdio {
    match sink {
        Sink::Capture => Stdio::piped(),
        Sink::Inherit => Stdio::inherit(),
        Sink::Discard => Stdio::null(),
    }
}

/// Limits must hold from the first instruction on, so they are set between
/// `fork` and `exec`.
fn set_limits(command: &mut Command, limits: Limits) {
    if limits.is_empty() {
        return;
    }
    let set = move || -> io::Result<()> {
        let one = |resource, value: u64, most: u64| {
            let limit = libc::rlimit { rlim_cur: value, rlim_max: most };
            // SAFETY: the pointer is to a live local of the right type.
            match unsafe { libc::setrlimit(resource, &raw const limit) } {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        };
        if let Some(bytes) = limits.memory {
            one(libc::RLIMIT_DATA, bytes, bytes)?;
        }
        if let Some(seconds) = limits.cpu_seconds {
            // First a signal that says why, a second later one that cannot be refused.
            one(libc::RLIMIT_CPU, seconds, seconds.saturating_add(1))?;
        }
        Ok(())
    };
    // SAFETY: the closure makes only async-signal-safe calls and allocates nothing.
    unsafe {
        command.pre_exec(set);
    }
}

#[cfg(target_os = "linux")]
pub(crate) fn handle(pid: i32) -> Option<OwnedFd> {
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    // Nobody has waited for it, so the number is certainly the child's.
    pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn handle(_: i32) -> Option<OwnedFd> {
    None
}

/// Connects our ends of the pipes.
fn connect(
    running: &mut Running,
    child: &mut Child,
    pty: Option<OwnedFd>,
    spec: Spec,
) -> Result<(), (String, io::Error)> {
    let logged = spec.log.is_some();
    let capture = |stream, pipe| {
        Capture::new(stream, pipe, logged, spec.tail_limit, &spec.masks)
            .map_err(|source| (spec.program.to_string_lossy().into_owned(), source))
    };
    if let Some(master) = pty {
        let copy = master
            .try_clone()
            .map_err(|source| (spec.program.to_string_lossy().into_owned(), source))?;
        running.streams[0] = Some(capture(Stream::Stdout, master)?);
        running.pty = Some(copy);
    } else {
        if let Some(pipe) = child.stdout.take() {
            running.streams[0] = Some(capture(Stream::Stdout, pipe.into())?);
        }
        if let Some(pipe) = child.stderr.take() {
            running.streams[1] = Some(capture(Stream::Stderr, pipe.into())?);
        }
    }
    if let (Some(pipe), Stdin::Bytes(bytes)) = (child.stdin.take(), spec.stdin) {
        let pipe = OwnedFd::from(pipe);
        rustix::io::ioctl_fionbio(&pipe, true).map_err(|source| (String::new(), source.into()))?;
        running.feed = Some(Feed { pipe, bytes, written: 0 });
        running.feed();
    }
    running.log = Log { writer: spec.log.map(Writer::new), error: None };
    Ok(())
}
