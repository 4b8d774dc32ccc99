//! A run: its flow, its state, its secrets.

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use crate::diagnostic::did_you_mean;
use crate::effect::Effect;
use crate::event::{
    Driver, Event, EventKind, PlannedStep, Range, SkillStarted, StartedBy, VERSION,
};
use crate::facts::{Inspected, Inspection};
use crate::flow::{self, Flow, Node, NodeId};
use crate::id::RunId;
use crate::journal::{Blocked, Finally, FoldError, Phase, State, Transition};
use crate::nested::{Parent, ParentScope};
use crate::skill::{AskLimits, HealRule, stricter};
use crate::text::{Frozen, Names, Outside, Scope, Verbatim, World};

use crate::secrets::{Secrets, may_hide, secret_marker};

/// What a configuration can set.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// The time-out of a step that names none; `None` is no limit.
    pub step_timeout: Option<Duration>,
    /// No step takes longer, whatever it names; `None` is no limit.
    pub longest_step: Option<Duration>,
    /// What `{{ x | safe }}` may put into a `shell:` script.
    pub verbatim: Verbatim,
    /// Heal rules of the project; those of the skill come first.
    pub heal: Arc<[HealRule]>,
    /// How long questions wait.
    pub ask: AskLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            step_timeout: Some(Duration::from_secs(120)),
            longest_step: None,
            verbatim: Verbatim::default(),
            heal: Arc::default(),
            ask: AskLimits::default(),
        }
    }
}

/// How a run begins.
#[derive(Debug, Clone)]
pub struct Start {
    /// Its id.
    pub run: RunId,
    /// Where the skill's file is.
    pub file: String,
    /// Digest of the file's text.
    pub source: String,
    /// Inputs as resolved by `skill::resolve_inputs`.
    pub inputs: IndexMap<String, Value>,
    /// The secret ones among them.
    pub secrets: Secrets,
    /// The directory it runs in.
    pub workspace: String,
    /// `--environment`.
    pub environment: Option<String>,
    /// `--from` or `--only`.
    pub range: Option<Range>,
    /// `--yes`.
    pub yes: bool,
    /// Who drives it.
    pub driver: Driver,
    /// The step of another run that it belongs to.
    pub parent: Option<Parent>,
    /// What it sees of that run.
    pub outer: Option<ParentScope>,
    /// When it has to be over, whatever its skill says.
    pub deadline: Option<Timestamp>,
    /// The tools that the project's settings call destructive.
    pub destructive_tools: Vec<String>,
    /// Who or what started it.
    pub started_by: Option<StartedBy>,
    /// The person who did, where that is not the account that drives it.
    pub starter: Option<String>,
    /// The epoch of the driver's lease.
    pub epoch: u64,
    /// The names of `concurrency` that the runs around it have: it shares them.
    pub shared_names: Vec<String>,
    /// Another run has the name of its `concurrency`: it begins by waiting.
    pub blocked: Option<Blocked>,
}

impl Start {
    /// A run without inputs, of a file with this name and this digest.
    pub fn new(
        run: RunId,
        (file, source): (impl Into<String>, impl Into<String>),
        workspace: impl Into<String>,
        driver: Driver,
    ) -> Self {
        Self {
            run,
            file: file.into(),
            source: source.into(),
            inputs: IndexMap::new(),
            secrets: Secrets::default(),
            workspace: workspace.into(),
            environment: None,
            range: None,
            yes: false,
            driver,
            parent: None,
            outer: None,
            deadline: None,
            destructive_tools: Vec::new(),
            started_by: None,
            starter: None,
            epoch: 0,
            shared_names: Vec::new(),
            blocked: None,
        }
    }
}

/// Why a run cannot begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// `--from` or `--only` names no step.
    #[error("the skill has no step `{step}`")]
    NoSuchStep {
        /// The name given.
        step: String,
        /// The nearest that exists.
        nearest: Option<String>,
    },
    /// The name of `concurrency` cannot be used.
    #[error("the name of `concurrency` {message}")]
    Concurrency {
        /// What is wrong with it.
        message: String,
        /// What to write instead.
        hint: Option<String>,
    },
    /// `--from` or `--only` names a step of `finally`.
    #[error("step `{step}` belongs to `finally`, which runs at the end of a run")]
    InFinally {
        /// The step.
        step: String,
    },
}

