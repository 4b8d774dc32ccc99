//! Handing a secret or a one-time code to the driver of a run, past the mailbox.

use std::time::{Duration, Instant};

use aye_core::id::RunId;
use aye_core::input::Request;
use aye_core::secrets::secret_marker;

use crate::error::Error;
use crate::random::random_hex;
use crate::runtime::Runtime;
use crate::secret_channel::{self, ChannelError, seal};
use crate::store::{Found, QuestionState, Store};

/// How long a driver may take to listen, and then to take it.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a driver that does not listen yet is tried again.
const AGAIN: Duration = Duration::from_millis(50);

/// Whether a request is an answer to a question for a secret.
pub(super) fn answers_secret(store: &dyn Store, request: &Request) -> Result<bool, Error> {
    let Request::Answer { question, .. } = request else { return Ok(false) };
    Ok(store.asked(question)?.is_some_and(|asked| asked.secret))
}

/// Whether a request holds a one-time code.
pub(super) fn holds_code(request: &Request) -> bool {
    matches!(request, Request::Answer { code: Some(_), .. })
}

/// Nobody would be there to keep it: a secret is never written down.
pub(super) fn no_driver(request: &Request, outermost: &RunId) -> Error {
    let asks = match request {
        Request::Answer { question, .. } => format!("`{question}` asks for a secret"),
        Request::Hold { .. } | Request::Advise { .. } | Request::Cancel { .. } => {
            "it is about a secret".to_owned()
        }
    };
    Error::Refused {
        message: format!("{asks} and no process drives the run"),
        hint: Some(format!("answer it where the run continues: `aye resume {outermost}`")),
    }
}

impl Runtime {
    /// Sends what must not be written down to the driver of `outermost`. Returns what is for
    /// the mailbox, or `None` if the driver is gone.
    pub(super) fn hand_over(
        &self,
        store: &dyn Store,
        outermost: &RunId,
        request: &Request,
    ) -> Result<Option<Request>, Error> {
        let (sealed, Some(payload)) = seal(request, new_handle()?) else {
            return Ok(Some(request.clone()));
        };
        let since = Instant::now();
        let mut listener = store.listen()?;
        loop {
            listener.drain()?;
            let left = PATIENCE.saturating_sub(since.elapsed());
            match secret_channel::send(&self.home, outermost, &payload, left.max(AGAIN)) {
                Ok(()) => return Ok(Some(sealed)),
                // It may have just asked, and listens in a moment.
                Err(ChannelError::NotListening) if !left.is_zero() => {}
                Err(error) => {
                    let hint = error.hint();
                    let message = format!("the answer was not sent: {error}");
                    return Err(Error::Refused { message, hint });
                }
            }
            if store.holder(outermost)?.is_none() {
                return Ok(None);
            }
            if !is_open(store, request)? {
                return Ok(Some(without_secrets(request)));
            }
            listener.wait(AGAIN)?;
        }
    }
}

fn is_open(store: &dyn Store, request: &Request) -> Result<bool, Error> {
    let Request::Answer { question, .. } = request else { return Ok(false) };
    let found = store.question(question.as_str())?;
    Ok(matches!(found, Found::One(row) if row.state == QuestionState::Open))
}

/// The question was closed: the journal records that it was answered too late,
/// and not with what.
fn without_secrets(request: &Request) -> Request {
    let mut request = request.clone();
    if let Request::Answer { answer, code, .. } = &mut request {
        answer.value = secret_marker();
        answer.reason = None;
        *code = None;
    }
    request
}

/// A name that nobody can guess.
fn new_handle() -> Result<String, Error> {
    random_hex(16).map_err(|error| Error::Refused {
        message: format!("the system has no random numbers: {error}"),
        hint: None,
    })
}
