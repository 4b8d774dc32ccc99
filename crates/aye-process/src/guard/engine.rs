//! What the engine knows of its guard, and which children the guard's rules spare.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::fork;
use crate::system::group;

/// The guard's pid as seen by the engine, 0 without a guard.
pub(super) static GUARD: AtomicI32 = AtomicI32::new(0);

/// Readable when the guard is dead.
pub(super) static WATCH: OnceLock<OwnedFd> = OnceLock::new();

/// What the guard is called in the table of processes.
pub(crate) const GUARD_NAME: &std::ffi::CStr = c"aye-guard";

/// What the engine is called there: what it starts is known by it even if the
/// guard is killed and the program is a copy.
pub(crate) const ENGINE_NAME: &std::ffi::CStr = c"aye-engine";

static SPARED: Mutex<Vec<i32>> = Mutex::new(Vec::new());

pub(super) static LOST: AtomicBool = AtomicBool::new(false);

/// Starts the guard. Call it once, at the very start of a command that runs
/// steps, before any thread, file or buffer exists. Everything after it
/// happens in the engine. On platforms without subreapers it does nothing.
///
/// # Errors
/// When the system has no process to spare; the runner can continue without.
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

/// Starts a child in a group of its own and spares it before the engine looks for strays.
pub(crate) fn spare_started<T, E>(
    start: impl FnOnce() -> Result<T, E>,
    pid: impl FnOnce(&T) -> i32,
) -> Result<T, E> {
    let mut spared = SPARED.lock().unwrap_or_else(PoisonError::into_inner);
    let child = start()?;
    spared.push(pid(&child));
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
