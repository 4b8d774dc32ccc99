//! What steps wrote.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use aye_core::event::{Event, EventKind, ProcessRecord, StepCompleted, StepStarted};
use aye_core::id::RunId;
use aye_core::nested::{Item, Parent};
use aye_core::step_kind::StepKind;
use aye_process::lines::Lines;
use aye_process::{LogReader, Stream};
use serde_json::Value;

use crate::error::Error;
use crate::store::{RunRow, Store};

use super::subscribe::Subscription;

/// How often a log that is followed is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Which logs are wanted.
pub struct LogRequest<'a> {
    /// The run.
    pub run: &'a RunRow,
    /// Only those of this step, or of the step or the run inside at this path.
    pub step: Option<&'a str>,
    /// Continue for as long as someone drives the run.
    pub follow: bool,
}

/// A piece of a log.
pub enum LogItem<'a> {
    /// A step began; what follows is its.
    Began {
        /// The run it is in.
        run: &'a RunId,
        /// The runs around it, each with a slash.
        path: &'a str,
        /// The same, one by one.
        around: &'a [String],
        /// The item it is about, where it is inside a list.
        item: Option<&'a Item>,
        /// The step.
        step: &'a str,
        /// The attempt.
        attempt: u32,
    },
    /// The step wrote this.
    Output(Stream, &'a [u8]),
    /// The result of a tool or of a block, secrets masked.
    Result(&'a Value),
    /// The step has ended, and what it wrote was not kept (`log: false`).
    NotKept,
    /// The step writes no more.
    Ended,
    /// That is all so far; what the step may write still follows.
    CaughtUp,
    /// Told now and then while the run is followed: a moment to leave.
    Idle,
}

/// Whether a step that started may have written something.
pub fn has_log(started: &StepStarted) -> bool {
    matches!(started.kind, StepKind::Command | StepKind::Shell | StepKind::Tool | StepKind::Compute)
}

/// The result of a step, where it is not what the step wrote: that of a tool, and that of a
/// block, which is elsewhere also if python3 runs it.
fn result_of<'a>(kind: &StepKind, done: &'a StepCompleted) -> Option<&'a Value> {
    let gives = match kind {
        StepKind::Tool => done.process.is_none(),
        StepKind::Compute => true,
        _ => false,
    };
    Some(&done.value).filter(|value| gives && !value.is_null())
}

/// The ends of which logs are wanted.
pub struct TailsRequest<'a> {
    /// The run.
    pub run: &'a RunId,
    /// Only those of this step, or of the step or the run inside at this path.
    pub step: Option<&'a str>,
    /// At most so many logs: the newest.
    pub logs: usize,
    /// At most so many lines of each.
    pub lines: usize,
}

/// The end of what one attempt of a step wrote.
pub struct LogTail {
    /// The run it is in.
    pub run: RunId,
    /// The runs around it.
    pub around: Vec<String>,
    /// The step.
    pub step: String,
    /// The attempt.
    pub attempt: u32,
    /// Its last lines.
    pub lines: VecDeque<String>,
    /// How many came before.
    pub left_out: usize,
    /// The result of a tool or of a block, secrets masked.
    pub result: Option<Value>,
}

/// The ends of the logs of a run.
pub struct LogTails {
    /// In the order in which the steps began.
    pub logs: Vec<LogTail>,
    /// What the step that is wanted asked last.
    pub asked: Option<String>,
}

