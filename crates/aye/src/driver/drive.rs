//! The loop.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aye_core::effect::Effect;
use aye_core::event::{Event, Fact};
use aye_core::input::Input;
use aye_core::machine::{Machine, Refusal};
use aye_core::text::{Names, World};
use aye_process::policy::Policy;
use aye_process::{Happening, Signals};

use crate::clock::Clock;
use crate::error::Error;
use crate::report::{Outlet, Report};
use crate::store::{Listener, RequestId, RunLock, Store, Verdict};

use super::ask::Prompter;
use super::logs::Logs;
use super::outcome::Outcome;

/// How often the mailbox is looked at without having been rung for.
pub(super) const SLOW_POLL: Duration = Duration::from_secs(1);
/// A step this short is over before anybody could want to stop it; listening
/// for the bell starts later and costs such steps nothing.
pub(super) const QUICK: Duration = Duration::from_millis(30);

/// What a driver is made of.
pub struct Parts<'a> {
    /// The journal.
    pub store: &'a mut Store,
    /// Proof that this process may write to the run.
    pub lock: RunLock,
    /// The run.
    pub machine: Machine,
    /// The time.
    pub clock: &'a dyn Clock,
    /// What templates can look up.
    pub names: Arc<dyn Names>,
    /// What the report's words go through.
    pub outlets: Vec<Outlet>,
    /// Who shows what happens.
    pub report: &'a mut dyn Report,
    /// Who asks; `None` when nobody can be asked here.
    pub prompter: Option<&'a mut dyn Prompter>,
    /// Signals for Aye itself.
    pub signals: &'a mut Signals,
    /// What steps may run.
    pub policy: Policy,
}

/// Drives one run.
pub struct Driver<'a> {
    pub(super) parts: Parts<'a>,
    pub(super) bell: Option<Listener>,
    pub(super) mail_read: Instant,
    /// How often the run was cancelled: twice means at once.
    pub(super) cancels: u32,
    /// Compresses the logs of steps that have ended.
    pub(super) logs: Logs,
    /// Requests that have been taken and have no consequence yet: they are
    /// settled with the events that come of them, so that a crash before
    /// then leaves them waiting for the next driver.
    pub(super) unsettled: Vec<RequestId>,
    /// The first signal that told us to stop.
    pub(super) told_to_stop: Option<i32>,
}

impl<'a> Driver<'a> {
    /// A driver for a run whose lock is held.
    pub fn new(parts: Parts<'a>) -> Self {
        Self {
            parts,
            bell: None,
            mail_read: Instant::now(),
            cancels: 0,
            logs: Logs::default(),
            unsettled: Vec::new(),
            told_to_stop: None,
        }
    }

    /// Begins a run whose first events `start` has committed.
    pub fn begin(mut self, events: &[Event]) -> Result<(Machine, Outcome), Error> {
        self.show(events);
        self.drive()
    }

    /// Takes up a run.
    pub fn resume(mut self, driver: aye_core::event::Driver) -> Result<(Machine, Outcome), Error> {
        self.tell(Input::Attach(driver), None)?;
        // What was asked for while nobody drove it comes before anything is run.
        self.read_mail()?;
        self.drive()
    }

    fn drive(mut self) -> Result<(Machine, Outcome), Error> {
        loop {
            match self.parts.machine.wants() {
                Effect::Run { execution } | Effect::Stop { execution } => self.act(execution)?,
                Effect::Ask(question) => self.ask(&question)?,
                Effect::Rest(_) | Effect::Finish => break,
            }
            if self.mail_read.elapsed() > QUICK {
                self.read_mail()?;
            }
        }
        self.logs.wait();
        self.let_words_out()?;
        let outcome = match (self.told_to_stop, Outcome::of(self.parts.machine.state())) {
            (Some(signal), Outcome::Paused(_)) => Outcome::Interrupted(signal),
            (_, outcome) => outcome,
        };
        Ok((self.parts.machine, outcome))
    }

    /// Tells the machine something, commits what follows, shows it.
    pub(super) fn tell(
        &mut self,
        input: Input,
        from: Option<RequestId>,
    ) -> Result<Option<Refusal>, Error> {
        let world = self.world();
        let reaction = self.parts.machine.handle(input, &world);
        let verdict = match &reaction.refusal {
            None => Verdict::Accepted,
            Some(refusal) => Verdict::Refused(refusal.to_string()),
        };
        let pending = matches!(self.parts.machine.wants(), Effect::Stop { .. });
        if let (Some(id), true, true, None) =
            (from, pending, reaction.events.is_empty(), &reaction.refusal)
        {
            self.unsettled.push(id);
            return Ok(None);
        }
        let mut handled: Vec<(RequestId, Verdict)> =
            from.map(|id| (id, verdict)).into_iter().collect();
        if !reaction.events.is_empty() {
            handled.extend(self.unsettled.drain(..).map(|id| (id, Verdict::Accepted)));
        }
        if !reaction.events.is_empty() || !handled.is_empty() {
            self.parts.store.append(&reaction.events, &handled)?;
        }
        self.show(&reaction.events);
        Ok(reaction.refusal)
    }

    /// Waits for whoever reads what is shown, unless Aye is told to stop.
    pub(super) fn let_words_out(&mut self) -> Result<(), Error> {
        const LOOK: Duration = Duration::from_millis(20);
        let waiting = |outlets: &[Outlet]| outlets.iter().filter(|one| !one.drain()).count();
        while waiting(&self.parts.outlets) > 0 {
            let until = Some(Instant::now() + LOOK);
            let wake = [self.parts.signals.fd()];
            let woken = aye_process::wait(&mut [], &wake, until, &mut |_, _, _| {});
            if matches!(woken, Ok(Happening::Wake(_))) && !self.read_signals()?.stops.is_empty() {
                self.parts.outlets.iter().for_each(Outlet::discard);
            }
        }
        Ok(())
    }

    pub(super) fn world(&self) -> World {
        World { now: self.parts.clock.now(), names: Arc::clone(&self.parts.names) }
    }

    fn show(&mut self, events: &[Event]) {
        for event in events {
            // A live view says nothing of a hold; the prompt need not blink.
            let silent =
                self.parts.report.is_live() && matches!(event.fact, Fact::ConfirmationHeld { .. });
            if let (false, Some(prompter)) = (silent, self.parts.prompter.as_deref_mut()) {
                prompter.hide();
            }
            self.parts.report.event(event, self.parts.machine.state());
        }
    }
}
