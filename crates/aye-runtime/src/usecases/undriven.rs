//! Requests to a run that no process drives: applied here, without driving it.

use std::path::Path;

use aye_core::event::Event;
use aye_core::id::RunId;
use aye_core::input::{Input, Request};
use aye_core::machine::Machine;
use aye_core::secrets::Secrets;
use aye_core::text::World;

use crate::auth;
use crate::commit::{self, Committed};
use crate::driver::{GONE, InsideSecrets, RememberedAnswer, close_form, restore_inside};
use crate::error::Error;
use crate::lessons;
use crate::runtime::Runtime;
use crate::secret_channel::{LOST, is_sealed};
use crate::store::{Lease, RequestId, RunRow, Store, Verdict};

use super::loaded_run::LoadedRun;
use super::resume::end_survivors;
use super::warning::Warning;

/// A run that nobody drives, held while it is looked after.
struct Held {
    runtime: Runtime,
    lease: Lease,
    outermost: Machine,
    world: World,
}

impl Held {
    /// Takes the lease of the outermost run: it covers those inside.
    fn take(
        runtime: &Runtime,
        store: &mut dyn Store,
        row: &RunRow,
    ) -> Result<(Self, RunRow), Error> {
        let outer = store.outermost(&row.id)?.unwrap_or_else(|| row.clone());
        let runtime = runtime.at(&outer.workspace)?;
        let lease = store.acquire(&outer.id, &runtime.holder())?;
        store.verify(&outer.id)?;
        let mut outermost =
            LoadedRun::read(store, &outer, &runtime)?.machine(&runtime, Secrets::default())?;
        let world = runtime.world(Path::new(&row.workspace));
        InsideSecrets::new((store, &runtime), runtime.limits(), &world, false)
            .learn(&mut outermost)?;
        let outermost = outermost.under(lease.epoch());
        Ok((Self { runtime, lease, outermost, world }, outer))
    }

    /// Tells a run something and commits what follows.
    fn tell(
        &self,
        store: &mut dyn Store,
        machine: &mut Machine,
        input: Input,
        from: Option<RequestId>,
    ) -> Result<Committed, Error> {
        let (world, memory) = (&self.world, self.runtime.memory());
        let input = auth::spend_code(input, machine, &self.runtime.home, world);
        let remembered = RememberedAnswer::of(&memory, machine, &input, world);
        let learn = |_: &Machine, events: &[Event]| {
            remembered.and_then(|answer| answer.learned(events)).into_iter().collect()
        };
        let lease = &self.lease;
        let committed = commit::handle_and_learn(store, lease, machine, input, world, from, learn)?;
        // What cannot be taken in now is when memory is opened next.
        lessons::take_in(store, &memory, &committed.events);
        Ok(committed)
    }

    /// The machine of a run, which may be inside of others.
    fn machine(&self, store: &dyn Store, row: &RunRow) -> Result<Machine, Error> {
        if row.parent.is_none() {
            return Ok(self.outermost.clone());
        }
        let limits = self.runtime.limits();
        restore_inside(store, &self.outermost, &row.id, &self.runtime, limits, &self.world)?
            .map(|machine| machine.under(self.lease.epoch()))
            .ok_or_else(|| {
                let message = format!(
                    "run `{}` does not belong to the step that its parent run is at",
                    row.id
                );
                let hint =
                    format!("`aye show {}` shows where that run is", self.outermost.state().run);
                Error::Refused { message, hint: Some(hint) }
            })
    }
}

/// Applies a request; says why it was refused, if it was.
pub(super) fn apply(
    runtime: &Runtime,
    store: &mut dyn Store,
    row: &RunRow,
    request: Request,
    warn: &mut dyn FnMut(Warning),
) -> Result<Option<String>, Error> {
    let (held, outer) = Held::take(runtime, store, row)?;
    let delivery_worker = held.runtime.announce(store, false);
    let applied = apply_to(&held, &outer, store, row, request, warn);
    store.announce_with(None);
    if let Some(delivery_worker) = delivery_worker {
        delivery_worker.finish(store, &outer.id);
    }
    applied
}

