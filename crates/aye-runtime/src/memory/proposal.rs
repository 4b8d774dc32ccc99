//! What skills wrote where Aye keeps its own, and that is neither data alone nor a
//! fix: a known issue, or an answer to a question. It counts for nothing before a
//! person has agreed to it.

use aye_core::digest::digest;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::MemoryError;
use super::fix::Origin;
use super::issue::Issue;
use super::keep::{Keep, Mask, change_list, change_list_once, line, masked};
use super::lesson::{Lesson, Once};
use super::memory::Memory;
use super::note::NewIssue;
use super::original::{OriginalChoice, is_original};
use super::pattern::Pattern;
use super::query::Placed;
use super::state::LearnedFix;

/// Where they wait.
pub(super) const PROPOSED: &str = "learned/proposed.yaml";
/// The key of the list.
pub(super) const KEY: &str = "proposals";
const PREFIX: &str = "prop-";

/// An entry of `proposed.yaml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "a mapping")]
pub struct Proposal {
    /// Its name: the digest of what is proposed.
    pub id: String,
    /// What is proposed.
    #[serde(flatten)]
    pub what: Proposed,
    /// Which skill wrote it, and in which run.
    pub from: Origin,
    /// Only in the project with this directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// What can be proposed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Proposed {
    /// What an error means, whatever the tool.
    Issue {
        /// What it is recognised by.
        pattern: String,
        /// What it means.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        meaning: String,
        /// What to do.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        fix: String,
        /// The family of tools it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        family: Option<String>,
    },
    /// What is answered at a step.
    Answer {
        /// `skill:step`.
        question: String,
        /// The entry, as the original system writes it.
        entry: Map<String, Value>,
    },
}

impl Proposed {
    /// What agreeing does, in one line.
    pub fn summary(&self) -> String {
        match self {
            Self::Issue { pattern, meaning, fix, family } => {
                let said: Vec<&str> =
                    [meaning.as_str(), fix].into_iter().filter(|text| !text.is_empty()).collect();
                let of = family.as_ref().map(|family| format!(" of `{family}`"));
                let of = of.unwrap_or_default();
                format!("known issue `{pattern}`{of}: {}", said.join("; "))
            }
            Self::Answer { question, entry } => {
                let asks = entry.get("auto_proceed") == Some(&Value::Bool(false));
                match asks {
                    true => format!("`{question}` is always asked"),
                    false => format!(
                        "`{question}` may be answered from memory, once a person has answered it \
                         and let it be remembered"
                    ),
                }
            }
        }
    }
}

impl Memory {
    /// What memory takes in to propose a known issue.
    ///
    /// # Errors
    /// When the pattern cannot be used.
    pub fn issue_proposal(
        &self,
        told: &LearnedFix,
        family: Option<&str>,
        from: Origin,
        mask: Mask<'_>,
    ) -> Result<Proposal, MemoryError> {
        let pattern = Pattern::new(&line(&told.error, mask))?.as_str().to_owned();
        let (meaning, fix) = (line(&told.cause, mask), line(&told.fix, mask));
        let family = family.map(|family| line(family, mask));
        Ok(self.proposal(Proposed::Issue { pattern, meaning, fix, family }, from))
    }

    /// What memory takes in to propose an answer; nothing if the entry names no
    /// question.
    pub fn answer_proposal(
        &self,
        question: &str,
        entry: &Map<String, Value>,
        from: Origin,
        mask: Mask<'_>,
    ) -> Option<Proposal> {
        let entry = Value::Object(entry.clone());
        let known = serde_json::from_value::<OriginalChoice>(entry.clone()).is_ok();
        let Value::Object(entry) = masked(&entry, mask) else { return None };
        let question = line(question, mask);
        (known && is_original(&question))
            .then(|| self.proposal(Proposed::Answer { question, entry }, from))
    }

    fn proposal(&self, what: Proposed, from: Origin) -> Proposal {
        let content = serde_json::to_string(&what).unwrap_or_default();
        let project = self.project.as_ref().map(|project| project.name.clone());
        let parts = [content.as_str(), project.as_deref().unwrap_or_default()];
        let id = format!("{PREFIX}{}", &digest(&parts.map(str::as_bytes))[..8]);
        Proposal { id, what, from, project }
    }

    pub(super) fn keep_proposal(
        &self,
        proposal: Proposal,
        once: Option<Once<'_>>,
    ) -> Result<(), MemoryError> {
        change_list_once(self.own(), PROPOSED, KEY, once, |all: &mut Vec<Proposal>| {
            let known = all.iter().any(|known| known.id == proposal.id);
            if !known {
                all.push(proposal);
            }
            ((), !known)
        })
        .map(drop)
    }

    /// What waits for someone to agree in this project.
    pub fn proposals_of_skills(&self) -> Vec<Placed<Proposal>> {
        let mut all = self.all_proposals();
        all.retain(|one| self.is_here(one.value.project.as_deref()));
        all
    }

    /// The proposal of this name, if there is one.
    pub fn find_proposal(&self, id: &str) -> Option<Placed<Proposal>> {
        self.all_proposals().into_iter().find(|one| one.value.id == id)
    }

    /// Refuses what nobody can agree to: it would lift that a question is always asked.
    ///
    /// # Errors
    /// Says what to do instead.
    pub fn may_agree_to(&self, proposal: &Proposal) -> Result<(), MemoryError> {
        match &proposal.what {
            Proposed::Issue { .. } => Ok(()),
            Proposed::Answer { question, entry } => {
                self.may_keep_original(question, &Value::Object(entry.clone()))
            }
        }
    }

    /// A person agrees: the issue is one of theirs, the answer is what they say at
    /// the question.
    ///
    /// # Errors
    /// When it is not there any more, when it would lift that a question is always asked, or
    /// when a file cannot be written.
    pub fn agree_to_proposal(
        &self,
        proposal: &Proposal,
        mask: Mask<'_>,
    ) -> Result<String, MemoryError> {
        if self.find_proposal(&proposal.id).is_none_or(|there| there.value != *proposal) {
            return Err(MemoryError::Changed(proposal.id.clone()));
        }
        let said = match &proposal.what {
            Proposed::Issue { pattern, meaning, fix, family } => {
                let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
                let new = NewIssue {
                    pattern: pattern.clone(),
                    meaning: some(meaning),
                    fix: some(fix),
                    tags: family.iter().cloned().collect(),
                    keep: Keep::Auto,
                    ..NewIssue::default()
                };
                let Issue { id, .. } = self.note_issue(&new, mask)?;
                format!("{} is a known issue from now on: {id}", proposal.id)
            }
            Proposed::Answer { question, entry } => {
                self.keep_original(question, &Value::Object(entry.clone()))?;
                format!("{}: {}", proposal.id, proposal.what.summary())
            }
        };
        self.forget_proposal(&proposal.id)?;
        Ok(said)
    }

    /// Takes a proposal back; whether it was there.
    pub(super) fn forget_proposal(&self, id: &str) -> Result<bool, MemoryError> {
        if self.find_proposal(id).is_none() {
            return Ok(false);
        }
        change_list(self.own(), PROPOSED, KEY, |all: &mut Vec<Proposal>| {
            let before = all.len();
            all.retain(|known| known.id != id);
            let gone = all.len() < before;
            (gone, gone)
        })
    }
}

impl From<Proposal> for Lesson {
    fn from(proposal: Proposal) -> Self {
        Self::Proposal { proposal: Box::new(proposal) }
    }
}
