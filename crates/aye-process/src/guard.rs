//! Nothing survives, even when the runner itself is killed.
//!
//! [`start`] forks once, before anything else happens. The parent becomes
//! the guard, the child goes on as the engine. Both adopt orphans. When the
//! engine is killed, all its children become the guard's, which kills them
//! and ends in the same way. When the guard is killed, the engine notices
//! ([`Happening::GuardLost`](crate::Happening::GuardLost)) and kills them. They are in different process groups, so
//! that no single signal reaches both.
//!
//! The engine stays in the group in which the shell has put us: Ctrl-C,
//! Ctrl-Z, reading the terminal and the other members of a pipeline work as
//! if there were no guard. The guard, which the shell waits for, leaves for a
//! group of its own and mirrors the engine: it passes signals on, stops when
//! the engine stops, and ends as the engine ends, also by a signal. Only
//! when it cannot leave, because it leads a session (`ssh -t`, a container)
//! or the group is one of another PID namespace, the engine gets the group of its own, and with it the terminal.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::group;
use crate::launch::Started;

/// The guard's pid as seen by the engine, 0 without a guard.
static GUARD: AtomicI32 = AtomicI32::new(0);

/// Readable when the guard is dead.
static WATCH: OnceLock<OwnedFd> = OnceLock::new();

/// What the guard is called in the table of processes.
pub(crate) const GUARD_NAME: &std::ffi::CStr = c"aye-guard";

/// What the engine is called there: what it starts is known by it even if the
/// guard is killed and the program is a copy.
pub(crate) const ENGINE_NAME: &std::ffi::CStr = c"aye-engine";

static SPARED: Mutex<Vec<i32>> = Mutex::new(Vec::new());

static LOST: AtomicBool = AtomicBool::new(false);

/// Starts the guard. Call it once, at the very start of a command that runs
/// steps, before any thread, file or buffer exists. Everything after it
/// happens in the engine. On platforms without subreapers it does nothing.
///
/// # Errors
/// When the system has no process to spare; the runner can go on without.
pub fn start() -> io::Result<()> {
    if pid() != 0 {
        return Ok(());
    }
    let started = fork::start();
    // What does not know the name goes by the program instead.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_name(ENGINE_NAME);
    started
}

/// The guard's pid, 0 without a guard.
#[must_use]
pub fn pid() -> i32 {
    GUARD.load(Ordering::Relaxed)
}

/// Waits, before the first child is started, until guard and engine are in
/// different groups: until then one signal could end both. Normally they are
/// long since.
pub(crate) fn settle() {
    static SETTLED: AtomicBool = AtomicBool::new(false);
    if pid() == 0 {
        return;
    }
    if SETTLED.swap(true, Ordering::Relaxed) {
        return;
    }
    let give_up = Instant::now() + Duration::from_secs(2);
    let own = group::own();
    while group::of(pid()) == Some(own) && Instant::now() < give_up {
        std::thread::yield_now();
    }
}

/// Names a child that was started by other means than [`spawn`](crate::spawn()) and in a
/// process group of its own, so that no step takes it for one of its
/// strays. It still ends with the run.
pub fn spare(pid: i32) {
    SPARED.lock().unwrap_or_else(PoisonError::into_inner).push(pid);
}

/// Starts a child in a group of its own and spares it before anybody can look.
pub(crate) fn spare_started<E>(start: impl FnOnce() -> Result<Started, E>) -> Result<Started, E> {
    let mut spared = SPARED.lock().unwrap_or_else(PoisonError::into_inner);
    let child = start()?;
    spared.push(child.pid);
    Ok(child)
}

/// Takes a child off the list once it was waited for: its number is free.
pub(crate) fn forget(pid: i32) {
    SPARED.lock().unwrap_or_else(PoisonError::into_inner).retain(|spared| *spared != pid);
}

#[cfg(target_os = "linux")]
pub(crate) fn is_spared(pid: i32) -> bool {
    SPARED.lock().unwrap_or_else(PoisonError::into_inner).contains(&pid)
}

/// Readable when the guard is dead, `None` when there is none to lose.
pub(crate) fn watch() -> Option<BorrowedFd<'static>> {
    if LOST.load(Ordering::Relaxed) {
        return None;
    }
    WATCH.get().map(AsFd::as_fd)
}

/// Notes that the guard is dead; true the first time.
pub(crate) fn note_loss() -> bool {
    !LOST.swap(true, Ordering::Relaxed)
}

#[cfg(not(target_os = "linux"))]
mod fork {
    pub(super) fn start() -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(target_os = "linux")]
#[path = "guard_fork.rs"]
mod fork;
