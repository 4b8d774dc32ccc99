//! The core's integration tests, in one binary because linking is what costs.

#![expect(clippy::unwrap_used, reason = "a failure is the test's failure, in helpers too")]

mod advice;
mod answers;
mod bound;
mod build;
mod concurrency;
mod covers;
mod covers_gate;
mod covers_repairs;
mod covers_secrets;
mod covers_texts;
mod destructive;
mod edits;
mod epochs;
mod finally;
mod flow;
mod gates;
mod inputs;
mod lint;
mod nested;
mod oracle;
mod properties;
mod random;
mod reading;
mod recorded;
mod recovery;
mod routing;
mod secrets;
mod shell;
mod skill;
mod stopping;
mod templates;
mod whole;
