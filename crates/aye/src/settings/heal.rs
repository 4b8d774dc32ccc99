//! `[[heal]]`: the same rules as under `heal:` in a skill.

use std::sync::Arc;

use aye_core::diagnostic::Diagnostic;
use aye_core::heal::HealRule;
use serde_json::{Value, json};
use toml::Spanned;

use super::span;

/// Reads the rules with the eyes of a skill: there is one way to write them.
pub(super) fn read(rules: Option<Spanned<Vec<Value>>>) -> Result<Arc<[HealRule]>, Diagnostic> {
    let Some(rules) = rules else { return Ok(Arc::default()) };
    let place = span(rules.span());
    let skill = json!({
        "name": "project",
        "heal": rules.into_inner(),
        "steps": [{ "name": "none", "description": "none" }],
    });
    // JSON is YAML.
    let mut parsed = aye_core::skill::parse("aye.toml", &skill.to_string());
    if let Some(found) = parsed.diagnostics.iter().find(|found| found.is_error()) {
        let said = Diagnostic::error("settings", format!("`[[heal]]`: {}", found.message));
        let said = said.label(place, "");
        return Err(match &found.hint {
            Some(hint) => said.hint(hint.clone()),
            None => said,
        });
    }
    Ok(parsed.skills.pop().map(|skill| skill.heal.into()).unwrap_or_default())
}
