//! Fixes: what to do about an error, as data that a program can carry out.

use aye_core::digest::digest;
use aye_core::word_enum;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::names::{Fit, tool_fits};
use super::pattern::{Pattern, SearchText};
use super::query::Query;
use super::usage::shape;

/// What the names of fixes begin with.
pub(super) const PREFIX: &str = "fix-";
/// How much of a digest a short name has at least.
pub(super) const SHORTEST: usize = 8;
/// A fix that failed so often in a row is not used any more.
pub(super) const FAILURES: u32 = 2;

/// An entry of `fixes.yaml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "a mapping")]
pub struct Fix {
    /// Its name: the digest of its content, whatever its file calls it.
    pub id: String,
    /// What its file calls it, if that is something else.
    #[serde(skip)]
    pub written_id: Option<String>,
    /// When it is used.
    #[serde(rename = "match")]
    pub matches: FixMatch,
    /// What is done then; a fix without is prose, and only shown.
    #[serde(default, rename = "do", skip_serializing_if = "Change::is_empty")]
    pub change: Change,
    /// In words, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Where it comes from.
    pub from: Origin,
    /// Who agreed on this machine that it may be used; in a file it is what
    /// older versions wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreed: Option<Agreement>,
    /// How often it may be used in one run.
    #[serde(default = "one")]
    pub max_uses: u32,
    /// How often it has worked.
    #[serde(default)]
    pub verified: u64,
    /// When it worked last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_success: Option<Timestamp>,
    /// How often in a row it has not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed: u32,
    /// When it did not work last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<Timestamp>,
    /// Since when it is not used any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended: Option<Timestamp>,
    /// Only in the project with this directory; in the user's memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What is written there besides.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// When a fix is used: tool or step, and the error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FixMatch {
    /// The tool or program, or the family of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// What the error is recognised by, as in [`Pattern`].
    pub error: String,
    /// What these arguments have to be: a value, or what it looks like, with
    /// placeholders such as `<n>` and `<hash of 7>` for what varies.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub args: Map<String, Value>,
    /// What is written there besides.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl FixMatch {
    /// Whether an argument is what it has to be.
    pub(super) fn is_arg(wanted: &Value, given: Option<&Value>) -> bool {
        let alike = || match (wanted, given) {
            (Value::String(wanted), Some(Value::String(given))) => {
                wanted.contains('<') && shape(given) == *wanted
            }
            _ => false,
        };
        given == Some(wanted) || alike()
    }
}

/// What a fix does. One, or arguments and a repair before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Arguments that change: by name, a value or a template over `args`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub args: Map<String, Value>,
    /// What is done before the step is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Act>,
    /// What is done in place of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace: Option<Act>,
    /// What is written there besides.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Something that can be done: exactly one of command, tool, skill.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Act {
    /// A program and its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// A tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// A skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The tool's arguments or the skill's inputs.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub with: Map<String, Value>,
    /// What is written there besides.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Where a fix comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// A person or an assistant.
    pub kind: OriginKind,
    /// Who.
    pub by: String,
    /// In which run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// When.
    pub at: Timestamp,
    /// What is written there besides.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Who proposes things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OriginKind {
    /// A person.
    Person,
    /// An assistant.
    Assistant,
    /// A step of a skill.
    Skill,
}

/// A person's agreement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    /// Who.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// What is written there besides.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

word_enum! {
    /// Whether a fix is used, and if not, why.
    pub enum Standing {
        /// It is used.
        Active = "active",
        /// Nobody agreed to it on this machine yet.
        Proposed = "proposed",
        /// It did not work twice.
        Suspended = "suspended",
        /// It only says something.
        Prose = "prose",
    }
}

impl Change {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.args.is_empty() && self.first.is_none() && self.replace.is_none()
    }
}

impl Act {
    /// In words.
    fn words(&self) -> String {
        match (&self.tool, &self.skill) {
            (Some(tool), _) => format!("the tool `{tool}`"),
            (None, Some(skill)) => format!("the skill `{skill}`"),
            (None, None) => format!("`{}`", self.command.join(" ")),
        }
    }

