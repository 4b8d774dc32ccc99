//! Who is connected.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use aye_runtime::prompter::PresenceKind;
use schemars::JsonSchema;
use serde::Serialize;

use super::identity::{ClientKind, Identity};

/// How many are listed.
const MOST: usize = 100;

/// Someone who is connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Client {
    /// Who.
    pub(super) name: String,
    /// With what.
    pub(super) kind: ClientKind,
    /// The question that is shown there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) question: Option<String>,
    /// Those that it has told its person of, in a way that it may hide.
    #[serde(skip)]
    pub(super) notified: BTreeSet<String>,
}

impl Client {
    /// What it shows, and on what.
    fn shows(&self) -> impl Iterator<Item = (&String, PresenceKind)> {
        let kind = match self.kind {
            ClientKind::Page => PresenceKind::Page,
            ClientKind::Editor => PresenceKind::Editor,
            ClientKind::Program => PresenceKind::Program,
        };
        let is_editor = self.kind == ClientKind::Editor;
        let notified = self.notified.iter().filter(move |_| is_editor);
        let shown = self.question.iter().map(move |question| (question, kind));
        shown.chain(notified.map(|question| (question, PresenceKind::EditorNotice)))
    }
}

/// A client that shows a question.
#[derive(Debug, Clone)]
pub(super) struct QuestionViewer {
    pub(super) identity: Identity,
    pub(super) kind: PresenceKind,
    pub(super) question: String,
}

/// When a client was heard last.
#[derive(Debug, Clone)]
pub(super) struct LastHeard(Arc<Mutex<Instant>>);

impl LastHeard {
    pub(super) fn now() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    /// It said something just now.
    pub(super) fn again(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

struct Entry {
    client: Client,
    identity: Identity,
    heard: LastHeard,
}

/// All clients that are connected.
#[derive(Default)]
pub(super) struct Clients {
    all: Mutex<BTreeMap<u64, Entry>>,
    next: AtomicU64,
    changed: AtomicBool,
}

impl Clients {
    /// Someone has come.
    pub(super) fn join(&self, client: Client, identity: Identity, heard: LastHeard) -> u64 {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.change(|all| {
            all.insert(id, Entry { client, identity, heard });
        });
        id
    }

    /// Someone says what they are or what they show.
    pub(super) fn update(&self, id: u64, update: impl FnOnce(&mut Client)) {
        self.change(|all| {
            if let Some(entry) = all.get_mut(&id) {
                update(&mut entry.client);
            }
        });
    }

    /// Someone has gone.
    pub(super) fn leave(&self, id: u64) {
        self.change(|all| {
            all.remove(&id);
        });
    }

    /// Who is connected, the first come first, not necessarily all.
    pub(super) fn list(&self) -> Vec<Client> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.values().take(MOST).map(|entry| entry.client.clone()).collect()
    }

    /// Who shows a question and was heard lately.
    pub(super) fn viewers(&self, lately: Duration) -> Vec<QuestionViewer> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let heard = all.values().filter(|entry| entry.heard.elapsed() <= lately);
        let showing = heard.flat_map(|entry| {
            entry.client.shows().map(|(question, kind)| QuestionViewer {
                identity: entry.identity.clone(),
                kind,
                question: question.clone(),
            })
        });
        showing.collect()
    }

    /// How many are.
    pub(super) fn count(&self) -> usize {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether something has changed since this was last asked.
    pub(super) fn has_changed(&self) -> bool {
        self.changed.swap(false, Ordering::Relaxed)
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<u64, Entry>)) {
        change(&mut self.all.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.store(true, Ordering::Relaxed);
    }
}
