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
        value_parser = PossibleValuesParser::new(OutputMode::ALL.map(OutputMode::word))
            .map(|word| OutputMode::from_word(&word).unwrap_or(OutputMode::Full))
    )]
    pub output: Option<OutputMode>,
}
