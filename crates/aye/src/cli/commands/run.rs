//! `aye run`.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aye_core::event::{Driver, Range, StartedBy};
use aye_core::flow::Flow;
use aye_core::id::RunId;
use aye_core::machine::{Machine, Start, StartError};
use aye_core::secrets::Secrets;
use aye_core::skill::{Body, Given, InputError, Inputs, resolve_inputs};
use aye_core::text::{self, World};
use clap::Args;
use clap::builder::FalseyValueParser;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cli::{Context, environment, say};
use crate::paint::{Tone, escape_control_line};
use crate::plan_view::plan_view;
use crate::report::Verbosity;
use aye_runtime::dry_run;
use aye_runtime::error::Error;
use aye_runtime::skills::{SkillFile, skill_name};
use aye_runtime::store::Source;
use aye_runtime::trust;

use super::background::{self, BackgroundCommand};
use super::drive::{AskMode, Beginning, drive};
use super::given;
use super::missing::{self, Resolved};

const EXAMPLES: &str = "\
Examples:
  aye run release -i commit=abc123 -i environment=stage
  aye run examples/deploy.yaml --dry-run
  aye run tools.yaml#cleanup           one of several skills in a file
  aye run release --from confirm       begin at a step
  aye run release --only image         run one step alone
  aye run nightly --yes --json         for a scheduler
  aye run release --detach             in the background; answer with `aye inbox`";

// Options of `aye run`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    /// A skill's name, a file, or FILE#NAME
    pub skill: String,
    /// An input, NAME=VALUE; may be given several times
    #[arg(short, long = "input", value_name = "NAME=VALUE", env = environment::INPUT, hide_env_values = true)]
    pub inputs: Vec<String>,
    /// Inputs from a JSON file, or - for standard input
    #[arg(long = "inputs", value_name = "FILE", env = environment::INPUTS, hide_env_values = true)]
    pub inputs_file: Option<PathBuf>,
    /// Begin at this step
    #[arg(long, value_name = "STEP")]
    pub from: Option<String>,
    /// Run this step alone
    #[arg(long, value_name = "STEP", conflicts_with = "from")]
    pub only: Option<String>,
    /// Answer yes to every question that allows it
    #[arg(short, long)]
    pub yes: bool,
    /// Show what would happen; run nothing, ask nothing
    #[arg(long, env = environment::DRY_RUN, hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub dry_run: bool,
    /// Never ask on this terminal; pause instead
    #[arg(long, env = environment::NO_INPUT, hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub no_input: bool,
    /// Go on in the background; questions wait in `aye inbox`
    #[arg(short, long)]
    pub detach: bool,
    /// The environment it runs against, e.g. stage or production
    #[arg(long, value_name = "NAME", env = environment::ENVIRONMENT, hide_env_values = true)]
    pub environment: Option<String>,
}

