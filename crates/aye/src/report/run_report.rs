//! A run as `aye show` tells it: every step with what it did, what was done
//! about it, what is inside it, and what was not reached.

use std::fmt::Write as _;
use std::time::Duration;

use aye_core::event::{ProcessRecord, SkillStarted, StartedBy};
use aye_core::id::RunId;
use aye_core::journal::{Phase, State, StepRecord, StepStatus};
use aye_core::secrets::is_secret;
use aye_runtime::clock::local;
use aye_runtime::usecases::{RunHistory, RunStanding};
use jiff::Timestamp;
use serde_json::Value;

use crate::paint::{Glyph, Paint, Tone, duration, escape_control, escape_control_line, plural};
use crate::signs;
use crate::term;
use crate::words::{about_inside, took};

use super::history::{Attempt, Entry, History, Note};
use super::step_line::QUEUED;
use super::timeline::{decisions, ended_words, shown_status};

/// How many lines of a script, of an error or of a change an overview shows.
const FEW: usize = 5;
/// How many earlier attempts an overview shows.
const EARLIER: usize = 10;

/// What a report needs to know that the journal does not say.
#[derive(Clone, Copy)]
pub struct Now<'a> {
    /// The time.
    pub time: Timestamp,
    /// Whether a process drives the run.
    pub driven: bool,
    /// The process that a start of a step is, where it runs.
    pub process: &'a dyn Fn(&RunId, u32) -> Option<i32>,
}

/// A run: its inputs, its steps and its decisions.
pub fn run_report(timeline: &RunHistory, now: Now<'_>, paint: Paint) -> String {
    let mut text = heading(timeline, paint);
    let dim = |text: &str| paint.text(Tone::Dim, text);
    for (name, value) in &timeline.state.started.inputs {
        let value = if is_secret(value) { "***" } else { &value.to_string() };
        let _ = writeln!(text, "  {} {}", dim(&format!("{name} =")), escape_control_line(value));
    }
    steps(timeline, now, 0, paint, &mut text);
    let decided = decisions(timeline);
    if !decided.is_empty() {
        let _ = writeln!(text, "{}", dim("decisions"));
        let mark = paint.glyph(Glyph::Asking);
        for decision in decided {
            let _ = writeln!(text, "  {mark} {}", decision.words());
        }
    }
    text
}

fn heading(timeline: &RunHistory, paint: Paint) -> String {
    let (state, started) = (&timeline.state, &timeline.state.started);
    let who = format!(
        "run {} by {} on {} at {}{}",
        state.run,
        started.driver.user,
        started.driver.host,
        local(state.started_at),
        starter_words(started)
    );
    let skill = paint.text(Tone::Strong, &escape_control_line(&started.skill));
    format!("{skill}  {}\n", paint.text(Tone::Dim, &escape_control_line(&who)))
}

/// Who or what started a run, where that was not the account that drives it at a terminal:
/// `, started by ann through the HTTP API`.
pub(super) fn starter_words(started: &SkillStarted) -> String {
    let person = started.starter.as_deref().filter(|name| *name != started.driver.user);
    match (person, started.started_by.and_then(StartedBy::without_person)) {
        (Some(person), Some(by)) => format!(", started by {person} through {by}"),
        (Some(by), None) | (None, Some(by)) => format!(", started by {by}"),
        (None, None) => String::new(),
    }
}

