//! Runs programs so that nothing hangs, nothing leaks and nothing is lost.
//!
//! A [`Spec`] says what to run. [`spawn()`] takes a slot, finds the program, starts
//! it in its own session and returns a [`Running`]. [`wait()`] is the only
//! place that waits: one `poll` over the ends of all children, their output
//! and input, their timers and the caller's own descriptors. Output goes to
//! log files (`log`) or a ring (`ring`) and, for live children, to the caller's
//! view. When the last process of a child's `tree` is gone, [`wait()`] hands out an [`Exit`].
//!
//! Around it: [`Signals`] turns the runner's own signals into events for
//! the same poll, [`suspend()`] is Ctrl-Z, [`guard`] makes sure that nothing
//! survives when the runner itself is killed, [`serve`] starts what serves
//! several steps, [`survivors`] finds what an
//! earlier run left all the same, [`terminal`] lends the terminal, [`policy`] says what may run,
//! [`text`] and [`lines`] make output safe to show.
//!
//! The crate is synchronous, starts no thread and knows nothing of skills.

mod ancestry;
mod capture;
mod clock;
mod compress;
mod dispositions;
mod ending;
mod environment;
mod error;
mod exit;
pub mod group;
pub mod guard;
mod inherited;
mod launch;
pub mod lines;
pub mod log;
mod log_reader;
mod mask;
pub mod policy;
#[cfg(target_os = "linux")]
mod process_table;
#[cfg(target_os = "linux")]
mod procfs;
mod pty;
mod reap;
mod reserve;
mod resolve;
mod ring;
mod running;
mod service;
mod signals;
pub mod slots;
mod spawn;
mod spec;
pub mod survivors;
mod suspend;
pub mod terminal;
mod terminal_hint;
pub mod text;
#[cfg_attr(not(target_os = "linux"), path = "tree_group.rs")]
mod tree;
mod wait;

pub use ancestry::{Ancestry, own_namespace, own_user_map};
pub use dispositions::survive_file_size_limit;
pub use error::SpawnError;
pub use exit::{Exit, Left, Outcome, Output, Status};
pub use log_reader::LogReader;
pub use resolve::resolve;
pub use running::{Running, Stop};
pub use service::{Pipes, Service, serve};
pub use signals::{Signal, Signals};
pub use spawn::spawn;
pub use spec::{
    DEFAULT_GRACE, DEFAULT_LINGER, DEFAULT_TAIL, Limits, Sink, Spec, Stdin, Stream, grace,
    set_grace,
};
pub use suspend::suspend;
pub use wait::{Happening, LiveView, wait, wait_aside};
