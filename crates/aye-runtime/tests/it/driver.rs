//! Whole runs, driven on a store in memory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use aye_core::event::{self, Event, EventKind, StartedBy as RecordedStart};
use aye_core::flow::Flow;
use aye_core::id::{QuestionId, RunId};
use aye_core::input::Request;
use aye_core::journal::Ended;
use aye_core::machine::{Machine, Start};
use aye_core::question::{Answer, Channel};
use aye_core::secrets::Secrets;
use aye_process::Signals;
use aye_process::policy::Policy;
use aye_runtime::clock::{Clock, SystemClock};
use aye_runtime::driver::{Driven, Driver, Outcome, Parts};
use aye_runtime::error::Error;
use aye_runtime::memory::InMemory;
use aye_runtime::prompter::{AskedQuestion, PromptEvent, Prompter, Withdrawn};
use aye_runtime::report::{Silent, Unbuffered};
use aye_runtime::runtime::{self, Runtime};
use aye_runtime::skills::SkillFile;
use aye_runtime::store::{
    Holder, Journal as _, Leases as _, Lessons as _, Mailbox as _, MemoryStore, Source, StoreError,
};
use aye_runtime::trust::StartedBy;
use aye_runtime::usecases::{SkillError, Surface};
use indexmap::IndexMap;
use serde_json::Value;
use tempfile::TempDir;

/// Nothing here takes longer than this.
const PATIENCE: Duration = Duration::from_secs(60);

/// A directory, a store in memory, and a run in it.
pub(super) struct Stage {
    directory: TempDir,
    store: MemoryStore,
    run: RunId,
    env: BTreeMap<String, String>,
}

impl Stage {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = MemoryStore::new(&directory.path().join("logs"));
        let run = "abcdefgh12".to_owned().try_into().unwrap();
        Self { directory, store, run, env: BTreeMap::new() }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn holder(&self) -> Holder {
        Holder {
            user: "ada".to_owned(),
            host: "here".to_owned(),
            pid: std::process::id(),
            command: "test".to_owned(),
            since: jiff::Timestamp::UNIX_EPOCH,
        }
    }

    /// Drives a run of this skill to its end or a pause.
    fn drive(&self, skill: &str, prompters: Vec<&mut dyn Prompter>) -> Result<Driven, Error> {
        let nothing = (IndexMap::new(), Secrets::default());
        self.drive_by(&SystemClock::default(), skill, nothing, prompters, None)
    }

    /// The same with a clock and inputs of its own.
    pub(super) fn drive_by(
        &self,
        clock: &dyn Clock,
        skill: &str,
        (inputs, secrets): (IndexMap<String, Value>, Secrets),
        prompters: Vec<&mut dyn Prompter>,
        rest_after: Option<Duration>,
    ) -> Result<Driven, Error> {
        let _only = super::SIGNALS.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = runtime::Parts {
            env: self.env.clone().into(),
            ..runtime::Parts::new(self.path().join("home"), self.path())
        };
        let runtime = Runtime::new(parts).unwrap();
        let mut store = self.store.clone();
        let lease = store.acquire(&self.run, &self.holder()).unwrap();
        let source = Source::new("s.yaml", skill);
        let flow: Flow = SkillFile::from_text("s.yaml".into(), skill.to_owned()).flows.remove(0);
        let named = (source.file.clone(), source.digest.clone());
        let driver = event::Driver { attended: true, ..runtime.driver() };
        let start = Start {
            inputs,
            secrets,
            epoch: lease.epoch(),
            ..Start::new(self.run.clone(), named, self.path().to_string_lossy(), driver)
        };
        let world = runtime.world(self.path());
        let (machine, events) =
            Machine::start(Arc::new(flow), runtime.limits(), start, &world).unwrap();
        store.start(&lease, &events, &source).unwrap();
        let mut report = Silent;
        let mut signals = Signals::catch().unwrap();
        let parts = Parts {
            store: &mut store,
            lease,
            home: &runtime.home,
            clock,
            names: runtime.names(self.path()),
            limits: runtime.limits(),
            skills: &runtime,
            tools: runtime.tools(self.path(), &self.run),
            memory: Arc::new(runtime.memory()),
            report: &mut report,
            sink: &Unbuffered,
            signals: &mut signals,
            policy: Policy::default(),
            max_result: aye_process::DEFAULT_TAIL,
        };
        let prompters = prompters.into_iter().map(|one| one as &mut dyn Prompter).collect();
        let driver = Driver::new(parts, machine, prompters);
        let driver = match rest_after {
            Some(limit) => driver.resting_after(limit),
            None => driver,
        };
        driver.begin(&events)
    }

