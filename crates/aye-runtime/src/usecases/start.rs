//! Starting a run.

use std::path::PathBuf;
use std::sync::Arc;

use aye_core::event::{Driver, Range, StartedBy};
use aye_core::flow::Flow;
use aye_core::id::RunId;
use aye_core::machine::{Machine, Start};
use aye_core::secrets::Secrets;
use aye_core::skill::Inputs;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;
use crate::runtime::Runtime;
use crate::skills::{SkillFile, skill_name};
use crate::store::Source;

use super::active_run::{ActiveRun, Beginning};
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
    started_by: StartedBy,
    /// The person who wants it, where that is not the account that drives it.
    #[serde(default)]
    pub(super) starter: Option<String>,
}

impl StartRequest {
    /// What was prepared, as data.
    pub fn new(prepared: Prepared, runtime: &Runtime) -> Self {
        let Prepared { skill, inputs, environment, range, yes } = prepared;
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
        }
    }

    /// The question of a script, as a skill that no file holds.
    pub(super) fn of_question(name: &str, text: String, yes: bool, runtime: &Runtime) -> Self {
        Self {
            run: runtime.new_run_id(),
            started_by: runtime.started_from(),
            starter: None,
            skill: name.to_owned(),
            file: String::new(),
            text,
            secrets: IndexMap::new(),
            inputs: IndexMap::new(),
            environment: None,
            range: None,
            yes,
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
        let start = Start {
            run: self.run,
            file: self.file,
            source: source.digest.clone(),
            inputs: self.inputs,
            secrets,
            workspace: runtime.directory.to_string_lossy().into_owned(),
            environment: self.environment,
            range: self.range,
            yes: self.yes,
            driver,
            started_by: Some(self.started_by),
            starter: self.starter,
            epoch: 0,
            parent: None,
            outer: None,
            deadline: None,
            destructive_tools: runtime.settings.tools.destructive(),
        };
        (start, source)
    }
}

impl Runtime {
    /// Commits the beginning of a run. `attended` says whether somebody is
    /// there who can be asked about a failure.
    pub fn start(
        &self,
        prepared: Prepared,
        attended: bool,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<ActiveRun, Error> {
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

    fn begin(
        &self,
        request: StartRequest,
        flow: Arc<Flow>,
        attended: bool,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<ActiveRun, Error> {
        let world = self.world(&self.directory);
        let driver = Driver { attended, ..self.driver() };
        let (mut start, source) = request.start(driver, self);
        let (values, secrets) = (start.inputs, start.secrets);
        let mut inputs = Inputs { values, secrets };
        self.fill_secrets(&flow.skill.inputs, &mut inputs)?;
        (start.inputs, start.secrets) = (inputs.values, inputs.secrets);
        let mut store = self.store()?;
        let lease = store.acquire(&start.run, &self.holder())?;
        start.epoch = lease.epoch();
        if let Some(words) = self.left_out() {
            warn(Warning::SettingsLeftOut(words));
        }
        let (machine, events) = Machine::start(Arc::clone(&flow), self.limits(), start, &world)
            .map_err(|error| no_such_step(&error))?;
        store.start(&lease, &events, &source)?;
        let (beginning, memory) = (Beginning::Started(events), Arc::new(self.memory()));
        Ok(ActiveRun { runtime: self.clone(), flow, store, lease, machine, beginning, memory })
    }
}

fn secrets_of(inputs: &Inputs) -> IndexMap<String, String> {
    let secret = |name: &String| Some((name.clone(), inputs.secrets.get(name)?.to_owned()));
    inputs.values.keys().filter_map(secret).collect()
}
