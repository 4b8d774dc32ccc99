//! Runs whose driver died, and that nobody has to be asked about before they continue.

use aye_core::event::{BadOutcome, Driver, Event, EventKind, StartedBy};
use aye_core::id::RunId;
use aye_core::journal::State;
use aye_core::question::Channel;
use jiff::{SignedDuration, Timestamp};

use crate::error::Error;
use crate::runtime::Runtime;
use crate::store::{RunFilter, RunRow, RunStatus};

use super::journal_reader::JournalReader;

/// How often a run is taken up without getting any further: one that ends its driver
/// each time is left alone.
const MOST: usize = 3;

impl Runtime {
    /// The runs that a server takes up: driven in the background, or begun by an
    /// assistant, a schedule or the server; by this account, on this machine since it
    /// was started; not more often than three times without progress. One that someone
    /// drove at a terminal is theirs.
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
    if !was_alone(&journal.state(&row.id)?) {
        return Ok(false);
    }
    let events: Vec<Event> =
        journal.events_within(&row.id)?.into_iter().map(|(_, event)| event).collect();
    let since = events.iter().rev().find(|event| event.run == row.id && driver(event).is_some());
    Ok(since.is_some_and(|event| event.at >= booted) && times_taken_up(&row.id, &events) < MOST)
}

/// How often the run continued after its driver had died, since it got any further or
/// someone resumed it. `events` are those of the run and of the runs inside it.
fn times_taken_up(run: &RunId, events: &[Event]) -> usize {
    let mut times = 0;
    for event in events {
        match &event.kind {
            // It stood still together with its driver.
            EventKind::SkillResumed { suspended_ms: Some(_), .. } => {}
            EventKind::SkillResumed { driver, .. } if event.run == *run => {
                times = if driver.taken_up { times + 1 } else { 0 };
            }
            kind if is_progress(kind) => times = 0,
            _ => {}
        }
    }
    times
}

fn driver(event: &Event) -> Option<&Driver> {
    match &event.kind {
        EventKind::SkillStarted(started) => Some(&started.driver),
        EventKind::SkillResumed { driver, .. } => Some(driver),
        _ => None,
    }
}

/// Whether a run got further with this: a step ended, or a person answered. That its
/// driver died is not such an end, and neither is what memory says each time anew.
fn is_progress(kind: &EventKind) -> bool {
    match kind {
        EventKind::StepCompleted(_) | EventKind::StepSkipped { .. } => true,
        EventKind::StepFailed(failed) => {
            !matches!(failed.outcome, BadOutcome::Unknown | BadOutcome::Interrupted)
        }
        EventKind::ConfirmationAnswered(answered) => {
            answered.refused.is_none() && answered.answer.prompter != Channel::Memory
        }
        _ => false,
    }
}

/// Whether the last driver of a run had nobody at its terminal.
pub(super) fn was_alone(state: &State) -> bool {
    let by_clock = state.started.started_by == Some(StartedBy::Schedule);
    state.driver.detached || by_clock && !state.driver.attended
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event(run: &RunId, kind: &Value) -> Event {
        let mut event = json!({ "v": 1, "run": run, "seq": 1, "at": "2026-11-17T10:00:00Z" });
        event.as_object_mut().unwrap().extend(kind.as_object().unwrap().clone());
        serde_json::from_value(event).unwrap()
    }

    fn resumed(taken_up: bool) -> Value {
        let driver =
            json!({ "user": "u", "host": "h", "pid": 1, "detached": true, "taken_up": taken_up });
        json!({ "type": "skill_resumed", "driver": driver })
    }

    fn failed(outcome: &str) -> Value {
        json!({ "type": "step_failed", "step": "s", "execution": 1, "outcome": outcome, "message": "m" })
    }

    #[test]
    fn only_takings_up_without_progress_count() {
        let (run, other) = (RunId::from_random(1), RunId::from_random(2));
        let times = |kinds: &[Value]| {
            let events: Vec<Event> = kinds.iter().map(|kind| event(&run, kind)).collect();
            times_taken_up(&run, &events)
        };
        let (alone, by_a_person) = (resumed(true), resumed(false));
        assert_eq!(times(&[alone.clone(), alone.clone(), alone.clone()]), 3);
        assert_eq!(times(&[alone.clone(), by_a_person.clone()]), 0, "someone took care of it");
        assert_eq!(times(&[by_a_person, alone.clone()]), 1);
        assert_eq!(times(&[alone.clone(), failed("unknown"), alone.clone()]), 2);
        assert_eq!(times(&[alone.clone(), failed("failure"), alone.clone()]), 1);
        let mut slept = alone.clone();
        slept["suspended_ms"] = 5.into();
        assert_eq!(times(&[alone.clone(), slept]), 1, "its driver lived");
        // What is inside it gets further, and so does the run.
        let inside = event(&other, &failed("failure"));
        let events = [event(&run, &alone), inside, event(&run, &alone)];
        assert_eq!(times_taken_up(&run, &events), 1);
    }
}
