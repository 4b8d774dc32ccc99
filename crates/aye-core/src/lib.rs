//! Aye's core: no files, no clocks, no environment, no randomness.

pub mod digest;
pub mod event;
pub mod id;
pub mod input;
pub mod question;
pub mod skill;
