//! `[[heal]]`: the same rules as under `heal:` in a skill.

use std::sync::Arc;

use aye_core::diagnostic::Diagnostic;
use aye_core::skill::HealRule;
use aye_core::span::Span;
use serde_json::{Value, json};
use toml::Spanned;

use super::span;

/// Rules that repair known errors.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HealSettings {
    /// What they mean.
    pub rules: Arc<[HealRule]>,
    /// As they are written: what someone agrees to.
    pub written: Vec<Value>,
}

impl HealSettings {
    /// Reads the rules with the eyes of a skill: there is one way to write them.
    pub(super) fn read(rules: Option<Spanned<Vec<Value>>>) -> Result<Self, Diagnostic> {
        let Some(rules) = rules else { return Ok(Self::default()) };
        let place = span(rules.span());
        let written = rules.into_inner();
        Ok(Self { rules: checked(&written, place)?, written })
    }
}

fn checked(written: &[Value], place: Span) -> Result<Arc<[HealRule]>, Diagnostic> {
    let skill = json!({
        "name": "project",
        "heal": written,
        "steps": [{ "name": "none", "description": "none" }],
    });
    // JSON is YAML.
    let mut parsed = aye_core::skill::parse("aye.toml", &skill.to_string());
    if let Some(found) = parsed.diagnostics.iter().find(|found| found.is_error()) {
        let said = Diagnostic::error("settings", format!("`[[heal]]`: {}", found.message));
        return Err(said.label(place, "").hint_if(found.hint.clone()));
    }
    Ok(parsed.skills.pop().map(|skill| skill.heal.into()).unwrap_or_default())
}
