//! The terminal prompt of a script whose question is recorded.

use std::os::fd::BorrowedFd;
use std::time::Instant;

use aye_core::id::QuestionId;
use aye_core::question::Question;
use aye_runtime::prompter::{AskedQuestion, PromptEvent, Prompter, Withdrawn};

use super::terminal::{TerminalEvent, TerminalPrompter};

/// Looks and behaves as the prompt of a question without a run. Where nobody
/// can be asked on the terminal, the question waits in the inbox.
pub struct ScriptPrompter<'a> {
    terminal: TerminalPrompter<'a>,
    /// The heading that the script gave.
    title: String,
    /// Nobody can be asked on the terminal.
    unavailable: bool,
}

impl<'a> ScriptPrompter<'a> {
    /// Asks on this terminal, under this heading.
    pub fn new(terminal: TerminalPrompter<'a>, title: String) -> Self {
        Self { unavailable: terminal.obstacle().is_some(), terminal, title }
    }
}

impl Prompter for ScriptPrompter<'_> {
    fn ask(&mut self, asked: &AskedQuestion<'_>) -> Option<PromptEvent> {
        if self.unavailable {
            return None;
        }
        let question = Question { title: self.title.clone(), ..asked.question.clone() };
        let asked = AskedQuestion { question: &question, run: None, ..*asked };
        match self.terminal.turn(&asked)? {
            TerminalEvent::Given(given) => Some(self.terminal.answer(&asked, given)),
            TerminalEvent::Dismissed => {
                Some(PromptEvent::Left("it was left without an answer".to_owned()))
            }
            TerminalEvent::Typing => Some(PromptEvent::Engaged),
            TerminalEvent::Advised(advice) => Some(PromptEvent::Advised(advice)),
            TerminalEvent::Unavailable(_) => {
                self.unavailable = true;
                None
            }
        }
    }

    fn is_showing(&self, question: &QuestionId) -> bool {
        !self.unavailable && self.terminal.is_showing(question)
    }

    fn is_attended(&self, question: &QuestionId) -> bool {
        !self.unavailable && self.terminal.is_attended(question)
    }

    fn refused(&mut self, question: &QuestionId, why: &str) {
        self.terminal.refused(question, why);
    }

    fn withdraw(&mut self, question: &QuestionId, why: &Withdrawn) {
        self.terminal.withdraw(question, why);
    }

    fn wake(&self) -> Option<BorrowedFd<'_>> {
        self.terminal.wake().filter(|_| !self.unavailable)
    }

    fn look_at(&self) -> Option<Instant> {
        self.terminal.look_at().filter(|_| !self.unavailable)
    }

    fn one_at_a_time(&self) -> bool {
        !self.unavailable
    }
}
