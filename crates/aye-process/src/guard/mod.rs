//! Nothing survives, even when the runner itself is killed.
//!
//! [`start`] forks once, before anything else happens. The parent becomes
//! the guard, the child continues as the engine. Both adopt orphans. When the
//! engine is killed, all its children become the guard's, which kills them
//! and ends in the same way. When the guard is killed, the engine notices
//! ([`Happening::GuardLost`](crate::Happening::GuardLost)) and kills them. They are in different process groups, so
//! that no single signal reaches both.
//!
//! The engine stays in the group in which the shell has put us: Ctrl-C,
//! Ctrl-Z, reading the terminal and the other members of a pipeline work as
//! if there were no guard. The guard, which the shell waits for, leaves for a
//! group of its own and mirrors the engine: it passes signals on, stops when
//! the engine stops, and ends as the engine ends, also by a signal. Only
//! when it cannot leave, because it leads a session (`ssh -t`, a container)
//! or the group is one of another PID namespace, the engine gets the group of its own, and with it the terminal.
//!
//! `fork` makes guard and engine and is the guard's life; `engine` is what the engine knows of
//! it; `signals` are the runner's own signals, also those that the guard passes on.
//!
//! Touches processes and signals (through `system`) and, to give it back after a crash, the
//! `terminal`. What happens here, such as the death of the guard, comes out of `running`'s poll.

mod engine;
#[cfg_attr(not(target_os = "linux"), path = "no_fork.rs")]
mod fork;
pub(crate) mod signals;

#[cfg(target_os = "linux")]
pub(crate) use engine::{ENGINE_NAME, GUARD_NAME, is_spared};
pub(crate) use engine::{forget, note_loss, settle, spare_started, watch};
pub use engine::{pid, spare, start};
