//! Open questions: where each is asked, and what becomes of it.

use std::collections::HashMap;
use std::os::fd::BorrowedFd;
use std::time::Instant;

use aye_core::event::{Event, EventKind};
use aye_core::id::QuestionId;
use aye_core::question::Question;
use jiff::Timestamp;

use crate::prompter::{AskedQuestion, PresenceKind, PromptEvent, Prompter, Withdrawn, was_shown};

use super::editing::Editing;
use super::lane::LaneId;

/// The prompters, and the questions that are asked there.
pub(super) struct Questions<'a> {
    prompters: Vec<&'a mut dyn Prompter>,
    open: Vec<Open>,
    /// Questions that memory was asked about.
    recalled: Vec<QuestionId>,
    /// What memory knows of questions that are open.
    known: HashMap<QuestionId, Vec<String>>,
    /// Changes to a failed step that wait for a word.
    pub(super) editing: Option<Editing>,
    /// How many were closed since none was open.
    closed: usize,
}

/// A question that is asked.
struct Open {
    lane: LaneId,
    question: QuestionId,
    /// The prompters that have it.
    asked: Vec<usize>,
    /// The prompters where nobody can be asked this, and why.
    left: Vec<(usize, String)>,
    /// What the journal says became of it.
    closed: Option<Withdrawn>,
    /// Since when a prompter shows it without a break.
    seen: Option<Timestamp>,
    /// Since when none does.
    unseen: Option<Timestamp>,
}

/// What came of asking everywhere.
#[derive(Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one at a time, and soon gone")]
pub(super) enum Polled {
    /// Nothing yet.
    Nothing,
    /// Something happened at this prompter.
    Event(usize, PromptEvent),
    /// No prompter is left that could ask it, and why.
    Nobody(String),
}

impl<'a> Questions<'a> {
    pub(super) fn new(prompters: Vec<&'a mut dyn Prompter>) -> Self {
        let (open, recalled, known) = (Vec::new(), Vec::new(), HashMap::new());
        Self { prompters, open, recalled, known, editing: None, closed: 0 }
    }

    /// Whether someone can be asked at all, as far as that is known.
    pub(super) fn are_possible(&self) -> bool {
        self.prompters.iter().any(|prompter| prompter.obstacle().is_none())
    }

    /// Whether a prompter joins only where nobody else shows a question.
    pub(super) fn has_latecomer(&self) -> bool {
        self.prompters.iter().any(|prompter| prompter.joins_unseen())
    }

    /// Whether every prompter shows questions one at a time.
    pub(super) fn one_at_a_time(&self) -> bool {
        let mut available =
            self.prompters.iter().filter(|prompter| prompter.obstacle().is_none()).peekable();
        available.peek().is_some() && available.all(|prompter| prompter.one_at_a_time())
    }

    /// Which of how many the first question is, if `waiting` are open: those
    /// that were closed since there was none count too.
    pub(super) fn place_of_first(&self, waiting: usize) -> Option<(usize, usize)> {
        let all = self.closed + waiting;
        (all > 1).then_some((self.closed + 1, all))
    }

    /// Notes which questions can be seen at this moment, and since when.
    pub(super) fn look(&mut self, now: Timestamp) {
        let Self { prompters, open, .. } = self;
        for open in open {
            let seen = prompters.iter().any(|prompter| prompter.is_showing(&open.question));
            open.seen = seen.then(|| open.seen.unwrap_or(now));
            open.unseen = (!seen).then(|| open.unseen.unwrap_or(now));
        }
    }

    /// Where questions are shown at this moment, as others may know.
    pub(super) fn shown_here(&self) -> impl Iterator<Item = (QuestionId, PresenceKind)> {
        self.open.iter().flat_map(|open| {
            let asked = open.asked.iter().filter_map(|index| self.prompters.get(*index));
            let showing = asked.filter(|prompter| prompter.is_showing(&open.question));
            showing.filter_map(|prompter| Some((open.question.clone(), prompter.presence()?)))
        })
    }

