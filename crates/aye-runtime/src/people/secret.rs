//! Secrets that nobody can guess, and what is kept of them.

use aye_core::digest::digest;
use rustix::rand::{GetRandomFlags, getrandom};

/// A new secret, as hexadecimal digits.
pub(super) fn new_secret() -> std::io::Result<String> {
    let mut bytes = [0u8; 32];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What is kept of a secret. It has 256 random bits, so a plain digest hides it.
pub(super) fn kept(secret: &str) -> String {
    digest(&[b"aye people", secret.as_bytes()])
}
