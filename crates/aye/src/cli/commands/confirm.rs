//! `aye confirm`.

use aye_core::question::{Offer, Question};
use aye_core::skill::{AskKind, ChoiceAction};
use clap::{Args, ValueEnum};

use crate::cli::Context;
use crate::prompt::{AskOutcome, Escape, LocalQuestion, ask_alone};
use aye_runtime::error::Error;
use aye_runtime::prompter::AskedQuestion;

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
const YES: &str = "proceed";
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
fn yes_or_no(message: &str, default: Option<Default>) -> Result<Question, Error> {
    let options = vec![
        Offer::new(YES, "Yes", ChoiceAction::Proceed),
        Offer::new(NO, "No", ChoiceAction::Cancel),
    ];
    let default = default.map(|default| match default {
        Default::Yes => YES.to_owned(),
        Default::No => NO.to_owned(),
    });
    Ok(Question { options, default, ..question(AskKind::Confirm, message, None)? })
}

/// What someone said to what they were shown.
#[derive(Debug, Clone, Copy)]
pub(super) enum Consent {
    /// Yes.
    Yes,
    /// No.
    No,
    /// Nothing: the exit code says why.
    Left(u8),
}

impl Consent {
    /// The exit code, unless it is yes; `no` is the one for a no.
    pub(super) fn refusal(self, no: u8) -> Option<u8> {
        match self {
            Self::Yes => None,
            Self::No => Some(no),
            Self::Left(code) => Some(code),
        }
    }
}

/// An error where nobody can be asked.
pub(super) fn must_have_person(message: &str, hint: &str, context: &Context) -> Result<(), Error> {
    match context.config(Escape::Dismisses, true).obstacle {
        None => Ok(()),
        Some(why) => Err(Error::Unattended {
            message: format!("{message}: {why}"),
            hint: Some(hint.to_owned()),
        }),
    }
}

/// Asks the person at this terminal whether something may be done.
pub(super) fn consent(
    message: &str,
    default: Default,
    context: &Context,
) -> Result<Consent, Error> {
    let question = yes_or_no(message, Some(default))?;
    Ok(match ask(&question, None, &Asking::default(), context)? {
        Asked::Value(taken) if taken.value == YES => Consent::Yes,
        Asked::Value(_) => Consent::No,
        Asked::Nothing(code) => Consent::Left(code),
    })
}

/// Whether someone at this terminal says yes; nothing if nobody can be asked.
pub(super) fn says_yes(
    message: &str,
    default: Option<Default>,
    may_ask: bool,
    context: &Context,
) -> Result<Option<bool>, Error> {
    let question = yes_or_no(message, default)?;
    let asked = AskedQuestion::alone(&question, None);
    let config = context.config(Escape::Dismisses, may_ask);
    let said = ask_alone(&asked, config, &context.clock, &mut LocalQuestion::default())?;
    Ok(match said {
        AskOutcome::Answered(given) => Some(given.value == YES),
        AskOutcome::Unavailable(_) => None,
        AskOutcome::Cancelled
        | AskOutcome::TimedOut
        | AskOutcome::Closed
        | AskOutcome::Stopped(_) => Some(false),
    })
}
