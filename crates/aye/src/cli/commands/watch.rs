//! `aye watch`.

use std::time::Duration;

use aye_core::event::{Event, Fact};
use aye_core::journal::{Phase, State};
use aye_process::{LogReader, Signal, Signals};
use clap::Args;

use crate::cli::Context;
use crate::driver::Outcome;
use crate::error::Error;
use crate::report::Report;
use crate::store::{RunLock, RunRow, Store};

use super::drive::{choose_report, conclude};
use super::resume::Loaded;

/// How often output is looked for, and the bottom line painted.
const LOOK: Duration = Duration::from_millis(100);

/// Options of `aye watch`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye watch                  the newest run\n  \
    aye watch k3f9 --json      its events, as they come\n\n\
    It ends with the run and with its exit code; 6 if the run waits and nobody drives it.")]
pub struct WatchArgs {
    /// A run's id, the beginning of one, or last
    #[arg(default_value = "last")]
    pub run: String,
}

pub(super) fn run(args: &WatchArgs, context: &Context) -> Result<u8, Error> {
    let Some(store) = context.store_to_read()? else { return Err(Context::no_journal()) };
    let row = context.find_run(&store, &args.run)?;
    let loaded = Loaded::read(&store, &row)?;
    let (mut report, _outlets) = choose_report(context, &loaded.flow)?;
    let mut signals = Signals::catch().map_err(|source| Error::File {
        doing: "catch signals of",
        path: "aye".into(),
        source,
    })?;
    let mut bell = store.listen()?;
    let failed = |source| Error::File { doing: "listen to", path: store.home().bell(), source };
    let mut watch = Watch {
        store: &store,
        row: &row,
        report: &mut *report,
        state: None,
        log: None,
        asked: None,
    };
    loop {
        bell.drain().map_err(failed)?;
        // Asked first: who leaves after the last event leaves nothing unseen.
        let driven = RunLock::holder(store.home(), &row.id)?.is_some();
        watch.catch_up(context)?;
        if let Some(signal) = stop_asked(&mut signals, watch.report) {
            watch.report.pause();
            return Ok(u8::try_from(signal.exit_code()).unwrap_or(1));
        }
        if let Some(state) = watch.state.as_ref().filter(|state| !driven || is_over(state)) {
            watch.report.pause();
            let outcome = Outcome::of(state);
            conclude(context, state, outcome);
            return Ok(outcome.exit_code(state));
        }
        watch.tick(context);
        bell.wait(LOOK).map_err(failed)?;
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
                report.pause();
                aye_process::suspend(&mut []);
            }
            Signal::Continue | Signal::Resize => {}
        }
    }
    None
}

/// A run as seen so far.
struct Watch<'a> {
    store: &'a Store,
    row: &'a RunRow,
    report: &'a mut dyn Report,
    state: Option<State>,
    log: Option<LogReader>,
    asked: Option<String>,
}

impl Watch<'_> {
    /// Shows every event and all output since the last look.
    fn catch_up(&mut self, context: &Context) -> Result<(), Error> {
        let seen = self.state.as_ref().map_or(0, |state| state.seq);
        for event in self.store.events(&self.row.id, seen)? {
            self.event(&event)?;
        }
        self.pour()?;
        self.mention_question(context);
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), Error> {
        let damaged = |error| Error::Journal { run: event.run.to_string(), error };
        match &mut self.state {
            Some(state) => state.apply(event).map_err(damaged)?,
            None => self.state = Some(State::begin(event).map_err(damaged)?),
        }
        if matches!(event.fact, Fact::StepCompleted(_) | Fact::StepFailed(_)) {
            self.pour()?;
            if self.log.take().is_some() {
                self.report.step_ends();
            }
        }
        if let Some(state) = &self.state {
            self.report.event(event, state);
        }
        if let Fact::StepStarted(started) = &event.fact
            && started.command.is_some()
        {
            let base = self.store.home().log(&self.row.id, started.execution, &started.step);
            self.log = Some(LogReader::new(base));
            self.report.step_begins(false);
        }
        Ok(())
    }

    fn pour(&mut self) -> Result<(), Error> {
        let Some(reader) = &mut self.log else { return Ok(()) };
        let mut buffer = [0; 64 * 1024];
        loop {
            let read = reader.read(&mut buffer).map_err(|source| Error::File {
                doing: "read",
                path: "log".into(),
                source,
            })?;
            let Some((stream, length)) = read else { return Ok(()) };
            self.report.output(stream, &buffer[..length]);
        }
    }

    /// Who watches should know that somebody is waited for.
    fn mention_question(&mut self, context: &Context) {
        let Some(Phase::Asking { question, .. }) = self.state.as_ref().map(|state| &state.phase)
        else {
            return;
        };
        let fresh = self.asked.as_deref() != Some(question.id.as_str());
        if fresh && !context.json {
            self.report.pause();
            crate::cli::say(&super::inbox::entry(question, context));
        }
        self.asked = Some(question.id.to_string());
    }

    fn tick(&mut self, context: &Context) {
        let Some(state) = &self.state else { return };
        if let Phase::Running { step, .. } = &state.phase
            && let Some(started) = state.steps.get(step).and_then(|record| record.started)
        {
            let ms = context.now().as_millisecond() - started.as_millisecond();
            let elapsed = Duration::from_millis(u64::try_from(ms).unwrap_or(0));
            self.report.tick(elapsed, None);
        }
    }
}