/// A run of a flow.
#[derive(Debug, Clone)]
pub struct Machine {
    pub(super) flow: Arc<Flow>,
    pub(super) state: State,
    pub(super) secrets: Arc<Secrets>,
    inputs: Arc<IndexMap<String, Value>>,
    about_run: Arc<Value>,
    about_skill: Arc<Value>,
    pub(super) limits: Limits,
    pub(super) outer: Option<ParentScope>,
    locals: Arc<IndexMap<String, Value>>,
    /// The epoch of the lease under which the host speaks to this machine;
    /// `None` as long as it only looks.
    pub(super) epoch: Option<u64>,
    /// It was cut off, and so many of its processes were ended; for the next
    /// event that says that a process resumes it.
    survivors: Option<u32>,
    /// What the host has seen, for the decision that follows.
    pub(super) inspected: Option<Box<Inspected>>,
    /// What the host has to look at before the run continues.
    pub(super) wanted: Option<Box<Inspection>>,
}

impl Machine {
    /// Begins a run. The events are to be committed before anything else.
    pub fn start(
        flow: Arc<Flow>,
        limits: Limits,
        start: Start,
        world: &World,
    ) -> Result<(Self, Vec<Event>), StartError> {
        if let Some(range) = &start.range
            && flow.find(range.step()).is_some_and(|node| flow.is_in_finally(node))
        {
            return Err(StartError::InFinally { step: range.step().to_owned() });
        }
        if let Some(range) = &start.range
            && flow.find(range.step()).is_none()
        {
            let names = flow.body().iter().map(|node| node.step.name.as_str());
            return Err(StartError::NoSuchStep {
                step: range.step().to_owned(),
                nearest: did_you_mean(range.step(), names).map(str::to_owned),
            });
        }
        // The runs of a `foreach` repeat what their step says.
        let listed = start.outer.is_none();
        let mut secrets = start.secrets;
        let inputs = secrets.hide(start.inputs);
        let declared = flow.skill.environment.as_ref().and_then(|name| inputs.get(name)?.as_str());
        let environment = stricter(declared, start.environment.as_deref());
        let started = SkillStarted {
            skill: flow.skill.name.value.clone(),
            file: start.file,
            source: start.source,
            inputs,
            steps: u32::try_from(flow.nodes.len()).unwrap_or(u32::MAX),
            workspace: start.workspace,
            environment,
            deadline: [flow.skill.timeout.map(|limit| after(world.now, limit)), start.deadline]
                .into_iter()
                .flatten()
                .min(),
            range: start.range,
            yes: start.yes,
            driver: start.driver,
            parent: start.parent.map(Box::new),
            destructive_tools: start.destructive_tools,
            step_list: planned(&flow, listed),
            started_by: start.started_by,
            starter: start.starter,
            concurrency: None,
            epoch: start.epoch,
        };
        let mut event = Event {
            v: VERSION,
            run: start.run,
            seq: 1,
            at: world.now,
            kind: EventKind::SkillStarted(Box::new(started)),
        };
        let state = match State::begin(&event) {
            Ok(state) => state,
            Err(error) => unreachable!("the first event is well formed: {error}"),
        };
        let epoch = Some(state.epoch);
        let mut machine = Self::new(flow, limits, secrets, state, start.outer, epoch);
        if let Some(name) = machine.name_to_claim(&start.shared_names, world)? {
            machine.claim(name, &mut event);
        }
        let mut events = vec![event];
        machine.begin_claim(start.blocked, world, &mut events);
        machine.advance(world, &mut events);
        Ok((machine, events))
    }

    /// A run as its journal says it stands. [`crate::input::Input::Attach`]
    /// makes it continue under a new epoch; [`Self::under`] continues speaking to it
    /// under one that was taken before. [`Self::relearned`] masks again what only the names of
    /// variables hide.
    pub fn restore(
        flow: Arc<Flow>,
        limits: Limits,
        secrets: Secrets,
        events: &[Event],
        outer: Option<ParentScope>,
    ) -> Result<Self, FoldError> {
        let state = State::fold(events)?;
        Ok(Self::new(flow, limits, secrets, state, outer, None))
    }

