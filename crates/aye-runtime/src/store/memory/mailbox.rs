//! The mailbox.

use aye_core::id::RunId;
use aye_core::input::Request;
use jiff::Timestamp;

use super::MemoryStore;
use super::state::Sent;
use crate::store::{Mailbox, Pending, RequestId, StoreError, Verdict};

impl Mailbox for MemoryStore {
    fn send(
        &mut self,
        run: &RunId,
        request: &Request,
        sender: &str,
        at: Timestamp,
    ) -> Result<RequestId, StoreError> {
        let mut state = self.state();
        let row = state.run(run).ok_or_else(|| StoreError::NoRun { run: run.clone() })?;
        let ended = row.status.is_ended();
        state.sent += 1;
        let id = RequestId(state.sent);
        let pending = Pending {
            run: run.clone(),
            id,
            at,
            sender: sender.to_owned(),
            request: request.clone(),
        };
        let verdict = ended.then_some(Verdict::Ended);
        state.requests.push(Sent { pending, verdict });
        state.listeners.notify_of_requests(|to| *to == run.outermost());
        Ok(id)
    }

    fn pending(&mut self, run: &RunId) -> Result<Vec<Pending>, StoreError> {
        Ok(self.waiting(|pending| pending.run == *run))
    }

    fn pending_within(&mut self, run: &RunId) -> Result<Vec<Pending>, StoreError> {
        Ok(self.waiting(|pending| pending.run.is_within(run)))
    }

    fn verdict(&self, id: RequestId) -> Result<Option<Verdict>, StoreError> {
        let state = self.state();
        let sent = state.requests.iter().find(|sent| sent.pending.id == id);
        sent.map(|sent| sent.verdict.clone()).ok_or(StoreError::NoRequest { id: id.0 })
    }
}

impl MemoryStore {
    fn waiting(&self, which: impl Fn(&Pending) -> bool) -> Vec<Pending> {
        let state = self.state();
        let open = state.requests.iter().filter(|sent| sent.verdict.is_none());
        open.map(|sent| &sent.pending).filter(|pending| which(pending)).cloned().collect()
    }
}
