//! How long the server keeps clients that do not take part.

use std::collections::BTreeMap;
use std::time::Duration;

/// How long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// What is sent to a client may stay unread.
    pub(super) unread: Duration,
    /// A client of the socket may say nothing, not even that it is there.
    pub(super) silent: Duration,
    /// Between two heartbeats, by which clients know that we are there.
    pub(super) heartbeat: Duration,
}

impl Limits {
    /// What the environment asks for: in builds for tests, `AYE_TEST_HASTE` divides all of
    /// them; otherwise they are as documented.
    pub(super) fn of(env: &BTreeMap<String, String>) -> Self {
        let haste = env.get("AYE_TEST_HASTE").filter(|_| cfg!(debug_assertions));
        let haste = haste.and_then(|haste| haste.parse().ok()).unwrap_or(1).max(1);
        Self {
            unread: Duration::from_secs(20) / haste,
            silent: Duration::from_secs(60) / haste,
            heartbeat: Duration::from_secs(15) / haste,
        }
    }
}
