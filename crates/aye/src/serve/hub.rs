//! One reader of the journal for all sockets: every event is read and written
//! as text once, and each client gets the same bytes.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use aye_core::event::Event;
use aye_core::id::RunId;
use aye_runtime::error::Error;
use aye_runtime::runtime::Runtime;
use aye_runtime::usecases::JournalReader;
use tokio::sync::broadcast;

use crate::harmless::json_line;

use super::socket::Utf8Bytes;
use super::views::JournalEvent;

/// How many frames wait for a client that is slower than others; one that falls
/// behind further reads them from the journal.
const WAITING: usize = 4096;
/// How often the journal is looked at, whether it rings or not.
const LOOK: Duration = Duration::from_secs(1);
/// How many directories of runs are known at once.
const KNOWN: usize = 10_000;

/// What every socket gets.
#[derive(Debug)]
pub(super) enum Frame {
    /// An event of the journal.
    Event(EventFrame),
    /// A message without a number: who is connected, or that we are there.
    Notice {
        /// For those who see every project.
        all: Utf8Bytes,
        /// For the others.
        limited: Utf8Bytes,
    },
}

/// An event, as it is sent.
#[derive(Debug)]
pub(super) struct EventFrame {
    /// Its number in the journal.
    pub(super) n: u64,
    /// Where its run works: not everybody sees every project.
    pub(super) workspace: Arc<Path>,
    /// The message.
    pub(super) text: Utf8Bytes,
}

/// The reader.
pub(super) struct Hub {
    frames: broadcast::Sender<Arc<Frame>>,
    position: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl Hub {
    /// Begins to read at the end of the journal.
    pub(super) fn start(runtime: Arc<Runtime>) -> Result<Self, Error> {
        let (frames, _) = broadcast::channel(WAITING);
        let after = runtime.journal_to_watch()?.position()?;
        let position = Arc::new(AtomicU64::new(after));
        let stop = Arc::new(AtomicBool::new(false));
        let reader = Reader {
            runtime,
            frames: frames.clone(),
            position: Arc::clone(&position),
            stop: Arc::clone(&stop),
        };
        std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || reader.run())
            .map_err(|source| Error::Background { doing: "start", source })?;
        Ok(Self { frames, position, stop })
    }

    /// Hears every frame from now on.
    pub(super) fn subscribe(&self) -> broadcast::Receiver<Arc<Frame>> {
        self.frames.subscribe()
    }

    /// The newest event that was sent to the sockets.
    pub(super) fn position(&self) -> u64 {
        self.position.load(Ordering::Acquire)
    }

    /// Tells everybody something that is not in the journal; `limited` to those who do
    /// not see every project.
    pub(super) fn notify(&self, all: String, limited: String) {
        // Without a client nobody has to hear it.
        let (all, limited) = (all.into(), limited.into());
        let _ = self.frames.send(Arc::new(Frame::Notice { all, limited }));
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

struct Reader {
    runtime: Arc<Runtime>,
    frames: broadcast::Sender<Arc<Frame>>,
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
            for (n, event) in events {
                let frame = framing.frame(n, &event)?;
                let _ = self.frames.send(Arc::new(Frame::Event(frame)));
                self.position.store(n, Ordering::Release);
            }
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
        Ok(EventFrame { n, workspace, text: json_line(&JournalEvent { n, event }).into() })
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