    /// Nobody saw anything for a while: this process was stopped.
    pub(super) fn forget_seen(&mut self) {
        self.open.iter_mut().for_each(|open| open.seen = None);
    }

    /// Whether a prompter shows this question.
    pub(super) fn is_seen(&self, question: &QuestionId) -> bool {
        self.open.iter().any(|open| open.question == *question && open.seen.is_some())
    }

    /// Someone saw a question elsewhere until now.
    pub(super) fn wait_anew(&mut self, now: Timestamp) {
        self.open.iter_mut().for_each(|open| open.unseen = open.unseen.map(|_| now));
    }

    /// Since when no prompter shows this question; nothing if one does.
    pub(super) fn unseen_since(&self, question: &QuestionId) -> Option<Timestamp> {
        self.open.iter().find(|open| open.question == *question)?.unseen
    }

    /// Whether a prompter was showing this question when its time ran out.
    pub(super) fn was_seen(
        &self,
        question: &QuestionId,
        deadline: Timestamp,
        now: Timestamp,
    ) -> bool {
        let shown = |open: &Open| was_shown(open.seen, deadline, now);
        self.open.iter().any(|open| open.question == *question && shown(open))
    }

    /// The lane whose question was asked first and is still open.
    pub(super) fn first(&self) -> Option<LaneId> {
        self.open.first().map(|open| open.lane)
    }

    /// Asks a question everywhere; the prompters that show one at a time are
    /// asked the first alone.
    pub(super) fn ask(&mut self, lane: LaneId, asked: &AskedQuestion<'_>) -> Polled {
        let Self { prompters, open, editing, .. } = self;
        let id = &asked.question.id;
        let at = open.iter().position(|open| open.question == *id).unwrap_or_else(|| {
            open.push(Open {
                lane,
                question: id.clone(),
                asked: Vec::new(),
                left: Vec::new(),
                closed: None,
                seen: None,
                unseen: None,
            });
            open.len() - 1
        });
        let open = &mut open[at];
        for index in 0..prompters.len() {
            let others = prompters.iter().enumerate().filter(|(other, _)| *other != index);
            let shown = others.into_iter().any(|(_, other)| other.is_attended(id));
            let prompter = &mut prompters[index];
            let waits = at > 0 && prompter.one_at_a_time();
            if waits || open.left.iter().any(|(left, _)| *left == index) {
                continue;
            }
            if !open.asked.contains(&index) {
                open.asked.push(index);
            }
            // What someone changed is asked about before it is tried, where they did it.
            let editing = editing.as_ref().filter(|one| one.id == *id && one.prompter == index);
            let question = editing.map_or(asked.question, |editing| &editing.consent);
            match prompter.ask(&AskedQuestion { question, shown: shown || asked.shown, ..*asked }) {
                None => {}
                Some(PromptEvent::Left(why)) => {
                    prompter.withdraw(id, &Withdrawn::Gone);
                    open.asked.retain(|asked| *asked != index);
                    open.left.push((index, why));
                }
                Some(event) => return Polled::Event(index, event),
            }
        }
        if open.left.len() < prompters.len() {
            return Polled::Nothing;
        }
        let reasons: Vec<&str> = open.left.iter().map(|(_, why)| why.as_str()).collect();
        Polled::Nobody(match reasons.is_empty() {
            true => "there is no prompter".to_owned(),
            false => reasons.join("; "),
        })
    }

    /// An answer that was given there does not count.
    pub(super) fn refused(&mut self, prompter: usize, question: &QuestionId, why: &str) {
        if let Some(prompter) = self.prompters.get_mut(prompter) {
            prompter.refused(question, why);
        }
    }

    /// Notes what these events say became of questions.
    pub(super) fn note(&mut self, events: &[Event]) {
        for event in events {
            let (question, closed) = match &event.kind {
                EventKind::ConfirmationAnswered(answered) if answered.refused.is_none() => {
                    let by = answered.answer.by.clone();
                    let through = answered.answer.prompter;
                    (&answered.question, Withdrawn::Answered { by, through })
                }
                EventKind::ConfirmationExpired { question, withdrawn: true, .. } => {
                    (question, Withdrawn::Gone)
                }
                EventKind::ConfirmationExpired { question, .. } => (question, Withdrawn::Expired),
                _ => continue,
            };
            if let Some(open) = self.open.iter_mut().find(|open| open.question == *question) {
                open.closed = Some(closed);
            }
        }
    }

