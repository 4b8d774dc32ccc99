//! Patterns of use: calls that keep failing in the same way.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::confidence::{self, confidence};
use super::mistake::Mistake;
use super::pattern::{Pattern, SearchText};
use super::similar::{SAME, similarity};

/// How many different calls are kept with a pattern.
const CALLS: usize = 5;
/// How many patterns are kept.
pub(super) const MOST: usize = 300;
/// And no more text than this, so that the file stays small enough to be read.
const MOST_TEXT: usize = 400_000;
/// How many arguments of a call are looked at.
const ARGUMENTS: usize = 20;
/// How much of an argument.
const LOOKED_AT: usize = 256;

/// An entry of `usage.yaml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "a mapping")]
pub struct UsagePattern {
    /// Its name.
    pub id: String,
    /// The tool or program.
    pub tool: String,
    /// What kind of mistake it is.
    pub mistake: Mistake,
    /// The error, what varies replaced.
    pub error: String,
    /// Other words for the same error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// The argument it is about, if the error names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// The regular expression that this argument has to match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// What the arguments looked like, what varies replaced; newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<BTreeMap<String, String>>,
    /// Why it fails, in someone's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What helped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// What prevents it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prevention: Option<String>,
    /// A tool that prevents it when it is called before, in the same run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How often it was seen.
    pub sightings: u64,
    /// How often such a call went well; says nothing about the others.
    #[serde(default)]
    pub successes: u64,
    /// How often the warning was wrong.
    #[serde(default)]
    pub wrong: u64,
    /// When it was seen first.
    pub first_seen: Timestamp,
    /// When it was seen last.
    pub last_seen: Timestamp,
    /// What is written there besides.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// One failure, ready to be learned from: secrets masked, what varies replaced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sighting {
    pub(super) tool: String,
    pub(super) mistake: Mistake,
    pub(super) error: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parameter: Option<String>,
    pub(super) call: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) advice: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) prevention: Option<String>,
    pub(super) at: Timestamp,
}

/// What to do about a call that usually fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Say so.
    Warn,
    /// Wait for a person's word.
    Block,
}

/// A call that usually fails. Learned text: show it as such.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Warning {
    /// The pattern.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What to do about it.
    pub level: Level,
    /// Why it fails.
    pub mistake: Mistake,
    /// The error, what varies replaced.
    pub error: String,
    /// The argument it is about.
    pub parameter: Option<String>,
    /// Why it fails, in someone's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What helped.
    pub advice: Option<String>,
    /// What prevents it.
    pub prevention: Option<String>,
    /// A tool that prevents it when it is called before, in the same run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How sure that is.
    pub confidence: f64,
    /// How often it was seen.
    pub sightings: u64,
    /// When it was seen last.
    pub last_seen: Timestamp,
}

impl Warning {
    /// As people say it.
    pub fn sentence(&self) -> String {
        let about = match &self.parameter {
            Some(parameter) => format!(" (`{parameter}`)"),
            None => String::new(),
        };
        let mut text = format!(
            "this usually fails because {}{about}: {} (seen {} times)",
            self.mistake.because(),
            self.error,
            self.sightings
        );
        text.push_str(&self.more());
        text
    }

    /// What is known about it besides, in words that follow others.
    pub(crate) fn more(&self) -> String {
        let mut text = self.cause.as_ref().map(|cause| format!("; {cause}")).unwrap_or_default();
        if let Some(advice) = &self.advice {
            text.push_str(&format!("; what helped: {advice}"));
        }
        if let Some(prevention) = &self.prevention {
            text.push_str(&format!("; to prevent it, {prevention}"));
        }
        text
    }
}

impl UsagePattern {
    /// How sure it is now.
    pub fn confidence(&self, now: Timestamp) -> f64 {
        confidence(self.sightings, self.wrong, self.last_seen, now)
    }

