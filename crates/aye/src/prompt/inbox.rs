//! Waiting for an answer from elsewhere, for runs without a terminal.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};

use aye_runtime::clock::Clock;
use aye_runtime::driver::{Asked, Prompter, QuestionContext};
use aye_runtime::error::Error;

use super::terminal::until;

/// The caller looks at its own affairs at least this often.
const LOOK: Duration = Duration::from_secs(1);

/// Asks nobody here: the question stands in the inbox until somebody answers
/// it, its time is up, or the run is told to stop.
pub struct InboxPrompter<'a> {
    clock: &'a dyn Clock,
}

impl<'a> InboxPrompter<'a> {
    /// A prompter that waits.
    pub fn new(clock: &'a dyn Clock) -> Self {
        Self { clock }
    }
}

impl Prompter for InboxPrompter<'_> {
    fn ask(
        &mut self,
        posed: &QuestionContext<'_>,
        wake: &[BorrowedFd<'_>],
    ) -> Result<Asked, Error> {
        let left = posed.deadline.map(|deadline| until(deadline, self.clock.now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(Asked::Deadline);
        }
        let limit = left.map_or(LOOK, |left| left.min(LOOK));
        let limit = Timespec::try_from(limit).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
        let mut fds: Vec<PollFd<'_>> =
            wake.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
        match rustix::event::poll(&mut fds, Some(&limit)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            // Nothing sensible is left to wait for; do not spin.
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
        Ok(Asked::Woken)
    }

    fn keys(&self) -> Option<OwnedFd> {
        None
    }

    // Nothing is shown here.
    fn refused(&mut self, _why: &str) {}
    fn hide(&mut self) {}
    fn withdraw(&mut self) {}
    fn rest(&mut self) {}
    fn redraw(&mut self) {}
}
