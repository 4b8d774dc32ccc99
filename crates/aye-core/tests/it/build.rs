//! Skills, worlds and runs for tests: a fixed clock, fixed ids, no files.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aye_core::effect::{Execution, Process, Rendered};
use aye_core::event::{Driver, Event, EventKind, ProcessRecord, Range, Stopping};
use aye_core::facts::{Fact, FactKind, Inspected, Look, Subject};
use aye_core::flow::Flow;
use aye_core::id::{QuestionId, RunId};
use aye_core::input::{Attach, End, Finished, Input, Request, Retry};
use aye_core::journal::{Phase, RunStatus, State as RunState};
use aye_core::machine::{Limits, Machine, Refusal, Start};
use aye_core::nested::ParentScope;
use aye_core::question::{Answer, Channel, Question};
use aye_core::secrets::{Secrets, Text};
use aye_core::skill::{
    Action, Ask, AskKind, Body, Choice, ChoiceAction, EndStatus, HealRule, OnError, Skill, State,
    Step, StepTimeout, Template, Transitions,
};
use aye_core::span::Span;
use aye_core::text::{Names, World};
use indexmap::IndexMap;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// The moment every test begins at: 2026-01-01T00:00:00Z.
pub(crate) fn dawn() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

pub(crate) fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) fn t(text: &str) -> Template {
    text.to_owned().into()
}

// ---- steps -----------------------------------------------------------------

pub(crate) fn step(name: &str, action: Action) -> Step {
    Step::bare(t(name), Span::default(), action)
}

/// A step that runs the program of its own name.
pub(crate) fn command(name: &str) -> Step {
    program(name, name, &[])
}

pub(crate) fn program(name: &str, program: &str, args: &[&str]) -> Step {
    let args = args.iter().map(|arg| t(arg)).collect();
    step(name, Action::Command { program: t(program), args })
}

pub(crate) fn note(name: &str) -> Step {
    step(name, Action::Note)
}

/// A step that is a question.
pub(crate) fn asking(name: &str, ask: Ask) -> Step {
    step(name, Action::Ask(Box::new(ask)))
}

/// A step with a gate before it.
pub(crate) fn gated(step: Step, ask: Ask) -> Step {
    Step { confirmation: Some(ask), ..step }
}

pub(crate) fn when(step: Step, condition: &str) -> Step {
    Step { condition: Some(t(condition)), ..step }
}

pub(crate) fn on_error(step: Step, on_error: OnError) -> Step {
    Step { on_error: Some(on_error), ..step }
}

pub(crate) fn idempotent(step: Step) -> Step {
    Step { idempotent: true, ..step }
}

// ---- questions -------------------------------------------------------------

pub(crate) fn choice(value: &str, action: ChoiceAction) -> Choice {
    Choice { label: t(value), value: value.to_owned(), description: None, action }
}

/// Yes, no or skip, for ever.
pub(crate) fn confirm(message: &str) -> Ask {
    Ask {
        options: vec![
            choice("yes", ChoiceAction::Proceed),
            choice("no", ChoiceAction::Cancel),
            choice("skip", ChoiceAction::Skip),
        ],
        overridable: true,
        ..Ask::new(AskKind::Confirm, t(message))
    }
}

pub(crate) fn choose(message: &str, values: &[&str]) -> Ask {
    let options = values.iter().map(|value| choice(value, ChoiceAction::Proceed)).collect();
    Ask { kind: AskKind::Choose, options, ..confirm(message) }
}

pub(crate) fn input(message: &str) -> Ask {
    Ask { kind: AskKind::Input, options: Vec::new(), ..confirm(message) }
}

pub(crate) fn expiring(ask: Ask, seconds: u64, default: Option<&str>) -> Ask {
    Ask { timeout: StepTimeout::After(secs(seconds)), default: default.map(t), ..ask }
}

// ---- skills ----------------------------------------------------------------