    /// The host holds the lease of this epoch. If it is the one under which the
    /// run is driven, the host is its driver; if it is a later one, that driver
    /// is gone.
    #[must_use]
    pub fn under(self, epoch: u64) -> Self {
        Self { epoch: Some(epoch), ..self }
    }

    /// The epoch under which the host speaks to it.
    pub fn epoch(&self) -> Option<u64> {
        self.epoch
    }

    /// Whether the host drives the run.
    pub(super) fn is_driven(&self) -> bool {
        self.state.paused.is_none() && self.epoch == Some(self.state.epoch)
    }

    /// Whether no process drives the run, for certain: it was left, or the host
    /// holds the lease that its driver had.
    pub(super) fn is_abandoned(&self) -> bool {
        self.state.paused.is_some() || self.epoch.is_some_and(|epoch| epoch > self.state.epoch)
    }

    /// Where the run stands.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The graph it runs.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// The same, for a run of the same steps.
    pub fn shared_flow(&self) -> Arc<Flow> {
        Arc::clone(&self.flow)
    }

    /// Values that must not be shown.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// What to do next.
    pub fn next_effect(&self) -> Effect {
        match &self.state.phase {
            Phase::Ended(_) => Effect::Finish,
            Phase::Running { execution, .. } => match (self.state.paused, &self.state.stopping) {
                (Some(why), _) => Effect::Rest(Some(why)),
                (None, Some(_)) => Effect::Stop { execution: *execution },
                (None, None) => Effect::Run { execution: *execution },
            },
            Phase::Asking { question, .. } => match self.state.paused {
                Some(why) => Effect::Rest(Some(why)),
                None => Effect::Ask(question.clone()),
            },
            Phase::Transition(_) if self.is_driven() && self.state.needs_name() => Effect::Acquire,
            Phase::Transition(between) => match (between, self.state.paused) {
                (Transition::Retrying { not_before: Some(until), .. }, None) => {
                    Effect::Wait { until: *until }
                }
                (_, None) if self.is_driven() => Effect::Inspect,
                (_, paused) => Effect::Rest(paused),
            },
        }
    }

    /// Masks the secrets of a run inside this one, or around it, too.
    pub fn mask_also(&mut self, theirs: &Secrets) {
        Arc::make_mut(&mut self.secrets).mask_also(theirs);
    }

    /// What the run gives under a name, as it is; a marker where a secret in it is not known
    /// to this process.
    fn given_as(&self, name: &str, written: &Value) -> Value {
        match self.secrets.output(name) {
            Some(value) => value.clone(),
            None if may_hide(written) => secret_marker(),
            None => written.clone(),
        }
    }

    /// What the run that holds this one gets as its result, secrets included.
    pub fn result(&self) -> Value {
        let written = &self.state.results;
        match &self.outer {
            None => written.iter().map(|(k, v)| (k.clone(), self.given_as(k, v))).collect(),
            // A `return` says it itself.
            Some(_) if written.contains_key("result") => {
                self.given_as("result", &written["result"])
            }
            Some(_) => {
                let last = self.flow.nodes.iter().rev().find(|node| {
                    !node.step.name.value.contains('.')
                        && self.state.steps.contains_key(&node.step.name.value)
                });
                let name = last.map(|node| self.output_name(&node.step.name));
                name.and_then(|name| self.results().get(&name).cloned()).unwrap_or_default()
            }
        }
    }

    /// Whether anything in this run can read the result of a step.
    pub fn reads(&self, step: &str) -> bool {
        let result = self.output_name(step);
        let mut repairs = self.limits.heal.iter().map(|rule| &rule.repair);
        self.flow.reads(&result) || repairs.any(|step| flow::reads(step, &result))
    }

    /// The step of the run around this one whose result a step of ours may
    /// give, if it may.
    pub fn gives_result_to(&self, step: &str) -> Option<&str> {
        let parent = self.state.started.parent.as_ref()?;
        let gives = self.outer.is_some() && self.flow.may_end_with(step);
        gives.then_some(parent.step.as_str())
    }

    /// When to send [`crate::input::Input::Tick`].
    pub fn wake_at(&self) -> Option<Timestamp> {
        match &self.state.phase {
            // Its time stands still; that of the step around it does not.
            Phase::Transition(_) if self.state.needs_name() => {
                self.state.started.deadline.filter(|_| self.state.started.parent.is_some())
            }
            Phase::Transition(Transition::Retrying { not_before, .. }) => {
                [*not_before, self.state.deadline()].into_iter().flatten().min()
            }
            Phase::Transition(_)
            | Phase::Running { .. }
            | Phase::Asking { .. }
            | Phase::Ended(_) => self.state.question_deadline(),
        }
    }

