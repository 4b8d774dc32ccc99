//! SHA-256, as lower-case hexadecimal text.

use sha2::{Digest as _, Sha256};

/// The digest of `parts`, each with its length so that borders cannot move.
pub fn digest(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|b| [DIGITS[usize::from(b >> 4)], DIGITS[usize::from(b & 15)]])
        .map(char::from)
        .collect()
}

/// Whether two secrets are the same. How long that takes says nothing about where they differ.
pub fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn secrets_are_compared_to_their_ends() {
        assert!(is_same(b"abc", b"abc"));
        for (one, other) in [("abc", "abd"), ("ab", "abc"), ("abc", "ab"), ("", "a")] {
            assert!(!is_same(one.as_bytes(), other.as_bytes()), "{one} {other}");
        }
    }
}
