//! Handle, then append: the one way from an input to the journal.

use std::sync::Arc;

use aye_core::event::{Event, Remembered};
use aye_core::flow::Flow;
use aye_core::input::Input;
use aye_core::machine::{Limits, Machine, Reaction, Refusal, Start, StartError};
use aye_core::text::World;

use crate::store::{Lease, RequestId, Source, Store, StoreError, Verdict};

/// What an input led to; it is in the journal.
#[derive(Debug)]
pub struct Committed {
    /// What happened.
    pub events: Vec<Event>,
    /// Why the input was refused, if it was.
    pub refusal: Option<Refusal>,
}

/// Tells a machine something that no request led to, and commits what follows.
pub fn handle(
    store: &mut dyn Store,
    lease: &Lease,
    machine: &mut Machine,
    input: Input,
    world: &World,
) -> Result<Committed, StoreError> {
    handle_and_learn(store, lease, machine, input, world, None, |_, _| Vec::new())
}

/// The same, together with the verdict on the request that led to it and with what is
/// learned from the events.
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
    append(store, lease, Committed { events, refusal }, from)
}

/// Tells several machines something, one after the other, and commits what follows in one
/// append: all of it is in the journal, or nothing. The verdict is on the last input.
pub fn handle_together(
    store: &mut dyn Store,
    lease: &Lease,
    inputs: Vec<(&mut Machine, Vec<Input>)>,
    world: &World,
    from: Option<RequestId>,
) -> Result<Committed, StoreError> {
    let mut all = Committed { events: Vec::new(), refusal: None };
    for (machine, inputs) in inputs {
        for input in inputs {
            let reaction = machine.handle(input, world);
            all.events.extend(reaction.events);
            all.refusal = reaction.refusal;
        }
    }
    append(store, lease, all, from)
}

fn append(
    store: &mut dyn Store,
    lease: &Lease,
    committed: Committed,
    from: Option<RequestId>,
) -> Result<Committed, StoreError> {
    let verdict = match &committed.refusal {
        None => Verdict::Accepted,
        Some(refusal) => Verdict::Refused(refusal.to_string()),
    };
    let settled: Vec<(RequestId, Verdict)> = from.map(|id| (id, verdict)).into_iter().collect();
    if !committed.events.is_empty() || !settled.is_empty() {
        store.append(lease, &committed.events, &settled)?;
    }
    Ok(committed)
}

/// Why a run did not begin.
#[derive(Debug)]
pub enum BeginError {
    /// It cannot.
    Start(StartError),
    /// It could not be written down.
    Store(StoreError),
}

/// What a run begins with, beside [`Start`].
#[derive(Debug)]
pub struct Begin<'a> {
    /// What it does.
    pub flow: Arc<Flow>,
    /// What a configuration can set.
    pub limits: Limits,
    /// The text of its skill, unless the run around it has it.
    pub source: Option<&'a Source>,
    /// Where another run has the name of its `concurrency`, it waits for it.
    pub waits: bool,
}

/// Begins a run: its first events, in one append. It has the name of its
/// `concurrency` from the start, or begins by waiting for it.
pub fn begin(
    store: &mut dyn Store,
    lease: &Lease,
    begin: &Begin<'_>,
    start: Start,
    world: &World,
) -> Result<(Machine, Vec<Event>), BeginError> {
    let mut first = |start: Start| {
        let (flow, limits) = (Arc::clone(&begin.flow), begin.limits.clone());
        let begun = Machine::start(flow, limits, start, world).map_err(BeginError::Start)?;
        let written = match begin.source {
            Some(source) => store.start(lease, &begun.1, source),
            None => store.append(lease, &begun.1, &[]),
        };
        written.map(|()| begun).map_err(BeginError::Store)
    };
    if begin.flow.skill.concurrency.is_none() {
        return first(start);
    }
    match first(start.clone()) {
        Err(BeginError::Store(StoreError::NameTaken { blocked, .. })) if begin.waits => {
            first(Start { blocked: Some(blocked), ..start })
        }
        begun => begun,
    }
}
