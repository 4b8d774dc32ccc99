//! Preferences: answers that someone wants given again.

use std::collections::BTreeMap;

use aye_core::digest::digest;
/// How far an answer reaches. It is always the same question: wherever it is
/// asked, what was approved must not have changed.
pub use aye_core::question::AnswerScope as Scope;
use aye_core::question::{Purpose, Question};
pub use aye_core::skill::is_production;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::fingerprint::fingerprint;
use super::pattern::Pattern;

/// How long an answer is remembered.
pub(super) const KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Under which key an answer has what was asked.
pub const ASKED: &str = "asked";
/// How many earlier choices are kept with a preference.
pub(super) const HISTORY: usize = 10;

/// What is done in an environment, whatever was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnvironmentRule {
    /// A remembered answer is used here too.
    AutoProceed,
    /// Nothing remembered is used here.
    AlwaysAsk,
}

/// An entry of `confirmations.yaml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "a mapping")]
pub struct Preference {
    /// Its name.
    pub id: String,
    /// The value that was chosen.
    pub choice: String,
    /// How far it reaches.
    pub scope: Scope,
    /// The skill whose question it was.
    pub skill: String,
    /// The step whose question it was.
    pub step: String,
    /// In which environment it was said; nothing for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// `scope: error`: what the error is recognised by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Digest of what was approved: message, options and what follows.
    pub digest: String,
    /// Who said it.
    pub by: String,
    /// When.
    pub said: Timestamp,
    /// Until when it is used.
    pub expires: Timestamp,
    /// What is done in other environments.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environments: BTreeMap<String, EnvironmentRule>,
    /// What was chosen before, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Chosen>,
    /// Only in the project with this directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What is written there besides.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// An earlier choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    /// The value.
    pub choice: String,
    /// When.
    pub at: Timestamp,
    /// Who.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// Where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// What is written there besides.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Whether an answer to a question may come from memory at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Allowed {
    /// The skill says that it may be remembered.
    pub remember: bool,
    /// The step that follows destroys something.
    pub destructive: bool,
    /// A yes needs a certain person, several people, a code or a typed text.
    pub guarded: bool,
}

impl Allowed {
    /// Why not, if not.
    pub fn obstacle(self) -> Option<&'static str> {
        if self.destructive {
            Some("the step is destructive")
        } else if self.guarded {
            Some("the question needs a person, several people, a code or a typed text")
        } else if !self.remember {
            Some("the skill does not say `remember: true`")
        } else {
            None
        }
    }
}

/// A question to memory.
#[derive(Debug, Clone, Copy)]
pub struct PreferenceQuery<'a> {
    /// The skill that asks.
    pub skill: &'a str,
    /// The step that asks.
    pub step: &'a str,
    /// `--environment`.
    pub environment: Option<&'a str>,
    /// The error, for a recovery question.
    pub error: Option<&'a str>,
    /// Digest of what would be approved, see [`question_digest`].
    pub digest: &'a str,
    /// The values that are offered.
    pub offered: &'a [&'a str],
    /// Whether memory may answer at all.
    pub allowed: Allowed,
    /// Now.
    pub now: Timestamp,
}

/// What a remembered answer is bound to: everything that is shown and that
/// decides what follows, as the core says; not the step, so that the same question can be known elsewhere. A
/// recovery question has the error in its message: what varies there is left
/// out.
pub fn question_digest(question: &Question) -> String {
    if let Some(recall) = &question.recall {
        return recall.clone();
    }
    let message = match question.purpose {
        Purpose::Recover => fingerprint(&question.message),
        Purpose::Gate | Purpose::Ask => question.message.clone(),
    };
    let asked = json!({
        "rule": 2,
        "kind": question.kind,
        "purpose": question.purpose,
        "title": question.title,
        "message": message,
        "options": question.options,
        "follows": question.follows,
    });
    digest(&[asked.to_string().as_bytes()])
}

/// In `other` of a preference: what it is given to again, in words.
pub const COVERS: &str = "covers";

