//! Terminals: `handover` lends the real one to a child and gets it back clean, `pty` makes one
//! for a child that only prints. Touches `/dev/tty` and `/dev/ptmx`.
//!
//! `start` hands the terminal to the child; `running` takes it back and reads what the child
//! prints.

pub(crate) mod handover;
pub(crate) mod pty;

pub use handover::Terminal;
