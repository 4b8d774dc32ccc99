//! Runs whose driver died, and that nobody has to be asked about before they continue.

use aye_core::event::{Driver, EventKind, StartedBy};
use aye_core::journal::State;
use indexmap::IndexMap;
use jiff::{SignedDuration, Timestamp};

use crate::error::Error;
use crate::runtime::Runtime;
use crate::store::{RunFilter, RunRow, RunStatus};

use super::journal_reader::JournalReader;

/// How often a run is taken up: one that ends its driver each time is left alone.
const MOST: usize = 3;

impl Runtime {
    /// The runs that a server takes up: driven in the background, or begun by an
    /// assistant, a schedule or the server; by this account, on this machine since it
    /// was started; not more often than three times. One that someone drove at a
    /// terminal is theirs.
    pub fn abandoned_runs(&self) -> Result<Vec<RunRow>, Error> {
        let Some(journal) = self.journal_if_any()? else { return Ok(Vec::new()) };
        let filter =
            RunFilter { status: Some(RunStatus::Running), limit: u32::MAX, ..RunFilter::default() };
        let mut found = journal.runs(&filter)?;
        let here = self.driver();
        let booted = self.booted();
        found.retain(|row| {
            row.parent.is_none()
                && (&row.driver.user, &row.driver.host) == (&here.user, &here.host)
                && !journal.is_driven(&row.id).unwrap_or(true)
                && is_to_be_taken_up(&journal, row, booted).unwrap_or(false)
        });
        Ok(found)
    }

    /// Drives a run that was abandoned in a process of its own.
    pub fn take_up_abandoned(&self, row: &RunRow) -> Result<(), Error> {
        self.resume_detached(row, IndexMap::new(), &mut |_| {})
    }

    /// When this machine was started.
    fn booted(&self) -> Timestamp {
        let up = SignedDuration::from_secs(rustix::system::sysinfo().uptime);
        self.now().saturating_sub(up).unwrap_or(Timestamp::MIN)
    }
}

fn is_to_be_taken_up(
    journal: &JournalReader,
    row: &RunRow,
    booted: Timestamp,
) -> Result<bool, Error> {
    let state = journal.state(&row.id)?;
    let events = journal.events(&row.id)?;
    let mut drivers = events.iter().filter_map(|event| match &event.kind {
        EventKind::SkillStarted(started) => Some((event.at, &started.driver)),
        EventKind::SkillResumed { driver, .. } => Some((event.at, driver)),
        _ => None,
    });
    let Some(first) = drivers.next() else { return Ok(false) };
    let resumed: Vec<(Timestamp, &Driver)> = drivers.collect();
    let (since, last) = resumed.last().copied().unwrap_or(first);
    Ok(since >= booted && resumed.len() < MOST && was_alone(&state, last))
}

/// Whether the last driver of a run had nobody at its terminal.
fn was_alone(state: &State, last: &Driver) -> bool {
    let by_clock = state.started.started_by == Some(StartedBy::Schedule);
    last.detached || by_clock && !last.attended
}
