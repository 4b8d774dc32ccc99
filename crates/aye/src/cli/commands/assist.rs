//! What the MCP server has done for an assistant: the same as `run --detach`,
//! `answer`, `cancel` and `resume`, without a word on standard output.

use std::path::Path;
use std::process::Child;
use std::sync::Arc;

use aye_core::id::RunId;
use aye_core::input::Request;
use aye_core::nested::DEEPEST;
use aye_core::secrets::Secrets;
use aye_core::skill::{Action, Given, Inputs, Step};
use aye_core::text::World;
use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::cli::Context;
use aye_runtime::driver::Skills as _;
use aye_runtime::dry_run::{self, Plan};
use aye_runtime::error::Error;
use aye_runtime::skills::Reach;
use aye_runtime::store::{RunRow, Store};
use aye_runtime::trust::StartedBy;

use super::background::{self, BackgroundCommand};
use super::resume::Loaded;
use super::run::{Chosen, StartRequest, choose, fill_in, no_such_step};

pub(crate) use super::logs::has_log;
pub(crate) use super::memory::{
    Counts, Kind as MemoryKind, entries as memory_entries, fix_json, issue_json,
    one as memory_entry,
};
pub(crate) use super::request::{Sent, send};

/// A run that could begin: its skill and inputs are sound.
pub(crate) struct Ready {
    chosen: Chosen,
    inputs: Inputs,
    environment: Option<String>,
}

/// Checks everything that can be known before a run begins.
pub(crate) fn prepare(
    skill: &str,
    inputs: Map<String, Value>,
    environment: Option<String>,
    context: &Context,
) -> Result<Ready, Error> {
    context.must_be_trusted()?;
    let chosen = choose(skill, context).map_err(|refused| match refused.error {
        Error::InvalidSkill(message) => {
            Error::InvalidSkill(format!("{message}\n{}", refused.said.trim_end()))
        }
        other => other,
    })?;
    if let Some(step) = interactive(&chosen, context) {
        return Err(Error::Refused {
            message: format!("step `{step}` is interactive: it needs a person's terminal"),
            hint: Some(format!("ask the person to run it: `aye run {skill}`")),
        });
    }
    let given: IndexMap<String, Given> =
        inputs.into_iter().map(|(name, value)| (name, Given::Data(value))).collect();
    let inputs = fill_in(&chosen.flow, given, context).map_err(Error::Inputs)?;
    Ok(Ready { chosen, inputs, environment })
}

impl Ready {
    /// The way the run would take; nothing is run.
    pub(crate) fn plan(&self, context: &Context) -> Result<Plan, Error> {
        let world = World { now: context.now(), names: context.names(&context.directory) };
        let environment = self.environment.as_deref();
        dry_run::plan(&self.chosen.flow, &self.inputs, None, environment, &world)
            .map_err(|error| no_such_step(&error))
    }

    /// Begins the run in a process of its own, which outlives this one.
    pub(crate) fn start(self, context: &Context) -> Result<RunId, Error> {
        let Self { chosen: Chosen { path, flow, text, .. }, inputs, environment } = self;
        let order = StartRequest::new(&path, &flow, text, inputs, environment, context);
        let run = order.run.clone();
        hand_over(&BackgroundCommand::Start { order: Box::new(order), relayed: true }, context)?;
        Ok(run)
    }
}

/// Goes on with a run that nobody drives, in a process of its own.
pub(crate) fn go_on(row: &RunRow, context: &Context) -> Result<(), Error> {
    context.at(&row.workspace)?.must_be_trusted()?;
    let orders = BackgroundCommand::Resume {
        run: row.id.clone(),
        skill: row.skill.clone(),
        inputs: Vec::new(),
        relayed: true,
    };
    hand_over(&orders, context)
}

/// Stops a run, whoever drives it; its clean-up is done in the background.
pub(crate) fn cancel(row: &RunRow, request: &Request, context: &Context) -> Result<Sent, Error> {
    let mut store = context.store()?;
    let undriven = store.holder(&row.id)?.is_none();
    if undriven && Loaded::read(&*store, row, context)?.cleans_up() {
        // Its clean-up would be started.
        context.at(&row.workspace)?.must_be_trusted()?;
        store.send(&row.id, request, &context.driver().user, context.now())?;
        drop(store);
        go_on(row, context)?;
        return Ok(Sent::Accepted);
    }
    send(context, &mut *store, row, request)
}

/// What a step of a run is given as it stands, secrets masked; nothing where
/// that needs what only its driver knows.
pub(crate) fn arguments(
    store: &dyn Store,
    row: &RunRow,
    step: &str,
    context: &Context,
) -> Option<Map<String, Value>> {
    if row.parent.is_some() {
        return None;
    }
    let loaded = Loaded::read(store, row, context).ok()?;
    let machine = loaded.machine(context, Secrets::default()).ok()?;
    let names = context.names(Path::new(&row.workspace));
    machine.arguments(step, &World { now: context.now(), names })
}

fn hand_over(orders: &BackgroundCommand, context: &Context) -> Result<(), Error> {
    let begun = background::start(orders, context)?;
    match begun.code {
        None => {
            reap(begun.child);
            Ok(())
        }
        Some(_) => {
            let said = begun.said.trim();
            let (message, hint) = match said.split_once("\nhint: ") {
                Some((message, hint)) => (message, Some(hint.to_owned())),
                None => (said, None),
            };
            let message = message.trim_start_matches("error: ").to_owned();
            Err(Error::Refused { message, hint })
        }
    }
}

/// Whoever stays around has to hear of the end of what they started, or its
/// entry in the table of processes stays as well.
fn reap(mut child: Child) {
    let waiting = std::thread::Builder::new().name("reap".to_owned());
    // Without a thread the entry stays until this process ends: no harm done.
    let _ = waiting.spawn(move || child.wait());
}

/// The first step that needs a terminal, in the skill or in one it calls.
fn interactive(chosen: &Chosen, context: &Context) -> Option<String> {
    let steps: Vec<Step> = chosen.flow.nodes.iter().map(|node| node.step.clone()).collect();
    let mut open = vec![(0, chosen.path.clone(), steps)];
    let mut seen: Vec<String> = Vec::new();
    while let Some((depth, path, steps)) = open.pop() {
        for step in steps {
            if step.interactive {
                return Some(step.name.value);
            }
            match step.action {
                Action::ForEach(each) => open.push((depth, path.clone(), each.body)),
                // One whose name is only known later is looked at when it begins.
                Action::Skill { skill, .. } if depth < DEEPEST && !seen.contains(&skill.value) => {
                    seen.push(skill.value.clone());
                    if let Ok((flow, source)) = context.load(&skill.value, &path, Reach::AnyFile) {
                        let steps = flow.nodes.into_iter().map(|node| node.step).collect();
                        open.push((depth + 1, source.file.into(), steps));
                    }
                }
                _ => {}
            }
            if !step.then.is_empty() {
                open.push((depth, path.clone(), step.then));
            }
        }
    }
    None
}

/// The world of the server: nothing it says is for a terminal.
pub(crate) fn quiet(context: Context) -> Arc<Context> {
    let mut context = context;
    context.paint_out.color = false;
    context.paint_err.color = false;
    Arc::new(context.started_by(StartedBy::Assistant))
}
