//! `aye memory`: shows, adds and removes what was learned.
//!
//! One file for each subcommand. Touches the files of memory, through the runtime. Entries go to
//! standard output; the next run uses what was added.

mod agree;
mod call;
mod check;
mod import;
mod learn;
mod list;
mod show;
mod stats;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::{Context, warn_line};
use crate::paint::escape_control_line;
use aye_runtime::error::Error;
use aye_runtime::memory::{EntryKind, Memory};

use super::output::{print_json, print_line};
use super::words::one_of;

const EXAMPLES: &str = "\
Examples:
  aye memory list                                  everything that was learned
  aye memory check 'manifest unknown' --tool podman
  aye memory learn --error 'manifest unknown' --tool podman \\
    --fix 'use the full SHA'
  aye memory forget pref-1a2b3c4d
  aye memory stats                                 fewer questions each week?

The project's memory is in `.aye/memory`, shared through git; yours is in
`AYE_HOME/memory`.";

const LIST: &str = "\
Examples:
  aye memory list
  aye memory list fixes
  aye memory list preferences --json | jq -r '.preferences[].id'";

const SHOW: &str =
    "Examples:\n  aye memory show fix-1a2b3c4d\n  aye memory show fix-1a2b3c4d --json";

const FORGET: &str = "\
Examples:
  aye memory forget pref-1a2b3c4d                  be asked again
  aye memory forget fix-1a2b3c4d use-99aa88bb

Known issues are written by people: remove them from `patterns.yaml` yourself.";

const AGREE: &str = "\
Examples:
  aye memory agree fix-1a2b3c4d

Shows exactly what the fix would do, and asks. Also use this for what a skill
proposes (prop-…). Fixes that an assistant proposes or that come with a
project need this before they are used on this machine. So does a fix that
failed twice in a row, and one whose content has changed.

Exit codes: 0 agreed, 3 there is no such fix, 5 not agreed, 6 nobody can be
asked.";

