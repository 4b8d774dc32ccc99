//! What `run` and `resume` share: a driver with the right view and prompter.

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;

use aye_core::event::Event;
use aye_core::flow::Flow;
use aye_core::input::Retry;
use aye_core::journal::{Ended, State};
use aye_core::machine::Machine;
use aye_core::question::{self, Answer, Edits};
use aye_process::Signals;

use crate::cli::{Context, say};
use crate::paint::Tone;
use crate::prompt::{Escape, ScreenReport, SharedScreen, TerminalPrompter};
use crate::report::{
    JsonReport, LiveReport, OutputBuffers, PlainReport, Report, Verbosity, summary,
};
use aye_runtime::driver::{Driven, Driver, Outcome, Parts};
use aye_runtime::error::Error;
use aye_runtime::origin::origin;
use aye_runtime::prompter::{AssistantPrompter, InboxPrompter, Prompter};
use aye_runtime::settings::DEFAULT_KEEP;
use aye_runtime::store::{Lease, Store};
use aye_runtime::trust::Retention;

/// How a run is taken up.
pub(super) enum Beginning<'a> {
    /// It has just been started; these events are committed.
    Started(&'a [Event]),
    /// It goes on.
    Resumed,
    /// It failed, and goes on with the step that did.
    Retried {
        /// The step, if somebody named one.
        step: Option<String>,
        /// What it is given differently.
        edits: Option<Edits>,
    },
}

/// Who is asked when there is a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskMode {
    /// Whoever sits at this terminal.
    Here,
    /// Nobody: the run pauses.
    Nobody,
    /// Whoever looks into the inbox, for as long as it takes.
    Inbox,
    /// The same, and an assistant relays what the run asks.
    Assistant,
}

impl AskMode {
    /// Whether the run goes on in the background.
    pub(super) fn is_elsewhere(self) -> bool {
        match self {
            Self::Here | Self::Nobody => false,
            Self::Inbox | Self::Assistant => true,
        }
    }

    /// Who we are, and whether somebody is there who can be asked about a failure.
    pub(super) fn driver(self, context: &Context) -> aye_core::event::Driver {
        let attended = match self {
            Self::Here => !context.json && crate::prompt::obstacle(&context.env, true).is_none(),
            Self::Assistant => true,
            Self::Nobody | Self::Inbox => false,
        };
        aye_core::event::Driver { attended, ..context.driver() }
    }
}

