//! `aye man`.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _};

use crate::cli::Cli;
use crate::error::Error;

use super::output::print;

// Options of `aye man`.
#[derive(Debug, Args)]
#[command(mut_args = crate::cli::with_twin, after_help = "Examples:\n  aye man | man -l -\n  aye man --out ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Write one page per command into this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

pub(super) fn run(args: &ManArgs) -> Result<u8, Error> {
    let mut command = Cli::command();
    command.build();
    match &args.out {
        None => {
            let mut bytes = Vec::new();
            let page = clap_mangen::Man::new(command);
            page.render(&mut bytes).map_err(Error::Output)?;
            print(&String::from_utf8_lossy(&bytes))?;
        }
        Some(directory) => {
            let failed = |source| Error::File { doing: "write", path: directory.clone(), source };
            std::fs::create_dir_all(directory).map_err(failed)?;
            clap_mangen::generate_to(command, directory).map_err(failed)?;
        }
    }
    Ok(0)
}
