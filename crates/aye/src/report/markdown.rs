//! A run as Markdown, for a ticket, a chat or a page.

use std::collections::HashMap;
use std::fmt::Write as _;

use aye_core::event::ProcessRecord;
use aye_core::journal::{StepRecord, StepStatus};
use aye_core::secrets::is_secret;
use aye_core::value::as_text;
use jiff::Timestamp;
use serde_json::Value;

use crate::paint::{duration, escape_control_line};
use crate::words::took;
use aye_runtime::usecases::{RunHistory, RunStanding};

use super::history::{Entry, History};
use super::run_report::{starter_words, unreached_word};
use super::timeline::{decisions, ended_words, ran_for, shown_status};

/// How many of the last lines of a failure are quoted.
const LAST: usize = 10;

/// What happened: result, inputs, steps with times and what each did, decisions, what was left
/// out or not reached.
pub fn markdown(history: &RunHistory, now: Option<Timestamp>) -> String {
    let state = &history.state;
    let started = &state.started;
    let mut text = String::new();
    let took = duration(ran_for(history, now));
    // Writing to a string cannot fail.
    let _ =
        writeln!(text, "# {}: {}\n", words(&started.skill), RunStanding::of_events(state).word());
    let _ = writeln!(
        text,
        "Run `{}` by {} on {}, {}, {took}{}.",
        state.run,
        words(&started.driver.user),
        words(&started.driver.host),
        state.started_at,
        words(&starter_words(started))
    );
    if let Some(end) = &state.final_state {
        let _ = writeln!(text, "\nFinal state: {}.", words(end));
    }
    if let Some(message) = &state.end_message {
        let (first, more) = message.split_once('\n').unwrap_or((message, ""));
        let _ = writeln!(text, "\n> {}", words(first));
        if !more.is_empty() {
            let _ = writeln!(text, "\n{}", block(&Value::from(more)));
        }
    }
    if !state.results.is_empty() {
        text.push_str("\n## Outputs\n");
        for (name, value) in &state.results {
            let _ = writeln!(text, "\n**{}**\n\n{}", words(name), block(value));
        }
    }
    if !started.inputs.is_empty() {
        text.push_str("\n## Inputs\n\n| input | value |\n|---|---|\n");
        for (name, value) in &started.inputs {
            let value = if is_secret(value) { "***".to_owned() } else { as_text(value) };
            let _ = writeln!(text, "| {} | {} |", words(name), cell(&value));
        }
    }
    text.push_str("\n## Steps\n\n| step | status | took | |\n|---|---|---|---|\n");
    rows(history, "", &mut text);
    let mut told = String::new();
    details(history, "", &mut told);
    if !told.is_empty() {
        let _ = write!(text, "\n## Details\n{told}");
    }
    let decided = decisions(history);
    if !decided.is_empty() {
        text.push_str("\n## Decisions\n\n");
        for decision in decided {
            let _ = writeln!(text, "- {}", words(&decision.words()));
        }
    }
    text
}

/// One step of a run as Markdown, in full.
pub fn step_markdown(history: &RunHistory, step: &str) -> String {
    let state = &history.state;
    let mut text = format!(
        "# {}: {}\n\nA step of run `{}`.\n\n| step | status | took | |\n|---|---|---|---|\n",
        words(&state.started.skill),
        words(step),
        state.run
    );
    let Some((name, record)) = state.steps.get_key_value(step) else {
        let word = unreached_word(state);
        let _ = writeln!(text, "| {} | {word} | | |", cell(step));
        return text;
    };
    row(history, name, record, "", &mut text);
    let mut told = String::new();
    details_of(history, name, record, &History::of(history), "", &mut told);
    if !told.is_empty() {
        let _ = write!(text, "\n## Details\n{told}");
    }
    let said = record.process.as_ref().map_or("", ProcessRecord::said).trim_end();
    if !said.is_empty() {
        let _ = writeln!(text, "\n## The end of its output\n\n{}", fenced("text", said));
    }
    let decided: Vec<String> = (decisions(history).iter())
        .filter(|decision| decision.step == step)
        .map(|decision| format!("- {}\n", words(&decision.words())))
        .collect();
    if !decided.is_empty() {
        let _ = write!(text, "\n## Decisions\n\n{}", decided.concat());
    }
    text
}

fn rows(history: &RunHistory, path: &str, text: &mut String) {
    for (name, step) in history.steps() {
        row(history, name, step, path, text);
    }
    let word = unreached_word(&history.state);
    for name in history.unreached() {
        let _ = writeln!(text, "| {}{} | {word} | | |", cell(path), cell(name));
    }
}

