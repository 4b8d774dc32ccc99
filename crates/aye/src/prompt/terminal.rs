//! Asking on the terminal: one `poll` over keys, the caller's descriptors and
//! the next change of the countdown.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use aye_core::question::{Answer, Prompter as Through};
use jiff::Timestamp;

use crate::paint::Paint;
use aye_runtime::advisor::Advisor;
use aye_runtime::clock::Clock;
use aye_runtime::driver::{Asked, Prompter, QuestionContext};
use aye_runtime::error::Error;
use aye_runtime::origin::origin;

use super::dialog::{Escape, Given};
use super::framed::Framed;
use super::key::Key;
use super::plain::Plain;
use super::poll::Ready;
use super::tty::Tty;
use super::typeahead_guard::TypeaheadGuard;

/// How many questions may wait on one terminal, the one that is shown among them.
const MOST_WAITING: usize = 5;

/// How a terminal is to be used.
#[derive(Debug, Clone)]
pub struct PromptConfig {
    /// Colours and glyphs.
    pub paint: Paint,
    /// Lines only: nothing moves.
    pub plain: bool,
    /// What Escape means.
    pub escape: Escape,
    /// Who sits there.
    pub user: String,
    /// `AYE_HOME`.
    pub home: PathBuf,
    /// Why nobody is to be asked at all.
    pub obstacle: Option<String>,
    /// The key that opened the question: pressed once more by accident, or
    /// repeating, it is no answer.
    pub opened_with: Option<Key>,
    /// Who is asked for advice on questions of a run that want it.
    pub advisor: Option<Advisor>,
}

/// What came of asking, before it is put into the driver's words.
#[derive(Debug, Clone, PartialEq)]
pub enum PromptEvent {
    /// An answer.
    Given(Given),
    /// The person left without an answer.
    Dismissed,
    /// Somebody is writing.
    Typing,
    /// One of the caller's descriptors is ready, or it is time to look.
    Woken,
    /// The deadline has passed.
    Deadline,
    /// Nobody can be asked.
    Unavailable(String),
}

/// Asks on the controlling terminal.
pub struct TerminalPrompter<'a> {
    config: PromptConfig,
    clock: &'a dyn Clock,
    open: Option<Shown>,
    tail: TypeaheadGuard,
}

/// A prompt that is on the terminal.
enum Shown {
    Framed(Box<Framed>),
    Plain(Box<Plain>),
}

impl<'a> TerminalPrompter<'a> {
    /// A prompter; the terminal is opened when there is something to ask.
    pub fn new(config: PromptConfig, clock: &'a dyn Clock) -> Self {
        let mut tail = TypeaheadGuard::default();
        if let Some(key) = &config.opened_with {
            tail.begin(key, Instant::now());
        }
        Self { config, clock, open: None, tail }
    }

    /// Shows the question if it is not shown yet and waits.
    pub fn hear(&mut self, posed: &QuestionContext<'_>, wake: &[BorrowedFd<'_>]) -> PromptEvent {
        if let Some(obstacle) = &self.config.obstacle {
            return PromptEvent::Unavailable(obstacle.clone());
        }
        let same = match &self.open {
            Some(Shown::Framed(prompt)) => prompt.is_for(posed.question),
            Some(Shown::Plain(prompt)) => prompt.is_for(posed.question),
            None => false,
        };
        if !same {
            self.close();
            match self.begin(posed) {
                Ok(shown) => self.open = Some(shown),
                Err(why) => return PromptEvent::Unavailable(why),
            }
        }
        let heard = match &mut self.open {
            Some(Shown::Framed(prompt)) => prompt.hear(posed, wake, self.clock, &mut self.tail),
            Some(Shown::Plain(prompt)) => prompt.hear(posed, wake, self.clock),
            None => PromptEvent::Woken,
        };
        if let PromptEvent::Unavailable(_) = heard {
            self.close();
        }
        heard
    }

    fn begin(&self, posed: &QuestionContext<'_>) -> Result<Shown, String> {
        let tty = Tty::open()?;
        if self.config.plain {
            Ok(Shown::Plain(Box::new(Plain::open(tty, posed, &self.config)?)))
        } else {
            Ok(Shown::Framed(Box::new(Framed::open(tty, posed, &self.config)?)))
        }
    }

    /// The window has changed: the next [`hear`](Self::hear) paints everything
    /// anew. Lines stay as they are.
    pub fn resized(&mut self) {
        if let Some(Shown::Framed(prompt)) = &mut self.open {
            prompt.hide();
        }
    }

    fn close(&mut self) {
        match self.open.take() {
            Some(Shown::Framed(prompt)) => prompt.close(),
            Some(Shown::Plain(prompt)) => prompt.close(),
            None => {}
        }
    }
}

impl Prompter for TerminalPrompter<'_> {
    fn ask(
        &mut self,
        posed: &QuestionContext<'_>,
        wake: &[BorrowedFd<'_>],
    ) -> Result<Asked, Error> {
        Ok(match self.hear(posed, wake) {
            PromptEvent::Given(given) => {
                let by = self.config.user.clone();
                let answer = Answer {
                    reason: given.reason,
                    typed: given.typed,
                    digest: Some(posed.question.digest.clone()),
                    origin: Some(origin(&self.config.home)),
                    ..Answer::new(given.value, by, Through::Terminal)
                };
                Asked::Answered { answer, code: given.code, remember: given.remember }
            }
            PromptEvent::Dismissed => {
                Asked::Unavailable("it was left without an answer".to_owned())
            }
            PromptEvent::Typing => Asked::Typing,
            PromptEvent::Woken => Asked::Woken,
            PromptEvent::Deadline => Asked::Deadline,
            PromptEvent::Unavailable(why) => Asked::Unavailable(why),
        })
    }

    fn obstacle(&self) -> Option<&str> {
        self.config.obstacle.as_deref()
    }

    fn room(&self) -> Option<usize> {
        Some(MOST_WAITING)
    }

    fn keys(&self) -> Option<OwnedFd> {
        let tty = match self.open.as_ref()? {
            Shown::Framed(prompt) => prompt.tty(),
            Shown::Plain(prompt) => prompt.tty(),
        };
        tty.as_fd().try_clone_to_owned().ok()
    }

    fn refused(&mut self, why: &str) {
        match &mut self.open {
            Some(Shown::Framed(prompt)) => prompt.refused(why),
            Some(Shown::Plain(prompt)) => prompt.refused(why),
            None => {}
        }
    }

    fn hide(&mut self) {
        match &mut self.open {
            Some(Shown::Framed(prompt)) => prompt.hide(),
            Some(Shown::Plain(prompt)) => prompt.hide(),
            None => {}
        }
    }

    fn withdraw(&mut self) {
        self.close();
    }

    fn rest(&mut self) {
        match &mut self.open {
            Some(Shown::Framed(prompt)) => prompt.rest(),
            Some(Shown::Plain(prompt)) => prompt.rest(),
            None => {}
        }
    }

    fn redraw(&mut self) {
        match &mut self.open {
            Some(Shown::Framed(prompt)) => prompt.redraw(),
            Some(Shown::Plain(prompt)) => prompt.redraw(),
            None => {}
        }
    }
}

/// How long until a moment, from a clock that may have jumped.
pub(super) fn until(moment: Timestamp, now: Timestamp) -> Duration {
    let ms = moment.as_millisecond() - now.as_millisecond();
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

/// Waits for a key, one of the caller's descriptors, or the time to be up.
pub(super) fn wait(tty: &Tty, wake: &[BorrowedFd<'_>], limit: Duration) -> Ready {
    super::poll::poll(tty, wake, Instant::now() + limit)
}
