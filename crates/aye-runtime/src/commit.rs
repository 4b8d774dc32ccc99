//! Handle, then append: the one way from an input to the journal.

use aye_core::event::Event;
use aye_core::input::Input;
use aye_core::machine::{Machine, Reaction, Refusal};
use aye_core::text::World;

use crate::store::{Lease, RequestId, Store, StoreError, Verdict};

/// What an input led to; it is in the journal.
#[derive(Debug)]
pub struct Committed {
    /// What happened.
    pub events: Vec<Event>,
    /// Why the input was refused, if it was.
    pub refusal: Option<Refusal>,
}

/// Tells a machine something and commits what follows: its events together
/// with the verdict on the request that led to them.
pub fn handle(
    store: &mut dyn Store,
    lease: &Lease,
    machine: &mut Machine,
    input: Input,
    world: &World,
    from: Option<RequestId>,
) -> Result<Committed, StoreError> {
    let Reaction { events, refusal } = machine.handle(input, world);
    let verdict = match &refusal {
        None => Verdict::Accepted,
        Some(refusal) => Verdict::Refused(refusal.to_string()),
    };
    let settled: Vec<(RequestId, Verdict)> = from.map(|id| (id, verdict)).into_iter().collect();
    if !events.is_empty() || !settled.is_empty() {
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
    handle(store, lease, machine, input, world, None)
}
