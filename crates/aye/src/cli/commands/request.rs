//! Sending something to a run, whoever drives it.

use std::time::{Duration, Instant};

use aye_core::event::EventKind;
use aye_core::input::Request;

use crate::cli::Context;
use aye_runtime::error::Error;
use aye_runtime::origin::origin;
use aye_runtime::store::{ENDED, LeaseError, RunRow, Store, Verdict};

use super::resume;

/// How long a driver may take to say what became of a request.
const PATIENCE: Duration = Duration::from_secs(10);

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The driver took it.
    Accepted,
    /// Nobody drives the run; it was taken all the same.
    AcceptedUndriven,
    /// It was not taken, and why.
    Refused(String),
}

/// Sends a request to the run's driver, or applies it if there is none.
pub(crate) fn send(
    context: &Context,
    store: &mut dyn Store,
    row: &RunRow,
    request: &Request,
) -> Result<Sent, Error> {
    let request = &stamped(request, context);
    // Whoever drives the outermost run drives those inside.
    let driven = store.outermost(&row.id)?.map_or_else(|| row.id.clone(), |outer| outer.id);
    if store.holder(&driven)?.is_none() {
        match resume::apply(context, store, row, request.clone()) {
            Ok(None) => return Ok(Sent::AcceptedUndriven),
            Ok(Some(why)) => return Ok(Sent::Refused(why)),
            // Somebody took it up in this moment: they will read it.
            Err(Error::Lease(LeaseError::Held(_))) => {}
            Err(error) => return Err(error),
        }
    }
    let mut bell = store.listen()?;
    let sender = context.driver().user;
    let id = store.send(&row.id, request, &sender, context.now())?;
    let since = Instant::now();
    loop {
        bell.drain()?;
        match store.verdict(id)? {
            // Whoever cancels waits for what runs to end.
            Some(Verdict::Accepted)
                if since.elapsed() < PATIENCE && is_stopping(store, row, request)? => {}
            Some(Verdict::Accepted) => return Ok(Sent::Accepted),
            Some(Verdict::Refused(why)) => {
                if why == ENDED {
                    record_late(context, store, row, request);
                }
                return Ok(Sent::Refused(why));
            }
            None => {}
        }
        // The driver may have gone before it read its mail.
        if store.holder(&driven)?.is_none() {
            match resume::settle_mail(context, store, row) {
                Ok(()) => return Ok(undriven(store.verdict(id)?)),
                // Somebody took it up in this moment: they will read it.
                Err(Error::Lease(LeaseError::Held(_))) => {}
                Err(error) => return Err(error),
            }
        }
        if since.elapsed() > PATIENCE {
            return Err(Error::Refused {
                message: format!("the driver of run `{}` does not answer", row.id),
                hint: Some("it will read this when it can".to_owned()),
            });
        }
        bell.wait(Duration::from_millis(500))?;
    }
}

/// Whether a run that was cancelled has still to end what it runs.
fn is_stopping(store: &dyn Store, row: &RunRow, request: &Request) -> Result<bool, Error> {
    let Request::Cancel { .. } = request else { return Ok(false) };
    let last = store.run(&row.id)?.map_or(0, |row| row.last_seq);
    let events = store.events(&row.id, last.saturating_sub(1))?;
    Ok(matches!(events.last().map(|event| &event.kind), Some(EventKind::SkillStopping(_))))
}

/// An answer says where it was given.
fn stamped(request: &Request, context: &Context) -> Request {
    let mut request = request.clone();
    if let Request::Answer { answer, .. } = &mut request {
        answer.origin = Some(origin(&context.home));
    }
    request
}

/// Leaves a request that nobody waits for the verdict of. What becomes of it
/// shows in the journal.
pub(super) fn leave(context: &Context, row: &RunRow, request: &Request) -> Result<(), Error> {
    let mut store = context.store()?;
    if store.holder(&row.id)?.is_none() {
        match resume::apply(context, &mut *store, row, request.clone()) {
            Ok(_) => return Ok(()),
            // Somebody took it up in this moment: they will read it.
            Err(Error::Lease(LeaseError::Held(_))) => {}
            Err(error) => return Err(error),
        }
    }
    store.send(&row.id, request, &context.driver().user, context.now())?;
    Ok(())
}

/// A run that ended meanwhile did not read the letter; that somebody answered
/// is recorded all the same, as soon as its last driver is gone.
fn record_late(context: &Context, store: &mut dyn Store, row: &RunRow, request: &Request) {
    const TRIES: u32 = 40;
    if !matches!(request, Request::Answer { .. }) {
        return;
    }
    for _ in 0..TRIES {
        match resume::apply(context, store, row, request.clone()) {
            Err(Error::Lease(LeaseError::Held(_))) => std::thread::sleep(Duration::from_millis(50)),
            // It counts no more: that it could not be written down is no news.
            Ok(_) | Err(_) => return,
        }
    }
}

/// What became of a letter that we read ourselves.
fn undriven(verdict: Option<Verdict>) -> Sent {
    match verdict {
        Some(Verdict::Accepted) => Sent::AcceptedUndriven,
        Some(Verdict::Refused(why)) => Sent::Refused(why),
        None => Sent::Refused("it was not read".to_owned()),
    }
}
