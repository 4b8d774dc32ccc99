//! A prompter that joins the others later: after a time, or when nobody else
//! shows the question.

use std::cell::RefCell;
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use aye_core::id::QuestionId;
use aye_core::skill::By;

use super::{AskedQuestion, PresenceKind, PromptEvent, Prompter, Withdrawn};

/// How long nobody has to show a question before it counts as seen by nobody: an
/// editor learns of it from the server, and the server says that it is shown there.
const SETTLES: Duration = Duration::from_secs(2);

/// When a prompter asks what the others ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joins {
    /// Not at all.
    Never,
    /// With the others.
    AtOnce,
    /// So long after the question opened, even if another prompter shows it.
    After(Duration),
    /// When no terminal and no editor shows it.
    Unseen,
}

/// Questions that a person wants to see where they are not asked yet. Copies are
/// the same list.
#[derive(Debug, Clone, Default)]
pub struct JoinRequests(Rc<RefCell<Vec<QuestionId>>>);

impl JoinRequests {
    /// This one.
    pub fn join(&self, question: &QuestionId) {
        self.0.borrow_mut().push(question.clone());
    }

    fn contains(&self, question: &QuestionId) -> bool {
        self.0.borrow().contains(question)
    }
}

/// A prompter, and when it joins.
pub struct Joining<P> {
    inner: P,
    joins: Joins,
    /// The time that an assistant has before it.
    behind: Duration,
    /// Questions that it asks at once.
    calls: JoinRequests,
    questions: Vec<Waiting>,
}

/// A question that is asked elsewhere, or here too.
struct Waiting {
    question: QuestionId,
    /// When it is asked here; nothing as long as someone shows it.
    at: Option<Instant>,
    joined: bool,
}

impl<P: Prompter> Joining<P> {
    /// This prompter joins then.
    pub fn new(inner: P, joins: Joins) -> Self {
        let (behind, calls) = (Duration::ZERO, JoinRequests::default());
        Self { inner, joins, behind, calls, questions: Vec::new() }
    }

    /// It leaves questions that an assistant may answer to the assistant for so long.
    #[must_use]
    pub fn behind_assistant(self, behind: Duration) -> Self {
        Self { behind, ..self }
    }

    /// It asks these questions at once.
    #[must_use]
    pub fn called_by(self, calls: JoinRequests) -> Self {
        Self { calls, ..self }
    }

    /// Whether it asks this question by now.
    fn joins(&mut self, asked: &AskedQuestion<'_>, now: Instant) -> bool {
        let id = &asked.question.id;
        let known = self.questions.iter().position(|waiting| waiting.question == *id);
        let at = known.unwrap_or_else(|| {
            let at = match self.joins {
                Joins::AtOnce => Some(now),
                Joins::After(time) => Some(now + time),
                Joins::Never | Joins::Unseen => None,
            };
            self.questions.push(Waiting { question: id.clone(), at, joined: false });
            self.questions.len() - 1
        });
        let waiting = &mut self.questions[at];
        if self.joins == Joins::Unseen && !waiting.joined {
            let relayed = asked.question.by == By::Anyone;
            let settles = if relayed { SETTLES.max(self.behind) } else { SETTLES };
            waiting.at = match asked.shown {
                true => None,
                false => Some(waiting.at.unwrap_or(now + settles)),
            };
        }
        waiting.joined |= waiting.at.is_some_and(|at| at <= now) || self.calls.contains(id);
        waiting.joined
    }

    fn has_joined(&self, question: &QuestionId) -> bool {
        self.questions.iter().any(|waiting| waiting.question == *question && waiting.joined)
    }
}

impl<P: Prompter> Prompter for Joining<P> {
    fn ask(&mut self, asked: &AskedQuestion<'_>) -> Option<PromptEvent> {
        if let Some(why) = self.obstacle() {
            return Some(PromptEvent::Left(why.to_owned()));
        }
        self.joins(asked, Instant::now()).then(|| self.inner.ask(asked)).flatten()
    }

    fn is_showing(&self, question: &QuestionId) -> bool {
        self.has_joined(question) && self.inner.is_showing(question)
    }

    fn is_attended(&self, question: &QuestionId) -> bool {
        self.has_joined(question) && self.inner.is_attended(question)
    }

    fn presence(&self) -> Option<PresenceKind> {
        self.inner.presence()
    }

    fn refused(&mut self, question: &QuestionId, why: &str) {
        self.inner.refused(question, why);
    }

    fn withdraw(&mut self, question: &QuestionId, why: &Withdrawn) {
        self.questions.retain(|waiting| waiting.question != *question);
        self.inner.withdraw(question, why);
    }

