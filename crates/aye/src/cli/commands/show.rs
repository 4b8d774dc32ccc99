//! `aye show`.

use std::fmt::Write as _;
use std::time::Duration;

use aye_core::event::{Event, Fact};
use aye_core::journal::{Phase, State, StepStatus};
use clap::Args;
use serde_json::{Value, json};

use crate::cli::Context;
use crate::driver::Outcome;
use crate::error::Error;
use crate::paint::{Glyph, Paint, Tone, duration, inert_line};
use crate::report::summary;
use crate::term;

use super::output::{print, print_json};

/// Options of `aye show`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye show last\n  aye show k3f9 --json")]
pub struct ShowArgs {
    /// A run's id, the beginning of one, or last
    #[arg(default_value = "last")]
    pub run: String,
}

pub(super) fn run(args: &ShowArgs, context: &Context) -> Result<u8, Error> {
    let Some(store) = context.store_to_read()? else { return Err(Context::no_journal()) };
    let row = context.find_run(&store, &args.run)?;
    let events = store.events(&row.id, 0)?;
    let state =
        State::fold(&events).map_err(|error| Error::Journal { run: row.id.to_string(), error })?;
    if context.json {
        print_json(&as_json(&state, &events))?;
    } else {
        print(&render(&state, &events, context.paint_out))?;
    }
    Ok(0)
}

fn as_json(state: &State, events: &[Event]) -> Value {
    json!({
        "run": state.run,
        "skill": state.started.skill,
        "file": state.started.file,
        "status": state.status(),
        "message": state.end_message,
        "inputs": state.started.inputs,
        "environment": state.started.environment,
        "workspace": state.started.workspace,
        "driver": state.started.driver,
        "started": state.started_at,
        "updated": state.updated_at,
        "steps": &*state.steps,
        "outputs": state.results,
        "events": events,
    })
}

fn render(state: &State, events: &[Event], paint: Paint) -> String {
    let mut text = String::new();
    let started = &state.started;
    let dim = |text: &str| paint.text(Tone::Dim, text);
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}  {}",
        paint.text(Tone::Strong, &started.skill),
        dim(&format!(
            "run {} by {} on {} at {}",
            state.run, started.driver.user, started.driver.host, state.started_at
        ))
    );
    for (name, value) in &started.inputs {
        let value = if aye_core::machine::is_secret(value) { "***" } else { &value.to_string() };
        let _ = writeln!(text, "  {} {}", dim(&format!("{name} =")), inert_line(value));
    }
    let widest = state.steps.keys().map(|name| term::width(name)).max().unwrap_or(0).min(32);
    for (name, step) in &*state.steps {
        // Nobody waits for an answer in a run that is over.
        let status = match step.status {
            StepStatus::Waiting if matches!(state.phase, Phase::Ended(_)) => StepStatus::Cancelled,
            status => status,
        };
        let (glyph, tone) = look(status);
        let took = match &step.process {
            Some(process) => duration(Duration::from_millis(process.duration_ms)),
            None => String::new(),
        };
        let mut about = vec![took];
        if step.visits > 1 {
            about.push(format!("visit {}", step.visits));
        }
        if step.attempt > 1 {
            about.push(format!("attempt {}", step.attempt));
        }
        if let Some(process) = &step.process {
            about.extend(process.peak_memory.map(|bytes| format!("{} MB", bytes / 1_000_000)));
            let cpu = process.cpu_ms.filter(|cpu| *cpu >= 100);
            about.extend(cpu.map(|cpu| format!("{} of cpu", duration(Duration::from_millis(cpu)))));
        }
        about.extend(step.message.as_deref().map(inert_line));
        about.retain(|part| !part.is_empty());
        let line = format!(
            "{} {}  {}  {}",
            paint.text(tone, paint.glyph(glyph)),
            term::pad(name, widest),
            paint.text(tone, &term::pad(status.word(), 11)),
            dim(&about.join(", "))
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let decisions: Vec<String> = events.iter().filter_map(|event| decision(event, paint)).collect();
    if !decisions.is_empty() {
        let _ = writeln!(text, "{}", dim("decisions"));
        text.extend(decisions);
    }
    text.push_str(&summary(state, Outcome::of(state), paint));
    text
}

fn decision(event: &Event, paint: Paint) -> Option<String> {
    if let Fact::ConfirmationExpired { question, applied } = &event.fact {
        let taken = applied.as_deref().map_or("no".to_owned(), inert_line);
        let mark = paint.glyph(Glyph::Asking);
        return Some(format!("  {mark} {question} = {taken}: nobody answered in time\n"));
    }
    let Fact::ConfirmationAnswered(answered) = &event.fact else { return None };
    let answer = &answered.answer;
    let value = answer.value.as_str().unwrap_or("***");
    let mut line = format!(
        "  {} {} = {} by {} through {} after {}",
        paint.glyph(Glyph::Asking),
        answered.question,
        inert_line(value),
        inert_line(&answer.by),
        answer.prompter.word(),
        duration(Duration::from_millis(answered.latency_ms)),
    );
    if let Some(reason) = &answer.reason {
        let _ = write!(line, " ({})", inert_line(reason));
    }
    if let Some(why) = &answered.refused {
        let _ = write!(line, ", refused: {}", inert_line(why));
    }
    line.push('\n');
    Some(line)
}

fn look(status: StepStatus) -> (Glyph, Tone) {
    match status {
        StepStatus::Waiting => (Glyph::Asking, Tone::Ask),
        StepStatus::Running => (Glyph::Running, Tone::Ask),
        StepStatus::Completed => (Glyph::Done, Tone::Good),
        StepStatus::Skipped => (Glyph::Skipped, Tone::Dim),
        StepStatus::Failed | StepStatus::TimedOut => (Glyph::Failed, Tone::Bad),
        StepStatus::Cancelled => (Glyph::Failed, Tone::Warn),
        StepStatus::Interrupted | StepStatus::Unknown => (Glyph::Asking, Tone::Warn),
    }
}
