//! What runs inside a run that is taken up have learned to mask.
//!
//! Those that have ended are not driven again, and what they left behind may still be printed:
//! their variables and sources are looked up once more. What was typed in one is in no file.

use std::collections::HashMap;
use std::sync::Arc;

use aye_core::event::{EventKind, SkillStarted};
use aye_core::flow::Flow;
use aye_core::id::RunId;
use aye_core::machine::{Limits, Machine};
use aye_core::nested::{Child, ChildBody, ChildRun};
use aye_core::secrets::{Secrets, is_secret, secret_marker};
use aye_core::skill::Inputs;
use aye_core::text::World;

use crate::error::Error;
use crate::store::{RunRow, Store};

use super::child_run::{Skills, begun_with};

/// Looks up what runs inside have learned.
pub struct InsideSecrets<'a> {
    store: &'a dyn Store,
    skills: &'a dyn Skills,
    limits: Limits,
    world: &'a World,
    /// Only who drives a run reads secrets where they are.
    drives: bool,
    flows: HashMap<(String, String), Option<Arc<Flow>>>,
    /// What was read for an input of a skill: a program is asked once.
    sources: HashMap<(String, String, String), Option<String>>,
}

impl<'a> InsideSecrets<'a> {
    /// For a run whose journal is here.
    pub fn new(
        (store, skills): (&'a dyn Store, &'a dyn Skills),
        limits: Limits,
        world: &'a World,
        drives: bool,
    ) -> Self {
        let (flows, sources) = (HashMap::new(), HashMap::new());
        Self { store, skills, limits, world, drives, flows, sources }
    }

    /// Masks in this run what those inside it, however deep, have learned.
    pub fn learn(&mut self, around: &mut Machine) -> Result<(), Error> {
        let run = around.state().run.clone();
        self.learn_inside(&run, around)
    }

    fn learn_inside(&mut self, run: &RunId, around: &mut Machine) -> Result<(), Error> {
        for row in self.store.runs_inside(run)? {
            let Some(flow) = self.flow(&row) else { continue };
            let calls = !flow.called_skills().is_empty();
            if !flow.may_learn_secrets() {
                // There may be thousands of items: those that have nothing are not restored.
                if calls {
                    self.learn_inside(&row.id, around)?;
                }
                continue;
            }
            // What cannot be restored is told when the run is.
            if let Some(mut machine) = self.restore(&row, flow, around)? {
                self.learn(&mut machine)?;
                around.mask_also(machine.secrets());
            }
        }
        Ok(())
    }

    fn flow(&mut self, row: &RunRow) -> Option<Arc<Flow>> {
        let (store, lenient) = (self.store, self.skills.lenient());
        let key = (row.source.clone(), row.skill.clone());
        let load = || {
            let (flow, _) = begun_with(store, &row.source, &row.skill, lenient).ok()?;
            Some(Arc::new(flow))
        };
        self.flows.entry(key).or_insert_with(load).clone()
    }

    fn restore(
        &mut self,
        row: &RunRow,
        flow: Arc<Flow>,
        around: &Machine,
    ) -> Result<Option<Machine>, Error> {
        let events = self.store.events(&row.id, 0)?;
        let Some(EventKind::SkillStarted(started)) = events.first().map(|event| &event.kind) else {
            return Ok(None);
        };
        let Some(parent) = started.parent.as_deref().filter(|parent| parent.form.is_none()) else {
            return Ok(None);
        };
        let (flow, secrets, outer) = match &parent.item {
            // What a repair puts into variables, the machine around it looks up itself.
            None if parent.repair => return Ok(None),
            None => {
                let mut secrets = self.given(row, &flow, started);
                secrets.mask_also(around.secrets());
                (flow, secrets, None)
            }
            Some(item) => {
                let hides = around.secrets().mask_value(&item.value) != item.value;
                let value = if hides { secret_marker() } else { item.value.clone() };
                let child = Child { parent: parent.clone(), body: ChildBody::Item { value } };
                match around.child(&child, None, self.world) {
                    Ok(ChildRun::Steps { flow, outer }) => {
                        (flow, outer.secrets.clone(), Some(*outer))
                    }
                    Ok(ChildRun::Skill { .. }) | Err(_) => return Ok(None),
                }
            }
        };
        let machine = Machine::restore(flow, self.limits.clone(), secrets, &events, outer);
        Ok(machine.ok().map(|machine| machine.relearned(self.world)))
    }

    /// The secrets of a called skill that say where they are, as they are now.
    fn given(&mut self, row: &RunRow, flow: &Flow, started: &SkillStarted) -> Secrets {
        let mut secrets = Secrets::default();
        let is_hidden = |name: &str| started.inputs.get(name).is_some_and(is_secret);
        let specs = flow.skill.inputs.iter().filter(|spec| spec.from.is_some() && self.drives);
        for spec in specs.filter(|spec| is_hidden(&spec.name.value)) {
            let name = spec.name.value.clone();
            let key = (row.source.clone(), row.skill.clone(), name.clone());
            let skills = self.skills;
            // What is not there any more cannot be masked, and nothing needs it.
            let read = || {
                let mut inputs = Inputs::default();
                skills.fill_secrets(std::slice::from_ref(spec), &mut inputs).ok()?;
                inputs.secrets.get(&spec.name.value).map(str::to_owned)
            };
            if let Some(value) = self.sources.entry(key).or_insert_with(read) {
                secrets.insert(name, value.clone());
            }
        }
        secrets
    }
}
