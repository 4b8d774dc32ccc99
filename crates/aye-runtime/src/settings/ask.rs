//! `[ask]`: how long questions wait, and who asks them.

use std::collections::BTreeMap;
use std::time::Duration;

use aye_core::diagnostic::{Diagnostic, quote};
use aye_core::skill::AskLimits;
use serde::Deserialize;
use toml::Spanned;

use crate::prompter::Joins;

use super::span;
use super::tools::duration;

/// Who can be named.
const NAMES: [&str; 3] = ["terminal", "desktop", "notification"];

/// When each place joins in asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskOrder {
    /// The terminal of the process that drives the run.
    pub terminal: Joins,
    /// Windows of the desktop.
    pub desktop: Joins,
    /// Notifications of the desktop.
    pub notification: Joins,
    /// The settings name the desktop, or notifications: they are tried over ssh and
    /// in a container too.
    pub named: bool,
}

impl Default for AskOrder {
    fn default() -> Self {
        let (terminal, desktop) = (Joins::AtOnce, Joins::Unseen);
        Self { terminal, desktop, notification: Joins::Never, named: false }
    }
}

impl AskOrder {
    /// Whether someone is called somewhere that the other leaves alone.
    pub(super) fn calls_more_than(&self, other: &Self) -> bool {
        let places = [
            (self.terminal, other.terminal),
            (self.desktop, other.desktop),
            (self.notification, other.notification),
        ];
        let begins = |(now, before)| now != Joins::Never && before == Joins::Never;
        places.into_iter().any(begins) || self.named && !other.named
    }
}

/// The table as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AskSection {
    confirmation_timeout: Option<Spanned<String>>,
    timeout: Option<Spanned<String>>,
    min_timeout: Option<Spanned<String>>,
    max_timeout: Option<Spanned<String>>,
    prompters: Option<Vec<Spanned<String>>>,
    after: BTreeMap<Spanned<String>, Spanned<String>>,
}

/// What it says; `Some(None)` is no limit.
#[derive(Debug, Default)]
pub(super) struct AskLayer {
    confirmation: Option<Option<Duration>>,
    question: Option<Option<Duration>>,
    least: Option<Duration>,
    most: Option<Duration>,
    prompters: Option<Vec<String>>,
    after: BTreeMap<String, Duration>,
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
                .label(span(at.span()), "no time can satisfy both")
                .hint("make it longer"));
        }
        let prompters = self.prompters.as_ref().map(|names| named(names)).transpose()?;
        let mut after = BTreeMap::new();
        for (name, time) in &self.after {
            // None at all is asked for with 0: at once.
            let time = duration(time)?.unwrap_or_default();
            after.insert(prompter(name)?, time);
        }
        Ok(AskLayer {
            prompters,
            after,
            confirmation: time(&self.confirmation_timeout)?,
            question: time(&self.timeout)?,
            least,
            most,
        })
    }
}

/// The prompters that are named, each once.
fn named(names: &[Spanned<String>]) -> Result<Vec<String>, Diagnostic> {
    names.iter().map(prompter).collect()
}

fn prompter(name: &Spanned<String>) -> Result<String, Diagnostic> {
    if NAMES.contains(&name.get_ref().as_str()) {
        return Ok(name.get_ref().clone());
    }
    let message = format!("{} is not a prompter", quote(name.get_ref()));
    let all = NAMES.map(|name| format!("`{name}`")).join(", ");
    Err(Diagnostic::error("settings", message)
        .label(span(name.span()), "this is not a place to ask")
        .hint(format!("write {all}; editors, the page and assistants connect by themselves")))
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
    /// Who asks, and when each joins.
    pub(super) fn order(&self, user: &Self) -> AskOrder {
        let names = self.prompters.as_ref().or(user.prompters.as_ref());
        let after = |name: &str| self.after.get(name).or_else(|| user.after.get(name));
        let joins = |name: &str, usual: Joins| {
            let listed = names.is_none_or(|names| names.iter().any(|one| one == name));
            match (listed, after(name)) {
                (false, _) => Joins::Never,
                (true, Some(time)) if time.is_zero() => Joins::AtOnce,
                (true, Some(time)) => Joins::After(*time),
                (true, None) => usual,
            }
        };
        let usual = AskOrder::default();
        let mentions = |name: &str| {
            names.is_some_and(|names| names.iter().any(|one| one == name)) || after(name).is_some()
        };
        // Naming it is what makes it join.
        let notification = match mentions("notification") {
            true => joins("notification", Joins::AtOnce),
            false => Joins::Never,
        };
        AskOrder {
            terminal: joins("terminal", usual.terminal),
            desktop: joins("desktop", usual.desktop),
            notification,
            named: mentions("desktop") || mentions("notification"),
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(text: &str) -> AskLayer {
        toml::from_str::<AskSection>(text).expect("it is TOML").read().expect("it holds")
    }

    fn order(project: &str, user: &str) -> AskOrder {
        layer(project).order(&layer(user))
    }

    #[test]
    fn who_asks_and_when() {
        assert_eq!(order("", ""), AskOrder::default());
        let all = order("prompters = ['terminal', 'desktop', 'notification']", "");
        let notification = Joins::AtOnce;
        assert_eq!(all, AskOrder { notification, named: true, ..AskOrder::default() });
        let half = Joins::After(Duration::from_secs(30));
        let late = order("", "after = { desktop = '30s', terminal = '0s' }");
        assert_eq!((late.desktop, late.terminal, late.named), (half, Joins::AtOnce, true));
        let told = order("", "after = { notification = '30s' }");
        assert_eq!((told.notification, told.desktop), (half, Joins::Unseen));
        let only = order("prompters = ['desktop']", "prompters = ['terminal']");
        assert_eq!((only.terminal, only.desktop), (Joins::Never, Joins::Unseen));
        // A time does not bring back who is left out.
        let left_out = order("prompters = ['terminal']", "after = { desktop = '30s' }");
        assert_eq!(left_out.desktop, Joins::Never);
    }

    #[test]
    fn what_is_no_prompter_is_said() {
        for text in ["prompters = ['desk']", "after = { desk = '1s' }"] {
            let section = toml::from_str::<AskSection>(text).expect("it is TOML");
            let found = section.read().expect_err("there is none of that name");
            assert_eq!(found.message, "`desk` is not a prompter");
        }
        let section = toml::from_str::<AskSection>("after = { desktop = '30' }").expect("TOML");
        assert!(section.read().is_err(), "a time has a unit");
    }
}
