//! The one place where this crate waits: a single `poll` over the ends of the
//! children, their output, their input, their timers and whatever the caller
//! wants to be woken by.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::child::{Running, Stop};
use super::exit::Exit;
use super::suspend;
use crate::output::capture::Capture;
use crate::output::stream::Stream;
use crate::{guard, tree};

/// What [`wait`] returned for.
#[derive(Debug)]
pub enum Happening {
    /// The child with this index has ended, with all its processes.
    Exited(usize, Box<Exit>),
    /// The caller's descriptor with this index is ready to be read.
    Wake(usize),
    /// The caller's deadline has passed.
    Deadline,
    /// The guard is gone, see [`guard`]. All children are being killed; end the program.
    GuardLost,
    /// No child is running, and there is nothing else to wait for.
    Idle,
}

/// Gets the output of children with [`Spec::live`](crate::Spec::live): index, stream, bytes.
pub type LiveView<'a> = dyn FnMut(usize, Stream, &[u8]) + 'a;

thread_local! {
    /// Reused by all reads of a thread, allocated with the first.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };

    static LAST_REAP: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Waits until something happens to one of the children, one of the `wake`
/// descriptors is ready or `until` has passed, and keeps everything moving
/// meanwhile. Children that were reported as ended are skipped.
///
/// # Errors
/// Only when `poll` itself fails.
pub fn wait(
    children: &mut [Running],
    wake: &[BorrowedFd<'_>],
    until: Option<Instant>,
    view: &mut LiveView<'_>,
) -> io::Result<Happening> {
    wait_for(children, wake, until, view, true)
}

/// The same for a child [aside](crate::Spec::aside). The wait for
/// the steps reports that the guard is gone: that is reported only once.
///
/// # Errors
/// Only when `poll` itself fails.
pub fn wait_aside(
    child: &mut Running,
    wake: &[BorrowedFd<'_>],
    until: Option<Instant>,
) -> io::Result<Happening> {
    wait_aside_with(child, wake, until, &mut |_, _, _| {})
}

/// Waits until a child [aside](crate::Spec::aside) has ended; `None` if `until` passes before.
///
/// # Errors
/// Only when `poll` itself fails.
pub fn wait_to_end(child: &mut Running, until: Instant) -> io::Result<Option<Box<Exit>>> {
    loop {
        match wait_aside(child, &[], Some(until))? {
            Happening::Exited(_, exit) => return Ok(Some(exit)),
            Happening::Deadline => return Ok(None),
            Happening::Wake(_) | Happening::Idle | Happening::GuardLost => {}
        }
    }
}

/// The same as [`wait_aside`] for one with [`Spec::live`](crate::Spec::live), whose output is of
/// interest before it ends.
///
/// # Errors
/// Only when `poll` itself fails.
pub fn wait_aside_with(
    child: &mut Running,
    wake: &[BorrowedFd<'_>],
    until: Option<Instant>,
    view: &mut LiveView<'_>,
) -> io::Result<Happening> {
    wait_for(std::slice::from_mut(child), wake, until, view, false)
}

fn wait_for(
    children: &mut [Running],
    wake: &[BorrowedFd<'_>],
    until: Option<Instant>,
    view: &mut LiveView<'_>,
    guarded: bool,
) -> io::Result<Happening> {
    let mut ready = Vec::new();
    loop {
        let now = Instant::now();
        reap_strays(now);
        for (index, child) in children.iter_mut().enumerate() {
            if !child.is_done() && child.advance(now) {
                let exit = child.finish(&mut |stream, bytes| view(index, stream, bytes));
                return Ok(Happening::Exited(index, Box::new(exit)));
            }
        }
        if until.is_some_and(|until| until <= now) {
            return Ok(Happening::Deadline);
        }
        let idle = children.iter().all(Running::is_done);
        if idle && wake.is_empty() && until.is_none() {
            return Ok(Happening::Idle);
        }
        poll_once(children, wake, until, now, guarded, &mut ready)?;
        let mut ready = Ready { flags: &ready, next: 0 };
        serve(children, &mut ready, view);
        if ready.take() {
            suspend::children_changed(children);
        }
        if ready.take() && guard::note_loss() {
            for child in children.iter_mut() {
                child.kill(Stop::Interrupt);
            }
            return Ok(Happening::GuardLost);
        }
        if let Some(index) = (0..wake.len()).find(|_| ready.take()) {
            return Ok(Happening::Wake(index));
        }
    }
}

/// How often dead orphans are looked for.
const REAP_INTERVAL: Duration = Duration::from_secs(1);

fn reap_strays(now: Instant) {
    let due =
        LAST_REAP.get().is_none_or(|last| now.saturating_duration_since(last) >= REAP_INTERVAL);
    // The first time there cannot be any yet.
    if due && LAST_REAP.replace(Some(now)).is_some() {
        tree::reap_strays();
    }
}

/// Answers of one `poll`, taken in the order in which they were asked.
struct Ready<'a> {
    flags: &'a [bool],
    next: usize,
}

impl Ready<'_> {
    fn take(&mut self) -> bool {
        let flag = self.flags.get(self.next).copied().unwrap_or(false);
        self.next += 1;
        flag
    }
}

/// What one `poll` asks. A question that does not arise keeps its place.
#[derive(Default)]
struct Questions<'a> {
    asked: Vec<PollFd<'a>>,
    places: Vec<Option<usize>>,
}

impl<'a> Questions<'a> {
    fn ask(&mut self, fd: Option<BorrowedFd<'a>>, flags: PollFlags) {
        self.places.push(fd.is_some().then_some(self.asked.len()));
        self.asked.extend(fd.map(|fd| PollFd::from_borrowed_fd(fd, flags)));
    }

    fn answers(&self, ready: &mut Vec<bool>) {
        let answer =
            |place: &Option<usize>| place.is_some_and(|at| !self.asked[at].revents().is_empty());
        ready.clear();
        ready.extend(self.places.iter().map(answer));
    }
}

/// Asks, in a fixed order: for each child its two streams, its input and its
/// deaths; then stopped children, the guard and the caller's descriptors.
fn poll_once(
    children: &[Running],
    wake: &[BorrowedFd<'_>],
    until: Option<Instant>,
    now: Instant,
    guarded: bool,
    ready: &mut Vec<bool>,
) -> io::Result<()> {
    let mut questions = Questions::default();
    let mut due = until;
    for child in children.iter().filter(|child| !child.is_done()) {
        for stream in &child.streams {
            let pipe = stream.as_ref().and_then(Capture::pipe);
            questions.ask(pipe.filter(|_| !child.is_held()), PollFlags::IN);
        }
        questions.ask(child.feed.as_ref().map(|feed| feed.pipe.as_fd()), PollFlags::OUT);
        for death in child.deaths() {
            questions.ask(Some(death), PollFlags::IN);
        }
        due = Some(due.map_or(now + REAP_INTERVAL, |due| due.min(now + REAP_INTERVAL)));
        due = match (due, child.next_timer(now)) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
    }
    let interactive = children.iter().any(|child| !child.is_done() && child.is_interactive());
    questions.ask(if interactive { suspend::watch() } else { None }, PollFlags::IN);
    questions.ask(if guarded { guard::watch() } else { None }, PollFlags::IN);
    for fd in wake {
        questions.ask(Some(*fd), PollFlags::IN);
    }

    let timeout = due.map(|due| {
        let left = due.saturating_duration_since(now);
        Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(left.subsec_nanos()),
        }
    });
    match poll(&mut questions.asked, timeout.as_ref()) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => {
            for question in &mut questions.asked {
                question.clear_revents();
            }
        }
        Err(error) => return Err(error.into()),
    }
    questions.answers(ready);
    Ok(())
}

/// Moves bytes and notes deaths, in the order of [`poll_once`].
fn serve(children: &mut [Running], ready: &mut Ready<'_>, view: &mut LiveView<'_>) {
    let mut buffer = BUFFER.take();
    for (index, child) in children.iter_mut().enumerate().filter(|(_, child)| !child.is_done()) {
        let mut streams = [ready.take(), ready.take()];
        let input = ready.take();
        let deaths = child.deaths().count();
        let dead: Vec<bool> = (0..deaths).map(|_| ready.take()).collect();
        // All answers first: what follows changes what there is to ask.
        let lived = child.status.is_none();
        child.note_deaths(dead.into_iter());
        if lived && child.status.is_some() {
            // Usually their end: nobody has to wait for that.
            streams = [true, true];
        }
        for stream in (0..2).filter(|stream| streams[*stream]) {
            child.pump(stream, &mut buffer, &mut |stream, bytes| {
                view(index, stream, bytes);
            });
        }
        if input {
            child.feed();
        }
    }
    BUFFER.set(buffer);
}