fn skill(body: Body) -> Skill {
    Skill {
        environment: None,
        span: Span::default(),
        name: t("test"),
        lines: Default::default(),
        description: None,
        version: None,
        tags: Vec::new(),
        inputs: Vec::new(),
        body,
        finally: Vec::new(),
        concurrency: None,
        outputs: Vec::new(),
        timeout: None,
        cleanup: secs(30),
        step_limit: 1000,
        lenient: None,
        defaults: Value::Null,
        heal: Vec::new(),
    }
}

pub(crate) fn steps(steps: impl IntoIterator<Item = Step>) -> Skill {
    skill(Body::Steps(steps.into_iter().collect()))
}

/// A `states:` skill that begins with the first state.
pub(crate) fn states(states: impl IntoIterator<Item = State>) -> Skill {
    let states: Vec<State> = states.into_iter().collect();
    let initial = states[0].step.name.clone();
    skill(Body::States { initial, states })
}

/// A state and where it leads, e.g. `[("success", "done"), ("101", "lint")]`.
pub(crate) fn state(step: Step, to: &[(&str, &str)]) -> State {
    let mut transitions = Transitions::default();
    for (word, target) in to {
        let target = t(target);
        match *word {
            "success" => transitions.success = Some(target),
            "failure" => transitions.failure = Some(target),
            "timeout" => transitions.timeout = Some(target),
            "declined" => transitions.declined = Some(target),
            "cancelled" => transitions.cancelled = Some(target),
            word => {
                match word.parse() {
                    Ok(code) => transitions.codes.insert(code, target),
                    Err(_) => transitions.answers.insert(word.to_owned(), target),
                };
            }
        }
    }
    State { step, transitions, ends: None }
}

pub(crate) fn end(name: &str, status: EndStatus) -> State {
    State { step: note(name), transitions: Transitions::default(), ends: Some(status) }
}

// ---- the world -------------------------------------------------------------

/// Names that a test can change while a run continues.
#[derive(Default)]
pub(crate) struct Fakes(Mutex<IndexMap<String, String>>);

impl Fakes {
    pub(crate) fn set(&self, name: &str, value: &str) {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.insert(name.to_owned(), value.to_owned());
    }

    fn get(&self, name: &str) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// What a host sees: the contents of `file.NAME` for the program and for
    /// each argument that there is such a file of, and where links lead.
    fn look_at(&self, look: &Look) -> Vec<Fact> {
        let contents = |name: &str| self.get(&format!("file.{name}"));
        match &look.subject {
            Subject::Program { argv, cwd, .. } => {
                let plain = argv.iter().filter_map(|word| word.clone().plain());
                let files = plain.enumerate().filter_map(|(at, word)| {
                    let kind = if at == 0 { FactKind::Program } else { FactKind::File };
                    let found = contents(&word).or_else(|| (at == 0).then(|| "elf".to_owned()))?;
                    Some(Fact::new(kind, Some(&word), &word).with_digest(found))
                });
                let cwd = cwd.clone().and_then(Text::plain).unwrap_or_else(|| "/w".to_owned());
                let real = self.get(&format!("link.{cwd}")).unwrap_or(cwd);
                files.chain([Fact::new(FactKind::Directory, None, &real)]).collect()
            }
            Subject::Tool { tool, .. } => {
                let digest = contents(tool).unwrap_or_else(|| "tool".to_owned());
                vec![Fact::new(FactKind::Tool, None, tool).with_digest(digest)]
            }
            Subject::Skill { begun: Some(run), .. } if self.get("began").is_some() => {
                vec![Fact::new(FactKind::Begun, None, run.as_str())]
            }
            Subject::Skill { skill, .. } => {
                let skill = skill.clone().plain().unwrap_or_default();
                if contents(&skill).as_deref() == Some("missing") {
                    let why = format!("cannot be loaded: there is no skill `{skill}`");
                    return vec![Fact::new(FactKind::Skill, None, &why)];
                }
                let digest = contents(&skill).unwrap_or_else(|| "skill".to_owned());
                vec![Fact::new(FactKind::Skill, None, &skill).with_digest(digest)]
            }
        }
    }
}

