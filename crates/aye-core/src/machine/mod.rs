//! The machine: inputs in, events out, and what to do next.
//!
//! [`Machine::handle`] records what the world said as an event (`handle.rs`)
//! and then continues recording consequences until the run rests: a step runs,
//! a question is open, or it is over (`advance.rs`). Every event is folded
//! into the state as it is made, and decisions look at the state only, so a
//! journal cut anywhere continues the same way. [`Machine::next_effect`] reads from
//! the state what the driver should do.
//!
//! | concern | file |
//! |---|---|
//! | what each input means | `handle` |
//! | what follows, until the run rests | `advance` |
//! | the name that one run at a time can hold | `concurrency` |
//! | before a step acts: its gate, its question, its command | `enter`, `ask`, `execution`, `label` |
//! | what a yes leads to and covers; asking, after a look | `follows`, `gate`, `repairs`, `covers` |
//! | variables with the names of secrets, where they are shown | `variables` |
//! | how its action ended | `finish`, `guard`, `retry` |
//! | what a failed step is given differently; fixes from memory | `edit`, `fix`, `heal` |
//! | answers: which count, what they lead to | `validate_answer`, `answer`, `resolve` |
//! | the time of a question: holds, expiry | `deadline` |
//! | which way on, and the end | `settle`, `finally` |
//! | cancelling, pausing, winding down | `stop` |
//! | a run itself; steps that consist of runs | `run`, `nested` |
//! | where an answer comes from; inputs that do not fit | `origin`, `refusal` |
//!
//! The driver commits the events of one call before it acts on the effect: that
//! one commit holds the result of the last step and the intent of the next.
//!
//! Touches nothing: the driver commits the events and carries out the effects.

mod advance;
mod agreed;
mod answer;
mod ask;
mod concurrency;
mod covers;
mod deadline;
mod edit;
mod enter;
mod execution;
mod finally;
mod finish;
mod fix;
mod follows;
mod gate;
mod guard;
mod handle;
mod heal;
mod label;
mod nested;
mod origin;
mod refusal;
mod repairs;
mod resolve;
mod retry;
mod run;
mod settle;
mod stop;
mod validate_answer;
mod variables;

pub use edit::MOST_EDITS;
pub use handle::Reaction;
pub use refusal::Refusal;
pub use run::{Limits, Machine, Start, StartError};
