//! A run as the journal has it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aye_core::event::{Event, Range};
use aye_core::flow::Flow;
use aye_core::id::RunId;
use aye_core::journal::State;
use aye_core::machine::Machine;
use aye_core::secrets::{Secrets, is_secret};
use aye_core::skill::{Action, InputSpec, InputType};
use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::driver::restore_inside;
use crate::error::Error;
use crate::runtime::Runtime;
use crate::skills::{SkillFile, skill_name};
use crate::store::{RunRow, RunStatus, Store};

use super::warning::Warning;

/// Which arguments of a step are text, whatever is written for them.
pub enum TextArguments {
    /// Those of a command, a script or a block.
    All,
    /// These.
    Some(Vec<String>),
}

impl TextArguments {
    /// Whether this one is.
    pub fn contains(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Some(names) => names.iter().any(|one| one == name),
        }
    }
}

/// A run, with the skill it was started with.
pub struct LoadedRun {
    /// As listed.
    pub row: RunRow,
    /// What it does.
    pub flow: Arc<Flow>,
    /// What happened in it.
    pub state: State,
    text: String,
    events: Vec<Event>,
}

impl Runtime {
    /// The secrets that have to be given again to drive a run, or the one around
    /// it; none where that cannot be told.
    pub fn lost_secrets(&self, run: &RunId) -> Vec<String> {
        let lost = || -> Result<Vec<String>, Error> {
            let journal = self.journal()?;
            let row = journal.find_run(run.as_str())?;
            let row = journal.outermost(run)?.unwrap_or(row);
            let loaded = journal.load(&row, &self.at(&row.workspace)?)?;
            Ok(loaded.lost_secrets().map(str::to_owned).collect())
        };
        lost().unwrap_or_default()
    }
}

impl LoadedRun {
    /// Reads a run and its skill.
    pub(super) fn read(store: &dyn Store, row: &RunRow, runtime: &Runtime) -> Result<Self, Error> {
        let source = store.source(&row.source)?.ok_or_else(|| {
            let message = format!("the skill of run `{}` is not in the journal", row.id);
            Error::not_found(message, "it was started by another program")
        })?;
        let text = source.text.clone();
        let file = SkillFile::from_text(PathBuf::from(&source.file), source.text);
        let file = file.or_lenient(runtime.settings.lenient);
        let flow = file.flows.into_iter().find(|flow| skill_name(flow) == row.skill);
        let flow = flow.ok_or_else(|| {
            let message = format!("this version cannot read the skill of run `{}`", row.id);
            Error::not_found(message, "resume it with the version that started it")
        })?;
        let events = store.events(&row.id, 0)?;
        let state = State::fold(&events)
            .map_err(|error| Error::Journal { run: row.id.to_string(), error })?;
        Ok(Self { row: row.clone(), flow: Arc::new(flow), state, text, events })
    }

    /// Whether something has to be done when the run is cancelled where it is; `now` ends a
    /// `finally` that has begun.
    pub fn cleans_up(&self, now: bool) -> bool {
        let node = self.row.step.as_ref().and_then(|step| self.flow.find(step));
        let only = matches!(self.state.started.range, Some(Range::Only(_)));
        // An item has no `finally`: that of its skill is run by the run around it.
        let is_item = self.state.started.parent.as_ref().is_some_and(|it| it.item.is_some());
        let finally = self.flow.finally().is_some() && self.state.finally.is_none();
        // A run that waits for its name has done nothing.
        if self.state.needs_name() {
            return false;
        }
        let began = !self.state.is_before_step();
        began && node.is_some_and(|node| self.flow.nodes[node].routes.cancelled.is_some())
            || finally && !only && !is_item
            // The run around it is cancelled; its own `finally` is not.
            || !now && self.state.finally.is_some() && self.state.started.parent.is_some()
    }

    /// The machine, where the journal leaves it.
    pub fn machine(&self, runtime: &Runtime, secrets: Secrets) -> Result<Machine, Error> {
        let flow = Arc::clone(&self.flow);
        let machine = Machine::restore(flow, runtime.limits(), secrets, &self.events, None)
            .map_err(|error| Error::Journal { run: self.row.id.to_string(), error })?;
        Ok(machine.relearned(&runtime.world(Path::new(&self.row.workspace))))
    }

    /// What a step of this run, or of a run inside it, is given as it stands, secrets
    /// masked; nothing where that needs what only the driver of the run knows.
    pub(super) fn arguments(
        &self,
        store: &dyn Store,
        (inside, step): (&RunId, &str),
        runtime: &Runtime,
    ) -> Option<Map<String, Value>> {
        let world = runtime.world(Path::new(&self.row.workspace));
        let mut machine = self.machine(runtime, Secrets::default()).ok()?;
        if *inside != self.row.id {
            let limits = runtime.limits();
            machine = restore_inside(store, &machine, inside, runtime, limits, &world).ok()??;
        }
        machine.arguments(step, &world)
    }

    /// Which arguments of a step are text; `given` are all of them.
    pub(super) fn text_arguments(
        &self,
        step: &str,
        given: impl FnOnce() -> Option<Map<String, Value>>,
    ) -> TextArguments {
        let action = self.flow.find(step).map(|node| &self.flow.nodes[node].step.action);
        match action {
            Some(Action::Command { .. } | Action::Shell { .. } | Action::Compute { .. }) => {
                TextArguments::All
            }
            _ => {
                let args = given().unwrap_or_default();
                let text = args.into_iter().filter(|(_, value)| value.is_string());
                TextArguments::Some(text.map(|(name, _)| name).collect())
            }
        }
    }

