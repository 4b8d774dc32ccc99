//! Answers from memory, and answers for memory.

use aye_core::event::{Event, EventKind, MemoryKind, Remembered};
use aye_core::id::QuestionId;
use aye_core::input::{Input, Request};
use aye_core::journal::Phase;
use aye_core::machine::Machine;
use aye_core::question::{Answer, Channel, Purpose, Question};
use aye_core::text::World;
use jiff::Timestamp;

use crate::error::Error;
use crate::fmt::escape_control_line;
use crate::memory::{
    Allowed, Lesson, Memory, NewChoice, OriginalChoice, Preference, PreferenceQuery,
    question_digest,
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
    machine: &Machine,
    now: Timestamp,
) -> Option<Preference> {
    let state = machine.state();
    memory.preference(&PreferenceQuery {
        skill: &state.started.skill,
        step: &question.step,
        environment: state.started.environment.as_deref(),
        error: error_of(machine, question).as_deref(),
        digest: &question_digest(question),
        offered: &offered(question),
        allowed: allowed(question),
        now,
    })
}

/// The error that a question is about.
fn error_of(machine: &Machine, question: &Question) -> Option<String> {
    (question.purpose == Purpose::Recover).then(|| machine.error_of(&question.step))
}

/// That an answer is to be given again. It is learned if the answer counts.
pub struct RememberedAnswer {
    question: QuestionId,
    what: Remembered,
}

impl RememberedAnswer {
    /// What is to be remembered of this input, if anything is.
    pub fn of(memory: &Memory, machine: &Machine, input: &Input, world: &World) -> Option<Self> {
        let Input::Request(Request::Answer { question: id, answer, .. }) = input else {
            return None;
        };
        let scope = answer.remember.filter(|_| answer.is_persons())?;
        let Phase::Asking { question, .. } = &machine.state().phase else { return None };
        let started = &machine.state().started;
        let value = answer.value.as_str().unwrap_or_default();
        let error = error_of(machine, question);
        let choice = NewChoice {
            skill: &started.skill,
            step: &question.step,
            environment: started.environment.as_deref(),
            error: error.as_deref(),
            digest: &question_digest(question),
            choice: value,
            offered: &offered(question),
            scope,
            allowed: allowed(question),
            by: &answer.by,
            lasts: None,
            now: world.now,
        };
        let obstacle = question.remember_obstacle(value, scope);
        let obstacle = obstacle.filter(|_| question.remember).map(str::to_owned);
        let kept = match obstacle {
            Some(why) => Err(why),
            None => memory
                .new_preference(&choice, &|text| machine.secrets().mask(text))
                .map_err(|error| error.to_string()),
        };
        let what = match kept {
            Ok(mut kept) => {
                // Where it comes from stands with it.
                let run = machine.state().run.to_string();
                kept.other.insert("run".to_owned(), run.into());
                let message = format!(
                    "remembered {}: {}; `aye memory forget {}` takes it back",
                    scope.reach(),
                    question.remember_covers(scope),
                    kept.id
                );
                let id = Some(kept.id.clone());
                let lesson = Lesson::Preference { preference: Box::new(kept) }.to_value();
                let told = Remembered::told(MemoryKind::Preference, message);
                Remembered { id, lesson, ..told }
            }
            Err(error) => {
                Remembered::told(MemoryKind::Preference, format!("not remembered: {error}"))
            }
        };
        let what = Remembered { step: Some(question.step.clone()), ..what };
        Some(Self { question: id.clone(), what })
    }

    /// What is learned, if the answer counts.
    pub fn learned(self, events: &[Event]) -> Option<Remembered> {
        let counts = |event: &Event| match &event.kind {
            EventKind::ConfirmationAnswered(answered) => {
                answered.question == self.question && answered.refused.is_none()
            }
            _ => false,
        };
        events.iter().any(counts).then_some(self.what)
    }
}

impl Driver<'_> {
    /// Says that the original system was told to continue here: that yes names
    /// nothing that it was for, and has to be given once more.
    fn offer_original(&mut self, id: LaneId, skill: &str, step: &str) {
        let said = self.parts.memory.original_choices(skill, step);
        let wanted = said.iter().find_map(OriginalChoice::wanted);
        let line = wanted.map(|(choice, since)| {
            format!(
                "memory: on {since} someone wanted `{choice}` given here each time, without \
                 saying for what; answer it once more and let it be remembered"
            )
        });
        let lines: Vec<String> = line.iter().map(|line| escape_control_line(line)).collect();
        self.note(id, &lines);
    }

    /// Answers a question from memory, if it may be and something is known.
    pub(super) fn recall(&mut self, id: LaneId, question: &Question) -> Result<(), Error> {
        let machine = &self.lane(id).machine;
        if !machine.may_recall(question) || !self.questions.is_recalled_first(question) {
            return Ok(());
        }
        let now = self.parts.clock.now();
        let machine = &self.lane(id).machine;
        let state = machine.state();
        let Some(known) = recall(&self.parts.memory, question, machine, now) else {
            let (skill, step) = (state.started.skill.clone(), question.step.clone());
            self.offer_original(id, &skill, &step);
            return Ok(());
        };
        let label = question.offer(&known.choice).map(|offer| offer.label.as_str());
        let by = self.lane(ROOT).machine.state().started.driver.user.clone();
        let answer = Answer {
            reason: Some(known.sentence(label)),
            digest: Some(question.digest.clone()),
            recalled: Some(known.id.clone()),
            ..Answer::new(known.choice.clone(), by, Channel::Memory)
        };
        let request = Request::answer(question.id.clone(), answer);
        self.apply(id, Input::Request(request), None)?;
        Ok(())
    }
}
