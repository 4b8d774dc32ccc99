//! Terminals: `handover` lends the real one to a child and gets it back clean, `pty` makes one
//! for a child that only prints. Touches `/dev/tty` and `/dev/ptmx`.
//!
//! `start` and `running` use it.

pub(crate) mod handover;
pub(crate) mod pty;

pub use handover::Terminal;
