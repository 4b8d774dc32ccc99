//! Who an answer is taken to come from, and whose one-time code it needs.

use crate::input::Request;
use crate::question::{Answer, Namespaces, Origin};
use crate::text::World;

use super::run::Machine;
use super::validate_answer::validate_answer;

/// A program whose ancestors cannot be seen.
const UNSEEN: &str = "a program in a process namespace that hides what started it";

impl Machine {
    /// The answer with what its origin is worth here. In another user namespace
    /// anyone can have any name, so it is the account that started the run.
    pub(super) fn established(&self, mut answer: Answer) -> Answer {
        let driver = &self.state.started.driver;
        let (Some(start), Some(origin)) = (driver.namespaces, &mut answer.origin) else {
            return answer;
        };
        let Origin { namespaces, started_by, claimed } = &mut **origin;
        if namespaces.is_none_or(|here| here.user != start.user) {
            *claimed = Some(std::mem::replace(&mut answer.by, driver.user.clone()));
        }
        if namespaces.is_none_or(|here| !Namespaces::sees(here, start)) {
            started_by.get_or_insert_with(|| UNSEEN.to_owned());
        }
        answer
    }

    /// The account whose one-time code is all that this answer needs to count;
    /// nothing if it counts without, or not at all.
    pub fn code_wanted(&self, request: &Request, world: &World) -> Option<String> {
        let Request::Answer { question, answer, .. } = request else { return None };
        let open = self.state.asking()?;
        let answer = Answer { reauth: true, ..self.established(answer.clone()) };
        let counts = open.id == *question
            && open.reauth
            && open.commits(&answer.value)
            && self.in_time(open, world.now).is_ok()
            && validate_answer(open, &answer, &self.state.agreement()).is_ok();
        counts.then_some(answer.by)
    }
}
