//! `aye mcp`.
//!
//! Starts the server for assistants, or writes it into a client's settings (`install`). Touches
//! that file; the options go to the server in `crate::mcp`.

mod install;

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use serde_json::json;

use crate::cli::{Context, say};
use crate::mcp;
use aye_runtime::error::Error;
use aye_runtime::trust::StartedBy;

use super::output::{print_json, print_json_line, print_line};

const EXAMPLES: &str = "\
Examples:
  aye mcp                         on standard input and output, for assistants
  aye mcp --http 127.0.0.1:8737   over HTTP, on this machine only
  aye mcp token                   the token they need
  aye mcp install claude          add it to `.mcp.json`, for Claude Code";

const INSTALL: &str = "\
Examples:
  aye mcp install claude     .mcp.json
  aye mcp install cursor     .cursor/mcp.json
  aye mcp install vscode     .vscode/mcp.json

Shows the change first, and leaves everything else in the file as it is. Then
it asks whether you trust this project (`aye trust`): without trust,
assistants can start nothing.";

const TOKEN: &str = "\
Examples:
  curl -H \"Authorization: Bearer $(aye mcp token)\" ...

The token is in `AYE_HOME/mcp.token`, which only you can read. Remove the file
to get a new one.";

// Options of `aye mcp`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, subcommand_negates_reqs = true)]
pub struct McpArgs {
    /// Serve over HTTP at this loopback address; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS")]
    pub http: Option<String>,
    /// The project to serve [default: the working directory]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// What to do instead of serving
    #[command(subcommand)]
    pub command: Option<McpCommand>,
}

// What there is besides serving.
#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Print the token that clients need over HTTP
    #[command(after_help = TOKEN)]
    Token,
    /// Add this server to a client's settings in this project
    #[command(after_help = INSTALL)]
    Install(install::InstallArgs),
}

pub(super) fn run(args: &McpArgs, context: &Context) -> Result<u8, Error> {
    let mut context = context.clone();
    if let Some(workspace) = &args.workspace {
        let path = context.directory.join(workspace);
        let directory = path.canonicalize().map_err(Error::file("find", &path))?;
        let directory = directory.to_str().ok_or_else(|| {
            let message = format!("`{}` is not a UTF-8 path", directory.display());
            Error::usage(message, "serve a directory whose path is valid UTF-8")
        })?;
        context = context.at(directory)?;
    }
    let context = &context;
    let served = Arc::new(context.runtime.started_by(StartedBy::Assistant));
    match (&args.command, &args.http) {
        (Some(McpCommand::Token), _) => {
            let (_, token) = mcp::token(context)?;
            if context.json {
                print_json(&json!({ "token": token }))?;
            } else {
                print_line(&token)?;
            }
            Ok(0)
        }
        (Some(McpCommand::Install(args)), _) => install::run(args, context),
        (None, Some(address)) => {
            let (token, _) = mcp::token(context)?;
            mcp::serve_http(served, address, |bound| {
                let url = format!("http://{bound}/mcp");
                match context.json {
                    true => print_json_line(&json!({ "url": url }))?,
                    false => print_line(&url)?,
                }
                say(&format!("clients need the token in {}\n", token.display()));
                Ok(())
            })
        }
        (None, None) => {
            if std::io::stdin().is_terminal() {
                say(
                    "this is for assistants, which start it themselves: `aye mcp install --help`\n",
                );
            }
            mcp::serve_stdio(served)
        }
    }
}