/// The ends of what the steps of a run wrote. Only these logs are read.
pub(super) fn tails_of_logs(
    store: &dyn Store,
    request: &TailsRequest<'_>,
) -> Result<LogTails, Error> {
    let mut paths: HashMap<RunId, Path> = HashMap::new();
    let mut begun: VecDeque<(RunId, StepStarted)> = VecDeque::new();
    let mut results: HashMap<(RunId, u32), StepCompleted> = HashMap::new();
    let mut asked = None;
    for (_, event) in store.events_within(request.run, 0)? {
        let around = paths.get(&event.run);
        let leads_to = |step: &str, wanted: &str| match around {
            Some(path) => path.leads_to(step, wanted),
            None => Path::default().leads_to(step, wanted),
        };
        match event.kind {
            EventKind::SkillStarted(started) => {
                if let Some(parent) = &started.parent {
                    let around = paths.get(&parent.run).cloned().unwrap_or_default();
                    paths.insert(event.run, around.to(parent));
                }
            }
            EventKind::ConfirmationRequired(question)
                if request.step.is_some_and(|wanted| leads_to(&question.step, wanted)) =>
            {
                asked = Some(question.message);
            }
            EventKind::StepStarted(started) => {
                let is_wanted = request.step.is_none_or(|wanted| leads_to(&started.step, wanted));
                if has_log(&started) && is_wanted {
                    begun.push_back((event.run, *started));
                    if begun.len() > request.logs {
                        begun.pop_front();
                    }
                }
            }
            EventKind::StepCompleted(done) => {
                let is_told = |(run, started): &(RunId, StepStarted)| {
                    (run, started.execution) == (&event.run, done.execution)
                };
                if begun.iter().any(is_told) {
                    results.insert((event.run, done.execution), *done);
                }
            }
            _ => {}
        }
    }
    let tail = |(run, started): (RunId, StepStarted)| {
        let done = results.get(&(run.clone(), started.execution));
        let log = LogReader::new(store.log(&run, started.execution, &started.step));
        let (lines, left_out) = tail_of_log(log, request.lines)?;
        Ok(LogTail {
            around: paths.get(&run).map(|path| path.labels.clone()).unwrap_or_default(),
            result: done.and_then(|done| result_of(&started.kind, done)).cloned(),
            run,
            step: started.step,
            attempt: started.attempt,
            lines,
            left_out,
        })
    };
    let logs = begun.into_iter().map(tail).collect::<Result<_, Error>>()?;
    Ok(LogTails { logs, asked })
}

