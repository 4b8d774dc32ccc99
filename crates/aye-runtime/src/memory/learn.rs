//! Failures and successes: what is learned from them.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::error::MemoryError;
use super::failure::{self, Ending, Failure};
use super::keep::{Mask, change_list_once, line};
use super::lesson::{Lesson, Once};
use super::memory::{FAILURES, Memory, USAGE};
use super::mistake::mistake;
use super::pattern::SearchText;
use super::prevention::prevention;
use super::salient_line::salient_line;
use super::usage::{self, Sighting, UsagePattern, shapes};

/// A failure that was seen.
#[derive(Debug, Clone)]
pub struct Seen<'a> {
    /// The tool or program.
    pub tool: &'a str,
    /// Its arguments, by name or in order.
    pub args: &'a Value,
    /// What went wrong.
    pub error: &'a str,
    /// The skill.
    pub skill: Option<&'a str>,
    /// The step.
    pub step: Option<&'a str>,
    /// The run.
    pub run: Option<&'a str>,
    /// What became of it. From what was swallowed or recovered is learned.
    pub ending: Ending,
    /// What helped: the id of a fix, or words.
    pub fix: Option<&'a str>,
    /// Now.
    pub now: Timestamp,
}

impl Memory {
    /// Keeps a failure among the last 100 and, if it was swallowed or
    /// recovered and is someone's mistake, learns from it; the name of the
    /// pattern then.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn saw_failure(
        &self,
        seen: &Seen<'_>,
        mask: Mask<'_>,
    ) -> Result<Option<String>, MemoryError> {
        let (failure, sighting) = seen.read(mask);
        self.keep_failure(failure, sighting, None)
    }

    pub(super) fn keep_failure(
        &self,
        failure: Failure,
        sighting: Option<Sighting>,
        once: Option<Once<'_>>,
    ) -> Result<Option<String>, MemoryError> {
        change_list_once(self.own(), FAILURES, "failures", once, |all: &mut Vec<Failure>| {
            all.push(failure);
            let extra = all.len().saturating_sub(failure::KEPT);
            all.drain(..extra);
            ((), true)
        })?;
        let Some(sighting) = sighting else { return Ok(None) };
        self.change_usage(once, |patterns| {
            let now = sighting.at;
            let id = usage::learn(patterns, sighting);
            usage::forget_unsure(patterns, &id, now);
            (id, true)
        })
    }

    /// That a call went well. It is only noted where such calls have failed before,
    /// and it lowers nothing.
    pub fn success_lesson(&self, tool: &str, args: &Value, mask: Mask<'_>) -> Option<Lesson> {
        let is_noted = !self.usage_about(tool, args, mask).is_empty();
        is_noted.then(|| Lesson::Success { tool: tool.to_owned(), call: shapes(args, mask) })
    }

    pub(super) fn count_success(
        &self,
        tool: &str,
        call: &BTreeMap<String, String>,
        once: Option<Once<'_>>,
    ) -> Result<(), MemoryError> {
        self.change_usage(once, |patterns| {
            let mut any = false;
            for pattern in patterns.iter_mut().filter(|pattern| pattern.is_about(tool, call)) {
                pattern.successes += 1;
                any = true;
            }
            ((), any)
        })
        .map(drop)
    }

    /// A warning was wrong: someone went on all the same, and it went well.
    pub(super) fn count_wrong(&self, id: &str, once: Option<Once<'_>>) -> Result<(), MemoryError> {
        let found = self.change_usage(once, |patterns| {
            let found = patterns.iter_mut().find(|pattern| pattern.id == id);
            let is_there = found.is_some();
            if let Some(pattern) = found {
                pattern.wrong += 1;
            }
            (is_there, is_there)
        })?;
        match found {
            Some(false) => Err(MemoryError::NotFound(id.to_owned())),
            Some(true) | None => Ok(()),
        }
    }

    /// Keeps a pattern of use that was learned elsewhere; nothing if it is known.
    pub(super) fn keep_usage(&self, pattern: UsagePattern) -> Result<Option<String>, MemoryError> {
        let id = pattern.id.clone();
        let kept = self.change_usage(None, |patterns| {
            let known = patterns.iter().any(|one| one.id == id);
            if !known {
                patterns.push(pattern);
            }
            (!known, !known)
        })?;
        Ok(kept.filter(|kept| *kept).map(|_| id))
    }

    fn change_usage<R>(
        &self,
        once: Option<Once<'_>>,
        change: impl FnOnce(&mut Vec<UsagePattern>) -> (R, bool),
    ) -> Result<Option<R>, MemoryError> {
        *self.no_usage.lock().unwrap_or_else(PoisonError::into_inner) = None;
        change_list_once(self.own(), USAGE, "patterns", once, change)
    }
}

impl Seen<'_> {
    /// What memory takes in about it.
    pub fn lesson(&self, mask: Mask<'_>) -> Lesson {
        let (failure, sighting) = self.read(mask);
        Lesson::Failure { failure: Box::new(failure), sighting: sighting.map(Box::new) }
    }

    /// What is kept of it, and what it says about how the tool is used.
    pub(super) fn read(&self, mask: Mask<'_>) -> (Failure, Option<Sighting>) {
        let seen = self;
        let error = mask(seen.error);
        let error = SearchText::new(&error).raw().to_owned();
        let told = line(salient_line(&error), &str::to_owned);
        let failure = Failure {
            at: seen.now,
            tool: seen.tool.to_owned(),
            skill: seen.skill.map(str::to_owned),
            step: seen.step.map(str::to_owned),
            run: seen.run.map(str::to_owned),
            error: told[..told.floor_char_boundary(failure::SNIPPET)].to_owned(),
            ending: seen.ending,
            fix: seen.fix.map(|fix| line(fix, mask)),
            other: Map::new(),
        };
        let learnable = match seen.ending {
            Ending::Swallowed | Ending::Recovered => mistake(&error),
            Ending::Failed | Ending::Healed => None,
        };
        let Some(mistake) = learnable else { return (failure, None) };
        let call = shapes(seen.args, mask);
        let fingerprinted = super::fingerprint::fingerprint(&told);
        let parameter = usage::parameter(&error, &call);
        let advice = match seen.ending {
            Ending::Recovered => seen.fix.map(|fix| line(fix, mask)),
            Ending::Failed | Ending::Swallowed | Ending::Healed => None,
        };
        let sighting = Sighting {
            prevention: prevention(mistake, &told, parameter.as_deref(), advice.as_deref()),
            tool: seen.tool.to_owned(),
            mistake,
            error: fingerprinted[..fingerprinted.floor_char_boundary(failure::SNIPPET)].to_owned(),
            parameter,
            call,
            advice,
            at: seen.now,
        };
        (failure, Some(sighting))
    }
}
