//! The question of a script in a run of its own: `--journal`.

use std::time::Duration;

use aye_core::event::{Event, EventKind};
use aye_core::journal::State;
use aye_core::question::{Channel, Question};
use aye_process::Stream;

use crate::cli::commands::inbox::{catch_signals, entry};
use crate::cli::{Context, say};
use crate::prompt::{Escape, ScreenReport, ScriptPrompter, SharedScreen, TerminalPrompter};
use crate::report::{Place, Report, Verbosity};
use aye_runtime::error::Error;
use aye_runtime::prompter::Prompter as _;
use aye_runtime::report::{Unbuffered, Wants};
use aye_runtime::usecases::{AskedInRun, ScriptOutcome, ScriptQuestion, Surface};

use super::{Asked, Asking, CANCELLED, How, Recorded, TIMED_OUT, Taken};

/// Asks on this terminal and in the inbox at once; without a terminal, in the
/// inbox alone.
pub(super) fn ask(
    question: &Question,
    limit: Option<Duration>,
    asking: &Asking,
    context: &Context,
) -> Result<Asked, Error> {
    if question.secret && question.default.is_some() {
        let message = "the default of a secret cannot be recorded";
        return Err(Error::usage(message, "leave out `--default` or `--journal`"));
    }
    let screen = SharedScreen::default();
    let config = context.config(Escape::Dismisses, !asking.no_input);
    let terminal = TerminalPrompter::new(config, &context.clock, screen.clone());
    // Nobody can see it here when its time is up: a default that proceeds would
    // never be taken, and the script has to continue.
    let unseen = terminal.obstacle().is_some() && question.default_proceeds() && !asking.yes;
    let question =
        &Question { default: question.default.clone().filter(|_| !unseen), ..question.clone() };
    let quiet = context.json || context.verbosity == Verbosity::Quiet;
    let report = InboxReport { context, says: terminal.obstacle().is_some() && !quiet };
    let mut report = ScreenReport::new(Box::new(report), screen);
    let mut prompter = ScriptPrompter::new(terminal, question.title.clone());
    let mut signals = catch_signals()?;
    let surface = Surface {
        report: &mut report,
        sink: &Unbuffered,
        prompters: vec![&mut prompter],
        signals: &mut signals,
    };
    let request = ScriptQuestion { question, limit, yes: asking.yes };
    let AskedInRun { run, question, outcome } = context.ask_in_run(&request, surface)?;
    let recorded = |by| Some(Recorded { run, question, by });
    Ok(match outcome {
        ScriptOutcome::Answered { value, answer } => {
            let how = match answer.prompter {
                Channel::Override => How::Override,
                _ => How::Given,
            };
            let recorded = recorded(Some((answer.by, answer.prompter)));
            Asked::Value(Taken { value, how, recorded })
        }
        ScriptOutcome::Expired(Some(value)) => {
            Asked::Value(Taken { value, how: How::Expired, recorded: recorded(None) })
        }
        ScriptOutcome::Expired(None) => Asked::Nothing(TIMED_OUT),
        ScriptOutcome::Cancelled => Asked::Nothing(CANCELLED),
        // As at `read`: the shell that runs the script sees it and stops as well.
        ScriptOutcome::Stopped(signal) => aye_process::end_by(signal),
    })
}

/// Says how to answer where no prompt shows the question.
struct InboxReport<'c> {
    context: &'c Context,
    says: bool,
}

impl Report for InboxReport<'_> {
    fn event(&mut self, _: Place<'_>, event: &Event, state: &State) {
        if let EventKind::ConfirmationRequired(question) = &event.kind
            && self.says
            && !state.yes
        {
            say(&entry(question, state, self.context));
        }
    }

    fn output(&mut self, _: usize, _: Stream, _: &[u8]) {}

    fn wants(&self) -> Wants {
        Wants { output: false, ..Wants::default() }
    }
}
