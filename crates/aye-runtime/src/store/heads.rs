//! The heads of all chains. Kept elsewhere, they show later what the journal
//! alone cannot: that a run, or the end of one, is gone.

use std::collections::HashMap;

use aye_core::digest::hex;
use aye_core::id::RunId;
use serde::{Deserialize, Serialize};

use super::chain::Hash;
use super::{Finding, PrunedRun, Store, StoreError};

/// Where every chain ended at some time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heads {
    /// The runs, those inside others included.
    pub runs: Vec<Head>,
    /// The entries of pruned runs.
    pub pruned: PrunedHead,
}

/// Where the chain of a run ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The run.
    pub run: RunId,
    /// How many events it has.
    pub events: u64,
    /// The hash of the last one.
    #[serde(with = "hexadecimal")]
    pub head: [u8; 32],
}

/// Where the chain of pruned runs ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrunedHead {
    /// How many entries it has.
    pub entries: u64,
    /// The hash of the last one; zeros if there is none.
    #[serde(with = "hexadecimal")]
    pub head: [u8; 32],
}

/// A text that is not a list of heads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadHeads {
    /// A line is neither a run nor the pruned runs.
    #[error("line {line} is not a head: `{text}`")]
    Line {
        /// Which line.
        line: usize,
        /// What is in it, or how it begins.
        text: String,
    },
    /// There is no line about the pruned runs: the end is missing.
    #[error("the line `pruned` is missing")]
    Incomplete,
    /// No journal has so many events or entries.
    #[error("no journal has {0} events or entries")]
    Count(u64),
    /// The JSON is not what `aye audit --head --json` prints.
    #[error("{0}")]
    Json(String),
}

impl Heads {
    /// One line for each run, then one for the pruned runs.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for Head { run, events, head } in &self.runs {
            text.push_str(&format!("run {run} {events} {}\n", hex(head)));
        }
        let PrunedHead { entries, head } = &self.pruned;
        text.push_str(&format!("pruned {entries} {}\n", hex(head)));
        text
    }

    /// Reads what [`to_text`](Self::to_text) or JSON made.
    pub fn parse(text: &str) -> Result<Self, BadHeads> {
        let heads: Self = match text.trim_start().starts_with('{') {
            true => serde_json::from_str(text)
                .map_err(|error| BadHeads::Json(beginning(&error.to_string())))?,
            false => Self::parse_lines(text)?,
        };
        let events = heads.runs.iter().map(|head| head.events).max();
        let most = events.unwrap_or(0).max(heads.pruned.entries);
        match i64::try_from(most) {
            Ok(_) => Ok(heads),
            Err(_) => Err(BadHeads::Count(most)),
        }
    }

    fn parse_lines(text: &str) -> Result<Self, BadHeads> {
        let mut runs = Vec::new();
        let mut pruned = None;
        for (place, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let read = match words[..] {
                [] => Some(()),
                ["run", run, events, head] => {
                    head_of(run, events, head).map(|head| runs.push(head))
                }
                ["pruned", entries, head] => {
                    entries.parse().ok().zip(hexadecimal::parse(head)).map(|(entries, head)| {
                        pruned = Some(PrunedHead { entries, head });
                    })
                }
                _ => None,
            };
            read.ok_or_else(|| BadHeads::Line { line: place + 1, text: beginning(line) })?;
        }
        Ok(Self { runs, pruned: pruned.ok_or(BadHeads::Incomplete)? })
    }

    /// Whether there was nothing yet.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.pruned.entries == 0
    }

    /// What is gone if the journal is.
    pub fn all_gone(&self) -> Vec<Finding> {
        let runs = self.runs.iter().map(|head| Finding::RunGone { run: head.run.to_string() });
        let mut gone: Vec<Finding> = runs.collect();
        self.pruned.compare(&[], &mut |finding| gone.push(finding));
        gone
    }

    /// Says what is shorter, different or gone in `store` since these were its
    /// heads. What is stored is taken at its word: an audit checks that.
    pub fn compare(
        &self,
        store: &dyn Store,
        report: &mut dyn FnMut(Finding),
    ) -> Result<(), StoreError> {
        let entries = store.pruned_runs()?;
        self.pruned.compare(&entries, report);
        // The last entry of a run that was pruned, resumed from a backup and
        // pruned again is the one that counts.
        let pruned: HashMap<&str, &PrunedRun> =
            entries.iter().map(|entry| (entry.run.as_str(), entry)).collect();
        for head in &self.runs {
            let row = match store.run(&head.run) {
                // The audit itself names the cell.
                Err(StoreError::Damaged { .. }) => {
                    let (run, seq) = (head.run.to_string(), head.events);
                    report(Finding::RunReplaced { run, seq });
                    continue;
                }
                row => row?,
            };
            let finding = match row {
                Some(row) => {
                    let stored = store.hash_of_event(&head.run, head.events)?;
                    head.compare(row.last_seq, stored.as_ref())
                }
                None => match pruned.get(head.run.outermost().as_str()) {
                    // Of a run inside another only the other one's entry is left.
                    Some(entry) if entry.run != head.run.as_str() => None,
                    Some(entry) if entry.last_seq > head.events => None,
                    Some(entry) => head.compare(entry.last_seq, Some(&entry.head)),
                    None => Some(Finding::RunGone { run: head.run.to_string() }),
                },
            };
            finding.into_iter().for_each(&mut *report);
        }
        Ok(())
    }
}

/// A text that someone is shown, cut if it is long.
fn beginning(text: &str) -> String {
    const LONGEST: usize = 120;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn head_of(run: &str, events: &str, head: &str) -> Option<Head> {
    let run = RunId::new(run).ok()?;
    Some(Head { run, events: events.parse().ok()?, head: hexadecimal::parse(head)? })
}

impl Head {
    /// What is wrong with a run that has so many events now; `stored` is the
    /// hash of the event that was its last.
    fn compare(&self, events: u64, stored: Option<&Hash>) -> Option<Finding> {
        let run = self.run.to_string();
        if events < self.events {
            return Some(Finding::RunShortened { run, events, recorded: self.events });
        }
        (stored != Some(&self.head)).then_some(Finding::RunReplaced { run, seq: self.events })
    }
}

impl PrunedHead {
    fn compare(&self, entries: &[PrunedRun], report: &mut dyn FnMut(Finding)) {
        if self.entries == 0 {
            return;
        }
        match entries.iter().find(|entry| entry.n == self.entries) {
            Some(entry) if entry.hash == self.head => {}
            Some(entry) => {
                report(Finding::PrunedChanged { n: entry.n, run: entry.run.clone() });
            }
            None => {
                let first = entries.last().map_or(0, |entry| entry.n).min(self.entries - 1) + 1;
                report(Finding::PrunedMissing { first, last: self.entries });
            }
        }
    }
}

/// Hashes as text.
mod hexadecimal {
    use aye_core::digest::hex;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    use super::Hash;

    pub(super) fn parse(text: &str) -> Option<Hash> {
        let mut hash = Hash::default();
        if text.len() != 2 * hash.len() || !text.is_ascii() {
            return None;
        }
        for (place, byte) in hash.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok()?;
        }
        Some(hash)
    }

    pub(super) fn serialize<S: Serializer>(hash: &Hash, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hex(hash))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Hash, D::Error> {
        let text = String::deserialize(from)?;
        parse(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is not a hash")))
    }
}
