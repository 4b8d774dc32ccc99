//! Handle, then append: the one way from an input to the journal.

use aye_core::effect::Effect;
use aye_core::event::Event;
use aye_core::input::Input;
use aye_core::machine::{Machine, Reaction, Refusal};
use aye_core::text::World;

use crate::store::{Lease, RequestId, Store, StoreError, Verdict};

/// The requests that an input has to do with.
#[derive(Debug)]
pub struct Requests<'a> {
    /// The one that it comes from.
    pub from: Option<RequestId>,
    /// Earlier ones that have been taken and have no consequence yet: they are
    /// settled with the events that come of them, so that a crash before then
    /// leaves them waiting for the next driver.
    pub unsettled: &'a mut Vec<RequestId>,
}

/// What an input led to; it is in the journal.
#[derive(Debug)]
pub struct Committed {
    /// What happened.
    pub events: Vec<Event>,
    /// Why the input was refused, if it was.
    pub refusal: Option<Refusal>,
}

/// Tells a machine something and commits what follows: its events together
/// with the verdicts on the requests that led to them.
pub fn handle(
    store: &mut dyn Store,
    lease: &Lease,
    machine: &mut Machine,
    input: Input,
    world: &World,
    requests: Requests<'_>,
) -> Result<Committed, StoreError> {
    let Requests { from, unsettled } = requests;
    let Reaction { events, refusal } = machine.handle(input, world);
    let silent = events.is_empty();
    let stopping = matches!(machine.next_effect(), Effect::Stop { .. });
    if silent && stopping && refusal.is_none() {
        unsettled.extend(from);
        return Ok(Committed { events, refusal });
    }
    let verdict = match &refusal {
        None => Verdict::Accepted,
        Some(refusal) => Verdict::Refused(refusal.to_string()),
    };
    let mut settled: Vec<(RequestId, Verdict)> = from.map(|id| (id, verdict)).into_iter().collect();
    if !silent {
        settled.extend(unsettled.drain(..).map(|id| (id, Verdict::Accepted)));
    }
    if !silent || !settled.is_empty() {
        store.append(lease, &events, &settled)?;
    }
    Ok(Committed { events, refusal })
}

/// The same for an input that no request led to.
pub fn handle_alone(
    store: &mut dyn Store,
    lease: &Lease,
    machine: &mut Machine,
    input: Input,
    world: &World,
) -> Result<Committed, StoreError> {
    let requests = Requests { from: None, unsettled: &mut Vec::new() };
    handle(store, lease, machine, input, world, requests)
}
