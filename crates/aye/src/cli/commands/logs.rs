//! `aye logs`.

use std::collections::HashMap;
use std::io::Write as _;
use std::time::Duration;

use aye_core::event::{Fact, StepStarted};
use aye_core::id::RunId;
use aye_process::{LogReader, Stream};
use clap::Args;
use clap::builder::FalseyValueParser;

use crate::cli::Context;
use crate::error::Error;
use crate::paint::Tone;
use crate::store::{Listener, RunLock, Store};

/// How often a followed log is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Options of `aye logs`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye logs last\n  aye logs k3f9 build\n  aye logs last -f")]
pub struct LogsArgs {
    /// A run's id, the beginning of one, or last
    #[arg(default_value = "last")]
    pub run: String,
    /// Only this step
    pub step: Option<String>,
    /// Go on as the run goes on
    #[arg(
        short,
        long,
        env = "AYE_FOLLOW",
        hide_env_values = true,
        value_parser = FalseyValueParser::new()
    )]
    pub follow: bool,
}

pub(super) fn run(args: &LogsArgs, context: &Context) -> Result<u8, Error> {
    let Some(store) = context.store_to_read()? else { return Err(Context::no_journal()) };
    let row = context.find_run(&store, &args.run)?;
    let mut bell = if args.follow { Some(store.listen()?) } else { None };
    let outer = store.outermost(&row.id)?.map_or_else(|| row.id.clone(), |outer| outer.id);
    let mut paths: HashMap<RunId, String> = HashMap::new();
    let mut shown = 0;
    let mut seq = 0;
    let mut open: Option<LogReader> = None;
    loop {
        if let Some(bell) = &mut bell {
            bell.drain().map_err(|source| listening(&store, source))?;
        }
        let driven = RunLock::holder(store.home(), &outer)?.is_some();
        for (number, event) in store.events_within(&row.id, seq)? {
            seq = number;
            if let Fact::SkillStarted(started) = &event.fact
                && let Some(parent) = &started.parent
            {
                let around = paths.get(&parent.run).cloned().unwrap_or_default();
                paths.insert(event.run.clone(), format!("{around}{}/", parent.label()));
            }
            if let Fact::StepStarted(started) = &event.fact
                && has_log(started)
                && let path = paths.get(&event.run).map_or("", String::as_str)
                && args.step.as_ref().is_none_or(|step| {
                    *step == started.step || *step == format!("{path}{}", started.step)
                })
            {
                pour(open.as_mut())?;
                shown += 1;
                if args.step.is_none() || started.attempt > 1 || !path.is_empty() {
                    heading(context, &format!("{path}{}", started.step), started.attempt)?;
                }
                let base = store.home().log(&event.run, started.execution, &started.step);
                open = Some(LogReader::new(base));
            }
        }
        pour(open.as_mut())?;
        let Some(bell) = bell.as_mut().filter(|_| driven) else { break };
        wait(&store, bell)?;
    }
    if let (0, Some(step)) = (shown, &args.step) {
        let message = format!("step `{step}` of run `{}` has run no command", row.id);
        return Err(Error::not_found(message, format!("`aye show {}` lists its steps", row.id)));
    }
    Ok(0)
}

/// Whether a step that started may have written something.
pub(super) fn has_log(started: &StepStarted) -> bool {
    matches!(started.kind.as_str(), "command" | "shell" | "tool" | "compute")
}

fn heading(context: &Context, step: &str, attempt: u32) -> Result<(), Error> {
    let again = if attempt > 1 { format!(" (attempt {attempt})") } else { String::new() };
    let text = context.paint_err.text(Tone::Dim, &format!("== {step}{again}"));
    let mut err = std::io::stderr();
    writeln!(err, "{text}").map_err(Error::Output)
}

/// Shows what has come since: each stream to its own.
fn pour(reader: Option<&mut LogReader>) -> Result<(), Error> {
    let Some(reader) = reader else { return Ok(()) };
    let mut buffer = [0; 64 * 1024];
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr().lock());
    loop {
        let read = reader.read(&mut buffer).map_err(|source| Error::File {
            doing: "read",
            path: "log".into(),
            source,
        })?;
        let Some((stream, length)) = read else { break };
        match stream {
            Stream::Stdout => out.write_all(&buffer[..length]),
            Stream::Stderr => err.write_all(&buffer[..length]),
        }
        .map_err(Error::Output)?;
    }
    out.flush().map_err(Error::Output)
}

fn wait(store: &Store, bell: &mut Listener) -> Result<(), Error> {
    bell.wait(LOOK).map(|_| ()).map_err(|source| listening(store, source))
}

fn listening(store: &Store, source: std::io::Error) -> Error {
    Error::File { doing: "listen to", path: store.home().bell(), source }
}
