//! Telling clients that something they subscribed to has changed.
//!
//! One thread a subscription, which waits for news of the journal and looks at
//! files now and then. Only the address of what has changed is sent; a
//! client that wants to know more reads it.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use aye_runtime::error::Error;
use aye_runtime::memory::Layer;

use super::resources::Named;
use super::server_state::ServerState;

/// How often files are looked at; the journal wakes us.
const LOOK: Duration = Duration::from_millis(500);

/// What someone wants to hear of.
#[derive(Clone, Default)]
pub(super) struct Wanted {
    uris: Arc<Mutex<BTreeSet<String>>>,
    stop: Arc<AtomicBool>,
}

impl Wanted {
    pub(super) fn add(&self, uri: &str) {
        self.uris.lock().unwrap_or_else(PoisonError::into_inner).insert(uri.to_owned());
    }

    pub(super) fn remove(&self, uri: &str) {
        self.uris.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    fn list(&self) -> Vec<(String, Named)> {
        let uris = self.uris.lock().unwrap_or_else(PoisonError::into_inner);
        uris.iter().filter_map(|uri| Some((uri.clone(), Named::of(uri)?))).collect()
    }

    /// Begins to watch; what has changed comes through the channel, until
    /// nobody listens there any more.
    pub(super) fn watch(&self, server: Arc<ServerState>) -> UnboundedReceiver<String> {
        let (news, heard) = unbounded_channel();
        let wanted = self.clone();
        tokio::task::spawn_blocking(move || {
            // Without a journal there is nothing to hear; reading still works.
            let _ = watch(&server, &wanted, &news);
        });
        heard
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Ends the watching when the subscriber goes.
pub(super) struct Guard(pub(super) Wanted);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.stop();
    }
}

fn watch(
    server: &ServerState,
    wanted: &Wanted,
    news: &UnboundedSender<String>,
) -> Result<(), Error> {
    let after = server.position()?;
    let mut files: BTreeMap<PathBuf, Option<SystemTime>> = BTreeMap::new();
    let journal = OnceCell::new();
    let mut subscription = None;
    loop {
        if subscription.is_none()
            && let Some(opened) = server.runtime.journal_if_any()?
        {
            subscription = Some(journal.get_or_init(|| opened).subscribe(after)?);
        }
        let mut touched: BTreeSet<String> = BTreeSet::new();
        let list = wanted.list();
        while let Some(subscription) = &mut subscription {
            let events = subscription.events()?;
            if events.is_empty() {
                break;
            }
            for (uri, named) in &list {
                let Named::Run(run) = named else { continue };
                if events.iter().any(|(_, event)| event.run.is_within(run)) {
                    touched.insert(uri.clone());
                }
            }
        }
        for (uri, named) in &list {
            for path in paths(server, named) {
                let now = std::fs::metadata(&path).and_then(|about| about.modified()).ok();
                let before = files.insert(path, now);
                if before.is_some_and(|before| before != now) {
                    touched.insert(uri.clone());
                }
            }
        }
        for uri in touched {
            if news.send(uri).is_err() {
                return Ok(());
            }
        }
        if wanted.stop.load(Ordering::Relaxed) || server.is_closing() || news.is_closed() {
            return Ok(());
        }
        match &mut subscription {
            Some(subscription) => subscription.wait(LOOK)?,
            None => std::thread::sleep(LOOK),
        }
    }
}

/// The files that something is made of.
fn paths(server: &ServerState, named: &Named) -> Vec<PathBuf> {
    let context = &server.runtime;
    match named {
        Named::Run(_) => Vec::new(),
        Named::Skill(name) => {
            let found = context.library().find(name);
            found.map(|(path, _)| context.directory.join(path)).into_iter().collect()
        }
        Named::Memory(kind) => {
            let file = match *kind {
                "issues" => "learned/patterns.yaml",
                "fixes" => "learned/fixes.yaml",
                "preferences" => "learned/confirmations.yaml",
                "usage" => "learned/usage.yaml",
                _ => "failures.yaml",
            };
            let memory = context.memory();
            let layers = [Layer::Project, Layer::User];
            let documents = layers.iter().filter_map(|layer| memory.documents(*layer));
            documents.map(|documents| documents.place(file)).collect()
        }
    }
}
