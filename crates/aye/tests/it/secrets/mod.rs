//! Secrets: how they come in, where they must not go, and who tries to get at them.

mod channel;
mod forms;
mod kept;
mod sources;
mod traces;
mod unknown;
