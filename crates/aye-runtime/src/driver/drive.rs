//! The loop.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aye_core::effect::Effect;
use aye_core::event::Event;
use aye_core::input::{Attach, Input, Retry};
use aye_core::machine::{Limits, Machine, Refusal};
use aye_core::text::{Names, World};
use aye_process::policy::Policy;
use aye_process::{Happening, Signals};
use jiff::SignedDuration;

use crate::auth;
use crate::clock::Clock;
use crate::commit;
use crate::error::Error;
use crate::inspect::Contents;
use crate::memory::Memory;
use crate::prompter::Prompter;
use crate::report::{Place, Report, Sink};
use crate::secret_channel::Receiver;
use crate::store::{Lease, RequestId, Store};
use crate::tools::Tools;

use super::calls::Calls;
use super::child_run::Skills;
use super::computing::Computing;
use super::lane::{Lane, LaneId, ROOT, Work};
use super::lanes::Lanes;
use super::learning::Learner;
use super::logs::{Compressor, Logs};
use super::mail::Mail;
use super::outcome::Outcome;
use super::pending_lessons::PendingLessons;
use super::presence::ReportedPresence;
use super::processes::Processes;
use super::questions::Questions;
use super::remember::RememberedAnswer;
use super::stopping::Stopping;

/// What a driver works with.
pub struct Parts<'a> {
    /// The journal.
    pub store: &'a mut dyn Store,
    /// The right to drive the run.
    pub lease: Lease,
    /// Where one-time codes and texts to edit are kept.
    pub home: &'a Path,
    /// The time.
    pub clock: &'a dyn Clock,
    /// What templates can look up.
    pub names: Arc<dyn Names>,
    /// What a configuration can set, for the runs inside the run.
    pub limits: Limits,
    /// Where the skills are that steps call.
    pub skills: &'a dyn Skills,
    /// The tools that steps call.
    pub tools: Tools,
    /// What was learned.
    pub memory: Arc<Memory>,
    /// Who shows what happens.
    pub report: &'a mut dyn Report,
    /// Where its text goes.
    pub sink: &'a dyn Sink,
    /// Signals for Aye itself.
    pub signals: &'a mut Signals,
    /// What steps may run.
    pub policy: Policy,
    /// How much of its output a step's result may be, in bytes.
    pub max_result: usize,
}

/// Drives one run and the runs inside it.
pub struct Driver<'a> {
    pub(super) parts: Parts<'a>,
    /// The run and the runs inside it.
    pub(super) lanes: Lanes,
    /// The programs that run for steps.
    pub(super) processes: Processes,
    /// Threads that compute.
    pub(super) computing: Computing,
    /// Calls to tools, and what servers ask in them.
    pub(super) calls: Calls,
    /// Open questions, and who asks them.
    pub(super) questions: Questions<'a>,
    /// What others were told of where they are shown.
    pub(super) reported_presence: ReportedPresence,
    /// What memory learns from once it is over.
    pub(super) lessons: PendingLessons,
    /// When requests are looked for.
    pub(super) mail: Mail,
    /// Takes secret answers and codes from other processes.
    pub(super) secrets: Receiver,
    /// The logs of steps that have ended.
    pub(super) logs: Logs,
    /// That Aye was told to stop.
    pub(super) stopping: Stopping,
    /// What is in the files that questions are about.
    pub(super) contents: Contents,
    /// How long nobody may answer before the run rests; for ever if nothing is said.
    pub(super) rest_after: Option<SignedDuration>,
}

/// A run that is driven no further.
pub struct Driven {
    /// The run.
    pub machine: Machine,
    /// Why not.
    pub outcome: Outcome,
    /// How many processes of the runs inside could not be ended; nothing where
    /// nothing had to be.
    pub stopped_inside: Option<u32>,
}

impl<'a> Driver<'a> {
    /// A driver for a run whose lease is held. Without prompters, the run rests at its first
    /// question.
    pub fn new(
        mut parts: Parts<'a>,
        machine: Machine,
        prompters: Vec<&'a mut dyn Prompter>,
    ) -> Self {
        let secrets = Receiver::new(parts.home, machine.state().run.clone());
        let root = Lane::new(machine, None, Vec::new());
        let questions = Questions::new(prompters);
        if questions.are_possible() {
            parts.tools.let_servers_ask();
        }
        Self {
            parts,
            lanes: Lanes::new(root),
            processes: Processes::default(),
            computing: Computing::default(),
            calls: Calls::default(),
            questions,
            reported_presence: ReportedPresence::default(),
            lessons: PendingLessons::default(),
            mail: Mail::new(Instant::now()),
            secrets,
            logs: Logs::default(),
            stopping: Stopping::default(),
            contents: Contents::default(),
            rest_after: None,
        }
    }