    fn check(&self, key: &str) -> Result<(), String> {
        let given = [!self.command.is_empty(), self.tool.is_some(), self.skill.is_some()];
        match given.into_iter().filter(|given| *given).count() {
            1 => Ok(()),
            _ => Err(format!("`{key}` needs one of `command`, `tool` and `skill`")),
        }
    }
}

/// Why a fix that begins with this tool is not used: it may only look with tools that someone
/// who is believed says only look.
pub fn look_up_obstacle(tool: &str) -> String {
    format!(
        "it begins with the tool `{tool}`, which no settings that count mark `read_only = true`"
    )
}

/// In `from` of words that nobody agreed to show: a skill wrote them where Aye keeps its own.
pub const PROPOSED: &str = "proposed";

impl Fix {
    /// What it is recognised by, or what is wrong with it.
    pub(super) fn check(&self) -> Result<Pattern, String> {
        let pattern = Pattern::new(&self.matches.error).map_err(|error| error.to_string())?;
        if self.matches.tool.is_none() && self.matches.step.is_none() {
            return Err("`match` needs a `tool` or a `step` besides `error`".to_owned());
        }
        if self.change.replace.is_some()
            && (self.change.first.is_some() || !self.change.args.is_empty())
        {
            return Err("`replace` stands for the whole step: leave out the others".to_owned());
        }
        let acts = [("first", &self.change.first), ("replace", &self.change.replace)];
        acts.into_iter()
            .try_for_each(|(key, act)| act.as_ref().map_or(Ok(()), |act| act.check(key)))?;
        Ok(pattern)
    }

    /// Whether it is used.
    pub fn standing(&self) -> Standing {
        let proposed = self.from.other.get(PROPOSED) == Some(&Value::Bool(true));
        if self.change.is_empty() && !(proposed && self.agreed.is_none()) {
            Standing::Prose
        } else if self.agreed.is_none() {
            Standing::Proposed
        } else if self.suspended.is_some() {
            Standing::Suspended
        } else {
            Standing::Active
        }
    }

    /// What it does and when, in one line: what a person would agree to.
    pub fn summary(&self) -> String {
        let matches = &self.matches;
        let named = [("", &matches.tool), ("step ", &matches.step), ("skill ", &matches.skill)];
        let named =
            named.iter().filter_map(|(word, name)| Some(format!("{word}`{}`", name.as_ref()?)));
        let when = named.collect::<Vec<_>>().join(", ");
        let only = matches.args.iter().map(|(name, value)| format!(" and `{name}` is {value}"));
        let only: String = only.collect();
        let act = |word: &str, act: &Option<Act>| {
            act.as_ref().map(|act| format!("{word} {}", act.words()))
        };
        let args = self.change.args.iter().map(|(name, value)| format!("`{name}` becomes {value}"));
        let mut does: Vec<String> = act("first", &self.change.first).into_iter().collect();
        does.extend(args);
        does.extend(act("instead", &self.change.replace));
        let does = match does.is_empty() {
            // Words are shown, and nothing else.
            true => format!("it says `{}`", self.about.as_deref().unwrap_or_default()),
            false => does.join(", "),
        };
        format!("when {when} fails with `{}`{only}: {does}", matches.error)
    }

    /// It worked.
    pub fn worked(&mut self, now: Timestamp) {
        self.verified += 1;
        self.last_success = Some(now);
        self.failed = 0;
    }

    /// It did not work; twice in a row suspends it.
    pub fn did_not_work(&mut self, now: Timestamp) {
        self.failed = self.failed.saturating_add(1);
        self.last_failure = Some(now);
        if self.failed >= FAILURES && self.suspended.is_none() {
            self.suspended = Some(now);
        }
    }

    /// It is given another chance.
    pub(super) fn reinstate(&mut self) {
        self.suspended = None;
        self.failed = 0;
    }

