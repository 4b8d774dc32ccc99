//! An answer to the open question is accepted or refused; advice is recorded.
//! Which answers count is in `validate_answer`, the time of a question in `deadline`.

use std::sync::Arc;

use crate::advice::{self, Advice};
use crate::event::{Answered, Event, EventKind, MemoryKind, Remembered};
use crate::id::QuestionId;
use crate::journal::Phase;
use crate::question::{Answer, Channel, Proof, Purpose, Question};
use crate::skill::AskKind;
use crate::text::World;

use super::refusal::Refusal;
use super::run::Machine;
use crate::secrets::secret_marker;

impl Machine {
    pub(super) fn accept(
        &mut self,
        open: &Question,
        mut answer: Answer,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        if open.secret
            && let Some(text) = answer.value.as_str()
        {
            let name = self.output_name(&open.step);
            Arc::make_mut(&mut self.secrets).insert_answer(name, text);
            answer.value = secret_marker();
        }
        // The value of an option is the skill's own word; text may hold a secret.
        if open.kind == AskKind::Input {
            answer.value = self.secrets.mask_value(&answer.value);
        }
        let mut answer = self.masked_answer(answer);
        if answer.reauth {
            answer.proof = Some(Proof::Otp);
        }
        let asked_ms = match &self.state.phase {
            Phase::Asking { asked_ms, .. } => *asked_ms,
            Phase::Transition(_) | Phase::Running { .. } | Phase::Ended(_) => return,
        };
        let latency = world.now.as_millisecond() - asked_ms;
        let label = answer.value.as_str().and_then(|value| open.offer(value));
        let label = label.map(|offer| offer.label.clone());
        if answer.prompter == Channel::Memory {
            let mut message = answer.reason.clone().unwrap_or_default();
            if let Some(id) = &answer.recalled {
                message.push_str(&format!("; `aye memory forget {id}` takes it back"));
            }
            let recalled = Remembered {
                id: answer.recalled.clone(),
                step: Some(open.step.clone()),
                ..Remembered::told(MemoryKind::Preference, message)
            };
            self.emit(EventKind::MemoryRecalled(Box::new(recalled)), world, events);
        }
        let answered = Answered {
            question: open.id.clone(),
            label,
            answer,
            latency_ms: u64::try_from(latency).unwrap_or(0),
            refused: None,
        };
        self.emit(EventKind::ConfirmationAnswered(Box::new(answered)), world, events);
    }

    pub(super) fn record_refused(
        &mut self,
        question: QuestionId,
        mut answer: Answer,
        refusal: &Refusal,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        // It may be a secret: mistyped, too late, or meant for another run.
        if self.state.asked_openly(&question) {
            answer.value = self.secrets.mask_value(&answer.value);
        } else {
            answer.value = secret_marker();
            answer.typed = None;
        }
        let mut answer = self.masked_answer(answer);
        // It was not taken; what it says may be a secret.
        answer.edits = None;
        let refused = Some(self.secrets.mask(&refusal.to_string()));
        let asked = match &self.state.phase {
            Phase::Asking { question: open, asked_ms, .. } if open.id == question => {
                Some(*asked_ms)
            }
            Phase::Asking { .. }
            | Phase::Transition(_)
            | Phase::Running { .. }
            | Phase::Ended(_) => None,
        };
        let latency = asked.map_or(0, |asked| world.now.as_millisecond() - asked);
        let latency_ms = u64::try_from(latency).unwrap_or(0);
        let answered = Answered { question, answer, label: None, latency_ms, refused };
        self.emit(EventKind::ConfirmationAnswered(Box::new(answered)), world, events);
    }

    /// Records what an assistant thinks of the open question. Nothing else
    /// follows from it.
    pub(super) fn advise(
        &mut self,
        open: &Question,
        before: usize,
        advice: Advice,
        world: &World,
        events: &mut Vec<Event>,
    ) -> Result<(), Refusal> {
        if before >= advice::MOST {
            return Err(Refusal::AdvisedEnough);
        }
        let masked = Advice { text: self.secrets.mask(&advice.text), ..advice };
        let advice = masked.recorded(open).ok_or(Refusal::NoAdvice)?;
        let (question, advice) = (open.id.clone(), Box::new(advice));
        self.emit(EventKind::ConfirmationAdvised { question, advice }, world, events);
        Ok(())
    }

    /// The start of the step that a question is about; 0 before it started.
    pub(super) fn execution_of(&self, question: &Question) -> u32 {
        match question.purpose {
            Purpose::Gate => 0,
            Purpose::Ask | Purpose::Recover => {
                self.state.steps.get(&question.step).map_or(0, |record| record.execution)
            }
        }
    }

    fn masked_answer(&self, answer: Answer) -> Answer {
        let mask = |text: Option<String>| text.map(|text| self.secrets.mask(&text));
        let (reason, typed) = (mask(answer.reason), mask(answer.typed));
        Answer { reason, typed, code_error: None, ..answer }
    }
}
