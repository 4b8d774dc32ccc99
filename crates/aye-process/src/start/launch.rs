//! Making a process of a program: `vfork`, a few system calls, `execve`.
//!
//! The child borrows our memory until its `execve`, as in `posix_spawn`, so
//! the cost does not grow with our own size. The standard library offers this
//! only without anything to do in between, and then with a look at every
//! signal there is, an own stack for each child and a copy of the environment;
//! here limits and the terminal come at no price, and the kernel hands out the
//! handle of the child together with its number.

use std::ffi::{CString, OsStr, OsString, c_char, c_int};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::environment::Environment;
use super::inherited;
use super::spec::Limits;
use crate::system::core_dumps;
use crate::system::dispositions::{HANDLED, Set, errno};

/// A program with everything its process is to have.
pub(crate) struct Launch<'a> {
    pub(crate) program: &'a Path,
    /// The name that it sees as its own (`argv[0]`).
    pub(crate) name: &'a OsStr,
    pub(crate) args: &'a [OsString],
    pub(crate) environment: Environment,
    pub(crate) cwd: Option<&'a Path>,
    /// Its descriptors 0, 1 and 2; `None` is our own. None of them is below 3.
    pub(crate) files: [Option<BorrowedFd<'a>>; 3],
    pub(crate) limits: Limits,
    /// The terminal that its group is to have.
    pub(crate) terminal: Option<BorrowedFd<'a>>,
    /// A session of its own, and none of the terminals that were left open for
    /// us: the terminal that we talk to cannot be reached from there.
    pub(crate) session: bool,
}

/// A process that is its program now.
pub(crate) struct Started {
    pub(crate) pid: i32,
    pub(crate) handle: Option<OwnedFd>,
}

/// What could not be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Prepare,
    Directory,
    Execute,
}

/// What the child works with: it must not allocate.
struct Job {
    program: *const c_char,
    argv: *const *const c_char,
    environment: *const *const c_char,
    cwd: *const c_char,
    files: [c_int; 3],
    limits: Limits,
    /// The limit for core dumps that we were started with.
    core: Option<libc::rlimit>,
    terminal: c_int,
    session: bool,
    /// Descriptors that end with the `execve`.
    closed: &'static [c_int],
    /// Written by the child if it fails.
    failure: Option<(Step, i32)>,
}

impl Launch<'_> {
    /// Starts it as the leader of a process group, with an empty signal mask and
    /// no handlers, in its directory and with its limits.
    pub(crate) fn start(self) -> Result<Started, (Step, io::Error)> {
        let prepare = |error: std::ffi::NulError| (Step::Prepare, io::Error::from(error));
        let text = |text: &OsStr| CString::new(text.as_bytes()).map_err(prepare);
        let program = text(self.program.as_os_str())?;
        let cwd = self.cwd.map(|cwd| text(cwd.as_os_str())).transpose()?;
        let words: Vec<CString> = std::iter::once(self.name)
            .chain(self.args.iter().map(OsString::as_os_str))
            .map(text)
            .collect::<Result<_, _>>()?;
        let argv: Vec<*const c_char> =
            words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect();
        let mut job = Job {
            program: program.as_ptr(),
            argv: argv.as_ptr(),
            environment: self.environment.as_ptr(),
            cwd: cwd.as_ref().map_or(std::ptr::null(), |cwd| cwd.as_ptr()),
            files: self.files.map(|file| file.map_or(-1, |file| file.as_raw_fd())),
            limits: self.limits,
            core: core_dumps::limit_before(),
            terminal: self.terminal.map_or(-1, |terminal| terminal.as_raw_fd()),
            session: self.session,
            closed: if self.session { inherited::terminals() } else { &[] },
            failure: None,
        };
        // No handler of ours may run in the child while it uses our memory.
        let before = Set::all().apply(libc::SIG_SETMASK);
        let started = system::start(&mut job);
        before.apply(libc::SIG_SETMASK);
        let started = started.map_err(|error| (Step::Prepare, error))?;
        match job.failure {
            None => Ok(started),
            Some((step, code)) => {
                let _ = crate::system::reap::wait(started.pid);
                Err((step, io::Error::from_raw_os_error(code)))
            }
        }
    }
}