    /// Whether it is about such a call.
    pub fn is_about(&self, tool: &str, call: &BTreeMap<String, String>) -> bool {
        self.tool == tool
            && match &self.parameter {
                Some(name) => {
                    let given = call.get(name);
                    // What names no value is about what has to be called before.
                    let any = self.calls.is_empty() && self.after.is_some();
                    given.is_some()
                        && (any || self.calls.iter().any(|known| known.get(name) == given))
                }
                // What names no argument and no call is about the tool.
                None => self.calls.is_empty() || self.calls.iter().any(|known| known == call),
            }
    }

    /// Whether a call gives its argument in another form than this one. What is not a
    /// regular expression says nothing.
    pub(super) fn breaks(&self, form: &str, args: &Value) -> bool {
        let given = self.parameter.as_ref().and_then(|name| args.get(name));
        let Some(given) = given.filter(|given| !given.is_null()) else { return false };
        let text = given.as_str().map_or_else(|| given.to_string(), str::to_owned);
        let text = &text[..text.floor_char_boundary(LOOKED_AT)];
        super::pattern::form(form).is_some_and(|form| !form.is_match(text))
    }

    /// Whether it is about this error, in which what varies is replaced.
    pub fn is_like(&self, error: &str) -> bool {
        self.similarity(error) >= SAME
    }

    fn similarity(&self, error: &str) -> f64 {
        let words = std::iter::once(&self.error).chain(&self.errors);
        // What someone wrote is a part of the error; what was seen is all of its line.
        let written = self.cause.is_some() || self.form.is_some() || !self.errors.is_empty();
        let searched = SearchText::new(error);
        let has =
            |known: &str| Pattern::new(known).is_ok_and(|pattern| pattern.is_in_text(&searched));
        let alike = |known: &String| match written && has(known) {
            true => 1.0,
            false => similarity(known, error),
        };
        words.map(alike).fold(0.0, f64::max)
    }

    /// The warning it makes, if it is sure enough.
    pub fn warning(&self, now: Timestamp) -> Option<Warning> {
        let sure = self.confidence(now);
        let level = match sure {
            sure if sure >= confidence::BLOCK => Level::Block,
            sure if sure >= confidence::WARN => Level::Warn,
            _ => return None,
        };
        Some(Warning {
            id: self.id.clone(),
            tool: self.tool.clone(),
            level,
            mistake: self.mistake,
            error: self.error.clone(),
            parameter: self.parameter.clone(),
            cause: self.cause.clone(),
            advice: self.advice.clone(),
            prevention: self.prevention.clone(),
            after: self.after.clone(),
            confidence: sure,
            sightings: self.sightings,
            last_seen: self.last_seen,
        })
    }

    /// How like a sighting it is: the same tool and kind of mistake, then how
    /// alike the errors are.
    pub(super) fn likeness(&self, seen: &Sighting) -> f64 {
        // Someone said which argument it is about, and an error seldom names it.
        let said = || {
            let name = self.parameter.as_ref().filter(|_| self.form.is_some());
            seen.parameter.is_none() && name.is_some_and(|name| seen.call.contains_key(name))
        };
        let same = self.tool == seen.tool
            && self.mistake == seen.mistake
            && (self.parameter == seen.parameter || said());
        if same { self.similarity(&seen.error) } else { 0.0 }
    }

    fn merge(&mut self, seen: Sighting) {
        self.sightings += 1;
        self.last_seen = self.last_seen.max(seen.at);
        self.first_seen = self.first_seen.min(seen.at);
        if seen.advice.is_some() {
            self.advice = seen.advice;
        }
        if seen.prevention.is_some() {
            self.prevention = seen.prevention;
        }
        self.calls.retain(|call| *call != seen.call);
        self.calls.push(seen.call);
        let extra = self.calls.len().saturating_sub(CALLS);
        self.calls.drain(..extra);
    }
}

