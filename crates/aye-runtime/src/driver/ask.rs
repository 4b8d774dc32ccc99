//! Getting an answer to a question.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use aye_core::input::{Input, Request};
use aye_core::journal::{Phase, State};
use aye_core::question::{Answer, Question};
use aye_core::secrets::Secrets;
use aye_core::skill::AskKind;
use jiff::Timestamp;

use crate::auth;
use crate::error::Error;

use super::drive::Driver;
use super::lane::{LaneId, ROOT};

/// What came of waiting for an answer.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one at a time, and soon gone")]
pub enum Asked {
    /// Somebody answered here.
    Answered {
        /// The answer.
        answer: Answer,
        /// A one-time code that was given with it.
        code: Option<String>,
        /// It is to be remembered.
        remember: bool,
    },
    /// Somebody is typing: the deadline should be held.
    Typing,
    /// One of the descriptors is ready; the prompt stays as it is.
    Woken,
    /// The deadline has passed.
    Deadline,
    /// Nobody can be asked here after all, and why.
    Unavailable(String),
}

/// A question and what somebody may want to know before answering it.
#[derive(Debug, Clone, Copy)]
pub struct QuestionContext<'a> {
    /// The question.
    pub question: &'a Question,
    /// When it expires: its own deadline, which may have been held back, or
    /// the run's.
    pub deadline: Option<Timestamp>,
    /// Who agreed so far, where several have to.
    pub agreed: &'a [String],
    /// The run so far; none for a question that belongs to no run.
    pub run: Option<&'a State>,
    /// What must not be told to anybody, where somebody knows it.
    pub secrets: Option<&'a Secrets>,
}

/// Asks people, somewhere.
pub trait Prompter {
    /// Shows the question if it is not shown yet and waits for an answer, for
    /// one of `wake` to be readable, or for the deadline. It returns
    /// [`Asked::Woken`] at least once a second, so that the caller can look
    /// for what it was not woken for.
    fn ask(&mut self, posed: &QuestionContext<'_>, wake: &[BorrowedFd<'_>])
    -> Result<Asked, Error>;

    /// Why nobody can be asked here, as far as that is known before trying.
    fn obstacle(&self) -> Option<&str> {
        None
    }

    /// How many questions may wait here at once, where they are shown one by
    /// one.
    fn room(&self) -> Option<usize> {
        None
    }

    /// What becomes readable when somebody types, while a question is shown.
    fn keys(&self) -> Option<OwnedFd>;

    /// The answer that was given here was refused: says why, asks on.
    fn refused(&mut self, why: &str);

    /// Somebody is about to print: takes the prompt away for the moment. The
    /// next [`ask`](Self::ask) shows it again, with what was typed.
    fn hide(&mut self);

    /// Takes the prompt away for good: it is answered, here or elsewhere, or
    /// expired. The report says what became of it.
    fn withdraw(&mut self);

    /// This process is about to be stopped: gives the terminal back.
    fn rest(&mut self);

    /// This process goes on after a stop: the terminal has to be taken again.
    fn redraw(&mut self);
}