/// The child's side; it returns only if something went wrong.
///
/// # Safety
/// All pointers of the job are valid, and all signals are blocked. What it
/// calls is async-signal-safe, allocates nothing and cannot panic.
unsafe fn become_program(job: &Job) -> (Step, i32) {
    // SAFETY: numbers and valid pointers, see above.
    unsafe {
        forget_handlers();
        let apart = if job.session { libc::setsid() } else { libc::setpgid(0, 0) };
        if apart < 0 {
            return (Step::Prepare, errno());
        }
        // Before the descriptors are exchanged: it is one of ours.
        if job.terminal >= 0 && libc::tcsetpgrp(job.terminal, libc::getpid()) != 0 {
            return (Step::Prepare, errno());
        }
        for &file in job.closed {
            libc::fcntl(file, libc::F_SETFD, libc::FD_CLOEXEC);
        }
        for (file, target) in job.files.into_iter().zip(0..) {
            if file >= 0 && libc::dup2(file, target) < 0 {
                return (Step::Prepare, errno());
            }
        }
        if let Some(limit) = job.core {
            core_dumps::restore(limit);
        }
        if let Err(code) = set_limits(job.limits) {
            return (Step::Prepare, code);
        }
        if !job.cwd.is_null() && libc::chdir(job.cwd) != 0 {
            return (Step::Directory, errno());
        }
        Set::of(&[]).apply(libc::SIG_SETMASK);
        libc::execve(job.program, job.argv, job.environment);
        (Step::Execute, errno())
    }
}

/// Handlers go with the `execve`; until then the memory is ours. What is
/// ignored stays so, except for the signal that Rust programs ignore on their own.
///
/// A Ctrl-Z that was meant for us may be waiting: a child that stopped now
/// would keep us standing still for ever. It is lost here; we got it as well,
/// or it can be typed again.
unsafe fn forget_handlers() {
    extern "C" fn nothing(_: c_int) {}
    // SAFETY: a zeroed `sigaction` is valid: the default action. The handler
    // does nothing.
    unsafe {
        let default: libc::sigaction = std::mem::zeroed();
        let mut lost = default;
        lost.sa_sigaction = nothing as *const () as usize;
        for number in HANDLED {
            let next = if number == libc::SIGTSTP { &lost } else { &default };
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(number, &raw const *next, &raw mut before);
            if before.sa_sigaction == libc::SIG_IGN {
                libc::sigaction(number, &raw const before, std::ptr::null_mut());
            }
        }
        libc::sigaction(libc::SIGPIPE, &raw const default, std::ptr::null_mut());
    }
}

/// They must hold from the first instruction on.
fn set_limits(limits: Limits) -> Result<(), i32> {
    let one = |resource, value: u64, most: u64| {
        let limit = libc::rlimit { rlim_cur: value, rlim_max: most };
        // SAFETY: the pointer is to a live local of the right type.
        match unsafe { libc::setrlimit(resource, &raw const limit) } {
            0 => Ok(()),
            _ => Err(errno()),
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
}

#[cfg(target_os = "linux")]
mod system {
    use std::ffi::{c_int, c_void};
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::{FromRawFd, OwnedFd};

    use super::{Job, Started, become_program};

    /// The child's stack, in ours: we stand still until it needs it no more.
    #[repr(align(16))]
    struct Stack([MaybeUninit<u8>; 32 * 1024]);

    extern "C" fn child(job: *mut c_void) -> c_int {
        // SAFETY: the parent waits with the job on its stack, and signals are blocked.
        unsafe {
            let job = &mut *job.cast::<Job>();
            job.failure = Some(become_program(job));
            libc::_exit(127)
        }
    }

    pub(super) fn start(job: &mut Job) -> io::Result<Started> {
        let mut stack = Stack([MaybeUninit::uninit(); 32 * 1024]);
        let mut handle: c_int = -1;
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
        // SAFETY: with `CLONE_VFORK` we stand still until the child has left
        // our memory; job, stack and handle live longer.
        let pid = unsafe {
            let top = stack.0.as_mut_ptr().add(stack.0.len());
            libc::clone(child, top.cast(), flags, (&raw mut *job).cast(), &raw mut handle)
        };
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just made it for us.
        let handle = (handle >= 0).then(|| unsafe { OwnedFd::from_raw_fd(handle) });
        Ok(Started { pid, handle })
    }
}

/// A plain `fork`; the failure comes through a pipe.
#[cfg(not(target_os = "linux"))]
mod system {
    use std::io::{self, Read};
    use std::os::fd::AsRawFd;

    use super::{Job, Started, Step, become_program};

    pub(super) fn start(job: &mut Job) -> io::Result<Started> {
        let (mut read, write) = io::pipe()?;
        // SAFETY: the child calls only what is async-signal-safe.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            // SAFETY: as above; the bytes are on the stack.
            unsafe {
                let (step, code) = become_program(job);
                let mut report = [0; 5];
                report[0] = step as u8;
                report[1..].copy_from_slice(&code.to_ne_bytes());
                libc::write(write.as_raw_fd(), report.as_ptr().cast(), report.len());
                libc::_exit(127)
            }
        }
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        drop(write);
        let mut report = [0; 5];
        if read.read_exact(&mut report).is_ok() {
            let step = [Step::Prepare, Step::Directory, Step::Execute]
                .into_iter()
                .find(|step| *step as u8 == report[0])
                .unwrap_or(Step::Prepare);
            let code = i32::from_ne_bytes([report[1], report[2], report[3], report[4]]);
            job.failure = Some((step, code));
        }
        Ok(Started { pid, handle: None })
    }
}
