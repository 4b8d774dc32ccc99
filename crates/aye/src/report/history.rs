//! Every visit and every attempt of the steps of a run, from its events.

use std::collections::HashMap;
use std::time::Duration;

use aye_core::event::{
    Event, EventKind, HealTriggered, MemoryKind, ProcessRecord, Remembered, RetryReason,
    StepStarted,
};
use aye_core::fix::FixPlan;
use aye_core::journal::{State, StepStatus};
use aye_core::question::{Edits, Question};
use aye_core::text::diff;
use aye_runtime::usecases::RunHistory;
use serde_json::Value;

use crate::paint::{duration, escape_control, escape_control_line};
use crate::prompt::view::covered_whole;
use crate::words::took;

use super::step_line::WITHDRAWN;
use super::timeline::{answer_words, ended_words, latency};

/// What happened at one step, in the order of time.
#[derive(Debug, Default)]
pub(super) struct History {
    /// Starts of the step, and what was said, asked and done about it between them.
    pub(super) entries: Vec<Entry>,
}

/// One thing that happened at a step.
#[derive(Debug)]
pub(super) enum Entry {
    /// It was started, or left out.
    Attempt(Box<Attempt>),
    /// What Aye, memory or a person did about it: a sentence, and lines beneath it.
    Note(Note),
}

/// What was done about a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Note {
    /// When, in milliseconds since 1970.
    pub(super) at: jiff::Timestamp,
    /// In one line.
    pub(super) words: String,
    /// What changed, as a diff, or what was asked.
    pub(super) lines: Vec<String>,
    /// It is a question or its answer, which the decisions of the run tell too.
    pub(super) asked: bool,
    /// It says that the next attempt is given something else.
    changes: bool,
}

/// One start of a step.
#[derive(Debug)]
pub(super) struct Attempt {
    /// Which visit to the step, from 1.
    pub(super) visit: u32,
    /// Which attempt in that visit, from 1; 0 if it was never started.
    pub(super) attempt: u32,
    /// Which start in the run; 0 if it was never started.
    pub(super) execution: u32,
    /// When it began, or was left out.
    pub(super) at: jiff::Timestamp,
    /// How it stands.
    pub(super) status: StepStatus,
    /// Its exit code has told the way: nothing went wrong.
    pub(super) is_routed: bool,
    /// The resolved command.
    pub(super) command: Option<String>,
    /// How long it took.
    pub(super) took: Option<Duration>,
    /// What went wrong, or why it was left out.
    pub(super) message: Option<String>,
    /// What to do about that.
    pub(super) hint: Option<String>,
    /// What its process left behind.
    pub(super) process: Option<ProcessRecord>,
    /// Its result.
    pub(super) value: Value,
}

impl Attempt {
    /// The last lines that its process wrote: standard error, or else standard output.
    pub(super) fn last_lines(&self, most: usize) -> Vec<String> {
        let said = self.process.as_ref().map(ProcessRecord::said).unwrap_or_default();
        let lines: Vec<&str> = said.lines().collect();
        lines[lines.len().saturating_sub(most)..].iter().map(|line| escape_control(line)).collect()
    }

    /// How it ended, in one line.
    pub(super) fn words(&self) -> String {
        let mut words = if self.is_routed { "exited" } else { self.status.word() }.to_owned();
        if let Some(took) = self.took {
            words.push_str(&format!(" after {}", duration(took)));
        }
        if let Some(first) = self.message.as_ref().and_then(|message| message.lines().next()) {
            words.push_str(&format!(": {}", escape_control_line(first)));
        }
        let process = self.process.as_ref().filter(|_| self.status == StepStatus::TimedOut);
        words.extend(process.and_then(ended_words).map(|how| format!(", {how}")));
        words
    }
}

