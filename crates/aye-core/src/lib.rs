//! Aye's core: no files, no clocks, no environment, no randomness.

pub mod skill;
