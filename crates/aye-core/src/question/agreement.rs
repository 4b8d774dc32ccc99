//! Who has agreed to a question so far, and who still can.

use serde_json::Value;

use super::Question;
use crate::skill::By;

/// Who has agreed to a question so far, on what, and who started its run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agreement {
    /// Those who agreed, where several must.
    pub by: Vec<String>,
    /// What they agreed on.
    pub on: Option<Value>,
    /// Who started the run.
    pub starter: String,
}

/// Why someone cannot agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Objection {
    /// They have agreed already.
    Agreed,
    /// They started the run, which does not count.
    Starter,
    /// Others agreed on something else.
    Other(String),
}

impl Agreement {
    /// Why this person cannot agree with this answer, whatever else a yes takes. Saying no
    /// is always possible.
    pub fn objection(&self, question: &Question, value: &Value, by: &str) -> Option<Objection> {
        if !question.commits(value) {
            return None;
        }
        self.personal(question, by).or_else(|| match &self.on {
            // What two people typed in secret cannot be compared afterwards.
            Some(Value::String(first)) if value != first => Some(Objection::Other(first.clone())),
            Some(_) | None => None,
        })
    }

    /// Why this person cannot agree with any answer.
    fn personal(&self, question: &Question, by: &str) -> Option<Objection> {
        if self.by.iter().any(|one| one == by) {
            return Some(Objection::Agreed);
        }
        (question.not_starter && self.starter == by).then_some(Objection::Starter)
    }

    /// Whether another person than this one has to agree.
    pub fn needs_another(&self, question: &Question, by: &str) -> bool {
        self.personal(question, by).is_some()
    }
}

impl Question {
    /// Whether this person may agree, whatever else a yes takes: who may not has not been
    /// asked.
    pub fn may_be_agreed_to_by(&self, name: &str, agreement: &Agreement) -> bool {
        let named = match &self.by {
            By::Anyone | By::Human => true,
            By::Names(names) => names.iter().any(|one| one == name),
        };
        named && !agreement.needs_another(self, name)
    }

    /// Which people have to agree, in words, where one at a prompt may not be enough.
    pub fn people_words(&self, starter: Option<&str>) -> Option<String> {
        let mut words = match self.approvals {
            0 | 1 if !self.not_starter => return None,
            0 | 1 => "another person has to agree".to_owned(),
            several => format!("{several} different people have to agree"),
        };
        if self.not_starter {
            words.push_str(&match starter {
                Some(name) => format!(", not {name}, who started the run"),
                None => ", not the one who started the run".to_owned(),
            });
        }
        Some(words)
    }
}
