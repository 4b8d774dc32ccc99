//! What is left of a run that was pruned: an entry in a chain of its own.

use jiff::Timestamp;

use super::Finding;
use super::chain::{Hash, hash_of};

/// The entry of a pruned run. The runs inside it went with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrunedRun {
    /// Its place in the chain, from 1.
    pub n: u64,
    /// The run.
    pub run: String,
    /// When it was pruned.
    pub at: Timestamp,
    /// Who did it.
    pub by: String,
    /// How many events went, those of the runs inside included.
    pub events: u64,
    /// The run's last event.
    pub last_seq: u64,
    /// The hash of that event.
    pub head: [u8; 32],
    /// The hash of this entry and the one before it.
    pub hash: [u8; 32],
}

impl PrunedRun {
    /// The hash of this entry; `before` is what [`Chain::end`] was.
    pub(super) fn hash_after(&self, before: &[u8]) -> Hash {
        hash_of(&[
            before,
            &self.n.to_le_bytes(),
            self.run.as_bytes(),
            &self.at.as_millisecond().to_le_bytes(),
            self.by.as_bytes(),
            &self.events.to_le_bytes(),
            &self.last_seq.to_le_bytes(),
            &self.head,
        ])
    }
}

/// Where the chain of the pruned runs ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Chain {
    /// How many entries it has.
    pub(super) entries: u64,
    /// The hash of the last one.
    pub(super) head: Option<Hash>,
    /// Events that were pruned before there were entries: the chain begins
    /// with their number.
    pub(super) unlisted: u64,
}

impl Chain {
    /// What the hash of the next entry covers.
    pub(super) fn end(&self) -> Vec<u8> {
        match self.head {
            Some(head) => head.to_vec(),
            None => self.unlisted.to_le_bytes().to_vec(),
        }
    }

    /// Adds an entry; `entry` gets its place and its hash.
    pub(super) fn add(&mut self, entry: &mut PrunedRun) {
        entry.n = self.entries + 1;
        entry.hash = entry.hash_after(&self.end());
        (self.entries, self.head) = (entry.n, Some(entry.hash));
    }

    /// Compares entries with this end of their chain.
    pub(super) fn check(&self, entries: &[PrunedRun], report: &mut dyn FnMut(Finding)) {
        let changed =
            |entry: &PrunedRun| Finding::PrunedChanged { n: entry.n, run: entry.run.clone() };
        let mut seen = Self { unlisted: self.unlisted, ..Self::default() };
        for entry in entries {
            if entry.n <= seen.entries {
                report(changed(entry));
                continue;
            }
            if entry.n != seen.entries + 1 {
                let (first, last) = (seen.entries + 1, entry.n.saturating_sub(1));
                report(Finding::PrunedMissing { first, last });
            } else if entry.hash != entry.hash_after(&seen.end()) {
                report(changed(entry));
            }
            (seen.entries, seen.head) = (entry.n, Some(entry.hash));
        }
        if seen.entries < self.entries {
            let (first, last) = (seen.entries + 1, self.entries);
            report(Finding::PrunedMissing { first, last });
        } else if seen != *self {
            report(entries.last().map_or_else(
                || Finding::Row {
                    table: "floor",
                    message: "it names the end of a chain without entries".to_owned(),
                },
                changed,
            ));
        }
    }
}
