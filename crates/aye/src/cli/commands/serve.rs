//! `aye serve`.

use std::sync::Arc;

use aye_runtime::error::Error;
use aye_runtime::trust::StartedBy;
use clap::{Args, Subcommand};
use serde_json::json;

use crate::cli::{Context, say};
use crate::{mcp, serve};

use super::output::{print_json_line, print_line};

mod install;
mod open;

const EXAMPLES: &str = "\
Examples:
  aye serve                          at 127.0.0.1:8740; the first line is the address
  aye serve --listen 127.0.0.1:0     at a free port
  aye serve open                     open the page of the running server, signed in
  aye serve install                  keep it running: a systemd user unit

Programs of this user find address and token in `AYE_HOME/serve.json`:
  curl -H \"Authorization: Bearer $(jq -r .token serve.json)\" $(jq -r .url serve.json)/api/v1/runs";

/// Where it listens unless someone says.
pub(super) const ADDRESS: &str = "127.0.0.1:8740";

// Options of `aye serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, subcommand_negates_reqs = true)]
pub struct ServeArgs {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = ADDRESS)]
    pub listen: String,
    /// Another name under which clients reach it, such as that of a proxy
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// What to do instead of serving
    #[command(subcommand)]
    pub command: Option<ServeCommand>,
}

// What there is besides serving.
#[derive(Debug, Subcommand)]
pub enum ServeCommand {
    /// Open the page of the running server, signed in
    #[command(
        after_help = "Examples:\n  aye serve open\n  aye serve open --print    only say where the file is"
    )]
    Open(open::OpenArgs),
    /// Write a systemd user unit that keeps the server running
    #[command(
        after_help = "Examples:\n  aye serve install\n  systemctl --user enable --now aye-serve"
    )]
    Install(install::InstallArgs),
}

pub(super) fn run(args: &ServeArgs, context: &Context) -> Result<u8, Error> {
    match &args.command {
        Some(ServeCommand::Open(args)) => return open::run(args, context),
        Some(ServeCommand::Install(args)) => return install::run(args, context),
        None => {}
    }
    let served = Arc::new(context.runtime.started_by(StartedBy::Server));
    // What drivers could not tell, and what is due later.
    let _messages = served.deliver_messages();
    let assistants = Arc::new(context.runtime.started_by(StartedBy::Assistant));
    let options = serve::Options {
        listen: args.listen.clone(),
        remote: false,
        hosts: args.host.clone(),
        mcp: Some(mcp::router(assistants)?),
    };
    serve::serve(served, options, |url| {
        match context.json {
            true => print_json_line(&json!({ "url": url, "pid": std::process::id() }))?,
            false => print_line(url)?,
        }
        say("`aye serve open` opens the page; Ctrl-C stops the server and no run\n");
        Ok(())
    })
}
