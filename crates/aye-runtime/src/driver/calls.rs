//! Calls to tools: their numbers, and the questions that servers ask in them.

use aye_core::form::Form;

use super::lane::LaneId;

/// How often a call may ask; a server that asks for ever is not answered for
/// ever.
pub(super) const MOST_ASKED: usize = 10;

/// The calls of a run and of the runs inside it.
#[derive(Default)]
pub(super) struct Calls {
    last: u64,
    /// Servers that wait for an answer.
    waiting: Vec<ServerQuestion>,
    /// The call of each question that a server asked.
    asked: Vec<u64>,
}

/// A server that waits for an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ServerQuestion {
    /// The run that asks it.
    pub(super) lane: LaneId,
    pub(super) call: u64,
    pub(super) ask: u64,
    /// As the server sent it, and as it is asked.
    pub(super) form: Form,
    pub(super) shown: Form,
}

impl Calls {
    /// The number of the next call.
    pub(super) fn next_number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// A server asks: which question of the run it is, or nothing if the call
    /// has asked often enough.
    pub(super) fn ask(&mut self, call: u64) -> Option<usize> {
        let before = self.asked.iter().filter(|asked| **asked == call).count();
        (before < MOST_ASKED).then(|| {
            self.asked.push(call);
            self.asked.len()
        })
    }

    /// A run asks this question of a server.
    pub(super) fn wait(&mut self, question: ServerQuestion) {
        self.waiting.push(question);
    }

    /// Whether this run asks a question of a server.
    pub(super) fn is_form(&self, lane: LaneId) -> bool {
        self.waiting.iter().any(|one| one.lane == lane)
    }

    /// The question that this run asked; its server is answered now.
    pub(super) fn answered(&mut self, lane: LaneId) -> Option<ServerQuestion> {
        let at = self.waiting.iter().position(|one| one.lane == lane)?;
        Some(self.waiting.swap_remove(at))
    }

    /// The runs that ask such questions.
    pub(super) fn lanes(&self, which: impl Fn(&ServerQuestion) -> bool) -> Vec<LaneId> {
        self.waiting.iter().filter(|one| which(one)).map(|one| one.lane).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(lane: LaneId, call: u64, ask: u64) -> ServerQuestion {
        let form: Form = serde_json::from_value(serde_json::json!({
            "server": "jira", "message": "Which project?", "fields": [], "index": 1,
        }))
        .expect("a form");
        ServerQuestion { lane, call, ask, shown: form.clone(), form }
    }

    #[test]
    fn a_call_may_ask_ten_times_and_others_all_the_same() {
        let mut calls = Calls::default();
        let (one, two) = (calls.next_number(), calls.next_number());
        assert_ne!(one, two);
        let indexes: Vec<_> = (0..MOST_ASKED).map(|_| calls.ask(one)).collect();
        assert_eq!(indexes.last(), Some(&Some(MOST_ASKED)));
        assert_eq!(calls.ask(one), None);
        assert_eq!(
            calls.ask(two),
            Some(MOST_ASKED + 1),
            "each question of a run has an index of its own"
        );
    }

    #[test]
    fn a_question_waits_until_its_run_answers_it() {
        let mut calls = Calls::default();
        calls.wait(question(3, 1, 7));
        calls.wait(question(4, 1, 8));
        calls.wait(question(5, 2, 9));
        assert_eq!(calls.lanes(|one| one.call == 1), [3, 4]);
        assert_eq!(calls.answered(3).map(|one| one.ask), Some(7));
        assert!(!calls.is_form(3) && calls.is_form(4));
        assert_eq!(calls.answered(3), None);
        assert_eq!(calls.lanes(|_| true).len(), 2);
    }
}
