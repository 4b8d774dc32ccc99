//! `aye tools call`.

use std::io::{IsTerminal as _, Read as _};
use std::time::{Duration, Instant};

use aye_core::skill::parse_duration;
use aye_process::{Signal, Signals};
use rustix::event::{PollFd, PollFlags, poll};
use serde_json::{Map, Value, json};

use crate::cli::Context;
use crate::cli::commands::output::{print_json, print_line};
use crate::cli::commands::trust::Said;
use crate::paint::{Tone, escape_control_line};
use crate::report::Verbosity;
use aye_runtime::error::Error;
use aye_runtime::tools::{Call, Known, ToolError, ToolEvent, ToolResult, Tools};

use super::agree::{agree, is_agreed, launch};
use super::asked::{Asked, declined};
use super::{CallArgs, command, tools};

/// How long a call may take to notice that it was cancelled.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) fn run(args: &CallArgs, context: &Context) -> Result<u8, Error> {
    let arguments = arguments(args)?;
    let given = match &args.timeout {
        None => None,
        Some(text) => Some(
            parse_duration(text).map_err(|error| Error::usage(error.to_string(), error.hint()))?,
        ),
    };
    let mut tools = tools(context);
    if let Some(error) = tools.unknown(&args.name) {
        return Err(Error::Tool(error));
    }
    // 0 is none, as everywhere.
    let limit = |own: Option<Duration>| match given {
        Some(limit) => (!limit.is_zero()).then_some(limit),
        None => own.or(context.settings.step_timeout),
    };
    if let Some(prepared) = tools.command(&args.name, arguments.clone()) {
        let command = prepared.map_err(Error::Tool)?;
        return command::run(&command, limit(command.timeout), context);
    }
    if let Some(code) = agree_first(&args.name, &tools, context)? {
        return Ok(code);
    }
    let own = args.name.split_once('.').and_then(|(server, _)| {
        context.settings.tools.servers.get(server).and_then(|server| server.timeout)
    });
    let mut asked = Asked::new(&args.name, context);
    if asked.is_possible() {
        tools.let_servers_ask();
    }
    tools.call(Call {
        id: 1,
        name: args.name.clone(),
        args: arguments,
        timeout: limit(own),
        usual: None,
        most: None,
        run: None,
    });
    attend(&mut tools, &mut asked, context)
}

/// Asks about each server that the call may start; the exit code if it is not to be.
fn agree_first(name: &str, tools: &Tools, context: &Context) -> Result<Option<u8>, Error> {
    let servers: Vec<String> = match tools.knows(name) {
        Known::Server { server, .. } => vec![server],
        Known::Perhaps => context.settings.tools.servers.keys().cloned().collect(),
        Known::Command | Known::Unknown { .. } => Vec::new(),
    };
    for server in servers {
        let launch = launch(&server, context)?;
        if is_agreed(&launch, context)? {
            continue;
        }
        match agree(&launch, false, context)? {
            Said::Yes => {}
            Said::No => return Ok(Some(5)),
            Said::Left(code) => return Ok(Some(code)),
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
                let message = format!("`--args` is no JSON object: {error}");
                Error::usage(message, "write `--args '{\"name\": \"value\"}'`")
            })?
        }
    };
    for pair in &args.arg {
        let (name, value) =
            pair.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
                Error::usage(format!("`{pair}` is no argument"), "write `-a name=value`")
            })?;
        all.insert(name.to_owned(), Value::String(value.to_owned()));
    }
    Ok(all)
}