impl Driver<'_> {
    /// The lane whose question is to be shown: the one that is, as long as it
    /// is open, then the one that has waited longest.
    pub(super) fn next_question(&mut self) -> Option<LaneId> {
        self.withdraw_closed();
        self.shown.or_else(|| self.live().into_iter().find(|id| self.is_asking(*id)))
    }

    /// Takes the prompt away if its question was closed elsewhere: what was
    /// asked about must not begin beside it.
    pub(super) fn withdraw_closed(&mut self) {
        if self.shown.is_some_and(|id| !self.is_asking(id)) {
            self.withdraw();
        }
    }

    fn is_asking(&self, id: LaneId) -> bool {
        let lane = self.lanes.get(id).and_then(Option::as_ref);
        lane.is_some_and(|lane| lane.question().is_some())
    }

    /// Where one question is shown at a time, those behind it do not run out
    /// of theirs: nobody could have answered them.
    pub(super) fn keep_time(&mut self, first: Option<LaneId>) -> Result<(), Error> {
        let one_by_one = self
            .parts
            .prompter
            .as_ref()
            .is_some_and(|prompter| prompter.room().is_some() && prompter.obstacle().is_none());
        for id in self.live() {
            let shown = !one_by_one || first == Some(id);
            let changes = match &self.lane(id).machine.state().phase {
                Phase::Asking { still_ms, .. } if shown => still_ms.is_some(),
                Phase::Asking { question, .. } => question.deadline.is_some(),
                Phase::Transition(_) | Phase::Running { .. } | Phase::Ended(_) => false,
            };
            if changes && self.is_asking(id) {
                self.apply(id, Input::Shown(shown), None)?;
            }
        }
        Ok(())
    }

    /// More questions than one person can keep in mind are not put before
    /// them: those runs rest, and are asked about in the inbox or on resuming.
    pub(super) fn limit_questions(&mut self) -> Result<(), Error> {
        let Some(room) = self.parts.prompter.as_ref().and_then(|prompter| prompter.room()) else {
            return Ok(());
        };
        if self.lanes.len() <= room {
            return Ok(());
        }
        let asking: Vec<LaneId> =
            self.live().into_iter().filter(|id| self.lane(*id).question().is_some()).collect();
        for id in asking.into_iter().skip(room) {
            if self.shown == Some(id) {
                continue;
            }
            let message = format!("too many questions: {room} wait on this terminal already");
            self.lane_mut(id).unasked = Some(message.clone());
            self.apply(id, Input::Leave { message }, None)?;
        }
        Ok(())
    }

    /// Asks, and waits for an answer if there is nothing else to do.
    pub(super) fn ask(&mut self, id: LaneId, wait: bool) -> Result<(), Error> {
        self.listen()?;
        self.flush_output(false)?;
        self.parts.report.pause();
        let Some(question) = self.lane(id).question() else { return Ok(()) };
        self.shown = Some(id);
        let ready = match wait {
            true => None,
            false => std::io::pipe().ok().map(|(read, _write)| OwnedFd::from(read)),
        };
        let Self { parts, bell, lanes, editing, .. } = self;
        let Some(lane) = lanes[id].as_ref() else { return Ok(()) };
        // What somebody changed is asked about before it is tried.
        let editing = editing.as_ref().filter(|editing| editing.id == question.id);
        let shown = editing.map_or(&question, |editing| &editing.consent);
        let asked = match parts.prompter.as_deref_mut() {
            None => Asked::Unavailable("there is no prompter".to_owned()),
            Some(prompter) => {
                let mut wake: Vec<BorrowedFd<'_>> = vec![parts.signals.fd()];
                wake.extend(bell.as_ref().map(|bell| bell.as_fd()));
                // A pipe without a writer is always ready: what was typed is taken.
                wake.extend(ready.as_ref().map(|ready| ready.as_fd()));
                let state = lane.machine.state();
                let agreed = match &state.phase {
                    Phase::Asking { agreed, .. } => agreed.as_slice(),
                    Phase::Transition(_) | Phase::Running { .. } | Phase::Ended(_) => &[],
                };
                let deadline = lane.machine.wake_at();
                let secrets = Some(lane.machine.secrets());
                let run = Some(state);
                let posed = QuestionContext { question: shown, deadline, agreed, run, secrets };
                prompter.ask(&posed, &wake)?
            }
        };
        let consent = editing.is_some();
        match asked {
            Asked::Answered { answer, .. } if consent => {
                let choice = answer.value.as_str().unwrap_or_default();
                self.consented(id, &question, choice)
            }
            Asked::Answered { answer, code, .. }
                if answer.value == "edit" && question.kind == AskKind::Recover =>
            {
                // The code would be too old once the editor is left.
                let request = Request::Answer { question: question.id.clone(), answer, code };
                let home = self.parts.home;
                let (machine, world) = (&self.lane(id).machine, self.world());
                match auth::spend_code(Input::Request(request), machine, home, &world) {
                    Input::Request(Request::Answer { answer, .. }) => {
                        self.edit(id, &question, answer)
                    }
                    _ => Ok(()),
                }
            }
            Asked::Answered { answer, code, remember } => {
                let request = Request::Answer { question: question.id.clone(), answer, code };
                self.answer(id, &question, request, remember)
            }
            Asked::Typing => {
                let by = self.lane(ROOT).machine.state().started.driver.user.clone();
                let question = question.id.clone();
                self.apply(id, Input::Request(Request::Hold { question, by }), None)?;
                Ok(())
            }
            Asked::Woken if !wait => Ok(()),
            Asked::Woken => {
                let seen = self.read_signals()?;
                if seen.suspend {
                    self.rest();
                    self.stand_still()?;
                    // Our own return is among them: the prompt comes back once.
                    self.read_signals()?;
                }
                if seen.suspend || seen.resumed {
                    self.redraw();
                }
                if seen.resize {
                    self.hide_prompt();
                }
                self.read_mail()
            }
            Asked::Deadline => {
                self.apply(id, Input::Tick, None)?;
                Ok(())
            }
            Asked::Unavailable(message) => {
                self.withdraw();
                self.lane_mut(id).unasked = Some(message.clone());
                self.apply(id, Input::Leave { message }, None)?;
                Ok(())
            }
        }
    }

    fn answer(
        &mut self,
        id: LaneId,
        question: &Question,
        request: Request,
        remember: bool,
    ) -> Result<(), Error> {
        let choice = match &request {
            Request::Answer { answer, .. } => answer.value.as_str().unwrap_or_default().to_owned(),
            Request::Hold { .. } | Request::Cancel { .. } => String::new(),
        };
        let refusal = self.apply(id, Input::Request(request), None)?;
        if remember && refusal.is_none() {
            self.remember(id, question, &choice)?;
        }
        if let (Some(refusal), Some(prompter)) = (refusal, self.parts.prompter.as_deref_mut()) {
            prompter.refused(&refusal.to_string());
        }
        Ok(())
    }

    /// Takes the prompt away for good.
    pub(super) fn withdraw(&mut self) {
        self.shown = None;
        if let Some(prompter) = self.parts.prompter.as_deref_mut() {
            prompter.withdraw();
        }
    }

    /// Takes the prompt away for the moment: somebody is about to print.
    pub(super) fn hide_prompt(&mut self) {
        if let (Some(_), Some(prompter)) = (self.shown, self.parts.prompter.as_deref_mut()) {
            prompter.hide();
        }
    }

    pub(super) fn rest(&mut self) {
        if let Some(prompter) = self.parts.prompter.as_deref_mut() {
            prompter.rest();
        }
    }

    pub(super) fn redraw(&mut self) {
        if let Some(prompter) = self.parts.prompter.as_deref_mut() {
            prompter.redraw();
        }
    }
}
