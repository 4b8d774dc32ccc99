//! `aye mcp`.

use clap::Args;

use crate::cli::Context;
use crate::error::Error;
use crate::mcp;

use super::assist;

const EXAMPLES: &str = "\
Examples:
  aye mcp                    what an assistant starts; speaks the protocol on its streams";

/// Options of `aye mcp`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct McpArgs {}

pub(super) fn run(_args: &McpArgs, context: &Context) -> Result<u8, Error> {
    mcp::serve_stdio(assist::quiet(context.clone()))
}
