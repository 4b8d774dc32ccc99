//! Checking that the journal is what was written.
//!
//! Each event is checked against the hash stored before it, so a changed event
//! is named alone and not with everything after it. Then the run's row says
//! where the chain has to end, and the derived rows are compared with what the
//! events make of them. One row is in memory at a time, whatever the size.
//!
//! Event numbers are given out without gaps, so the events that are there, those
//! of pruned runs and those that a finding names must add up: whole runs that
//! were removed show.
//!
//! The chain shows damage and careless changes. It is not signed: someone who
//! may write the file and recomputes every hash from the change on, and the
//! run's row, leaves no trace in it. Heads that are kept elsewhere show that too.
//!
//! Touches the journal and the logs, for reading. `aye audit` shows the findings.

mod check;
mod file;
mod heads;
mod logs;
mod numbers;
mod runs;
mod sources;
mod verify;
mod whole;
