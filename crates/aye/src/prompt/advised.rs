//! Waiting for keys, and for the advisor where there is one.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use aye_runtime::advisor::Advising;
use aye_runtime::driver::QuestionContext;

use super::poll::{Ready, poll};
use super::tty::Tty;

/// Like [`super::terminal::wait`]; it also returns when there is news of the
/// advisor, which is started here: the question is on the screen by now.
pub(super) fn wait(
    advising: Option<&mut Advising>,
    posed: &QuestionContext<'_>,
    tty: &Tty,
    wake: &[BorrowedFd<'_>],
    limit: Duration,
) -> Ready {
    let until = Instant::now() + limit;
    if let Some(advising) = advising {
        let all: Vec<BorrowedFd<'_>> =
            std::iter::once(tty.as_fd()).chain(wake.iter().copied()).collect();
        if advising.attend(posed, &all, until) {
            return poll(tty, wake, Instant::now());
        }
    }
    poll(tty, wake, until)
}
