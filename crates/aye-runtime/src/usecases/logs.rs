//! What steps wrote.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use aye_core::event::{Event, EventKind, StepStarted};
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
                    && ending.gives
                    && (done.process.is_none() || ending.is_block)
                    && !done.value.is_null()
                {
                    ending.pour(tell)?;
                    tell(LogItem::Result(&done.value))?;
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
                // What a program writes is its result; of these it is not in the log.
                let gives = matches!(started.kind, StepKind::Tool | StepKind::Compute);
                // A block that python3 runs writes its result elsewhere.
                let is_block = started.kind == StepKind::Compute;
                let reader = LogReader::new(base);
                open = Some(OpenLog { reader, run, step, gives, is_block, ended: false });
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
    /// Its result is not what it writes.
    gives: bool,
    /// It is a block of Python.
    is_block: bool,
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
