//! `aye tools call`.

use std::io::Read as _;

use aye_core::event::Event;
use aye_core::journal::State;
use aye_core::skill::{StepTimeout, parse_duration};
use aye_process::lines::Lines;
use aye_process::{Signals, Stream};
use serde_json::{Map, Value, json};

use crate::cli::commands::given;
use crate::cli::commands::output::{print_json, print_line};
use crate::cli::{Context, say};
use crate::paint::{escape_control_line, escape_control_lines};
use crate::prompt::{Escape, ScreenReport, SharedScreen, TerminalPrompter};
use crate::report::{Place, Report, Sanitizer, Verbosity};
use aye_runtime::error::Error;
use aye_runtime::report::{Unbuffered, Wants};
use aye_runtime::tools::{Known, Tools};
use aye_runtime::usecases::{CallOutcome, CallRequest, Surface};

use super::agree::{agree, is_agreed, launch};
use super::{CallArgs, tools};

pub(super) fn run(args: &CallArgs, context: &Context) -> Result<u8, Error> {
    let arguments = arguments(args)?;
    let timeout = match &args.timeout {
        None => StepTimeout::Default,
        Some(text) => match parse_duration(text) {
            // 0 is none, as everywhere.
            Ok(limit) if limit.is_zero() => StepTimeout::Unlimited,
            Ok(limit) => StepTimeout::After(limit),
            Err(error) => return Err(Error::usage(error.to_string(), error.hint())),
        },
    };
    let tools = tools(context);
    if let Some(error) = tools.unknown(&args.name) {
        return Err(Error::Tool(error));
    }
    if let Some(code) = agree_first(&args.name, &tools, context)? {
        return Ok(code);
    }
    let is_command = matches!(tools.knows(&args.name), Known::Command);
    let report =
        CallReport { context, is_command, lines: Lines::new(), tidy: Sanitizer::default() };
    let screen = SharedScreen::default();
    let config = context.config(Escape::Declines, true);
    let mut signals = Signals::catch().map_err(Error::Signals)?;
    let request = CallRequest { tool: args.name.clone(), args: arguments, timeout };
    let mut report = ScreenReport::new(Box::new(report), screen.clone());
    let mut prompter = TerminalPrompter::new(config, &context.clock, screen);
    let surface = Surface {
        report: &mut report,
        sink: &Unbuffered,
        prompters: vec![&mut prompter],
        signals: &mut signals,
    };
    match context.call_tool(request, surface)? {
        CallOutcome::Stopped(code) => return Ok(code),
        CallOutcome::Failed(error) => return Err(Error::Tool(error)),
        CallOutcome::Done { value, text, parsed } if context.json => {
            print_json(&json!({ "value": value, "text": text, "parsed": parsed }))?;
        }
        CallOutcome::Done { value: Value::String(text), .. } => {
            print_line(&escape_control_lines(&text))?;
        }
        CallOutcome::Done { value, .. } => print_json(&value)?,
    }
    Ok(0)
}

/// Asks about each server that the call may start; the exit code if it is not to be.
fn agree_first(name: &str, tools: &Tools, context: &Context) -> Result<Option<u8>, Error> {
    let servers: Vec<String> = match tools.knows(name) {
        Known::Server { server, .. } => vec![server],
        Known::Perhaps => context.settings.tools.servers.keys().cloned().collect(),
        Known::Command | Known::BuiltIn | Known::Unknown { .. } => Vec::new(),
    };
    for server in servers {
        let launch = launch(&server, context)?;
        if is_agreed(&launch, context)? {
            continue;
        }
        if let Some(code) = agree(&launch, false, context)?.refusal(5) {
            return Ok(Some(code));
        }
    }
    Ok(None)
}

/// The arguments, those on the command line winning.
fn arguments(args: &CallArgs) -> Result<Map<String, Value>, Error> {
    let mut all = match args.args.as_deref() {
        None => Map::new(),
        Some(text) => {
            let mut read = text.to_owned();
            if text == "-" {
                read.clear();
                std::io::stdin().read_to_string(&mut read).map_err(Error::Input)?;
            }
            serde_json::from_str(&read).map_err(|error| {
                let message = format!("`--args` is not a JSON object: {error}");
                Error::usage(message, "write `--args '{\"name\": \"value\"}'`")
            })?
        }
    };
    for pair in &args.arg {
        let (name, value) = given::split(pair).ok_or_else(|| {
            Error::usage(format!("`{pair}` is not an argument"), "write `-a name=value`")
        })?;
        all.insert(name.to_owned(), Value::String(value.to_owned()));
    }
    Ok(all)
}

/// Says what a server says meanwhile, and shows the errors of a command.
struct CallReport<'c> {
    context: &'c Context,
    /// What a command prints is its result.
    is_command: bool,
    lines: Lines,
    tidy: Sanitizer,
}

impl Report for CallReport<'_> {
    fn event(&mut self, _: Place<'_>, _: &Event, _: &State) {}

    fn output(&mut self, _: usize, stream: Stream, bytes: &[u8]) {
        if self.is_command && stream == Stream::Stdout {
            return;
        }
        let Self { context, lines, tidy, .. } = self;
        let color = context.paint_err.color;
        lines.push(bytes, &mut |line: &str| say(&format!("{}\n", tidy.line(line, color))));
    }

    fn wants(&self) -> Wants {
        let details = self.context.verbosity == Verbosity::Verbose;
        Wants { color: self.context.paint_err.color, details, ..Wants::default() }
    }

    fn step_ends(&mut self, _: usize) {
        let Self { context, lines, tidy, .. } = self;
        let color = context.paint_err.color;
        lines.finish(&mut |line: &str| say(&format!("{}\n", tidy.line(line, color))));
    }

    fn note(&mut self, words: &str) {
        say(&format!("{}\n", escape_control_line(words)));
    }
}
