//! Asking without a run: for shell scripts.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use aye_core::advice::Advice;
use aye_process::{Signal, Signals};
use jiff::{SignedDuration, Timestamp};

use aye_runtime::clock::Clock;
use aye_runtime::error::Error;
use aye_runtime::prompter::{AskedQuestion, Prompter as _, was_shown};

use super::dialog::Given;
use super::hold::held;
use super::shared_screen::SharedScreen;
use super::terminal::{PromptConfig, TerminalEvent, TerminalPrompter};
use super::tty::Tty;

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskOutcome {
    /// Someone answered.
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
    /// Readable when there may be an update.
    fn wake(&self) -> Option<BorrowedFd<'_>>;

    /// What became of the question; what made it readable is forgotten.
    fn update(&mut self) -> Result<Update, Error>;

    /// Someone is typing here and little time is left: asks for more. If it
    /// is granted, that is an update.
    fn hold(&mut self, now: Timestamp) -> Result<(), Error>;

    /// What assistants have said about it so far.
    fn advice(&self) -> &[Advice] {
        &[]
    }

    /// The advisor that was asked here says this.
    fn advise(&mut self, _advice: Advice) -> Result<(), Error> {
        Ok(())
    }

    /// Nobody could see the question when its time ran out: gives it all its
    /// time again, where that is decided here.
    fn renew(&mut self, _now: Timestamp) -> Option<Timestamp> {
        None
    }
}

/// What became of a question elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// It is open until then.
    Open(Option<Timestamp>),
    /// It is closed.
    Closed,
}

/// For questions that exist here only.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalQuestion {
    limit: Option<Duration>,
    first: Option<Timestamp>,
    deadline: Option<Timestamp>,
}

impl LocalQuestion {
    /// A question that is open for this long.
    pub fn within(limit: Option<Duration>, now: Timestamp) -> Self {
        let deadline = limit.map(|limit| after(now, limit));
        Self { limit, first: deadline, deadline }
    }

    /// When it is over with the question.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.deadline
    }
}

fn after(now: Timestamp, limit: Duration) -> Timestamp {
    SignedDuration::try_from(limit)
        .ok()
        .and_then(|limit| now.checked_add(limit).ok())
        .unwrap_or(Timestamp::MAX)
}

impl RemoteQuestion for LocalQuestion {
    fn wake(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn update(&mut self) -> Result<Update, Error> {
        Ok(Update::Open(self.deadline))
    }

    fn hold(&mut self, now: Timestamp) -> Result<(), Error> {
        if let (Some(first), Some(deadline)) = (self.first, self.deadline) {
            self.deadline = Some(held(first, deadline, now));
        }
        Ok(())
    }

    fn renew(&mut self, now: Timestamp) -> Option<Timestamp> {
        *self = Self::within(self.limit, now);
        self.deadline
    }
}

/// Asks until there is an answer, the time is up or someone wants to stop. A
/// default that proceeds counts only if the question was shown when its time
/// ran out: else it is asked again.
pub fn ask_alone(
    asked: &AskedQuestion<'_>,
    config: PromptConfig,
    clock: &dyn Clock,
    elsewhere: &mut dyn RemoteQuestion,
) -> Result<AskOutcome, Error> {
    let mut signals = Signals::catch().map_err(Error::Signals)?;
    let screen = SharedScreen::default();
    let mut prompter = TerminalPrompter::new(config, clock, screen.clone());
    let mut deadline = asked.deadline;
    // Since when the question is shown without a break.
    let mut shown: Option<Timestamp> = None;
    let outcome = loop {
        let now = clock.now();
        if let Some(passed) = deadline.filter(|deadline| now >= *deadline) {
            let counts = !asked.question.default_proceeds() || was_shown(shown, passed, now);
            let renewed = if counts { None } else { elsewhere.renew(now) };
            if renewed.is_none() {
                break AskOutcome::TimedOut;
            }
            deadline = renewed;
        }
        let mut wake = vec![signals.fd()];
        wake.extend(elsewhere.wake());
        let advice = [asked.advice, elsewhere.advice()].concat();
        let asked = AskedQuestion { deadline, advice: &advice, ..*asked };
        let event = prompter.hear(&asked, &wake);
        shown = prompter.is_showing(&asked.question.id).then(|| shown.unwrap_or(now));
        match event {
            Some(TerminalEvent::Given(given)) => break AskOutcome::Answered(given),
            Some(TerminalEvent::Dismissed) => break AskOutcome::Cancelled,
            Some(TerminalEvent::Unavailable(why)) => break AskOutcome::Unavailable(why),
            Some(TerminalEvent::Typing) => elsewhere.hold(clock.now())?,
            Some(TerminalEvent::Advised(advice)) => elsewhere.advise(advice)?,
            None => {
                let seen = read_signals(&mut signals, &screen);
                if let Some(signal) = seen.stop {
                    break AskOutcome::Stopped(signal.number());
                }
                shown = shown.filter(|_| !seen.stood_still);
            }
        }
        match elsewhere.update()? {
            Update::Open(until) => deadline = until,
            Update::Closed => break AskOutcome::Closed,
        }
    };
    prompter.close();
    Ok(outcome)
}

/// What signals said.
#[derive(Default)]
struct SignalsSeen {
    /// The one that asks us to stop.
    stop: Option<Signal>,
    /// This process was stopped meanwhile, and runs again.
    stood_still: bool,
}

/// Takes in signals, up to one that asks us to stop.
fn read_signals(signals: &mut Signals, screen: &SharedScreen) -> SignalsSeen {
    let mut seen = SignalsSeen::default();
    while let Some(signal) = signals.next() {
        match signal {
            Signal::Interrupt | Signal::Terminate | Signal::Hangup | Signal::Quit => {
                return SignalsSeen { stop: Some(signal), ..seen };
            }
            Signal::Suspend => {
                seen.stood_still = true;
                screen.rest();
                aye_process::suspend(&mut []);
                // Our own return; the prompt comes back once.
                let stop = std::iter::from_fn(|| signals.next()).find(|signal| signal.is_stop());
                screen.redraw();
                if stop.is_some() {
                    return SignalsSeen { stop, ..seen };
                }
            }
            Signal::Continue => {
                seen.stood_still = true;
                screen.redraw();
            }
            // The window may be as it was again, and what it showed is not.
            Signal::Resize => screen.resized(),
        }
    }
    seen
}

/// Leaves a line on the terminal, wherever standard output goes.
pub fn say(line: &str) {
    if let Ok(mut tty) = Tty::open() {
        // If it has gone away there is nobody to tell.
        let _ = tty.write(&format!("{line}\r\n"));
    }
}
