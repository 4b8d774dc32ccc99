//! `aye serve install`.

use aye_runtime::error::Error;
use clap::Args;
use serde_json::json;

use crate::cli::Context;
use crate::cli::commands::output::{print, print_json};

use super::ListenArgs;

// Options of `aye serve install`.
#[derive(Debug, Args)]
pub struct InstallArgs {
    #[command(flatten)]
    pub place: ListenArgs,
    /// Print the unit and write nothing
    #[arg(long)]
    pub print: bool,
}

pub(super) fn run(args: &InstallArgs, context: &Context) -> Result<u8, Error> {
    let options = args.place.words(&context.directory);
    if args.print {
        print(&context.server_unit(&options)?)?;
        return Ok(0);
    }
    let path = context.install_server(&options)?.display().to_string();
    if context.json {
        print_json(&json!({ "unit": path }))?;
    } else {
        let next = "systemctl --user daemon-reload\nsystemctl --user enable --now aye-serve\n";
        print(&format!("wrote {path}\nstart it with:\n{next}"))?;
    }
    Ok(0)
}
