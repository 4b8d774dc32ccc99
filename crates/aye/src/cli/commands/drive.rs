//! What `run`, `resume`, `retry` and `watch` share: how a run is shown, and who is asked.

use std::io::IsTerminal as _;

use aye_core::flow::Flow;
use aye_core::journal::{Ended, State};

use crate::cli::{Context, say, warn_line};
use crate::prompt::{
    EchoOff, Escape, LONG, PromptConfig, ScreenReport, SharedScreen, TerminalPrompter,
};
use crate::report::{
    JsonReport, LiveReport, OutputBuffers, OutputMode, PlainReport, Report, Verbosity, summary,
};
use aye_runtime::driver::Outcome;
use aye_runtime::error::Error;
use aye_runtime::prompter::{Joining, Prompter};
use aye_runtime::usecases::{ActiveRun, DesktopPrompters, Surface, Warning};

use super::inbox::catch_signals;

/// Who is asked when there is a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskMode {
    /// The person at this terminal.
    Here,
    /// Nobody: the run pauses.
    Nobody,
}

impl AskMode {
    /// Whether someone is there who can be asked about a failure.
    pub(super) fn is_attended(self, context: &Context) -> bool {
        match self {
            Self::Here => !context.json && crate::prompt::obstacle(&context.env, true).is_none(),
            Self::Nobody => false,
        }
    }
}

/// Drives a run to its end or a pause, shows it, and returns the exit code.
pub(super) fn drive(active: ActiveRun, ask_mode: AskMode, context: &Context) -> Result<u8, Error> {
    let flow = active.flow();
    let (report, outputs) = choose_report(context, &flow, Viewer::Driver)?;
    let screen = SharedScreen::default();
    let to_out = outputs.out.clone();
    let mut signals = catch_signals()?;
    let attention = context.attention().filter(|_| ask_mode.is_attended(context));
    let config = context.config(Escape::Declines, ask_mode == AskMode::Here);
    let config = PromptConfig { attention, ..config };
    let user = || config.user.clone();
    let mut desktop = match ask_mode {
        AskMode::Here => context.desktop(user, true),
        AskMode::Nobody => DesktopPrompters::default(),
    };
    let joins = context.settings.prompters.terminal;
    let terminal = TerminalPrompter::new(config, &context.clock, screen.clone());
    let mut terminal = Joining::new(terminal, joins);
    let mut prompters: Vec<&mut dyn Prompter> = vec![&mut terminal];
    prompters.extend(desktop.iter_mut());
    let mut finished = active.drive(Surface {
        report: &mut ScreenReport::new(report, screen),
        sink: &outputs,
        prompters,
        signals: &mut signals,
    })?;
    conclude(context, &finished.state, finished.outcome, finished.stopped_inside);
    if let Some(attention) = attention.filter(|_| {
        finished.state.started_at.duration_until(finished.state.updated_at).unsigned_abs() >= LONG
    }) {
        attention.ended(&format!("{} has ended", finished.state.started.skill));
    }
    if let Some(error) = to_out.lost() {
        warn_line(&format!("standard output is incomplete: {error}"), context);
    }
    // The next prompter listens for signals itself.
    drop(signals);
    if ask_mode.is_attended(context) {
        super::patch::offer(&finished.state, &finished.journal, context)?;
    }
    finished.tidy_up();
    Ok(finished.exit_code())
}

/// Says something that does not stop a run.
pub(super) fn warn(warning: &Warning, context: &Context) {
    let silent = match warning {
        Warning::SettingsLeftOut(_) => false,
        Warning::SkillChanged { .. } => context.json || context.verbosity == Verbosity::Quiet,
        Warning::Survivors(_) => context.json,
    };
    if silent {
        return;
    }
    let hint = warning.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    warn_line(&format!("{}{hint}", warning.message(&context.directory)), context);
}

pub(super) fn conclude(context: &Context, state: &State, outcome: Outcome, inside: Option<u32>) {
    let well = outcome == Outcome::Ended(Ended::Completed);
    if context.json || (context.verbosity == Verbosity::Quiet && well) {
        return;
    }
    let lost = if well { Vec::new() } else { context.lost_secrets(&state.run) };
    let user = context.driver().user;
    say(&summary(state, outcome, inside, &lost, &user, context.paint_err));
}

/// Who looks at a report.
#[derive(Debug, Clone, Copy)]
pub(super) enum Viewer {
    /// The process that drives the run.
    Driver,
    /// One that only looks on.
    Watcher,
}

pub(super) fn choose_report<'a>(
    context: &Context,
    flow: &'a Flow,
    viewer: Viewer,
) -> Result<(Box<dyn Report + 'a>, OutputBuffers), Error> {
    let (out, err) = (std::io::stdout(), std::io::stderr());
    let outputs = OutputBuffers::standard().map_err(Error::Output)?;
    let OutputBuffers { out: to_out, err: to_err } = outputs.clone();
    if context.json {
        return Ok((Box::new(JsonReport::new(to_out)), outputs));
    }
    let capable = crate::prompt::is_capable(&context.env);
    let live = out.is_terminal() && err.is_terminal() && !context.plain && capable;
    let mode = context.output.or(context.settings.output);
    let verbosity = context.verbosity;
    let report: Box<dyn Report + 'a> = if live {
        let usual = match verbosity {
            Verbosity::Normal => OutputMode::Failed,
            Verbosity::Quiet | Verbosity::Verbose => OutputMode::Full,
        };
        let mode = mode.unwrap_or(usual);
        let live = LiveReport::new(to_err, context.paint_err, verbosity, mode, flow);
        match (viewer, verbosity) {
            // No guard would give the terminal back if it was killed.
            (Viewer::Watcher, _) => Box::new(live.watching()),
            // Nothing is drawn that keys could break.
            (Viewer::Driver, Verbosity::Quiet) => Box::new(live),
            (Viewer::Driver, _) => Box::new(EchoOff::new(live)),
        }
    } else {
        let paints = [context.paint_out, context.paint_err];
        let mode = mode.unwrap_or(OutputMode::Full);
        Box::new(PlainReport::new(to_out, to_err, paints, verbosity, mode))
    };
    Ok((report, outputs))
}