    /// Begins a run whose first events `start` has committed.
    pub fn begin(mut self, events: &[Event]) -> Result<Driven, Error> {
        self.show(ROOT, events);
        self.warn_before_run()?;
        self.drive()
    }

    /// Takes up a run.
    pub fn resume(mut self, driver: aye_core::event::Driver) -> Result<Driven, Error> {
        self.close_orphans()?;
        self.restore_open_failure(ROOT);
        let epoch = self.epoch();
        self.apply(ROOT, Input::Attach(Attach { driver, epoch }), None)?;
        // What was asked for while nobody drove it comes before anything is run.
        self.read_mail()?;
        self.drive()
    }

    /// Takes up a run that failed, at the step that did.
    pub fn retry(mut self, retry: Retry) -> Result<Driven, Error> {
        self.close_orphans()?;
        self.restore_open_failure(ROOT);
        if let Some(refusal) = self.apply(ROOT, Input::Retry(retry), None)? {
            return Err(Error::Refused { message: refusal.to_string(), hint: None });
        }
        self.drive()
    }

    fn drive(mut self) -> Result<Driven, Error> {
        let compressor = Compressor::start(self.parts.store.plain_logs());
        loop {
            self.withdraw_closed();
            self.dispatch()?;
            if self.rest_if_stuck()? {
                continue;
            }
            let root = self.lane(ROOT).machine.next_effect();
            if matches!(root, Effect::Rest(_) | Effect::Finish) {
                break;
            }
            self.wait()?;
            if self.mail.is_stale(Instant::now()) {
                self.read_mail()?;
            }
        }
        self.withdraw_all();
        drop(compressor);
        self.note_logs();
        self.flush_output()?;
        let Lane { machine, .. } = self.lanes.into_root();
        let outcome = self.stopping.outcome(Outcome::of(machine.state()));
        Ok(Driven { machine, outcome, stopped_inside: self.stopping.left_inside() })
    }

    /// Lets every lane have what it wants, until all of them wait.
    fn dispatch(&mut self) -> Result<(), Error> {
        while let Some(id) = self.lanes.next_due() {
            let lane = self.lane(id);
            let (wants, doing) = (lane.machine.next_effect(), lane.work.execution());
            // The editor has the terminal: what follows the question waits for its end.
            if matches!(&lane.work, Work::Editing(opened) if !opened.answers(&wants)) {
                self.processes.stop(id, false);
                continue;
            }
            match wants {
                // A failure that kept runs inside it from starting may be settled.
                Effect::Run { execution } if doing == Some(execution) => self.go_on_inside(id)?,
                Effect::Run { execution } => self.start(id, execution)?,
                Effect::Stop { execution } => self.stop(id, execution)?,
                Effect::Rest(_) | Effect::Finish if id != ROOT => self.rests(id)?,
                Effect::Inspect => self.inspect(id)?,
                Effect::Acquire => self.acquire(id)?,
                Effect::Wait { until } if until <= self.parts.clock.now() => self.inspect(id)?,
                Effect::Ask(question) => self.recall(id, &question)?,
                Effect::Wait { .. } | Effect::Rest(_) | Effect::Finish => {}
            }
        }
        Ok(())
    }

    /// The epoch under which this driver drives; the runs inside have the same.
    pub(super) fn epoch(&self) -> u64 {
        self.parts.lease.epoch()
    }

    pub(super) fn lane(&self, id: LaneId) -> &Lane {
        match self.lanes.get(id) {
            Some(lane) => lane,
            None => unreachable!("lane {id} has ended"),
        }
    }

    pub(super) fn lane_mut(&mut self, id: LaneId) -> &mut Lane {
        match self.lanes.get_mut(id) {
            Some(lane) => lane,
            None => unreachable!("lane {id} has ended"),
        }
    }

    /// The lanes there are.
    pub(super) fn live(&self) -> Vec<LaneId> {
        self.lanes.live().map(|(id, _)| id).collect()
    }

