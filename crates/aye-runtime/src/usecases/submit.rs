//! Sending a request to a run: an answer, a hold, a cancellation.

use std::time::{Duration, Instant};

use aye_core::event::EventKind;
use aye_core::id::RunId;
use aye_core::input::Request;
use aye_core::nested::Parent;
use indexmap::IndexMap;

use crate::error::Error;
use crate::runtime::Runtime;
use crate::store::{LeaseError, RunRow, Store, Verdict};

use super::hand_over::{answers_secret, holds_code, no_driver};
use super::loaded_run::{LoadedRun, ended};
use super::undriven::{apply, settle_requests};
use super::warning::Warning;

/// How long a driver may take to say what became of a request.
const PATIENCE: Duration = Duration::from_secs(10);

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// The driver took it.
    Accepted,
    /// Nobody drives the run; it was taken all the same.
    AcceptedUndriven,
    /// It was not taken, and why.
    Refused(String),
}

/// A run that is being cancelled.
pub struct Cancelling {
    /// The run: the outermost, if no process drives it.
    pub row: RunRow,
    /// What became of the request.
    pub outcome: CancelOutcome,
    /// Something is done before the run ends: a clean-up path or `finally`.
    pub cleans_up: bool,
    /// The step inside which that is done, where the run itself has nothing to clean up.
    pub cleans_inside: Option<String>,
}

/// What became of cancelling a run.
pub enum CancelOutcome {
    /// The request was sent.
    Sent(Sent),
    /// Nobody drives the run and something has to be cleaned up: the request
    /// waits for the driver that resumes the run.
    NeedsDriver,
}

impl Runtime {
    /// Sends a request to the run's driver, or applies it if there is none.
    pub fn submit(&self, row: &RunRow, request: &Request) -> Result<Sent, Error> {
        let sent = self.submit_to(&mut *self.store()?, row, request, &mut |_| {})?;
        Ok(sent.unwrap_or_else(|| Sent::Refused("it was not read".to_owned())))
    }

    /// Leaves a request without waiting for what becomes of it: the journal
    /// tells.
    pub fn submit_unheard(&self, row: &RunRow, request: &Request) -> Result<(), Error> {
        // An answer may be a secret, which has to be handed over.
        if matches!(request, Request::Answer { .. }) {
            return self.submit(row, request).map(|_| ());
        }
        let mut store = self.store()?;
        if store.holder(&row.id)?.is_none() && !self.needs_driver(&*store, row, request) {
            match apply(self, &mut *store, row, request.clone(), &mut |_| {}) {
                Ok(_) => return Ok(()),
                // Someone took it up in this moment: they will read it.
                Err(Error::Lease(LeaseError::Held(_))) => {}
                Err(error) => return Err(error),
            }
        }
        store.send(&row.id, request, &self.driver().user, self.now())?;
        Ok(())
    }

