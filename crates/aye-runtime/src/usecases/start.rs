//! Starting a run.

use std::path::PathBuf;
use std::sync::Arc;

use aye_core::event::{Driver, Range, StartedBy};
use aye_core::flow::Flow;
use aye_core::id::RunId;
use aye_core::journal::Blocked;
use aye_core::machine::Start;
use aye_core::secrets::Secrets;
use aye_core::skill::Inputs;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::commit::{self, Begin, BeginError};
use crate::error::Error;
use crate::fmt::{escape_control_line, plural};
use crate::runtime::Runtime;
use crate::skills::{SkillFile, skill_name};
use crate::store::{Source, StoreError};

use super::active_run::{ActiveRun, Beginning};
use super::loaded_run::LoadedRun;
use super::prepare::{Prepared, no_such_step};
use super::warning::Warning;

/// A run that is to begin: everything it depends on, as data.
#[derive(Debug, Serialize, Deserialize)]
pub struct StartRequest {
    /// The id that it gets.
    pub run: RunId,
    /// The skill's name.
    pub skill: String,
    file: String,
    text: String,
    inputs: IndexMap<String, Value>,
    secrets: IndexMap<String, String>,
    environment: Option<String>,
    range: Option<Range>,
    yes: bool,
    pub(super) started_by: StartedBy,
    /// The person who wants it, where that is not the account that drives it.
    #[serde(default)]
    pub(super) starter: Option<String>,
    /// Refuse instead of waiting for the name of its `concurrency`.
    #[serde(default)]
    no_wait: bool,
}

impl StartRequest {
    /// What was prepared, as data.
    pub fn new(prepared: Prepared, runtime: &Runtime) -> Self {
        let Prepared { skill, inputs, environment, range, yes, no_wait } = prepared;
        Self {
            run: runtime.new_run_id(),
            started_by: runtime.started_from(),
            starter: Some(runtime.person()).filter(|name| *name != runtime.driver().user),
            skill: skill_name(&skill.flow).to_owned(),
            file: skill.path.to_string_lossy().into_owned(),
            text: skill.text,
            secrets: secrets_of(&inputs),
            inputs: inputs.values,
            environment,
            range,
            yes,
            no_wait,
        }
    }

    /// The question of a script, as a skill that no file holds.
    pub(super) fn of_question(name: &str, text: String, yes: bool, runtime: &Runtime) -> Self {
        Self { yes, ..Self::of_text(name, text, IndexMap::new(), runtime) }
    }

    /// A skill that no file holds.
    pub(super) fn of_text(
        name: &str,
        text: String,
        inputs: IndexMap<String, Value>,
        runtime: &Runtime,
    ) -> Self {
        Self {
            run: runtime.new_run_id(),
            started_by: runtime.started_from(),
            starter: None,
            skill: name.to_owned(),
            file: String::new(),
            text,
            secrets: IndexMap::new(),
            inputs,
            environment: None,
            range: None,
            yes: false,
            no_wait: false,
        }
    }

    /// Refuses a text with errors.
    pub(super) fn must_check(&self) -> Result<(), Error> {
        let read = SkillFile::from_text(PathBuf::from(&self.file), self.text.clone());
        match read.has_errors() {
            false => Ok(()),
            true => Err(Error::InvalidSkill(read.invalid(""))),
        }
    }

    /// The flow that is meant, from the text that was checked.
    fn flow(&self, runtime: &Runtime) -> Result<Flow, Error> {
        let file = SkillFile::from_text(PathBuf::from(&self.file), self.text.clone());
        let file = file.or_lenient(runtime.settings.lenient);
        Ok(file.into_flow(Some(&self.skill))?.0)
    }

    fn start(self, driver: Driver, runtime: &Runtime) -> (Start, Source) {
        let source = Source::new(self.file.clone(), self.text);
        let mut secrets = Secrets::default();
        for (name, value) in self.secrets {
            secrets.insert(name, value);
        }
        let named = (self.file, source.digest.clone());
        let workspace = runtime.directory.to_string_lossy();
        let start = Start {
            inputs: self.inputs,
            secrets,
            environment: self.environment,
            range: self.range,
            yes: self.yes,
            started_by: Some(self.started_by),
            starter: self.starter,
            destructive_tools: runtime.settings.tools.destructive(),
            ..Start::new(self.run, named, workspace, driver)
        };
        (start, source)
    }
}

