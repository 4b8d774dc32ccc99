//! The options and what they say in `--help`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::parser::ValueSource;
use clap::{ArgAction, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use aye_runtime::usecases::APPLY;

use crate::paint::ColorChoice;

use super::candidates::CANDIDATES;
use super::commands;
use super::environment;
use super::verb_groups::grouped;

const EXAMPLES: &str = "\
Examples:
  aye init                            create a first skill
  aye run release -i commit=abc123    run a skill by name
  aye run deploy.yaml --dry-run       see what would happen
  aye inbox                           what waits for an answer
  aye answer k3f9x2m7q1-1 proceed     answer from anywhere
  aye resume last                     continue after a crash or a pause

Exit codes: 0 done, 1 failed, 2 usage or invalid skill, 3 not found, 4
unreadable, 5 declined or cancelled, 6 paused and waiting, 124 timed out,
126/127 command not executable/found, 130 interrupted.";

/// Runbooks that ask first.
#[derive(Debug, Parser)]
#[command(
    name = "aye",
    version,
    about = "Runbooks that ask first",
    long_about = "Runbooks that ask first: a skill is a YAML file; Aye runs it step by step, \
        stops where a person should decide, and never loses or repeats a step.",
    after_help = EXAMPLES,
    propagate_version = false,
    disable_help_subcommand = true,
    disable_help_flag = true,
    disable_version_flag = true,
    subcommand_required = true,
    max_term_width = 100
)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// Where journal and logs are kept [default: ~/.local/state/aye]
    #[arg(long, global = true, value_name = "DIR", env = environment::HOME, hide_env_values = true)]
    pub home: Option<PathBuf>,
    /// When to use colours: auto, always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        env = environment::COLOR,
        hide_env_values = true
    )]
    pub color: ColorChoice,
    /// Print JSON for programs
    #[arg(long, global = true, env = environment::JSON, hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub json: bool,
    /// Print less: only the output of steps, and problems
    #[arg(short, long, global = true, env = environment::QUIET, hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub quiet: bool,
    /// Print more: every event
    #[arg(short, long, global = true, env = environment::VERBOSE, hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub verbose: bool,
    /// Plain ASCII lines, no live display: for screen readers and logs
    #[arg(long, global = true, env = environment::PLAIN, hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub plain: bool,
    /// Print help
    #[arg(short, long, global = true, action = ArgAction::HelpShort)]
    help: Option<bool>,
    /// Print version
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,
}

/// Whether `--version` is all there is.
pub(super) fn only_version() -> bool {
    let mut words = std::env::args_os().skip(1);
    words.next().is_some_and(|word| word == "--version" || word == "-V") && words.next().is_none()
}

/// Whether Aye is to be the process in which compute blocks run.
pub(super) fn is_worker() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == aye_runtime::compute::WORD)
}

/// The word that makes Aye a background process.
pub(super) const BACKGROUND: &str = "background";

/// `aye background`.
#[derive(Debug, Parser)]
#[command(version, disable_help_flag = true, disable_version_flag = true)]
struct Background {
    #[command(flatten)]
    global: Global,
}

/// The command line that a shell wants completed, if that is what is asked.
pub(super) fn completing() -> Option<(Global, Vec<String>)> {
    let mut words = std::env::args_os().skip(1);
    words.next().filter(|word| word == CANDIDATES)?;
    let Background { global } = Background::try_parse_from([CANDIDATES]).ok()?;
    Some((global, words.map(|word| word.to_string_lossy().into_owned()).collect()))
}

impl Cli {
    /// The whole command, with an overview that groups the verbs by job.
    pub fn overview() -> clap::Command {
        grouped(Self::command())
    }

    /// Reads the command line. Where an option and the environment disagree,
    /// the option wins.
    pub(super) fn read() -> Result<Self, clap::Error> {
        let mut words = std::env::args_os().skip(1);
        if words.next().is_some_and(|word| word == BACKGROUND) {
            let Background { global } =
                Background::try_parse_from(std::iter::once(BACKGROUND.into()).chain(words))?;
            return Ok(Self { global, command: Command::Background });
        }
        if std::env::args_os().nth(1).is_some_and(|word| word == APPLY) {
            let Background { global } = Background::try_parse_from([APPLY])?;
            return Ok(Self { global, command: Command::ApplyChange });
        }
        let mut command = Self::command();
        let words = helped(std::env::args_os().collect());
        // Nobody pays for the overview who does not look at it.
        if words.iter().skip(1).all(|word| word.to_string_lossy().starts_with('-')) {
            command = grouped(command);
        }
        let matches = command.try_get_matches_from_mut(words);
        // Every verb and option of it would be freed one by one, just to continue.
        std::mem::forget(command);
        let matches = matches?;
        let mut cli = Self::from_arg_matches(&matches)?;
        let typed = |name| matches.value_source(name) == Some(ValueSource::CommandLine);
        if cli.global.quiet && cli.global.verbose {
            cli.global.quiet = !typed("verbose");
            cli.global.verbose = !cli.global.quiet;
        }
        Ok(cli)
    }
}

