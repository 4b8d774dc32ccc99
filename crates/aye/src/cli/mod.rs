//! The command line: one file per verb in `commands/`.
//!
//! `args` has the options of all verbs, `usage` and `suggestions` explain what was typed wrongly,
//! `context` holds what every verb needs. Touches arguments, environment and standard streams;
//! what was typed goes to a verb, and from there to a use case of the runtime.

mod args;
mod candidates;
mod commands;
mod context;
pub mod environment;
mod suggestions;
mod usage;
mod verb_groups;

use std::io::Write as _;

use clap::error::ErrorKind;

pub use args::{Cli, Global};
pub use context::Context;

use crate::harmless::{harmless, json_line};
use crate::paint::{Paint, Tone, escape_control_lines};
use crate::report::fold;
use crate::term;
use aye_runtime::error::Error;

use args::Command;

const VERSION: &str = concat!("aye ", env!("CARGO_PKG_VERSION"), "\n");

/// Runs the program and returns its exit code.
pub fn main() -> u8 {
    aye_process::disable_core_dumps();
    if args::is_worker() {
        return aye_runtime::compute::work();
    }
    aye_runtime::compute::is_aye();
    aye_process::survive_file_size_limit();
    if args::only_version() {
        // As clap says it, without building every verb first.
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(VERSION.as_bytes()).and_then(|()| out.flush());
        return 0;
    }
    if let Some((global, words)) = args::completing() {
        let mut out = std::io::stdout().lock();
        let lines = candidates::lines(global, &words);
        let _ = out.write_all(lines.as_bytes()).and_then(|()| out.flush());
        return 0;
    }
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(found) => {
            if found.kind() == ErrorKind::MissingSubcommand {
                say(&Cli::overview().render_help().to_string());
                return 2;
            }
            let Some(error) = usage::error(&found) else {
                // Help and version are not errors; clap knows where each goes.
                let _ = found.print();
                return u8::try_from(found.exit_code()).unwrap_or(2);
            };
            report_error(&error, usage::wants_json(), context::paint_of_errors());
            return error.exit_code();
        }
    };
    commands::begin(&cli.command);
    // Who started a background process is told in words for programs.
    let in_background = matches!(cli.command, Command::Background);
    let context = Context::new(&cli.global, cli.command.is_of_anywhere());
    let (json, paint) = match &context {
        Ok(context) => (context.json, context.paint_err),
        Err(_) => (cli.global.json, context::paint_of_errors()),
    };
    if let (Ok(context), false) = (&context, in_background) {
        for warning in environment::ignored(&context.env) {
            warn_line(&warning, context);
        }
    }
    match context.and_then(|context| commands::run(cli.command, &context)) {
        Ok(code) => code,
        Err(error) => {
            match in_background {
                true => aye_runtime::usecases::background::refuse(&error),
                false => report_error(&error, json, paint),
            }
            error.exit_code()
        }
    }
}

/// Something that stops nothing, on a line of its own.
fn warn_line(text: &str, context: &Context) {
    say(&format!("{} {text}\n", context.paint_err.text(Tone::Warn, "warning:")));
}

/// One error, printed once: for programs, as one line of JSON.
fn report_error(error: &Error, json: bool, paint: Paint) {
    // Someone closed the pipe: they have seen enough.
    if let Error::Output(source) = error
        && source.kind() == std::io::ErrorKind::BrokenPipe
    {
        return;
    }
    if json {
        let (message, hint) = (error.to_string(), error.hint());
        let line =
            serde_json::json!({ "error": message, "hint": hint, "exit_code": error.exit_code() });
        return say(&format!("{}\n", json_line(&line)));
    }
    let error_line = paint.text(Tone::Bad, "error:");
    let shown = match error {
        // Its lines are those of a diagnostic, which are escaped already.
        Error::Settings(text) => escape_control_lines(text),
        other => indented_lines(&other.to_string()),
    };
    let mut text = format!("{error_line} {shown}\n");
    if let Some(hint) = error.hint() {
        text.push_str(&format!("{} {}\n", paint.text(Tone::Mark, "hint:"), indented_lines(&hint)));
    }
    say(&text);
}

/// Several lines, escaped. Only the first begins in the first column: a name that
/// holds a line feed begins no line that looks like one of ours.
fn indented_lines(text: &str) -> String {
    escape_control_lines(text).replace('\n', "\n  ")
}

/// Writes to standard error, folded on a terminal. Someone may have closed it: that is no reason to
/// stop, let alone to panic.
fn say(text: &str) {
    let mut err = std::io::stderr().lock();
    let text = fold(&harmless(text), term::columns(&err));
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}
