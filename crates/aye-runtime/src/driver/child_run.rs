//! The run inside a step: begun, or taken up where it was.

use std::path::Path;
use std::sync::Arc;

use aye_core::event::EventKind;
use aye_core::flow::Flow;
use aye_core::input::{Attach, Input, Retry};
use aye_core::journal::Phase;
use aye_core::machine::{Limits, Machine, Start};
use aye_core::nested::{Child, ChildBody, ChildRetry, ChildRun, DEEPEST, ParentScope};
use aye_core::secrets::{Secrets, Text};
use aye_core::skill::{Given, InputSpec, Inputs, resolve_inputs};
use aye_core::text::{self, Scope, World};
use indexmap::IndexMap;
use jiff::Timestamp;
use serde_json::Value;

use crate::commit::{self, Begin, BeginError};
use crate::error::Error;
use crate::skills::{Reach, SkillFile, skill_name};
use crate::store::{Source, Store, StoreError};

use super::drive::{Driver, Parts};
use super::lane::{Lane, LaneId, ROOT};

/// Finds skills by what steps call them.
pub trait Skills {
    /// The skill that a step of the skill in `file` calls `wanted`; `reach` says
    /// which files that may be.
    fn load(&self, wanted: &str, file: &Path, reach: Reach) -> Result<(Flow, Source), Error>;

    /// Reads the secrets that nobody gave to a skill, where its inputs say.
    fn fill_secrets(&self, specs: &[InputSpec], inputs: &mut Inputs) -> Result<(), Error>;

    /// Whether skills that do not say are lenient about undefined names.
    fn lenient(&self) -> bool;
}

/// What came of beginning a run.
pub(super) enum ChildStart {
    /// It has a lane.
    Started(LaneId),
    /// It could not be begun, and why.
    Refused(String),
}

/// A run that can be begun or taken up.
struct Prepared {
    flow: Arc<Flow>,
    source: Option<Source>,
    inputs: IndexMap<String, Value>,
    secrets: Secrets,
    outer: Option<ParentScope>,
}

impl Driver<'_> {
    /// Begins the run of a child, or continues with it after a restart.
    pub(super) fn open_child(
        &mut self,
        parent: LaneId,
        index: usize,
        child: Child,
        deadline: Option<Timestamp>,
        again: Option<ChildRetry>,
        known_flow: Option<Arc<Flow>>,
    ) -> Result<ChildStart, Error> {
        let run = match child.parent.child() {
            Ok(run) if child.parent.depth <= DEEPEST => run,
            _ => return Ok(ChildStart::Refused(format!("skills call each other {DEEPEST} deep"))),
        };
        let world = self.world();
        let around = &self.lane(parent).machine;
        let known = self.parts.store.run(&run)?.map(|row| (row.source, row.skill));
        let prepared = prepare(
            around,
            &child,
            known_flow,
            known.as_ref().map(|(source, skill)| (source.as_str(), skill.as_str())),
            self.parts.skills,
            self.parts.store,
            &world,
            true,
        );
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return Ok(ChildStart::Refused(said(&error))),
        };
        let mut path = self.lane(parent).path.clone();
        path.push(child.parent.label());
        let (started, around_yes) = (around.state().started.clone(), around.state().yes);
        if known.is_some() {
            let events = self.parts.store.events(&run, 0)?;
            let Prepared { flow, secrets, outer, .. } = prepared;
            let machine =
                Machine::restore(flow, self.parts.limits.clone(), secrets, &events, outer)
                    .map_err(|error| Error::Journal { run: run.to_string(), error })?
                    .relearned(&world);
            let id = self.lanes.open(Lane::new(machine, Some((parent, index)), path));
            return self.take_up_child(id, again);
        }
        let Prepared { flow, source, inputs, secrets, outer } = prepared;
        // Aye may have ended between the start of the step and this moment.
        let agreed = self.lane(parent).machine.agreed_skill(&child.parent.step);
        if let (Some(agreed), Some(source)) = (agreed, &source)
            && *agreed != *source.digest
        {
            let why = format!("the skill `{}` is not what was agreed to", source.file);
            return Ok(ChildStart::Refused(why));
        }
        let named = match &source {
            Some(source) => (source.file.clone(), source.digest.clone()),
            None => (started.file, started.source),
        };
        let start = Start {
            inputs,
            secrets,
            environment: started.environment,
            yes: around_yes,
            parent: Some(child.parent),
            outer,
            deadline,
            destructive_tools: started.destructive_tools,
            started_by: started.started_by,
            starter: started.starter,
            epoch: self.epoch(),
            shared_names: self.names_around(parent),
            ..Start::new(run, named, started.workspace, started.driver)
        };
        let (limits, source) = (self.parts.limits.clone(), source.as_ref());
        let begin = Begin { flow, limits, source, waits: true };
        let Parts { store, lease, .. } = &mut self.parts;
        let (machine, events) = match commit::begin(&mut **store, lease, &begin, start, &world) {
            Ok(begun) => begun,
            Err(BeginError::Start(error)) => return Ok(ChildStart::Refused(error.to_string())),
            // It would wait for ever.
            Err(BeginError::Store(error @ StoreError::NameDeadlock { .. })) => {
                return Ok(ChildStart::Refused(error.to_string()));
            }
            Err(BeginError::Store(error)) => return Err(error.into()),
        };
        let id = self.lanes.open(Lane::new(machine, Some((parent, index)), path));
        self.show(id, &events);
        self.share_secrets(id);
        self.lanes.look_at(id);
        Ok(ChildStart::Started(id))
    }
}

