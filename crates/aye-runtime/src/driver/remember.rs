//! Answers from memory, and answers for memory.

use aye_core::event::{MemoryKind, Remembered};
use aye_core::input::{Input, Request};
use aye_core::journal::State;
use aye_core::question::{Answer, Prompter, Question};
use jiff::Timestamp;

use crate::error::Error;
use crate::memory::{
    Allowed, Memory, MemoryError, NewChoice, Preference, PreferenceQuery, Scope, question_digest,
};

use super::drive::Driver;
use super::lane::{LaneId, ROOT};

/// Whether an answer to this question may be remembered and recalled. The core
/// has taken `remember` back where the step that follows is destructive.
fn allowed(question: &Question) -> Allowed {
    Allowed {
        remember: question.remember,
        destructive: false,
        guarded: question.is_guarded() || question.secret,
    }
}

fn offered(question: &Question) -> Vec<&str> {
    question.options.iter().map(|offer| offer.value.as_str()).collect()
}

/// What is remembered for this question.
fn recall(
    memory: &Memory,
    question: &Question,
    state: &State,
    now: Timestamp,
) -> Option<Preference> {
    memory.preference(&PreferenceQuery {
        skill: &state.started.skill,
        step: &question.step,
        environment: state.started.environment.as_deref(),
        error: None,
        digest: &question_digest(question),
        offered: &offered(question),
        allowed: allowed(question),
        now,
    })
}

/// An answer that is to be kept.
pub struct Kept<'a> {
    /// What was asked.
    pub question: &'a Question,
    /// In which skill.
    pub skill: &'a str,
    /// Against which environment.
    pub environment: Option<&'a str>,
    /// What was chosen.
    pub choice: &'a str,
    /// How far it reaches.
    pub scope: Scope,
    /// Who chose.
    pub by: &'a str,
    /// When.
    pub now: Timestamp,
}

/// Keeps an answer.
pub fn keep(
    memory: &Memory,
    kept: &Kept<'_>,
    mask: &dyn Fn(&str) -> String,
) -> Result<Preference, MemoryError> {
    let choice = NewChoice {
        skill: kept.skill,
        step: &kept.question.step,
        environment: kept.environment,
        error: None,
        digest: &question_digest(kept.question),
        choice: kept.choice,
        offered: &offered(kept.question),
        scope: kept.scope,
        allowed: allowed(kept.question),
        by: kept.by,
        lasts: None,
        now: kept.now,
    };
    memory.remember_choice(&choice, mask)
}

impl Driver<'_> {
    /// Answers a question from memory, if it may be and something is known.
    pub(super) fn recall(&mut self, id: LaneId, question: &Question) -> Result<(), Error> {
        if !question.remember || !self.questions.is_recalled_first(question) {
            return Ok(());
        }
        let now = self.parts.clock.now();
        let state = self.lane(id).machine.state();
        let Some(known) = recall(&self.parts.memory, question, state, now) else { return Ok(()) };
        let label = question.offer(&known.choice).map(|offer| offer.label.as_str());
        let by = self.lane(ROOT).machine.state().started.driver.user.clone();
        let answer = Answer {
            reason: Some(known.sentence(label)),
            digest: Some(question.digest.clone()),
            ..Answer::new(known.choice.clone(), by, Prompter::Memory)
        };
        let request = Request::answer(question.id.clone(), answer);
        self.apply(id, Input::Request(request), None)?;
        Ok(())
    }

    /// Keeps the answer that was given here.
    pub(super) fn remember(
        &mut self,
        id: LaneId,
        question: &Question,
        choice: &str,
    ) -> Result<(), Error> {
        let machine = &self.lane(id).machine;
        let started = &machine.state().started;
        let kept = Kept {
            question,
            skill: &started.skill,
            environment: started.environment.as_deref(),
            choice,
            scope: Scope::Step,
            by: &self.lane(ROOT).machine.state().started.driver.user,
            now: self.parts.clock.now(),
        };
        let kept = match keep(&self.parts.memory, &kept, &|text| machine.secrets().mask(text)) {
            Ok(kept) => kept,
            Err(error) => {
                self.note(id, &[format!("not remembered: {error}")]);
                return Ok(());
            }
        };
        let what = Remembered {
            kind: MemoryKind::Preference,
            message: format!("remembered; `aye memory forget {}` takes it back", kept.id),
            id: Some(kept.id),
            step: Some(question.step.clone()),
            fix: None,
        };
        // A run that ended with the answer is over; what was said is kept all the same.
        self.apply(id, Input::Remembered { learned: true, what }, None)?;
        Ok(())
    }
}
