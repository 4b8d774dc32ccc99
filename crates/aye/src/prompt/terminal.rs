//! Asking on the terminal.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use aye_core::advice::Advice;
use aye_core::id::QuestionId;
use aye_core::question::{Answer, Channel, Purpose};
use jiff::Timestamp;

use crate::paint::Paint;
use aye_runtime::advisor::Advisor;
use aye_runtime::clock::{Clock, ms_between};
use aye_runtime::prompter::{AskedQuestion, PresenceKind, PromptEvent, Prompter, Withdrawn};

use super::attention::Attention;
use super::dialog::{Escape, Given};
use super::framed::Framed;
use super::key::Key;
use super::plain::Plain;
use super::shared_screen::{Prompt, SharedScreen};
use super::tty::Tty;
use super::typeahead_guard::TypeaheadGuard;

/// How long nothing is looked at without a reason.
const LOOK: Duration = Duration::from_secs(1);

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
    /// Why nobody is to be asked at all.
    pub obstacle: Option<String>,
    /// The key that opened the question: pressed once more by accident, or
    /// repeating, it is not an answer.
    pub opened_with: Option<Key>,
    /// Who is asked for advice on questions of a run that want it.
    pub advisor: Option<Advisor>,
    /// How a person who looks away is called, if at all.
    pub attention: Option<Attention>,
}

/// What happened at the terminal.
#[derive(Debug, Clone, PartialEq)]
pub enum TerminalEvent {
    /// An answer.
    Given(Given),
    /// The person left without an answer.
    Dismissed,
    /// Someone is writing.
    Typing,
    /// The advisor said what it thinks.
    Advised(Advice),
    /// Nobody can be asked.
    Unavailable(String),
}

/// Asks on the controlling terminal.
pub struct TerminalPrompter<'a> {
    config: PromptConfig,
    clock: &'a dyn Clock,
    screen: SharedScreen,
    /// The terminal of the prompt that is open.
    keys: Option<OwnedFd>,
    tail: TypeaheadGuard,
}

impl<'a> TerminalPrompter<'a> {
    /// A prompter on this screen; the terminal is opened when there is
    /// something to ask.
    pub fn new(config: PromptConfig, clock: &'a dyn Clock, screen: SharedScreen) -> Self {
        let mut tail = TypeaheadGuard::default();
        if let Some(key) = &config.opened_with {
            tail.begin(key, Instant::now());
        }
        Self { config, clock, screen, keys: None, tail }
    }

    /// Shows the question if it is not shown yet, takes in what was typed, and
    /// does not wait.
    pub(super) fn turn(&mut self, asked: &AskedQuestion<'_>) -> Option<TerminalEvent> {
        if let Some(obstacle) = &self.config.obstacle {
            return Some(TerminalEvent::Unavailable(obstacle.clone()));
        }
        if self.screen.drawn().lent.is_some() {
            return None;
        }
        let same = self.screen.drawn().is_about(&asked.question.id);
        if !same {
            self.close();
            match self.open(asked) {
                Ok(prompt) => self.screen.drawn_mut().prompt = Some(prompt),
                Err(why) => return Some(TerminalEvent::Unavailable(why)),
            }
        }
        let event = match &mut self.screen.drawn_mut().prompt {
            Some(Prompt::Framed(prompt)) => prompt.turn(asked, self.clock, &mut self.tail),
            Some(Prompt::Plain(prompt)) => prompt.turn(asked, self.clock),
            None => None,
        };
        if let Some(TerminalEvent::Unavailable(_)) = event {
            self.close();
        }
        event
    }

