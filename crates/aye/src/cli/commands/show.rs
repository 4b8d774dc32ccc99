//! `aye show`.

use std::fmt::Write as _;
use std::time::Duration;

use aye_core::event::ProcessRecord;
use aye_core::journal::{Status, StepStatus};
use clap::Args;
use serde_json::{Value, json};

use crate::cli::Context;
use crate::paint::{Glyph, Paint, Tone, duration, escape_control, escape_control_line, plural};
use crate::report::{
    Around, QUEUED, about_inside, decisions, markdown, shown_status, standing, stopped_inside, took,
};
use crate::term;
use aye_runtime::clock::local;
use aye_runtime::error::Error;
use aye_runtime::usecases::{RunDetails, RunHistory};

use super::output::{print, print_json, print_words};

// Options of `aye show`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye show last\n  aye show k3f9 --json\n  \
    aye show last --markdown > report.md")]
pub struct ShowArgs {
    /// A run's id, the beginning of one, or last
    #[arg(default_value = "last")]
    pub run: String,
    /// As Markdown, for a ticket or a chat
    #[arg(long)]
    pub markdown: bool,
}

pub(super) fn run(args: &ShowArgs, context: &Context) -> Result<u8, Error> {
    let RunDetails { history, outer, driven, waiting } = context.journal()?.details(&args.run)?;
    let around = Around { outer: &outer, driven, waiting, inside: stopped_inside(&history) };
    if context.json {
        let mut value = as_json(&history);
        value["driven"] = driven.into();
        print_json(&value)?;
    } else if args.markdown {
        print(&markdown(&history))?;
    } else {
        let text = render(&history, driven, context.paint_out);
        print_words(&(text + &standing(&history.state, around, context.paint_out)))?;
    }
    Ok(0)
}

fn as_json(history: &RunHistory) -> Value {
    let RunHistory { state, events, inside } = history;
    let inside: Vec<Value> = inside.iter().map(as_json).collect();
    let mut value = json!({
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
        "decisions": decisions(history),
        "events": events,
    });
    if let (Some(map), false) = (value.as_object_mut(), inside.is_empty()) {
        map.insert("runs".to_owned(), Value::Array(inside));
    }
    value
}

fn render(history: &RunHistory, driven: bool, paint: Paint) -> String {
    let mut text = String::new();
    let state = &history.state;
    let started = &state.started;
    let dim = |text: &str| paint.text(Tone::Dim, text);
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}  {}",
        paint.text(Tone::Strong, &started.skill),
        dim(&format!(
            "run {} by {} on {} at {}",
            state.run,
            started.driver.user,
            started.driver.host,
            local(state.started_at)
        ))
    );
    for (name, value) in &started.inputs {
        let value = if aye_core::secrets::is_secret(value) { "***" } else { &value.to_string() };
        let _ = writeln!(text, "  {} {}", dim(&format!("{name} =")), escape_control_line(value));
    }
    steps(history, driven, 0, paint, &mut text);
    let decisions = decisions(history);
    if !decisions.is_empty() {
        let _ = writeln!(text, "{}", dim("decisions"));
        let mark = paint.glyph(Glyph::Asking);
        for decision in decisions {
            let _ = writeln!(text, "  {mark} {}", decision.words());
        }
    }
    text
}

/// The steps of a run, those of the runs inside them beneath.
fn steps(history: &RunHistory, driven: bool, depth: usize, paint: Paint, text: &mut String) {
    let state = &history.state;
    let indent = "  ".repeat(depth);
    let widest = state.steps.keys().map(|name| term::width(name)).max().unwrap_or(0).min(32);
    for (name, step) in &*state.steps {
        let status = shown_status(state, step);
        let cut_off = !driven && state.status() == Status::Running;
        let (glyph, tone, word) = match status {
            StepStatus::Running if cut_off => (Glyph::Asking, Tone::Warn, "cut off"),
            StepStatus::Running if step.queued => (Glyph::Paused, Tone::Dim, "queued"),
            status => {
                let (glyph, tone) = look(status);
                (glyph, tone, status.word())
            }
        };
        let mut about: Vec<String> = took(step).map(duration).into_iter().collect();
        if step.queued && !cut_off {
            about.push(QUEUED.to_owned());
        }
        if !step.items.is_empty() {
            about.push(plural(step.items.len(), "item"));
        }
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
        let left = step.process.as_ref().and_then(ProcessRecord::left_behind);
        let mut message =
            step.message.iter().flat_map(|message| message.lines()).map(escape_control);
        about.extend(message.next());
        about.extend(left);
        about.retain(|part| !part.is_empty());
        let line = format!(
            "{indent}{} {}  {}  {}",
            paint.text(tone, paint.glyph(glyph)),
            term::pad(name, widest),
            paint.text(tone, &term::pad(word, 11)),
            paint.text(Tone::Dim, &about.join(", "))
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", line.trim_end());
        // Code and a caret below it keep their columns.
        let remarks = step.process.iter().flat_map(|process| &process.remarks);
        for more in message.chain(remarks.map(|remark| escape_control(remark))) {
            let _ = writeln!(text, "{indent}    {}", paint.text(Tone::Dim, &more));
        }
        for inside in history.inside_of(name, step) {
            let run = &inside.state.run;
            let parent = inside.state.started.parent.as_ref();
            let label = parent.map(|parent| parent.label()).unwrap_or_default();
            let about = format!("{}, run {run}", about_inside(&inside.state));
            let about = paint.text(Tone::Dim, &about);
            let _ = writeln!(text, "{indent}  {}  {about}", escape_control_line(&label));
            steps(inside, driven, depth + 2, paint, text);
        }
    }
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