impl History {
    /// The starts of the step.
    pub(super) fn attempts(&self) -> impl DoubleEndedIterator<Item = &Attempt> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Attempt(attempt) => Some(&**attempt),
            Entry::Note(_) => None,
        })
    }

    /// What happened at each step of a run, by the step's name.
    pub(super) fn of(history: &RunHistory) -> HashMap<String, Self> {
        let mut builder = HistoryBuilder { repairs: repairs(history), ..HistoryBuilder::default() };
        let Some((first, rest)) = history.events.split_first() else { return builder.steps };
        let Ok(mut state) = State::begin(first) else { return builder.steps };
        for event in rest {
            if state.apply(event).is_err() {
                break;
            }
            builder.tell(event, &state);
        }
        builder.steps
    }

    fn note(&mut self, event: &Event, words: String, lines: Vec<String>) {
        let note = Note { at: event.at, words, lines, asked: false, changes: false };
        self.entries.push(Entry::Note(note));
    }

    fn retry(&mut self, event: &Event, words: String, edits: Option<&Edits>) {
        let (lines, changes) = (edits.map(set).unwrap_or_default(), edits.is_some());
        let note = Note { at: event.at, words, lines, asked: false, changes };
        self.entries.push(Entry::Note(note));
    }

    fn question(&mut self, event: &Event, words: String, lines: Vec<String>) {
        let note = Note { at: event.at, words, lines, asked: true, changes: false };
        self.entries.push(Entry::Note(note));
    }

    fn start(&mut self, event: &Event, started: &StepStarted, visit: u32) {
        let before = self.attempts().last().and_then(|attempt| attempt.command.clone());
        let changed = self.entries.last_mut().and_then(|entry| match entry {
            Entry::Note(note) if note.changes => Some(note),
            Entry::Note(_) | Entry::Attempt(_) => None,
        });
        // The resolved commands tell the change better than the names that were set.
        if let (Some(note), Some(old), Some(new)) = (changed, before, &started.command) {
            note.lines = diff(&old, new).iter().map(|line| escape_control(line)).collect();
        }
        self.entries.push(Entry::Attempt(Box::new(Attempt {
            visit,
            attempt: started.attempt,
            execution: started.execution,
            at: event.at,
            status: StepStatus::Running,
            is_routed: false,
            command: started.command.clone(),
            took: None,
            message: None,
            hint: None,
            process: None,
            value: Value::Null,
        })));
    }

    /// The start that has not ended yet.
    fn running(&self) -> Option<u32> {
        let running = |attempt: &&Attempt| attempt.status == StepStatus::Running;
        self.attempts().rev().find(running).map(|attempt| attempt.execution)
    }

    /// The start that has just ended, or that never was.
    fn ended(&mut self, event: &Event, execution: u32, visit: u32) -> &mut Attempt {
        let same = |entry: &Entry| match entry {
            Entry::Attempt(attempt) => attempt.execution == execution && attempt.execution > 0,
            Entry::Note(_) => false,
        };
        let found = self.entries.iter().rposition(same);
        let at = found.unwrap_or_else(|| {
            self.entries.push(Entry::Attempt(Box::new(Attempt {
                visit,
                attempt: 0,
                execution,
                at: event.at,
                status: StepStatus::Waiting,
                is_routed: false,
                command: None,
                took: None,
                message: None,
                hint: None,
                process: None,
                value: Value::Null,
            })));
            self.entries.len() - 1
        });
        match &mut self.entries[at] {
            Entry::Attempt(attempt) => attempt,
            Entry::Note(_) => unreachable!("the place of an attempt"),
        }
    }
}

/// What the runs inside of each start of a step, or of its repair, ran.
fn repairs(history: &RunHistory) -> HashMap<u32, Vec<String>> {
    let mut found: HashMap<u32, Vec<String>> = HashMap::new();
    for inside in &history.inside {
        let Some(parent) = &inside.state.started.parent else { continue };
        let started = inside.events.iter().filter_map(|event| match &event.kind {
            EventKind::StepStarted(started) => started.command.as_deref(),
            _ => None,
        });
        let lines = started.map(|command| format!("$ {}", escape_control(command)));
        found.entry(parent.execution).or_default().extend(lines);
    }
    found
}

/// The histories so far.
#[derive(Default)]
struct HistoryBuilder {
    steps: HashMap<String, History>,
    questions: HashMap<String, Question>,
    /// What repairs ran, by their numbers.
    repairs: HashMap<u32, Vec<String>>,
}

impl HistoryBuilder {
    fn of(&mut self, step: &str) -> &mut History {
        self.steps.entry(step.to_owned()).or_default()
    }

