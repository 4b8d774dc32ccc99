//! Runs programs so that nothing hangs, nothing leaks and nothing is lost.
//!
//! ```text
//! Spec -> start -> Running -> running (wait) -> Exit
//!                               |  ^
//!                        output-'  '- tree, guard, terminal
//! ```
//!
//! A [`Spec`] says what to run. [`spawn()`] (`start`) takes a slot, finds the program, starts
//! it in its own session and returns a [`Running`]. [`wait()`] (`running`) is the only
//! place that waits: one `poll` over the ends of all children, their output
//! and input, their timers and the caller's own descriptors. Output goes to
//! log files or a ring (`output`) and, for live children, to the caller's
//! view. When the last process of a child's `tree` is gone, [`wait()`] hands out an [`Exit`].
//!
//! Around it: [`Signals`] turns the runner's own signals into events for
//! the same poll, [`suspend()`] is Ctrl-Z, [`guard`] makes sure that nothing
//! survives when the runner itself is killed, [`serve`] starts what serves
//! several steps, [`survivors`] finds what an
//! earlier run left all the same, [`terminal`] lends the terminal, [`policy`] says what may run,
//! [`text`] and [`lines`] make output safe to show. `system` is what they all stand on.
//!
//! The crate is synchronous, knows nothing of skills and starts no thread.
//!
//! Touches processes, terminals and log files; it is the only crate with `unsafe`. An [`Exit`] goes
//! to the driver in `aye-runtime`, which makes an input of the machine from it.

pub mod guard;
mod output;
mod running;
mod start;
mod system;
pub mod terminal;
mod tree;

pub use guard::signals::{Signal, Signals};
pub use output::captured::Output;
pub use output::log_reader::LogReader;
pub use output::stream::Stream;
pub use output::{lines, log, text};
pub use running::child::{Running, Stop};
pub use running::exit::{Exit, Left, Outcome, Status};
pub use running::reap::reap;
pub use running::suspend::suspend;
pub use running::wait::{Happening, LiveView, wait, wait_aside, wait_aside_with, wait_to_end};
pub use start::carriers::{CARRIERS, withhold};
pub use start::error::SpawnError;
pub use start::policy;
pub use start::resolve::resolve;
pub use start::service::{Pipes, Service, serve};
pub use start::spawn::spawn;
pub use start::spec::{
    DEFAULT_GRACE, DEFAULT_LINGER, DEFAULT_TAIL, Limits, Sink, Spec, Stdin, grace, set_grace,
};
pub use system::core_dumps::disable_core_dumps;
pub use system::dispositions::{end_by, survive_file_size_limit};
pub use system::group;
pub use system::peer::peer_uid;
pub use system::priority::only_when_idle;
pub use system::signal_name::{signal_name, signal_words};
pub use tree::ancestry::{Ancestry, OwnNamespaces, ancestors, is_visible, own_namespaces};
pub use tree::{slots, survivors};
