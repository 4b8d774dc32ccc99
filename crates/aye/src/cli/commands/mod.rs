//! One file per verb.
//!
//! Each file parses its options, calls one use case of `aye-runtime` and prints its typed result.
//! Nothing here decides what a run does. Touches the terminal and standard output; results go
//! there, and how it ended goes to the exit code.

pub(super) mod answer;
mod answer_secrets;
pub(super) mod audit;
pub(super) mod auth;
pub(super) mod cancel;
pub(super) mod check;
pub(super) mod choose;
pub(super) mod completions;
pub(super) mod confirm;
pub(super) mod doctor;
pub(super) mod graph;
pub(super) mod inbox;
pub(super) mod init;
pub(super) mod input;
pub(super) mod list;
pub(super) mod logs;
pub(super) mod man;
pub(super) mod mcp;
pub(super) mod memory;
pub(super) mod notify;
pub(super) mod patch;
pub(super) mod people;
pub(super) mod resume;
pub(super) mod retry;
pub(super) mod run;
pub(super) mod runs;
pub(super) mod schedule;
pub(super) mod schema;
pub(super) mod scripted;
pub(super) mod serve;
pub(super) mod show;
mod shown_output;
pub(super) mod stats;
pub(super) mod tools;
pub(super) mod trust;
pub(super) mod watch;

mod background;
mod changes;
mod drive;
mod fix;
mod given;
mod missing;
mod output;
mod words;

use aye_runtime::error::Error;

use super::args::Command;
use super::context::Context;

/// Comes before everything that a command does: whatever the guard touched before, the engine
/// would touch again.
pub(super) fn begin(command: &Command) {
    if matches!(command, Command::Background) {
        aye_runtime::usecases::background::leave_session();
    }
    if steps_may_run(command) {
        start_guard();
    }
}

fn start_guard() {
    // Without a guard the steps still run; only a kill -9 of Aye itself
    // could leave some of their processes behind until the next start.
    let _ = aye_process::guard::start();
}

/// Carries a command out and returns the exit code.
pub(super) fn run(command: Command, context: &Context) -> Result<u8, Error> {
    // An advisor is a program, and the run may continue here; one that nobody sat at
    // continues in a process of its own, which a guard of this one would end.
    if let Command::Answer(args) = &command
        && !answer::takes_up(args, context)
    {
        start_guard();
    }
    match command {
        Command::Run(args) => run::run(args, context),
        Command::Resume(args) => resume::run(&args, context),
        Command::Retry(args) => retry::run(&args, context),
        Command::Patch(args) => patch::run(&args, context),
        Command::Cancel(args) => cancel::run(args, context),
        Command::Answer(args) => answer::run(&args, context),
        Command::Inbox(args) => inbox::run(&args, context),
        Command::Watch(args) => watch::run(&args, context),
        Command::Confirm(args) => confirm::run(&args, context),
        Command::Choose(args) => choose::run(&args, context),
        Command::Input(args) => input::run(&args, context),
        Command::List(args) => list::run(&args, context),
        Command::Check(args) => check::run(&args, context),
        Command::Graph(args) => graph::run(&args, context),
        Command::Doctor(args) => doctor::run(&args, context),
        Command::Init(args) => init::run(&args, context),
        Command::Runs(args) => runs::run(args, context),
        Command::Show(args) => show::run(&args, context),
        Command::Logs(args) => logs::run(&args, context),
        Command::Stats(args) => stats::run(&args, context),
        Command::Audit(args) => audit::run(&args, context),
        Command::Auth(args) => auth::run(&args, context),
        Command::Tools(args) => tools::run(&args, context),
        Command::Trust(args) => trust::run(&args, context),
        Command::Mcp(args) => mcp::run(&args, context),
        Command::Serve(args) => serve::run(&args, context),
        Command::People(args) => people::run(&args, context),
        Command::Memory(args) => memory::run(&args, context),
        Command::Schedule(args) => schedule::run(args, context),
        Command::Notify(args) => notify::run(&args, context),
        Command::Schema(args) => schema::run(&args, context),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
        Command::Background => background::run(context),
        Command::ApplyChange => patch::apply(context),
    }
}

/// Whether the command may start processes of a skill. An answer says so when it has found its
/// run.
fn steps_may_run(command: &Command) -> bool {
    match command {
        // A run in the background has a guard of its own.
        Command::Run(args) => !args.dry_run && !args.detach,
        Command::Resume(args) => !args.detach,
        // A run that is cancelled may have to be cleaned up.
        Command::Cancel(_) | Command::Retry(_) | Command::Background => true,
        // Servers are programs, and so are commands.
        Command::Tools(_) | Command::Doctor(_) | Command::Notify(_) => true,
        Command::Answer(_)
        | Command::Trust(_)
        | Command::Inbox(_)
        | Command::Watch(_)
        | Command::Confirm(_)
        | Command::Choose(_)
        | Command::Input(_)
        | Command::List(_)
        | Command::Check(_)
        | Command::Graph(_)
        | Command::Init(_)
        | Command::Runs(_)
        | Command::Show(_)
        | Command::Logs(_)
        | Command::Stats(_)
        | Command::Audit(_)
        | Command::Auth(_)
        // Runs are handed to processes of their own.
        | Command::Mcp(_)
        | Command::Serve(_)
        | Command::People(_)
        | Command::Memory(_)
        | Command::Patch(_)
        | Command::ApplyChange
        | Command::Schedule(_)
        | Command::Schema(_)
        | Command::Completions(_)
        | Command::Man(_) => false,
    }
}