    fn tell(&mut self, event: &Event, state: &State) {
        let visits = |step: &str| state.steps.get(step).map_or(1, |record| record.visits);
        match &event.kind {
            EventKind::StepStarted(started) => {
                self.of(&started.step).start(event, started, visits(&started.step));
            }
            EventKind::StepCompleted(done) => {
                let attempt = self.of(&done.step).ended(event, done.execution, visits(&done.step));
                attempt.status = StepStatus::Completed;
                attempt.process.clone_from(&done.process);
                attempt.value = done.value.clone();
                attempt.message = match &done.marked_by {
                    Some(who) => Some(format!("marked as done by {who}")),
                    None => done.note.clone(),
                };
                attempt.took = state.steps.get(&done.step).and_then(took);
            }
            EventKind::StepFailed(failed) => {
                let attempt =
                    self.of(&failed.step).ended(event, failed.execution, visits(&failed.step));
                attempt.status = failed.outcome.into();
                attempt.is_routed = failed.leads_to.is_some();
                attempt.process.clone_from(&failed.process);
                attempt.message = Some(failed.message.clone());
                attempt.hint.clone_from(&failed.hint);
                attempt.took = state.steps.get(&failed.step).and_then(took);
            }
            EventKind::StepSkipped { step, message, .. } => {
                // A question that is a step has started before it is declined.
                let started = self.of(step).running().unwrap_or(0);
                let attempt = self.of(step).ended(event, started, visits(step));
                attempt.status = StepStatus::Skipped;
                attempt.message.clone_from(message);
            }
            EventKind::StepRetried { step, attempt, why, edits, fix, answer, .. } => {
                let who = answer.as_ref().map(|answer| answer_words(answer));
                let words = retried(*attempt, *why, edits.as_ref(), fix.as_deref(), who);
                self.of(step).retry(event, words, edits.as_ref());
            }
            EventKind::AutoHealTriggered(heal) => {
                let words = healing(heal);
                let mut lines = heal.fix.as_deref().map(planned).unwrap_or_default();
                if heal.fix.is_none() {
                    lines.extend(self.repairs.get(&heal.execution).into_iter().flatten().cloned());
                }
                self.of(&heal.step).note(event, words, lines);
            }
            EventKind::AutoHealCompleted { step, rule, healed, message, duration_ms, .. } => {
                let took = duration_ms.map(|ms| duration(Duration::from_millis(ms)));
                let took = took.map(|took| format!(" in {took}")).unwrap_or_default();
                let words = match (healed, message) {
                    (true, _) => format!("heal: `{rule}` ran{took}"),
                    (false, Some(why)) => format!("heal: `{rule}` did not repair it: {why}"),
                    (false, None) => format!("heal: `{rule}` did not repair it"),
                };
                self.of(step).note(event, escape_control_line(&words), Vec::new());
            }
            EventKind::MemoryRecalled(what) => self.remembered(event, what, "memory"),
            EventKind::MemoryLearned(what) if what.is_silent() => {}
            EventKind::MemoryLearned(what) => self.remembered(event, what, "memory learned"),
            EventKind::ConfirmationRequired(question) => {
                let words = format!("asked: {}", escape_control_line(&question.message));
                let lines = question.follows.iter().flat_map(|command| command.lines());
                let mut lines: Vec<_> =
                    lines.map(|line| format!("$ {}", escape_control(line))).collect();
                // Lines after the first of a fact stand below it.
                for fact in covered_whole(question) {
                    let parts = fact.lines().enumerate();
                    let indent = |at| if at == 0 { "" } else { "  " };
                    lines.extend(
                        parts.map(|(at, line)| indent(at).to_owned() + &escape_control(line)),
                    );
                }
                self.of(&question.step).question(event, words, lines);
                self.questions.insert(question.id.to_string(), Question::clone(question));
            }
            EventKind::ConfirmationAnswered(answered) => {
                let step = self.questions.get(answered.question.as_str()).map(|q| q.step.clone());
                let Some(step) = step else { return };
                let value = answered.answer.value.as_str().unwrap_or("***");
                let said = escape_control_line(answered.label.as_deref().unwrap_or(value));
                let mut words = format!("answered: {said}, {}", answer_words(&answered.answer));
                if let Some(ms) = latency(answered) {
                    let after = duration(Duration::from_millis(ms));
                    words.push_str(&format!(", after {after}"));
                }
                if let Some(why) = &answered.refused {
                    words.push_str(&format!("; refused: {}", escape_control_line(why)));
                }
                self.of(&step).question(event, words, Vec::new());
            }
            EventKind::ConfirmationExpired { question, applied, withdrawn } => {
                let step = self.questions.get(question.as_str()).map(|q| q.step.clone());
                let Some(step) = step else { return };
                let taken = applied.as_deref().unwrap_or("no");
                let taken = escape_control_line(taken);
                let words = match withdrawn {
                    true => WITHDRAWN.to_owned(),
                    false => format!("nobody answered in time: `{taken}` was taken"),
                };
                self.of(&step).question(event, words, Vec::new());
            }
            EventKind::ConfirmationAdvised { question, advice } => {
                let asked = self.questions.get(question.as_str());
                let Some((step, label)) = asked.map(|q| (q.step.clone(), advice.label(q))) else {
                    return;
                };
                let mut words = format!("advice from {}", escape_control_line(&advice.by));
                if let Some(label) = label {
                    words.push_str(&format!(", suggests {}", escape_control_line(label)));
                }
                let text = advice.text.lines().map(escape_control_line).collect();
                self.of(&step).note(event, words, text);
            }
            EventKind::SkillStarted(_)
            | EventKind::SkillPaused { .. }
            | EventKind::SkillStopping(_)
            | EventKind::SkillFinishing(_)
            | EventKind::SkillResumed { .. }
            | EventKind::ConcurrencyAcquired { .. }
            | EventKind::ConcurrencyWaiting { .. }
            | EventKind::SkillCompleted { .. }
            | EventKind::SkillFailed { .. }
            | EventKind::SkillCancelled { .. }
            | EventKind::StepQueued { .. }
            | EventKind::StepDequeued { .. }
            | EventKind::ConfirmationHeld { .. } => {}
        }
    }