    /// Takes away what is no longer asked.
    pub(super) fn withdraw(&mut self, is_open: impl Fn(LaneId, &QuestionId) -> bool) {
        let Self { prompters, open, known, editing, closed: count, .. } = self;
        for closed in open.extract_if(.., |open| !is_open(open.lane, &open.question)) {
            *count += 1;
            let why = closed.closed.unwrap_or(Withdrawn::Gone);
            for index in closed.asked {
                prompters[index].withdraw(&closed.question, &why);
            }
            editing.take_if(|editing| editing.id == closed.question);
            known.remove(&closed.question);
        }
        if open.is_empty() {
            *count = 0;
        }
    }

    /// Takes a question away at one prompter, which is about to ask another in its place.
    pub(super) fn replace(&mut self, prompter: usize, question: &QuestionId) {
        if let Some(prompter) = self.prompters.get_mut(prompter) {
            prompter.withdraw(question, &Withdrawn::Gone);
        }
    }

    /// Whether memory is asked about this question for the first time.
    pub(super) fn is_recalled_first(&mut self, question: &Question) -> bool {
        let first = !self.recalled.contains(&question.id);
        if first {
            self.recalled.push(question.id.clone());
        }
        first
    }

    /// What memory knows of a question, if it was asked.
    pub(super) fn known(&self, question: &QuestionId) -> Option<&[String]> {
        self.known.get(question).map(Vec::as_slice)
    }

    /// Notes what memory knows of a question.
    pub(super) fn note_known(&mut self, question: QuestionId, known: Vec<String>) {
        self.known.insert(question, known);
    }

    /// What becomes readable when something happens where questions are asked.
    pub(super) fn wake(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.asking().flat_map(Prompter::wakes)
    }

    /// When a prompter wants to be asked again at the latest.
    pub(super) fn look_at(&self) -> Option<Instant> {
        self.asking().filter_map(Prompter::look_at).min()
    }

    /// The prompters that have a question.
    fn asking(&self) -> impl Iterator<Item = &dyn Prompter> {
        let has_one = |index: usize| self.open.iter().any(|open| open.asked.contains(&index));
        let prompters = self.prompters.iter().enumerate();
        prompters.filter(move |(index, _)| has_one(*index)).map(|(_, prompter)| &**prompter)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use aye_core::question::{Answer, Channel};
    use serde_json::json;

    use super::*;

    /// Says what it was told to say, and notes what it is told.
    #[derive(Default)]
    struct Fake {
        says: Vec<PromptEvent>,
        one_at_a_time: bool,
        told: Rc<RefCell<Vec<String>>>,
    }

    impl Prompter for Fake {
        fn ask(&mut self, asked: &AskedQuestion<'_>) -> Option<PromptEvent> {
            self.told.borrow_mut().push(format!("ask {}", asked.question.id));
            self.says.pop()
        }

        fn is_showing(&self, _: &QuestionId) -> bool {
            true
        }

        fn refused(&mut self, question: &QuestionId, why: &str) {
            self.told.borrow_mut().push(format!("refused {question}: {why}"));
        }

        fn withdraw(&mut self, question: &QuestionId, why: &Withdrawn) {
            self.told.borrow_mut().push(format!("withdraw {question}: {why:?}"));
        }

        fn one_at_a_time(&self) -> bool {
            self.one_at_a_time
        }
    }

    fn question(id: &str) -> Question {
        serde_json::from_value(json!({
            "question": id, "kind": "confirm", "purpose": "gate", "step": "ship", "title": "Ship",
            "message": "Ship it?", "overridable": true, "digest": "d",
        }))
        .expect("a question")
    }

    fn alone(question: &Question) -> AskedQuestion<'_> {
        AskedQuestion::alone(question, None)
    }

