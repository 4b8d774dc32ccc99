//! Secrets that nobody can guess, and what is kept of them.

use aye_core::digest::digest;

use crate::random::random_hex;

/// A new secret, as hexadecimal digits.
pub(super) fn new_secret() -> std::io::Result<String> {
    random_hex(32)
}

/// What is kept of a secret. It has 256 random bits, so a plain digest hides it.
pub(super) fn kept(secret: &str) -> String {
    digest(&[b"aye people", secret.as_bytes()])
}