    pub(super) fn events(&self) -> Vec<Event> {
        self.store.events(&self.run, 0).unwrap()
    }

    pub(super) fn types(&self) -> Vec<&'static str> {
        self.events().iter().map(|event| event.kind.name()).collect()
    }

    /// Waits until a step has made this file, and reads it.
    fn wait_for(&self, file: &str) -> String {
        let give_up = Instant::now() + PATIENCE;
        loop {
            match std::fs::read_to_string(self.path().join(file)) {
                Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
                _ => assert!(Instant::now() < give_up, "`{file}` is not made: {:?}", self.types()),
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn send(&self, request: &Request) {
        let now = jiff::Timestamp::now();
        self.store.clone().send(&self.run, request, "ada", now).unwrap();
    }
}

/// Gives these answers, one for each question.
struct Person {
    answers: Vec<&'static str>,
    asked: Vec<QuestionId>,
}

impl Person {
    fn new(mut answers: Vec<&'static str>) -> Self {
        answers.reverse();
        Self { answers, asked: Vec::new() }
    }
}

impl Prompter for Person {
    fn ask(&mut self, asked: &AskedQuestion<'_>) -> Option<PromptEvent> {
        if self.asked.contains(&asked.question.id) {
            return None;
        }
        self.asked.push(asked.question.id.clone());
        let answer = Answer::new(self.answers.pop()?, "ada", Channel::Terminal);
        Some(PromptEvent::Answered { answer, code: None })
    }

    fn is_showing(&self, _: &QuestionId) -> bool {
        true
    }

    fn refused(&mut self, question: &QuestionId, why: &str) {
        panic!("{question}: {why}");
    }

    fn withdraw(&mut self, _: &QuestionId, _: &Withdrawn) {}
}

#[test]
fn a_whole_run_needs_no_file_of_a_store() {
    let stage = Stage::new();
    let skill = "name: s
steps:
  - { name: build, command: echo, args: [built] }
  - name: ship
    confirmation: { message: Ship it?, timeout: 0 }
    shell: 'test -e ready || { touch ready; echo the registry is busy >&2; exit 3; }; echo {{ build }}'
    on_error: ask
  - { name: tell, command: echo, args: ['{{ ship }}'], output: told }
";
    let mut person = Person::new(vec!["proceed", "retry"]);
    let driven = stage.drive(skill, vec![&mut person]).unwrap();
    assert_eq!(driven.outcome, Outcome::Ended(Ended::Completed), "{:?}", stage.events());
    assert_eq!(driven.machine.state().outputs["told"], "built");
    let types = stage.types();
    let steps: Vec<&str> = types.into_iter().filter(|name| *name != "memory_learned").collect();
    let expected = [
        "skill_started",
        "step_started",
        "step_completed",
        "confirmation_required",
        "confirmation_answered",
        "step_started",
        "step_failed",
        "confirmation_required",
        "confirmation_answered",
        "step_retried",
        "step_started",
        "step_completed",
        "step_started",
        "step_completed",
        "skill_completed",
    ];
    assert_eq!(steps, expected);
    assert!(!stage.path().join("home/journal.db").exists());
}

#[test]
fn a_program_is_stopped_although_that_cannot_be_written_down() {
    let stage = Stage::new();
    let skill = "name: s
steps:
  - { name: long, shell: 'echo $$ > pid; sleep 60' }
";
    let error = std::thread::scope(|scope| {
        let driver = scope.spawn(|| stage.drive(skill, Vec::new()).map(drop).unwrap_err());
        let pid = stage.wait_for("pid");
        // Another process drives it now: nothing that this driver appends counts.
        stage.store.expire(&stage.run);
        let _other = stage.store.clone().acquire(&stage.run, &stage.holder()).unwrap();
        stage.send(&Request::Cancel { by: "bea".to_owned(), reason: None, now: false });
        let error = driver.join().unwrap();
        assert!(!Path::new("/proc").join(pid).exists(), "it still runs");
        error
    });
    assert!(matches!(error, Error::Store(StoreError::Fenced { .. })), "{error:?}");
    assert!(!stage.types().contains(&"skill_stopping"), "{:?}", stage.types());
}

#[test]
fn the_journal_says_who_or_what_started_a_run() {
    let started = |by: StartedBy, at_terminal: bool| {
        let directory = tempfile::tempdir().unwrap();
        let skill = "name: s\nsteps:\n  - { name: a, command: 'true' }\n";
        std::fs::create_dir(directory.path().join("skills")).unwrap();
        std::fs::write(directory.path().join("skills/s.yaml"), skill).unwrap();
        let home = directory.path().join("home");
        let parts = runtime::Parts {
            started_by: by,
            at_terminal,
            ..runtime::Parts::new(home, directory.path())
        };
        let runtime = Runtime::new(parts).unwrap();
        // Only what a person trusts is started for an assistant.
        runtime.trust_file().trust(&[], runtime.now()).unwrap();
        let skill = runtime.check_skill("s").map_err(SkillError::into_error).unwrap();
        let prepared = runtime.prepare(skill, Default::default()).unwrap();
        let run = runtime.start(prepared, true, &mut |_| {}).unwrap().run().clone();
        let first = runtime.journal().unwrap().events(&run).unwrap().remove(0);
        match first.kind {
            EventKind::SkillStarted(started) => started.started_by,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(started(StartedBy::Person, true), Some(RecordedStart::Terminal));
    assert_eq!(started(StartedBy::Person, false), Some(RecordedStart::Script));
    assert_eq!(started(StartedBy::Assistant, false), Some(RecordedStart::Assistant));
    assert_eq!(started(StartedBy::Assistant, true), Some(RecordedStart::Assistant));
}

#[test]
fn a_runtime_works_on_the_store_that_it_is_given() {
    let directory = tempfile::tempdir().unwrap();
    let skill = "name: s
steps:
  - { name: before, command: echo, args: ['{{ memory.read(\"work\").runs | default([]) | length }}'] }
  - { name: note, tool: memory_append, args: { key: work, list: runs, item: again } }
  - { name: break, shell: 'echo the registry is busy >&2; exit 3', on_error: continue }
";
    std::fs::write(directory.path().join("s.yaml"), skill).unwrap();
    let store = MemoryStore::new(&directory.path().join("logs"));
    let parts = runtime::Parts {
        stores: Arc::new(store.clone()),
        memories: Arc::new(InMemory::default()),
        ..runtime::Parts::new(directory.path().join("home"), directory.path())
    };
    let runtime = Runtime::new(parts).unwrap();
    let drive = || {
        let _only = super::SIGNALS.lock().unwrap_or_else(PoisonError::into_inner);
        let skill = runtime.check_skill("s.yaml").map_err(SkillError::into_error).unwrap();
        let prepared = runtime.prepare(skill, Default::default()).unwrap();
        let active = runtime.start(prepared, true, &mut |_| {}).unwrap();
        let run = active.run().clone();
        let (report, signals) = (&mut Silent, &mut Signals::catch().unwrap());
        let surface = Surface { report, sink: &Unbuffered, prompters: Vec::new(), signals };
        let finished = active.drive(surface).unwrap();
        let events = store.events(&run, 0).unwrap();
        assert_eq!(finished.outcome, Outcome::Ended(Ended::Completed), "{events:#?}");
        assert_eq!(events[0].run, run);
        assert_eq!(runtime.run(run.as_str()).unwrap().row.id, run);
        finished.state.outputs["before"].clone()
    };
    // The second run reads what the first has written.
    assert_eq!([drive(), drive()], ["0", "1"]);
    assert_eq!(store.pending_lessons().unwrap(), []);
    let errors: Vec<String> =
        runtime.memory().failures().into_iter().map(|one| one.value.error).collect();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[0].contains("the registry is busy"), "{errors:?}");
    let found = std::fs::read_dir(directory.path()).unwrap();
    let mut found: Vec<_> = found.map(|entry| entry.unwrap().file_name()).collect();
    found.sort();
    assert_eq!(found, ["logs", "s.yaml"]);
}
