//! What goes through the socket, and what the mailbox holds in its place.

use aye_core::input::Request;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The most bytes of a payload, as it is sent.
pub(super) const LARGEST: usize = 256 * 1024;

/// Names the handle in the place of an answer's value.
const HANDLE: &str = "$handle";

/// The part of an answer that is not written down.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct SecretPayload {
    /// Finds it again.
    pub(super) handle: String,
    pub(super) value: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<String>,
    /// People write what they know there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

impl std::fmt::Debug for SecretPayload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretPayload").field("handle", &self.handle).finish_non_exhaustive()
    }
}

/// The request as it may be stored, and what was taken out of it. `handle` has
/// to be one that nobody can guess. Only an answer has something to take out.
pub fn seal(request: &Request, handle: String) -> (Request, Option<SecretPayload>) {
    let mut sealed = request.clone();
    let Request::Answer { answer, code, .. } = &mut sealed else { return (sealed, None) };
    let value = std::mem::replace(&mut answer.value, json!({ HANDLE: handle }));
    let payload = SecretPayload { handle, value, code: code.take(), reason: answer.reason.take() };
    (sealed, Some(payload))
}

/// Whether something was taken out of a request.
pub fn is_sealed(request: &Request) -> bool {
    handle(request).is_some()
}

/// The handle in a request.
pub(super) fn handle(request: &Request) -> Option<&str> {
    match request {
        Request::Answer { answer, .. } => answer.value.get(HANDLE)?.as_str(),
        Request::Hold { .. } | Request::Advise { .. } | Request::Cancel { .. } => None,
    }
}

impl SecretPayload {
    /// The request as it was.
    pub(super) fn put_back(self, mut request: Request) -> Request {
        if let Request::Answer { answer, code, .. } = &mut request {
            answer.value = self.value;
            answer.reason = self.reason;
            *code = self.code;
        }
        request
    }
}