impl Names for Fakes {
    fn env(&self, name: &str) -> Option<String> {
        self.get(&format!("env.{name}"))
    }

    fn look_up(&self, name: &str) -> Option<Value> {
        self.get(name).map(Value::String)
    }
}

pub(crate) fn driver(user: &str) -> Driver {
    Driver {
        user: user.to_owned(),
        host: "box".to_owned(),
        pid: 7,
        attended: false,
        detached: false,
        taken_up: false,
        namespaces: None,
    }
}

pub(crate) fn attach(user: &str) -> Input {
    attach_as(driver(user))
}

pub(crate) fn attach_as(driver: Driver) -> Input {
    Input::Attach(Attach { driver, epoch: 0 })
}

/// Says under which epoch, where a test does not: what runs was started under
/// the run's own, whoever takes it up does so under the next.
fn stamped(input: Input, epoch: u64) -> Input {
    match input {
        Input::Attach(attach) if attach.epoch == 0 => {
            Input::Attach(Attach { epoch: epoch + 1, ..attach })
        }
        Input::Retry(retry) if retry.epoch == 0 => {
            Input::Retry(Retry { epoch: epoch + 1, ..retry })
        }
        Input::Finished(finished) if finished.epoch == 0 => {
            Input::Finished(Finished { epoch, ..finished })
        }
        other => other,
    }
}

/// What comes back of something that was written down.
pub(crate) fn through_json<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

pub(crate) fn run_id() -> RunId {
    RunId::new("run00001").unwrap()
}

pub(crate) fn start() -> Start {
    Start { epoch: 1, ..Start::new(run_id(), ("test.yaml", "0000"), "/w", driver("ann")) }
}

pub(crate) fn answer_of(by: &str, value: &str) -> Answer {
    Answer::new(value, by, Channel::Terminal)
}

// ---- a run -----------------------------------------------------------------

/// A run with its journal. After every input it checks that the journal folds
/// to exactly the machine's state and that a restored machine wants the same.
pub(crate) struct Run {
    pub(crate) machine: Machine,
    pub(crate) events: Vec<Event>,
    /// The same as someone reads them who has only what was written.
    stored: Vec<Event>,
    pub(crate) world: World,
    pub(crate) names: Arc<Fakes>,
    pub(crate) flow: Arc<Flow>,
    limits: Limits,
    outer: Option<ParentScope>,
}

impl Run {
    pub(crate) fn start(skill: Skill) -> Self {
        Self::start_as(skill, start())
    }

    pub(crate) fn from(skill: Skill, step: &str) -> Self {
        Self::start_as(skill, Start { range: Some(Range::From(step.to_owned())), ..start() })
    }

    pub(crate) fn only(skill: Skill, step: &str) -> Self {
        Self::start_as(skill, Start { range: Some(Range::Only(step.to_owned())), ..start() })
    }

    pub(crate) fn yes(skill: Skill) -> Self {
        Self::start_as(skill, Start { yes: true, ..start() })
    }

    pub(crate) fn start_as(skill: Skill, start: Start) -> Self {
        Self::start_in(skill, start, Arc::default())
    }

    pub(crate) fn start_in(skill: Skill, start: Start, names: Arc<Fakes>) -> Self {
        Self::start_with(skill, start, names, Limits::default())
    }

    /// In a project with these heal rules.
    pub(crate) fn start_limited(skill: Skill, heal: Vec<HealRule>) -> Self {
        Self::start_limited_as(skill, heal, start())
    }

    pub(crate) fn start_limited_as(skill: Skill, heal: Vec<HealRule>, start: Start) -> Self {
        let limits = Limits { heal: heal.into(), ..Limits::default() };
        Self::start_with(skill, start, Arc::default(), limits)
    }

