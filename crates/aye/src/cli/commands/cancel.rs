//! `aye cancel`.

use clap::Args;
use indexmap::IndexMap;

use crate::cli::Context;
use crate::paint::escape_control_line;
use aye_runtime::error::Error;
use aye_runtime::usecases::{CancelOutcome, Cancelling, ResumeRequest, Sent};

use super::drive::{AskMode, drive, warn};
use super::output::print_line;
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
    /// End a `finally` that has begun, also in runs inside, without the rest of its steps
    #[arg(long)]
    pub now: bool,
}

pub(super) fn run(args: CancelArgs, context: &Context) -> Result<u8, Error> {
    let row = context.journal()?.find_run(&args.run)?;
    let by = context.driver().user;
    let cancelling = context.cancel(&row, by, args.reason, args.now, &mut |w| warn(&w, context))?;
    let Cancelling { row, outcome, cleans_up, cleans_inside } = cancelling;
    match outcome {
        CancelOutcome::NeedsDriver => {
            let there = context.at(&row.workspace)?;
            let (secrets, attended) = (IndexMap::new(), false);
            let request = ResumeRequest { row: row.clone(), secrets, attended };
            let active = context.resume(&request, &mut |warning| warn(&warning, context))?;
            let code = drive(active, AskMode::Nobody, &there)?;
            if context.json {
                runs::print_as_listed(&row, context)?;
            }
            Ok(if code == 5 { 0 } else { code })
        }
        CancelOutcome::Sent(Sent::Accepted | Sent::AcceptedUndriven) => {
            match context.json {
                true => runs::print_as_listed(&row, context)?,
                false if cleans_up => {
                    let who = cleans_inside.map_or_else(
                        || "it".to_owned(),
                        |step| format!("`{}`", escape_control_line(&step)),
                    );
                    print_line(&format!(
                        "run {run} is being cancelled: {who} cleans up first; `aye watch {run}` \
                         shows it",
                        run = row.id
                    ))?;
                }
                false => print_line(&format!("run {} ({}) is cancelled", row.id, row.skill))?,
            }
            Ok(0)
        }
        CancelOutcome::Sent(Sent::Refused(why)) => Err(Error::Refused {
            message: format!("run `{}` was not cancelled: {why}", row.id),
            hint: None,
        }),
    }
}