/// Follows a call to its end, or to Ctrl-C.
fn attend(tools: &mut Tools, asked: &mut Asked<'_>, context: &Context) -> Result<u8, Error> {
    let mut signals = Signals::catch().map_err(Error::Signals)?;
    let mut stopped: Option<(u8, Instant)> = None;
    let mut progress = Progress::new(context);
    loop {
        while let Some(event) = tools.next() {
            match event {
                ToolEvent::Asks { ask, form, .. } => {
                    progress.clear();
                    asked.begin(ask, *form, tools);
                }
                ToolEvent::AsksNoMore { ask } => asked.end(ask),
                ToolEvent::Done { result, .. } => {
                    progress.clear();
                    asked.end_all();
                    return match (stopped, result) {
                        (Some((code, _)), Err(_)) => Ok(code),
                        (_, result) => show(result, context),
                    };
                }
                // Whoever is asked is not to look at a bar that moves.
                ToolEvent::Progress { .. } if asked.is_open() => {}
                other => {
                    asked.hide();
                    progress.show(&other);
                }
            }
        }
        while let Some(signal) = signals.next() {
            match signal {
                Signal::Interrupt | Signal::Terminate | Signal::Hangup | Signal::Quit => {
                    let code = u8::try_from(signal.exit_code()).unwrap_or(1);
                    asked.end_all();
                    tools.cancel(1);
                    stopped.get_or_insert((code, Instant::now()));
                }
                Signal::Suspend => {
                    asked.rest();
                    aye_process::suspend(&mut []);
                    asked.redraw();
                }
                Signal::Continue => asked.redraw(),
                Signal::Resize => asked.hide(),
            }
        }
        if let Some((code, since)) = stopped
            && since.elapsed() > PATIENCE
        {
            return Ok(code);
        }
        if asked.is_open() {
            let mut wake = vec![signals.fd()];
            wake.extend(tools.fd());
            asked.ask(&wake, tools);
            continue;
        }
        let soon = rustix::event::Timespec { tv_sec: 1, tv_nsec: 0 };
        let signal = signals.fd();
        let mut ready = vec![PollFd::new(&signal, PollFlags::IN)];
        let fd = tools.fd();
        ready.extend(fd.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        // An interruption only means that we look again sooner.
        let _ = poll(&mut ready, Some(&soon));
    }
}

/// Prints what a tool gave.
pub(super) fn show(result: Result<ToolResult, ToolError>, context: &Context) -> Result<u8, Error> {
    let result = result.map_err(Error::Tool)?;
    if context.json {
        print_json(&json!({
            "value": result.value, "text": result.text, "parsed": result.parsed,
        }))?;
        return Ok(0);
    }
    match &result.value {
        Value::String(text) => print_line(&crate::paint::escape_control_lines(text))?,
        data => print_json(data)?,
    }
    Ok(0)
}

/// What is said while a call goes on.
struct Progress<'c> {
    context: &'c Context,
    moving: bool,
    shown: bool,
}

impl<'c> Progress<'c> {
    fn new(context: &'c Context) -> Self {
        let moving = !context.json
            && !context.plain
            && context.verbosity == Verbosity::Normal
            && std::io::stderr().is_terminal();
        Self { context, moving, shown: false }
    }

    fn show(&mut self, event: &ToolEvent) {
        let verbose = self.context.verbosity == Verbosity::Verbose;
        match event {
            ToolEvent::Progress { text, fraction, .. } => {
                let share = fraction.map(|part| format!("{:>3.0}% ", part * 100.0));
                let line = format!("{}{}", share.unwrap_or_default(), escape_control_line(text));
                let line = crate::term::cut(&line, 78);
                if self.moving {
                    let line = self.context.paint_err.text(Tone::Dim, &line);
                    crate::cli::redraw(&line);
                    self.shown = true;
                } else if verbose {
                    crate::cli::say(&format!("{line}\n"));
                }
            }
            ToolEvent::Log { server, line } if verbose => {
                crate::cli::say(&format!("{server}: {}\n", escape_control_line(line)));
            }
            ToolEvent::Started { server, protocol } if verbose => {
                crate::cli::say(&format!("{server} started, protocol {protocol}\n"));
            }
            ToolEvent::Restarted { server, why } => {
                self.clear();
                crate::cli::say(&format!(
                    "{server} was started again: {}\n",
                    escape_control_line(why)
                ));
            }
            ToolEvent::Declined { server, why } => {
                self.clear();
                declined(server, why);
            }
            ToolEvent::Log { .. }
            | ToolEvent::Asks { .. }
            | ToolEvent::AsksNoMore { .. }
            | ToolEvent::Started { .. }
            | ToolEvent::Listed { .. }
            | ToolEvent::Done { .. } => {}
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            crate::cli::redraw("");
        }
    }
}