impl Driver<'_> {
    /// Continues with the run of a child; one that has ended stays as it is,
    /// unless it failed and is to be tried again.
    fn take_up_child(
        &mut self,
        id: LaneId,
        again: Option<ChildRetry>,
    ) -> Result<ChildStart, Error> {
        let root = self.lane(ROOT).machine.state();
        let driver = aye_core::event::Driver { pid: std::process::id(), ..root.driver.clone() };
        let epoch = self.epoch();
        let state = self.lane(id).machine.state();
        let again = again.filter(|again| state.turn < again.turn && state.failed_step().is_some());
        let input = match (again, &state.phase) {
            (Some(ChildRetry { turn, edits, answer }), _) => {
                Input::Retry(Retry { driver, epoch, step: None, edits, turn: Some(turn), answer })
            }
            (None, Phase::Ended(_)) => {
                self.lanes.look_at(id);
                return Ok(ChildStart::Started(id));
            }
            (None, _) => Input::Attach(Attach { driver, epoch }),
        };
        self.restore_open_failure(id);
        let refusal = self.apply(id, input, None)?;
        Ok(match refusal {
            None => {
                self.settle_doubt(id)?;
                ChildStart::Started(id)
            }
            Some(refusal) => {
                self.close(id);
                ChildStart::Refused(refusal.to_string())
            }
        })
    }
}

/// An error in one line.
fn said(error: &Error) -> String {
    error.to_string().lines().map(str::trim).collect::<Vec<_>>().join("; ")
}

/// Everything a run inside another needs; `known` is the digest of its skill
/// and the skill's name if it was begun already. Only who drives it reads
/// secrets where they are.
#[expect(clippy::too_many_arguments, reason = "what a run inside depends on")]
fn prepare(
    around: &Machine,
    child: &Child,
    known_flow: Option<Arc<Flow>>,
    known: Option<(&str, &str)>,
    skills: &dyn Skills,
    store: &dyn Store,
    world: &World,
    drives: bool,
) -> Result<Prepared, Error> {
    let child = match drives {
        true => around.child(child, known_flow, world),
        false => around.child_as_written(child, world),
    };
    let child =
        child.map_err(|error| Error::Refused { message: error.to_string(), hint: error.hint })?;
    match child {
        ChildRun::Steps { flow, outer } => Ok(Prepared {
            flow,
            source: None,
            inputs: IndexMap::new(),
            secrets: outer.secrets.clone(),
            outer: Some(*outer),
        }),
        ChildRun::Skill { skill, written, inputs } => {
            let (flow, source) = match known {
                Some((digest, name)) => begun_with(store, digest, name, skills.lenient())?,
                None => {
                    // What a value of the run names is not a file that its author chose.
                    let reach = if written { Reach::AnyFile } else { Reach::Listed };
                    skills.load(&skill, Path::new(&around.state().started.file), reach)?
                }
            };
            let given = inputs.into_iter().map(|(name, value)| (name, Given::Data(value)));
            let scope = scope_of(&flow, world);
            let render =
                |value: &Value| text::render_value(value, &scope).map_err(|e| e.to_string());
            let resolved = resolve_inputs(&flow.skill.inputs, given.collect(), render);
            let mut inputs = match resolved {
                // Who does not drive it may not know all of them; the journal has the others.
                Err(_) if !drives => Inputs::default(),
                resolved => resolved.map_err(Error::Inputs)?,
            };
            if drives {
                skills.fill_secrets(&flow.skill.inputs, &mut inputs)?;
            }
            let mut secrets = inputs.secrets;
            secrets.mask_also(around.secrets());
            // What the journal has of it, and what it stands for.
            secrets.hide(inputs.values.clone());
            let source = Some(source);
            Ok(Prepared {
                flow: Arc::new(flow),
                source,
                inputs: inputs.values,
                secrets,
                outer: None,
            })
        }
    }
}

