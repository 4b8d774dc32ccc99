//! The hash chain: each event's hash covers it and the hash before it.

use aye_core::event::Event;
use sha2::{Digest as _, Sha256};

use super::StoreError;

/// SHA-256.
pub(super) type Hash = [u8; 32];

/// The columns of an event that its hash covers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link<'a> {
    pub(super) run: &'a str,
    pub(super) seq: u64,
    pub(super) at: i64,
    pub(super) kind: &'a str,
    pub(super) body: &'a str,
}

impl Link<'_> {
    /// The hash of this event after `previous`; the first has none before it.
    /// Every part goes in with its length so that borders cannot move.
    pub(super) fn hash(&self, previous: Option<&Hash>) -> Hash {
        hash_of(&[
            previous.map_or(&[], |hash| hash.as_slice()),
            self.run.as_bytes(),
            &self.seq.to_le_bytes(),
            &self.at.to_le_bytes(),
            self.kind.as_bytes(),
            self.body.as_bytes(),
        ])
    }
}

/// An event as text, and its hash after `previous`.
pub(super) fn hashed(event: &Event, previous: Option<&Hash>) -> Result<(String, Hash), StoreError> {
    let body = serde_json::to_string(event).map_err(|error| StoreError::Unreadable {
        run: event.run.to_string(),
        seq: event.seq,
        message: error.to_string(),
    })?;
    let link = Link {
        run: event.run.as_str(),
        seq: event.seq,
        at: event.at.as_millisecond(),
        kind: event.kind.name(),
        body: &body,
    };
    let hash = link.hash(previous);
    Ok((body, hash))
}

/// The hash of parts, each with its length.
pub(super) fn hash_of(parts: &[&[u8]]) -> Hash {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}