impl Runtime {
    /// Commits the beginning of a run. `attended` says whether someone is
    /// there who can be asked about a failure.
    pub fn start(
        &self,
        prepared: Prepared,
        attended: bool,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<ActiveRun, Error> {
        prepared.must_have_results()?;
        self.must_find_what_it_calls(&prepared.skill, prepared.range.as_ref())?;
        let flow = Arc::clone(&prepared.skill.flow);
        self.begin(StartRequest::new(prepared, self), flow, attended, warn)
    }

    /// The same with a request that another process has prepared.
    pub(super) fn start_requested(
        &self,
        request: StartRequest,
        attended: bool,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<ActiveRun, Error> {
        let flow = Arc::new(request.flow(self)?);
        self.begin(request, flow, attended, warn)
    }

    /// Refuses a run that would have to wait for the name of its `concurrency`. Only the
    /// commit that takes the name is certain: where another run is quicker, this one waits.
    pub fn must_find_its_name_free(&self, run: &LoadedRun) -> Result<(), Error> {
        let Some(claim) = &run.state.claim else { return Ok(()) };
        match self.store()?.blocked(&run.row.id, &claim.name)? {
            Some(blocked) => Err(name_taken(&claim.name, &blocked)),
            None => Ok(()),
        }
    }

    fn begin(
        &self,
        request: StartRequest,
        flow: Arc<Flow>,
        attended: bool,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<ActiveRun, Error> {
        let world = self.world(&self.directory);
        let driver = Driver { attended, ..self.driver() };
        let waits = !request.no_wait;
        let (mut start, source) = request.start(driver, self);
        let (values, secrets) = (start.inputs, start.secrets);
        let mut inputs = Inputs { values, secrets };
        self.fill_secrets(&flow.skill.inputs, &mut inputs)?;
        (start.inputs, start.secrets) = (inputs.values, inputs.secrets);
        let mut store = self.store()?;
        let delivery_worker = self.announce(&mut *store, attended);
        let lease = store.acquire(&start.run, &self.holder())?;
        start.epoch = lease.epoch();
        if let Some(words) = self.left_out() {
            warn(Warning::SettingsLeftOut(words));
        }
        let begin =
            Begin { flow: Arc::clone(&flow), limits: self.limits(), source: Some(&source), waits };
        let begun = commit::begin(&mut *store, &lease, &begin, start, &world);
        let (machine, events) = begun.map_err(not_begun)?;
        let (beginning, memory) = (Beginning::Started(events), Arc::new(self.memory()));
        let (runtime, rest_after) = (self.clone(), None);
        Ok(ActiveRun {
            runtime,
            flow,
            store,
            lease,
            machine,
            beginning,
            memory,
            delivery_worker,
            rest_after,
        })
    }
}

/// Why a run did not begin.
pub(super) fn not_begun(error: BeginError) -> Error {
    match error {
        BeginError::Start(error) => no_such_step(&error),
        BeginError::Store(StoreError::NameTaken { name, blocked }) => name_taken(&name, &blocked),
        BeginError::Store(error) => error.into(),
    }
}

/// Another run has the name, and nobody wants to wait for it.
fn name_taken(name: &str, blocked: &Blocked) -> Error {
    let holder = &blocked.holder;
    let name = escape_control_line(name);
    let message = match blocked.ahead {
        0 => format!("run `{holder}` holds the name `{name}`"),
        ahead => {
            let runs = plural(ahead as usize, "run");
            let wait = if ahead == 1 { "waits" } else { "wait" };
            format!("run `{holder}` holds the name `{name}`, and {runs} {wait} for it")
        }
    };
    let hint = format!(
        "leave out `--no-wait` to wait for it; `aye show {holder}` shows its state, `aye cancel \
         {holder}` cancels it"
    );
    Error::Refused { message, hint: Some(hint) }
}

fn secrets_of(inputs: &Inputs) -> IndexMap<String, String> {
    let secret = |name: &String| Some((name.clone(), inputs.secrets.get(name)?.to_owned()));
    inputs.values.keys().filter_map(secret).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_waits_and_two_wait() {
        let said = |ahead| {
            let holder = RunId::from_random(7);
            let error = name_taken("deploy", &Blocked { holder, ahead });
            error.to_string()
        };
        assert!(said(1).ends_with("and 1 run waits for it"), "{}", said(1));
        assert!(said(2).ends_with("and 2 runs wait for it"), "{}", said(2));
    }
}
