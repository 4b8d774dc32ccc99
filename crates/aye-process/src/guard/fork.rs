//! The fork into guard and engine, and the life of the guard. Linux only.

use std::io;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, getpid, getppid, pidfd_open, setpgid};

use super::engine::{GUARD, GUARD_NAME, LOST, WATCH, pid};
use crate::system::dispositions::{Disposition, Set, with_blocked};
use crate::system::{group, procfs, reap};
use crate::terminal::handover::Owner;

/// How long the guard tries to kill what does not obey even `SIGKILL`.
const KILL_TIME: Duration = Duration::from_secs(5);

/// What the guard hands on to the engine. Signals for the whole foreground
/// group reach the engine directly; these are for those who know only our pid.
const FORWARDED: [i32; 9] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGTSTP,
    libc::SIGWINCH,
    libc::SIGALRM,
];

pub(super) fn start() -> io::Result<()> {
    reap::require_children();
    reap::adopt_orphans();
    let guard = getpid();
    let mut watched = FORWARDED.to_vec();
    watched.push(libc::SIGCHLD);
    // Before the fork, so that no signal is lost between.
    let watched = Set::of(&watched);
    let before = watched.apply(libc::SIG_BLOCK);
    // A group without a number here cannot be given back the terminal.
    let engine_leaves = group::leads_session() || group::own() == 0;
    // Before the fork too: the engine may take the terminal and change its modes at once.
    let terminal = Owner::find();
    // SAFETY: the caller promises that there is one thread; the child continues
    // as an ordinary process.
    match unsafe { libc::fork() } {
        -1 => {
            let error = io::Error::last_os_error();
            before.apply(libc::SIG_SETMASK);
            Err(error)
        }
        0 => {
            drop(terminal);
            engine(guard, engine_leaves);
            before.apply(libc::SIG_SETMASK);
            Ok(())
        }
        engine => watch_over(engine, engine_leaves, &watched, terminal.as_ref()),
    }
}

/// The child's side: it returns to `main`.
fn engine(guard: Pid, engine_leaves: bool) {
    reap::adopt_orphans();
    GUARD.store(guard.as_raw_nonzero().get(), Ordering::Relaxed);
    if engine_leaves {
        own_group();
    }
    // The shell continues the group that we are in; the guard is not in it.
    install_continue();
    let handle = pidfd_open(guard, PidfdFlags::empty());
    let watch = if getppid() == Some(guard) {
        handle
    } else {
        // Killed already, and its number may be someone else's by now. A pipe
        // without a writer says so to the first poll.
        pipe_with(PipeFlags::CLOEXEC).map(|(read, _write)| read)
    };
    match watch {
        Ok(watch) => {
            let _ = WATCH.set(watch);
        }
        Err(_) => LOST.store(true, Ordering::Relaxed),
    }
}

extern "C" fn continued(_: libc::c_int) {
    // SAFETY: `kill` is async-signal-safe.
    unsafe {
        libc::kill(pid(), libc::SIGCONT);
    }
}

fn install_continue() {
    // SAFETY: a zeroed `sigaction` is valid, the handler is async-signal-safe.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = continued as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGCONT, &raw const action, std::ptr::null_mut());
    }
}

/// The engine's own group, in the foreground if ours was.
fn own_group() {
    let old = group::own();
    if setpgid(None, None).is_err() {
        return;
    }
    let Ok(terminal) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/tty") else {
        return;
    };
    if group::foreground(&terminal) == Some(old) {
        let _ = with_blocked(libc::SIGTTOU, || rustix::termios::tcsetpgrp(&terminal, getpid()));
    }
}

/// The parent's side: it ends as the engine ends.
fn watch_over(engine: i32, engine_leaves: bool, watched: &Set, terminal: Option<&Owner>) -> ! {
    if !engine_leaves {
        leave_group();
    }
    // Shown by `ps`; a failure is of no consequence.
    let _ = rustix::thread::set_name(GUARD_NAME);
    loop {
        match next_signal(watched) {
            libc::SIGCHLD => look_after(engine, terminal),
            signal => send(engine, signal),
        }
    }
}

