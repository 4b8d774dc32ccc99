//! `aye input`.

use aye_core::pattern::{Work, is_match};
use aye_core::skill::AskKind;
use clap::Args;

use crate::cli::Context;
use aye_runtime::error::Error;

use super::scripted::{Asked, Asking, ask, print_result, question};

const EXAMPLES: &str = "\
Examples:
  name=$(aye input 'Your name?') || exit
  token=$(aye input 'Token?' --secret)
  commit=$(aye input 'Which commit?' --match '^[0-9a-f]{7,}$' --default HEAD)
  ticket=$(aye input 'Which ticket?' --journal)    also in `aye inbox`

The text is written to standard output.

Exit codes: 0 answered, 5 cancelled with Esc, 6 nobody can be asked, 124 timed
out without a default. Ctrl-C interrupts the script, as at `read`.";

// Options of `aye input`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct InputArgs {
    /// The question
    pub message: String,
    /// The answer on an empty line and on a timeout
    #[arg(long, value_name = "TEXT")]
    pub default: Option<String>,
    /// A regular expression the text must match
    #[arg(long = "match", value_name = "REGEX")]
    pub pattern: Option<String>,
    /// Show a dot for each character
    #[arg(long)]
    pub secret: bool,
    /// Options of every question.
    #[command(flatten)]
    pub asking: Asking,
}

pub(super) fn run(args: &InputArgs, context: &Context) -> Result<u8, Error> {
    let mut question = question(AskKind::Input, &args.message, args.asking.title.as_deref())?;
    if let Some(pattern) = &args.pattern {
        Work::default().check(pattern).map_err(|error| {
            let message = format!("`{pattern}` is not a regular expression: {error}");
            Error::usage(message, "write it like '^[0-9a-f]+$'")
        })?;
        if let Some(default) = args.default.as_ref().filter(|default| !is_match(pattern, default)) {
            let message = format!("the default `{default}` does not match `{pattern}`");
            return Err(Error::usage(message, "change one of them"));
        }
    }
    question.pattern.clone_from(&args.pattern);
    question.default.clone_from(&args.default);
    question.secret = args.secret;
    match ask(&question, args.default.as_deref(), &args.asking, context)? {
        Asked::Value(taken) => {
            print_result(&taken.value, &taken.value.as_str().into(), &taken, context)?;
            Ok(0)
        }
        Asked::Nothing(code) => Ok(code),
    }
}
