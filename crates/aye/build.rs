//! Packs the relative relocations of the program, where its C library can unpack them.
//!
//! A static program relocates itself at each start; packed, its relocations are a tenth of the
//! bytes to read. glibc can do that since 2.36. An older one would not relocate at all, and the
//! program would crash at once.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_gnu = std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu");
    if is_gnu && glibc().is_some_and(|version| version >= (2, 36)) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of the C library that is linked: that of this machine.
fn glibc() -> Option<(u32, u32)> {
    let said = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let said = String::from_utf8(said.stdout).ok()?;
    let (major, minor) = said.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
