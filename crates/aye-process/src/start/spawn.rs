//! Starting a child: its slot, its descriptors, its environment, its terminal.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Instant;

use super::environment::Environment;
use super::error::SpawnError;
use super::launch::{Launch, Step};
use super::resolve::{check_directory, locate, refused, unprepared};
use super::spec::{Sink, Spec, Stdin};
use crate::guard;
use crate::output::capture::{Capture, Log};
use crate::output::log::Writer;
use crate::output::stream::Stream;
use crate::running::child::{Feed, Running};
use crate::system::reap;
use crate::terminal::handover::Handover;
use crate::terminal::pty;
use crate::tree::slots::{Slot, TOKEN_VARIABLE};
use crate::tree::survivors::RUN_VARIABLE;

/// Starts a child.
///
/// # Errors
/// See [`SpawnError`]; nothing is left behind then.
pub fn spawn(spec: Spec) -> Result<Running, SpawnError> {
    let name = || spec.program.to_string_lossy().into_owned();
    let slot = Slot::reserve(spec.aside)
        .map_err(|limit| SpawnError::TooMany { program: name(), limit })?;
    let program = locate(&spec)?;
    let unprepared = |source| unprepared(&spec, source);

    reap::require_children();
    reap::adopt_orphans();
    guard::settle();
    let mut terminal = if spec.interactive {
        Some(Handover::prepare().ok_or_else(|| SpawnError::NoTerminal { program: name() })?)
    } else {
        None
    };
    let (ours, theirs) = ends(&spec).map_err(unprepared)?;
    let environment = environment(&spec, Some(&slot.token_value())).map_err(unprepared)?;

    let started = Instant::now();
    let launch = Launch {
        program: &program,
        name: &spec.program,
        args: &spec.args,
        environment,
        cwd: spec.cwd.as_deref(),
        files: theirs.each_ref().map(|end| end.as_ref().map(End::as_fd)),
        limits: spec.limits,
        terminal: terminal.as_mut().and_then(Handover::lend),
        session: !spec.interactive,
    };
    let process = match launch.start() {
        Ok(process) => process,
        Err((step, source)) => {
            if let Some(terminal) = &mut terminal {
                terminal.reclaim();
                if terminal.is_hung_up() {
                    return Err(SpawnError::HungUp { program: name() });
                }
            }
            return Err(not_started(&spec, program, step, source));
        }
    };
    slot.set_leader(process.pid);

    let handle = process.handle.or_else(|| handle(process.pid));
    let mut running = Running::new(process.pid, handle, slot, started);
    // From here on dropping `running` kills the child.
    let deadline = spec.deadline.map(|deadline| deadline.saturating_duration_since(started));
    running.limit = match (spec.timeout, deadline) {
        (Some(one), Some(two)) => Some(one.min(two)),
        (one, two) => one.or(two),
    };
    running.grace = spec.grace;
    running.linger = spec.linger;
    running.live = spec.live;
    connect(&mut running, ours, theirs, spec)
        .map_err(|(program, source)| SpawnError::Failed { program, source })?;
    if let Some(mut terminal) = terminal {
        terminal.give(process.pid);
        running.terminal = Some(terminal);
    }
    Ok(running)
}

/// What the child is given; `token` names the step that it is.
pub(crate) fn environment(spec: &Spec, token: Option<&str>) -> io::Result<Environment> {
    let mut changes: Vec<(&OsStr, Option<&OsStr>)> =
        spec.env.iter().map(|(name, value)| (name.as_os_str(), value.as_deref())).collect();
    let own = [(TOKEN_VARIABLE, token), (RUN_VARIABLE, spec.run.as_deref())];
    let own = own.into_iter().filter(|(_, value)| value.is_some());
    changes.extend(own.map(|(name, value)| (OsStr::new(name), value.map(OsStr::new))));
    Environment::changed(&changes)
}

/// Why a launch failed, in terms of what was asked for.
pub(crate) fn not_started(
    spec: &Spec,
    program: PathBuf,
    step: Step,
    source: io::Error,
) -> SpawnError {
    match (step, &spec.cwd) {
        (Step::Execute, _) => refused(spec, program, source),
        (Step::Directory, Some(cwd)) => {
            check_directory(cwd).err().unwrap_or_else(|| SpawnError::WorkingDirectory {
                path: cwd.clone(),
                problem: format!("cannot be used: {source}"),
            })
        }
        (Step::Directory | Step::Prepare, _) => unprepared(spec, source),
    }
}