/// The steps of a run, those of the runs inside them beneath.
fn steps(timeline: &RunHistory, now: Now<'_>, depth: usize, paint: Paint, text: &mut String) {
    let state = &timeline.state;
    let histories = History::of(timeline);
    let indent = "  ".repeat(depth);
    let unreached = timeline.unreached();
    let names = state.steps.keys().map(String::as_str).chain(unreached.iter().copied());
    let widest = names.map(term::width).max().unwrap_or(0).min(32);
    for (name, step) in timeline.steps() {
        let (glyph, tone, word) = standing(state, step, now);
        let mut about = about(state, step, now);
        if state.started.step_list.iter().any(|it| it.finally && it.name == *name) {
            about.insert(0, "finally".to_owned());
        }
        let line = format!(
            "{indent}{} {}  {}  {}",
            paint.text(tone, paint.glyph(glyph)),
            term::pad(name, widest),
            paint.text(tone, &term::pad(word, 11)),
            paint.text(Tone::Dim, &about.join(", "))
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", line.trim_end());
        let history = histories.get(name);
        for line in history.iter().flat_map(|history| beneath(history, step)) {
            let _ = writeln!(text, "{indent}    {}", paint.text(Tone::Dim, &line));
        }
        for inside in timeline.inside_of(name, step) {
            let run = &inside.state.run;
            let parent = inside.state.started.parent.as_ref();
            let label = parent.map(|parent| parent.label()).unwrap_or_default();
            let status = RunStanding::of_events(&inside.state).word().to_owned();
            let about = [status, about_inside(&inside.state), format!("run {run}")];
            let about: Vec<String> = about.into_iter().filter(|part| !part.is_empty()).collect();
            let about = paint.text(Tone::Dim, &about.join(", "));
            let _ = writeln!(text, "{indent}  {}  {about}", escape_control_line(&label));
            steps(inside, now, depth + 2, paint, text);
        }
    }
    let word = unreached_word(state);
    for name in unreached {
        let mark = paint.text(Tone::Dim, paint.glyph(Glyph::Dot));
        let name = term::pad(&escape_control_line(name), widest);
        let _ = writeln!(text, "{indent}{mark} {name}  {}", paint.text(Tone::Dim, word));
    }
}

/// What is said of a step that no run has come to.
pub(super) fn unreached_word(state: &State) -> &'static str {
    match state.phase {
        Phase::Ended(_) => "not reached",
        Phase::Transition(_) | Phase::Running { .. } | Phase::Asking { .. } => "not reached yet",
    }
}

fn standing(state: &State, step: &StepRecord, now: Now<'_>) -> (Glyph, Tone, &'static str) {
    let cut_off = !now.driven && state.is_at_work();
    let said = |(glyph, tone), word| (glyph, tone, word);
    match shown_status(state, step) {
        StepStatus::Running if cut_off => said(signs::of_run(RunStanding::CutOff), "cut off"),
        StepStatus::Running if step.queued => said(signs::QUEUED, "queued"),
        StepStatus::Failed if step.leads_to.is_some() => said(signs::LED, "exited"),
        status => said(signs::of_step(status), status.word()),
    }
}

/// The rest of a step's own line.
fn about(state: &State, step: &StepRecord, now: Now<'_>) -> Vec<String> {
    let mut about: Vec<String> = took(step).map(duration).into_iter().collect();
    about.extend(progress(state, step, now));
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
        about.extend(process.kept.missing().map(str::to_owned));
    }
    let message = step.message.as_ref().or(step.note.as_ref());
    about.extend(message.and_then(|message| message.lines().next()).map(escape_control));
    let target = step.leads_to.as_ref();
    about.extend(target.map(|target| format!("which leads to `{}`", escape_control_line(target))));
    let timed_out = step.status == StepStatus::TimedOut;
    about.extend(step.process.as_ref().filter(|_| timed_out).and_then(ended_words));
    about.extend(step.process.as_ref().and_then(ProcessRecord::left_behind));
    about.retain(|part| !part.is_empty());
    about
}

/// Which process a running step is, how long it has run and how long it may.
fn progress(state: &State, step: &StepRecord, now: Now<'_>) -> Vec<String> {
    if step.status != StepStatus::Running || !now.driven {
        return Vec::new();
    }
    if step.queued {
        return vec![QUEUED.to_owned()];
    }
    let since = |from: Timestamp, to: Timestamp| {
        let ms = to.as_millisecond() - from.as_millisecond();
        duration(Duration::from_millis(u64::try_from(ms).unwrap_or(0)))
    };
    let pid = (now.process)(&state.run, step.execution);
    let mut words: Vec<String> = pid.map(|pid| format!("pid {pid}")).into_iter().collect();
    words.extend(step.started.map(|started| format!("{} so far", since(started, now.time))));
    if let Phase::Running { deadline: Some(deadline), .. } = &state.phase {
        words.push(format!("{} left", since(now.time, *deadline)));
    }
    words
}

