//! `[mcp]`: what assistants may do, and how long.

use std::time::Duration;

use aye_core::diagnostic::Diagnostic;
use serde::Deserialize;
use toml::Spanned;

use super::span;

/// What the project sets for assistants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpSettings {
    /// How long an assistant may answer a question after it was asked.
    pub expires: Duration,
    /// How long a call waits for a run before it says that it continues.
    pub patience: Duration,
    /// How long a form that an assistant's client shows is waited for.
    pub form_timeout: Duration,
    /// Whether such forms are used at all.
    pub forms: bool,
    /// Whether an answer from such a form counts as a person's.
    pub elicited_is_person: bool,
    /// A project says so, where it does not count.
    pub misplaced: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct McpSection {
    expires: Option<Spanned<String>>,
    patience: Option<Spanned<String>>,
    form_timeout: Option<Spanned<String>>,
    forms: Option<bool>,
    elicited_is_person: bool,
}

/// What one file says.
#[derive(Debug, Default)]
pub(super) struct McpLayer {
    expires: Option<Duration>,
    patience: Option<Duration>,
    form_timeout: Option<Duration>,
    forms: Option<bool>,
    elicited_is_person: bool,
}

impl McpSection {
    pub(super) fn read(self) -> Result<McpLayer, Diagnostic> {
        Ok(McpLayer {
            expires: limit(self.expires)?,
            patience: limit(self.patience)?,
            form_timeout: limit(self.form_timeout)?,
            forms: self.forms,
            elicited_is_person: self.elicited_is_person,
        })
    }
}

impl McpLayer {
    /// The project's wishes over the user's. What counts as a person is the
    /// user's to say: a project could let an assistant pass for one.
    pub(super) fn over(&self, user: &Self) -> McpSettings {
        let time = |ours: Option<Duration>, theirs: Option<Duration>, usual| {
            ours.or(theirs).unwrap_or(Duration::from_secs(usual))
        };
        McpSettings {
            expires: time(self.expires, user.expires, 86_400),
            patience: time(self.patience, user.patience, 45),
            form_timeout: time(self.form_timeout, user.form_timeout, 50),
            forms: self.forms.or(user.forms).unwrap_or(true),
            elicited_is_person: user.elicited_is_person,
            misplaced: self.elicited_is_person && !user.elicited_is_person,
        }
    }
}

/// A time that has to be one: "for ever" makes no sense here.
fn limit(text: Option<Spanned<String>>) -> Result<Option<Duration>, Diagnostic> {
    let Some(text) = text else { return Ok(None) };
    let wrong = |message: String| {
        Diagnostic::error("settings", message).label(span(text.span()), "write `30s`, `5m` or `1d`")
    };
    match aye_core::skill::parse_duration(text.get_ref()) {
        Ok(limit) if limit.is_zero() => Err(wrong("this cannot be 0".to_owned())),
        Ok(limit) => Ok(Some(limit)),
        Err(error) => Err(wrong(error.to_string())),
    }
}