/// Adds a sighting to the pattern it is most like, or begins one.
pub(super) fn learn(patterns: &mut Vec<UsagePattern>, seen: Sighting) -> String {
    let best = patterns
        .iter_mut()
        .map(|pattern| (pattern.likeness(&seen), pattern))
        .filter(|(likeness, _)| *likeness >= SAME)
        .max_by(|one, other| one.0.total_cmp(&other.0));
    if let Some((_, pattern)) = best {
        pattern.merge(seen);
        return pattern.id.clone();
    }
    let parts =
        [&seen.tool, seen.mistake.word(), seen.parameter.as_deref().unwrap_or(""), &seen.error];
    let id = format!("use-{}", &aye_core::digest::digest(&parts.map(str::as_bytes))[..8]);
    patterns.push(UsagePattern {
        id: id.clone(),
        tool: seen.tool,
        mistake: seen.mistake,
        error: seen.error,
        errors: Vec::new(),
        parameter: seen.parameter,
        form: None,
        calls: vec![seen.call],
        cause: None,
        advice: seen.advice,
        prevention: seen.prevention,
        after: None,
        sightings: 1,
        successes: 0,
        wrong: 0,
        first_seen: seen.at,
        last_seen: seen.at,
        other: Map::new(),
    });
    id
}

/// Forgets what is old and was never sure, and the least sure of too many. What
/// has just been seen stays.
pub(super) fn forget_unsure(patterns: &mut Vec<UsagePattern>, seen: &str, now: Timestamp) {
    let is_stale = |one: &UsagePattern| {
        confidence::is_stale(one.confidence(now), one.last_seen, now) && one.id != seen
    };
    patterns.retain(|one| !is_stale(one));
    let size = |one: &UsagePattern| serde_json::to_string(one).map_or(0, |text| text.len());
    let mut text: usize = patterns.iter().map(size).sum();
    if patterns.len() <= MOST && text <= MOST_TEXT {
        return;
    }
    patterns.sort_by(|one, other| {
        let (mine, theirs) = (one.confidence(now), other.confidence(now));
        (other.id == seen)
            .cmp(&(one.id == seen))
            .then(theirs.total_cmp(&mine))
            .then(other.last_seen.cmp(&one.last_seen))
    });
    while patterns.len() > 1 && (patterns.len() > MOST || text > MOST_TEXT) {
        text -= patterns.pop().map_or(0, |last| size(&last));
    }
}

/// The argument an error names, if it names exactly one.
pub(super) fn parameter(error: &str, call: &BTreeMap<String, String>) -> Option<String> {
    let searched = SearchText::new(error);
    let mut named = call.keys().filter(|name| {
        let is_position = name.bytes().all(|b| b.is_ascii_digit());
        !is_position && name.len() > 2 && searched.has(&name.to_lowercase())
    });
    let first = named.next()?;
    named.next().is_none().then(|| first.clone())
}

/// What an argument looks like once what varies is replaced.
pub(super) fn shape(text: &str) -> String {
    let text = text[..text.floor_char_boundary(LOOKED_AT)].trim();
    let hex = text.len() >= 7 && text.bytes().all(|b| b.is_ascii_hexdigit());
    if hex && !text.bytes().all(|b| b.is_ascii_digit()) {
        return format!("<hash of {}>", text.len());
    }
    let fingerprinted = super::fingerprint::fingerprint(text);
    fingerprinted[..fingerprinted.floor_char_boundary(100)].to_owned()
}