/// What an overview tells beneath a step.
fn beneath(history: &History, step: &StepRecord) -> Vec<String> {
    let mut lines = Vec::new();
    let last = history.attempts().last();
    let command = last.and_then(|attempt| attempt.command.as_deref());
    lines.extend(command.map(command_lines).map(|lines| few(lines, "lines")).unwrap_or_default());
    // What stands on the step's own line is the last attempt; these led there, the last of many.
    let count = history.attempts().count();
    let left_out = count.saturating_sub(EARLIER + 1);
    if left_out > 0 {
        lines.push(format!("{} before these", plural(left_out, "attempt")));
    }
    let mut seen = 0;
    for entry in &history.entries {
        match entry {
            Entry::Attempt(attempt) => {
                seen += 1;
                if seen <= left_out || seen == count {
                    continue;
                }
                lines.push(format!("{}: {}", numbered(attempt, history), attempt.words()));
                let other = attempt.command.as_deref().filter(|other| Some(*other) != command);
                let other = other.map(command_lines).map(|lines| few(lines, "lines"));
                lines.extend(other.unwrap_or_default().into_iter().map(|line| format!("  {line}")));
                lines.extend(quoted(attempt.last_lines(2)));
            }
            Entry::Note(note) if !note.asked => lines.extend(note_lines(note)),
            Entry::Note(_) => {}
        }
    }
    let mut message = step.message.iter().chain(&step.note).flat_map(|message| message.lines());
    message.next();
    // Code and a caret below it keep their columns.
    lines.extend(message.map(escape_control));
    let failed = matches!(step.status, StepStatus::Failed | StepStatus::TimedOut);
    let failed = failed && step.leads_to.is_none();
    if let Some(attempt) = last.filter(|_| failed) {
        lines.extend(quoted(attempt.last_lines(FEW)));
    }
    lines.extend(step.hint.as_ref().map(|hint| format!("hint: {}", escape_control_line(hint))));
    let remarks = step.process.iter().flat_map(|process| &process.remarks);
    lines.extend(remarks.map(|remark| escape_control(remark)));
    lines
}

/// `visit 2, attempt 1`, as far as that tells something: a step that the run came to once has
/// attempts only.
fn numbered(attempt: &Attempt, history: &History) -> String {
    let visited_once = history.attempts().all(|one| one.visit <= 1);
    match (attempt.visit, attempt.attempt.max(1)) {
        (_, attempt) if visited_once => format!("attempt {attempt}"),
        (visit, 1) => format!("visit {visit}"),
        (visit, attempt) => format!("visit {visit}, attempt {attempt}"),
    }
}

fn note_lines(note: &Note) -> Vec<String> {
    let mut lines = vec![note.words.clone()];
    lines.extend(few(note.lines.clone(), "lines").into_iter().map(|line| format!("  {line}")));
    lines
}

fn command_lines(command: &str) -> Vec<String> {
    let mut mark = "$ ";
    let line =
        |line: &str| format!("{}{}", std::mem::replace(&mut mark, "  "), escape_control(line));
    command.trim_end().lines().map(line).collect()
}

/// The first of many lines.
fn few(mut lines: Vec<String>, word: &str) -> Vec<String> {
    let more = lines.len().saturating_sub(FEW);
    if more > 0 {
        lines.truncate(FEW);
        lines.push(format!("… {more} more {word}"));
    }
    lines
}

fn quoted(lines: Vec<String>) -> impl Iterator<Item = String> {
    lines.into_iter().map(|line| format!("| {line}"))
}

