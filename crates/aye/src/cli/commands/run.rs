//! `aye run`.

use std::path::PathBuf;

use aye_core::event::Range;
use clap::Args;
use clap::builder::FalseyValueParser;

use crate::cli::{Context, environment, say, warn_line};
use crate::paint::escape_control_line;
use crate::plan_view::plan_view;
use crate::report::Verbosity;
use aye_runtime::error::Error;
use aye_runtime::usecases::{CheckedSkill, Prepared, SkillError};

use super::background::tell;
use super::drive::{AskMode, drive, warn};
use super::given;
use super::missing::{self, Resolved};
use super::output::{print_json, print_words};
use super::shown_output::ShownOutput;

const EXAMPLES: &str = "\
Examples:
  aye run release -i commit=abc123 -i environment=stage
  aye run examples/deploy.yaml --dry-run
  aye run tools.yaml#cleanup           one of several skills in a file
  aye run release --from confirm       begin at a step
  aye run release --only image         run one step alone
  aye run nightly --yes --json         for a scheduler
  aye run release --detach             in the background; then `aye inbox`";

// Options of `aye run`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    /// A skill's name, a file, or FILE#NAME
    pub skill: String,
    /// Set an input, NAME=VALUE; repeat for more
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
    /// Run in the background; questions wait in `aye inbox`
    #[arg(short, long)]
    pub detach: bool,
    /// Fail instead of waiting if another run holds its `concurrency` name
    #[arg(long)]
    pub no_wait: bool,
    /// The environment it runs against, e.g. stage or production
    #[arg(long, value_name = "NAME", env = environment::ENVIRONMENT, hide_env_values = true)]
    pub environment: Option<String>,
    /// The schedule that starts it; `aye schedule add` writes this
    #[arg(long, value_name = "NAME", hide = true)]
    pub schedule: Option<String>,
    /// What is shown of the steps' output.
    #[command(flatten)]
    pub shown: ShownOutput,
}

pub(super) fn run(args: RunArgs, context: &Context) -> Result<u8, Error> {
    let context = &context.showing(args.shown.output);
    if args.detach && args.dry_run {
        let message = "`--detach` and `--dry-run` cannot be used together";
        return Err(Error::usage(message, "a dry run starts nothing"));
    }
    let scheduled;
    let context = match args.schedule {
        None => context,
        Some(_) => {
            let runtime = context.runtime.by_schedule()?;
            scheduled = Context { runtime, ..context.clone() };
            &scheduled
        }
    };
    let skill = check_skill(&args.skill, context)?;
    let range = match (args.from, args.only) {
        (Some(step), _) => Some(Range::From(step)),
        (None, Some(step)) => Some(Range::Only(step)),
        (None, None) => None,
    };
    if !args.dry_run {
        context.must_find_what_it_calls(&skill, range.as_ref())?;
    }
    if context.verbosity != Verbosity::Quiet && !context.json {
        for file in context.skill_warnings(&skill) {
            say(&context.mistakes(&file));
        }
    }
    let given = given::collect(&args.inputs, args.inputs_file.as_deref())?;
    let specs = &skill.flow.skill.inputs;
    let may_ask = !args.no_input && !args.dry_run && !context.json;
    let complete = |given| context.complete_inputs(&skill.flow, given);
    let inputs = match missing::resolve(specs, given, may_ask, context, complete)? {
        Resolved::Inputs(inputs) => *inputs,
        Resolved::Leave(code) => return Ok(code),
    };
    let environment = args.environment;
    let (yes, no_wait) = (args.yes, args.no_wait);
    let prepared = Prepared { skill, inputs, environment, range, yes, no_wait };
    if args.dry_run {
        let plan = context.plan(&prepared)?;
        match context.json {
            true => print_json(&plan)?,
            false => print_words(&plan_view(&plan, context.paint_out))?,
        }
        return Ok(0);
    }
    if let (Some(words), false) = (prepared.questions_left_out(), context.json) {
        warn_line(&escape_control_line(&words), context);
    }
    if args.detach {
        let skill = prepared.skill.flow.skill.name.value.clone();
        let run = context.start_detached(prepared, &mut |warning| warn(&warning, context))?;
        return tell(&run, &skill, context).map(|()| 0);
    }
    let ask_mode = if args.no_input { AskMode::Nobody } else { AskMode::Here };
    let attended = ask_mode.is_attended(context);
    let active = context.start(prepared, attended, &mut |warning| warn(&warning, context))?;
    drive(active, ask_mode, context)
}

/// Finds a skill and checks it; its errors are printed with their places.
pub(super) fn check_skill(wanted: &str, context: &Context) -> Result<CheckedSkill, Error> {
    context.check_skill(wanted).map_err(|error| {
        if let SkillError::Invalid(file) = &error {
            say(&context.mistakes(file));
        }
        error.into_error()
    })
}
