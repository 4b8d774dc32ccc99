//! Answers: kept for the next time.

use aye_core::digest::digest;
use jiff::{SignedDuration, Timestamp};
use serde_json::Map;

use super::error::MemoryError;
use super::keep::{Mask, change_list_once, visible_lines};
use super::lesson::Once;
use super::memory::{CONFIRMATIONS, Memory};
use super::preference::{
    self, ASKED, Allowed, Chosen, EnvironmentRule, Preference, Scope, is_production,
};
use super::salient_line::pattern_of;

/// An answer to be remembered.
#[derive(Debug, Clone)]
pub struct NewChoice<'a> {
    /// The skill that asked.
    pub skill: &'a str,
    /// The step that asked.
    pub step: &'a str,
    /// `--environment`.
    pub environment: Option<&'a str>,
    /// The error, for `scope: error`.
    pub error: Option<&'a str>,
    /// See [`super::question_digest`].
    pub digest: &'a str,
    /// The value that was chosen.
    pub choice: &'a str,
    /// The values that were offered.
    pub offered: &'a [&'a str],
    /// How far it reaches.
    pub scope: Scope,
    /// Whether it may be remembered at all.
    pub allowed: Allowed,
    /// Who.
    pub by: &'a str,
    /// For how long; 30 days if nothing is said.
    pub lasts: Option<SignedDuration>,
    /// Now.
    pub now: Timestamp,
}

impl Memory {
    /// Keeps an answer and returns what was kept. It is the user's own: never
    /// shared.
    ///
    /// # Errors
    /// When it must not be remembered, was not offered, or the file cannot be
    /// written.
    pub fn remember_choice(
        &self,
        new: &NewChoice<'_>,
        mask: Mask<'_>,
    ) -> Result<Preference, MemoryError> {
        self.keep_preference(self.new_preference(new, mask)?, None)
    }

    /// The entry that an answer makes; nothing is written.
    ///
    /// # Errors
    /// When it must not be remembered, or was not offered.
    pub fn new_preference(
        &self,
        new: &NewChoice<'_>,
        mask: Mask<'_>,
    ) -> Result<Preference, MemoryError> {
        if let Some(obstacle) = new.allowed.obstacle() {
            return Err(MemoryError::refused(obstacle, "it is asked each time"));
        }
        if !new.offered.contains(&new.choice) {
            let message = format!("`{}` is not one of the options", new.choice);
            return Err(MemoryError::refused(message, "remember what was chosen"));
        }
        if let Some(environment) = new.environment.filter(|name| is_production(name))
            && self.environment_rules().get(environment) != Some(&EnvironmentRule::AutoProceed)
        {
            return Err(MemoryError::refused(
                format!("Aye always asks in `{environment}`"),
                format!(
                    "`environments:` with `{environment}: auto_proceed` in {} allows it",
                    self.own().place(CONFIRMATIONS).display()
                ),
            ));
        }
        let error = match (new.scope, new.error) {
            (Scope::Error, Some(error)) => {
                Some(pattern_of(&visible_lines(&mask(error)))?.as_str().to_owned())
            }
            (Scope::Error, None) => {
                let message = "there is no error to remember the answer for";
                return Err(MemoryError::refused(message, "take `step`, `skill` or `always`"));
            }
            (Scope::Step | Scope::Skill | Scope::Always, _) => None,
        };
        let project = self.project.as_ref().map(|project| project.name.clone());
        // Of one question, the last answer counts; other inputs are another question.
        let error_words = error.as_deref().unwrap_or_default();
        let about = match new.scope {
            Scope::Error => vec![new.skill, new.step, new.digest, error_words],
            Scope::Step => vec![new.skill, new.step, new.digest],
            Scope::Skill => vec![new.skill, new.digest, ""],
            Scope::Always => vec![new.digest, "", ""],
        };
        let place = [new.environment, project.as_deref()].map(Option::unwrap_or_default);
        let parts = [&[new.scope.word()], &about[..], &place].concat();
        let parts: Vec<&[u8]> = parts.into_iter().map(str::as_bytes).collect();
        let id = format!("pref-{}", &digest(&parts)[..8]);
        let lasts = new.lasts.unwrap_or(preference::KEPT);
        Ok(Preference {
            id,
            choice: new.choice.to_owned(),
            scope: new.scope,
            skill: new.skill.to_owned(),
            step: new.step.to_owned(),
            environment: new.environment.map(str::to_owned),
            error,
            digest: new.digest.to_owned(),
            by: new.by.to_owned(),
            said: new.now,
            expires: new.now.checked_add(lasts).unwrap_or(Timestamp::MAX),
            environments: Default::default(),
            history: Vec::new(),
            project,
            other: Map::new(),
        })
    }

    pub(super) fn keep_preference(
        &self,
        mut kept: Preference,
        once: Option<Once<'_>>,
    ) -> Result<Preference, MemoryError> {
        let keep = |all: &mut Vec<Preference>| {
            // What ended long ago only fills the file.
            all.retain(|one| {
                one.id == kept.id || kept.said.duration_since(one.expires) < preference::KEPT
            });
            match all.iter_mut().find(|known| known.id == kept.id) {
                Some(known) => {
                    kept.history = std::mem::take(&mut known.history);
                    kept.environments = std::mem::take(&mut known.environments);
                    let mut other = std::mem::take(&mut known.other);
                    other.extend(std::mem::take(&mut kept.other));
                    kept.other = other;
                    kept.history.push(chosen(&kept));
                    let extra = kept.history.len().saturating_sub(preference::HISTORY);
                    kept.history.drain(..extra);
                    *known = kept.clone();
                }
                None => {
                    kept.history.push(chosen(&kept));
                    all.push(kept.clone());
                }
            }
            ((), true)
        };
        change_list_once(self.own(), CONFIRMATIONS, "preferences", once, keep)?;
        Ok(kept)
    }
}

fn chosen(preference: &Preference) -> Chosen {
    let kept = |key: &str| Some((key.to_owned(), preference.other.get(key)?.clone()));
    Chosen {
        choice: preference.choice.clone(),
        at: preference.said,
        by: preference.by.clone(),
        environment: preference.environment.clone(),
        other: ["run", ASKED].into_iter().filter_map(kept).collect(),
    }
}
