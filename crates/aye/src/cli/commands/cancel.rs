//! `aye cancel`.

use aye_core::input::Request;
use clap::Args;

use crate::cli::Context;
use aye_runtime::error::Error;
use aye_runtime::store::RunStatus;

use super::output::print_line;
use super::request::{Sent, send};
use super::resume::{self, Loaded, ResumeArgs};
use super::runs;

// Options of `aye cancel`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye cancel last\n  aye cancel k3f9 --reason 'wrong commit'")]
pub struct CancelArgs {
    /// A run's id, the beginning of one, or last
    pub run: String,
    /// Why; recorded in the journal
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

pub(super) fn run(args: CancelArgs, context: &Context) -> Result<u8, Error> {
    let reader = context.journal()?;
    let mut row = context.find_run(&*reader, &args.run)?;
    let outer = reader.outermost(&row.id)?.unwrap_or_else(|| row.clone());
    drop(reader);
    if row.status.is_ended() {
        return Err(Error::Refused {
            message: format!("run `{}` has ended already: it {}", row.id, ended(row.status)),
            hint: Some(format!("`aye show {}` tells how", row.id)),
        });
    }
    let mut store = context.store()?;
    let request = Request::Cancel { by: context.driver().user, reason: args.reason };
    let undriven = store.holder(&outer.id)?.is_none();
    if undriven {
        row = outer;
    }
    if undriven && Loaded::read(&*store, &row, context)?.cleans_up() {
        // Somebody has to drive its clean-up: whoever cancels.
        store.send(&row.id, &request, &context.driver().user, context.now())?;
        drop(store);
        let resumed = ResumeArgs {
            run: row.id.to_string(),
            inputs: Vec::new(),
            no_input: true,
            detach: false,
        };
        let code = resume::run(&resumed, context)?;
        if context.json {
            runs::print_as_listed(&row, context)?;
        }
        return Ok(if code == 5 { 0 } else { code });
    }
    match send(context, &mut *store, &row, &request)? {
        Sent::Accepted | Sent::AcceptedUndriven if context.json => {
            runs::print_as_listed(&row, context)?;
        }
        Sent::Accepted | Sent::AcceptedUndriven => {
            print_line(&format!("run {} is cancelled", row.id))?;
        }
        Sent::Refused(why) => {
            return Err(Error::Refused {
                message: format!("run `{}` was not cancelled: {why}", row.id),
                hint: None,
            });
        }
    }
    Ok(0)
}

/// How a run ended, after `it`.
pub(super) fn ended(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Cancelled => "was cancelled",
        other => other.word(),
    }
}
