//! The name of a run's `concurrency`: it is rendered when the run begins, and the
//! run must hold it before its first step. The store knows whether it is free.

use crate::event::{Event, EventKind, FailReason, RunEnd};
use crate::id::RunId;
use crate::journal::{Blocked, Claim};
use crate::text::{self, World};

use super::refusal::Refusal;
use super::run::{Machine, StartError};

/// The longest name, in bytes.
const LONGEST: usize = 200;

impl Machine {
    /// The name that the run must have. One that a run around it has is shared
    /// with it: it would wait for itself.
    pub(super) fn name_to_claim(
        &self,
        shared: &[String],
        world: &World,
    ) -> Result<Option<String>, StartError> {
        let Some(template) = &self.flow.skill.concurrency else { return Ok(None) };
        let wrong =
            |message: String, hint: Option<String>| StartError::Concurrency { message, hint };
        let rendered = text::text(template, &self.scope(world));
        let name = rendered.map_err(|error| wrong(format!("has no value: {error}"), error.hint))?;
        let name = name.trim();
        let message = if name.is_empty() {
            "is empty"
        } else if name.len() > LONGEST {
            "is longer than 200 bytes"
        } else if name.contains(char::is_control) {
            "has a line break or another control character"
        } else if self.secrets.mask(name) != name {
            "holds a secret, and everyone sees it"
        } else {
            let is_shared = shared.iter().any(|it| it == name);
            return Ok((!is_shared).then(|| name.to_owned()));
        };
        Err(wrong(
            message.to_owned(),
            Some("write a short name, such as `deploy-{{ inputs.environment }}`".to_owned()),
        ))
    }

    /// The run must have this name, its first event says.
    pub(super) fn claim(&mut self, name: String, event: &mut Event) {
        if let EventKind::SkillStarted(started) = &mut event.kind {
            started.concurrency = Some(name.clone());
        }
        self.state.started.concurrency = Some(name.clone());
        self.state.claim = Some(Claim::new(name));
    }

    /// The run has its name from the start, unless another run has it.
    pub(super) fn begin_claim(
        &mut self,
        blocked: Option<Blocked>,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        match blocked {
            _ if !self.state.needs_name() => {}
            None => self.take_name(world, events),
            Some(blocked) => self.say_blocked(blocked, world, events),
        }
    }

    /// The name is free: the run continues.
    pub(super) fn acquired(
        &mut self,
        world: &World,
        events: &mut Vec<Event>,
    ) -> Result<(), Refusal> {
        self.must_need_name()?;
        self.take_name(world, events);
        self.advance(world, events);
        Ok(())
    }

    /// Another run has it.
    pub(super) fn blocked(
        &mut self,
        blocked: Blocked,
        world: &World,
        events: &mut Vec<Event>,
    ) -> Result<(), Refusal> {
        self.must_need_name()?;
        let told = self.state.claim.as_ref().is_some_and(|claim| claim.is_blocked_by(&blocked));
        if !told {
            self.say_blocked(blocked, world, events);
        }
        Ok(())
    }

    /// The step around the run has a limit, and it is up.
    pub(super) fn stop_waiting_in_time(&mut self, world: &World, events: &mut Vec<Event>) {
        let waits = self.is_driven() && self.state.needs_name();
        if waits && self.wake_at().is_some_and(|at| world.now >= at) {
            let message = "the step around it timed out while it waited".to_owned();
            let (why, step, state) = (FailReason::RunTimedOut, None, None);
            self.end_run(RunEnd::Failed { why, message, step, state }, world, events);
        }
    }

    /// It would wait for ever.
    pub(super) fn deadlocked(
        &mut self,
        holder: &RunId,
        world: &World,
        events: &mut Vec<Event>,
    ) -> Result<(), Refusal> {
        self.must_need_name()?;
        let name = self.state.claim.as_ref().map_or("", |claim| &claim.name);
        let message = format!(
            "run `{holder}` holds the name `{name}` and waits for a name that this run holds: that \
             would be a deadlock"
        );
        let (why, step, state) = (FailReason::Deadlock, None, None);
        self.end_run(RunEnd::Failed { why, message, step, state }, world, events);
        Ok(())
    }

    fn must_need_name(&self) -> Result<(), Refusal> {
        match (self.is_driven(), self.state.needs_name()) {
            (false, _) => Err(Refusal::NotDriven),
            (true, false) => Err(Refusal::NoName),
            (true, true) => Ok(()),
        }
    }

    fn take_name(&mut self, world: &World, events: &mut Vec<Event>) {
        let Some(claim) = &self.state.claim else { return };
        let since = claim.waiting.as_ref().map(|waiting| waiting.since);
        let waited = since.map(|since| self.clock(world).duration_since(since).as_millis());
        let waited_ms = waited.and_then(|ms| u64::try_from(ms).ok());
        let name = claim.name.clone();
        self.emit(EventKind::ConcurrencyAcquired { name, waited_ms }, world, events);
    }

    fn say_blocked(&mut self, blocked: Blocked, world: &World, events: &mut Vec<Event>) {
        let Some(claim) = &self.state.claim else { return };
        let (name, Blocked { holder, ahead }) = (claim.name.clone(), blocked);
        self.emit(EventKind::ConcurrencyWaiting { name, holder, ahead }, world, events);
    }
}
