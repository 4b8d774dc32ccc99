//! `aye confirm`.

use aye_core::question::{Offer, Question};
use aye_core::skill::{AskKind, ChoiceAction};
use clap::{Args, ValueEnum};

use crate::cli::Context;
use aye_runtime::error::Error;

use super::scripted::{Asked, Asking, ask, print_result, question};

const EXAMPLES: &str = "\
Examples:
  if aye confirm 'Deploy to production?'; then ./deploy; fi
  aye confirm 'Continue?' --default yes --timeout 30s
  aye confirm 'Delete everything?' --default no || exit
  aye confirm 'Restart web3?' --journal    also in `aye inbox`, as a run

Exit codes: 0 yes, 1 no, 5 cancelled with Esc, 6 nobody can be asked, 124
timed out without a default. Ctrl-C interrupts the script, as at `read`.
Nothing is written to standard output.";

// Options of `aye confirm`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ConfirmArgs {
    /// The question; may have **bold**, `code` and lists
    pub message: String,
    /// The answer on Enter and on a timeout
    #[arg(long, value_name = "YES|NO")]
    pub default: Option<Default>,
    /// Options of every question.
    #[command(flatten)]
    pub asking: Asking,
}

/// What Enter means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Default {
    /// Enter is yes.
    Yes,
    /// Enter is no.
    No,
}

/// The value that stands for yes.
pub(super) const YES: &str = "proceed";
const NO: &str = "cancel";

pub(super) fn run(args: &ConfirmArgs, context: &Context) -> Result<u8, Error> {
    let question = Question {
        title: args.asking.title.clone().unwrap_or_default(),
        ..yes_or_no(&args.message, args.default)?
    };
    match ask(&question, Some(YES), &args.asking, context)? {
        Asked::Value(taken) => {
            let yes = taken.value == YES;
            // The exit code says it.
            if context.json {
                print_result(if yes { "yes" } else { "no" }, &yes.into(), &taken, context)?;
            }
            Ok(u8::from(!yes))
        }
        Asked::Nothing(code) => Ok(code),
    }
}

/// A question that is answered with yes or no.
pub(super) fn yes_or_no(message: &str, default: Option<Default>) -> Result<Question, Error> {
    let offer = |value: &str, label: &str, action| Offer {
        value: value.to_owned(),
        label: label.to_owned(),
        description: None,
        action,
    };
    let options =
        vec![offer(YES, "Yes", ChoiceAction::Proceed), offer(NO, "No", ChoiceAction::Cancel)];
    let default = default.map(|default| match default {
        Default::Yes => YES.to_owned(),
        Default::No => NO.to_owned(),
    });
    Ok(Question { options, default, ..question(AskKind::Confirm, message, None)? })
}
