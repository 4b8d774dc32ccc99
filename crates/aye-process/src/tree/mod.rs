//! Who descends from whom.
//!
//! Down: `slots` lists the children that may run at once, `members` all processes of one of
//! them, wherever they have gone. Left: `survivors` finds what an earlier run could not end. Up:
//! `ancestry` tells whether a runner started this process, by a `process_table` that no mount can
//! fake. Touches `/proc` through `system`; `running` and `start` decide what becomes of what is
//! found.

pub(crate) mod ancestry;
#[cfg_attr(not(target_os = "linux"), path = "members_by_group.rs")]
mod members;
#[cfg(target_os = "linux")]
mod process_table;
pub mod slots;
pub mod survivors;

pub(crate) use members::{Member, Root, below, is_stopped, members, name, reap_strays};