    /// The same, for a caller without a driver: waits for a key or one of `wake`
    /// if nothing has happened, at most a second.
    pub fn hear(
        &mut self,
        asked: &AskedQuestion<'_>,
        wake: &[BorrowedFd<'_>],
    ) -> Option<TerminalEvent> {
        let event = self.turn(asked);
        if event.is_some() {
            return event;
        }
        let left = asked.deadline.map(|deadline| until(deadline, self.clock.now()));
        let latest = Instant::now() + left.map_or(LOOK, |left| left.min(LOOK));
        let latest = self.look_at().map_or(latest, |look| look.min(latest));
        if let Some(keys) = &self.keys {
            super::poll::poll(keys.as_fd(), wake, latest);
        }
        None
    }

    fn open(&mut self, asked: &AskedQuestion<'_>) -> Result<Prompt, String> {
        let mut tty = Tty::open()?;
        let keys = tty.as_fd().try_clone_to_owned();
        self.keys = Some(keys.map_err(|error| format!("the terminal cannot be used: {error}"))?);
        if let Some(attention) = self.config.attention {
            let question = asked.question;
            let about = question.own_title().unwrap_or(&question.step);
            let skill = asked.run.map_or("aye", |run| run.started.skill.as_str());
            // A terminal that cannot be written to is told of in a moment.
            let _ = tty.write(&attention.opened(&format!("{skill}: {about}")));
        }
        if self.config.plain {
            Ok(Prompt::Plain(Box::new(Plain::open(tty, asked, &self.config)?)))
        } else {
            Ok(Prompt::Framed(Box::new(Framed::open(tty, asked, &self.config)?)))
        }
    }

    /// Takes the prompt away for good.
    pub fn close(&mut self) {
        self.screen.close();
        let (keys, attention) = (self.keys.take(), self.config.attention);
        if let (Some(keys), Some(attention)) = (keys, attention)
            && aye_process::group::in_foreground(&keys)
        {
            let _ = rustix::io::write(&keys, attention.closed().as_bytes());
        }
    }

    /// An answer of the person at this terminal.
    pub(super) fn answer(&self, asked: &AskedQuestion<'_>, given: Given) -> PromptEvent {
        let by = self.config.user.clone();
        let answer = Answer {
            reason: given.reason,
            typed: given.typed,
            digest: Some(asked.question.digest.clone()),
            remember: given.remember,
            ..Answer::local(given.value, by, Channel::Terminal)
        };
        PromptEvent::Answered { answer, code: given.code }
    }
}

impl Prompter for TerminalPrompter<'_> {
    fn ask(&mut self, asked: &AskedQuestion<'_>) -> Option<PromptEvent> {
        // What is known about a failure stands in the record, right above the prompt.
        let failed = asked.question.purpose == Purpose::Recover;
        let asked = &AskedQuestion { known: if failed { &[] } else { asked.known }, ..*asked };
        Some(match self.turn(asked)? {
            TerminalEvent::Given(given) => self.answer(asked, given),
            TerminalEvent::Dismissed => {
                PromptEvent::Left("it was left without an answer".to_owned())
            }
            TerminalEvent::Typing => PromptEvent::Engaged,
            TerminalEvent::Advised(advice) => PromptEvent::Advised(advice),
            TerminalEvent::Unavailable(why) => PromptEvent::Left(why),
        })
    }

    fn is_showing(&self, question: &QuestionId) -> bool {
        self.screen.drawn().shows(question)
    }

    // Who edits, or types into a step that has the terminal, comes back to it.
    fn is_attended(&self, question: &QuestionId) -> bool {
        let drawn = self.screen.drawn();
        drawn.shows(question) || drawn.lent.is_some()
    }

    fn presence(&self) -> Option<PresenceKind> {
        Some(PresenceKind::Terminal)
    }

    fn refused(&mut self, _: &QuestionId, why: &str) {
        match &mut self.screen.drawn_mut().prompt {
            Some(Prompt::Framed(prompt)) => prompt.refused(why),
            Some(Prompt::Plain(prompt)) => prompt.refused(why),
            None => {}
        }
    }

    // The report says what became of it.
    fn withdraw(&mut self, question: &QuestionId, _: &Withdrawn) {
        if self.screen.drawn().is_about(question) {
            self.close();
        }
    }

    fn wake(&self) -> Option<BorrowedFd<'_>> {
        let ours = self.screen.drawn().lent.is_none();
        self.keys.as_ref().filter(|_| ours).map(|keys| keys.as_fd())
    }

    fn look_at(&self) -> Option<Instant> {
        let drawn = self.screen.drawn();
        match drawn.prompt.as_ref().filter(|_| drawn.lent.is_none())? {
            Prompt::Framed(prompt) => prompt.look_at(),
            Prompt::Plain(prompt) => prompt.look_at(),
        }
    }

    fn obstacle(&self) -> Option<&str> {
        self.config.obstacle.as_deref()
    }

    fn one_at_a_time(&self) -> bool {
        true
    }
}

/// How long until a moment, from a clock that may have jumped.
pub(super) fn until(moment: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis(ms_between(now, moment))
}