    /// Tells a machine something, commits what follows, shows it.
    pub(super) fn apply(
        &mut self,
        id: LaneId,
        input: Input,
        from: Option<RequestId>,
    ) -> Result<Option<Refusal>, Error> {
        // What the journal does not have is not gone on from: once the step has
        // ended, that is told.
        if self.stopping.is_unwritten() {
            let error = matches!(input, Input::Finished(_)).then(|| self.stopping.take_unwritten());
            return error.flatten().map_or(Ok(None), Err);
        }
        let world = self.world();
        let input = auth::spend_code(input, &self.lane(id).machine, self.parts.home, &world);
        self.lanes.look_at(id);
        if self.is_recovering(id) {
            self.lanes.look_at_parents(id);
        }
        let Self { parts, lanes, lessons, .. } = self;
        let Some(Lane { machine, .. }) = lanes.get_mut(id) else {
            unreachable!("lane {id} has ended")
        };
        let memory = &*parts.memory;
        let remembered = RememberedAnswer::of(memory, machine, &input, &world);
        let learn = |machine: &Machine, events: &[Event]| {
            let (lane, pending) = (id, &mut *lessons);
            let mut learner = Learner { memory, machine, world: &world, lane, pending };
            let mut learned = learner.learn(events);
            learned.extend(remembered.and_then(|answer| answer.learned(events)));
            learned
        };
        let (store, lease) = (&mut *parts.store, &parts.lease);
        let handled = commit::handle_and_learn(store, lease, machine, input, &world, from, learn);
        let reaction = match handled {
            Ok(reaction) => reaction,
            // What is to be stopped is stopped, written down or not.
            Err(error) if matches!(machine.next_effect(), Effect::Stop { .. }) => {
                return self.stop_unwritten(error.into());
            }
            Err(error) => return Err(error.into()),
        };
        self.questions.note(&reaction.events);
        // While the view still speaks of the step that failed.
        self.advise(id, &reaction.events);
        self.show(id, &reaction.events);
        self.take_in(id, &reaction.events);
        self.share_secrets(id);
        Ok(reaction.refusal)
    }

    /// Tells the runs beside, around and inside this one what it has learned to mask: what one
    /// of them leaves behind the others may print.
    pub(super) fn share_secrets(&mut self, id: LaneId) {
        let Some(lane) = self.lanes.get_mut(id) else { return };
        let known = lane.machine.secrets().values().count();
        if std::mem::replace(&mut lane.shared_secrets, known) == known {
            return;
        }
        let secrets = lane.machine.secrets().clone();
        for other in self.live().into_iter().filter(|other| *other != id) {
            self.lane_mut(other).machine.mask_also(&secrets);
        }
    }

    /// Stops what runs although that could not be written down.
    fn stop_unwritten(&mut self, error: Error) -> Result<Option<Refusal>, Error> {
        let at_work = |id: LaneId| self.lane(id).work.execution().map(|execution| (id, execution));
        let running: Vec<(LaneId, u32)> = self.live().into_iter().filter_map(at_work).collect();
        if running.is_empty() {
            return Err(error);
        }
        self.stopping.not_written(error);
        for (id, execution) in running {
            self.stop(id, execution)?;
        }
        Ok(None)
    }

    /// Waits until the output is read, unless Aye has to stop.
    pub(super) fn flush_output(&mut self) -> Result<(), Error> {
        const LOOK: Duration = Duration::from_millis(20);
        const GLANCE: Duration = Duration::from_millis(1);
        while !self.parts.sink.drain(LOOK) {
            let wake = [self.parts.signals.fd()];
            let until = Some(Instant::now() + GLANCE);
            let woken = aye_process::wait(&mut [], &wake, until, &mut |_, _, _| {});
            let stops =
                matches!(woken, Ok(Happening::Wake(_))) && !self.read_signals()?.stops.is_empty();
            if stops {
                self.parts.sink.discard();
            }
        }
        Ok(())
    }

    pub(super) fn world(&self) -> World {
        World { now: self.parts.clock.now(), names: Arc::clone(&self.parts.names) }
    }

    pub(super) fn show(&mut self, id: LaneId, events: &[Event]) {
        let Self { parts, lanes, .. } = self;
        let Some(lane) = lanes.get(id) else { return };
        let place = Place { lane: id, path: &lane.path };
        for event in events {
            parts.report.event(place, event, lane.machine.state());
        }
    }
}
