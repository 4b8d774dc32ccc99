//! The port of the journal: appending events, and reading them back.

use aye_core::event::{Event, EventKind};
use aye_core::id::RunId;
use aye_core::nested::Parent;

use super::{Lease, RequestId, Source, StoreError, Verdict};

/// The events of every run, in the order in which they were committed.
pub trait Journal {
    /// The first append of a run, with the text of its skill.
    fn start(&mut self, lease: &Lease, events: &[Event], source: &Source)
    -> Result<(), StoreError>;

    /// Appends `events` and settles the requests they come from, all or
    /// nothing, and wakes listeners.
    ///
    /// The lease must cover the runs of all events and still have the newest
    /// epoch. The first event's number is the one that the writer expects to
    /// come next: an event that does not follow the last one is a conflict.
    ///
    /// `concurrency_acquired` is refused while another run has the name, or came
    /// first, waits and is driven; `concurrency_waiting` where the run would
    /// wait for one that waits for it. The end of a run that had or wanted a
    /// name wakes the drivers that listen for requests.
    fn append(
        &mut self,
        lease: &Lease,
        events: &[Event],
        settled: &[(RequestId, Verdict)],
    ) -> Result<(), StoreError>;

    /// The events of a run after its event `after`; 0 for all.
    fn events(&self, run: &RunId, after: u64) -> Result<Vec<Event>, StoreError>;

    /// The events of a run and of the runs inside it after number `after`, in
    /// the order in which they were committed, each with its number.
    fn events_within(&self, run: &RunId, after: u64) -> Result<Vec<(u64, Event)>, StoreError>;

    /// Events of every run after number `after`, at most `limit`, each with
    /// its number: what a watcher asks for, with the last number it saw.
    fn events_after(&self, after: u64, limit: u32) -> Result<Vec<(u64, Event)>, StoreError>;

    /// The first event of a run.
    fn first_event(&self, run: &RunId) -> Result<Option<Event>, StoreError>;

    /// The last `count` events of a run, in order.
    fn tail(&self, run: &RunId, count: u32) -> Result<Vec<Event>, StoreError>;

    /// The number of the newest event there ever was, whether it was pruned since or not; 0
    /// if there was none.
    fn position(&self) -> Result<u64, StoreError>;

    /// The text of a skill with this digest. A text that was changed since is
    /// an error: a resumed run would do something that nobody started.
    fn source(&self, digest: &str) -> Result<Option<Source>, StoreError>;

    /// The steps and items that a run is inside of, from the outside in; none
    /// for a run that someone started.
    fn place_of(&self, run: &RunId) -> Result<Vec<Parent>, StoreError> {
        let mut parents = Vec::new();
        let mut first = self.first_event(run)?;
        while let Some(EventKind::SkillStarted(started)) = first.map(|event| event.kind) {
            let Some(parent) = started.parent else { break };
            first = self.first_event(&parent.run)?;
            parents.push(*parent);
        }
        parents.reverse();
        Ok(parents)
    }
}
