//! `aye resume`.

use std::path::PathBuf;
use std::sync::Arc;

use aye_core::event::Event;
use aye_core::flow::Flow;
use aye_core::input::{Input, Request};
use aye_core::journal::State;
use aye_core::machine::Machine;
use aye_core::secrets::{Secrets, is_secret};
use aye_core::text::World;
use clap::Args;
use clap::builder::FalseyValueParser;

use crate::cli::{Context, environment, say};
use crate::paint::{escape_control_line, plural};
use crate::report::{Verbosity, run_command};
use aye_runtime::auth;
use aye_runtime::commit::{self, Committed};
use aye_runtime::driver::{GONE, close_form, restore_inside};
use aye_runtime::error::Error;
use aye_runtime::skills::{SkillFile, relative_to, skill_name};
use aye_runtime::store::{Lease, RequestId, RunRow, Store, Verdict};

use super::background::{self, BackgroundCommand};
use super::cancel::ended;
use super::drive::{AskMode, Beginning, drive};
use super::given;
use super::missing::{self, Told};

const EXAMPLES: &str = "\
Examples:
  aye resume last
  aye resume k3f9            the beginning of a run's id is enough
  aye resume k3f9 -i token=… secrets are not kept; give them again
  aye resume k3f9 --detach   in the background; answer with `aye inbox`";

// Options of `aye resume`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ResumeArgs {
    /// A run's id, the beginning of one, or last
    pub run: String,
    /// A secret input, NAME=VALUE: secrets are not kept in the journal
    #[arg(short, long = "input", value_name = "NAME=VALUE", env = environment::INPUT, hide_env_values = true)]
    pub inputs: Vec<String>,
    /// Never ask on this terminal; pause instead
    #[arg(long, env = environment::NO_INPUT, hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub no_input: bool,
    /// Go on in the background; questions wait in `aye inbox`
    #[arg(short, long)]
    pub detach: bool,
}

pub(super) fn run(args: &ResumeArgs, context: &Context) -> Result<u8, Error> {
    let reader = context.journal()?;
    let named = context.find_run(&*reader, &args.run)?;
    let row = reader.outermost(&named.id)?.unwrap_or(named);
    if row.status.is_ended() {
        let state = State::fold(&reader.events(&row.id, 0)?)
            .map_err(|error| Error::Journal { run: row.id.to_string(), error })?;
        return Err(Error::Refused {
            message: format!("run `{}` has ended: it {}", row.id, ended(row.status)),
            hint: Some(match state.failed_step() {
                Some(_) => format!("try its last step again with `aye retry {}`", row.id),
                None => format!("start again with `{}`", run_command(&state)),
            }),
        });
    }
    let may_ask = !args.no_input && !context.json;
    let there = &context.at(&row.workspace)?;
    let inputs = Loaded::read(&*reader, &row, there)?.complete(&args.inputs, may_ask, context)?;
    let inputs = match inputs {
        Ok(inputs) => inputs,
        Err(code) => return Ok(code),
    };
    if args.detach {
        Loaded::read(&*reader, &row, there)?.secrets(&inputs)?;
        let orders = BackgroundCommand::Resume {
            run: row.id.clone(),
            skill: row.skill.clone(),
            inputs,
            relayed: false,
        };
        drop(reader);
        return background::detach(&orders, context);
    }
    drop(reader);
    let ask_mode = if args.no_input { AskMode::Nobody } else { AskMode::Here };
    go_on(&row, &inputs, ask_mode, context)
}

/// Takes a run up and drives it.
pub(super) fn go_on(
    row: &RunRow,
    inputs: &[String],
    ask_mode: AskMode,
    context: &Context,
) -> Result<u8, Error> {
    take_up(row, inputs, &Beginning::Resumed, ask_mode, context)
}

/// Takes a run up, where it is or at the step that failed, and drives it.
pub(super) fn take_up(
    row: &RunRow,
    inputs: &[String],
    beginning: &Beginning<'_>,
    ask_mode: AskMode,
    context: &Context,
) -> Result<u8, Error> {
    let there = &context.at(&row.workspace)?;
    let mut store = there.store()?;
    let lease = store.acquire(&row.id, &context.holder())?;
    let loaded = Loaded::read(&*store, row, there)?;
    let secrets = loaded.secrets(inputs)?;
    if context.verbosity != Verbosity::Quiet && !context.json {
        loaded.warn_if_changed(context);
    }
    there.say_left_out();
    let ended = end_survivors(row, context)?;
    let mut machine = loaded.machine(there, secrets)?;
    machine.ended_survivors(ended);
    if ask_mode.is_elsewhere() {
        background::let_go(&row.id)?;
    }
    drive(there, &loaded.flow, &mut *store, lease, machine, beginning, ask_mode)
}

