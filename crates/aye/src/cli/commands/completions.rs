//! `aye completions`.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::error::Error;

use super::output::print;

// Options of `aye completions`.
#[derive(Debug, Args)]
#[command(
    mut_args = crate::cli::with_twin,
    after_help = "Examples:\n  aye completions bash > ~/.local/share/bash-completion/completions/aye\n  \
    aye completions zsh > ~/.zfunc/_aye\n  aye completions fish > ~/.config/fish/completions/aye.fish"
)]
pub struct CompletionsArgs {
    /// Which shell
    pub shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs) -> Result<u8, Error> {
    let mut bytes = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "aye", &mut bytes);
    print(&String::from_utf8_lossy(&bytes))?;
    Ok(0)
}
