//! `aye answer`.

use aye_core::input::Request;
use aye_core::question::{Answer, Prompter};
use clap::Args;

use crate::cli::Context;
use crate::error::Error;
use crate::store::{Found, QuestionState};

use super::output::print_line;
use super::request::{Sent, send};

/// Options of `aye answer`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye inbox\n  aye answer k3f9x2m7q1-1 proceed\n  \
    aye answer k3f9x2m7q1-1 cancel --reason 'not on a Friday'")]
pub struct AnswerArgs {
    /// A question's id, or the beginning of one
    pub question: String,
    /// The value of an option, or the text asked for
    pub choice: String,
    /// Why; recorded in the journal
    #[arg(long, value_name = "TEXT", env = "AYE_REASON", hide_env_values = true)]
    pub reason: Option<String>,
    /// The text that has to be typed to agree, where a question wants it
    #[arg(long = "type", value_name = "TEXT", env = "AYE_TYPE", hide_env_values = true)]
    pub typed: Option<String>,
}

pub(super) fn run(args: AnswerArgs, context: &Context) -> Result<u8, Error> {
    let Some(reader) = context.store_to_read()? else { return Err(Context::no_journal()) };
    let question = match reader.question(&args.question)? {
        Found::One(question) => question,
        Found::None => {
            let message = format!("there is no question `{}`", args.question);
            return Err(Error::not_found(message, "`aye inbox` lists the open ones"));
        }
        Found::Several(rows) => {
            let names: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
            let message =
                format!("`{}` stands for several questions: {}", args.question, names.join(", "));
            return Err(Error::usage(message, "write more letters of the id"));
        }
    };
    let row = context.find_run(&reader, question.run.as_str())?;
    let asked = reader.asked(&question.id)?;
    drop(reader);
    let label = asked
        .as_ref()
        .and_then(|asked| asked.offer(&args.choice))
        .map_or_else(|| args.choice.clone(), |offer| offer.label.clone());
    let answer = Answer {
        value: args.choice.into(),
        by: context.driver().user,
        prompter: Prompter::Command,
        reason: args.reason,
        typed: args.typed,
        reauth: false,
        digest: asked.map(|asked| asked.digest),
    };
    let mut store = context.store()?;
    let request = Request::Answer { question: question.id.clone(), answer };
    let refused = |why: String| Error::Refused {
        message: format!("the answer to `{}` was refused: {why}", question.id),
        hint: match question.state {
            QuestionState::Open => None,
            QuestionState::Answered | QuestionState::Expired | QuestionState::Withdrawn => {
                Some(format!("it was {} before", question.state.word()))
            }
        },
    };
    match send(context, &mut store, &row, &request)? {
        Sent::Accepted => print_line(&format!("answered {}: {label}", question.id))?,
        Sent::AcceptedUndriven => {
            print_line(&format!("answered {}: {label}", question.id))?;
            print_line(&format!("nobody drives the run; go on with: aye resume {}", row.id))?;
        }
        Sent::Refused(why) => return Err(refused(why)),
    }
    Ok(0)
}