fn apply_to(
    held: &Held,
    outer: &RunRow,
    store: &mut dyn Store,
    row: &RunRow,
    request: Request,
    warn: &mut dyn FnMut(Warning),
) -> Result<Option<String>, Error> {
    let cancels = matches!(request, Request::Cancel { .. });
    let ended = if cancels { Some(end_survivors(outer, warn)?) } else { None };
    if close_form(store, &held.lease, &held.outermost, &row.id, &held.world)? {
        return Ok((!cancels).then(|| GONE.to_owned()));
    }
    let mut machine = held.machine(store, row)?;
    if let Some(ended) = ended {
        machine.ended_survivors(ended);
        return cancel(held, store, &mut machine, &request, None);
    }
    // Time may have run out while nobody looked.
    held.tell(store, &mut machine, Input::Tick { shown: false }, None)?;
    let reaction = held.tell(store, &mut machine, Input::Request(request), None)?;
    Ok(reaction.refusal.map(|refusal| refusal.to_string()))
}

/// Cancels a run and those inside it, in one append: if it is cut off, none of them is cancelled.
/// Says why it was refused, if it was.
fn cancel(
    held: &Held,
    store: &mut dyn Store,
    machine: &mut Machine,
    request: &Request,
    from: Option<RequestId>,
) -> Result<Option<String>, Error> {
    let mut inside = Vec::new();
    machines_inside(held, store, &machine.state().run, &mut inside)?;
    let cancel = |inner| (inner, vec![Input::Request(request.clone())]);
    let mut inputs: Vec<_> = inside.iter_mut().map(cancel).collect();
    inputs.push((machine, vec![Input::Tick { shown: false }, Input::Request(request.clone())]));
    let committed = commit::handle_together(store, &held.lease, inputs, &held.world, from)?;
    Ok(committed.refusal.map(|refusal| refusal.to_string()))
}

/// Adds the machines of the open runs inside a run, the innermost first.
fn machines_inside(
    held: &Held,
    store: &mut dyn Store,
    run: &RunId,
    machines: &mut Vec<Machine>,
) -> Result<(), Error> {
    for inside in store.runs_inside(run)? {
        if inside.status.is_ended() {
            continue;
        }
        if close_form(store, &held.lease, &held.outermost, &inside.id, &held.world)? {
            continue;
        }
        machines_inside(held, store, &inside.id, machines)?;
        machines.push(held.machine(store, &inside)?);
    }
    Ok(())
}

