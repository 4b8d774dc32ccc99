//! The prompt as lines: the question once, then whole lines read. Nothing
//! moves and nothing is repainted, for screen readers and simple terminals.

use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use aye_core::id::QuestionId;
use jiff::Timestamp;

use crate::paint::Paint;
use aye_runtime::advisor::Advising;
use aye_runtime::clock::Clock;
use aye_runtime::prompter::AskedQuestion;

use super::answers::{Answers, LineOutcome};
use super::dialog::Escape;
use super::hold::Hold;
use super::poll::poll;
use super::terminal::{PromptConfig, TerminalEvent};
use super::tty::{Mode, Tty};
use super::view::{Look, plain_advice, plain_ask, plain_details, plain_question, seconds_left};

/// How many seconds are left when the time is said again.
const SAID_AGAIN: [i64; 6] = [3600, 600, 300, 60, 30, 10];
/// More than this is not a line.
const LONGEST: usize = 64 * 1024;

/// A question as lines on the terminal.
pub(super) struct Plain {
    tty: Tty,
    id: QuestionId,
    paint: Paint,
    escape: Escape,
    answers: Answers,
    typed: Vec<u8>,
    /// What to say before asking for the next line.
    say: Option<Say>,
    /// The cursor stands behind the ask.
    asking: bool,
    answered: bool,
    hold: Hold,
    /// How many seconds were left when that was last said.
    said_left: i64,
    /// When it is said again.
    say_left_at: Option<Instant>,
    /// Who is asked for advice.
    advising: Option<Advising>,
    /// How many pieces of advice are on the terminal.
    advised: usize,
}

/// What is to be printed before the next line is read.
enum Say {
    /// The whole question.
    Question,
    /// A remark on the last line.
    Remark(String),
    /// What `?` asks for.
    Details,
    /// Nothing: only the ask again.
    Nothing,
}

impl Plain {
    pub(super) fn open(
        mut tty: Tty,
        asked: &AskedQuestion<'_>,
        config: &PromptConfig,
    ) -> Result<Self, String> {
        let mode = if asked.question.secret { Mode::HiddenLines } else { Mode::Lines };
        tty.take(mode).map_err(|error| format!("the terminal cannot be used: {error}"))?;
        Ok(Self {
            tty,
            id: asked.question.id.clone(),
            paint: Paint { color: false, bold: false, ..config.paint },
            escape: config.escape,
            answers: Answers::new(config.escape),
            typed: Vec::new(),
            say: Some(Say::Question),
            asking: false,
            answered: false,
            hold: Hold::default(),
            said_left: i64::MAX,
            say_left_at: None,
            advising: Advising::of(asked, config.advisor.as_ref()),
            advised: 0,
        })
    }

    pub(super) fn is_for(&self, question: &QuestionId) -> bool {
        self.id == *question
    }

    /// Whether the ask stands where someone sits.
    pub(super) fn is_visible(&self) -> bool {
        self.asking && self.tty.is_foreground()
    }

    /// Takes in what was typed and prints what there is to say.
    pub(super) fn turn(
        &mut self,
        asked: &AskedQuestion<'_>,
        clock: &dyn Clock,
    ) -> Option<TerminalEvent> {
        let unavailable = |why: &str| Some(TerminalEvent::Unavailable(why.to_owned()));
        if std::mem::take(&mut self.answered) {
            self.answers = Answers::new(self.escape);
            self.say = Some(Say::Question);
        }
        if !self.tty.is_foreground() {
            return unavailable("this process is in the background");
        }
        // Nobody answers what is not printed yet.
        if !matches!(self.say, Some(Say::Question)) {
            let ready = poll(self.tty.as_fd(), &[], Instant::now());
            if ready.gone {
                return unavailable("the terminal has gone away");
            }
            if ready.typed
                && let Some(event) = self.read(asked, clock)
            {
                return Some(event);
            }
            let advising = self.advising.as_mut();
            if let Some(advice) = advising.and_then(|advising| advising.poll(asked)) {
                return Some(TerminalEvent::Advised(advice));
            }
        }
        match self.speak(asked, clock) {
            Ok(()) => None,
            Err(error) => unavailable(&format!("the terminal cannot be written to: {error}")),
        }
    }

    /// When the next [`turn`](Self::turn) is due, without a key.
    pub(super) fn look_at(&self) -> Option<Instant> {
        let advice = self.advising.as_ref().and_then(Advising::look_at);
        [advice, self.say_left_at].into_iter().flatten().min()
    }