/// Tells what the steps of a run wrote, in order; says how many steps that were.
pub(super) fn read_logs(
    store: &dyn Store,
    request: &LogRequest<'_>,
    tell: &mut dyn FnMut(LogItem<'_>) -> Result<(), Error>,
) -> Result<usize, Error> {
    let LogRequest { run, step, follow } = *request;
    let mut subscription =
        if follow { Some(Subscription::to_run(store, &run.id, 0)?) } else { None };
    let mut paths: HashMap<RunId, Path> = HashMap::new();
    let mut told = 0;
    let mut open: Option<OpenLog> = None;
    loop {
        // Asked first: who leaves after the last event leaves nothing unread.
        let driven = store.is_driven(&run.id)?;
        let events = match &mut subscription {
            Some(subscription) => subscription.events()?,
            None => store.events_within(&run.id, 0)?,
        };
        for (_, event) in &events {
            if let EventKind::SkillStarted(started) = &event.kind
                && let Some(parent) = &started.parent
            {
                let around = paths.get(&parent.run).cloned().unwrap_or_default();
                paths.insert(event.run.clone(), around.to(parent));
            }
            if let Some(ending) = open.as_mut().filter(|open| open.is_ended_by(event)) {
                if let EventKind::StepCompleted(done) = &event.kind
                    && let Some(result) = result_of(&ending.kind, done)
                {
                    ending.pour(tell)?;
                    tell(LogItem::Result(result))?;
                }
                if process_of(event).is_some_and(|process| !process.kept.log) {
                    tell(LogItem::NotKept)?;
                }
                finish(open.as_mut(), tell)?;
            }
            let EventKind::StepStarted(started) = &event.kind else { continue };
            let path = paths.get(&event.run).cloned().unwrap_or_default();
            let is_wanted = step.is_none_or(|wanted| path.leads_to(&started.step, wanted));
            if has_log(started) && is_wanted {
                finish(open.as_mut(), tell)?;
                told += 1;
                let (step, attempt) = (started.step.as_str(), started.attempt);
                tell(LogItem::Began {
                    run: &event.run,
                    path: &path.named,
                    around: &path.labels,
                    item: path.item.as_ref(),
                    step,
                    attempt,
                })?;
                let base = store.log(&event.run, started.execution, step);
                let (run, step) = (event.run.clone(), step.to_owned());
                let (reader, kind) = (LogReader::new(base), started.kind.clone());
                open = Some(OpenLog { reader, run, step, kind, ended: false });
            }
        }
        if let Some(open) = open.as_mut().filter(|open| !open.ended) {
            open.pour(tell)?;
            if follow {
                tell(LogItem::CaughtUp)?;
            }
        }
        match subscription.as_mut().filter(|_| driven) {
            Some(subscription) => {
                tell(LogItem::Idle)?;
                subscription.wait(LOOK)?;
            }
            None => break,
        }
    }
    finish(open.as_mut(), tell)?;
    Ok(told)
}

/// The process of a step that has ended.
fn process_of(event: &Event) -> Option<&ProcessRecord> {
    match &event.kind {
        EventKind::StepCompleted(done) => done.process.as_ref(),
        EventKind::StepFailed(failed) => failed.process.as_ref(),
        _ => None,
    }
}

/// The last lines of a step's log, and how many came before.
pub(super) fn tail_of_log(
    mut log: LogReader,
    most: usize,
) -> Result<(VecDeque<String>, usize), Error> {
    let mut lines = [Lines::default(), Lines::default()];
    let mut last: VecDeque<String> = VecDeque::new();
    let mut left_out = 0;
    let mut keep = |line: &str| {
        last.push_back(line.to_owned());
        if last.len() > most {
            last.pop_front();
            left_out += 1;
        }
    };
    let mut buffer = vec![0; 64 * 1024];
    while let Some((stream, length)) = log.read(&mut buffer).map_err(Error::Log)? {
        lines[usize::from(stream == Stream::Stderr)].push(&buffer[..length], &mut keep);
    }
    for rest in &mut lines {
        rest.finish(&mut keep);
    }
    Ok((last, left_out))
}

/// Where a run inside others is, each with a slash: the items by their names,
/// and by their numbers.
#[derive(Clone, Default)]
struct Path {
    named: String,
    numbered: String,
    labels: Vec<String>,
    /// The nearest item.
    item: Option<Item>,
}

impl Path {
    fn to(&self, parent: &Parent) -> Self {
        Self {
            named: format!("{}{}/", self.named, parent.label()),
            numbered: format!("{}{}/", self.numbered, parent.numbered()),
            labels: self.labels.iter().cloned().chain([parent.label()]).collect(),
            item: parent.item.clone().or_else(|| self.item.clone()),
        }
    }

    /// Whether what someone wrote means this step, or a run that it is in.
    fn leads_to(&self, step: &str, wanted: &str) -> bool {
        let at = |path: &str| {
            let around = path.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('/'));
            around || wanted.strip_prefix(path) == Some(step)
        };
        wanted == step || at(&self.named) || at(&self.numbered)
    }
}

/// The log that is being told.
struct OpenLog {
    reader: LogReader,
    run: RunId,
    step: String,
    kind: StepKind,
    ended: bool,
}

impl OpenLog {
    fn is_ended_by(&self, event: &Event) -> bool {
        let step = match &event.kind {
            EventKind::StepCompleted(ended) => &ended.step,
            EventKind::StepFailed(ended) => &ended.step,
            _ => return false,
        };
        (&event.run, step) == (&self.run, &self.step)
    }

    fn pour(
        &mut self,
        tell: &mut dyn FnMut(LogItem<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut buffer = [0; 64 * 1024];
        while let Some((stream, length)) = self.reader.read(&mut buffer).map_err(Error::Log)? {
            tell(LogItem::Output(stream, &buffer[..length]))?;
        }
        Ok(())
    }
}

/// Tells the rest of a log.
fn finish(
    open: Option<&mut OpenLog>,
    tell: &mut dyn FnMut(LogItem<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some(open) = open.filter(|open| !open.ended) else { return Ok(()) };
    open.pour(tell)?;
    open.ended = true;
    tell(LogItem::Ended)
}
