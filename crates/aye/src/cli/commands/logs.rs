//! `aye logs`.

use std::collections::{HashMap, VecDeque};
use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use aye_core::event::{EventKind, StepStarted};
use aye_core::id::RunId;
use aye_process::lines::Lines;
use aye_process::{LogReader, Stream};
use clap::Args;

use crate::cli::Context;
use crate::paint::{Tone, escape_control_line};
use crate::report::{Sanitizer, output_json};
use aye_runtime::error::Error;

/// How often a followed log is looked at.
const LOOK: Duration = Duration::from_millis(100);

// Options of `aye logs`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye logs last\n  aye logs k3f9 build\n  aye logs last -f\n  \
    aye logs last -n 20")]
pub struct LogsArgs {
    /// A run's id, the beginning of one, or last
    #[arg(default_value = "last")]
    pub run: String,
    /// Only this step
    pub step: Option<String>,
    /// Go on as the run goes on
    #[arg(short, long)]
    pub follow: bool,
    /// Only the last lines of each step
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub tail: Option<usize>,
}

pub(super) fn run(args: &LogsArgs, context: &Context) -> Result<u8, Error> {
    let store = context.journal()?;
    let row = context.find_run(&*store, &args.run)?;
    let mut bell = if args.follow { Some(store.listen()?) } else { None };
    let outer = store.outermost(&row.id)?.map_or_else(|| row.id.clone(), |outer| outer.id);
    let mut paths: HashMap<RunId, String> = HashMap::new();
    let mut shown = 0;
    let mut seq = 0;
    let mut open: Option<Open> = None;
    let config = PromptConfig {
        json: context.json,
        tail: args.tail,
        clean: [std::io::stdout().is_terminal(), std::io::stderr().is_terminal()],
        colors: [context.paint_out.color, context.paint_err.color],
    };
    loop {
        if let Some(bell) = &mut bell {
            bell.drain()?;
        }
        let driven = store.holder(&outer)?.is_some();
        for (number, event) in store.events_within(&row.id, seq)? {
            seq = number;
            if let EventKind::SkillStarted(started) = &event.kind
                && let Some(parent) = &started.parent
            {
                let around = paths.get(&parent.run).cloned().unwrap_or_default();
                paths.insert(event.run.clone(), format!("{around}{}/", parent.label()));
            }
            if let Some(open) = &mut open
                && let Some(step) = ended(&event.kind)
                && (&event.run, step) == (&open.run, open.step.as_str())
            {
                open.finish(&config)?;
            }
            if let EventKind::StepStarted(started) = &event.kind
                && has_log(started)
                && let path = paths.get(&event.run).map_or("", String::as_str)
                && args.step.as_ref().is_none_or(|step| {
                    *step == started.step || *step == format!("{path}{}", started.step)
                })
            {
                let mut half = false;
                if let Some(open) = &mut open {
                    open.finish(&config)?;
                    half = open.half;
                }
                shown += 1;
                let named = args.step.is_none() || started.attempt > 1 || !path.is_empty();
                if named && !context.json {
                    // What is written to a pipe keeps its bytes; the heading begins a line.
                    let before = if half { "\n" } else { "" };
                    let name = escape_control_line(&format!("{path}{}", started.step));
                    heading(context, &format!("{before}== {name}"), started.attempt)?;
                }
                let base = store.log(&event.run, started.execution, &started.step);
                open = Some(Open {
                    reader: LogReader::new(base),
                    run: event.run.clone(),
                    step: started.step.clone(),
                    lines: Default::default(),
                    tidy: Default::default(),
                    half: false,
                    last: VecDeque::new(),
                    caught_up: args.tail.is_none(),
                });
            }
        }
        if let Some(open) = &mut open {
            open.pour(&config)?;
            if args.follow {
                open.catch_up(&config)?;
            }
        }
        let Some(bell) = bell.as_mut().filter(|_| driven) else { break };
        bell.wait(LOOK)?;
    }
    if let Some(open) = &mut open {
        open.finish(&config)?;
    }
    if let (0, Some(step)) = (shown, &args.step) {
        let message = format!("step `{step}` of run `{}` has run no command", row.id);
        return Err(Error::not_found(message, format!("`aye show {}` lists its steps", row.id)));
    }
    Ok(0)
}

/// Whether a step that started may have written something.
pub(crate) fn has_log(started: &StepStarted) -> bool {
    matches!(started.kind.as_str(), "command" | "shell" | "tool" | "compute")
}