    fn answer() -> PromptEvent {
        let answer = Answer::new("yes", "ada", Channel::Web);
        PromptEvent::Answered { answer, code: None }
    }

    fn answered(question: &str) -> Event {
        serde_json::from_value(json!({
            "v": 1, "run": "abcdefgh12", "seq": 2, "at": "2026-11-16T04:52:49.884Z",
            "type": "confirmation_answered", "question": question, "latency_ms": 1,
            "answer": { "value": "yes", "by": "ada", "prompter": "web" },
        }))
        .expect("an event")
    }

    #[test]
    fn every_prompter_is_asked_and_all_are_told_who_answered() {
        let (mut one, mut two) = (Fake::default(), Fake::default());
        let told = [one.told.clone(), two.told.clone()];
        two.says.push(answer());
        let mut questions = Questions::new(vec![&mut one, &mut two]);
        let asked = question("q1");
        assert_eq!(questions.ask(0, &alone(&asked)), Polled::Event(1, answer()));
        questions.note(&[answered("q1")]);
        questions.withdraw(|_, _| false);
        for told in told {
            assert_eq!(
                *told.borrow(),
                ["ask q1", r#"withdraw q1: Answered { by: "ada", through: Web }"#]
            );
        }
    }

    #[test]
    fn one_that_left_is_not_asked_again_and_without_any_nobody_is() {
        let (mut one, mut two) = (Fake::default(), Fake::default());
        let told = one.told.clone();
        one.says.push(PromptEvent::Left("the window was closed".to_owned()));
        two.says.push(PromptEvent::Left("the phone is off".to_owned()));
        two.says.push(PromptEvent::Engaged);
        let mut questions = Questions::new(vec![&mut one, &mut two]);
        let asked = question("q1");
        assert_eq!(questions.ask(0, &alone(&asked)), Polled::Event(1, PromptEvent::Engaged));
        let nobody = Polled::Nobody("the window was closed; the phone is off".to_owned());
        assert_eq!(questions.ask(0, &alone(&asked)), nobody);
        assert_eq!(*told.borrow(), ["ask q1", "withdraw q1: Gone"]);
    }

    #[test]
    fn without_a_prompter_nobody_can_be_asked() {
        let mut questions = Questions::new(Vec::new());
        assert!(!questions.are_possible());
        let nobody = Polled::Nobody("there is no prompter".to_owned());
        assert_eq!(questions.ask(0, &alone(&question("q1"))), nobody);
    }

    #[test]
    fn where_one_is_shown_at_a_time_the_next_waits_until_it_is_closed() {
        let mut serial = Fake { one_at_a_time: true, ..Fake::default() };
        let mut page = Fake::default();
        let told = [serial.told.clone(), page.told.clone()];
        let mut questions = Questions::new(vec![&mut serial, &mut page]);
        assert!(!questions.one_at_a_time(), "the page shows all of them");
        let (first, second) = (question("q1"), question("q2"));
        for asked in [&first, &second] {
            assert_eq!(questions.ask(0, &alone(asked)), Polled::Nothing);
        }
        assert_eq!(*told[0].borrow(), ["ask q1"]);
        assert_eq!(*told[1].borrow(), ["ask q1", "ask q2"]);
        questions.withdraw(|_, question| question.as_str() == "q2");
        assert_eq!(questions.ask(0, &alone(&second)), Polled::Nothing);
        assert_eq!(*told[0].borrow(), ["ask q1", "withdraw q1: Gone", "ask q2"]);
    }

    #[test]
    fn the_one_whose_answer_was_refused_is_told() {
        let (mut one, mut two) = (Fake::default(), Fake::default());
        let told = [one.told.clone(), two.told.clone()];
        let mut questions = Questions::new(vec![&mut one, &mut two]);
        let asked = question("q1");
        questions.ask(0, &alone(&asked));
        questions.refused(1, &asked.id, "another person has to agree");
        assert_eq!(*told[0].borrow(), ["ask q1"]);
        assert_eq!(told[1].borrow()[1], "refused q1: another person has to agree");
    }
}