pub(super) fn run(args: RunArgs, context: &Context) -> Result<u8, Error> {
    if args.detach && args.dry_run {
        let message = "`--detach` and `--dry-run` cannot be used together";
        return Err(Error::usage(message, "a dry run runs nothing that could go on"));
    }
    let Chosen { path, flow, text, warnings } =
        choose(&args.skill, context).map_err(|refused| {
            say(&refused.said);
            refused.error
        })?;
    // Warnings are for authors: `aye check` shows them.
    if (context.verbosity == Verbosity::Verbose || args.dry_run) && !context.json {
        say(&warnings);
    }
    let given = given::collect(&args.inputs, args.inputs_file.as_deref())?;
    let specs = &flow.skill.inputs;
    let may_ask = !args.no_input && !args.dry_run && !context.json;
    let inputs =
        missing::resolve(specs, given, may_ask, context, |given| fill_in(&flow, given, context))?;
    let inputs = match inputs {
        Resolved::Inputs(inputs) => *inputs,
        Resolved::Leave(code) => return Ok(code),
    };
    let range = match (args.from, args.only) {
        (Some(step), _) => Some(Range::From(step)),
        (None, Some(step)) => Some(Range::Only(step)),
        (None, None) => None,
    };
    let left_out = range.as_ref().and_then(|range| questions_left_out(&flow, range));
    if args.dry_run {
        let world = World { now: context.now(), names: context.names(&context.directory) };
        let plan =
            dry_run::plan(&flow, &inputs, range.as_ref(), args.environment.as_deref(), &world);
        let mut plan = plan.map_err(|error| no_such_step(&error))?;
        plan.warnings.extend(left_out);
        if context.json {
            super::output::print_json(&plan)?;
        } else {
            super::output::print(&plan_view(&plan, context.paint_out))?;
        }
        return Ok(0);
    }
    if let (Some(words), false) = (left_out, context.json) {
        let mark = context.paint_err.text(Tone::Warn, "warning:");
        say(&format!("{mark} {}\n", escape_control_line(&words)));
    }
    let order = StartRequest {
        range,
        yes: args.yes,
        ..StartRequest::new(&path, &flow, text, inputs, args.environment, context)
    };
    if args.detach {
        return background::detach(
            &BackgroundCommand::Start { order: Box::new(order), relayed: false },
            context,
        );
    }
    let ask_mode = if args.no_input { AskMode::Nobody } else { AskMode::Here };
    begin(order, &flow, ask_mode, context)
}

/// A part of a run may begin behind the questions that lead up to it.
fn questions_left_out(flow: &Flow, range: &Range) -> Option<String> {
    let Body::Steps(_) = flow.skill.body else { return None };
    let before = flow.nodes[..flow.find(range.step())?].iter().map(|node| &node.step);
    let names: Vec<&str> =
        before.filter(|step| step.question().is_some()).map(|step| step.name.as_str()).collect();
    let what = match names[..] {
        [] => return None,
        [one] => format!("the question of `{one}` before it"),
        _ => format!("the questions of `{}` before it", names.join("`, `")),
    };
    Some(match range {
        Range::From(step) => format!("beginning at `{step}` leaves out {what}"),
        Range::Only(step) => format!("`{step}` alone leaves out {what}"),
    })
}

/// A skill that can be run.
pub(super) struct Chosen {
    /// Where it is.
    pub(super) path: PathBuf,
    /// What it does.
    pub(super) flow: Arc<Flow>,
    /// The whole file.
    pub(super) text: String,
    /// What its author should look at.
    pub(super) warnings: String,
}

/// Why a skill cannot be run.
pub(super) struct Refused {
    /// Its errors, with their places.
    pub(super) said: String,
    /// In short.
    pub(super) error: Error,
}

impl From<Error> for Box<Refused> {
    fn from(error: Error) -> Self {
        Self::new(Refused { said: String::new(), error })
    }
}

/// Finds a skill by its name or path and checks it.
pub(super) fn choose(wanted: &str, context: &Context) -> Result<Chosen, Box<Refused>> {
    if context.directory.to_str().is_none() {
        let message = format!("`{}` is no UTF-8 path", context.directory.display());
        return Err(Error::usage(message, "run it from a directory whose path is text").into());
    }
    let (path, name) = context.library().find(wanted)?;
    let file = SkillFile::read(&context.directory.join(&path))?;
    let file = file.or_lenient(context.settings.lenient).marked(&context.settings.tools);
    let file = SkillFile { path: path.clone(), ..file };
    let said = file.render(context.paint_err.color);
    if file.has_errors() {
        let error = Error::InvalidSkill(format!("`{}` cannot be run", path.display()));
        return Err(Box::new(Refused { said, error }));
    }
    let (flow, text) = file.into_flow(name.as_deref())?;
    Ok(Chosen { path, flow: Arc::new(flow), text, warnings: said })
}

