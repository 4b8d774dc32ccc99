//! The port of step logs. They are files, since programs write to them as they
//! run; the store says where.

use std::path::PathBuf;

use aye_core::id::RunId;

use super::{PlainLogs, StoreError};

/// Where the output of steps is kept; pruned with the run.
pub trait Logs {
    /// Where the output of one execution of a step is kept.
    fn log(&self, run: &RunId, execution: u32, step: &str) -> PathBuf;

    /// Makes the directory of a run's logs.
    fn create_logs(&self, run: &RunId) -> Result<PathBuf, StoreError>;

    /// Those that could be compressed.
    fn plain_logs(&self) -> PlainLogs;
}

/// The file name of an execution's log. A step may be called what it likes; a
/// file may not: the number tells them apart.
pub(super) fn file_name(execution: u32, step: &str) -> String {
    const LONGEST: usize = 100;
    let mut end = step.len().min(LONGEST);
    while !step.is_char_boundary(end) {
        end -= 1;
    }
    format!("{execution:04}-{}", &step[..end])
}
