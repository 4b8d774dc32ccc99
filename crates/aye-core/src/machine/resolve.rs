//! What an answered or expired question leads to.

use serde_json::Value;

use crate::error_code::ErrorCode;
use crate::event::{
    BadOutcome, Event, EventKind, FailReason, RetryReason, RunEnd, SkipReason, StepCompleted,
    StepFailed,
};
use crate::journal::{Resolution, StepStatus, UnknownOutcome};
use crate::question::{Agreement, Answer, Channel, Edits, Purpose, Question};
use crate::skill::{Action, AskKind, ChoiceAction};
use crate::text::World;

use super::agreed::changed_since;
use super::covers::BuiltQuestion;
use super::finish::failed;
use super::run::Machine;
use super::validate_answer::validate_answer;

impl Machine {
    /// What `--yes` says to this question; nothing where it may not answer.
    pub(super) fn override_answer(&self, question: &Question, world: &World) -> Option<Answer> {
        if !self.state.yes {
            return None;
        }
        let by = self.state.started.driver.user.clone();
        let answer = Answer::new(question.yes_value()?, by, Channel::Override);
        let nobody = Agreement { starter: answer.by.clone(), ..Agreement::default() };
        let counts = self
            .in_time(question, world.now)
            .and_then(|()| validate_answer(question, &answer, &nobody));
        counts.is_ok().then_some(answer)
    }

    pub(super) fn resolved(
        &mut self,
        question: &Question,
        resolution: &Resolution,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        // In `finally` a question that nobody answers leaves its step out.
        let ends_run = !self.is_cleaning_up() || question.purpose == Purpose::Recover;
        if *resolution == Resolution::Expired(None) && ends_run && self.outlives_run(question) {
            return self.run_ended_first(question, world, events);
        }
        let (value, by) = match resolution {
            Resolution::Answered(answer) => (Some(answer.value.clone()), Some(answer.by.clone())),
            Resolution::Expired(applied) => (applied.clone().map(Value::String), None),
        };
        let action = value.as_ref().map_or(ChoiceAction::Cancel, |value| question.action(value));
        let step = question.step.clone();
        let answer = value.as_ref().and_then(Value::as_str).map(str::to_owned);
        // Silence takes the way of a no, unless a `timeout` transition says otherwise.
        let late = question.purpose == Purpose::Ask
            && self.node(&step).is_some_and(|(_, node)| node.times_out_unanswered());
        let no = question.decline().filter(|_| !late && value.is_none());
        let answer = answer.or_else(|| no.map(|offer| offer.value.clone()));
        match (question.purpose, action) {
            (Purpose::Recover, _) => {
                let answer = match resolution {
                    Resolution::Answered(answer) => Some(answer),
                    Resolution::Expired(_) => None,
                };
                self.recovered(question, value.as_ref(), answer, world, events);
            }
            (Purpose::Gate, ChoiceAction::Proceed) => {
                let blanket = matches!(
                    resolution,
                    Resolution::Answered(Answer { prompter: Channel::Override, .. })
                );
                self.pass_gate(question, blanket, world, events);
            }
            (Purpose::Ask, ChoiceAction::Proceed)
                if self.is_asked_again(question, resolution, world, events) => {}
            (Purpose::Ask, ChoiceAction::Proceed) => {
                let done = StepCompleted {
                    execution: self.execution_of(question),
                    ..self.done_at_once(&step, value.unwrap_or_default())
                };
                self.complete(done, world, events);
            }
            (Purpose::Gate | Purpose::Ask, ChoiceAction::Cancel) => {
                let (why, message) = match &by {
                    Some(by) => (SkipReason::Declined, format!("declined by {by}")),
                    None => (SkipReason::Expired, self.why_unanswered(question, world).to_owned()),
                };
                let message = Some(message);
                self.emit(EventKind::StepSkipped { step, why, by, message, answer }, world, events);
            }
            (Purpose::Gate | Purpose::Ask, ChoiceAction::Skip) => {
                let message = Some("skipped by choice".to_owned());
                let why = SkipReason::Answer;
                self.emit(EventKind::StepSkipped { step, why, by, message, answer }, world, events);
            }
        }
    }