/// The step that has ended.
fn ended(kind: &EventKind) -> Option<&str> {
    match kind {
        EventKind::StepCompleted(ended) => Some(&ended.step),
        EventKind::StepFailed(ended) => Some(&ended.step),
        _ => None,
    }
}

fn heading(context: &Context, name: &str, attempt: u32) -> Result<(), Error> {
    let again = if attempt > 1 { format!(" (attempt {attempt})") } else { String::new() };
    let text = context.paint_err.text(Tone::Dim, &format!("{name}{again}"));
    let mut err = std::io::stderr();
    writeln!(err, "{text}").map_err(Error::Output)
}

/// How what steps wrote is shown.
struct PromptConfig {
    /// As lines of JSON.
    json: bool,
    /// Only so many lines of each step.
    tail: Option<usize>,
    /// Whether standard output and standard error are terminals, which must
    /// not obey what a step wrote.
    clean: [bool; 2],
    colors: [bool; 2],
}

/// The log that is being shown.
struct Open {
    reader: LogReader,
    run: RunId,
    step: String,
    /// What is not a line yet.
    lines: [Lines; 2],
    tidy: [Sanitizer; 2],
    /// What was written last is not a whole line.
    half: bool,
    /// The last lines so far, where only they are wanted.
    last: VecDeque<(Stream, String)>,
    /// What comes from now on is shown at once.
    caught_up: bool,
}

impl Open {
    /// Shows what has come since: each stream to its own, or lines of JSON.
    fn pour(&mut self, config: &PromptConfig) -> Result<(), Error> {
        let mut buffer = [0; 64 * 1024];
        loop {
            let read = self.reader.read(&mut buffer).map_err(Error::Log)?;
            let Some((stream, length)) = read else { return Ok(()) };
            let bytes = &buffer[..length];
            let at = usize::from(stream == Stream::Stderr);
            if !config.json && !config.clean[at] && config.tail.is_none() {
                write(stream, bytes)?;
                self.half = bytes.last().is_some_and(|last| *last != b'\n');
                continue;
            }
            let mut lines = Vec::new();
            self.lines[at].push(bytes, &mut |line| lines.push(line.to_owned()));
            self.take(stream, lines, config)?;
        }
    }

    /// Shows the rest, half lines too.
    fn finish(&mut self, config: &PromptConfig) -> Result<(), Error> {
        self.pour(config)?;
        for (at, stream) in [Stream::Stdout, Stream::Stderr].into_iter().enumerate() {
            let mut lines = Vec::new();
            self.lines[at].finish(&mut |line| lines.push(line.to_owned()));
            self.take(stream, lines, config)?;
        }
        self.catch_up(config)
    }

    /// Shows lines, or keeps the last of them until it is known which those are.
    fn take(
        &mut self,
        stream: Stream,
        lines: Vec<String>,
        config: &PromptConfig,
    ) -> Result<(), Error> {
        let (Some(most), false) = (config.tail, self.caught_up) else {
            return self.show(stream, &lines, config);
        };
        self.last.extend(lines.into_iter().map(|line| (stream, line)));
        self.last.drain(..self.last.len().saturating_sub(most));
        Ok(())
    }

    /// Shows the last lines, and from now on what comes.
    fn catch_up(&mut self, config: &PromptConfig) -> Result<(), Error> {
        self.caught_up = true;
        for (stream, line) in std::mem::take(&mut self.last) {
            self.show(stream, &[line], config)?;
        }
        Ok(())
    }

    fn show(
        &mut self,
        stream: Stream,
        lines: &[String],
        config: &PromptConfig,
    ) -> Result<(), Error> {
        let at = usize::from(stream == Stream::Stderr);
        let mut text = String::new();
        for line in lines {
            text.push_str(&match config.json {
                true => output_json(self.run.as_str(), &self.step, stream, line),
                false => self.tidy[at].line(line, config.colors[at]),
            });
            text.push('\n');
        }
        write(if config.json { Stream::Stdout } else { stream }, text.as_bytes())
    }
}

fn write(stream: Stream, bytes: &[u8]) -> Result<(), Error> {
    match stream {
        Stream::Stdout => {
            let mut out = std::io::stdout().lock();
            out.write_all(bytes).and_then(|()| out.flush())
        }
        Stream::Stderr => std::io::stderr().lock().write_all(bytes),
    }
    .map_err(Error::Output)
}
