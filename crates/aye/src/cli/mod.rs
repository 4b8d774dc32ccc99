//! The command line: one file per verb in `commands/`.

mod args;
mod commands;
mod context;

use clap::Parser as _;

pub use args::{Cli, Global};
pub use context::Context;

use crate::error::Error;
use crate::paint::{Tone, inert};

/// Runs the program and returns its exit code.
pub fn main() -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; clap knows where each goes.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let context = match Context::new(&cli.global) {
        Ok(context) => context,
        Err(error) => {
            eprintln!("error: {error}");
            return error.exit_code();
        }
    };
    match commands::run(cli.command, &context) {
        Ok(code) => code,
        Err(error) => {
            report_error(&error, &context);
            error.exit_code()
        }
    }
}

/// One error, printed once.
fn report_error(error: &Error, context: &Context) {
    // Somebody closed the pipe: they have seen enough.
    if let Error::Output(source) = error
        && source.kind() == std::io::ErrorKind::BrokenPipe
    {
        return;
    }
    let paint = context.paint_err;
    let message = inert(&error.to_string());
    eprintln!("{} {message}", paint.text(Tone::Bad, "error:"));
    if let Some(hint) = error.hint() {
        eprintln!("{} {}", paint.text(Tone::Ask, "hint:"), inert(&hint));
    }
}
