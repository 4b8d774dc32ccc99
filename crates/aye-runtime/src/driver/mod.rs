//! The driver: carries out what the machine wants.
//!
//! ```text
//! machine.next_effect() -> work (program, tool, block, runs inside) or ask -> Input
//!        ^                                                              |
//!        +------------ state <- events <- commit <- machine.handle <----+
//! ```
//!
//! | concern | file |
//! |---|---|
//! | the loop, commit and show | `drive` |
//! | a run and what is done for it; all of them | `lane`, `lanes` |
//! | waiting for whatever comes first | `wait` |
//! | programs, blocks, slots | `work`, `processes`, `computing` |
//! | tools, and what servers ask in a call | `calling`, `calls`, `server_questions` |
//! | runs inside a step | `nested`, `child_run` |
//! | the name that one run at a time has; runs that rest | `concurrency`, `resting` |
//! | what decides what comes next | `inspecting` |
//! | questions, who asks them, and where they are shown | `ask`, `questions`, `presence` |
//! | requests from other processes, signals, being told to stop | `requests`, `mail`, `stopping` |
//! | results and logs of steps that have ended | `result_limits`, `outcome`, `logs` |
//! | answers from memory and for it, known issues | `remember`, `known` |
//! | what a block writes to work memory | `work_memory` |
//! | changing what a failed step is given | `editing` |
//! | known fixes, warnings, what is learned from failures | `fixes`, `warnings`, `learning`, `pending_lessons` |
//!
//! `Lanes`, `ChildRuns`, `Processes`, `Computing`, `Calls`, `Questions`, `Mail`,
//! `PendingLessons`, `Logs` and `Stopping` own their fields and know nothing of
//! the driver, which connects them.
//!
//! One loop, one thread: a child's end, a signal, a request in the mailbox, an
//! answer at a prompter and a deadline all become one [`aye_core::input::Input`]
//! and are handled in turn. The events of one input are committed before
//! anything is done about them.
//!
//! Touches the store, processes, compute, tools, prompters and the report, each through its module.
//! Committed events go to the report; how the run ended goes to the use case that drove it.

mod ask;
mod calling;
mod calls;
mod child_run;
mod computing;
mod concurrency;
mod drive;
mod editing;
mod fixes;
mod inside_secrets;
mod inspecting;
mod known;
mod lane;
mod lanes;
mod learning;
mod logs;
mod mail;
mod nested;
mod outcome;
mod pending_lessons;
mod presence;
mod processes;
mod questions;
mod remember;
mod requests;
mod resting;
mod result_limits;
#[cfg(test)]
mod sample;
mod server_questions;
mod stopping;
mod wait;
mod warnings;
mod work;
mod work_memory;

pub use child_run::Skills;
pub use child_run::{restore_inside, scope_of};
pub use drive::{Driven, Driver, Parts};
pub use inside_secrets::InsideSecrets;
pub use known::{error_of, known_lines, sentence, tool_of};
pub use outcome::Outcome;
pub use remember::RememberedAnswer;
pub use server_questions::{GONE, close_form};