/// Drives a run to its end or a pause, shows it, and returns the exit code.
pub(super) fn drive(
    context: &Context,
    flow: &Flow,
    store: &mut dyn Store,
    lease: Lease,
    machine: Machine,
    beginning: &Beginning<'_>,
    ask_mode: AskMode,
) -> Result<u8, Error> {
    let (report, outputs) = choose_report(context, flow, ask_mode.is_elsewhere())?;
    let screen = SharedScreen::default();
    let mut report = ScreenReport::new(report, screen.clone());
    let to_out = outputs.out.clone();
    let mut signals = Signals::catch().map_err(Error::Signals)?;
    let config = context.config(Escape::Declines, ask_mode == AskMode::Here);
    let mut terminal = TerminalPrompter::new(config, &context.clock, screen);
    let (mut assistant, mut inbox) = (AssistantPrompter, InboxPrompter);
    let prompters: Vec<&mut dyn Prompter> = match ask_mode {
        AskMode::Here | AskMode::Nobody => vec![&mut terminal],
        AskMode::Inbox => vec![&mut inbox],
        AskMode::Assistant => vec![&mut assistant, &mut inbox],
    };
    let workspace = machine.state().started.workspace.clone();
    let run = machine.state().run.clone();
    aye_process::slots::set_limit(context.settings.max_processes);
    aye_process::set_grace(context.settings.grace);
    let parts = Parts {
        store,
        lease,
        home: &context.home,
        machine,
        clock: &context.clock,
        names: context.names(Path::new(&workspace)),
        limits: context.limits(),
        skills: &context.runtime,
        tools: context.tools(Path::new(&workspace), &run),
        memory: Arc::new(context.memory()),
        sink: &outputs,
        report: &mut report,
        prompters,
        signals: &mut signals,
        policy: context.granted().policy.for_run(Path::new(&workspace)),
    };
    let epoch = parts.lease.epoch();
    let driver = Driver::new(parts);
    let Driven { machine, outcome, stopped_inside } = match beginning {
        Beginning::Started(events) => driver.begin(events)?,
        Beginning::Resumed => driver.resume(ask_mode.driver(context))?,
        Beginning::Retried { step, edits } => {
            let value = if edits.is_some() { "edit" } else { "retry" };
            let by = context.driver().user;
            let answer = Answer {
                origin: Some(origin(&context.home)),
                ..Answer::new(value, by, question::Prompter::Command)
            };
            driver.retry(Retry {
                driver: ask_mode.driver(context),
                epoch,
                step: step.clone(),
                edits: edits.clone(),
                turn: None,
                answer: Some(Box::new(answer)),
            })?
        }
    };
    conclude(context, machine.state(), outcome, stopped_inside);
    if let Some(error) = to_out.lost() {
        let warning = context.paint_err.text(Tone::Warn, "warning:");
        say(&format!("{warning} standard output is incomplete: {error}\n"));
    }
    // Whoever asks next listens for signals itself.
    drop(signals);
    if ask_mode.driver(context).attended && ask_mode == AskMode::Here {
        super::patch::offer(machine.state(), store, context)?;
    }
    forget_old_runs(context, store);
    Ok(outcome.exit_code(machine.state()))
}

/// Finished runs are kept for a while and then forgotten, a few at a time, each
/// as its own project says: the journal is shared with others.
fn forget_old_runs(context: &Context, store: &mut dyn Store) {
    const AT_ONCE: usize = 20;
    let user = context.user_settings.as_deref();
    let mut retention = Retention::new(&context.home, user, context.now());
    let kept = [context.settings.keep, Some(DEFAULT_KEEP)];
    let before = kept.into_iter().filter_map(|keep| retention.limit(keep)).max();
    // The run is over and told: that there was no room to tidy up is no news.
    let Some(before) = before.filter(|at| store.has_finished_older_than(*at).unwrap_or(false))
    else {
        return;
    };
    let _ = store.prune_some(before, AT_ONCE, &mut |workspace, ended| {
        retention.may_forget(workspace, ended)
    });
}

pub(super) fn conclude(context: &Context, state: &State, outcome: Outcome, inside: Option<u32>) {
    let well = outcome == Outcome::Ended(Ended::Completed);
    if context.json || (context.verbosity == Verbosity::Quiet && well) {
        return;
    }
    say(&summary(state, outcome, inside, context.paint_err));
}

pub(super) fn choose_report<'a>(
    context: &Context,
    flow: &'a Flow,
    unseen: bool,
) -> Result<(Box<dyn Report + 'a>, OutputBuffers), Error> {
    let (out, err) = (std::io::stdout(), std::io::stderr());
    let outputs = OutputBuffers::standard().map_err(Error::Output)?;
    let OutputBuffers { out: to_out, err: to_err } = outputs.clone();
    if context.json {
        return Ok((Box::new(JsonReport::new(to_out)), outputs));
    }
    let dumb = context.env.get("TERM").is_some_and(|term| term == "dumb");
    let live = out.is_terminal() && err.is_terminal() && !context.plain && !dumb;
    let report: Box<dyn Report + 'a> = if unseen {
        let paints = [context.paint_out, context.paint_err];
        Box::new(PlainReport::new(to_out, to_err, paints, context.verbosity).muted())
    } else if live {
        Box::new(LiveReport::new(to_err, context.paint_err, context.verbosity, flow))
    } else {
        let paints = [context.paint_out, context.paint_err];
        Box::new(PlainReport::new(to_out, to_err, paints, context.verbosity))
    };
    Ok((report, outputs))
}
