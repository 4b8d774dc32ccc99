//! `aye inbox --watch` on a terminal: pick a question, answer it, come back.

use aye_process::Signal;
use indexmap::IndexMap;

use crate::cli::commands::answer::{self, AnswerArgs, Came};
use crate::cli::commands::drive::warn;
use crate::cli::commands::{confirm, memory, output};
use crate::cli::{Context, report_error};
use crate::paint::{Glyph, Tone, escape_control_line};
use crate::prompt::view::Item;
use crate::prompt::{Escape, InboxAction, InboxView};
use aye_runtime::error::Error;
use aye_runtime::memory::WaitingProposal;
use aye_runtime::usecases::RunRow;

use super::{Waiting, catch_signals, open, proposal_words, proposals, since};

/// From so many seconds on, what is left stands out.
const SOON: i64 = 60;

/// What someone at the list did.
enum Left {
    /// Opened a question.
    For(String),
    /// Had seen enough.
    Enough,
    /// Was told to stop.
    Stopped(Signal),
}

/// The whole session; `None` where there is no terminal to sit at.
pub(super) fn sit_down(context: &Context) -> Option<Result<u8, Error>> {
    let config = context.config(Escape::Dismisses, true);
    if config.plain {
        return None;
    }
    let first = InboxView::open(&config).ok()?;
    Some(work(first, context))
}

fn work(first: InboxView, context: &Context) -> Result<u8, Error> {
    let mut mark = None;
    let mut view = Some(first);
    loop {
        let view = match view.take() {
            Some(view) => view,
            None => InboxView::open(&context.config(Escape::Dismisses, true))
                .map_err(|why| gone(&why))?,
        };
        match browse(view, &mut mark, context)? {
            Left::Enough => return Ok(0),
            Left::Stopped(signal) => return Ok(u8::try_from(signal.exit_code()).unwrap_or(1)),
            Left::For(id) => {
                let settled = match proposals(context).iter().any(|one| one.id == id) {
                    true => memory::agree(&id, context).map(|_| None),
                    false => settle(&id, context),
                };
                // What goes wrong with one is no reason to leave the others.
                match settled {
                    Ok(None) => {}
                    Ok(Some(code)) => return Ok(code),
                    Err(error) => report_error(&error, context.json, context.paint_err),
                }
            }
        }
    }
}

fn gone(why: &str) -> Error {
    let hint = Some("`aye inbox` lists what waits".to_owned());
    Error::Unattended { message: format!("nobody can be asked here: {why}"), hint }
}

/// Shows the list until someone wants something.
fn browse(
    mut view: InboxView,
    mark: &mut Option<String>,
    context: &Context,
) -> Result<Left, Error> {
    let journal = context.journal_to_watch()?;
    let mut subscription = journal.subscribe(0)?;
    let mut signals = catch_signals()?;
    loop {
        subscription.drain()?;
        let mut items: Vec<Item> =
            open(&journal, context)?.iter().map(|one| item(one, context)).collect();
        items.extend(proposals(context).iter().map(proposed));
        if !items.iter().any(|item| Some(&item.id) == mark.as_ref()) {
            *mark = items.first().map(|item| item.id.clone());
        }
        let wake = [signals.fd(), std::os::fd::AsFd::as_fd(&subscription)];
        match view.ask(&items, mark, &wake).map_err(|why| gone(&why))? {
            InboxAction::Open(question) => return Ok(Left::For(question)),
            InboxAction::Leave => return Ok(Left::Enough),
            InboxAction::Nothing => {}
        }
        while let Some(signal) = signals.next() {
            match signal {
                Signal::Interrupt | Signal::Terminate | Signal::Hangup | Signal::Quit => {
                    return Ok(Left::Stopped(signal));
                }
                Signal::Suspend => {
                    view.rest();
                    aye_process::suspend(&mut []);
                    view.redraw();
                }
                Signal::Continue => view.redraw(),
                // The window may be as it was again, and what it showed is not.
                Signal::Resize => view.erase(),
            }
        }
    }
}

/// Something that waits for someone to agree.
fn proposed(one: &WaitingProposal) -> Item {
    Item {
        id: one.id.clone(),
        asked: proposal_words(one),
        note: one.command.clone(),
        soon: false,
        proposed: true,
    }
}

fn item(one: &Waiting, context: &Context) -> Item {
    let dot = format!(" {} ", context.paint_err.glyph(Glyph::Dot));
    let now = context.now();
    let mut note = vec![one.skill.clone()];
    note.extend(one.place.iter().cloned());
    note.extend(one.note(now));
    let soon = one.deadline.is_some_and(|deadline| deadline.as_second() - now.as_second() < SOON);
    Item {
        id: one.id.clone(),
        asked: one.message.clone(),
        note: note.join(&dot),
        soon,
        proposed: false,
    }
}

/// Answers one question; a code if that is to be the end of the session.
fn settle(question: &str, context: &Context) -> Result<Option<u8>, Error> {
    let args = AnswerArgs::asking(question);
    let (row, question, came) = answer::answer(&args, context)?;
    match came {
        Came::Taken { label, undriven } => {
            let paint = context.paint_out;
            output::print_line(&format!(
                "{} {}  {}  {}",
                paint.text(Tone::Mark, paint.glyph(Glyph::Answered)),
                escape_control_line(&question.step),
                paint.text(Tone::Strong, &escape_control_line(&label)),
                paint.text(Tone::Dim, &format!("after {}", since(question.asked, context.now()))),
            ))?;
            if undriven && !answer::take_up(&row, context)? {
                offer_to_go_on(&row, context)?;
            }
            Ok(None)
        }
        Came::Left => Ok(None),
        Came::Stopped(signal) => Ok(Some(u8::try_from(128 + signal).unwrap_or(1))),
    }
}

/// Nobody drives the run: it can continue in the background while we stay here.
fn offer_to_go_on(row: &RunRow, context: &Context) -> Result<(), Error> {
    let skill = escape_control_line(&row.skill);
    let message =
        format!("No process drives run `{}` of {skill}. Resume it in the background?", row.id);
    let run = &row.id;
    if confirm::says_yes(&message, Some(confirm::Default::Yes), true, context)? == Some(true) {
        context.resume_detached(row, IndexMap::new(), &mut |w| warn(&w, context))?;
        return output::print_line(&format!("resumed; follow with: aye watch {run}"));
    }
    output::print_line(&format!("resume it with: aye resume {run}"))
}
