//! The prompt as lines: the question once, then whole lines read. Nothing
//! moves and nothing is repainted, for screen readers and simple terminals.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use aye_core::id::QuestionId;
use aye_core::question::Question;

use crate::paint::Paint;
use aye_runtime::advisor::{Advising, News};
use aye_runtime::clock::Clock;
use aye_runtime::driver::QuestionContext;

use super::advised::wait;
use super::answers::{Answers, Said};
use super::dialog::Escape;
use super::hold::Hold;
use super::terminal::{PromptConfig, PromptEvent, until};
use super::tty::{Mode, Tty};
use super::view::{Look, plain_advice, plain_ask, plain_details, plain_question};

/// The caller looks at its own affairs at least this often.
const LOOK: Duration = Duration::from_secs(1);
/// More than this is no line.
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
    /// Who is asked for advice.
    advising: Option<Advising>,
    /// What it said is on the terminal.
    advised: bool,
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
        posed: &QuestionContext<'_>,
        config: &PromptConfig,
    ) -> Result<Self, String> {
        let mode = if posed.question.secret { Mode::HiddenLines } else { Mode::Lines };
        tty.take(mode).map_err(|error| format!("the terminal cannot be used: {error}"))?;
        Ok(Self {
            tty,
            id: posed.question.id.clone(),
            paint: Paint { color: false, ..config.paint },
            escape: config.escape,
            answers: Answers::new(config.escape),
            typed: Vec::new(),
            say: Some(Say::Question),
            asking: false,
            answered: false,
            hold: Hold::default(),
            advising: Advising::of(posed, config.advisor.as_ref()),
            advised: false,
        })
    }

    /// Where it is shown.
    pub(super) fn tty(&self) -> &Tty {
        &self.tty
    }

    pub(super) fn is_for(&self, question: &Question) -> bool {
        self.id == question.id
    }

    pub(super) fn hear(
        &mut self,
        posed: &QuestionContext<'_>,
        wake: &[BorrowedFd<'_>],
        clock: &dyn Clock,
    ) -> PromptEvent {
        if std::mem::take(&mut self.answered) {
            self.answers = Answers::new(self.escape);
            self.say = Some(Say::Question);
        }
        let look_up = Instant::now() + LOOK;
        loop {
            let now = clock.now();
            if posed.deadline.is_some_and(|deadline| now >= deadline) {
                return PromptEvent::Deadline;
            }
            if !self.tty.is_foreground() {
                return PromptEvent::Unavailable("this process is in the background".to_owned());
            }
            if let Err(error) = self.speak(posed, clock) {
                return PromptEvent::Unavailable(format!(
                    "the terminal cannot be written to: {error}"
                ));
            }
            let mut limit = look_up.saturating_duration_since(Instant::now());
            if let Some(deadline) = posed.deadline {
                limit = limit.min(until(deadline, now));
            }
            let ready = wait(self.advising.as_mut(), posed, &self.tty, wake, limit);
            if ready.gone {
                return PromptEvent::Unavailable("the terminal has gone away".to_owned());
            }
            if ready.typed
                && let Some(heard) = self.read(posed, clock)
            {
                return heard;
            }
            if ready.woken || Instant::now() >= look_up {
                return PromptEvent::Woken;
            }
        }
    }

    fn read(&mut self, posed: &QuestionContext<'_>, clock: &dyn Clock) -> Option<PromptEvent> {
        let mut buffer = [0; 4096];
        let count = match self.tty.read(&mut buffer) {
            Ok(0) if self.escape == Escape::Dismisses => return Some(PromptEvent::Dismissed),
            Ok(0) => return Some(PromptEvent::Unavailable("the input has ended".to_owned())),
            Ok(count) => count,
            Err(error) => {
                return Some(PromptEvent::Unavailable(format!(
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
        match self.answers.line(posed.question, line) {
            Said::Again(remark) => self.say = Some(Say::Remark(remark)),
            Said::Details => self.say = Some(Say::Details),
            Said::Answer(given) => {
                self.answered = true;
                self.advising.iter_mut().for_each(Advising::end);
                return Some(PromptEvent::Given(given));
            }
            Said::Dismissed => return Some(PromptEvent::Dismissed),
        }
        // What is not sent yet cannot be seen, but somebody is there.
        self.hold.is_due(posed.deadline, clock.now()).then_some(PromptEvent::Typing)
    }

    fn speak(&mut self, posed: &QuestionContext<'_>, clock: &dyn Clock) -> std::io::Result<()> {
        let beside = self.advising.as_ref().map(Advising::beside);
        let came = beside.is_some_and(|beside| matches!(beside.news, News::Came(_)));
        let news = came && !self.advised;
        let say = match self.say.take() {
            None if !news => return Ok(()),
            say => say.unwrap_or(Say::Nothing),
        };
        let (columns, rows) = self.tty.size();
        let look = Look { paint: self.paint, columns, rows };
        let again = news || matches!(say, Say::Question);
        let mut lines = match say {
            Say::Question => plain_question(posed, look),
            Say::Remark(remark) => vec![crate::paint::escape_control(&remark)],
            Say::Details => plain_details(posed, beside, look, clock.now()),
            Say::Nothing => Vec::new(),
        };
        if let (true, Some(beside)) = (again, beside) {
            lines.extend(plain_advice(beside, look));
        }
        self.advised = came;
        // It came while the cursor stood behind the ask.
        let mut text = if self.asking { "\r\n".to_owned() } else { String::new() };
        text.extend(lines.iter().map(|line| format!("{line}\r\n")));
        text.push_str(&plain_ask(posed, self.answers.wanted(posed.question), look, clock.now()));
        self.asking = true;
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
