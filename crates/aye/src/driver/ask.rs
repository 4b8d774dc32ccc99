//! Getting an answer to a question.

use std::os::fd::{AsFd as _, BorrowedFd};

use aye_core::input::{Input, Request};
use aye_core::journal::{Phase, State};
use aye_core::question::{Answer, Question};
use jiff::Timestamp;

use crate::error::Error;

use super::drive::Driver;

/// What came of waiting for an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// Somebody answered here.
    Answered(Answer),
    /// Somebody is typing: the deadline should be held.
    Typing,
    /// One of the descriptors is ready; the prompt stays as it is.
    Woken,
    /// The deadline has passed.
    Deadline,
    /// Nobody can be asked here after all, and why.
    Unavailable(String),
}

/// A question and what somebody may want to know before answering it.
#[derive(Debug, Clone, Copy)]
pub struct Posed<'a> {
    /// The question.
    pub question: &'a Question,
    /// When it expires: its own deadline, which may have been held back, or
    /// the run's.
    pub deadline: Option<Timestamp>,
    /// Who agreed so far, where several have to.
    pub agreed: &'a [String],
    /// The run so far; none for a question that belongs to no run.
    pub run: Option<&'a State>,
}

/// Asks people, somewhere.
pub trait Prompter {
    /// Shows the question if it is not shown yet and waits for an answer, for
    /// one of `wake` to be readable, or for the deadline. It returns
    /// [`Asked::Woken`] at least once a second, so that the caller can look
    /// for what it was not woken for.
    fn ask(&mut self, posed: &Posed<'_>, wake: &[BorrowedFd<'_>]) -> Result<Asked, Error>;

    /// The answer that was given here was refused: says why, asks on.
    fn refused(&mut self, why: &str);

    /// Somebody is about to print: takes the prompt away for the moment. The
    /// next [`ask`](Self::ask) shows it again, with what was typed.
    fn hide(&mut self);

    /// Takes the prompt away for good: it is answered, here or elsewhere, or
    /// expired. The report says what became of it.
    fn withdraw(&mut self);

    /// This process is about to be stopped: gives the terminal back.
    fn rest(&mut self);

    /// This process goes on after a stop: the terminal has to be taken again.
    fn redraw(&mut self);
}

impl Driver<'_> {
    /// Waits until the question is no longer open.
    pub(super) fn ask(&mut self, question: &Question) -> Result<(), Error> {
        self.listen()?;
        self.let_words_out()?;
        self.parts.report.pause();
        while self.is_open(question) {
            let now = self.parts.clock.now();
            let deadline = self.parts.machine.wake_at();
            if deadline.is_some_and(|deadline| now >= deadline) {
                self.tell(Input::Tick, None)?;
                continue;
            }
            let Some(prompter) = self.parts.prompter.as_deref_mut() else {
                let message = "there is no prompter".to_owned();
                self.tell(Input::Leave { message }, None)?;
                break;
            };
            let mut wake: Vec<BorrowedFd<'_>> = vec![self.parts.signals.fd()];
            wake.extend(self.bell.as_ref().map(|bell| bell.as_fd()));
            let state = self.parts.machine.state();
            let agreed = match &state.phase {
                Phase::Asking { agreed, .. } => agreed.as_slice(),
                Phase::Between(_) | Phase::Running { .. } | Phase::Ended(_) => &[],
            };
            let posed = Posed { question, deadline, agreed, run: Some(state) };
            match prompter.ask(&posed, &wake)? {
                Asked::Answered(answer) => self.answer(question, answer)?,
                Asked::Typing => {
                    let by = self.parts.machine.state().started.driver.user.clone();
                    let question = question.id.clone();
                    self.tell(Input::Request(Request::Hold { question, by }), None)?;
                }
                Asked::Woken => {
                    let seen = self.read_signals()?;
                    if seen.suspend {
                        self.rest();
                        aye_process::suspend(&mut []);
                        // Our own return is among them: the prompt comes back once.
                        self.read_signals()?;
                    }
                    if seen.suspend || seen.resumed {
                        self.redraw();
                    }
                    self.read_mail()?;
                }
                Asked::Deadline => {
                    self.tell(Input::Tick, None)?;
                }
                Asked::Unavailable(message) => {
                    self.tell(Input::Leave { message }, None)?;
                }
            }
        }
        if let Some(prompter) = self.parts.prompter.as_deref_mut() {
            prompter.withdraw();
        }
        Ok(())
    }

    fn answer(&mut self, question: &Question, answer: Answer) -> Result<(), Error> {
        let request = Request::Answer { question: question.id.clone(), answer };
        let refusal = self.tell(Input::Request(request), None)?;
        if let (Some(refusal), Some(prompter)) = (refusal, self.parts.prompter.as_deref_mut()) {
            prompter.refused(&refusal.to_string());
        }
        Ok(())
    }

    fn rest(&mut self) {
        if let Some(prompter) = self.parts.prompter.as_deref_mut() {
            prompter.rest();
        }
    }

    fn redraw(&mut self) {
        if let Some(prompter) = self.parts.prompter.as_deref_mut() {
            prompter.redraw();
        }
    }

    fn is_open(&self, question: &Question) -> bool {
        use aye_core::effect::Effect;
        matches!(self.parts.machine.wants(), Effect::Ask(open) if open.id == question.id)
    }
}
