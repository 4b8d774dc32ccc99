//! What an assistant thinks of a question. It is recorded and shown beside the
//! question; it answers nothing and counts for nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::question::Question;

/// More characters than this nobody reads beside a question.
pub const LONGEST: usize = 2000;
/// How many pieces of advice a question takes.
pub const MOST: usize = 10;

/// What someone who does not decide thinks of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// Which assistant or program.
    pub by: String,
    /// The value of the option it suggests, if it suggests one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    /// What it says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

impl Advice {
    /// The label of the option it suggests.
    pub fn label<'a>(&'a self, question: &'a Question) -> Option<&'a str> {
        let value = self.option.as_deref()?;
        Some(question.offer(value).map_or(value, |offer| &offer.label))
    }

    /// The advice as it is recorded: an option only if it is offered, and no
    /// more words than someone reads. `None` if nothing is left of it.
    pub(crate) fn recorded(mut self, question: &Question) -> Option<Self> {
        self.option = self.option.filter(|value| question.offer(value).is_some());
        if let Some((at, _)) = self.text.char_indices().nth(LONGEST) {
            self.text.truncate(at);
            self.text.push('…');
        }
        (self.option.is_some() || !self.text.trim().is_empty()).then_some(self)
    }
}
