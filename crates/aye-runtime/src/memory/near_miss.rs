//! Fixes that nearly fit a failure, and why they are not used.

use serde_json::Value;

use super::fingerprint::fingerprint;
use super::fix::{Fix, FixMatch, Standing};
use super::memory::Memory;
use super::names::tool_fits;
use super::pattern::{Pattern, SearchText};
use super::query::{Placed, Query};
use super::salient_line::{pattern_of, salient_line};
use super::similar::similarity;

/// How many are worth showing.
const MOST: usize = 2;
/// From here on two errors are worth comparing.
const ALIKE: f64 = 0.5;

/// A fix that nearly fits.
#[derive(Debug, Clone)]
pub struct NearMiss {
    /// The fix.
    pub fix: Placed<Fix>,
    /// Why it is not used.
    pub why: String,
}

impl Memory {
    /// Fixes that nearly fit a failure, each with the reason why it is not used.
    pub fn near_misses(&self, query: &Query<'_>) -> Vec<NearMiss> {
        let searched = SearchText::new(query.error);
        let mut found: Vec<NearMiss> = Vec::new();
        for fix in self.fixes() {
            if found.len() == MOST {
                break;
            }
            if self.is_here(fix.value.project.as_deref())
                && let Some(why) = why_not(&fix.value, query, &searched)
            {
                found.push(NearMiss { fix, why });
            }
        }
        found
    }
}

/// Why a fix is not used although it is about something like this.
fn why_not(fix: &Fix, query: &Query<'_>, searched: &SearchText<'_>) -> Option<String> {
    if fix.fits(query, searched).is_some() {
        return match fix.standing() {
            Standing::Suspended => Some(
                "it failed twice in a row and is not used until someone agrees again".to_owned(),
            ),
            Standing::Active | Standing::Proposed | Standing::Prose => None,
        };
    }
    let matches = &fix.matches;
    let pattern = Pattern::new(&matches.error).ok()?;
    let same_tool = matches.tool.as_ref().is_some_and(|tool| tool_fits(tool, query.tool).is_some());
    let same_step = matches.step.is_some() && matches.step.as_deref() == query.step;
    if !pattern.is_in_text(searched) {
        // Another error of the same tool that reads nearly the same.
        let line = fingerprint(salient_line(query.error));
        let seen = pattern_of(query.error).map_or(line, |pattern| pattern.as_str().to_owned());
        let alike = (same_tool || same_step) && similarity(pattern.as_str(), &seen) >= ALIKE;
        return alike.then(|| format!("it is for the error `{pattern}`, and this is `{seen}`"));
    }
    if let Some(tool) = matches.tool.as_ref().filter(|_| !same_tool) {
        return (!query.tool.is_empty())
            .then(|| format!("it is for `{tool}`, and this is `{}`", query.tool));
    }
    if let Some(step) = matches.step.as_ref().filter(|_| !same_step) {
        return Some(format!("it is only for the step `{step}`"));
    }
    if let Some(skill) = matches.skill.as_ref().filter(|skill| query.skill != Some(skill)) {
        return Some(format!("it is only for the skill `{skill}`"));
    }
    let other = matches.args.iter().find_map(|(name, value)| {
        let given = query.args.and_then(|given| given.get(name));
        (!FixMatch::is_arg(value, given)).then_some((name, value, given))
    });
    other.map(|(name, value, given)| match given {
        Some(given) => {
            format!("it is only for `{name}` {}, and this is {}", short(value), short(given))
        }
        None => format!("it is only for `{name}` {}", short(value)),
    })
}

fn short(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{}`", crate::fmt::cut(text, 40)),
        other => format!("`{}`", crate::fmt::cut(&other.to_string(), 40)),
    }
}