/// Inputs with their defaults, checked.
pub(super) fn fill_in(
    flow: &Flow,
    given: IndexMap<String, Given>,
    context: &Context,
) -> Result<Inputs, Vec<InputError>> {
    let world = World { now: context.now(), names: context.names(&context.directory) };
    let scope = aye_runtime::driver::scope_of(flow, &world);
    let render = |value: &Value| text::render_value(value, &scope).map_err(|e| e.to_string());
    resolve_inputs(&flow.skill.inputs, given, render)
}

/// A run that is to begin: everything it depends on.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StartRequest {
    pub(super) run: RunId,
    file: String,
    text: String,
    pub(super) skill: String,
    inputs: IndexMap<String, Value>,
    secrets: IndexMap<String, String>,
    environment: Option<String>,
    range: Option<Range>,
    yes: bool,
    started_by: StartedBy,
}

impl StartRequest {
    /// A whole run, with every question asked.
    pub(super) fn new(
        path: &Path,
        flow: &Flow,
        text: String,
        inputs: Inputs,
        environment: Option<String>,
        context: &Context,
    ) -> Self {
        Self {
            run: context.new_run_id(),
            file: path.to_string_lossy().into_owned(),
            text,
            skill: skill_name(flow).to_owned(),
            secrets: secrets_of(&inputs),
            inputs: inputs.values,
            environment,
            range: None,
            yes: false,
            started_by: started_by(context),
        }
    }

    /// The flow that is meant, from the text that was checked.
    pub(super) fn flow(&self, context: &Context) -> Result<Flow, Error> {
        let file = SkillFile::from_text(PathBuf::from(&self.file), self.text.clone());
        let file = file.or_lenient(context.settings.lenient);
        Ok(file.into_flow(Some(&self.skill))?.0)
    }

    fn start(self, driver: Driver, context: &Context) -> (Start, Source) {
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
            workspace: context.directory.to_string_lossy().into_owned(),
            environment: self.environment,
            range: self.range,
            yes: self.yes,
            driver,
            parent: None,
            outer: None,
            deadline: None,
            destructive_tools: context.settings.tools.destructive(),
            started_by: Some(self.started_by),
            epoch: 0,
        };
        (start, source)
    }
}

/// Who or what starts a run from here.
fn started_by(context: &Context) -> StartedBy {
    match context.started_by {
        trust::StartedBy::Assistant => StartedBy::Assistant,
        trust::StartedBy::Person if std::io::stdin().is_terminal() => StartedBy::Terminal,
        trust::StartedBy::Person => StartedBy::Script,
    }
}

/// Commits the beginning of a run and drives it.
pub(super) fn begin(
    order: StartRequest,
    flow: &Arc<Flow>,
    ask_mode: AskMode,
    context: &Context,
) -> Result<u8, Error> {
    let world = World { now: context.now(), names: context.names(&context.directory) };
    let (mut start, source) = order.start(ask_mode.driver(context), context);
    let run = start.run.clone();
    let mut store = context.store()?;
    let lease = store.acquire(&run, &context.holder())?;
    start.epoch = lease.epoch();
    context.say_left_out();
    let (machine, events) = Machine::start(Arc::clone(flow), context.limits(), start, &world)
        .map_err(|error| no_such_step(&error))?;
    store.start(&lease, &events, &source)?;
    if ask_mode.is_elsewhere() {
        background::let_go(&run)?;
    }
    drive(context, flow, &mut *store, lease, machine, &Beginning::Started(&events), ask_mode)
}

fn secrets_of(inputs: &Inputs) -> IndexMap<String, String> {
    let secret = |name: &String| Some((name.clone(), inputs.secrets.get(name)?.to_owned()));
    inputs.values.keys().filter_map(secret).collect()
}

pub(super) fn no_such_step(error: &StartError) -> Error {
    let StartError::NoSuchStep { nearest, .. } = error;
    let hint = match nearest {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`--dry-run` shows its steps".to_owned(),
    };
    Error::not_found(error.to_string(), hint)
}
