//! `aye watch`.

use std::collections::HashSet;
use std::time::Duration;

use aye_core::event::{Event, EventKind};
use aye_core::id::{QuestionId, RunId};
use aye_core::journal::{Phase, State};
use aye_process::{LogReader, Signal, Signals};
use clap::Args;
use indexmap::IndexMap;
use jiff::Timestamp;

use crate::cli::Context;
use crate::report::{Place, Report, RunningAction, Tick, indent, stopped};
use aye_runtime::driver::Outcome;
use aye_runtime::error::Error;
use aye_runtime::usecases::{JournalReader, RunRow, Subscription, has_log};

use super::drive::{Viewer, choose_report, conclude};
use super::inbox::catch_signals;
use super::shown_output::ShownOutput;

/// How often output is looked for, and the bottom line painted.
const LOOK: Duration = Duration::from_millis(100);

// Options of `aye watch`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye watch                  the newest run\n  \
    aye watch k3f9 --json      its events, as they come\n\n\
    Exits with the run's exit code, or with 6 if the run waits and no process\n\
    drives it.")]
pub struct WatchArgs {
    /// A run's id, the beginning of one, or last
    #[arg(default_value = "last")]
    pub run: String,
    /// What is shown of the steps' output.
    #[command(flatten)]
    pub shown: ShownOutput,
}

pub(super) fn run(args: &WatchArgs, context: &Context) -> Result<u8, Error> {
    let context = &context.showing(args.shown.output);
    let journal = context.journal()?;
    let row = journal.find_run(&args.run)?;
    let loaded = journal.load(&row, context)?;
    let (mut report, _outlets) = choose_report(context, &loaded.flow, Viewer::Watcher)?;
    let mut signals = catch_signals()?;
    let subscription = journal.subscribe_to_run(&row.id, 0)?;
    let mut watch = Watch {
        journal: &journal,
        row: &row,
        report: &mut *report,
        subscription,
        runs: IndexMap::new(),
        asked: HashSet::new(),
    };
    loop {
        // Asked first: who leaves after the last event leaves nothing unseen.
        let driven = journal.is_driven(&row.id)?;
        watch.catch_up(context)?;
        if let Some(signal) = stop_asked(&mut signals, watch.report) {
            watch.report.pause();
            return Ok(u8::try_from(signal.exit_code()).unwrap_or(1));
        }
        if let Some(state) = watch.state().filter(|state| !driven || is_over(state)).cloned() {
            watch.report.pause();
            let outcome = Outcome::of(&state);
            let inside = watch.runs.values().skip(1).filter_map(|seen| stopped(&seen.state));
            conclude(context, &state, outcome, inside.reduce(|a, b| a + b));
            return Ok(outcome.exit_code(&state));
        }
        watch.tick(context);
        watch.subscription.wait(LOOK)?;
    }
}

fn is_over(state: &State) -> bool {
    matches!(state.phase, Phase::Ended(_))
}

/// Takes in signals; returns the one that asks us to stop.
fn stop_asked(signals: &mut Signals, report: &mut dyn Report) -> Option<Signal> {
    while let Some(signal) = signals.next() {
        match signal {
            Signal::Interrupt | Signal::Terminate | Signal::Hangup | Signal::Quit => {
                return Some(signal);
            }
            Signal::Suspend => {
                report.suspended();
                aye_process::suspend(&mut []);
                report.continued();
            }
            Signal::Resize => report.resized(),
            Signal::Continue => {}
        }
    }
    None
}

/// A run and those inside it, as seen so far.
struct Watch<'a> {
    journal: &'a JournalReader,
    row: &'a RunRow,
    report: &'a mut dyn Report,
    subscription: Subscription<'a>,
    /// In the order in which they began; the run itself is the first.
    runs: IndexMap<RunId, Seen>,
    /// The questions that were mentioned.
    asked: HashSet<QuestionId>,
}

/// One of them.
struct Seen {
    state: State,
    path: Vec<String>,
    log: Option<LogReader>,
}

impl Watch<'_> {
    /// The run that is watched.
    fn state(&self) -> Option<&State> {
        self.runs.get(&self.row.id).map(|seen| &seen.state)
    }

    /// Shows every event and all output since the last look.
    fn catch_up(&mut self, context: &Context) -> Result<(), Error> {
        for (_, event) in self.subscription.events()? {
            self.event(&event)?;
        }
        for lane in 0..self.runs.len() {
            self.pour(lane)?;
        }
        self.mention_questions(context);
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), Error> {
        let damaged = |error| Error::Journal { run: event.run.to_string(), error };
        let lane = match self.runs.get_index_of(&event.run) {
            Some(lane) => {
                self.runs[lane].state.apply(event).map_err(damaged)?;
                lane
            }
            None => {
                let state = State::begin(event).map_err(damaged)?;
                let parent = state.started.parent.clone();
                let around = parent.as_ref().and_then(|parent| self.runs.get(&parent.run));
                let mut path = around.map(|seen| seen.path.clone()).unwrap_or_default();
                if event.run != self.row.id {
                    path.extend(parent.map(|parent| parent.label()));
                }
                self.runs.insert_full(event.run.clone(), Seen { state, path, log: None }).0
            }
        };
        if matches!(event.kind, EventKind::StepCompleted(_) | EventKind::StepFailed(_)) {
            self.pour(lane)?;
            if self.runs[lane].log.take().is_some() {
                self.report.step_ends(lane);
            }
        }
        let seen = &mut self.runs[lane];
        self.report.event(Place { lane, path: &seen.path }, event, &seen.state);
        if let EventKind::StepStarted(started) = &event.kind
            && has_log(started)
        {
            seen.log = Some(self.journal.log(&event.run, started.execution, &started.step));
            self.report.step_begins(lane, false);
        }
        Ok(())
    }

    fn pour(&mut self, lane: usize) -> Result<(), Error> {
        let Some(reader) = &mut self.runs[lane].log else { return Ok(()) };
        let mut buffer = [0; 64 * 1024];
        loop {
            let read = reader.read(&mut buffer).map_err(Error::Log)?;
            let Some((stream, length)) = read else { return Ok(()) };
            self.report.output(lane, stream, &buffer[..length]);
        }
    }

    /// Who watches should know that someone is waited for.
    fn mention_questions(&mut self, context: &Context) {
        for (lane, seen) in self.runs.values().enumerate() {
            let Some(question) = seen.state.asking() else { continue };
            if !self.asked.insert(question.id.clone()) || context.json {
                continue;
            }
            self.report.pause();
            let entry = super::inbox::entry(question, &seen.state, context);
            crate::cli::say(&(indent(Place { lane, path: &seen.path }, &entry) + "\n"));
        }
    }

    fn tick(&mut self, context: &Context) {
        let now = context.now();
        let until = |from: Timestamp, to: Timestamp| {
            Duration::try_from(to.duration_since(from)).unwrap_or(Duration::ZERO)
        };
        let running = self.runs.values().enumerate().filter_map(|(lane, seen)| {
            let Phase::Running { step, nested: false, deadline, .. } = &seen.state.phase else {
                return None;
            };
            if seen.state.is_queued() {
                return None;
            }
            let started = seen.state.steps.get(step)?.started?;
            let remaining = deadline.map(|deadline| until(now, deadline));
            Some(RunningAction { lane, elapsed: until(started, now), remaining })
        });
        let running: Vec<_> = running.collect();
        let waiting = self.runs.values().filter(|seen| seen.state.is_queued()).count();
        if !running.is_empty() {
            self.report.tick(Tick { now, running: &running, waiting });
        }
    }
}
