//! `aye logs`.

use std::collections::VecDeque;
use std::io::{IsTerminal as _, Write as _};

use aye_core::id::RunId;
use aye_core::nested::Item;
use aye_process::Stream;
use aye_process::lines::Lines;
use clap::Args;
use serde_json::Value;

use crate::cli::Context;
use crate::harmless;
use crate::paint::{Glyph, Tone, escape_control_line};
use crate::report::{Sanitizer, StepSource, output_json, result_json};
use aye_runtime::error::Error;
use aye_runtime::usecases::{LogItem, LogRequest};

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
    /// Follow the output of a running run
    #[arg(short, long)]
    pub follow: bool,
    /// Only the last lines of each step
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub tail: Option<usize>,
}

pub(super) fn run(args: &LogsArgs, context: &Context) -> Result<u8, Error> {
    let journal = context.journal()?;
    let row = journal.find_run(&args.run)?;
    let config = LogFormat {
        json: context.json,
        tail: args.tail,
        clean: [std::io::stdout().is_terminal(), std::io::stderr().is_terminal()],
        colors: [context.paint_out.color, context.paint_err.color],
        bar: context.paint_err.text(Tone::Warn, context.paint_err.glyph(Glyph::ErrorBar)),
    };
    let request = LogRequest { run: &row, step: args.step.as_deref(), follow: args.follow };
    let mut open: Option<Open> = None;
    let mut wrote = false;
    let told = journal.logs(&request, &mut |item| match (item, &mut open) {
        (LogItem::Began { run, path, around, item, step, attempt }, before) => {
            let half = before.as_ref().is_some_and(|before| before.half);
            let named = args.step.is_none() || attempt > 1 || !path.is_empty();
            if named && !context.json {
                // What is written to a pipe keeps its bytes; the heading begins a line.
                let begin = if half { "\n" } else { "" };
                let name = escape_control_line(&format!("{path}{step}"));
                heading(context, &format!("{begin}== {name}"), attempt)?;
            }
            *before = Some(Open {
                path: around.to_vec(),
                item: item.cloned(),
                ..Open::new(run, step, args.tail.is_none())
            });
            Ok(())
        }
        (LogItem::Output(stream, bytes), Some(open)) => {
            wrote = true;
            open.add(stream, bytes, &config)
        }
        (LogItem::Result(value), Some(open)) => {
            wrote = true;
            open.result(value, &config)
        }
        // Of a step that was named, it is said below.
        (LogItem::NotKept, Some(_)) if !context.json && args.step.is_none() => {
            let words = "its output was not kept: `log: false`";
            let text = context.paint_err.text(Tone::Dim, words);
            writeln!(std::io::stderr(), "{text}").map_err(Error::Output)
        }
        (LogItem::Ended, Some(open)) => open.finish(&config),
        (LogItem::CaughtUp, Some(open)) => open.catch_up(&config),
        (LogItem::Idle | LogItem::NotKept, Some(_)) | (_, None) => Ok(()),
    })?;
    if let (0, Some(step)) = (told, &args.step) {
        let known = journal.load(&row, context)?.flow.find(step).is_some();
        let step = escape_control_line(step);
        let message = match known || step.contains(['[', '/']) {
            true => format!("step `{step}` of run `{}` has run no command", row.id),
            false => format!("run `{}` has no step `{step}`", row.id),
        };
        return Err(Error::not_found(message, format!("`aye show {}` lists its steps", row.id)));
    }
    // Silence could also be a mistake.
    if let (1.., Some(step), false, false) = (told, &args.step, wrote, context.json) {
        let words = format!(
            "step `{}` has no log: it wrote nothing, or its output is not kept",
            escape_control_line(step)
        );
        let text = context.paint_err.text(Tone::Dim, &words);
        writeln!(std::io::stderr(), "{text}").map_err(Error::Output)?;
    }
    Ok(0)
}

fn heading(context: &Context, name: &str, attempt: u32) -> Result<(), Error> {
    let again = if attempt > 1 { format!(" (attempt {attempt})") } else { String::new() };
    let text = context.paint_err.text(Tone::Dim, &format!("{name}{again}"));
    let mut err = std::io::stderr();
    writeln!(err, "{text}").map_err(Error::Output)
}

/// How what steps wrote is shown.
struct LogFormat {
    /// As lines of JSON.
    json: bool,
    /// Only so many lines of each step.
    tail: Option<usize>,
    /// Whether standard output and standard error are terminals, which must
    /// not obey what a step wrote.
    clean: [bool; 2],
    colors: [bool; 2],
    /// In front of a line of standard error, on a terminal.
    bar: String,
}

/// The log that is being shown.
struct Open {
    run: RunId,
    /// The runs around it.
    path: Vec<String>,
    /// The item it is about.
    item: Option<Item>,
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
    fn new(run: &RunId, step: &str, caught_up: bool) -> Self {
        Self {
            run: run.clone(),
            path: Vec::new(),
            item: None,
            step: step.to_owned(),
            lines: Default::default(),
            tidy: Default::default(),
            half: false,
            last: VecDeque::new(),
            caught_up,
        }
    }

    fn source(&self) -> StepSource<'_> {
        let Self { run, path, item, step, .. } = self;
        StepSource { run: run.as_str(), path, item: item.as_ref(), step }
    }

    /// Shows what the step wrote: each stream to its own, or lines of JSON.
    fn add(&mut self, stream: Stream, bytes: &[u8], config: &LogFormat) -> Result<(), Error> {
        let at = usize::from(stream == Stream::Stderr);
        if !config.json && !config.clean[at] && config.tail.is_none() {
            self.half = bytes.last().is_some_and(|last| *last != b'\n');
            return write(stream, bytes);
        }
        let mut lines = Vec::new();
        self.lines[at].push(bytes, &mut |line| lines.push(line.to_owned()));
        self.take(stream, lines, config)
    }

    /// Shows what the step gave: text as it is, data as JSON.
    fn result(&mut self, value: &Value, config: &LogFormat) -> Result<(), Error> {
        if config.json {
            let line = result_json(&self.source(), value);
            return write(Stream::Stdout, format!("{line}\n").as_bytes());
        }
        let text = match value {
            Value::String(text) => text.clone(),
            value => harmless::json_pretty(value).unwrap_or_default(),
        };
        self.add(Stream::Stdout, format!("{}\n", text.trim_end()).as_bytes(), config)
    }

    /// Shows the rest, half lines too.
    fn finish(&mut self, config: &LogFormat) -> Result<(), Error> {
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
        config: &LogFormat,
    ) -> Result<(), Error> {
        let (Some(most), false) = (config.tail, self.caught_up) else {
            return self.show(stream, &lines, config);
        };
        self.last.extend(lines.into_iter().map(|line| (stream, line)));
        self.last.drain(..self.last.len().saturating_sub(most));
        Ok(())
    }

    /// Shows the last lines, and from now on what comes.
    fn catch_up(&mut self, config: &LogFormat) -> Result<(), Error> {
        self.caught_up = true;
        for (stream, line) in std::mem::take(&mut self.last) {
            self.show(stream, &[line], config)?;
        }
        Ok(())
    }

    fn show(&mut self, stream: Stream, lines: &[String], config: &LogFormat) -> Result<(), Error> {
        let at = usize::from(stream == Stream::Stderr);
        let mut text = String::new();
        for line in lines {
            text.push_str(&match config.json {
                true => output_json(&self.source(), stream, line),
                false if config.clean[at] && stream == Stream::Stderr => {
                    format!("{} {}", config.bar, self.tidy[at].line(line, config.colors[at]))
                }
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