    fn start_with(skill: Skill, start: Start, names: Arc<Fakes>, limits: Limits) -> Self {
        let flow = Arc::new(Flow::compile(skill));
        let world = World { now: dawn(), names: Arc::clone(&names) as Arc<dyn Names> };
        let outer = start.outer.clone();
        let (machine, events) =
            Machine::start(Arc::clone(&flow), limits.clone(), start, &world).unwrap();
        let stored = events.iter().map(through_json).collect();
        let mut run = Self { machine, events, stored, world, names, flow, limits, outer };
        run.check();
        run.look();
        run
    }

    /// Tells the run something, and looks at what it wants to have looked at.
    pub(crate) fn send(&mut self, input: Input) -> Result<(), Refusal> {
        let verdict = self.tell(input);
        self.look();
        verdict
    }

    /// Looks at what the run wants to have looked at.
    pub(crate) fn look(&mut self) {
        while let Some(inspection) = self.machine.inspection(&self.world) {
            let facts = inspection.looks.iter().map(|look| self.names.look_at(look)).collect();
            self.tell(Input::Inspected(Box::new(Inspected { inspection, facts }))).unwrap();
        }
    }

    /// Tells the run something and looks at nothing.
    pub(crate) fn tell(&mut self, input: Input) -> Result<(), Refusal> {
        let input = stamped(input, self.machine.state().epoch);
        // A host that has nothing but the journal and the secrets does the same.
        let mut other = self.restored();
        let told = through_json(&input);
        assert_eq!(told, input);
        let expected = other.handle(told, &self.world);
        let reaction = self.machine.handle(input, &self.world);
        assert_eq!(reaction, expected);
        assert_eq!(other.secrets(), self.machine.secrets());
        self.stored.extend(reaction.events.iter().map(through_json));
        self.events.extend(reaction.events);
        self.check();
        reaction.refusal.map_or(Ok(()), Err)
    }

    /// The journal is the truth: folding it gives the state, and the state
    /// alone says what is wanted.
    fn check(&self) {
        assert_eq!(&RunState::fold(&self.stored).unwrap(), self.machine.state());
        let restored = self.restored();
        let effect = self.machine.next_effect();
        assert_eq!(restored.next_effect(), effect);
        assert_eq!(through_json(&effect), effect);
        let execution = self.machine.execution(&self.world);
        assert_eq!(restored.execution(&self.world), execution);
        assert_eq!(execution.as_ref().map(through_json).ok(), execution.ok());
        assert_eq!(restored.wake_at(), self.machine.wake_at());
        let inspection = self.machine.inspection(&self.world);
        assert_eq!(restored.inspection(&self.world), inspection);
        assert_eq!(through_json(&inspection), inspection);
    }

    fn restored(&self) -> Machine {
        let secrets = self.machine.secrets().clone();
        let flow = Arc::clone(&self.flow);
        let (limits, outer) = (self.limits.clone(), self.outer.clone());
        let machine = Machine::restore(flow, limits, secrets, &self.stored, outer).unwrap();
        match self.machine.epoch() {
            Some(epoch) => machine.under(epoch),
            None => machine,
        }
    }

    /// Aye dies and another process takes its lease; it does not drive the run yet.
    pub(crate) fn crash(&mut self) {
        self.stored = self.events.iter().map(through_json).collect();
        let restored = self.restored();
        let epoch = restored.state().epoch + 1;
        self.machine = restored.under(epoch);
    }

    /// The same, and the next process knows only these secrets.
    pub(crate) fn crash_knowing(&mut self, secrets: Secrets) {
        self.crash();
        let epoch = self.machine.epoch().unwrap();
        let (flow, limits) = (Arc::clone(&self.flow), self.limits.clone());
        let outer = self.outer.clone();
        let machine = Machine::restore(flow, limits, secrets, &self.stored, outer).unwrap();
        self.machine = machine.under(epoch).relearned(&self.world);
    }