/// One step in full: every visit and attempt with its command, what was asked
/// and answered, what memory did, what it wrote at last and what it gave.
pub fn step_report(timeline: &RunHistory, name: &str, now: Now<'_>, paint: Paint) -> String {
    let state = &timeline.state;
    let mut text = heading(timeline, paint);
    let Some(step) = state.steps.get(name) else {
        let word = unreached_word(state);
        let _ = writeln!(text, "{} {name}  {word}", paint.glyph(Glyph::Dot));
        return text;
    };
    let (glyph, tone, word) = standing(state, step, now);
    let line = format!(
        "{} {}  {}  {}",
        paint.text(tone, paint.glyph(glyph)),
        paint.text(Tone::Strong, &escape_control_line(name)),
        paint.text(tone, word),
        paint.text(Tone::Dim, &about(state, step, now).join(", "))
    );
    let _ = writeln!(text, "{}", line.trim_end());
    let histories = History::of(timeline);
    let none = History::default();
    let history = histories.get(name).unwrap_or(&none);
    for entry in &history.entries {
        match entry {
            Entry::Note(note) => {
                let _ = writeln!(text, "  {} {}", local(note.at), note.words);
                for line in &note.lines {
                    let _ = writeln!(text, "    {line}");
                }
            }
            Entry::Attempt(attempt) => attempt_text(attempt, history, paint, &mut text),
        }
    }
    for inside in timeline.inside_of(name, step) {
        let parent = inside.state.started.parent.as_ref();
        let label = parent.map(|parent| parent.label()).unwrap_or_default();
        let (label, run) = (escape_control_line(&label), &inside.state.run);
        let word = RunStanding::of_events(&inside.state).word();
        let _ =
            writeln!(text, "  {label}  {word}  {}", paint.text(Tone::Dim, &format!("run {run}")));
        steps(inside, now, 2, paint, &mut text);
    }
    text
}

fn attempt_text(attempt: &Attempt, history: &History, paint: Paint, text: &mut String) {
    let (glyph, tone) = match attempt.is_routed {
        true => signs::LED,
        false => signs::of_step(attempt.status),
    };
    let mark = paint.text(tone, paint.glyph(glyph));
    let numbered = numbered(attempt, history);
    let _ = writeln!(text, "  {} {mark} {numbered}: {}", local(attempt.at), attempt.words());
    let mut lines: Vec<String> = attempt.command.as_deref().map(command_lines).unwrap_or_default();
    if let Some(process) = &attempt.process {
        lines.extend(process_words(process));
    }
    let more = attempt.message.iter().flat_map(|message| message.lines().skip(1));
    lines.extend(more.map(escape_control));
    lines.extend(attempt.hint.as_ref().map(|hint| format!("hint: {}", escape_control_line(hint))));
    if let Some(process) = &attempt.process {
        for (name, said) in [("stdout", &process.stdout), ("stderr", &process.stderr)] {
            if !said.trim().is_empty() {
                lines.push(format!("{name}:"));
                lines.extend(quoted(said.trim_end().lines().map(escape_control).collect()));
            }
        }
        lines.extend(
            (process.dropped > 0).then(|| format!("{} bytes more in the log", process.dropped)),
        );
    } else if !attempt.value.is_null() {
        lines.push("result:".to_owned());
        let shown = match &attempt.value {
            Value::String(text) => text.clone(),
            value => serde_json::to_string_pretty(value).unwrap_or_default(),
        };
        lines.extend(quoted(shown.lines().map(escape_control).collect()));
    }
    for line in lines {
        let _ = writeln!(text, "    {line}");
    }
}

/// How a process ended.
pub(super) fn process_words(process: &ProcessRecord) -> Option<String> {
    let mut words = Vec::new();
    match (&process.signal_name, process.signal, process.exit_code) {
        (Some(name), _, _) => words.push(format!("ended by {name}")),
        (None, Some(signal), _) => words.push(format!("ended by signal {signal}")),
        (None, None, Some(code)) => words.push(format!("exit code {code}")),
        (None, None, None) => {}
    }
    words.extend(process.ended_with.as_ref().map(|signal| format!("Aye ended it with {signal}")));
    words.extend(process.left_behind());
    (!words.is_empty()).then(|| words.join(", "))
}
