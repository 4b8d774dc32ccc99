//! The `aye` program.

#![forbid(unsafe_code)]

fn main() {}
