//! How much of what a program wrote is its step's result.

use aye_process::Exit;
use serde_json::Value;

use super::drive::Driver;
use super::lane::{LaneId, Meaning, Work};

/// How much of each stream a journal keeps; the log has the rest. A result
/// this short always has room.
pub(super) const KEPT: usize = 64 * 1024;
/// How much the results may be that a run and the runs inside it hold at once.
const TOTAL: usize = 64 * 1024 * 1024;

/// The room there is for a result.
pub(super) struct Room {
    /// The newest bytes that are it.
    pub(super) bytes: usize,
    /// What a person should know about that.
    pub(super) remark: Option<String>,
}

impl Driver<'_> {
    /// How much of this output is the result of a lane's step.
    pub(super) fn room_for(&self, id: LaneId, exit: &Exit, meaning: &Meaning) -> Room {
        // How much of its output is a step's result, for later steps.
        let most = self.parts.max_result;
        let wrote = exit.stdout.plain_total();
        let bytes = |bytes| Room { bytes, remark: None };
        match meaning {
            // A step that failed has no result.
            _ if wrote <= KEPT as u64 || !exit.success() => return bytes(KEPT),
            // It may be data, which cannot be cut.
            Meaning::Tool(_) | Meaning::Python(_) => return bytes(most),
            Meaning::Text => {}
        }
        let step = self.lane(id).machine.state().current.as_deref();
        if !step.is_some_and(|step| self.is_read(id, step)) {
            return bytes(KEPT);
        }
        let needed = most.min(usize::try_from(wrote).unwrap_or(most));
        let all = "the log has all of it";
        if self.held() + needed > TOTAL {
            let remark = format!(
                "its result is the last {} KB of its output, because a run holds at most {} MB of results; {all}",
                KEPT >> 10,
                TOTAL >> 20
            );
            return Room { bytes: KEPT, remark: Some(remark) };
        }
        let cut = wrote > most as u64;
        let remark =
            cut.then(|| format!("its result is the last {} of its output; {all}", amount(most)));
        Room { bytes: most, remark }
    }

    /// Whether anything can read the result of a lane's step, by its name or
    /// as what the step around it gives.
    fn is_read(&self, id: LaneId, step: &str) -> bool {
        let lane = self.lane(id);
        let around = || lane.parent.zip(lane.machine.gives_result_to(step));
        lane.machine.reads(step) || around().is_some_and(|((id, _), step)| self.is_read(id, step))
    }

    /// The bytes of the results there are.
    fn held(&self) -> usize {
        let lanes = self.lanes.live().map(|(_, lane)| {
            let inside = match &lane.work {
                Work::Nested { inside, .. } => inside.results().map(size).sum(),
                _ => 0,
            };
            inside + lane.machine.state().outputs.values().map(size).sum::<usize>()
        });
        lanes.sum()
    }
}

/// `10 MB`, or `64 KB` where it is less than one.
fn amount(bytes: usize) -> String {
    match bytes >> 20 {
        0 => format!("{} KB", bytes >> 10),
        megabytes => format!("{megabytes} MB"),
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(map) => map.iter().map(|(key, item)| key.len() + size(item)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
