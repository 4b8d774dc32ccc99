//! Getting an answer to a question.

use std::os::fd::{AsFd as _, BorrowedFd};

use aye_core::input::{Input, Request};
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

/// Asks people, somewhere.
pub trait Prompter {
    /// Shows the question if it is not shown yet and waits for an answer, for
    /// one of `wake` to be readable, or for the deadline.
    fn ask(
        &mut self,
        question: &Question,
        deadline: Option<Timestamp>,
        wake: &[BorrowedFd<'_>],
    ) -> Result<Asked, Error>;

    /// The answer that was given here was refused: says why, asks on.
    fn refused(&mut self, why: &str);

    /// Takes the prompt away: it is answered, here or elsewhere, or expired.
    /// The report says what became of it.
    fn withdraw(&mut self);

    /// The window changed or came back.
    fn redraw(&mut self);
}

impl Driver<'_> {
    /// Waits until the question is no longer open.
    pub(super) fn ask(&mut self, question: &Question) -> Result<(), Error> {
        self.listen()?;
        self.parts.report.pause();
        while self.is_open(question) {
            let now = self.parts.clock.now();
            let deadline = self.parts.machine.wake_at();
            if deadline.is_some_and(|deadline| now >= deadline) {
                self.tell(Input::Tick, None)?;
                continue;
            }
            let Some(prompter) = self.parts.prompter.as_deref_mut() else {
                let message = "nobody can be asked here".to_owned();
                self.tell(Input::Leave { message }, None)?;
                break;
            };
            let mut wake: Vec<BorrowedFd<'_>> = vec![self.parts.signals.fd()];
            wake.extend(self.bell.as_ref().map(|bell| bell.as_fd()));
            match prompter.ask(question, deadline, &wake)? {
                Asked::Answered(answer) => self.answer(question, answer)?,
                Asked::Typing => {
                    let by = self.parts.machine.state().started.driver.user.clone();
                    let question = question.id.clone();
                    self.tell(Input::Request(Request::Hold { question, by }), None)?;
                }
                Asked::Woken => {
                    let seen = self.read_signals()?;
                    if seen.suspend {
                        aye_process::suspend(&mut []);
                    }
                    self.read_mail()?;
                    if seen.suspend || seen.resize {
                        self.redraw();
                    }
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