    /// The name that its content gives it: everything that decides what is
    /// done, and when. How often it helped does not; what it says only where
    /// that is all there is.
    pub(super) fn content_id(&self) -> String {
        let mut content = serde_json::json!({
            "match": self.matches, "do": self.change,
            "max_uses": self.max_uses, "project": self.project,
        });
        if self.change.is_empty() {
            content["about"] = self.about.clone().into();
        }
        let content = sorted(&content).to_string();
        format!("{PREFIX}{}", digest(&[b"fix", content.as_bytes()]))
    }

    /// Called what its content says.
    pub(super) fn identified(mut self) -> Self {
        let id = self.content_id();
        let written = std::mem::replace(&mut self.id, id);
        self.written_id = Some(written).filter(|written| *written != self.id);
        self
    }

    /// Whether a name is a whole one, which stands for one content.
    pub fn is_full_id(name: &str) -> bool {
        name.strip_prefix(PREFIX).is_some_and(|digest| digest.len() == 64 && is_hex(digest))
    }

    /// The agreement of this user from the time when the user's memory itself
    /// said so; names were short then.
    pub(super) fn agreed_before(&self) -> Option<Agreement> {
        let written = self.written_id.as_deref()?.strip_prefix(PREFIX)?;
        let old = written.len() == SHORTEST && is_hex(written);
        let person = (self.from.kind == OriginKind::Person).then(|| Agreement {
            by: self.from.by.clone(),
            at: self.from.at,
            other: Map::new(),
        });
        self.agreed.clone().or(person).filter(|_| old)
    }

    /// What is written in it and this version does not know, by its place.
    pub fn unknown(&self) -> Vec<(&'static str, &Map<String, Value>)> {
        let mut found = vec![("match", &self.matches.other), ("do", &self.change.other)];
        found.extend(self.change.first.as_ref().map(|act| ("first", &act.other)));
        found.extend(self.change.replace.as_ref().map(|act| ("replace", &act.other)));
        found.retain(|(_, other)| !other.is_empty());
        found
    }

    /// How it fits a failure; the smallest is the best.
    pub(super) fn fits(&self, query: &Query<'_>, searched: &SearchText<'_>) -> Option<(u8, Fit)> {
        let matches = &self.matches;
        let named = |written: &Option<String>, given: Option<&str>| match written {
            Some(written) => given == Some(written.as_str()),
            None => true,
        };
        if matches.tool.is_none() && matches.step.is_none()
            || !named(&matches.skill, query.skill)
            || !named(&matches.step, query.step)
        {
            return None;
        }
        let same = |(name, value): (&String, &Value)| {
            query.args.is_none_or(|given| FixMatch::is_arg(value, given.get(name)))
        };
        if !matches.args.iter().all(same) {
            return None;
        }
        let fit = match &matches.tool {
            Some(tool) => tool_fits(tool, query.tool)?,
            None => Fit::Family,
        };
        let pattern = Pattern::new(&matches.error).ok()?;
        let step = u8::from(matches.step.is_none());
        pattern.is_in_text(searched).then_some((step, fit))
    }
}

