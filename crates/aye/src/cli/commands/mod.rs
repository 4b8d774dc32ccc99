//! One file per verb.

pub mod answer;
pub mod audit;
pub mod cancel;
pub mod check;
pub mod completions;
pub mod graph;
pub mod inbox;
pub mod init;
pub mod list;
pub mod logs;
pub mod man;
pub mod resume;
pub mod run;
pub mod runs;
pub mod schema;
pub mod show;

mod drive;
mod given;
mod output;
mod request;

use crate::error::Error;

use super::args::Command;
use super::context::Context;

/// Carries a command out and returns the exit code.
pub(super) fn run(command: Command, context: &Context) -> Result<u8, Error> {
    match command {
        Command::Run(args) => run::run(args, context),
        Command::Resume(args) => resume::run(&args, context),
        Command::Cancel(args) => cancel::run(args, context),
        Command::Answer(args) => answer::run(args, context),
        Command::Inbox(args) => inbox::run(&args, context),
        Command::List(args) => list::run(&args, context),
        Command::Check(args) => check::run(&args, context),
        Command::Graph(args) => graph::run(&args, context),
        Command::Init(args) => init::run(&args, context),
        Command::Runs(args) => runs::run(args, context),
        Command::Show(args) => show::run(&args, context),
        Command::Logs(args) => logs::run(&args, context),
        Command::Audit(args) => audit::run(&args, context),
        Command::Schema(args) => schema::run(&args, context),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}