impl Preference {
    /// What it is given to again, in words; older ones do not say.
    pub fn covers(&self) -> Option<&str> {
        self.other.get(COVERS).and_then(Value::as_str)
    }

    /// Whether it is over.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        now >= self.expires
    }

    /// Whether it answers this question; `rules` are those of the whole memory.
    pub fn applies(
        &self,
        query: &PreferenceQuery<'_>,
        rules: &BTreeMap<String, EnvironmentRule>,
    ) -> bool {
        query.allowed.obstacle().is_none()
            && !self.is_expired(query.now)
            && self.digest == query.digest
            && query.offered.contains(&self.choice.as_str())
            && self.reaches(query)
            && self.is_for_environment(query.environment, rules)
    }

    fn reaches(&self, query: &PreferenceQuery<'_>) -> bool {
        let here = self.skill == query.skill && self.step == query.step;
        match self.scope {
            Scope::Error => {
                let pattern = self.error.as_deref().and_then(|error| Pattern::new(error).ok());
                here && pattern.zip(query.error).is_some_and(|(known, error)| known.is_in(error))
            }
            Scope::Step => here,
            Scope::Skill => self.skill == query.skill,
            Scope::Always => true,
        }
    }

    fn is_for_environment(
        &self,
        environment: Option<&str>,
        rules: &BTreeMap<String, EnvironmentRule>,
    ) -> bool {
        let said_here = self.environment.as_deref() == environment;
        let Some(environment) = environment else { return said_here };
        let found = [self.environments.get(environment), rules.get(environment)];
        if found.contains(&Some(&EnvironmentRule::AlwaysAsk)) {
            return false;
        }
        found.contains(&Some(&EnvironmentRule::AutoProceed))
            || said_here && !is_production(environment)
    }

    /// What was asked, where that was kept.
    pub fn asked(&self) -> Option<&str> {
        self.other.get(ASKED).and_then(Value::as_str)
    }

    /// What is shown when it is used.
    pub fn sentence(&self, label: Option<&str>) -> String {
        let choice = label.unwrap_or(&self.choice);
        let when = self.said.to_string();
        let day = when.get(..10).unwrap_or(&when);
        let run = self.other.get("run").and_then(Value::as_str);
        let run = run.map(|run| format!(" in run {run}")).unwrap_or_default();
        format!("{} chose {choice} {} on {day}{run}", self.by, self.scope.reach())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const YES: Allowed = Allowed { remember: true, destructive: false, guarded: false };

    fn at(day: i64) -> Timestamp {
        Timestamp::from_second(1_790_000_000 + day * 86_400).expect("in range")
    }

    fn preference(scope: Scope) -> Preference {
        Preference {
            id: "pref-1".into(),
            choice: "proceed".into(),
            scope,
            skill: "deploy".into(),
            step: "gate".into(),
            environment: Some("stage".into()),
            error: Some("manifest unknown".into()),
            digest: "d".into(),
            by: "ana".into(),
            said: at(0),
            expires: at(30),
            environments: BTreeMap::new(),
            history: Vec::new(),
            project: None,
            other: Map::new(),
        }
    }

    fn query() -> PreferenceQuery<'static> {
        PreferenceQuery {
            skill: "deploy",
            step: "gate",
            environment: Some("stage"),
            error: Some("Error: manifest unknown"),
            digest: "d",
            offered: &["cancel", "proceed"],
            allowed: YES,
            now: at(1),
        }
    }

    fn applies(preference: &Preference, query: &PreferenceQuery<'_>) -> bool {
        preference.applies(query, &BTreeMap::new())
    }

    #[test]
    fn scopes_reach_as_far_as_they_say() {
        let asked = [
            query(),
            PreferenceQuery { error: Some("other"), ..query() },
            PreferenceQuery { step: "other", ..query() },
            PreferenceQuery { skill: "other", ..query() },
        ];
        let reach = |scope| asked.map(|query| applies(&preference(scope), &query));
        assert_eq!(reach(Scope::Error), [true, false, false, false]);
        assert_eq!(reach(Scope::Step), [true, true, false, false]);
        assert_eq!(reach(Scope::Skill), [true, true, true, false]);
        assert_eq!(reach(Scope::Always), [true, true, true, true]);
    }

    #[test]
    fn what_was_approved_must_be_the_same_however_far_it_reaches() {
        for scope in [Scope::Error, Scope::Step, Scope::Skill, Scope::Always] {
            assert!(!applies(&preference(scope), &PreferenceQuery { digest: "e", ..query() }));
        }
    }

    #[test]
    fn a_value_that_is_not_offered_any_more_is_not_used() {
        let query = PreferenceQuery { offered: &["cancel", "go"], ..query() };
        assert!(!applies(&preference(Scope::Always), &query));
    }

    #[test]
    fn it_expires() {
        let late = PreferenceQuery { now: at(30), ..query() };
        assert!(!applies(&preference(Scope::Step), &late));
        let still = PreferenceQuery { now: at(29), ..query() };
        assert!(applies(&preference(Scope::Step), &still));
    }

    #[test]
    fn destructive_and_guarded_questions_are_always_asked() {
        for allowed in [
            Allowed { destructive: true, ..YES },
            Allowed { guarded: true, ..YES },
            Allowed::default(),
        ] {
            let query = PreferenceQuery { allowed, ..query() };
            assert!(!applies(&preference(Scope::Always), &query), "{allowed:?}");
        }
    }

    #[test]
    fn it_is_for_the_environment_it_was_said_in() {
        let elsewhere = PreferenceQuery { environment: Some("test"), ..query() };
        let nowhere = PreferenceQuery { environment: None, ..query() };
        let mut preference = preference(Scope::Always);
        assert!(!applies(&preference, &elsewhere));
        assert!(!applies(&preference, &nowhere));
        preference.environments.insert("test".into(), EnvironmentRule::AutoProceed);
        assert!(applies(&preference, &elsewhere));
        preference.environments.insert("stage".into(), EnvironmentRule::AlwaysAsk);
        assert!(!applies(&preference, &query()));
    }

    #[test]
    fn production_is_asked_unless_a_rule_says_otherwise() {
        let mut preference = preference(Scope::Step);
        preference.environment = Some("eu-prod".into());
        let query = PreferenceQuery { environment: Some("eu-prod"), ..query() };
        assert!(!applies(&preference, &query));
        let mut rules = BTreeMap::from([("eu-prod".to_owned(), EnvironmentRule::AutoProceed)]);
        assert!(preference.applies(&query, &rules));
        preference.environments.insert("eu-prod".into(), EnvironmentRule::AlwaysAsk);
        assert!(!preference.applies(&query, &rules));
        rules.clear();
        assert!(is_production("Production") && is_production("live") && !is_production("product"));
    }

    fn question(purpose: &str, step: &str, message: &str, follows: &str) -> Question {
        serde_json::from_value(json!({
            "question": "abcdefgh12-1", "kind": "confirm", "purpose": purpose, "step": step,
            "title": "", "message": message, "follows": follows, "overridable": true,
            "digest": "with the step",
        }))
        .expect("a question")
    }

    #[test]
    fn the_digest_is_of_what_is_asked_and_of_what_follows() {
        let digest = |purpose, step, message, follows| {
            question_digest(&question(purpose, step, message, follows))
        };
        let asked = digest("gate", "a", "Deploy 3?", "x");
        assert_eq!(asked, digest("gate", "b", "Deploy 3?", "x"));
        assert_ne!(asked, digest("gate", "a", "Deploy 4?", "x"));
        assert_ne!(asked, digest("gate", "a", "Deploy 3?", "y"));
        let failed = digest("recover", "a", "image abc1234f not found", "x");
        assert_eq!(failed, digest("recover", "a", "image 99ffee11 not found", "x"));
        assert_ne!(failed, digest("recover", "a", "out of memory", "x"));
    }

    #[test]
    fn its_use_is_said_with_the_day() {
        let said = preference(Scope::Always).sentence(Some("Proceed"));
        assert_eq!(said, "ana chose Proceed always on 2026-09-21");
    }
}
