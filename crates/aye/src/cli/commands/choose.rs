//! `aye choose`.

use std::io::{IsTerminal as _, Read as _};

use aye_core::question::Offer;
use aye_core::skill::{AskKind, ChoiceAction};
use clap::Args;

use crate::cli::Context;
use aye_runtime::error::Error;

use super::scripted::{Asked, Asking, ask, print_result, question};

const EXAMPLES: &str = "\
Examples:
  environment=$(aye choose 'Which environment?' stage production) || exit
  git branch --format='%(refname:short)' | aye choose 'Which branch?'
  aye choose 'Size?' small large --default small --timeout 1m
  aye choose 'Which host?' web1 web2 --journal    also in `aye inbox`

The chosen option is written to standard output. Without options on the
command line, they are read from standard input, one per line.

Exit codes: 0 chosen, 5 cancelled with Esc, 6 nobody can be asked, 124 timed
out without a default. Ctrl-C interrupts the script, as at `read`.";

// Options of `aye choose`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ChooseArgs {
    /// The question
    pub message: String,
    /// The options
    #[arg(value_name = "OPTION")]
    pub options: Vec<String>,
    /// Selected at first; also the answer on a timeout
    #[arg(long, value_name = "OPTION")]
    pub default: Option<String>,
    /// Options of every question.
    #[command(flatten)]
    pub asking: Asking,
}

pub(super) fn run(args: &ChooseArgs, context: &Context) -> Result<u8, Error> {
    let mut question = question(AskKind::Choose, &args.message, args.asking.title.as_deref())?;
    let options = options(args)?;
    check(&options, args.default.as_deref())?;
    question.options = options
        .into_iter()
        .map(|text| Offer::new(text.clone(), text, ChoiceAction::Proceed))
        .collect();
    question.default.clone_from(&args.default);
    match ask(&question, args.default.as_deref(), &args.asking, context)? {
        Asked::Value(taken) => {
            print_result(&taken.value, &taken.value.as_str().into(), &taken, context)?;
            Ok(0)
        }
        Asked::Nothing(code) => Ok(code),
    }
}

fn options(args: &ChooseArgs) -> Result<Vec<String>, Error> {
    if !args.options.is_empty() || std::io::stdin().is_terminal() {
        return Ok(args.options.clone());
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(Error::Input)?;
    Ok(text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect())
}

fn check(options: &[String], default: Option<&str>) -> Result<(), Error> {
    if options.is_empty() {
        let hint = "aye choose MESSAGE OPTION...";
        return Err(Error::usage("there is nothing to choose from", hint));
    }
    for (index, option) in options.iter().enumerate() {
        if option.trim().is_empty() {
            return Err(Error::usage("an option is empty", "leave it out"));
        }
        if options[..index].contains(option) {
            let message = format!("option `{option}` is there twice");
            return Err(Error::usage(message, "give each option another name"));
        }
    }
    match default {
        Some(default) if !options.iter().any(|option| option == default) => {
            let message = format!("the default `{default}` is not an option");
            Err(Error::usage(message, format!("the options are {}", options.join(", "))))
        }
        Some(_) | None => Ok(()),
    }
}
