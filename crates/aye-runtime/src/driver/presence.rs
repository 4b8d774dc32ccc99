//! What other processes are told of where questions are shown here.

use aye_core::id::{QuestionId, RunId};
use jiff::Timestamp;

use crate::presence::{is_shown_on, was_shown_elsewhere};
use crate::store::{PresenceKind, REFRESH, Showing, ShowingProcess};

use super::drive::Driver;
use super::lane::ROOT;

/// What was said last, and when.
#[derive(Default)]
pub(super) struct ReportedPresence {
    shown: Vec<Showing>,
    at: Option<Timestamp>,
}

impl ReportedPresence {
    /// Whether it is time to say this.
    fn is_due(&self, shown: &[Showing], now: Timestamp) -> bool {
        let is_old = self.at.is_none_or(|at| now.duration_since(at) >= REFRESH);
        self.shown != shown || !shown.is_empty() && is_old
    }
}

impl Driver<'_> {
    /// Says where questions are shown here, if that is news.
    pub(super) fn say_what_is_shown(&mut self) {
        let now = self.parts.clock.now();
        let user = &self.lane(ROOT).machine.state().started.driver.user;
        let shown = self.questions.shown_here();
        let shown: Vec<Showing> = shown
            .map(|(question, kind)| Showing { question, kind, client: user.clone() })
            .collect();
        if self.reported_presence.is_due(&shown, now) {
            self.tell_others(shown, now);
        }
    }

    /// Nothing is shown here any more.
    pub(super) fn say_that_nothing_is_shown(&mut self) {
        if !self.reported_presence.shown.is_empty() {
            self.tell_others(Vec::new(), self.parts.clock.now());
        }
    }

    fn tell_others(&mut self, shown: Vec<Showing>, now: Timestamp) {
        let process = process(&self.lane(ROOT).machine.state().run);
        // No run stops because others are not told.
        let _ = self.parts.store.shows(&process, &shown, now);
        self.reported_presence = ReportedPresence { shown, at: Some(now) };
    }

    /// Whether someone could see a question, here or elsewhere, when its time ran out.
    pub(super) fn was_seen(
        &self,
        question: &QuestionId,
        deadline: Timestamp,
        now: Timestamp,
    ) -> bool {
        self.questions.was_seen(question, deadline, now)
            || was_shown_elsewhere(self.parts.store, question, deadline, now)
    }

    /// Whether someone can see a question, here or elsewhere.
    pub(super) fn is_seen(&self, question: &QuestionId) -> bool {
        self.questions.is_seen(question)
            || is_shown_on(
                self.parts.store,
                question,
                self.parts.clock.now(),
                PresenceKind::is_seen,
            )
    }

    /// Whether someone has a question before them in another process, where no window
    /// has to call them.
    pub(super) fn is_attended_elsewhere(&self, question: &QuestionId) -> bool {
        let now = self.parts.clock.now();
        is_shown_on(self.parts.store, question, now, PresenceKind::keeps_windows_away)
    }
}

fn process(run: &RunId) -> ShowingProcess {
    let pid = std::process::id();
    ShowingProcess { name: format!("driver of {run}, {pid}"), pid }
}