    fn remembered(&mut self, event: &Event, what: &Remembered, who: &str) {
        let Some(step) = &what.step else { return };
        let id = what.id.as_deref().map(|id| match what.kind {
            MemoryKind::Fix => short_fix(id),
            _ => id,
        });
        let id = id.map(|id| format!(" {id}")).unwrap_or_default();
        let words = format!("{who}: {}{id}: {}", what.kind.word(), what.message);
        let lines = what.fix.as_deref().map(planned).unwrap_or_default();
        self.of(step).note(event, escape_control_line(&words), lines);
    }
}

/// The name of a fix with as many digits as commands take.
fn short_fix(id: &str) -> &str {
    id.get(.."fix-01234567".len()).unwrap_or(id)
}

fn retried(
    attempt: u32,
    why: RetryReason,
    edits: Option<&Edits>,
    fix: Option<&str>,
    who: Option<String>,
) -> String {
    let mut words = format!("attempt {attempt}");
    if edits.is_some() {
        words.push_str(" with changes");
    }
    words.push_str(match why {
        RetryReason::Idempotent => ": its outcome was unknown and it may be run twice",
        RetryReason::Answer => ": requested by a person",
        RetryReason::Policy => ": its `retry` says so",
        RetryReason::Healed => ": after the repair",
        RetryReason::Fixed => ": memory knows a fix",
        RetryReason::Relayed => ": requested, not by a person",
    });
    if let Some(fix) = fix {
        words.push_str(&format!(" ({})", short_fix(fix)));
    }
    if let Some(who) = who {
        words.push_str(&format!(", {who}"));
    }
    words
}

fn healing(heal: &HealTriggered) -> String {
    let kind = heal.category.map(|kind| format!(" ({})", kind.word())).unwrap_or_default();
    let words = match &heal.fix {
        Some(_) => format!("memory: the fix `{}` is applied{kind}", heal.rule),
        None => format!("heal: the rule `{}` fits the error{kind}", heal.rule),
    };
    escape_control_line(&words)
}

/// What a fix changes and does.
fn planned(fix: &FixPlan) -> Vec<String> {
    let mut lines = fix.edits.as_ref().map(set).unwrap_or_default();
    if let Some(act) = &fix.act {
        let when = if fix.replaces { "instead" } else { "first" };
        let what = match (&act.tool, &act.skill) {
            (Some(tool), _) => format!("tool {tool}"),
            (None, Some(skill)) => format!("skill {skill}"),
            (None, None) => format!("$ {}", act.command.join(" ")),
        };
        lines.push(escape_control_line(&format!("{when}: {what}")));
    }
    lines
}

/// What a step is given differently, by name.
fn set(edits: &Edits) -> Vec<String> {
    let line = |(name, value): (&String, &Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        escape_control_line(&format!("+ {name}: {value}"))
    };
    edits.set.iter().map(line).collect()
}
