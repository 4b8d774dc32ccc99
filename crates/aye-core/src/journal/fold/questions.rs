//! How the events of questions change the state.

use std::sync::Arc;

use indexmap::IndexMap;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::advice::Advice;
use crate::event::Answered;
use crate::facts::Fact;
use crate::journal::phase::{Phase, Resolution, Transition};
use crate::journal::record::{Approved, Covered};
use crate::journal::state::State;
use crate::question::{Purpose, Question};
use crate::skill::ChoiceAction;

impl State {
    pub(super) fn ask(&mut self, question: &Question, at: Timestamp) {
        self.questions += 1;
        if question.secret {
            self.secret_questions.push(question.id.clone());
        }
        // Asking what to do about a step is still the same visit to it.
        if question.purpose != Purpose::Recover {
            let record = self.enter(&question.step, at);
            record.asked_again += u32::from(!question.changed.is_empty());
            if question.facts.is_some() {
                record.outside = Arc::new(question.outside.clone());
            }
        }
        self.phase = Phase::Asking {
            question: Box::new(question.clone()),
            asked_ms: at.as_millisecond(),
            agreed: Vec::new(),
            agreed_on: None,
            held_ms: 0,
            still_ms: None,
            limit_ms: question.deadline.map(|deadline| milliseconds_between(at, deadline)),
            advice: Vec::new(),
        };
    }

    /// The open question has another deadline, or none for the time being.
    pub(super) fn held(
        &mut self,
        deadline: Option<Timestamp>,
        left_ms: Option<u64>,
        at: Timestamp,
    ) {
        let Phase::Asking { question, held_ms, still_ms, .. } = &mut self.phase else {
            return;
        };
        let before = std::mem::replace(&mut question.deadline, deadline);
        match (before, deadline) {
            (Some(before), Some(deadline)) => *held_ms += milliseconds_between(before, deadline),
            (Some(before), None) => {
                let left = left_ms.and_then(|left| i64::try_from(left).ok());
                *still_ms = Some(left.unwrap_or_else(|| milliseconds_between(at, before).max(0)));
                if left.is_some() {
                    *held_ms = 0;
                }
            }
            (None, _) => *still_ms = None,
        }
    }

    /// Someone who does not decide said something to the open question.
    pub(super) fn advised(&mut self, said: &Advice) {
        if let Phase::Asking { advice, .. } = &mut self.phase {
            advice.push(said.clone());
        }
    }

    pub(super) fn answered(&mut self, answered: &Answered, at: Timestamp) {
        let Phase::Asking { question, agreed, agreed_on, asked_ms, .. } = &mut self.phase else {
            return;
        };
        if answered.refused.is_some() || question.id != answered.question {
            return;
        }
        // That someone had to say what became of a step is not its own time.
        if let (Purpose::Recover, Some(finally)) = (question.purpose, &mut self.finally) {
            let waited = SignedDuration::from_millis(at.as_millisecond() - *asked_ms);
            finally.until = finally.until.checked_add(waited).unwrap_or(finally.until);
        }
        let answer = &answered.answer;
        if question.commits(&answer.value) {
            agreed.push(answer.by.clone());
            *agreed_on = Some(answer.value.clone());
            if (agreed.len() as u64) < u64::from(question.approvals) {
                return;
            }
            self.agreed |= question.purpose == Purpose::Ask && question.is_guarded();
        }
        self.resolve(Resolution::Answered(answer.clone()));
    }

    pub(super) fn resolve(&mut self, resolution: Resolution) {
        if let Phase::Asking { question, .. } = &self.phase {
            let (question, resolution) = (question.clone(), Box::new(resolution));
            self.agree(&question, &resolution);
            self.phase = Phase::Transition(Transition::Resolved { question, resolution });
        }
    }

    /// What someone agreed to is what the steps are compared with before they
    /// start, at every visit. A yes in advance saw nothing.
    fn agree(&mut self, question: &Question, resolution: &Resolution) {
        let taken = match resolution {
            Resolution::Answered(answer) => Some(answer.value.clone()),
            Resolution::Expired(applied) => applied.clone().map(Value::String),
        };
        let proceeds = taken.is_some_and(|value| question.action(&value) == ChoiceAction::Proceed);
        if !proceeds || question.purpose == Purpose::Recover {
            return;
        }
        // What an earlier yes to the same question was for is over.
        self.covered
            .retain(|_, covered| covered.approved.asked_by.as_ref() != Some(&question.step));
        let (Some(facts), Some(value)) = (&question.facts, resolution.seen_value()) else { return };
        if question.purpose == Purpose::Gate {
            self.agree_to_step(question, facts);
        }
        let mut covered: IndexMap<&String, Vec<Fact>> = IndexMap::new();
        for fact in facts {
            let leads = fact.answer.as_ref().is_none_or(|answer| value == **answer);
            if let Some(step) = fact.step.as_ref().filter(|_| leads) {
                let own = Fact { step: None, answer: None, ..fact.clone() };
                covered.entry(step).or_default().push(own);
            }
        }
        let outside = Arc::new(question.outside.clone());
        for (step, facts) in covered {
            let asked_by = Some(question.step.clone());
            let (at, outside) = (self.entered_at, Arc::clone(&outside));
            let approved =
                Approved { facts, asked_by, outside: Arc::clone(&outside), edited: false };
            let approved = Arc::new(approved);
            self.covered.insert(step.clone(), Covered { approved, at, outside });
        }
    }

    /// A yes to the step that the question stands before.
    fn agree_to_step(&mut self, question: &Question, facts: &[Fact]) {
        let facts = facts.iter().filter(|fact| fact.step.is_none()).cloned().collect();
        let Some(record) = Arc::make_mut(&mut self.steps).get_mut(&question.step) else { return };
        let before = record.approved.as_ref();
        let asked_by = before.and_then(|approved| approved.asked_by.clone());
        let outside = Arc::new(question.outside.clone());
        let approved = Approved { facts, asked_by, outside: Arc::clone(&outside), edited: false };
        let approved = Arc::new(approved);
        record.approved = Some(Arc::clone(&approved));
        // Agreed to as it is now, it runs like that at the next visit too.
        if let Some(covered) = self.covered.get_mut(&question.step) {
            covered.approved = approved;
            covered.outside = outside;
        }
    }
}

fn milliseconds_between(from: Timestamp, to: Timestamp) -> i64 {
    to.as_millisecond() - from.as_millisecond()
}
