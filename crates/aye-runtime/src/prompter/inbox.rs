//! Waiting for an answer from elsewhere, for runs without a terminal.

use aye_core::id::QuestionId;

use super::{AskedQuestion, PromptEvent, Prompter, Withdrawn};

/// Shows nothing here: the question stands in the inbox until another process
/// sends an answer, its time is up, or the run is told to stop.
#[derive(Debug, Clone, Copy, Default)]
pub struct InboxPrompter;

impl Prompter for InboxPrompter {
    fn ask(&mut self, _: &AskedQuestion<'_>) -> Option<PromptEvent> {
        None
    }

    // A list that someone may look at is not a question before their eyes.
    fn is_showing(&self, _: &QuestionId) -> bool {
        false
    }

    fn refused(&mut self, _: &QuestionId, _: &str) {}

    fn withdraw(&mut self, _: &QuestionId, _: &Withdrawn) {}
}