const IMPORT: &str = "\
Examples:
  aye memory import ~/src/redhat-ai-workflow/memory/learned/*.yaml

redhat-ai-workflow (github.com/dmzoneill) is the project whose skill and
memory files Aye also reads. Prints a line for each entry, and the reason if
it skips one. Fixes arrive as text, which is only shown. Remembered answers do
not say what they were for, so Aye asks once more.

Exit codes: 0 imported, 1 a file is not one of these.";

const CHECK: &str = "\
Examples:
  aye memory check 'manifest unknown' --tool podman
  ./deploy 2>&1 | aye memory check - --tool deploy

Exit codes: 0 something is known, 1 nothing is known.";

const LEARN: &str = "\
Examples:
  aye memory learn                                 asks for everything
  aye memory learn --error 'manifest unknown' --meaning 'the tag is too short' \\
    --tag registry
  aye memory learn --error 'token expired' --tool oc -- oc login
  aye memory learn --error 'manifest unknown' --tool bonfire.deploy \\
      --set 'image_tag={{ args.image_tag | trim }}'

With `--set` or a command this adds a fix: Aye changes the arguments, or runs
the command, and tries the step again; with `--replace` the command stands in
for the step. Without them it adds a known issue, which is only shown.
`--error` is plain words of the error, in any case, or
`/a regular expression/`.";

const STATS: &str = "\
Examples:
  aye memory stats
  aye memory stats --weeks 26
  aye memory stats --json | jq '.weeks[-1].asked'";

// Options of `aye memory`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct MemoryArgs {
    /// What to do
    #[command(subcommand)]
    pub command: MemoryCommand,
}

// What to do with what was learned.
#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// List what was learned
    #[command(after_help = LIST)]
    List {
        /// Only these
        #[arg(value_parser = one_of([
            ("fixes", EntryKind::Fixes, "What to do about errors"),
            ("issues", EntryKind::Issues, "What people wrote down about errors"),
            ("preferences", EntryKind::Preferences, "Answers that are given again"),
            ("usage", EntryKind::Usage, "Calls that keep failing in the same way"),
            ("failures", EntryKind::Failures, "The last 100 failures"),
            ("proposals", EntryKind::Proposals, "What skills propose beside fixes"),
        ]))]
        what: Option<EntryKind>,
    },
    /// Show an entry in full
    #[command(after_help = SHOW)]
    Show {
        /// The entry's id, or the beginning of one
        id: String,
    },
    /// Forget entries
    #[command(after_help = FORGET)]
    Forget {
        /// The entries' ids, or the beginnings of them
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Review a proposed or suspended fix, and agree to it
    #[command(after_help = AGREE)]
    Agree {
        /// The entry's id, or the beginning of one
        id: String,
        /// Agree without a question, for scripts; needs the full id
        #[arg(short, long)]
        yes: bool,
    },
    /// Look up what is known about an error
    #[command(after_help = CHECK)]
    Check(CheckArgs),
    /// Add a known issue or a fix
    #[command(after_help = LEARN)]
    Learn(LearnArgs),
    /// Import memory files of redhat-ai-workflow
    #[command(after_help = IMPORT)]
    Import {
        /// `tool_fixes.yaml`, `tool_failures.yaml`, `usage_patterns.yaml`, `patterns.yaml`,
        /// `confirmations.yaml`
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// What a block of `python3` asks memory; internal
    #[command(hide = true)]
    Call,
    /// Count questions, remembered answers and repairs by week
    #[command(after_help = STATS)]
    Stats {
        /// How many weeks
        #[arg(long, value_name = "N", default_value_t = 12)]
        weeks: usize,
    },
}

// Options of `aye memory check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The error; `-` reads it from standard input
    pub error: String,
    /// The tool or program that failed
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// The skill it was in
    #[arg(long, value_name = "NAME")]
    pub skill: Option<String>,
    /// The step it was in
    #[arg(long, value_name = "NAME")]
    pub step: Option<String>,
}

// Options of `aye memory learn`.
#[derive(Debug, Args)]
pub struct LearnArgs {
    /// Words of the error, or `/a regular expression/`
    #[arg(long, value_name = "PATTERN")]
    pub error: Option<String>,
    /// The tool or program, or its family: `git` for `git.push`
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Only in this skill
    #[arg(long, value_name = "NAME")]
    pub skill: Option<String>,
    /// Only at this step
    #[arg(long, value_name = "NAME")]
    pub step: Option<String>,
    /// Change an argument; a template may use `args`, the old arguments, and `first`, what was
    /// looked up
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Look something up first, with a tool that the settings mark `read_only`
    #[arg(long, value_name = "TOOL", conflicts_with = "command")]
    pub look_up: Option<String>,
    /// An argument of that tool; a template may use `args`, the old arguments of the step
    #[arg(long, value_name = "NAME=VALUE", requires = "look_up")]
    pub with: Vec<String>,
    /// What the error means
    #[arg(long, value_name = "TEXT")]
    pub meaning: Option<String>,
    /// What to do about it, in words
    #[arg(long, value_name = "TEXT")]
    pub fix: Option<String>,
    /// A tag for the known issue
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Keep it in the project's memory, for everyone who works on it
    #[arg(long, conflicts_with = "everywhere")]
    pub shared: bool,
    /// Keep it in your memory, for every project
    #[arg(long)]
    pub everywhere: bool,
    /// Run the command after `--` instead of the step, not before it
    #[arg(long, requires = "command", conflicts_with_all = ["set", "look_up"])]
    pub replace: bool,
    /// A command that runs before the step is tried again
    #[arg(last = true)]
    pub command: Vec<String>,
}

pub(super) fn run(args: &MemoryArgs, context: &Context) -> Result<u8, Error> {
    let memory = context.current_memory();
    let done = match &args.command {
        MemoryCommand::List { what } => list::run(*what, &memory, context),
        MemoryCommand::Show { id } => show::run(id, &memory, context),
        MemoryCommand::Forget { ids } => forget(ids, &memory, context),
        MemoryCommand::Agree { id, yes } => agree::run(id, *yes, &memory, context),
        MemoryCommand::Check(args) => check::run(args, &memory, context),
        MemoryCommand::Learn(args) => learn::run(args, &memory, context),
        MemoryCommand::Import { files } => import::run(files, &memory, context),
        MemoryCommand::Call => call::run(context),
        MemoryCommand::Stats { weeks } => stats::run(*weeks, context),
    };
    // What was passed over is said once, whatever the command came to.
    for problem in memory.problems() {
        warn_line(&escape_control_line(&problem.to_string()), context);
    }
    done
}

/// Shows what is proposed and asks.
pub(super) fn agree(id: &str, context: &Context) -> Result<u8, Error> {
    agree::run(id, false, &context.current_memory(), context)
}

fn forget(ids: &[String], memory: &Memory, context: &Context) -> Result<u8, Error> {
    let mut forgotten = Vec::new();
    for id in ids {
        let id = memory.forget(id)?;
        if !context.json {
            print_line(&format!("forgot {}", escape_control_line(&id)))?;
        }
        forgotten.push(id);
    }
    if context.json {
        print_json(&serde_json::json!({ "forgotten": forgotten }))?;
    }
    Ok(0)
}