/// Nothing is run again while something of the old run may still be at it.
fn end_survivors(row: &RunRow, context: &Context) -> Result<u32, Error> {
    let found = aye_process::survivors::find(row.id.as_str());
    if found.is_empty() {
        return Ok(0);
    }
    let count = plural(found.len(), "process");
    let mut signals = super::inbox::catch_signals()?;
    if !context.json {
        let warning = context.paint_err.text(crate::paint::Tone::Warn, "warning:");
        say(&format!("{warning} the run had left {count} behind: ending them\n"));
    }
    let grace = aye_process::DEFAULT_GRACE;
    let ended = aye_process::survivors::end(row.id.as_str(), grace, &mut signals);
    drop(signals);
    let left = ended.left;
    if left > 0 {
        let pids: Vec<String> = found.iter().map(|one| one.identity.pid.to_string()).collect();
        return Err(Error::Refused {
            message: format!("{left} processes of run `{}` cannot be ended", row.id),
            hint: Some(format!("look at processes {}", pids.join(", "))),
        });
    }
    if let Some(signal) = ended.stop {
        let message =
            format!("told to stop ({}); {count} of run `{}` killed", signal.name(), row.id);
        let hint = Some(format!("`aye resume {}` goes on", row.id));
        return Err(Error::Interrupted { signal, message, hint });
    }
    Ok(u32::try_from(found.len()).unwrap_or(u32::MAX))
}

/// A run as the journal has it, with the skill it was started with.
pub(super) struct Loaded {
    row: RunRow,
    text: String,
    pub(super) flow: Arc<Flow>,
    events: Vec<Event>,
}

impl Loaded {
    pub(super) fn read(store: &dyn Store, row: &RunRow, context: &Context) -> Result<Self, Error> {
        let source = store.source(&row.source)?.ok_or_else(|| {
            let message = format!("the skill of run `{}` is not in the journal", row.id);
            Error::not_found(message, "it was started by another program")
        })?;
        let text = source.text.clone();
        let file = SkillFile::from_text(PathBuf::from(&source.file), source.text);
        let file = file.or_lenient(context.settings.lenient);
        let flow = file.flows.into_iter().find(|flow| skill_name(flow) == row.skill);
        let flow = flow.ok_or_else(|| {
            let message = format!("this version cannot read the skill of run `{}`", row.id);
            Error::not_found(message, "resume it with the version that started it")
        })?;
        let events = store.events(&row.id, 0)?;
        Ok(Self { row: row.clone(), text, flow: Arc::new(flow), events })
    }

    /// Whether something is to be done when the run is cancelled where it is.
    pub(super) fn cleans_up(&self) -> bool {
        let node = self.row.step.as_ref().and_then(|step| self.flow.find(step));
        node.is_some_and(|node| self.flow.nodes[node].routes.cancelled.is_some())
    }

    pub(super) fn machine(&self, context: &Context, secrets: Secrets) -> Result<Machine, Error> {
        let flow = Arc::clone(&self.flow);
        Machine::restore(flow, context.limits(), secrets, &self.events, None)
            .map_err(|error| Error::Journal { run: self.row.id.to_string(), error })
    }

    fn state(&self) -> Result<State, Error> {
        State::fold(&self.events)
            .map_err(|error| Error::Journal { run: self.row.id.to_string(), error })
    }

    /// Asks for the secrets that were not given again, if somebody is there;
    /// the exit code if they would rather not go on.
    pub(super) fn complete(
        &self,
        pairs: &[String],
        may_ask: bool,
        context: &Context,
    ) -> Result<Result<Vec<String>, u8>, Error> {
        let mut pairs = pairs.to_vec();
        let state = self.state()?;
        let given = given::collect(&pairs, None)?;
        let lost = state.started.inputs.iter().chain(&*state.outputs);
        let lost = lost.filter(|(name, value)| is_secret(value) && !given.contains_key(*name));
        for (name, _) in lost.filter(|_| may_ask) {
            let why = format!("Secrets are not kept in the journal: `{name}` is needed again.");
            match missing::secret(name, &why, context)? {
                Told::Value(value) => pairs.push(format!("{name}={value}")),
                Told::Nobody => break,
                Told::Leave(code) => return Ok(Err(code)),
            }
        }
        Ok(Ok(pairs))
    }

    fn secrets(&self, pairs: &[String]) -> Result<Secrets, Error> {
        let state = self.state()?;
        let mut secrets = Secrets::default();
        let given = given::collect(pairs, None)?;
        for (name, value) in given {
            match state.started.inputs.get(&name) {
                Some(marker) if is_secret(marker) => {
                    if let aye_core::skill::Given::Text(text) = value {
                        secrets.insert(name, text);
                    }
                }
                Some(_) | None if state.outputs.get(&name).is_some_and(is_secret) => {
                    if let aye_core::skill::Given::Text(text) = value {
                        secrets.insert_answer(name, text);
                    }
                }
                Some(_) | None => {
                    let message = format!("`{name}` is no secret input of this run");
                    let hint = "a resumed run keeps the inputs it was started with";
                    return Err(Error::usage(message, hint));
                }
            }
        }
        let missing = state
            .started
            .inputs
            .iter()
            .find(|(name, value)| is_secret(value) && secrets.get(name).is_none());
        if let Some((name, _)) = missing {
            let message = format!("secret input `{name}` is not kept in the journal");
            let hint = format!("give it again: `aye resume {} -i {name}=…`", self.row.id);
            return Err(Error::usage(message, hint));
        }
        Ok(secrets)
    }

