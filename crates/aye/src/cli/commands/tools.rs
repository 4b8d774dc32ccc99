//! `aye tools`: lists and calls the tools of a project, and trusts its servers.
//!
//! One file for each subcommand. Touches tool servers and agreements, through the runtime. Lists
//! and results go to standard output, a failed call to the exit code.

mod agree;
mod call;
mod list;

use clap::{Args, Subcommand};

use crate::cli::Context;
use aye_runtime::error::Error;
use aye_runtime::tools::{ToolError, Tools, World};

const EXAMPLES: &str = "\
Examples:
  aye tools list                              list this project's tools
  aye tools trust git                         review a server and trust it
  aye tools call git.git_status -a repo_path=.

Tools are set up in `aye.toml`: `[tools.git]` with `server = [\"uvx\",
\"mcp-server-git\"]` is an MCP server, `[tools.deploy]` with `command =
[\"./deploy\", \"{{ args.environment }}\"]` a command.";

const LIST: &str = "\
Examples:
  aye tools list            all tools of all servers, and all commands
  aye tools list git        only those of one server
  aye tools list --json | jq -r '.servers[].tools[].name'";

const CALL: &str = "\
Examples:
  aye tools call git.git_status -a repo_path=.
  aye tools call time.get_current_time --args '{\"timezone\": \"Europe/Berlin\"}'
  echo '{\"environment\": \"stage\"}' | aye tools call deploy --args -

Exit codes: 0 done, 1 the tool failed, 2 the arguments do not fit, 3 there is
no such tool, 5 declined, 6 nobody can be asked for trust, 124 timed out, 130
interrupted.";

const TRUST: &str = "\
Examples:
  aye tools trust           review every server that is not trusted yet
  aye tools trust git
  aye tools trust git --yes    agree without being asked, for scripts

You trust the command as it is now, in this workspace. If it changes, Aye asks
again.";

const FORGET: &str = "Examples:\n  aye tools forget git    ask again before it starts";

// Options of `aye tools`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ToolsArgs {
    /// What to do
    #[command(subcommand)]
    pub command: ToolsCommand,
}

// What to do with tools.
#[derive(Debug, Subcommand)]
pub enum ToolsCommand {
    /// List the tools of this project
    #[command(after_help = LIST)]
    List {
        /// Only this server's tools
        server: Option<String>,
    },
    /// Call a tool
    #[command(after_help = CALL)]
    Call(CallArgs),
    /// Review what a server would start, and trust it
    #[command(after_help = TRUST)]
    Trust {
        /// Only this server
        server: Option<String>,
        /// Agree without being asked
        #[arg(short, long)]
        yes: bool,
    },
    /// Stop trusting a server
    #[command(after_help = FORGET)]
    Forget {
        /// The server
        server: String,
    },
}

// Options of `aye tools call`.
#[derive(Debug, Args)]
pub struct CallArgs {
    /// `server.tool`, a tool that only one server has, or a command of `aye.toml`
    pub name: String,
    /// Set an argument, NAME=VALUE; converted to the type that the tool expects
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub arg: Vec<String>,
    /// All arguments as one JSON object; `-` reads it from standard input
    #[arg(long, value_name = "JSON")]
    pub args: Option<String>,
    /// How long it may take, such as 30s or 5m [default: as for steps]
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
}

pub(super) fn run(args: &ToolsArgs, context: &Context) -> Result<u8, Error> {
    match &args.command {
        ToolsCommand::List { server } => list::run(server.as_deref(), context),
        ToolsCommand::Call(args) => call::run(args, context),
        ToolsCommand::Trust { server, yes } => agree::run(server.as_deref(), *yes, context),
        ToolsCommand::Forget { server } => agree::forget(server, context),
    }
}

/// Starts servers that were agreed to, and says how many tools each has.
pub(super) fn try_servers(
    names: Vec<String>,
    context: &Context,
) -> Vec<(String, Result<usize, ToolError>)> {
    list::try_servers(names, context)
}

fn tools(context: &Context) -> Tools {
    let world = World {
        workspace: context.directory.clone(),
        environment: context.env.clone(),
        trust: context.trust_file(),
        policy: context.granted().policy.for_run(&context.directory),
        run: None,
        descriptions: None,
    };
    Tools::new(&context.settings.tools, world)
}

/// The error for a server that `aye.toml` does not have.
fn no_server(name: &str, context: &Context) -> Error {
    let known = context.settings.tools.servers.keys().map(String::as_str);
    let near = aye_core::diagnostic::did_you_mean(name, known);
    let hint = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            "`[tools.NAME]` with `server = […]` or `url = …` in `aye.toml` names one".to_owned()
        }
    };
    Error::not_found(format!("there is no server `{name}`"), hint)
}
