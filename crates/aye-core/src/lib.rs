//! Aye's core: no files, no clocks, no environment, no randomness.

pub mod diagnostic;
pub mod skill;
pub mod yaml;