    /// Why a question has no answer. In `finally` it is closed at once where nobody can
    /// be asked, whatever time it had.
    fn why_unanswered(&self, question: &Question, world: &World) -> &'static str {
        let ends = [question.deadline, self.state.deadline_over(question)];
        let in_time = ends.into_iter().flatten().all(|ends| world.now < ends);
        match self.is_cleaning_up() && in_time {
            true => "nobody could be asked",
            false => "nobody answered in time",
        }
    }

    /// The run's time was up while the question was open.
    fn run_ended_first(&mut self, question: &Question, world: &World, events: &mut Vec<Event>) {
        let step = question.step.clone();
        let status = self.state.steps.get(&step).map(|record| record.status);
        if let Some(StepStatus::Unknown | StepStatus::Interrupted) = status {
            // Nothing runs after a step that may or may not have happened,
            // not even its clean-up, until someone has said what became of it.
            let note = format!("the outcome of `{step}` is unknown, and nobody said what to do");
            let timed_out = || RunEnd::Failed {
                why: FailReason::RunTimedOut,
                message: self.secrets.mask(&format!("the run's time limit was up; {note}")),
                step: Some(step.clone()),
                state: None,
            };
            let end = self.end_wound_down(&note).unwrap_or_else(timed_out);
            return self.end_in_doubt(end, world, events);
        }
        let failed = StepFailed {
            code: Some(ErrorCode::Timeout),
            message: "the run's time limit was up while the question was open".to_owned(),
            winding_down: self.begin_winding_down(world.now),
            ..failed(step, self.execution_of(question), BadOutcome::Timeout)
        };
        self.emit(EventKind::StepFailed(Box::new(failed)), world, events);
    }

    /// Asks again if a person's answer was for something else than what it would
    /// lead to now; says whether it did, or has to look first.
    fn is_asked_again(
        &mut self,
        question: &Question,
        resolution: &Resolution,
        world: &World,
        events: &mut Vec<Event>,
    ) -> bool {
        let Resolution::Answered(answer) = resolution else { return false };
        let with_facts = question.facts.is_some();
        if answer.prompter == Channel::Override || question.kind != AskKind::Confirm && !with_facts
        {
            return false;
        }
        let Some((_, node)) = self.node(&question.step) else { return false };
        let Action::Ask(ask) = &node.step.action else { return false };
        match self.build_question(&node.step, ask, Purpose::Ask, with_facts, world) {
            Ok(BuiltQuestion::Inspect(inspection)) => {
                self.wanted = Some(inspection);
                true
            }
            Ok(built @ BuiltQuestion::Question(_)) if self.differs(question, &built) => {
                let changed = changed_since(question, &built);
                self.put(Ok(built), changed, (&question.step, "question"), world, events);
                true
            }
            // If the facts were unknown then, or are unknown now, nobody agreed to them.
            Ok(BuiltQuestion::Question(_)) | Err(_) => false,
        }
    }

    /// Whether a question is no longer the one that was answered.
    fn differs(&self, answered: &Question, built: &BuiltQuestion) -> bool {
        let BuiltQuestion::Question(again) = built else { return false };
        let known = |question: &Question, step: &Option<String>| {
            question.facts.iter().flatten().any(|fact| fact.step == *step)
        };
        // A template that no longer renders is reported when its step starts. What belongs to
        // a step with a gate may only be shown anew.
        if answered.purpose == Purpose::Ask
            && answered.facts.iter().flatten().any(|fact| !known(again, &fact.step))
        {
            return false;
        }
        let told = answered.facts.is_some()
            || answered.follows.is_some() && again.follows.is_some()
            || answered.purpose == Purpose::Gate;
        told && again.digest != answered.digest
    }

    /// A yes counts for what was shown: if that has changed meanwhile, it is
    /// asked again. `--yes` saw nothing and counts for whatever comes.
    fn pass_gate(
        &mut self,
        question: &Question,
        blanket: bool,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let name = question.step.as_str();
        let with_facts = question.facts.is_some() && !blanket;
        let step = self.node(name).map(|(_, node)| &node.step);
        // Gates that Aye adds by itself were not asked again by older versions.
        let step = step.filter(|step| step.confirmation.is_some() || with_facts);
        let changed = !question.changed.is_empty();
        let built = step.map(|step| {
            self.build_question(
                step,
                &self.gate_of(step, changed),
                Purpose::Gate,
                with_facts,
                world,
            )
        });
        match built {
            Some(Ok(built)) if !blanket && self.differs(question, &built) => {
                let changed = changed_since(question, &built);
                self.put(Ok(built), changed, (name, "confirmation"), world, events);
            }
            Some(built @ (Ok(BuiltQuestion::Inspect(_)) | Err(_))) => {
                self.put(built, Vec::new(), (name, "confirmation"), world, events);
            }
            Some(Ok(BuiltQuestion::Question(_))) | None => {
                let attempt = self.state.steps.get(name).map_or(1, |record| record.attempt.max(1));
                self.start_step(name, attempt, world, events);
            }
        }
    }

    fn recovered(
        &mut self,
        question: &Question,
        value: Option<&Value>,
        answer: Option<&Answer>,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        let step = question.step.clone();
        let by = answer.map(|answer| answer.by.clone());
        match value.and_then(Value::as_str) {
            Some(choice @ ("retry" | "edit" | "fix")) => {
                let record = self.state.steps.get(&step);
                let edits = match choice {
                    "edit" => answer.and_then(|answer| answer.edits.clone()),
                    "fix" => record.and_then(|record| record.proposal.as_ref()).map(|proposal| {
                        let set = [("code".to_owned(), proposal.code.clone().into())];
                        Edits { set: set.into_iter().collect(), ..Edits::default() }
                    }),
                    _ => None,
                };
                let attempt = record.map_or(1, |record| record.attempt.max(1)) + 1;
                let why = match answer {
                    // The person who filled in the form saw the change that Aye proposes.
                    Some(Answer { prompter: Channel::Elicited, .. }) if choice == "fix" => {
                        RetryReason::Answer
                    }
                    Some(answer) if !answer.is_persons() => RetryReason::Relayed,
                    Some(_) | None => RetryReason::Answer,
                };
                let (not_before, fix) = (None, None);
                let retried = EventKind::StepRetried {
                    step,
                    attempt,
                    why,
                    not_before,
                    edits,
                    fix,
                    answer: None,
                };
                self.emit(retried, world, events);
            }
            Some("done") => {
                let done = StepCompleted {
                    execution: self.execution_of(question),
                    marked_by: by,
                    ..self.done_at_once(&step, Value::Null)
                };
                self.emit(EventKind::StepCompleted(Box::new(done)), world, events);
            }
            Some("skip") => {
                let message = by.as_ref().map(|by| format!("skipped by {by}"));
                let why = SkipReason::Answer;
                self.emit(
                    EventKind::StepSkipped { step, why, by, message, answer: None },
                    world,
                    events,
                );
            }
            Some(_) | None => {
                let message = match by {
                    Some(by) => format!("`{step}` was aborted by {by}"),
                    None => format!("`{step}` was aborted"),
                };
                self.fail_run(FailReason::Aborted, &message, Some(step), None, world, events);
            }
        }
    }

    pub(super) fn resolve_unknown_outcome(
        &mut self,
        unknown: &UnknownOutcome,
        world: &World,
        events: &mut Vec<Event>,
    ) {
        if unknown.idempotent {
            let (step, attempt) = (unknown.step.clone(), unknown.attempt + 1);
            let (why, not_before) = (RetryReason::Idempotent, None);
            let (edits, fix) = (None, None);
            let retried =
                EventKind::StepRetried { step, attempt, why, not_before, edits, fix, answer: None };
            return self.emit(retried, world, events);
        }
        let question = self.pose_unknown_outcome(unknown, world);
        self.emit(EventKind::ConfirmationRequired(Box::new(question)), world, events);
    }
}
