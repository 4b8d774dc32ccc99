//! The store: the journal of every run, and what lets several processes share
//! it. This folder holds the ports; an adapter has a folder of its own.
//!
//! Data flow. The driver of a run holds its [`Lease`] and is the only one that
//! appends to it. [`Journal::append`] writes, in one transaction, the events
//! with their hash chain, the rows derived from them and the verdicts on the
//! requests they settle, then wakes the processes that listen. All others read:
//! listings from the derived rows, the truth from the events. Anyone who wants
//! something of a run leaves a request in the mailbox ([`Mailbox::send`]),
//! which wakes its driver, and waits for the verdict.
//!
//! Derived rows are a fold of the events and nothing else (`derive`), so they
//! can be thrown away and checked ([`Audit::audit`]). Nothing here reads a
//! clock: time is an argument.
//!
//! Adapters: [`SqliteStore`], the default; [`MemoryStore`], for tests. Both pass
//! the contract suite in `tests/it/store/contract`, and so must any other.
//!
//! Touches nothing itself; the SQLite adapter touches files below `AYE_HOME`. Events go to the
//! drivers that resume a run and, through `usecases::JournalReader`, to every front end.

mod audit;
mod chain;
mod concurrency;
mod derive;
mod error;
mod heads;
mod index;
mod journal;
mod lease;
mod lessons;
mod log_seal;
mod logs;
mod mailbox;
mod memory;
mod open_store;
mod outbox;
mod plain_logs;
mod presence;
mod prune;
mod pruned_run;
mod rows;
mod source;
mod sqlite;
mod wake;

pub use aye_core::journal::RunStatus;

pub use audit::{Audit, Audited, Finding, SchemaProblem};
pub use error::StoreError;
pub use heads::{BadHeads, Head, Heads, PrunedHead};
pub use index::{Found, Questions, RunFilter, Runs};
pub use journal::Journal;
pub use lease::{Held, Hold, Holder, Lease, LeaseError, Leases};
pub use lessons::Lessons;
pub use log_seal::seal;
pub use logs::Logs;
pub use mailbox::{Mailbox, Pending, RequestId, Verdict};
pub use memory::MemoryStore;
pub use open_store::{OpenStore, Sqlite};
pub use outbox::{
    Announcer, AnswerToken, Job, MessageRow, MessageState, NewMessage, Occasion, Outbox, Settled,
};
pub use plain_logs::PlainLogs;
pub use presence::{LIFETIME, Presence, PresenceKind, REFRESH, Showing, ShowingProcess, Shown};
pub use prune::{Prune, Pruned, Pruner};
pub use pruned_run::PrunedRun;
pub use rows::{NameClaim, QuestionRow, QuestionState, RunRow};
pub use source::Source;
pub use sqlite::{Durability, Home, Notifier, SqliteStore};
pub use wake::{Listener, Wake, Watch};

/// Everything a driver and a front end need of a store.
pub trait Store:
    Journal
    + Runs
    + Questions
    + Mailbox
    + Lessons
    + Presence
    + Outbox
    + Leases
    + Wake
    + Logs
    + Audit
    + Prune
    + std::fmt::Debug
    + Send
{
    /// Whether someone drives a run: the lease of the outermost run covers
    /// the runs inside it.
    fn is_driven(&self, run: &aye_core::id::RunId) -> Result<bool, StoreError> {
        let outer = self.outermost(run)?.map_or_else(|| run.clone(), |outer| outer.id);
        Ok(self.holder(&outer)?.is_some())
    }

    /// Which run has to end before this one can take a name; none if it is free.
    /// Only the append that takes it says so for certain.
    fn blocked(
        &self,
        run: &aye_core::id::RunId,
        name: &str,
    ) -> Result<Option<aye_core::journal::Blocked>, StoreError> {
        let claimants = self.claimants(name)?;
        let since = claimants.iter().find(|row| row.id == *run).and_then(concurrency::since);
        concurrency::blocked(claimants, run, since, |other| self.is_driven(other))
    }
}
