//! Which process a step is while it runs.

use aye_core::id::RunId;

/// The process that leads a start of a step on this machine, if it runs and can be seen.
pub fn process_of(run: &RunId, execution: u32) -> Option<i32> {
    aye_process::survivors::leader(&format!("{run}/{execution}"))
}
