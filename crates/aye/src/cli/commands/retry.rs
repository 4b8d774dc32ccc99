//! `aye retry`.

use aye_core::journal::State;
use clap::Args;
use clap::builder::FalseyValueParser;

use crate::cli::{Context, environment};
use aye_runtime::error::Error;
use aye_runtime::store::{QuestionRow, RunRow, Store};

use super::answer::{self, AnswerArgs, Reach};
use super::cancel::ended;
use super::changes::Changes;
use super::drive::{AskMode, Beginning};
use super::resume::{Loaded, take_up};

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
    /// The step; it has to be the one that failed
    pub step: Option<String>,
    /// What the step is given differently
    #[command(flatten)]
    pub changes: Changes,
    /// Keep the change as a fix if it works: for this step, or always for the tool
    #[arg(
        long,
        value_name = "SCOPE",
        num_args = 0..=1,
        default_missing_value = "step",
        requires = "set"
    )]
    pub remember: Option<Reach>,
    /// A secret input that the journal does not keep: NAME=VALUE; repeat it
    #[arg(short, long = "input", value_name = "NAME=VALUE", env = environment::INPUT, hide_env_values = true)]
    pub inputs: Vec<String>,
    /// Never ask on this terminal
    #[arg(long, env = environment::NO_INPUT, hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub no_input: bool,
}

pub(super) fn run(args: &RetryArgs, context: &Context) -> Result<u8, Error> {
    let reader = context.journal()?;
    let named = context.find_run(&*reader, &args.run)?;
    let waiting = open_recoveries(&*reader, &named, args.step.as_deref())?;
    match waiting.as_slice() {
        [] => {}
        [question] => return answer::run(&as_answer(args, question), context),
        several => {
            let ids: Vec<&str> = several.iter().map(|question| question.id.as_str()).collect();
            return Err(Error::usage(
                format!("{} failed steps of run `{}` wait", several.len(), named.id),
                format!("answer one of them: `aye answer ID edit --set …`: {}", ids.join(", ")),
            ));
        }
    }
    let inside = named.parent.is_some();
    let row = reader.outermost(&named.id)?.unwrap_or_else(|| named.clone());
    if inside {
        return Err(Error::Refused {
            message: format!("no failed step of run `{}` waits for an answer", named.id),
            hint: Some(format!("the run around it is `{}`", row.id)),
        });
    }
    if !row.status.is_ended() {
        return Err(Error::Refused {
            message: format!("no failed step of run `{}` waits for an answer", row.id),
            hint: Some(format!("`aye show {}` tells where it stands", row.id)),
        });
    }
    again(args, &*reader, &row, context)
}

/// The questions about failed steps, in the run or inside it.
fn open_recoveries(
    store: &dyn Store,
    row: &RunRow,
    step: Option<&str>,
) -> Result<Vec<QuestionRow>, Error> {
    let inside = format!("{}_", row.id);
    let fits = |question: &QuestionRow| {
        (question.run == row.id || question.run.as_str().starts_with(&inside))
            && question.purpose == "recover"
            && step.is_none_or(|step| step == question.step)
    };
    Ok(store.open_questions()?.into_iter().filter(fits).collect())
}

fn as_answer(args: &RetryArgs, question: &QuestionRow) -> AnswerArgs {
    let choice = if args.changes.set.is_empty() { "retry" } else { "edit" };
    AnswerArgs {
        choice: Some(choice.to_owned()),
        changes: args.changes.clone(),
        remember: args.remember,
        no_input: args.no_input,
        resume: true,
        opened_with: None,
        ..AnswerArgs::asking(question.id.as_str())
    }
}

/// A run that has failed is taken up again.
fn again(
    args: &RetryArgs,
    reader: &dyn Store,
    row: &RunRow,
    context: &Context,
) -> Result<u8, Error> {
    let state = State::fold(&reader.events(&row.id, 0)?)
        .map_err(|error| Error::Journal { run: row.id.to_string(), error })?;
    let refuse = |hint: String| Error::Refused {
        message: format!("run `{}` has ended: it {}", row.id, ended(row.status)),
        hint: Some(hint),
    };
    let failed = match (state.failed_step(), &args.step) {
        (None, _) => {
            return Err(refuse("only a run that ended because a step failed can go on".to_owned()));
        }
        (Some(failed), Some(step)) if failed != step => {
            return Err(refuse(format!("the step that failed is `{failed}`")));
        }
        (Some(failed), _) => failed.to_owned(),
    };
    let may_ask = !args.no_input && !context.json;
    let loaded = Loaded::read(reader, row, &context.at(&row.workspace)?)?;
    let inputs = match loaded.complete(&args.inputs, may_ask, context)? {
        Ok(inputs) => inputs,
        Err(code) => return Ok(code),
    };
    let edits = args.changes.edits(args.remember)?;
    let ask_mode = if args.no_input { AskMode::Nobody } else { AskMode::Here };
    let beginning = Beginning::Retried { step: Some(failed), edits };
    take_up(row, &inputs, &beginning, ask_mode, context)
}
