//! How far a remembered answer reaches, and what that covers.

use schemars::JsonSchema;

use super::{Purpose, Question};
use crate::word_enum;

word_enum! {
    /// How far a remembered answer reaches.
    #[derive(PartialOrd, Ord, Hash, JsonSchema)]
    pub enum AnswerScope {
        /// This step, when it fails with this error.
        Error = "error",
        /// This step.
        Step = "step",
        /// The same question at any step of this skill.
        Skill = "skill",
        /// The same question in any skill.
        Always = "always",
    }
}

impl AnswerScope {
    /// The same after "remember it".
    pub fn reach(self) -> &'static str {
        match self {
            Self::Error => "for this error",
            Self::Step => "for this step",
            Self::Skill => "for this skill",
            Self::Always => "always",
        }
    }
}

impl Question {
    /// How far an answer may be remembered, the narrowest first; nothing if it may not be.
    pub fn remember_scopes(&self) -> &'static [AnswerScope] {
        use AnswerScope::{Always, Error, Skill, Step};
        match (self.remember, self.purpose) {
            (false, _) => &[],
            (true, Purpose::Recover) => &[Error, Step, Skill, Always],
            (true, Purpose::Gate | Purpose::Ask) => &[Step, Skill, Always],
        }
    }

    /// Whether memory may give this answer.
    pub fn recalls(&self, value: &str) -> bool {
        self.remember && !self.not_remembered.iter().any(|other| other == value)
    }

    /// Why this answer is not remembered that far.
    pub fn remember_obstacle(&self, value: &str, scope: AnswerScope) -> Option<&'static str> {
        match (self.purpose, value) {
            (_, value) if self.not_remembered.iter().any(|other| other == value) => {
                Some("what this answer leads to may be something else in another run")
            }
            (Purpose::Recover, "edit" | "fix") => Some("a change is remembered as a fix"),
            (Purpose::Recover, "done") if scope != AnswerScope::Error => {
                Some("`done` is remembered for one error only: take `error`")
            }
            (Purpose::Gate | Purpose::Ask, _) if scope == AnswerScope::Error => {
                Some("no step has failed: take `step`, `skill` or `always`")
            }
            (_, _) => None,
        }
    }

    /// What a remembered answer is given to again.
    pub fn remember_covers(&self, scope: AnswerScope) -> String {
        let recover = self.purpose == Purpose::Recover;
        let what = match scope {
            AnswerScope::Error => "this error of this step",
            AnswerScope::Step if recover => "any error of this step",
            AnswerScope::Skill if recover => "any error of a step of this skill that does the same",
            AnswerScope::Always if recover => "any error of a step of any skill that does the same",
            AnswerScope::Step => "this question at this step",
            AnswerScope::Skill => "this question at any step of this skill",
            AnswerScope::Always => "this question in any skill",
        };
        let names: Vec<String> = self.any.iter().map(|name| format!("`{name}`")).collect();
        let any = match names.is_empty() {
            true => String::new(),
            false => format!(", with any {}", names.join(", ")),
        };
        format!("{what}{any}, for 30 days, in this environment")
    }
}
