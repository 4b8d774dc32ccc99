//! What nobody can guess.

use std::io;

use aye_core::digest::hex;
use rustix::rand::{GetRandomFlags, getrandom};

/// As many random bytes, in hexadecimal.
///
/// # Errors
/// When the system has none.
pub fn random_hex(bytes: usize) -> io::Result<String> {
    let mut random = vec![0; bytes];
    getrandom(&mut random[..], GetRandomFlags::empty())?;
    Ok(hex(&random))
}
