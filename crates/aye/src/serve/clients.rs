//! Who is connected.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Serialize;

use super::identity::ClientKind;

/// How many are listed.
const MOST: usize = 100;

/// Somebody who is connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Client {
    /// Who.
    pub(super) name: String,
    /// With what.
    pub(super) kind: ClientKind,
    /// The question that is shown there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) question: Option<String>,
}

/// Everybody who is connected.
#[derive(Default)]
pub(super) struct Clients {
    all: Mutex<BTreeMap<u64, Client>>,
    next: AtomicU64,
    changed: AtomicBool,
}

impl Clients {
    /// Somebody has come.
    pub(super) fn join(&self, client: Client) -> u64 {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.change(|all| {
            all.insert(id, client);
        });
        id
    }

    /// Somebody says what they are or what they show.
    pub(super) fn update(&self, id: u64, update: impl FnOnce(&mut Client)) {
        self.change(|all| {
            if let Some(client) = all.get_mut(&id) {
                update(client);
            }
        });
    }

    /// Somebody has gone.
    pub(super) fn leave(&self, id: u64) {
        self.change(|all| {
            all.remove(&id);
        });
    }

    /// Who is connected, the first come first, not necessarily all.
    pub(super) fn list(&self) -> Vec<Client> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.values().take(MOST).cloned().collect()
    }

    /// How many are.
    pub(super) fn count(&self) -> usize {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether something has changed since this was last asked.
    pub(super) fn has_changed(&self) -> bool {
        self.changed.swap(false, Ordering::Relaxed)
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<u64, Client>)) {
        change(&mut self.all.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.store(true, Ordering::Relaxed);
    }
}
