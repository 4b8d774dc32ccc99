//! `aye run`.

use std::path::PathBuf;
use std::sync::Arc;

use aye_core::event::Range;
use aye_core::machine::{Machine, Start, StartError};
use aye_core::skill::resolve_inputs;
use aye_core::text::{self, World};
use clap::Args;
use clap::builder::FalseyValueParser;
use serde_json::Value;

use crate::cli::{Context, say};
use crate::dry_run;
use crate::error::Error;
use crate::report::Verbosity;
use crate::skills::{self, SkillFile};
use crate::store::{RunLock, Source};

use super::drive::{Beginning, drive};
use super::given;

const EXAMPLES: &str = "\
Examples:
  aye run release -i commit=abc123 -i environment=stage
  aye run skills/deploy.yaml --dry-run
  aye run tools.yaml#cleanup           one of several skills in a file
  aye run release --from confirm       begin at a step
  aye run release --only image         run one step alone
  aye run nightly --yes --json         for a scheduler";

/// Options of `aye run`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    /// A skill's name, a file, or FILE#NAME
    pub skill: String,
    /// An input, NAME=VALUE; may be given several times
    #[arg(
        short,
        long = "input",
        value_name = "NAME=VALUE",
        env = "AYE_INPUT",
        hide_env_values = true
    )]
    pub inputs: Vec<String>,
    /// Inputs from a JSON file, or - for standard input
    #[arg(long = "inputs", value_name = "FILE", env = "AYE_INPUTS", hide_env_values = true)]
    pub inputs_file: Option<PathBuf>,
    /// Begin at this step
    #[arg(long, value_name = "STEP", env = "AYE_FROM", hide_env_values = true)]
    pub from: Option<String>,
    /// Run this step alone
    #[arg(
        long,
        value_name = "STEP",
        env = "AYE_ONLY",
        hide_env_values = true,
        conflicts_with = "from"
    )]
    pub only: Option<String>,
    /// Answer yes to every question that allows it
    #[arg(
        short,
        long,
        env = "AYE_YES",
        hide_env_values = true,
        value_parser = FalseyValueParser::new()
    )]
    pub yes: bool,
    /// Show what would happen; run nothing, ask nothing
    #[arg(
        long,
        env = "AYE_DRY_RUN",
        hide_env_values = true,
        value_parser = FalseyValueParser::new()
    )]
    pub dry_run: bool,
    /// Never ask on this terminal; pause instead
    #[arg(
        long,
        env = "AYE_NO_INPUT",
        hide_env_values = true,
        value_parser = FalseyValueParser::new()
    )]
    pub no_input: bool,
    /// The environment it runs against, e.g. stage or production
    #[arg(long, value_name = "NAME", env = "AYE_ENVIRONMENT", hide_env_values = true)]
    pub environment: Option<String>,
}

pub(super) fn run(args: RunArgs, context: &Context) -> Result<u8, Error> {
    if context.directory.to_str().is_none() {
        let message = format!("`{}` is no UTF-8 path", context.directory.display());
        return Err(Error::usage(message, "run it from a directory whose path is text"));
    }
    let (path, name) = skills::find(&args.skill, &context.directory, &context.settings)?;
    let file = SkillFile::read(&context.directory.join(&path))?;
    let file = SkillFile { path: path.clone(), ..file };
    if file.has_errors() {
        say(&file.render(context.paint_err.color));
        return Err(Error::InvalidSkill(format!("`{}` cannot be run", path.display())));
    }
    // Warnings are for authors: `aye check` shows them.
    if (context.verbosity == Verbosity::Verbose || args.dry_run) && !context.json {
        say(&file.render(context.paint_err.color));
    }
    let (flow, text) = file.into_flow(name.as_deref())?;
    let flow = Arc::new(flow);
    let given = given::collect(&args.inputs, args.inputs_file.as_deref())?;
    let world = World { now: context.now(), names: context.names(&context.directory) };
    let scope = crate::driver::scope_of(&flow, &world);
    let render = |value: &Value| text::render_value(value, &scope).map_err(|e| e.to_string());
    let inputs = resolve_inputs(&flow.skill.inputs, given, render).map_err(Error::Inputs)?;
    let range = match (args.from, args.only) {
        (Some(step), _) => Some(Range::From(step)),
        (None, Some(step)) => Some(Range::Only(step)),
        (None, None) => None,
    };
    if args.dry_run {
        let plan =
            dry_run::plan(&flow, &inputs, range.as_ref(), args.environment.as_deref(), &world);
        let plan = plan.map_err(|error| no_such_step(&error))?;
        if context.json {
            super::output::print_json(&plan)?;
        } else {
            super::output::print(&dry_run::render(&plan, context.paint_out))?;
        }
        return Ok(0);
    }
    let source = Source::new(path.to_string_lossy(), text);
    let start = Start {
        run: context.new_run_id(),
        file: path.to_string_lossy().into_owned(),
        source: source.digest.clone(),
        inputs: inputs.values,
        secrets: inputs.secrets,
        workspace: context.directory.to_string_lossy().into_owned(),
        environment: args.environment,
        range,
        yes: args.yes,
        driver: context.driver(),
        parent: None,
        outer: None,
        deadline: None,
    };
    let mut store = context.store()?;
    let lock = RunLock::acquire(store.home(), &start.run, &context.lock_info())?;
    let (machine, events) = Machine::start(Arc::clone(&flow), context.limits(), start, &world)
        .map_err(|error| no_such_step(&error))?;
    store.start(&events, &source)?;
    drive(context, &flow, &mut store, lock, machine, &Beginning::Started(&events), !args.no_input)
}

fn no_such_step(error: &StartError) -> Error {
    let StartError::NoSuchStep { nearest, .. } = error;
    let hint = match nearest {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`--dry-run` shows its steps".to_owned(),
    };
    Error::not_found(error.to_string(), hint)
}
