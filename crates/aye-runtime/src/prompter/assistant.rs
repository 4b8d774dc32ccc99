//! Asking through an assistant that runs the skill.

use aye_core::id::QuestionId;
use aye_core::skill::By;

use super::{AskedQuestion, PromptEvent, Prompter, Withdrawn};

/// The assistant reads the question from the journal and relays what a person
/// told it, or what a form of its client returned. What only a person may
/// answer is not asked here.
#[derive(Debug, Clone, Copy, Default)]
pub struct AssistantPrompter;

impl Prompter for AssistantPrompter {
    fn ask(&mut self, asked: &AskedQuestion<'_>) -> Option<PromptEvent> {
        match asked.question.by {
            By::Anyone => None,
            By::Human | By::Names(_) => {
                Some(PromptEvent::Left("an assistant may not answer it".to_owned()))
            }
        }
    }

    fn is_showing(&self, _: &QuestionId) -> bool {
        false
    }

    fn refused(&mut self, _: &QuestionId, _: &str) {}

    fn withdraw(&mut self, _: &QuestionId, _: &Withdrawn) {}
}
