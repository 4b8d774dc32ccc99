//! A child between its start and the end of its last process.
//!
//! `wait` polls and tells `child` what is ready; `stop` moves it from stage to stage until
//! nothing of it is left; `exit` is the result that `wait` hands out. `clock` counts the time a
//! child is not paused, `suspend` is Ctrl-Z, `reap` is for programs that nobody waits for, `terminal_hint` tells whether a failure was about a
//! missing terminal. Touches `output` (its bytes), `tree` (its processes), `terminal` (on loan)
//! and `guard` (whether it lives). The `Exit` goes to the caller of `wait`: the driver.

pub(crate) mod child;
mod clock;
pub(crate) mod exit;
pub(crate) mod reap;
mod stop;
pub(crate) mod suspend;
mod terminal_hint;
pub(crate) mod wait;