    /// Whether it is time to say again how much time is left: nothing else
    /// would tell, where nothing moves.
    fn should_say_left(&mut self, asked: &AskedQuestion<'_>, now: Timestamp) -> bool {
        let Some(deadline) = asked.deadline else {
            self.say_left_at = None;
            return false;
        };
        let left = seconds_left(deadline, now);
        // Someone holds the deadline back: there is more time than was said.
        self.said_left = self.said_left.max(left);
        let next = SAID_AGAIN.into_iter().find(|mark| *mark < self.said_left);
        let wait = next.map(|mark| u64::try_from(left - mark).unwrap_or(0));
        self.say_left_at = wait.map(|wait| Instant::now() + Duration::from_secs(wait));
        self.asking && wait == Some(0)
    }

    fn read(&mut self, asked: &AskedQuestion<'_>, clock: &dyn Clock) -> Option<TerminalEvent> {
        let mut buffer = [0; 4096];
        let count = match self.tty.read(&mut buffer) {
            Ok(0) if self.escape == Escape::Dismisses => return Some(TerminalEvent::Dismissed),
            Ok(0) => return Some(TerminalEvent::Unavailable("the input has ended".to_owned())),
            Ok(count) => count,
            Err(error) => {
                return Some(TerminalEvent::Unavailable(format!(
                    "the terminal cannot be read: {error}"
                )));
            }
        };
        self.typed.extend_from_slice(&buffer[..count]);
        if !self.typed.ends_with(b"\n") && self.typed.len() < LONGEST {
            return None;
        }
        self.asking = false;
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.typed)).into_owned();
        let line = line.trim_end_matches(['\n', '\r']);
        match self.answers.line(asked.question, line) {
            LineOutcome::Again(remark) => self.say = Some(Say::Remark(remark)),
            LineOutcome::Details => self.say = Some(Say::Details),
            LineOutcome::Answer(given) => {
                self.answered = true;
                self.advising.iter_mut().for_each(Advising::end);
                return Some(TerminalEvent::Given(given));
            }
            LineOutcome::Dismissed => return Some(TerminalEvent::Dismissed),
        }
        // What is not sent yet cannot be seen, but someone is there.
        self.hold.is_due(asked.deadline, clock.now()).then_some(TerminalEvent::Typing)
    }

    fn speak(&mut self, asked: &AskedQuestion<'_>, clock: &dyn Clock) -> std::io::Result<()> {
        let news = asked.advice.len() > self.advised;
        let now = clock.now();
        let late = self.should_say_left(asked, now);
        let advisor = self.advising.as_ref().map(Advising::advisor);
        let say = match self.say.take() {
            None if !news && !late => return Ok(()),
            say => say.unwrap_or(Say::Nothing),
        };
        let (columns, rows) = self.tty.size();
        let look = Look { paint: self.paint, columns, rows };
        let from = if matches!(say, Say::Question) { 0 } else { self.advised };
        let mut lines = match say {
            Say::Question => plain_question(asked, look),
            Say::Remark(remark) => vec![crate::paint::escape_control(&remark)],
            Say::Details => plain_details(asked, advisor, look, clock.now()),
            Say::Nothing => Vec::new(),
        };
        let fresh = asked.advice.get(from..).unwrap_or_default();
        lines.extend(plain_advice(asked.question, fresh, advisor.filter(|_| from == 0), look));
        self.advised = asked.advice.len();
        // It came while the cursor stood behind the ask.
        let mut text = if self.asking { "\r\n".to_owned() } else { String::new() };
        text.extend(lines.iter().map(|line| format!("{line}\r\n")));
        text.push_str(&plain_ask(asked, self.answers.wanted(asked.question), look, clock.now()));
        self.asking = true;
        if let Some(deadline) = asked.deadline {
            self.said_left = seconds_left(deadline, now);
        }
        self.should_say_left(asked, now);
        self.tty.write(&text)
    }

    pub(super) fn refused(&mut self, why: &str) {
        self.answered = false;
        self.say = Some(Say::Remark(why.to_owned()));
    }

    /// Something else is about to be printed.
    pub(super) fn hide(&mut self) {
        if std::mem::take(&mut self.asking) {
            if self.tty.is_foreground() {
                let _ = self.tty.write("\r\n");
            }
            self.say.get_or_insert(Say::Nothing);
        }
    }

    pub(super) fn rest(&mut self) {
        self.advising.iter_mut().for_each(Advising::pause);
        self.hide();
        self.tty.give_back();
        self.typed.clear();
    }

    pub(super) fn redraw(&mut self) {
        self.advising.iter_mut().for_each(Advising::resume);
        if self.tty.is_foreground() {
            self.tty.retake();
            self.asking = false;
            self.say = Some(Say::Question);
        }
    }

    pub(super) fn close(mut self) {
        self.hide();
        self.tty.give_back();
    }
}
