//! `aye retry`.

use aye_core::question::AnswerScope;
use clap::Args;
use clap::builder::FalseyValueParser;

use crate::cli::{Context, environment};
use aye_runtime::error::Error;
use aye_runtime::usecases::{QuestionRow, ResumeRequest, RetryRequest, RetryTarget};

use super::answer::{self, AnswerArgs, SCOPES};
use super::changes::Changes;
use super::drive::{AskMode, drive, warn};
use super::resume::ask_for_secrets;
use super::shown_output::ShownOutput;
use super::words::one_of;

const EXAMPLES: &str = "\
Examples:
  aye retry last                            try the step that failed once more
  aye retry k3f9 --set image_tag=v1.2.0     with another argument
  aye retry k3f9 deploy --set 2=production  the second argument of a command
  aye retry k3f9 --set tag=v1.2 --remember  and keep that as a fix if it works";

// Options of `aye retry`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RetryArgs {
    /// A run's id, the beginning of one, or last
    pub run: String,
    /// The step that failed
    pub step: Option<String>,
    /// What the step is given differently
    #[command(flatten)]
    pub changes: Changes,
    /// Keep the change as a fix if it works, for this step; `always` for every step that uses the
    /// tool or program
    #[arg(
        long,
        value_name = "SCOPE",
        num_args = 0..=1,
        default_missing_value = "step",
        requires = "set",
        value_parser = one_of(SCOPES)
    )]
    pub remember: Option<AnswerScope>,
    /// Set a secret input again, NAME=VALUE: the journal does not keep secrets
    #[arg(short, long = "input", value_name = "NAME=VALUE", env = environment::INPUT, hide_env_values = true)]
    pub inputs: Vec<String>,
    /// Never ask on this terminal
    #[arg(long, env = environment::NO_INPUT, hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub no_input: bool,
    /// Fail instead of waiting if another run holds its `concurrency` name
    #[arg(long)]
    pub no_wait: bool,
    /// What is shown of the steps' output.
    #[command(flatten)]
    pub shown: ShownOutput,
}

pub(super) fn run(args: &RetryArgs, context: &Context) -> Result<u8, Error> {
    let context = &context.showing(args.shown.output);
    let target = context.retryable(&args.run, args.step.as_deref())?;
    let (run, step) = match target {
        RetryTarget::Question(question) => {
            return answer::run(&as_answer(args, &question), context);
        }
        RetryTarget::Ended { run, step } => (run, step),
    };
    if args.no_wait {
        context.must_find_its_name_free(&run)?;
    }
    let may_ask = !args.no_input && !context.json;
    let secrets = match ask_for_secrets(&run, &args.inputs, may_ask, context)? {
        Ok(secrets) => secrets,
        Err(code) => return Ok(code),
    };
    let journal = context.journal()?;
    let text = || journal.text_arguments(&run.row, &step, context);
    let edits = args.changes.edits(args.remember, text)?;
    drop(journal);
    let ask_mode = if args.no_input { AskMode::Nobody } else { AskMode::Here };
    let there = context.at(&run.row.workspace)?;
    let attended = ask_mode.is_attended(context);
    let resume = ResumeRequest { row: run.row, secrets, attended };
    let request = RetryRequest { resume, step, edits };
    let active = context.retry(request, &mut |warning| warn(&warning, context))?;
    drive(active, ask_mode, &there)
}

fn as_answer(args: &RetryArgs, question: &QuestionRow) -> AnswerArgs {
    let choice = if args.changes.set.is_empty() { "retry" } else { "edit" };
    AnswerArgs {
        choice: Some(choice.to_owned()),
        changes: args.changes.clone(),
        remember: args.remember.map(Some),
        no_input: args.no_input,
        resume: true,
        inputs: args.inputs.clone(),
        opened_with: None,
        ..AnswerArgs::asking(question.id.as_str())
    }
}
