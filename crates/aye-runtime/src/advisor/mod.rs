//! The advisor: a program that is asked what it thinks of a question.
//!
//! It gets one JSON document on its standard input (`document`, from
//! [`crate::question_context`]) and says something (`reply`); the prompt shows it
//! beside the question. It decides nothing: what it says is recorded and
//! shown, and counts for nothing. `advising` is the only part that touches a process.
//!
//! What it says goes to the prompt that started it, and from there to the driver, which records it
//! as `confirmation_advised`.

mod advising;
mod document;
mod reply;

pub use advising::Advising;
pub use advising::Advisor;
pub use document::{BUDGET, document, tell};
pub use reply::{AdvisorState, AskedAdvisor, read};
