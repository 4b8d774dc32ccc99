//! Asking without a run: for shell scripts.

use std::os::fd::BorrowedFd;

use aye_process::{Signal, Signals};
use jiff::Timestamp;

use aye_runtime::clock::Clock;
use aye_runtime::error::Error;
use aye_runtime::prompter::QuestionContext;

use super::dialog::Given;
use super::hold::held;
use super::shared_screen::SharedScreen;
use super::terminal::{PromptConfig, TerminalEvent, TerminalPrompter};
use super::tty::Tty;

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskOutcome {
    /// Somebody answered.
    Answered(Given),
    /// The person left without an answer.
    Cancelled,
    /// Nobody answered in time.
    TimedOut,
    /// The question was closed elsewhere.
    Closed,
    /// A signal asked us to stop.
    Stopped(i32),
    /// Nobody can be asked, and why.
    Unavailable(String),
}

/// Another place where the question stands.
pub trait RemoteQuestion {
    /// Readable when there may be news.
    fn wake(&self) -> Option<BorrowedFd<'_>>;

    /// What became of the question; what made it readable is forgotten.
    fn news(&mut self) -> Result<News, Error>;

    /// Somebody is typing here and little time is left: asks for more. If it
    /// is granted, that is news.
    fn hold(&mut self, now: Timestamp) -> Result<(), Error>;
}

/// What became of a question elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// It is open until then.
    Open(Option<Timestamp>),
    /// It is closed.
    Closed,
}

/// For questions that exist here only.
#[derive(Debug, Clone, Copy)]
pub struct Nowhere {
    first: Option<Timestamp>,
    deadline: Option<Timestamp>,
}

impl Nowhere {
    /// A question that is open until then.
    pub fn until(deadline: Option<Timestamp>) -> Self {
        Self { first: deadline, deadline }
    }
}

impl RemoteQuestion for Nowhere {
    fn wake(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn news(&mut self) -> Result<News, Error> {
        Ok(News::Open(self.deadline))
    }

    fn hold(&mut self, now: Timestamp) -> Result<(), Error> {
        if let (Some(first), Some(deadline)) = (self.first, self.deadline) {
            self.deadline = Some(held(first, deadline, now));
        }
        Ok(())
    }
}

/// Asks until there is an answer, the time is up or somebody wants to stop.
pub fn ask_alone(
    posed: &QuestionContext<'_>,
    config: PromptConfig,
    clock: &dyn Clock,
    elsewhere: &mut dyn RemoteQuestion,
) -> Result<AskOutcome, Error> {
    let mut signals = Signals::catch().map_err(Error::Signals)?;
    let screen = SharedScreen::default();
    let mut prompter = TerminalPrompter::new(config, clock, screen.clone());
    let mut posed = *posed;
    let outcome = loop {
        if posed.deadline.is_some_and(|deadline| clock.now() >= deadline) {
            break AskOutcome::TimedOut;
        }
        let mut wake = vec![signals.fd()];
        wake.extend(elsewhere.wake());
        match prompter.hear(&posed, &wake) {
            Some(TerminalEvent::Given(given)) => break AskOutcome::Answered(given),
            Some(TerminalEvent::Dismissed) => break AskOutcome::Cancelled,
            Some(TerminalEvent::Unavailable(why)) => break AskOutcome::Unavailable(why),
            Some(TerminalEvent::Typing) => elsewhere.hold(clock.now())?,
            None => {
                if let Some(signal) = attend(&mut signals, &screen) {
                    break AskOutcome::Stopped(signal.number());
                }
            }
        }
        match elsewhere.news()? {
            News::Open(deadline) => posed.deadline = deadline,
            News::Closed => break AskOutcome::Closed,
        }
    };
    prompter.close();
    Ok(outcome)
}

/// Takes in signals; returns the one that asks us to stop.
fn attend(signals: &mut Signals, screen: &SharedScreen) -> Option<Signal> {
    while let Some(signal) = signals.next() {
        match signal {
            Signal::Interrupt | Signal::Terminate | Signal::Hangup | Signal::Quit => {
                return Some(signal);
            }
            Signal::Suspend => {
                screen.rest();
                aye_process::suspend(&mut []);
                // Our own return; the prompt comes back once.
                let stop = std::iter::from_fn(|| signals.next()).find(|signal| signal.is_stop());
                screen.redraw();
                if stop.is_some() {
                    return stop;
                }
            }
            Signal::Continue => screen.redraw(),
            // The window may be as it was again, and what it showed is not.
            Signal::Resize => screen.resized(),
        }
    }
    None
}

/// Leaves a line on the terminal, wherever standard output goes.
pub fn say(line: &str) {
    if let Ok(mut tty) = Tty::open() {
        // If it has gone away there is nobody to tell.
        let _ = tty.write(&format!("{line}\r\n"));
    }
}