/// A step, and the steps of the runs inside it.
fn row(history: &RunHistory, name: &str, step: &StepRecord, path: &str, text: &mut String) {
    let status = shown_status(&history.state, step);
    let mark = match status {
        StepStatus::Completed => "✓",
        StepStatus::Skipped => "–",
        StepStatus::Waiting | StepStatus::Running => "…",
        StepStatus::Unknown | StepStatus::Interrupted => "?",
        StepStatus::Failed | StepStatus::TimedOut | StepStatus::Cancelled => "✗",
    };
    let took = took(step).map(duration).unwrap_or_default();
    let mut about = Vec::new();
    if step.attempt > 1 {
        about.push(format!("attempt {}", step.attempt));
    }
    if step.visits > 1 {
        about.push(format!("visit {}", step.visits));
    }
    about.extend(step.message.clone().or_else(|| step.note.clone()));
    let timed_out = step.status == StepStatus::TimedOut;
    about.extend(step.process.as_ref().filter(|_| timed_out).and_then(ended_words));
    about.extend(step.process.as_ref().and_then(ProcessRecord::left_behind));
    let _ = writeln!(
        text,
        "| {}{} | {mark} {} | {took} | {} |",
        cell(path),
        cell(name),
        status.word(),
        cell(&about.join(", "))
    );
    for inside in history.inside_of(name, step) {
        let parent = inside.state.started.parent.as_ref();
        let label = parent.map(|parent| parent.label()).unwrap_or_default();
        rows(inside, &format!("{path}{label}/"), text);
    }
}

/// What each step did, what was done about it, and what it wrote at last.
fn details(history: &RunHistory, path: &str, text: &mut String) {
    let histories = History::of(history);
    for (name, step) in history.steps() {
        details_of(history, name, step, &histories, path, text);
    }
}

fn details_of(
    history: &RunHistory,
    name: &str,
    step: &StepRecord,
    histories: &HashMap<String, History>,
    path: &str,
    text: &mut String,
) {
    let lines: Vec<String> = histories.get(name).map(told).unwrap_or_default();
    if !lines.is_empty() {
        let _ = writeln!(text, "\n### {}{}\n", words(path), words(name));
        lines.iter().for_each(|line| text.push_str(&format!("{line}\n")));
    }
    for inside in history.inside_of(name, step) {
        let parent = inside.state.started.parent.as_ref();
        let label = parent.map(|parent| parent.label()).unwrap_or_default();
        details(inside, &format!("{path}{label}/"), text);
    }
}

fn told(history: &History) -> Vec<String> {
    let mut lines = Vec::new();
    let several = history.attempts().count() > 1;
    let mut before: Option<&str> = None;
    for entry in &history.entries {
        match entry {
            Entry::Attempt(attempt) => {
                let command = attempt.command.as_deref().filter(|command| Some(*command) != before);
                before = attempt.command.as_deref();
                lines.extend(command.map(|command| fenced("sh", command)));
                if several {
                    let which =
                        format!("visit {}, attempt {}", attempt.visit, attempt.attempt.max(1));
                    lines.push(format!("- {which}: {}", words(&attempt.words())));
                }
                let failed = matches!(attempt.status, StepStatus::Failed | StepStatus::TimedOut);
                let said = attempt.last_lines(LAST);
                if failed && !attempt.is_routed && !said.is_empty() {
                    lines.push(format!("\n{}\n", fenced("text", &said.join("\n"))));
                }
            }
            Entry::Note(note) if note.asked => {}
            Entry::Note(note) => {
                lines.push(format!("- {}", words(&note.words)));
                if !note.lines.is_empty() {
                    lines.push(format!("\n{}\n", fenced("diff", &note.lines.join("\n"))));
                }
            }
        }
    }
    lines
}

/// A value as a block: text as it is, data as JSON. A fence in it cannot end ours.
fn block(value: &Value) -> String {
    let (kind, text) = match value {
        Value::String(text) => ("text", text.clone()),
        value => ("json", serde_json::to_string_pretty(value).unwrap_or_default()),
    };
    fenced(kind, &text)
}

fn fenced(kind: &str, text: &str) -> String {
    let text: Vec<String> = text.lines().map(escape_control_line).collect();
    let longest = text.iter().map(|line| line.chars().take_while(|c| *c == '`').count()).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    format!("{fence}{kind}\n{}\n{fence}", text.join("\n"))
}

/// Text that is only text: nothing in it is Markdown or HTML.
fn words(text: &str) -> String {
    let mut shown = String::new();
    for c in escape_control_line(text).chars() {
        if "\\`*_{}[]<>#|~&!".contains(c) {
            shown.push('\\');
        }
        shown.push(c);
    }
    shown
}

/// The same in one cell of a table, not longer than anyone would read there;
/// a table has no lines of its own.
fn cell(text: &str) -> String {
    const MOST: usize = 200;
    let mut cut: String = text.chars().take(MOST).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    let lines: Vec<String> = cut.lines().map(|line| words(line.trim())).collect();
    lines.join("<br>")
}