    /// The secrets that the journal does not keep, that nothing says where to
    /// read, and that are needed again.
    pub fn lost_secrets(&self) -> impl Iterator<Item = &str> {
        let inputs =
            self.state.started.inputs.iter().filter(|(name, _)| self.source(name).is_none());
        let known = inputs.chain(&*self.state.outputs);
        known.filter(|(_, value)| is_secret(value)).map(|(name, _)| name.as_str())
    }

    /// The input of this name, if it says where its secret is read.
    fn source(&self, name: &str) -> Option<&InputSpec> {
        let named = |spec: &&InputSpec| spec.name.value == name && spec.from.is_some();
        self.flow.skill.inputs.iter().find(named)
    }

    /// Refuses to take the run up where a secret would be missing.
    pub(super) fn must_know(&self, given: &IndexMap<String, String>) -> Result<(), Error> {
        match self.lost_secrets().find(|name| !given.contains_key(*name)) {
            None => Ok(()),
            Some(name) => Err(self.not_kept(name)),
        }
    }

    fn not_kept(&self, name: &str) -> Error {
        let what = match self.state.started.inputs.contains_key(name) {
            true => "input",
            false => "answer",
        };
        let message = format!("secret {what} `{name}` is not kept in the journal");
        let verb = if self.row.status.is_ended() { "retry" } else { "resume" };
        let hint = format!(
            "`aye {verb} {}` on a terminal asks for it; a script gives it with `-i {name}=…`",
            self.row.id
        );
        Error::usage(message, hint)
    }

    /// Reads the secrets that say where they are, into those that were given.
    pub(super) fn read_secrets(
        &self,
        secrets: &mut Secrets,
        runtime: &Runtime,
    ) -> Result<(), Error> {
        for (name, _) in self.state.started.inputs.iter().filter(|(_, value)| is_secret(value)) {
            if secrets.get(name).is_none()
                && let Some(spec) = self.source(name)
                && let Some(value) = runtime.read_secret(spec)?
            {
                secrets.insert(name.clone(), value);
            }
        }
        Ok(())
    }

    /// Whether the skill itself calls this input a secret. Others are hidden because a secret is
    /// a part of them.
    fn is_declared(&self, name: &str) -> bool {
        let mut specs = self.flow.skill.inputs.iter();
        specs.any(|spec| spec.name.value == name && spec.kind == InputType::Secret)
    }

    /// Adds inputs that a secret is a part of, given again; the secrets are known by now.
    pub(super) fn read_hidden(
        &self,
        given: &IndexMap<String, String>,
        secrets: &mut Secrets,
    ) -> Result<(), Error> {
        for (name, _) in self.state.started.inputs.iter().filter(|(_, value)| is_secret(value)) {
            let Some(text) = given.get(name).filter(|_| !self.is_declared(name)) else { continue };
            let spec = self.flow.skill.inputs.iter().find(|spec| spec.name.value == *name);
            let value = spec.map_or_else(|| Ok(text.as_str().into()), |spec| spec.read(text));
            // What was read stands in the problem.
            let wrong = || {
                let hint = format!("give `{name}` as the skill's `inputs` say");
                Error::usage(format!("the value of `{name}` does not fit"), hint)
            };
            let value = value.map_err(|_| wrong())?;
            if spec.is_some_and(|spec| spec.check(&value).is_err()) {
                return Err(wrong());
            }
            secrets.keep_input(name, value);
        }
        Ok(())
    }

    /// The secrets of the run, given again.
    pub fn secrets(&self, given: &IndexMap<String, String>) -> Result<Secrets, Error> {
        let State { started, outputs, .. } = &self.state;
        let mut secrets = Secrets::default();
        for (name, text) in given {
            if started.inputs.get(name).is_some_and(is_secret) {
                if self.is_declared(name) {
                    secrets.insert(name.clone(), text.clone());
                }
            } else if outputs.get(name).is_some_and(is_secret) {
                secrets.insert_answer(name.clone(), text.clone());
            } else {
                let message = format!("`{name}` is not a secret input of this run");
                let hint = "a resumed run keeps the inputs it was started with";
                return Err(Error::usage(message, hint));
            }
        }
        let mut needed = started.inputs.iter().filter(|(_, value)| is_secret(value));
        match needed.find(|(name, _)| !given.contains_key(*name) && self.source(name).is_none()) {
            None => Ok(secrets),
            Some((name, _)) => Err(self.not_kept(name)),
        }
    }

    /// Whether the skill's file is still what the run was started with.
    pub(super) fn changed(&self) -> Option<Warning> {
        // The question of a script stands in no file.
        if self.row.file.is_empty() {
            return None;
        }
        let file = PathBuf::from(&self.row.workspace).join(&self.row.file);
        match std::fs::read_to_string(&file) {
            Ok(text) if text == self.text => None,
            Ok(_) => Some(Warning::SkillChanged { file, gone: false }),
            Err(_) => Some(Warning::SkillChanged { file, gone: true }),
        }
    }

    /// The error for a run that is over.
    pub(super) fn has_ended(&self, hint: String) -> Error {
        let message = format!("run `{}` has ended: it {}", self.row.id, ended(self.row.status));
        Error::Refused { message, hint: Some(hint) }
    }
}

/// How a run ended, after `it`.
pub(super) fn ended(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Cancelled => "was cancelled",
        other => other.word(),
    }
}
