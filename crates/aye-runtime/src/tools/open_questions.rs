//! A server asks in the middle of a call: someone is asked, and its time
//! stands still meanwhile.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::Value;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::event::ToolEvent;
use super::form::form;
use super::handler::Shared;
use super::hub::Reply;
use super::outbox::Outbox;

/// The questions of servers that are open.
#[derive(Debug)]
pub(super) struct Questions {
    open: Mutex<HashMap<u64, oneshot::Sender<Reply>>>,
    next: AtomicU64,
    /// Calls whose time stands still, once for each question.
    still: watch::Sender<Vec<u64>>,
}

impl Default for Questions {
    fn default() -> Self {
        Self {
            open: Mutex::default(),
            next: AtomicU64::new(1),
            still: watch::channel(Vec::new()).0,
        }
    }
}

impl Questions {
    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<u64, oneshot::Sender<Reply>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the server; one that no longer asks is told nothing.
    pub(super) fn reply(&self, ask: u64, reply: Reply) {
        if let Some(sender) = self.open().remove(&ask) {
            let _ = sender.send(reply);
        }
    }

    /// Ends when a call has taken this long, not counting the time in which
    /// someone was asked.
    pub(super) async fn time_of(&self, call: u64, mut left: Duration) {
        let mut still = self.still.subscribe();
        loop {
            let stands = still.borrow_and_update().contains(&call);
            let since = Instant::now();
            tokio::select! {
                () = tokio::time::sleep(left), if !stands => return,
                changed = still.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    if !stands {
                        left = left.saturating_sub(since.elapsed());
                    }
                }
            }
        }
    }
}

/// A question that is open; dropping it withdraws it.
struct Asked<'o> {
    outbox: &'o Outbox,
    ask: u64,
    calls: Vec<u64>,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let questions = self.outbox.questions();
        if questions.open().remove(&self.ask).is_some() {
            self.outbox.send(ToolEvent::AsksNoMore { ask: self.ask });
        }
        questions.still.send_modify(|still| {
            for call in &self.calls {
                if let Some(at) = still.iter().position(|other| other == call) {
                    still.swap_remove(at);
                }
            }
        });
    }
}

impl Shared {
    /// Asks someone for what a server wants to know. `calls` are those that
    /// it may be about: a server of 2025 does not say which.
    pub(super) async fn ask(&self, calls: Vec<u64>, params: &ElicitRequestParams) -> ElicitResult {
        let no = || ElicitResult::new(ElicitationAction::Decline);
        let decline = |why: String| {
            let server = self.server.clone();
            self.outbox.send(ToolEvent::Declined { server, why });
            no()
        };
        if !self.outbox.may_ask() {
            return decline("nobody can be asked here".to_owned());
        }
        let form = match form(&self.server, params) {
            Ok(form) => Box::new(form),
            Err(why) => return decline(why),
        };
        let Some(call) = calls.iter().min().copied() else {
            return decline("it asks although nothing was asked of it".to_owned());
        };
        let questions = self.outbox.questions();
        let ask = questions.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answered) = oneshot::channel();
        questions.open().insert(ask, sender);
        questions.still.send_modify(|still| still.extend(&calls));
        let _asked = Asked { outbox: &self.outbox, ask, calls };
        self.outbox.send(ToolEvent::Asks { call, ask, form });
        match answered.await {
            Ok(Reply::Accept(content)) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(content))
            }
            Ok(Reply::Decline) => no(),
            Ok(Reply::Cancel) | Err(_) => ElicitResult::new(ElicitationAction::Cancel),
        }
    }
}
