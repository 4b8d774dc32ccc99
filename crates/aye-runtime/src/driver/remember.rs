//! Answers from memory, and answers for memory.

use aye_core::event::{Event, EventKind, MemoryKind, Remembered};
use aye_core::id::QuestionId;
use aye_core::input::{Input, Request};
use aye_core::machine::Machine;
use aye_core::question::{Answer, Channel, Purpose, Question};
use aye_core::text::World;
use jiff::Timestamp;

use crate::error::Error;
use crate::fmt::escape_control_line;
use crate::memory::{
    ASKED, Allowed, COVERS, Lesson, Memory, NewChoice, OriginalChoice, Preference, PreferenceQuery,
    is_production, question_digest,
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

/// Why a question is asked each time although the skill lets its answer be
/// remembered.
fn asked_each_time(machine: &Machine, question: &Question) -> Option<String> {
    let flow = machine.flow();
    let step = &flow.nodes[flow.find(&question.step)?].step;
    let recover = question.purpose == Purpose::Recover;
    let allowed = match recover {
        true => step.remember_recovery.is_some(),
        false => step.question().is_some_and(|ask| ask.remember),
    };
    if !allowed {
        return None;
    }
    let started = &machine.state().started;
    let environment = started.environment.as_deref().filter(|name| is_production(name));
    let record = machine.state().steps.get(&question.step);
    Some(match environment {
        _ if question.is_guarded() || question.secret => return None,
        Some(environment) if recover => format!("Aye always asks in `{environment}`"),
        _ if step.destroys() => "the step is destructive".to_owned(),
        _ if question.destructive => "something destructive may follow".to_owned(),
        _ if record.is_some_and(|record| record.edits.is_some()) => {
            "the step was changed in this run".to_owned()
        }
        _ => "what a yes covers is not certain".to_owned(),
    })
}

/// What was asked, and what a yes would run, on one line.
fn asked(question: &Question) -> String {
    const LONGEST: usize = 300;
    let first = question.message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let follows = question.follows.as_ref().map(|command| format!(" ({command})"));
    let line = format!("{}{}", first.trim(), follows.unwrap_or_default());
    line.chars().take(LONGEST).collect()
}

/// The error that a question is about. What may be anything is left open in it, as in the rest
/// of what an answer is for.
fn error_of(machine: &Machine, question: &Question) -> Option<String> {
    let is_about_error = question.purpose == Purpose::Recover;
    let mut error = is_about_error.then(|| machine.error_of(&question.step))?;
    let inputs = &machine.state().started.inputs;
    for value in question.any.iter().filter_map(|name| inputs.get(name)) {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        error = without_word(&error, &text);
    }
    Some(error)
}

/// The text with a placeholder wherever this value stands as a whole word.
fn without_word(text: &str, value: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if value.trim().is_empty() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(value) {
        let (before, after) = (&rest[..at], &rest[at + value.len()..]);
        out.push_str(before);
        let begins = !out.chars().next_back().is_some_and(is_word) || !value.starts_with(is_word);
        let ends = !after.chars().next().is_some_and(is_word) || !value.ends_with(is_word);
        out.push_str(if begins && ends { "<any>" } else { value });
        rest = after;
    }
    out.push_str(rest);
    out
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
        let question = machine.state().asking()?;
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
        let obstacle = match question.remember {
            true => obstacle.map(str::to_owned),
            false => asked_each_time(machine, question),
        };
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
                // Two answers of one step are told apart by what was asked.
                let asked = machine.secrets().mask(&asked(question));
                kept.other.insert(ASKED.to_owned(), asked.into());
                let covers = machine.secrets().mask(&question.remember_covers(scope));
                let message = format!(
                    "remembered {}: {covers}; `aye memory forget {}` takes it back",
                    scope.reach(),
                    kept.id
                );
                // And what it is given to: nobody asks again.
                kept.other.insert(COVERS.to_owned(), covers.into());
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
        let environment = self.lane(id).machine.state().started.environment.as_deref();
        // Where it is always asked, remembering it once more changes nothing.
        let asks = said.iter().any(|choice| choice.always_asks(environment));
        let wanted = said.iter().find_map(OriginalChoice::wanted).filter(|_| !asks);
        let line = wanted.map(|(choice, since)| {
            let on = if since.is_empty() { String::new() } else { format!("on {since} ") };
            format!(
                "memory: {on}someone chose `{choice}` for all later runs, without saying for \
                 what; answer once more and have it remembered"
            )
        });
        let last = said.iter().rev().find_map(OriginalChoice::last_answer);
        let last = last.map(|last| format!("memory: the last answer here was {last}"));
        let lines: Vec<String> =
            line.iter().chain(&last).map(|line| escape_control_line(line)).collect();
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

#[cfg(test)]
mod tests {
    use super::without_word;

    #[test]
    fn a_value_is_left_open_where_it_is_a_whole_word() {
        for (text, value, open) in [
            ("cannot push main", "main", "cannot push <any>"),
            ("the domain of main", "main", "the domain of <any>"),
            ("feature-login: gone", "feature-login", "<any>: gone"),
            ("x", "", "x"),
            ("mainmain main", "main", "mainmain <any>"),
            ("déjà vu", "é", "déjà vu"),
        ] {
            assert_eq!(without_word(text, value), open);
        }
    }
}
