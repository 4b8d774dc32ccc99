//! Ctrl-Z: everything stops, and continues together.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use super::child::Running;
use crate::system::dispositions::{Disposition, handler_pipe};

/// Written to by the handler of `SIGCHLD`.
static CHANGES: OnceLock<Option<(OwnedFd, OwnedFd)>> = OnceLock::new();

extern "C" fn child_changed(_: libc::c_int) {
    if let Some(Some((_, write))) = CHANGES.get() {
        // SAFETY: `write` is async-signal-safe and the byte is static.
        unsafe {
            libc::write(write.as_raw_fd(), b"c".as_ptr().cast(), 1);
        }
    }
}

/// Readable when a child has stopped. Only interactive children need it: a
/// pidfd tells of ends, not of stops.
pub(crate) fn watch() -> Option<BorrowedFd<'static>> {
    let pipe = CHANGES.get_or_init(|| handler_pipe().ok());
    let (read, _) = pipe.as_ref()?;
    static INSTALLED: std::sync::Once = std::sync::Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: a zeroed `sigaction` is valid, the handler only writes to a pipe.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = child_changed as *const () as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(libc::SIGCHLD, &raw const action, std::ptr::null_mut());
        }
        // Nobody saw a stop before this moment.
        child_changed(libc::SIGCHLD);
    });
    Some(read.as_fd())
}

/// Looks whether an interactive child was stopped, and then stops with it.
pub(crate) fn children_changed(children: &mut [Running]) {
    if let Some(read) = watch() {
        let mut drain = [0; 64];
        while matches!(rustix::io::read(read, &mut drain), Ok(64)) {}
    }
    if children.iter_mut().any(|child| child.is_interactive() && child.was_stopped()) {
        suspend(children);
    }
}

/// Stops all children with their timers, then this process, as a shell's job
/// control expects; when continued, undoes it all. Call it for
/// [`Signal::Suspend`](crate::Signal::Suspend) after leaving any full-screen view.
pub fn suspend(children: &mut [Running]) {
    for child in children.iter_mut() {
        child.pause();
        child.lend_back();
    }
    stop_self();
    for child in children.iter_mut() {
        child.lend_again();
        child.resume();
    }
}

/// Stops this process in the way Ctrl-Z would. Returns when continued; at
/// once if there is no shell that could continue it.
fn stop_self() {
    let before = Disposition::of(libc::SIGTSTP);
    Disposition::default_action().set(libc::SIGTSTP);
    // SAFETY: sends a signal to ourselves.
    unsafe {
        libc::raise(libc::SIGTSTP);
    }
    before.set(libc::SIGTSTP);
}
