//! Handle, then append: the one way from an input to the journal.

use aye_core::event::{Event, Remembered};
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
    handle_and_learn(store, lease, machine, input, world, from, |_, _| Vec::new())
}

/// The same; what is learned from the events is committed with them.
pub fn handle_and_learn(
    store: &mut dyn Store,
    lease: &Lease,
    machine: &mut Machine,
    input: Input,
    world: &World,
    from: Option<RequestId>,
    learn: impl FnOnce(&Machine, &[Event]) -> Vec<Remembered>,
) -> Result<Committed, StoreError> {
    let Reaction { mut events, refusal } = machine.handle(input, world);
    for what in learn(machine, &events) {
        let learned = machine.handle(Input::Remembered { learned: true, what }, world);
        events.extend(learned.events);
    }
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
