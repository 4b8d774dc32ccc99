//! Asking without a run: for shell scripts.

use aye_core::question::Question;
use aye_process::{Signal, Signals};
use jiff::Timestamp;

use crate::clock::Clock;
use crate::driver::{Posed, Prompter as _};
use crate::error::Error;

use super::terminal::{Heard, Manner, TerminalPrompter};

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alone {
    /// The value of an option, or text.
    Answered(String),
    /// The person left without an answer.
    Cancelled,
    /// Nobody answered in time.
    TimedOut,
    /// A signal asked us to stop.
    Stopped(i32),
    /// Nobody can be asked, and why.
    Unavailable(String),
}

/// Asks until there is an answer, the time is up or somebody wants to stop.
pub fn ask_alone(
    question: &Question,
    deadline: Option<Timestamp>,
    manner: Manner,
    clock: &dyn Clock,
) -> Result<Alone, Error> {
    let mut signals = Signals::catch().map_err(|source| Error::File {
        doing: "catch signals of",
        path: "aye".into(),
        source,
    })?;
    let mut prompter = TerminalPrompter::new(manner, clock);
    let posed = Posed { question, deadline, agreed: &[], run: None };
    let outcome = loop {
        let heard = prompter.hear(&posed, &[signals.fd()]);
        match heard {
            Heard::Given(given) => break Alone::Answered(given.value),
            Heard::Dismissed => break Alone::Cancelled,
            Heard::Deadline => break Alone::TimedOut,
            Heard::Unavailable(why) => break Alone::Unavailable(why),
            Heard::Typing => {}
            Heard::Woken => {
                if let Some(signal) = attend(&mut signals, &mut prompter) {
                    break Alone::Stopped(signal.number());
                }
            }
        }
    };
    prompter.withdraw();
    Ok(outcome)
}

/// Takes in signals; returns the one that asks us to stop.
fn attend(signals: &mut Signals, prompter: &mut TerminalPrompter<'_>) -> Option<Signal> {
    while let Some(signal) = signals.next() {
        match signal {
            Signal::Interrupt | Signal::Terminate | Signal::Hangup => return Some(signal),
            Signal::Suspend => {
                prompter.rest();
                aye_process::suspend(&mut []);
                // Our own return; the prompt comes back once.
                let stop = std::iter::from_fn(|| signals.next()).find(|signal| signal.is_stop());
                prompter.redraw();
                if stop.is_some() {
                    return stop;
                }
            }
            Signal::Continue => prompter.redraw(),
            Signal::Resize => {}
        }
    }
    None
}
