//! The server of a home, as `serve.json` announces it, and how it proves that it is the one.
//!
//! A server that was killed leaves its file behind, and another account may listen at its
//! port by then. The lock says whether the server runs; who cannot look at the lock asks
//! for a proof before the token is sent.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use aye_core::digest::hex;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// The file that a server holds a lock on while it runs.
pub const LOCK: &str = "serve.lock";
/// The file that says where it is.
pub const FILE: &str = "serve.json";
/// How many hexadecimal digits a challenge has.
const CHALLENGE: usize = 64;

/// What `serve.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnnouncedServer {
    /// Where the server is.
    pub url: String,
    /// Its process.
    pub pid: u32,
    /// What programs of this user show to it.
    pub token: String,
    /// The file to verify its certificate with, if the server made it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
}

impl AnnouncedServer {
    /// The server of this home, if one runs. A file that outlived its server does not count.
    pub fn running(home: &Path) -> Option<Self> {
        let lock = File::open(home.join(LOCK)).ok()?;
        match lock.try_lock_shared() {
            Err(fs::TryLockError::WouldBlock) => {}
            Ok(()) | Err(fs::TryLockError::Error(_)) => return None,
        }
        serde_json::from_str(&fs::read_to_string(home.join(FILE)).ok()?).ok()
    }
}

/// Proves to a client that the server at this address has the token, without telling it:
/// HMAC-SHA256 under the token of `aye-serve-proof`, the address and the challenge, each on
/// a line. The address keeps another process from passing on the proof of the real server.
/// Nothing for a challenge that is not one.
pub fn proof(token: &str, url: &str, challenge: &str) -> Option<String> {
    let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if challenge.len() != CHALLENGE || !challenge.bytes().all(digit) {
        return None;
    }
    let mut mac = Hmac::<Sha256>::new_from_slice(token.as_bytes()).ok()?;
    mac.update(format!("aye-serve-proof\n{url}\n{challenge}").as_bytes());
    Some(hex(&mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    // printf 'aye-serve-proof\nhttp://127.0.0.1:1\n%064d' 0 | openssl dgst -sha256 -hmac token
    #[test]
    fn a_proof_is_of_this_address_and_challenge() {
        let challenge = "0".repeat(64);
        let found = proof("token", "http://127.0.0.1:1", &challenge).expect("a challenge");
        assert_eq!(found, "ac506c4f9256c6d5f1646c1115376e080366e6812c926ef40c84992b1e7ffe25");
        assert_ne!(proof("token", "http://127.0.0.1:2", &challenge), Some(found.clone()));
        assert_ne!(proof("token", "http://127.0.0.1:1", &"1".repeat(64)), Some(found));
        for other in ["", "0", &"0".repeat(63), &"0".repeat(65), &"x".repeat(64)] {
            assert_eq!(proof("token", "http://127.0.0.1:1", other), None, "{other}");
        }
    }

    #[test]
    fn a_file_that_outlived_its_server_does_not_count() {
        let home = tempfile::tempdir().expect("a directory");
        let lock = File::create(home.path().join(LOCK)).expect("a file");
        let server = AnnouncedServer {
            url: "http://127.0.0.1:1".to_owned(),
            // A process that is there: its number says nothing.
            pid: std::process::id(),
            token: "t".to_owned(),
            certificate: None,
        };
        let text = serde_json::to_string(&server).expect("JSON");
        fs::write(home.path().join(FILE), text).expect("written");
        assert_eq!(AnnouncedServer::running(home.path()), None);
        lock.try_lock().expect("nobody has it");
        assert_eq!(AnnouncedServer::running(home.path()), Some(server));
    }
}
