//! Where a run stands, for views: its status in the journal, who
//! drives it, and whether someone is asked.

use aye_core::journal::{RunStatus, State};
use aye_core::word_enum;

use crate::error::Error;
use crate::runtime::Runtime;
use crate::store::RunFilter;

use super::run_views::{ListedRun, Overview};

word_enum! {
    /// Where a run stands.
    pub enum RunStanding {
        /// A process drives it.
        Running = "running",
        /// It waits for the name of its `concurrency`, which another run has, or for a slot.
        Queued = "queued",
        /// Someone is asked, in it or inside it.
        Waiting = "waiting",
        /// Nobody drives it; it can be resumed.
        Paused = "paused",
        /// The process that drove it is gone; it can be resumed.
        CutOff = "cut-off",
        /// It reached a good end.
        Completed = "completed",
        /// It ended badly.
        Failed = "failed",
        /// It was declined or cancelled.
        Cancelled = "cancelled",
    }
}

impl RunStanding {
    /// From what the journal says, whether a process drives it, and how many
    /// questions are open.
    pub fn of(status: RunStatus, driven: bool, waiting: u32) -> Self {
        match status {
            RunStatus::Running | RunStatus::Paused if waiting > 0 => Self::Waiting,
            RunStatus::Running if driven => Self::Running,
            RunStatus::Running => Self::CutOff,
            RunStatus::Paused => Self::Paused,
            RunStatus::Completed => Self::Completed,
            RunStatus::Failed => Self::Failed,
            RunStatus::Cancelled => Self::Cancelled,
        }
    }

    /// The same from the fold of a run's events.
    pub fn of_state(state: &State, driven: bool, waiting: u32) -> Self {
        let standing = Self::of(state.status(), driven, waiting.max(state.is_asking().into()));
        standing.or_queued(state.waits_for_name().is_some() || state.is_queued())
    }

    /// The same as far as a run's own events tell: whether a process drives it is not looked at.
    pub fn of_events(state: &State) -> Self {
        Self::of_state(state, true, 0)
    }

    /// The same for a run that waits for a name or a slot, where it does.
    #[must_use]
    fn or_queued(self, waits: bool) -> Self {
        if waits && self == Self::Running { Self::Queued } else { self }
    }

    /// What the journal says of runs that stand like this.
    fn statuses(self) -> &'static [RunStatus] {
        match self {
            Self::Running | Self::Queued | Self::CutOff => &[RunStatus::Running],
            Self::Waiting => &[RunStatus::Running, RunStatus::Paused],
            Self::Paused => &[RunStatus::Paused],
            Self::Completed => &[RunStatus::Completed],
            Self::Failed => &[RunStatus::Failed],
            Self::Cancelled => &[RunStatus::Cancelled],
        }
    }
}

impl ListedRun {
    /// Where it stands.
    pub fn standing(&self) -> RunStanding {
        let standing = RunStanding::of(self.row.status, self.driven, self.row.waiting);
        standing.or_queued(self.row.waits_for_name().is_some() || self.queued)
    }
}

impl Overview {
    /// Where it stands.
    pub fn standing(&self) -> RunStanding {
        let waiting = u32::try_from(self.waiting).unwrap_or(u32::MAX);
        RunStanding::of_state(&self.state, self.driven, waiting)
    }
}

impl Runtime {
    /// The runs of a filter that stand like this, the newest first.
    pub fn runs_that_stand(
        &self,
        standing: RunStanding,
        filter: &RunFilter,
    ) -> Result<Vec<ListedRun>, Error> {
        let mut found = Vec::new();
        for status in standing.statuses() {
            // What else counts is not in the index; few runs have not ended.
            let limit = if status.is_ended() { filter.limit } else { u32::MAX };
            found.extend(self.runs(&RunFilter {
                status: Some(*status),
                limit,
                ..filter.clone()
            })?);
        }
        found.retain(|run| run.standing() == standing);
        found.sort_by_key(|run| std::cmp::Reverse(run.row.n));
        found.truncate(usize::try_from(filter.limit).unwrap_or(usize::MAX));
        Ok(found)
    }
}