/// Moves the guard to a group of its own. Its own number is taken by the
/// group that the shell made, so a child that ends at once lends its number.
fn leave_group() {
    // SAFETY: the child shares our memory while we wait; it makes two system
    // calls, writes nothing and ends without returning from here.
    #[expect(deprecated, reason = "a fork would copy what the child never looks at")]
    let lender = unsafe { libc::vfork() };
    if lender == 0 {
        // SAFETY: async-signal-safe calls without pointers.
        unsafe {
            libc::setpgid(0, 0);
            libc::_exit(0);
        }
    }
    if lender > 0 {
        // Dead, and not waited for: the number stays taken until we have it.
        let _ = setpgid(None, Pid::from_raw(lender));
        let _ = reap::wait(lender);
    }
}

fn next_signal(watched: &Set) -> i32 {
    // SAFETY: the set is valid and the information is not asked for.
    unsafe { libc::sigwaitinfo(&raw const watched.0, std::ptr::null_mut()) }
}

fn send(pid: i32, signal: i32) {
    // SAFETY: ourselves, or the engine, which has not been waited for: the number is its own.
    unsafe {
        libc::kill(pid, signal);
    }
}

/// Follows a change of the engine's state.
fn look_after(engine: i32, terminal: Option<&Owner>) {
    while let Some((status, _)) = reap::try_wait_stopped(engine) {
        if libc::WIFSTOPPED(status) {
            stop_as(libc::WSTOPSIG(status));
            send(engine, libc::SIGCONT);
        } else {
            kill_all();
            if let Some(terminal) = terminal {
                terminal.restore(libc::WIFSIGNALED(status));
            }
            end_as(status);
        }
    }
}

/// Stops, so that the shell sees it, until someone continues us.
fn stop_as(signal: i32) {
    Disposition::default_action().set(signal);
    let only = Set::of(&[signal]);
    // While it is blocked, and to the process: one that the terminal has sent
    // us too, before we left the group, is the same one. To stop twice would
    // leave the engine going on behind the shell's back.
    send(getpid().as_raw_nonzero().get(), signal);
    only.apply(libc::SIG_UNBLOCK);
    only.apply(libc::SIG_BLOCK);
}

/// Kills whatever the engine has left, until there is no child any more.
fn kill_all() {
    let own = getpid().as_raw_nonzero().get();
    let deaths = Set::of(&[libc::SIGCHLD]);
    let give_up = Instant::now() + KILL_TIME;
    let mut pids = Vec::new();
    while reap::children() != reap::Children::None && Instant::now() < give_up {
        while reap::try_wait(-1).is_some() {}
        pids.clear();
        procfs::children(own, &mut pids);
        let mut next = 0;
        // Those that are found grow the list, so this visits all descendants.
        while let Some(&pid) = pids.get(next) {
            procfs::children(pid, &mut pids);
            next += 1;
        }
        let alive = |pid: &&i32| procfs::stat(**pid).is_some_and(|stat| !stat.is_zombie());
        let mut killed = 0;
        for pid in pids.iter().filter(alive).filter_map(|pid| Pid::from_raw(*pid)) {
            killed += usize::from(rustix::process::kill_process(pid, Signal::KILL).is_ok());
        }
        if killed == 0 && reap::try_wait(-1).is_none() {
            // Nothing is left, or only what another user owns.
            return;
        }
        // Each death brings its orphans to us.
        let soon = libc::timespec { tv_sec: 0, tv_nsec: 10_000_000 };
        // SAFETY: valid pointers; the information is not asked for.
        unsafe {
            libc::sigtimedwait(&raw const deaths.0, std::ptr::null_mut(), &raw const soon);
        }
    }
}

/// Ends with the engine's exit code, or by the same signal.
fn end_as(status: i32) -> ! {
    if libc::WIFSIGNALED(status) {
        let signal = libc::WTERMSIG(status);
        // The engine has dumped its core, if a dump was wanted.
        let _ = rustix::process::setrlimit(
            rustix::process::Resource::Core,
            rustix::process::Rlimit { current: Some(0), maximum: Some(0) },
        );
        Disposition::default_action().set(signal);
        Set::of(&[signal]).apply(libc::SIG_UNBLOCK);
        // SAFETY: sends a signal to ourselves.
        unsafe {
            libc::raise(signal);
        }
    }
    let code = if libc::WIFEXITED(status) {
        libc::WEXITSTATUS(status)
    } else {
        128 + libc::WTERMSIG(status)
    };
    // SAFETY: ends the process without running anything that belongs to the engine.
    unsafe { libc::_exit(code) }
}