/// What arguments look like once what varies is replaced. The length of a hash
/// stays: a short one may be the mistake.
pub(super) fn shapes(args: &Value, mask: &dyn Fn(&str) -> String) -> BTreeMap<String, String> {
    let shape = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        shape(&mask(&text))
    };
    match args {
        Value::Object(map) => {
            let some = map.iter().take(ARGUMENTS);
            some.map(|(name, value)| (name.clone(), shape(value))).collect()
        }
        Value::Array(list) => {
            let some = list.iter().take(ARGUMENTS).enumerate();
            some.map(|(at, value)| (at.to_string(), shape(value))).collect()
        }
        Value::Null => BTreeMap::new(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            BTreeMap::from([("0".to_owned(), shape(args))])
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_790_000_000 + second).expect("in range")
    }

    fn plain(text: &str) -> String {
        text.to_owned()
    }

    fn sighting(error: &str, args: &Value) -> Sighting {
        let call = shapes(args, &plain);
        Sighting {
            tool: "deploy".into(),
            mistake: Mistake::Format,
            error: crate::memory::fingerprint(error),
            parameter: parameter(error, &call),
            call,
            advice: None,
            prevention: None,
            at: at(0),
        }
    }

    #[test]
    fn like_sightings_are_one_pattern() {
        let mut patterns = Vec::new();
        let args = json!({ "n": 1 });
        let one = learn(&mut patterns, sighting("manifest unknown for app at 12", &args));
        let two = learn(&mut patterns, sighting("manifest unknown for web at 7", &args));
        assert_eq!((&one, patterns.len(), patterns[0].sightings), (&two, 1, 2));
        learn(&mut patterns, sighting("invalid date format", &args));
        assert_eq!(patterns.len(), 2);
    }

    #[test]
    fn another_tool_or_kind_is_another_pattern() {
        let mut patterns = Vec::new();
        let seen = sighting("manifest unknown", &json!({}));
        learn(&mut patterns, seen.clone());
        learn(&mut patterns, Sighting { tool: "other".into(), ..seen.clone() });
        learn(&mut patterns, Sighting { mistake: Mistake::Sequence, ..seen });
        assert_eq!(patterns.len(), 3);
    }

    #[test]
    fn it_is_about_calls_that_look_the_same() {
        let mut patterns = Vec::new();
        learn(&mut patterns, sighting("bad", &json!({ "path": "/a/b", "n": 5 })));
        let about = |args: Value| patterns[0].is_about("deploy", &shapes(&args, &plain));
        assert!(about(json!({ "path": "/c/d", "n": 7 })));
        assert!(!about(json!({ "path": "x", "n": 7 })));
        assert!(!about(json!({ "path": "/c/d" })));
    }

    #[test]
    fn where_the_error_names_an_argument_only_that_counts() {
        let mut patterns = Vec::new();
        let args = json!({ "image_tag": "abc1234", "other": "x" });
        learn(&mut patterns, sighting("manifest unknown: image_tag", &args));
        assert_eq!(patterns[0].parameter.as_deref(), Some("image_tag"));
        let about = |args: Value| patterns[0].is_about("deploy", &shapes(&args, &plain));
        assert!(about(json!({ "image_tag": "fed4321", "other": "y" })));
        assert!(!about(json!({ "image_tag": "abc1234".repeat(5) })));
        assert!(!about(json!({ "other": "x" })));
    }

    #[test]
    fn warnings_come_with_ten_sightings_and_blocks_with_a_hundred() {
        let mut patterns = Vec::new();
        let mut levels = Vec::new();
        for _ in 0..100 {
            learn(&mut patterns, sighting("bad", &json!({})));
            levels.push(patterns[0].warning(at(0)).map(|warning| warning.level));
        }
        assert_eq!(levels[8], None);
        assert_eq!(levels[9], Some(Level::Warn));
        assert_eq!(levels[98], Some(Level::Warn));
        assert_eq!(levels[99], Some(Level::Block));
    }

    #[test]
    fn of_too_many_the_least_sure_go_and_never_the_last_seen() {
        let mut patterns = Vec::new();
        let one = |tool: usize| Sighting { tool: tool.to_string(), ..sighting("bad", &json!({})) };
        for tool in 0..MOST {
            learn(&mut patterns, one(tool));
            learn(&mut patterns, one(tool));
            learn(&mut patterns, one(tool));
        }
        let last = learn(&mut patterns, one(MOST));
        forget_unsure(&mut patterns, &last, at(0));
        assert_eq!(patterns.len(), MOST);
        assert!(patterns.iter().any(|one| one.id == last));
        let long = "word ".repeat(MOST_TEXT / 5);
        patterns[1].error = long;
        forget_unsure(&mut patterns, &last, at(0));
        assert!(serde_json::to_string(&patterns).expect("data").len() <= MOST_TEXT + 1000);
    }

    #[test]
    fn success_never_lowers_it_being_wrong_does() {
        let mut patterns = Vec::new();
        for _ in 0..10 {
            learn(&mut patterns, sighting("bad", &json!({})));
        }
        patterns[0].successes = 1000;
        assert_eq!(patterns[0].confidence(at(0)), 0.75);
        patterns[0].wrong = 1;
        assert_eq!(patterns[0].confidence(at(0)), 0.70);
    }
}
