//! The journal: a run's events, and the state that is their fold.
//!
//! `State::begin(first event)`, then `state.apply(event)` for each further
//! one. Folding needs no skill, no clock and no outside: a journal alone says
//! where a run stands.
//!
//! Touches nothing. The store hands in events; the machine and every view read the state.

mod claim;
mod finally;
mod fold;
mod phase;
mod record;
mod state;

pub use claim::{Blocked, Claim, Waiting};
pub use finally::Finally;
pub use fold::FoldError;
pub use phase::{
    Ended, Healing, Phase, Resolution, RunStatus, Settled, StepOutcome, Transition, UnknownOutcome,
};
pub use record::{Approved, Changed, Covered, StepRecord, StepStatus};
pub use state::State;
