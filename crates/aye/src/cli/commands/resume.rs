//! `aye resume`.

use clap::Args;
use clap::builder::FalseyValueParser;
use indexmap::IndexMap;

use crate::cli::{Context, environment};
use aye_runtime::error::Error;
use aye_runtime::usecases::{LoadedRun, ResumeRequest, RunRow};

use super::background::tell;
use super::drive::{AskMode, drive, warn};
use super::given;
use super::missing::{self, InputOutcome};
use super::shown_output::ShownOutput;

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
    /// Set a secret input again, NAME=VALUE: the journal does not keep secrets
    #[arg(short, long = "input", value_name = "NAME=VALUE", env = environment::INPUT, hide_env_values = true)]
    pub inputs: Vec<String>,
    /// Never ask on this terminal; pause instead
    #[arg(long, env = environment::NO_INPUT, hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub no_input: bool,
    /// Run in the background; questions wait in `aye inbox`
    #[arg(short, long)]
    pub detach: bool,
    /// Fail instead of waiting if another run holds its `concurrency` name
    #[arg(long)]
    pub no_wait: bool,
    /// What is shown of the steps' output.
    #[command(flatten)]
    pub shown: ShownOutput,
}

pub(super) fn run(args: &ResumeArgs, context: &Context) -> Result<u8, Error> {
    let context = &context.showing(args.shown.output);
    let run = context.resumable(&args.run)?;
    if args.no_wait {
        context.must_find_its_name_free(&run)?;
    }
    let may_ask = !args.no_input && !context.json;
    let secrets = match ask_for_secrets(&run, &args.inputs, may_ask, context)? {
        Ok(secrets) => secrets,
        Err(code) => return Ok(code),
    };
    if args.detach {
        let row = run.row;
        context.resume_detached(&row, secrets, &mut |warning| warn(&warning, context))?;
        return tell(&row.id, &row.skill, context).map(|()| 0);
    }
    resume_here(run.row, secrets, args.no_input, context)
}

/// Drives a run that nobody drives.
pub(super) fn resume_here(
    row: RunRow,
    secrets: IndexMap<String, String>,
    no_input: bool,
    context: &Context,
) -> Result<u8, Error> {
    let ask_mode = if no_input { AskMode::Nobody } else { AskMode::Here };
    let there = context.at(&row.workspace)?;
    let request = ResumeRequest { row, secrets, attended: ask_mode.is_attended(context) };
    let active = context.resume(&request, &mut |warning| warn(&warning, context))?;
    drive(active, ask_mode, &there)
}

/// Reads the secrets that are given again, and asks for the others if someone
/// is there; the exit code if they would rather not continue.
pub(super) fn ask_for_secrets(
    run: &LoadedRun,
    pairs: &[String],
    may_ask: bool,
    context: &Context,
) -> Result<Result<IndexMap<String, String>, u8>, Error> {
    let mut secrets = given::texts(pairs)?;
    for name in run.lost_secrets().filter(|_| may_ask) {
        if secrets.contains_key(name) {
            continue;
        }
        let why = format!("The journal does not keep secrets: enter `{name}` again.");
        match missing::secret(name, &why, context)? {
            InputOutcome::Value(value) => secrets.insert(name.to_owned(), value),
            InputOutcome::Nobody => break,
            InputOutcome::Leave(code) => return Ok(Err(code)),
        };
    }
    Ok(Ok(secrets))
}