    fn wakes(&self) -> Vec<BorrowedFd<'_>> {
        self.inner.wakes()
    }

    fn look_at(&self) -> Option<Instant> {
        let waiting = self.questions.iter().filter(|waiting| !waiting.joined);
        waiting.filter_map(|waiting| waiting.at).chain(self.inner.look_at()).min()
    }

    fn obstacle(&self) -> Option<&str> {
        match self.joins {
            Joins::Never => Some("`[ask]` leaves it out"),
            Joins::AtOnce | Joins::After(_) | Joins::Unseen => self.inner.obstacle(),
        }
    }

    fn joins_unseen(&self) -> bool {
        self.joins == Joins::Unseen
    }

    fn one_at_a_time(&self) -> bool {
        self.inner.one_at_a_time()
    }
}

#[cfg(test)]
mod tests {
    use aye_core::id::RunId;
    use aye_core::question::Question;
    use aye_core::skill::AskKind;

    use super::*;

    #[derive(Default)]
    struct Fake {
        asked: usize,
    }

    impl Prompter for Fake {
        fn ask(&mut self, _: &AskedQuestion<'_>) -> Option<PromptEvent> {
            self.asked += 1;
            None
        }

        fn is_showing(&self, _: &QuestionId) -> bool {
            self.asked > 0
        }

        fn refused(&mut self, _: &QuestionId, _: &str) {}

        fn withdraw(&mut self, _: &QuestionId, _: &Withdrawn) {}
    }

    fn question(number: u32) -> Question {
        let id = QuestionId::new(&RunId::new("abcdefgh12").expect("an id"), number);
        Question::new(id, AskKind::Confirm, "Ship it?")
    }

    fn at(joining: &mut Joining<Fake>, question: &Question, shown: bool, now: Instant) -> bool {
        let asked = AskedQuestion { shown, ..AskedQuestion::alone(question, None) };
        joining.joins(&asked, now)
    }

    #[test]
    fn at_once_after_a_time_or_never() {
        let (asked, now) = (question(1), Instant::now());
        let minute = Duration::from_secs(60);
        let mut at_once = Joining::new(Fake::default(), Joins::AtOnce);
        assert!(at(&mut at_once, &asked, true, now));
        let mut after = Joining::new(Fake::default(), Joins::After(minute));
        assert!(!at(&mut after, &asked, false, now));
        assert_eq!(after.look_at(), Some(now + minute));
        assert!(!after.is_showing(&asked.id));
        assert!(at(&mut after, &asked, true, now + minute), "even if another shows it");
        assert_eq!(after.look_at(), None);
        let mut never = Joining::new(Fake::default(), Joins::Never);
        assert!(never.obstacle().is_some());
        let left = never.ask(&AskedQuestion::alone(&asked, None));
        assert!(matches!(left, Some(PromptEvent::Left(_))));
        assert_eq!(never.inner.asked, 0);
    }

    #[test]
    fn when_nobody_shows_it_for_a_moment() {
        let (asked, now) = (question(1), Instant::now());
        let mut joining = Joining::new(Fake::default(), Joins::Unseen);
        assert!(!at(&mut joining, &asked, true, now));
        assert_eq!(joining.look_at(), None, "there is nothing to wait for");
        assert!(!at(&mut joining, &asked, false, now));
        // An editor has just got it.
        assert!(!at(&mut joining, &asked, true, now + SETTLES));
        assert!(!at(&mut joining, &asked, false, now + SETTLES));
        assert!(at(&mut joining, &asked, false, now + SETTLES * 2));
        assert!(at(&mut joining, &asked, true, now + SETTLES * 3), "once there, it stays");
        joining.withdraw(&asked.id, &Withdrawn::Gone);
        assert!(!at(&mut joining, &asked, true, now + SETTLES * 4));
    }

    #[test]
    fn an_assistant_has_what_it_may_pass_on_to_itself_first() {
        let now = Instant::now();
        let time = Duration::from_secs(20);
        let mut joining = Joining::new(Fake::default(), Joins::Unseen).behind_assistant(time);
        let (relayed, person) = (question(1), Question { by: By::Human, ..question(2) });
        for asked in [&relayed, &person] {
            assert!(!at(&mut joining, asked, false, now));
        }
        assert!(at(&mut joining, &person, false, now + SETTLES));
        assert!(!at(&mut joining, &relayed, false, now + SETTLES));
        assert!(at(&mut joining, &relayed, false, now + time));
    }

    #[test]
    fn one_that_is_called_comes() {
        let (asked, now) = (question(1), Instant::now());
        let calls = JoinRequests::default();
        let mut joining = Joining::new(Fake::default(), Joins::Unseen).called_by(calls.clone());
        assert!(!at(&mut joining, &asked, true, now));
        calls.join(&asked.id);
        assert!(at(&mut joining, &asked, true, now));
        assert!(!at(&mut joining, &question(2), true, now));
    }
}