/// `aye help VERB` is `aye VERB --help`.
fn helped(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        words.push("--help".into());
    }
    words
}

impl Command {
    /// Whether it can do without a current directory: it is about runs that
    /// know where they belong.
    pub(super) fn is_of_anywhere(&self) -> bool {
        matches!(
            self,
            Self::Resume(_)
                | Self::Cancel(_)
                | Self::Answer(_)
                | Self::Inbox(_)
                | Self::Watch(_)
                | Self::Runs(_)
                | Self::Show(_)
                | Self::Logs(_)
                | Self::Stats(_)
                | Self::Audit(_)
        )
    }
}

/// The verbs. `defer`: only the one that was typed builds its options. A doc comment at their
/// types would then take the place of the sentences here, so they have plain ones.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    /// Run a skill
    Run(commands::run::RunArgs),
    /// Resume a paused, interrupted or killed run
    Resume(commands::resume::ResumeArgs),
    /// Try a failed step again, as it is or with other arguments
    Retry(commands::retry::RetryArgs),
    /// Write a change that fixed a run into the skill's file
    Patch(commands::patch::PatchArgs),
    /// Cancel a run, whichever process drives it
    Cancel(commands::cancel::CancelArgs),
    /// Answer a question from anywhere
    Answer(commands::answer::AnswerArgs),
    /// List the questions that wait for an answer
    Inbox(commands::inbox::InboxArgs),
    /// Follow a run that another process drives
    Watch(commands::watch::WatchArgs),
    /// Run a skill on a schedule: add, list and remove schedules
    Schedule(commands::schedule::ScheduleArgs),
    /// Test notification channels and list what was sent
    Notify(commands::notify::NotifyArgs),
    /// Ask yes or no, for shell scripts
    Confirm(commands::confirm::ConfirmArgs),
    /// Ask for one of several options, for shell scripts
    Choose(commands::choose::ChooseArgs),
    /// Ask for text, for shell scripts
    Input(commands::input::InputArgs),
    /// List the skills of this project
    List(commands::list::ListArgs),
    /// Check skill files, and fix what is certain
    Check(commands::check::CheckArgs),
    /// Draw a skill
    Graph(commands::graph::GraphArgs),
    /// Check the setup, and which assistants have connected
    Doctor(commands::doctor::DoctorArgs),
    /// Create a first skill
    Init(commands::init::InitArgs),
    /// List runs, or prune old ones
    Runs(commands::runs::RunsArgs),
    /// Show a run: its steps, decisions and outputs
    Show(commands::show::ShowArgs),
    /// Show what the steps of a run wrote
    Logs(commands::logs::LogsArgs),
    /// Show durations, failures and waiting times of a skill
    Stats(commands::stats::StatsArgs),
    /// Check whether someone changed the journal
    Audit(commands::audit::AuditArgs),
    /// Set up a second factor for questions that need one
    Auth(commands::auth::AuthArgs),
    /// Let assistants, schedules and the server run a project's skills
    Trust(commands::trust::TrustArgs),
    /// List and call the tools of this project
    Tools(commands::tools::ToolsArgs),
    /// Serve assistants over the Model Context Protocol
    Mcp(commands::mcp::McpArgs),
    /// Serve runs, questions and skills over HTTP and a socket
    Serve(commands::serve::ServeArgs),
    /// Add, list and remove the people who may use the server
    People(commands::people::PeopleArgs),
    /// Show, add and remove what Aye has learned
    Memory(commands::memory::MemoryArgs),
    /// Print the JSON schema of skill files
    Schema(commands::schema::SchemaArgs),
    /// Print completions for a shell
    Completions(commands::completions::CompletionsArgs),
    /// Print the manual page, or write one for each command
    Man(commands::man::ManArgs),
    /// Be the background process of a run that was started with `--detach`:
    /// nothing that people call, so it is in no help and no completion.
    #[command(skip)]
    Background,
    /// Be the step that writes a change of a skill that a person agreed to.
    #[command(skip)]
    ApplyChange,
}