    /// The node of a step; a journal may name one that the flow lacks only if
    /// the wrong source was given to `restore`.
    pub(super) fn node(&self, step: &str) -> Option<(NodeId, &Node)> {
        let id = self.flow.find(step)?;
        Some((id, self.flow.nodes.get(id)?))
    }

    /// Records a fact.
    pub(super) fn emit(&mut self, mut kind: EventKind, world: &World, events: &mut Vec<Event>) {
        if let EventKind::SkillResumed { ended, .. } | EventKind::SkillCancelled { ended, .. } =
            &mut kind
        {
            *ended = self.survivors.take();
        }
        if let EventKind::SkillPaused { duration_ms, .. }
        | EventKind::SkillCompleted { duration_ms, .. }
        | EventKind::SkillFailed { duration_ms, .. }
        | EventKind::SkillCancelled { duration_ms, .. } = &mut kind
        {
            let since = self.clock(world).duration_since(self.state.started_at);
            *duration_ms = u64::try_from(since.as_millis()).ok();
        }
        let event = Event {
            v: VERSION,
            run: self.state.run.clone(),
            seq: self.state.seq + 1,
            at: self.clock(world),
            kind,
        };
        match self.state.apply(&event) {
            Ok(()) => events.push(event),
            Err(error) => unreachable!("the machine made an event that does not fit: {error}"),
        }
    }

    /// Call this before resuming a run that no process drives: so many of its
    /// processes were still running and were ended. The journal says so if it was cut off.
    pub fn ended_survivors(&mut self, count: u32) {
        self.survivors = (self.state.is_at_work() || count > 0).then_some(count);
    }

    /// Clocks may jump back; the journal's time does not.
    pub(super) fn clock(&self, world: &World) -> Timestamp {
        world.now.max(self.state.updated_at)
    }

    /// Every name a template may use right now. `now` is one moment for the
    /// whole visit to a step: a command that holds it is still the one that
    /// was asked about.
    pub(super) fn scope(&self, world: &World) -> Scope {
        match self.state.phase.is_between_visits() {
            true => self.scope_in(World { now: self.clock(world), ..world.clone() }),
            false => self.scope_in(frozen(self.state.entered_at, self.state.outside(), world)),
        }
    }

    /// The same for a step that is about to be entered: one that someone agreed
    /// to at an earlier question sees the outside as it was then.
    pub(super) fn scope_of(&self, step: &str, world: &World) -> Scope {
        match self.state.covered.get(step).filter(|_| self.state.phase.is_between_visits()) {
            Some(covered) => self.scope_in(frozen(covered.at, Some(&covered.outside), world)),
            None => self.scope(world),
        }
    }

    pub(super) fn scope_in(&self, world: World) -> Scope {
        Scope {
            world,
            inputs: Arc::clone(&self.inputs),
            outputs: self.within(|outer| &outer.outputs, &self.results()),
            steps: self.within(|outer| &outer.steps, &self.state.steps),
            locals: Arc::clone(&self.locals),
            lenient: self.flow.skill.lenient.unwrap_or_default(),
            secrets: Arc::clone(&self.secrets),
            run: self.about_run(),
            skill: Arc::clone(&self.about_skill),
        }
    }

    /// `run` in templates; in `finally` with how the run ends.
    fn about_run(&self) -> Arc<Value> {
        let own = self.state.finally.as_ref().map(Finally::names);
        let around = self.outer.as_ref().map(|outer| &outer.ending);
        let names = own.as_ref().or(around).filter(|names| !names.is_empty());
        match (names, &*self.about_run) {
            (Some(names), Value::Object(about)) => {
                let mut about = about.clone();
                about.extend(names.clone());
                Arc::new(Value::Object(about))
            }
            (_, _) => Arc::clone(&self.about_run),
        }
    }

    /// What the runs inside a step see of how this one ends.
    pub(super) fn ending(&self) -> Map<String, Value> {
        let around = self.outer.as_ref().map(|outer| outer.ending.clone());
        self.state.finally.as_ref().map(Finally::names).or(around).unwrap_or_default()
    }