/// The child's end of one of its descriptors.
enum End {
    /// Nothing to read, and nobody who reads.
    Null(&'static File),
    Pipe(OwnedFd),
    Terminal(OwnedFd),
}

impl End {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Null(file) => file.as_fd(),
            Self::Pipe(fd) | Self::Terminal(fd) => fd.as_fd(),
        }
    }
}

/// Our ends of the child's descriptors 0, 1 and 2, and its own; only an
/// interactive one has none, and gets ours.
type Ends = ([Option<OwnedFd>; 3], [Option<End>; 3]);

fn ends(spec: &Spec) -> io::Result<Ends> {
    let mut ours = [None, None, None];
    let mut theirs = [None, None, None];
    if spec.interactive {
        return Ok((ours, theirs));
    }
    match &spec.stdin {
        Stdin::Bytes(bytes) if !bytes.is_empty() => {
            let (read, write) = pipe()?;
            theirs[0] = Some(End::Pipe(read));
            ours[0] = Some(write);
        }
        Stdin::Empty | Stdin::Bytes(_) => theirs[0] = Some(End::Null(null()?)),
    }
    if spec.tty {
        let pair = pty::open()?;
        theirs[1] = Some(End::Terminal(high(pair.slave.try_clone()?)?));
        theirs[2] = Some(End::Terminal(high(pair.slave)?));
        ours[1] = Some(pair.master);
        return Ok((ours, theirs));
    }
    for (at, sink) in [(1, spec.stdout), (2, spec.stderr)] {
        match sink {
            Sink::Discard => theirs[at] = Some(End::Null(null()?)),
            Sink::Capture => {
                let (read, write) = pipe()?;
                theirs[at] = Some(End::Pipe(write));
                ours[at] = Some(read);
            }
        }
    }
    Ok((ours, theirs))
}

pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = io::pipe()?;
    Ok((high(read.into())?, high(write.into())?))
}

/// A descriptor that is none of those that the child exchanges. Only a
/// process that was started without 0, 1 or 2 ever has another one.
fn high(fd: OwnedFd) -> io::Result<OwnedFd> {
    match fd.as_raw_fd() {
        0..3 => Ok(rustix::io::fcntl_dupfd_cloexec(&fd, 3)?),
        _ => Ok(fd),
    }
}

/// Opened once, for all children.
fn null() -> io::Result<&'static File> {
    static NULL: OnceLock<File> = OnceLock::new();
    if let Some(file) = NULL.get() {
        return Ok(file);
    }
    let file = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    let file = File::from(high(file.into())?);
    Ok(NULL.get_or_init(|| file))
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
    ours: [Option<OwnedFd>; 3],
    theirs: [Option<End>; 3],
    spec: Spec,
) -> Result<(), (String, io::Error)> {
    let failed = |source| (spec.program.to_string_lossy().into_owned(), source);
    let logged = spec.log.is_some();
    let [input, out, err] = ours;
    let [_, their_out, their_err] = theirs;
    if spec.tty
        && let Some(master) = &out
    {
        running.pty = Some(master.try_clone().map_err(failed)?);
    }
    let outputs = [(Stream::Stdout, out, their_out), (Stream::Stderr, err, their_err)];
    for (stream, pipe, their_end) in outputs {
        if let Some(pipe) = pipe {
            let held = match their_end {
                Some(End::Pipe(end)) => Some(end),
                Some(End::Null(_) | End::Terminal(_)) | None => None,
            };
            let capture = Capture::new(stream, pipe, held, logged, spec.tail_limit, &spec.masks);
            running.streams[stream.index()] = Some(capture.map_err(failed)?);
        }
    }
    if let (Some(pipe), Stdin::Bytes(bytes)) = (input, spec.stdin) {
        rustix::io::ioctl_fionbio(&pipe, true).map_err(|source| (String::new(), source.into()))?;
        running.feed = Some(Feed { pipe, bytes, written: 0 });
        running.feed();
    }
    running.log = Log { writer: spec.log.map(|base| Writer::new(base, spec.digest)), error: None };
    Ok(())
}
