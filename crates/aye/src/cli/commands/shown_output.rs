//! `--output`: what is shown of the steps' output.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};

use crate::cli::environment;
use crate::report::OutputMode;

// The option of every command that shows a run.
#[derive(Debug, Clone, Copy, Args)]
pub struct ShownOutput {
    /// Show the output of all steps, of failed ones, or none [default: failed on a terminal]
    #[arg(
        long,
        value_name = "WHICH",
        env = environment::OUTPUT,
        hide_env_values = true,
        hide_possible_values = true,
        value_parser = PossibleValuesParser::new(OutputMode::ALL.map(|(word, _)| word))
            .map(|word| mode(&word))
    )]
    pub output: Option<OutputMode>,
}

/// The mode for a word that is one of them.
fn mode(word: &str) -> OutputMode {
    let known = OutputMode::ALL.into_iter().find(|(known, _)| *known == word);
    known.map_or(OutputMode::Full, |(_, mode)| mode)
}
