//! A run that this process drives.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aye_core::event::{self, Event};
use aye_core::flow::Flow;
use aye_core::id::RunId;
use aye_core::input::Retry;
use aye_core::journal::State;
use aye_core::machine::Machine;
use aye_core::secrets::Secrets;
use aye_process::Signals;

use crate::driver::{Driven, Driver, Outcome, Parts};
use crate::error::Error;
use crate::memory::Memory;
use crate::notify::DeliveryWorker;
use crate::prompter::Prompter;
use crate::report::{Report, Sink};
use crate::runtime::Runtime;
use crate::store::{Lease, Store};

use super::journal_reader::JournalReader;

/// A run whose lease this process holds. It is driven, or dropped and left to
/// others.
pub struct ActiveRun {
    pub(super) runtime: Runtime,
    pub(super) flow: Arc<Flow>,
    pub(super) store: Box<dyn Store>,
    pub(super) lease: Lease,
    pub(super) machine: Machine,
    pub(super) beginning: Beginning,
    /// What was learned.
    pub(super) memory: Arc<Memory>,
    /// Who tells people of it, where a channel is configured.
    pub(super) delivery_worker: Option<DeliveryWorker>,
    /// How long nobody may answer before it rests; for ever if nothing is said.
    pub(super) rest_after: Option<Duration>,
}

/// How a run is taken up.
pub(super) enum Beginning {
    /// It has just been started; these events are committed.
    Started(Vec<Event>),
    /// It is resumed by this driver.
    Resumed(event::Driver),
    /// It failed, and continues with the step that did.
    Retried(Box<Retry>),
}

/// Where a run is shown and people are asked.
pub struct Surface<'a> {
    /// Who shows what happens.
    pub report: &'a mut dyn Report,
    /// Where its text goes.
    pub sink: &'a dyn Sink,
    /// Who asks; with none, the run rests at its first question.
    pub prompters: Vec<&'a mut dyn Prompter>,
    /// Signals for this process.
    pub signals: &'a mut Signals,
}

/// A run that is driven no further: it has ended, or waits.
pub struct FinishedRun {
    /// The run's state.
    pub state: State,
    /// Why it is driven no further.
    pub outcome: Outcome,
    /// How many processes of the runs inside could not be ended; nothing where
    /// nothing had to be.
    pub stopped_inside: Option<u32>,
    /// The journal it is in.
    pub journal: JournalReader,
    pub(super) runtime: Runtime,
    /// What must not be written down.
    pub(super) secrets: Secrets,
}

impl ActiveRun {
    /// Which run it is.
    pub fn run(&self) -> &RunId {
        &self.machine.state().run
    }

    /// What it does.
    pub fn flow(&self) -> Arc<Flow> {
        Arc::clone(&self.flow)
    }

    /// Drives it to its end or a pause.
    pub fn drive(self, surface: Surface<'_>) -> Result<FinishedRun, Error> {
        let Self {
            runtime,
            mut store,
            lease,
            machine,
            beginning,
            memory,
            delivery_worker,
            rest_after,
            ..
        } = self;
        let workspace = machine.state().started.workspace.clone();
        let workspace = Path::new(&workspace);
        let run = machine.state().run.clone();
        runtime.settle_lessons(&mut *store)?;
        // What others left is told too.
        delivery_worker.iter().for_each(DeliveryWorker::look);
        aye_process::slots::set_limit(runtime.settings.max_processes);
        aye_process::set_grace(runtime.settings.grace);
        let parts = Parts {
            store: &mut *store,
            lease,
            home: &runtime.home,
            clock: &runtime.clock,
            names: runtime.names(workspace),
            limits: runtime.limits(),
            skills: &runtime,
            tools: runtime.tools(workspace, &run),
            memory,
            report: surface.report,
            sink: surface.sink,
            signals: surface.signals,
            policy: runtime.granted().policy.for_run(workspace),
            max_result: runtime.settings.max_result,
        };
        let prompters = surface.prompters.into_iter().map(|one| one as &mut dyn Prompter).collect();
        let driver = Driver::new(parts, machine, prompters);
        let driver = match rest_after {
            Some(limit) => driver.resting_after(limit),
            None => driver,
        };
        let Driven { machine, outcome, stopped_inside } = match beginning {
            Beginning::Started(events) => driver.begin(&events)?,
            Beginning::Resumed(by) => driver.resume(by)?,
            Beginning::Retried(retry) => driver.retry(*retry)?,
        };
        if let Some(delivery_worker) = delivery_worker {
            delivery_worker.finish(&*store, &run);
        }
        let (state, secrets) = (machine.state().clone(), machine.secrets().clone());
        let journal = JournalReader::new(store);
        Ok(FinishedRun { state, outcome, stopped_inside, journal, runtime, secrets })
    }
}

impl FinishedRun {
    /// The exit code of `aye run` and `aye resume`.
    pub fn exit_code(&self) -> u8 {
        self.outcome.exit_code(&self.state)
    }
}
