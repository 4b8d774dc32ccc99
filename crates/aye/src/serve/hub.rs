//! One reader of the journal for all sockets: every event is read and made a message
//! once, and each client gets the same bytes.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use axum::body::Bytes;
use aye_core::event::Event;
use aye_core::id::RunId;
use aye_runtime::error::Error;
use aye_runtime::runtime::Runtime;
use aye_runtime::usecases::JournalReader;

use crate::harmless::json_line;

use super::socket::{ClientQueue, text_frame};
use super::views::JournalEvent;

/// How often the journal is looked at, also without a wake-up.
const LOOK: Duration = Duration::from_secs(1);
/// How many directories of runs are known at once.
const KNOWN: usize = 10_000;

/// What every socket gets.
#[derive(Debug)]
pub(super) enum Frame {
    /// Events of the journal.
    Events(Events),
    /// A message without a number: who is connected, or that we are there.
    Notice {
        /// For those who see every project.
        all: Bytes,
        /// For the others.
        limited: Bytes,
    },
}

/// Events that were committed together, or soon after each other.
#[derive(Debug)]
pub(super) struct Events {
    /// The numbers of the first and the last one.
    pub(super) first: u64,
    pub(super) last: u64,
    /// The messages of all of them.
    pub(super) whole: Bytes,
    pub(super) each: Vec<EventFrame>,
}

/// An event, as it is sent.
#[derive(Debug)]
pub(super) struct EventFrame {
    /// Its number in the journal.
    pub(super) n: u64,
    /// Where its run works: not everyone sees every project.
    pub(super) workspace: Arc<Path>,
    /// The message.
    pub(super) message: Bytes,
}

/// The reader.
pub(super) struct Hub {
    queues: Arc<Queues>,
    position: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl Hub {
    /// Begins to read at the end of the journal.
    pub(super) fn start(runtime: Arc<Runtime>) -> Result<Self, Error> {
        let queues = Arc::new(Queues::default());
        let after = runtime.journal_to_watch()?.position()?;
        let position = Arc::new(AtomicU64::new(after));
        let stop = Arc::new(AtomicBool::new(false));
        let reader = Reader {
            runtime,
            queues: Arc::clone(&queues),
            position: Arc::clone(&position),
            stop: Arc::clone(&stop),
        };
        std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || reader.run())
            .map_err(Error::system("start the thread that reads the journal"))?;
        Ok(Self { queues, position, stop })
    }

    /// This client hears every frame from now on.
    pub(super) fn join(&self, queue: &Arc<ClientQueue>) {
        self.queues.all().push(Arc::downgrade(queue));
    }

    /// The newest event that was sent to the sockets.
    pub(super) fn position(&self) -> u64 {
        self.position.load(Ordering::Acquire)
    }

    /// Sends all clients something that is not in the journal; those who do not see
    /// every project get `limited`.
    pub(super) fn notify(&self, all: String, limited: String) {
        let (all, limited) = (text_frame(all), text_frame(limited));
        self.queues.send(Frame::Notice { all, limited });
    }
}

/// The queues of all clients that are connected.
#[derive(Default)]
struct Queues(Mutex<Vec<Weak<ClientQueue>>>);

impl Queues {
    fn all(&self) -> MutexGuard<'_, Vec<Weak<ClientQueue>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, frame: Frame) {
        let frame = Arc::new(frame);
        // A client that comes or goes does not wait until all have the frame.
        let mut queues = Vec::new();
        self.all().retain(|queue| {
            let queue = queue.upgrade();
            let is_there = queue.is_some();
            queues.extend(queue);
            is_there
        });
        queues.iter().for_each(|queue| queue.offer(&frame));
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

struct Reader {
    runtime: Arc<Runtime>,
    queues: Arc<Queues>,
    position: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl Reader {
    fn run(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            if self.follow().is_err() {
                // The journal cannot be read for now, such as on a full disk: tried again.
                std::thread::sleep(LOOK);
            }
        }
    }

    fn follow(&self) -> Result<(), Error> {
        let journal = self.runtime.journal_to_watch()?;
        let mut framing = Framing::new(&journal);
        let mut subscription = journal.subscribe(self.position.load(Ordering::Acquire))?;
        while !self.stop.load(Ordering::Relaxed) {
            let events = subscription.events()?;
            if events.is_empty() {
                subscription.wait(LOOK)?;
                continue;
            }
            let events = framing.events(&events)?;
            let last = events.last;
            self.queues.send(Frame::Events(events));
            self.position.store(last, Ordering::Release);
        }
        Ok(())
    }
}

/// Makes messages of events.
pub(super) struct Framing<'j> {
    journal: &'j JournalReader,
    workspaces: HashMap<RunId, Arc<Path>>,
}

impl<'j> Framing<'j> {
    pub(super) fn new(journal: &'j JournalReader) -> Self {
        Self { journal, workspaces: HashMap::new() }
    }

    pub(super) fn frame(&mut self, n: u64, event: &Event) -> Result<EventFrame, Error> {
        let workspace = self.workspace(&event.run)?;
        Ok(EventFrame { n, workspace, message: text_frame(json_line(&JournalEvent::of(n, event))) })
    }

    fn events(&mut self, events: &[(u64, Event)]) -> Result<Events, Error> {
        let each = events.iter().map(|(n, event)| self.frame(*n, event));
        let each = each.collect::<Result<Vec<EventFrame>, Error>>()?;
        let number = |event: Option<&EventFrame>| event.map_or(0, |event| event.n);
        let (first, last) = (number(each.first()), number(each.last()));
        let whole = match each.as_slice() {
            [only] => only.message.clone(),
            several => {
                several.iter().map(|event| &event.message[..]).collect::<Vec<_>>().concat().into()
            }
        };
        Ok(Events { first, last, whole, each })
    }

    fn workspace(&mut self, run: &RunId) -> Result<Arc<Path>, Error> {
        if let Some(known) = self.workspaces.get(run) {
            return Ok(Arc::clone(known));
        }
        let row = self.journal.run(run)?;
        // A run that was pruned meanwhile is nobody's but the account's own.
        let workspace: Arc<Path> =
            row.map_or_else(|| Path::new("").into(), |row| Path::new(&row.workspace).into());
        if self.workspaces.len() >= KNOWN {
            self.workspaces.clear();
        }
        self.workspaces.insert(run.clone(), Arc::clone(&workspace));
        Ok(workspace)
    }
}
