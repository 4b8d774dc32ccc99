//! `[ask]`: how long questions wait.

use std::time::Duration;

use aye_core::diagnostic::Diagnostic;
use aye_core::skill::AskLimits;
use serde::Deserialize;
use toml::Spanned;

use super::span;
use super::tools::duration;

/// The table as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AskSection {
    confirmation_timeout: Option<Spanned<String>>,
    timeout: Option<Spanned<String>>,
    min_timeout: Option<Spanned<String>>,
    max_timeout: Option<Spanned<String>>,
}

/// What it says; `Some(None)` is no limit.
#[derive(Debug, Default)]
pub(super) struct AskLayer {
    confirmation: Option<Option<Duration>>,
    question: Option<Option<Duration>>,
    least: Option<Duration>,
    most: Option<Duration>,
}

impl AskSection {
    pub(super) fn read(self) -> Result<AskLayer, Diagnostic> {
        let time = |text: &Option<Spanned<String>>| text.as_ref().map(duration).transpose();
        let least = bound("min_timeout", self.min_timeout.as_ref())?;
        let most = bound("max_timeout", self.max_timeout.as_ref())?;
        if let (Some(least), Some(most), Some(at)) = (least, most, &self.max_timeout)
            && most < least
        {
            let message = "`max_timeout` is less than `min_timeout`";
            return Err(Diagnostic::error("settings", message)
                .label(span(at.span()), "no time is both")
                .hint("give it at least as long"));
        }
        Ok(AskLayer {
            confirmation: time(&self.confirmation_timeout)?,
            question: time(&self.timeout)?,
            least,
            most,
        })
    }
}

fn bound(key: &str, text: Option<&Spanned<String>>) -> Result<Option<Duration>, Diagnostic> {
    let Some(text) = text else { return Ok(None) };
    let (shortest, longest) = (AskLimits::SHORTEST, AskLimits::LONGEST);
    match duration(text)? {
        Some(time) if (shortest..=longest).contains(&time) => Ok(Some(time)),
        Some(_) | None => {
            let message = format!("`{key}` is outside of `1s` to `7d`");
            Err(Diagnostic::error("settings", message)
                .label(span(text.span()), "questions wait at least a second and at most a week"))
        }
    }
}

impl AskLayer {
    /// What the project says goes before what the user says.
    pub(super) fn over(&self, user: &Self) -> AskLimits {
        let usual = AskLimits::default();
        let least = self.least.or(user.least).unwrap_or(usual.least);
        AskLimits {
            confirmation: self.confirmation.or(user.confirmation).unwrap_or(usual.confirmation),
            question: self.question.or(user.question).unwrap_or(usual.question),
            least,
            most: self.most.or(user.most).unwrap_or(usual.most).max(least),
        }
    }
}