/// The value with the keys of every mapping in order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            keys.into_iter().map(|key| (key.clone(), sorted(&map[key]))).collect()
        }
        Value::Array(list) => list.iter().map(sorted).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn one() -> u32 {
    1
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("in range")
    }

    fn fix(tool: Option<&str>, step: Option<&str>, error: &str) -> Fix {
        let value = serde_json::json!({
            "id": "fix-1",
            "match": { "error": error },
            "do": { "args": { "tag": "{{ args.tag }}" } },
            "from": { "kind": "person", "by": "ana", "at": "2026-11-16T04:11:54Z" },
            "mine": 1,
        });
        let mut fix: Fix = serde_json::from_value(value).expect("a fix");
        fix.matches.tool = tool.map(str::to_owned);
        fix.matches.step = step.map(str::to_owned);
        fix
    }

    fn agreed() -> Option<Agreement> {
        Some(Agreement { by: "ana".into(), at: at(5), other: Map::new() })
    }

    fn query<'a>(tool: &'a str, step: &'a str, error: &'a str) -> Query<'a> {
        Query { tool, step: Some(step), error, ..Query::default() }
    }

    #[test]
    fn it_needs_tool_or_step_and_the_error() {
        let fits =
            |fix: &Fix, query: Query<'_>| fix.fits(&query, &SearchText::new(query.error)).is_some();
        let by_tool = fix(Some("deploy"), None, "manifest unknown");
        assert!(fits(&by_tool, query("deploy", "x", "Manifest unknown")));
        assert!(!fits(&by_tool, query("deploy", "x", "other error")));
        assert!(!fits(&by_tool, query("other", "x", "manifest unknown")));
        let by_step = fix(None, Some("release"), "manifest unknown");
        assert!(fits(&by_step, query("any", "release", "manifest unknown")));
        assert!(!fits(&by_step, query("any", "other", "manifest unknown")));
        let by_none = fix(None, None, "manifest unknown");
        assert!(!fits(&by_none, query("any", "x", "manifest unknown")));
        assert!(by_none.check().is_err());
    }

    #[test]
    fn twice_in_a_row_suspends_it_and_agreeing_brings_it_back() {
        let mut fix = fix(Some("deploy"), None, "manifest unknown");
        fix.agreed = agreed();
        fix.did_not_work(at(1));
        fix.worked(at(2));
        fix.did_not_work(at(3));
        assert_eq!(fix.standing(), Standing::Active);
        fix.did_not_work(at(4));
        assert_eq!((fix.standing(), fix.suspended), (Standing::Suspended, Some(at(4))));
        fix.reinstate();
        assert_eq!((fix.standing(), fix.failed), (Standing::Active, 0));
    }

    #[test]
    fn whoever_it_is_from_it_waits_for_an_agreement() {
        let mut fix = fix(Some("deploy"), None, "manifest unknown");
        for kind in [OriginKind::Person, OriginKind::Assistant] {
            fix.from.kind = kind;
            fix.agreed = None;
            assert_eq!(fix.standing(), Standing::Proposed);
            fix.agreed = agreed();
            assert_eq!(fix.standing(), Standing::Active);
        }
    }

    #[test]
    fn its_name_is_its_content() {
        let one = fix(Some("deploy"), None, "manifest unknown").identified();
        assert!(Fix::is_full_id(&one.id) && !Fix::is_full_id("fix-1a2b3c4d"));
        assert_eq!(one.written_id.as_deref(), Some("fix-1"));
        let mut other = one.clone();
        other.verified = 7;
        other.about = Some("better".into());
        assert_eq!(other.content_id(), one.id);
        other.change.args.insert("more".into(), Value::Null);
        assert_ne!(other.content_id(), one.id);
        // Of a fix in words the words are the content.
        let words = |about: &str| {
            let about = Some(about.to_owned());
            Fix { change: Change::default(), about, ..one.clone() }.content_id()
        };
        assert_eq!(words("push it first"), words("push it first"));
        assert_ne!(words("push it first"), words("use the full SHA"));
    }

    #[test]
    fn prose_is_never_used() {
        let mut fix = fix(Some("deploy"), None, "manifest unknown");
        fix.change = Change::default();
        fix.about = Some("connect the VPN and log in as the author".into());
        assert_eq!(fix.standing(), Standing::Prose);
    }

    #[test]
    fn an_act_is_one_thing() {
        let mut fix = fix(Some("deploy"), None, "manifest unknown");
        fix.change.first = Some(Act::default());
        assert!(fix.check().is_err());
        fix.change.first = Some(Act { command: vec!["x".into()], ..Act::default() });
        assert!(fix.check().is_ok());
        fix.change.replace = fix.change.first.clone();
        assert!(fix.check().is_err());
    }

    #[test]
    fn what_is_not_known_is_kept() {
        let fix = fix(Some("deploy"), None, "manifest unknown");
        let value = serde_json::to_value(&fix).expect("data");
        assert_eq!(value["mine"], 1);
    }
}