    pub(crate) fn attach(&mut self) {
        self.send(attach("bob")).unwrap();
    }

    pub(crate) fn sleep(&mut self, seconds: i64) {
        self.world.now = self.world.now.checked_add(SignedDuration::from_secs(seconds)).unwrap();
    }

    /// Time passes while a prompter shows what is asked.
    pub(crate) fn tick(&mut self, seconds: i64) {
        self.sleep(seconds);
        self.send(Input::Tick { shown: true }).unwrap();
    }

    /// Time passes and nobody can see what is asked.
    pub(crate) fn tick_unseen(&mut self, seconds: i64) {
        self.sleep(seconds);
        self.send(Input::Tick { shown: false }).unwrap();
    }

    pub(crate) fn execution(&self) -> Execution {
        self.machine.execution(&self.world).unwrap().expect("a step runs")
    }

    /// The program that runs.
    pub(crate) fn process(&self) -> Process<String> {
        match self.machine.render(self.execution().task, &self.world).unwrap() {
            Rendered::Process(process) => *process,
            other => panic!("no program runs: {other:?}"),
        }
    }

    pub(crate) fn running(&self) -> u32 {
        match &self.machine.state().phase {
            Phase::Running { execution, .. } => *execution,
            other => panic!("no step runs: {other:?}"),
        }
    }

    pub(crate) fn finish(&mut self, end: End, process: Option<ProcessRecord>) {
        let execution = self.running();
        self.send(Input::Finished(Finished { process, ..Finished::bare(execution, end, None) }))
            .unwrap();
    }

    pub(crate) fn exit(&mut self, code: i32) {
        self.exit_with(code, Value::Null);
    }

    pub(crate) fn exit_with(&mut self, code: i32, value: Value) {
        let process = ProcessRecord { exit_code: Some(code), duration_ms: 5, ..Default::default() };
        self.finish(End::Exited { value, parsed: None }, Some(process));
    }

    pub(crate) fn time_out(&mut self) {
        self.finish(End::TimedOut, None);
    }

    pub(crate) fn stopped(&mut self) {
        self.finish(End::Stopped, None);
    }

    pub(crate) fn interrupt(&mut self) {
        self.send(Input::Interrupt { signal: "SIGTERM".to_owned() }).unwrap();
    }

    pub(crate) fn leave(&mut self) {
        self.send(Input::Leave { message: "no terminal".to_owned() }).unwrap();
    }

    pub(crate) fn cancel(&mut self, by: &str) {
        let request = Request::Cancel { by: by.to_owned(), reason: None, now: false };
        self.send(Input::Request(request)).unwrap();
    }

    pub(crate) fn question(&self) -> &Question {
        match &self.machine.state().phase {
            Phase::Asking { question, .. } => question,
            other => panic!("no question is open: {other:?}"),
        }
    }

    pub(crate) fn reply(&mut self, question: QuestionId, answer: Answer) -> Result<(), Refusal> {
        self.send(Input::Request(Request::answer(question, answer)))
    }

    pub(crate) fn say(&mut self, answer: Answer) -> Result<(), Refusal> {
        let question = self.question().id.clone();
        self.reply(question, answer)
    }

    pub(crate) fn answer(&mut self, value: &str) {
        self.say(answer_of("ann", value)).unwrap();
    }

    pub(crate) fn status(&self) -> RunStatus {
        self.machine.state().status()
    }

    /// The journal in short lines, without the first event.
    pub(crate) fn trace(&self) -> Vec<String> {
        self.events[1..].iter().map(|event| brief(&event.kind)).collect()
    }

    /// The last `count` lines of the trace.
    pub(crate) fn tail(&self, count: usize) -> Vec<String> {
        let trace = self.trace();
        trace[trace.len().saturating_sub(count)..].to_vec()
    }

    pub(crate) fn json(&self) -> String {
        self.events.iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect()
    }
}