    fn warn_if_changed(&self, context: &Context) {
        let path = PathBuf::from(&self.row.workspace).join(&self.row.file);
        let became = match std::fs::read_to_string(&path) {
            Ok(text) if text == self.text => return,
            Ok(_) => "has changed",
            Err(_) => "is gone",
        };
        let warning = context.paint_err.text(crate::paint::Tone::Warn, "warning:");
        let file = relative_to(&path, &context.directory);
        let file = escape_control_line(&file.to_string_lossy());
        say(&format!("{warning} `{file}` {became}; the run goes on with what it started with\n"));
    }
}

/// A run that nobody drives, held while it is looked after.
struct Held {
    context: Context,
    lease: Lease,
    outermost: Machine,
    world: World,
}

impl Held {
    /// Takes the lock of the outermost run: it covers those inside.
    fn take(
        context: &Context,
        store: &mut dyn Store,
        row: &RunRow,
    ) -> Result<(Self, RunRow), Error> {
        let outer = store.outermost(&row.id)?.unwrap_or_else(|| row.clone());
        let context = context.at(&outer.workspace)?;
        let lease = store.acquire(&outer.id, &context.holder())?;
        let outermost =
            Loaded::read(store, &outer, &context)?.machine(&context, Secrets::default())?;
        let outermost = outermost.under(lease.epoch());
        let names = context.names(&PathBuf::from(&row.workspace));
        let world = World { now: context.now(), names };
        Ok((Self { context, lease, outermost, world }, outer))
    }

    /// Tells a run something and commits what follows.
    fn tell(
        &self,
        store: &mut dyn Store,
        machine: &mut Machine,
        input: Input,
        from: Option<RequestId>,
    ) -> Result<Committed, Error> {
        let input = auth::spend_code(input, machine, &self.context.home, &self.world);
        Ok(commit::handle(store, &self.lease, machine, input, &self.world, from)?)
    }

    /// The machine of a run, which may be inside of others.
    fn machine(&self, store: &dyn Store, row: &RunRow) -> Result<Machine, Error> {
        if row.parent.is_none() {
            return Ok(self.outermost.clone());
        }
        let limits = self.context.limits();
        restore_inside(store, &self.outermost, &row.id, &self.context.runtime, limits, &self.world)?
            .map(|machine| machine.under(self.lease.epoch()))
            .ok_or_else(|| {
                let message = format!("run `{}` is not where the run around it stands", row.id);
                Error::Refused { message, hint: None }
            })
    }
}

/// Applies a request to a run that nobody drives, without driving it.
pub(super) fn apply(
    context: &Context,
    store: &mut dyn Store,
    row: &RunRow,
    request: Request,
) -> Result<Option<String>, Error> {
    let (held, outer) = Held::take(context, store, row)?;
    let mut ended = None;
    if let Request::Cancel { .. } = request {
        ended = Some(end_survivors(&outer, context)?);
        cancel_inside(&held, store, row, &request)?;
    }
    if close_form(store, &held.lease, &held.outermost, &row.id, &held.world)? {
        let cancelled = matches!(request, Request::Cancel { .. });
        return Ok((!cancelled).then(|| GONE.to_owned()));
    }
    let mut machine = held.machine(store, row)?;
    if let Some(ended) = ended {
        machine.ended_survivors(ended);
    }
    // Time may have run out while nobody looked.
    held.tell(store, &mut machine, Input::Tick, None)?;
    let reaction = held.tell(store, &mut machine, Input::Request(request), None)?;
    Ok(reaction.refusal.map(|refusal| refusal.to_string()))
}

/// Ends the runs inside one that is cancelled, the innermost first.
fn cancel_inside(
    held: &Held,
    store: &mut dyn Store,
    row: &RunRow,
    request: &Request,
) -> Result<(), Error> {
    for inside in store.runs_inside(&row.id)? {
        if inside.status.is_ended() {
            continue;
        }
        if close_form(store, &held.lease, &held.outermost, &inside.id, &held.world)? {
            continue;
        }
        cancel_inside(held, store, &inside, request)?;
        let mut machine = held.machine(store, &inside)?;
        held.tell(store, &mut machine, Input::Request(request.clone()), None)?;
    }
    Ok(())
}

/// Reads the mail of a run that nobody drives any more, without driving it.
pub(super) fn settle_mail(
    context: &Context,
    store: &mut dyn Store,
    row: &RunRow,
) -> Result<(), Error> {
    let (held, _) = Held::take(context, store, row)?;
    if close_form(store, &held.lease, &held.outermost, &row.id, &held.world)? {
        for letter in store.pending(&row.id)? {
            let gone = Verdict::Refused(GONE.to_owned());
            store.append(&held.lease, &[], &[(letter.id, gone)])?;
        }
        return Ok(());
    }
    let mut machine = held.machine(store, row)?;
    held.tell(store, &mut machine, Input::Tick, None)?;
    for letter in store.pending(&row.id)? {
        held.tell(store, &mut machine, Input::Request(letter.request), Some(letter.id))?;
    }
    Ok(())
}