    /// Cancels a run. One that nobody has cancelled and that has only its `finally` left is
    /// left alone, unless it is to end `now`.
    pub fn cancel(
        &self,
        row: &RunRow,
        by: String,
        reason: Option<String>,
        now: bool,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<Cancelling, Error> {
        if row.status.is_ended() {
            return Err(Error::Refused {
                message: format!("run `{}` has ended already: it {}", row.id, ended(row.status)),
                hint: Some(format!("`aye show {}` shows how", row.id)),
            });
        }
        let mut store = self.store()?;
        let request = Request::Cancel { by, reason, now };
        let outer = store.outermost(&row.id)?.unwrap_or_else(|| row.clone());
        let undriven = store.holder(&outer.id)?.is_none();
        let row = if undriven { outer } else { row.clone() };
        let loaded = LoadedRun::read(&*store, &row, self);
        if !now && loaded.as_ref().is_ok_and(|run| run.state.is_only_finishing()) {
            return Err(only_finishing(&row.id));
        }
        let now = now || loaded.is_ok_and(|run| run.state.ends_on_cancel());
        let cleaner = match undriven {
            true => self.cleaner(&*store, &row, now)?,
            false => self.cleaner(&*store, &row, now).unwrap_or_default(),
        };
        let cleans_up = cleaner.is_some();
        let cleans_inside = match cleaner.filter(|cleaner| *cleaner != row.id) {
            Some(inside) => {
                let depth = store.place_of(&row.id)?.len();
                store.place_of(&inside)?.get(depth).map(Parent::label)
            }
            None => None,
        };
        if undriven && cleans_up {
            // Its clean-up would be started.
            store.verify(&row.id)?;
            self.at(&row.workspace)?.must_be_trusted()?;
            store.send(&row.id, &request, &self.driver().user, self.now())?;
            let outcome = CancelOutcome::NeedsDriver;
            return Ok(Cancelling { row, outcome, cleans_up, cleans_inside });
        }
        match self.submit_to(&mut *store, &row, &request, warn)? {
            Some(sent) => {
                let outcome = CancelOutcome::Sent(sent);
                Ok(Cancelling { row, outcome, cleans_up, cleans_inside })
            }
            // Its driver died before it read the request.
            None => {
                let row = store.outermost(&row.id)?.unwrap_or(row);
                self.at(&row.workspace)?.must_be_trusted()?;
                let outcome = CancelOutcome::NeedsDriver;
                Ok(Cancelling { row, outcome, cleans_up: true, cleans_inside })
            }
        }
    }

    /// Whether something has to be done when a run is cancelled where it is, in
    /// it or in the runs inside it. What a server asks is a run without a skill.
    pub(super) fn cleans_up(
        &self,
        store: &dyn Store,
        row: &RunRow,
        now: bool,
    ) -> Result<bool, Error> {
        Ok(self.cleaner(store, row, now)?.is_some())
    }

    /// The first of these runs that has something to clean up.
    fn cleaner(&self, store: &dyn Store, row: &RunRow, now: bool) -> Result<Option<RunId>, Error> {
        if LoadedRun::read(store, row, self)?.cleans_up(now) {
            return Ok(Some(row.id.clone()));
        }
        for inside in store.runs_inside(&row.id)? {
            if !inside.status.is_ended()
                && let Some(run) = self.cleaner(store, &inside, now).unwrap_or_default()
            {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// Whether a request waits for a process that drives the run: a cancel, if something has to
    /// be cleaned up.
    fn needs_driver(&self, store: &dyn Store, row: &RunRow, request: &Request) -> bool {
        let Request::Cancel { now, .. } = request else { return false };
        if store.run(&row.id).is_ok_and(|run| run.is_none_or(|run| run.status.is_ended())) {
            return false;
        }
        let ends = LoadedRun::read(store, row, self).is_ok_and(|run| run.state.ends_on_cancel());
        // What cannot be read is not ended without a driver either.
        self.cleans_up(store, row, *now || ends).unwrap_or_default()
    }

    /// Cancels a run; what has to be cleaned up is driven in the background.
    pub fn cancel_detached(
        &self,
        row: &RunRow,
        by: String,
        reason: Option<String>,
    ) -> Result<Sent, Error> {
        let Cancelling { row, outcome, .. } = self.cancel(row, by, reason, false, &mut |_| {})?;
        match outcome {
            CancelOutcome::Sent(sent) => Ok(sent),
            CancelOutcome::NeedsDriver => {
                self.take_up_detached(&row, IndexMap::new(), &mut |_| {})?;
                Ok(Sent::Accepted)
            }
        }
    }

    /// Nothing comes of a cancel that needs a driver: it waits for one.
    fn submit_to(
        &self,
        store: &mut dyn Store,
        row: &RunRow,
        request: &Request,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<Option<Sent>, Error> {
        let request = &self.stamped(request);
        // The driver of the outermost run drives those inside.
        let driven = store.outermost(&row.id)?.map_or_else(|| row.id.clone(), |outer| outer.id);
        let secret = answers_secret(store, request)?;
        if store.holder(&driven)?.is_none() {
            if secret {
                return Err(no_driver(request, &driven));
            }
            // Its driver may have ended since someone looked.
            if self.needs_driver(&*store, row, request) {
                store.send(&row.id, request, &self.driver().user, self.now())?;
                return Ok(None);
            }
            match apply(self, store, row, request.clone(), warn) {
                Ok(None) => return Ok(Some(Sent::AcceptedUndriven)),
                Ok(Some(why)) => return Ok(Some(Sent::Refused(why))),
                // Someone took it up in this moment: they will read it.
                Err(Error::Lease(LeaseError::Held(_))) => {}
                Err(error) => return Err(error),
            }
        }
        let stored = match secret || holds_code(request) {
            false => request.clone(),
            true => match self.hand_over(store, &driven, request)? {
                Some(sealed) => sealed,
                // Nobody drives it any more: from the beginning.
                None => return self.submit_to(store, row, request, warn),
            },
        };
        // That takes its time: nobody waits for the end of it.
        let cleans_up = self.needs_driver(&*store, row, request);
        let mut listener = store.listen()?;
        let id = store.send(&row.id, &stored, &self.driver().user, self.now())?;
        let since = Instant::now();
        loop {
            listener.drain()?;
            let verdict = store.verdict(id)?;
            match verdict.as_ref().map(Verdict::refusal) {
                // Who cancels waits for what runs to end.
                Some(None)
                    if !cleans_up
                        && since.elapsed() < PATIENCE
                        && is_stopping(store, row, request)? => {}
                Some(None) => return Ok(Some(Sent::Accepted)),
                Some(Some(why)) => {
                    if verdict == Some(Verdict::Ended) {
                        record_late(self, store, row, request);
                    }
                    return Ok(Some(Sent::Refused(why.to_owned())));
                }
                None => {}
            }
            // The driver may have gone before it read its requests.
            if store.holder(&driven)?.is_none() {
                match settle_requests(self, store, row) {
                    Ok(()) => return Ok(store.verdict(id)?.as_ref().map(undriven)),
                    // Someone took it up in this moment: they will read it.
                    Err(Error::Lease(LeaseError::Held(_))) => {}
                    Err(error) => return Err(error),
                }
            }
            if since.elapsed() > PATIENCE {
                return Err(Error::Refused {
                    message: format!("the driver of run `{}` does not answer", row.id),
                    hint: Some("it reads the request when it can".to_owned()),
                });
            }
            listener.wait(Duration::from_millis(500))?;
        }
    }

    /// An answer says where it was given.
    fn stamped(&self, request: &Request) -> Request {
        let mut request = request.clone();
        if let Request::Answer { answer, .. } = &mut request {
            answer.origin = Some(self.origin());
        }
        request
    }
}

fn only_finishing(run: &RunId) -> Error {
    Error::Refused {
        message: format!("the steps of run `{run}` are over; only its `finally` is left"),
        hint: Some(format!(
            "`aye resume {run}` continues it if nothing runs it; `aye cancel {run} --now` leaves \
             out the rest"
        )),
    }
}

/// A run that ended meanwhile did not read the answer; that someone answered
/// is recorded all the same, as soon as its last driver is gone.
fn record_late(runtime: &Runtime, store: &mut dyn Store, row: &RunRow, request: &Request) {
    const TRIES: u32 = 40;
    if !matches!(request, Request::Answer { .. }) {
        return;
    }
    for _ in 0..TRIES {
        match apply(runtime, store, row, request.clone(), &mut |_| {}) {
            Err(Error::Lease(LeaseError::Held(_))) => std::thread::sleep(Duration::from_millis(50)),
            // It counts no more: that it could not be written down is not news.
            Ok(_) | Err(_) => return,
        }
    }
}

/// Whether a run that was cancelled has still to end what it runs.
fn is_stopping(store: &dyn Store, row: &RunRow, request: &Request) -> Result<bool, Error> {
    let Request::Cancel { .. } = request else { return Ok(false) };
    let last = store.run(&row.id)?.map_or(0, |row| row.last_seq);
    let events = store.events(&row.id, last.saturating_sub(1))?;
    Ok(matches!(events.last().map(|event| &event.kind), Some(EventKind::SkillStopping(_))))
}

/// What became of a request that we read ourselves.
fn undriven(verdict: &Verdict) -> Sent {
    match verdict.refusal() {
        None => Sent::AcceptedUndriven,
        Some(why) => Sent::Refused(why.to_owned()),
    }
}