/// One event in a short line.
pub(crate) fn brief(kind: &EventKind) -> String {
    let word = |value: &dyn erased::Word| value.word();
    match kind {
        EventKind::SkillStarted(started) => format!("started {}", started.skill),
        EventKind::SkillPaused { why, .. } => format!("paused {}", word(why)),
        EventKind::SkillResumed { .. } => "resumed".to_owned(),
        EventKind::SkillStopping(Stopping::Cancelled { by, .. }) => format!("stopping for {by}"),
        EventKind::SkillStopping(Stopping::Interrupted { signal }) => {
            format!("stopping on {signal}")
        }
        EventKind::SkillCompleted { state, .. } => match state {
            Some(state) => format!("completed in {state}"),
            None => "completed".to_owned(),
        },
        EventKind::SkillFailed { why, .. } => format!("failed {}", word(why)),
        EventKind::ConcurrencyAcquired { name, waited_ms } => match waited_ms {
            Some(ms) => format!("has {name} after {ms}"),
            None => format!("has {name}"),
        },
        EventKind::ConcurrencyWaiting { name, holder, ahead } => {
            format!("waits for {holder} ({name}, {ahead} ahead)")
        }
        EventKind::SkillFinishing(finishing) => format!("finishing {}", finishing.end.status()),
        EventKind::SkillCancelled { why, .. } => format!("cancelled {}", word(why)),
        EventKind::MemoryRecalled(what) => format!("recalled {}", what.kind.word()),
        EventKind::MemoryLearned(what) => format!("learned {}", what.kind.word()),
        EventKind::AutoHealTriggered(heal) => format!("{} heal {}", heal.step, heal.rule),
        EventKind::AutoHealCompleted { step, healed, .. } => format!("{step} healed {healed}"),
        EventKind::StepStarted(started) if started.attempt > 1 => {
            format!("{} start {}", started.step, started.attempt)
        }
        EventKind::StepStarted(started) => format!("{} start", started.step),
        EventKind::StepQueued { step, .. } => format!("{step} queued"),
        EventKind::StepDequeued { step, .. } => format!("{step} dequeued"),
        EventKind::StepCompleted(done) if done.marked_by.is_some() => {
            format!("{} marked", done.step)
        }
        EventKind::StepCompleted(done) => format!("{} done", done.step),
        EventKind::StepFailed(failed) => {
            let winding = failed.winding_down.as_ref().map_or("", |_| ", winding down");
            format!("{} {}{winding}", failed.step, word(&failed.outcome))
        }
        EventKind::StepSkipped { step, why, .. } => format!("{step} skip {}", word(why)),
        EventKind::StepRetried { step, attempt, why, .. } => {
            format!("{step} retry {attempt} {}", word(why))
        }
        EventKind::ConfirmationRequired(question) => {
            format!("{} ask {}", question.step, word(&question.purpose))
        }
        EventKind::ConfirmationHeld { .. } => "held".to_owned(),
        EventKind::ConfirmationAdvised { advice, .. } => format!("{} advises", advice.by),
        EventKind::ConfirmationAnswered(answered) => match &answered.refused {
            Some(why) => format!("refused {}: {why}", answered.answer.by),
            None => {
                let Answer { by, value, prompter, .. } = &answered.answer;
                format!("{by} says {} ({})", value.as_str().unwrap_or("***"), prompter.word())
            }
        },
        EventKind::ConfirmationExpired { withdrawn: true, .. } => "withdrawn".to_owned(),
        EventKind::ConfirmationExpired { applied, .. } => match applied {
            Some(value) => format!("expired, takes {value}"),
            None => "expired".to_owned(),
        },
    }
}

mod erased {
    //! The word an enum is written with in the journal.

    pub(super) trait Word {
        fn word(&self) -> String;
    }

    impl<T: serde::Serialize> Word for T {
        fn word(&self) -> String {
            match serde_json::to_value(self) {
                Ok(serde_json::Value::String(word)) => word,
                other => panic!("not a word: {other:?}"),
            }
        }
    }
}
