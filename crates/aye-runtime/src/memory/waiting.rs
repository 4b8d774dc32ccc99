//! Everything that waits for a person to agree: one list for every place that shows it.

use serde::Serialize;
use serde_json::Value;

use crate::fmt::escape_control_line;

use super::entry::{fix_json, proposal_json};
use super::memory::Memory;
use super::proposal::Proposed;

/// Something that waits for a person to agree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitingProposal {
    /// Its whole name.
    #[serde(rename = "proposal")]
    pub id: String,
    /// `fix`, `issue` or `answer`.
    pub kind: &'static str,
    /// What agreeing does.
    pub message: String,
    /// What to type to agree.
    pub command: String,
    /// All of it, as memory has it.
    pub details: Value,
    /// The name that people type.
    #[serde(skip)]
    pub short: String,
}

impl WaitingProposal {
    fn new(short: String, kind: &'static str, message: &str, details: Value) -> Self {
        Self {
            id: details["id"].as_str().unwrap_or_default().to_owned(),
            kind,
            message: escape_control_line(message),
            command: format!("aye memory agree {short}"),
            details,
            short,
        }
    }
}

impl Memory {
    /// What waits for a person to agree in this project: fixes first, then what
    /// skills wrote.
    pub fn waiting_proposals(&self) -> Vec<WaitingProposal> {
        let fixes = if self.has_fixes() { self.proposals() } else { Vec::new() };
        let fixes = fixes.iter().map(|fix| {
            let short = self.short_id(&fix.value.id);
            WaitingProposal::new(short, "fix", &fix.value.summary(), fix_json(fix))
        });
        let written = self.proposals_of_skills();
        let written = written.iter().map(|one| {
            let kind = match &one.value.what {
                Proposed::Issue { .. } => "issue",
                Proposed::Answer { .. } => "answer",
            };
            let (short, message) = (one.value.id.clone(), one.value.what.summary());
            WaitingProposal::new(short, kind, &message, proposal_json(one))
        });
        fixes.chain(written).collect()
    }
}