/// Reads the requests that the last driver of a run left unread. A cancel after which something
/// has to be cleaned up stays unread: it needs a driver.
pub(super) fn settle_requests(
    runtime: &Runtime,
    store: &mut dyn Store,
    row: &RunRow,
) -> Result<(), Error> {
    let (held, _) = Held::take(runtime, store, row)?;
    // The last driver may have read them all before it ended; then its runs may have ended too.
    if store.pending(&row.id)?.is_empty() {
        return Ok(());
    }
    if close_form(store, &held.lease, &held.outermost, &row.id, &held.world)? {
        for pending in store.pending(&row.id)? {
            let gone = Verdict::Refused(GONE.to_owned());
            store.append(&held.lease, &[], &[(pending.id, gone)])?;
        }
        return Ok(());
    }
    let mut machine = held.machine(store, row)?;
    held.tell(store, &mut machine, Input::Tick { shown: false }, None)?;
    for pending in store.pending(&row.id)? {
        if is_sealed(&pending.request) {
            let lost = Verdict::Refused(LOST.to_owned());
            store.append(&held.lease, &[], &[(pending.id, lost)])?;
            continue;
        }
        if let Request::Cancel { now, .. } = pending.request {
            let state = machine.state();
            if state.is_ending_since(pending.at) {
                store.append(&held.lease, &[], &[(pending.id, Verdict::Accepted)])?;
                continue;
            }
            let now = now || state.ends_on_cancel();
            let current = store.run(&row.id)?.unwrap_or_else(|| row.clone());
            if !current.status.is_ended() && held.runtime.cleans_up(store, &current, now)? {
                continue;
            }
            cancel(&held, store, &mut machine, &pending.request, Some(pending.id))?;
            continue;
        }
        held.tell(store, &mut machine, Input::Request(pending.request), Some(pending.id))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use aye_core::machine::Start;
    use aye_core::nested::Parent;

    use super::*;
    use crate::runtime::Parts;
    use crate::skills::SkillFile;
    use crate::store::{Mailbox as _, MemoryStore, Runs as _, Source};
    use crate::usecases::Sent;

    const SKILL: &str = "name: s\nsteps:\n  - { name: one, command: 'true' }\n";

    /// Starts a run of this skill; it waits for its first step to be run.
    fn start_skill(
        runtime: &Runtime,
        store: &mut dyn Store,
        skill: &str,
        run: &str,
        parent: Option<Parent>,
    ) {
        let run: RunId = run.to_owned().try_into().expect("an id");
        let outer = parent.as_ref().map_or(&run, |parent| &parent.run).clone();
        let lease = store.acquire(&outer, &runtime.holder()).expect("a lease");
        let source = Source::new("s.yaml", skill);
        let mut file = SkillFile::from_text("s.yaml".into(), skill.to_owned());
        let named = (source.file.clone(), source.digest.clone());
        let workspace = runtime.directory.to_string_lossy();
        let start = Start {
            parent,
            epoch: lease.epoch(),
            ..Start::new(run, named, workspace, runtime.driver())
        };
        let world = runtime.world(&runtime.directory);
        let flow = Arc::new(file.flows.remove(0));
        let (_, events) = Machine::start(flow, runtime.limits(), start, &world).expect("a run");
        store.start(&lease, &events, &source).expect("it starts");
    }

    fn start(runtime: &Runtime, store: &mut dyn Store, run: &str, parent: Option<Parent>) {
        start_skill(runtime, store, SKILL, run, parent);
    }

    /// The driver was there when the person looked, and gone when the cancel was sent.
    #[test]
    fn a_cancel_after_which_something_is_cleaned_up_waits_for_a_driver() {
        let directory = tempfile::tempdir().expect("a directory");
        let parts = Parts::new(directory.path().join("home"), directory.path());
        let runtime = Runtime::new(parts).expect("a runtime");
        let mut store = runtime.store().expect("a store");
        let tidy = format!("{SKILL}finally:\n  - {{ name: tidy, command: 'true' }}\n");
        start_skill(&runtime, &mut *store, &tidy, "abcdefgh12", None);
        start(&runtime, &mut *store, "abcdefgh34", None);
        let cancel = Request::Cancel { by: "ada".to_owned(), reason: None, now: false };
        let mut sent = |run: &str| {
            let run = run.to_owned().try_into().expect("an id");
            let row = store.run(&run).expect("it reads").expect("a run");
            let sent = runtime.submit(&row, &cancel).expect("it is sent");
            let row = store.run(&run).expect("it reads").expect("a run");
            (sent, row.status.is_ended(), store.pending(&run).expect("it reads").len())
        };
        let (tidies, alone) = (sent("abcdefgh12"), sent("abcdefgh34"));
        assert!(matches!(tidies, (Sent::Refused(_), false, 1)), "{tidies:?}");
        assert_eq!(alone, (Sent::AcceptedUndriven, true, 0));
    }

    #[test]
    fn requests_that_were_read_are_settled_although_the_run_around_went_on() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut store = MemoryStore::new(&directory.path().join("logs"));
        let parts = Parts::new(directory.path().join("home"), directory.path());
        let runtime = Runtime::new(parts).expect("a runtime");
        start(&runtime, &mut store, "abcdefgh12", None);
        let around = "abcdefgh12".to_owned().try_into().expect("an id");
        // No step of the run around has this one inside any more.
        let parent = Parent {
            run: around,
            step: "each".to_owned(),
            execution: 1,
            turn: None,
            item: None,
            form: None,
            depth: 1,
            bound: false,
            finally: false,
            repair: false,
            declined: None,
        };
        start(&runtime, &mut store, "abcdefgh12_1", Some(parent));
        let inside = "abcdefgh12_1".to_owned().try_into().expect("an id");
        let row = store.run(&inside).expect("it reads").expect("a run");
        settle_requests(&runtime, &mut store, &row).expect("nothing is left to do");
        let cancel = Request::Cancel { by: "ada".to_owned(), reason: None, now: false };
        store.send(&inside, &cancel, "ada", runtime.now()).expect("it is sent");
        settle_requests(&runtime, &mut store, &row).expect_err("it cannot be told");
    }
}