/// The skill a run was begun with, whatever became of the file.
pub(super) fn begun_with(
    store: &dyn Store,
    digest: &str,
    name: &str,
    lenient: bool,
) -> Result<(Flow, Source), Error> {
    let missing = || {
        Error::not_found(
            format!("the skill `{name}` is not in the journal"),
            "it was started by another program",
        )
    };
    let source = store.source(digest)?.ok_or_else(missing)?;
    let file = SkillFile::from_text(source.file.clone().into(), source.text.clone());
    let file = file.or_lenient(lenient);
    let flow = file.flows.into_iter().find(|flow| skill_name(flow) == name).ok_or_else(missing)?;
    Ok((flow, source))
}

/// What the defaults of a skill's inputs may use.
pub fn scope_of(flow: &Flow, world: &World) -> Scope {
    Scope {
        world: world.clone(),
        inputs: Arc::default(),
        outputs: Arc::default(),
        steps: Arc::default(),
        locals: Arc::default(),
        lenient: flow.skill.lenient.unwrap_or_default(),
        secrets: Arc::default(),
        run: Arc::default(),
        skill: Arc::new(serde_json::json!({ "name": skill_name(flow) })),
    }
}

/// The run inside the step that another run is at, which is this one or around it.
fn begun_inside(
    store: &dyn Store,
    around: &Machine,
    run: &aye_core::id::RunId,
) -> Result<Vec<Child>, Error> {
    let state = around.state();
    let Phase::Running { step, healing, .. } = &state.phase else { return Ok(Vec::new()) };
    for row in store.runs_inside(&state.run)? {
        if !run.is_within(&row.id) {
            continue;
        }
        let first = store.first_event(&row.id)?.map(|event| event.kind);
        let Some(EventKind::SkillStarted(started)) = first else { continue };
        let Some(parent) = started.parent.filter(|parent| parent.step == *step) else { continue };
        let body = match &parent.item {
            _ if parent.form.is_some() => ChildBody::Form,
            _ if healing.is_some() => ChildBody::Repair,
            Some(item) => ChildBody::Item { value: item.value.clone() },
            None => {
                let skill = Text::Plain(row.skill.clone());
                ChildBody::Skill { skill, written: false, inputs: IndexMap::new() }
            }
        };
        return Ok(vec![Child { parent: *parent, body }]);
    }
    Ok(Vec::new())
}

/// The machine of a run inside others, as it stands, without driving it: the
/// runs around it say what it is about.
pub fn restore_inside(
    store: &dyn Store,
    around: &Machine,
    run: &aye_core::id::RunId,
    skills: &dyn Skills,
    limits: Limits,
    world: &World,
) -> Result<Option<Machine>, Error> {
    use aye_core::effect::Task;
    let children = match around.execution(world) {
        Ok(execution) => match execution.map(|execution| execution.task) {
            Some(Task::Nested(nested)) => nested.children,
            _ => return Ok(None),
        },
        // What the step gives needs a secret that only its driver knows: the journal says which
        // runs it has begun.
        Err(_) => begun_inside(store, around, run)?,
    };
    for child in children {
        let Ok(id) = child.parent.child() else { continue };
        if !run.is_within(&id) {
            continue;
        }
        let Some(row) = store.run(&id)? else { return Ok(None) };
        let known = Some((row.source.as_str(), row.skill.as_str()));
        let Prepared { flow, secrets, outer, .. } =
            prepare(around, &child, None, known, skills, store, world, false)?;
        let machine =
            Machine::restore(flow, limits.clone(), secrets, &store.events(&id, 0)?, outer)
                .map_err(|error| Error::Journal { run: id.to_string(), error })?
                .relearned(world);
        return match *run == id {
            true => Ok(Some(machine)),
            false => restore_inside(store, &machine, run, skills, limits, world),
        };
    }
    Ok(None)
}