    /// The results so far as they are. One that held a secret and was lost
    /// with the process that knew it stands there as a secret.
    pub(super) fn results(&self) -> Arc<IndexMap<String, Value>> {
        if self.state.hidden.is_empty() {
            return Arc::clone(&self.state.outputs);
        }
        let mut results = IndexMap::clone(&self.state.outputs);
        for name in &self.state.hidden {
            let value = self.secrets.revealed(name).cloned().unwrap_or_else(secret_marker);
            results.insert(name.clone(), value);
        }
        Arc::new(results)
    }

    /// Our own values over those of the run around us.
    fn within<T: Clone>(
        &self,
        theirs: impl Fn(&ParentScope) -> &Arc<IndexMap<String, T>>,
        ours: &Arc<IndexMap<String, T>>,
    ) -> Arc<IndexMap<String, T>> {
        match &self.outer {
            None => Arc::clone(ours),
            Some(outer) if ours.is_empty() => Arc::clone(theirs(outer)),
            Some(outer) => {
                let mut all = IndexMap::clone(theirs(outer));
                all.extend(ours.iter().map(|(name, value)| (name.clone(), value.clone())));
                Arc::new(all)
            }
        }
    }

    fn new(
        mut flow: Arc<Flow>,
        mut limits: Limits,
        secrets: Secrets,
        state: State,
        outer: Option<ParentScope>,
        epoch: Option<u64>,
    ) -> Self {
        // As the journal says it, so that a resumed run decides as the run did.
        let destructive = &state.started.destructive_tools;
        if flow.calls_any(destructive) {
            Arc::make_mut(&mut flow).mark_destructive(destructive);
        }
        if !destructive.is_empty() && !limits.heal.is_empty() {
            flow::mark_repairs(Arc::make_mut(&mut limits.heal), destructive);
        }
        let mut locals = outer.as_ref().map_or_else(IndexMap::new, |o| IndexMap::clone(&o.locals));
        if !flow.skill.defaults.is_null() {
            locals.entry("defaults".to_owned()).or_insert_with(|| flow.skill.defaults.clone());
        }
        let inputs = match &outer {
            Some(outer) => Arc::clone(&outer.inputs),
            None => Arc::new(state.started.inputs.clone()),
        };
        let started = &state.started;
        let about_run = json!({
            "id": state.run,
            "environment": started.environment,
            "user": started.driver.user,
            "started": state.started_at,
        });
        let about_skill = json!({
            "name": started.skill,
            "version": flow.skill.version,
            "description": flow.skill.description,
        });
        Self {
            inputs,
            locals: Arc::new(locals),
            outer,
            about_run: Arc::new(about_run),
            about_skill: Arc::new(about_skill),
            flow,
            state,
            secrets: Arc::new(secrets),
            limits,
            epoch,
            survivors: None,
            inspected: None,
            wanted: None,
        }
    }
}

/// The world with what it was then, where that is known.
pub(super) fn frozen(now: Timestamp, outside: Option<&Arc<Outside>>, world: &World) -> World {
    let names = match outside.filter(|outside| !outside.is_empty()) {
        Some(values) => {
            let (inner, values) = (Arc::clone(&world.names), Arc::clone(values));
            Arc::new(Frozen { inner, values }) as Arc<dyn Names>
        }
        None => Arc::clone(&world.names),
    };
    World { now, names }
}

fn planned(flow: &Flow, listed: bool) -> Vec<PlannedStep> {
    let nodes = flow.nodes.iter().enumerate().filter(|_| listed);
    let planned = |(id, node): (NodeId, &Node)| PlannedStep {
        name: node.step.name.value.clone(),
        kind: node.step.action.kind(),
        description: node.step.description.as_ref().map(|text| text.trim().to_owned()),
        finally: flow.is_in_finally(id),
    };
    nodes.map(planned).collect()
}

/// A moment later than another; "for ever" is thirty years.
pub(super) fn after(now: Timestamp, limit: Duration) -> Timestamp {
    const FOR_EVER: Duration = Duration::from_secs(30 * 365 * 86_400);
    let limit = SignedDuration::try_from(limit.min(FOR_EVER)).unwrap_or(SignedDuration::ZERO);
    now.checked_add(limit).unwrap_or(Timestamp::MAX)
}
