//! Getting an answer to a question.

use aye_core::input::{Input, Request};
use aye_core::journal::Phase;
use aye_core::question::{Answer, Channel, Question};
use aye_core::skill::AskKind;

use crate::auth;
use crate::error::Error;
use crate::origin::origin;
use crate::prompter::{AskedQuestion, PromptEvent};

use super::drive::Driver;
use super::lane::{LaneId, ROOT};
use super::questions::Polled;

impl Driver<'_> {
    /// Takes away the questions that were closed: what was asked about must
    /// not begin beside its prompt.
    pub(super) fn withdraw_closed(&mut self) {
        let Self { lanes, questions, .. } = self;
        questions
            .withdraw(|lane, question| lanes.get(lane).is_some_and(|lane| lane.asks(question)));
    }

    /// Takes every question away: nobody asks any more.
    pub(super) fn withdraw_all(&mut self) {
        self.questions.withdraw(|_, _| false);
        self.say_that_nothing_is_shown();
    }

    /// The lanes that ask, the one that is asked about first in front.
    fn asking(&self) -> Vec<LaneId> {
        let mut asking: Vec<LaneId> =
            self.live().into_iter().filter(|id| self.lane(*id).question().is_some()).collect();
        if let Some(at) = asking.iter().position(|id| self.questions.first() == Some(*id)) {
            asking[..=at].rotate_right(1);
        }
        asking
    }

    /// Where one question is shown at a time, those behind it do not run out
    /// of theirs: nobody could have answered them. Nor does the first while
    /// an editor or a step has the terminal: it cannot be shown there. One whose
    /// silence lets the run continue has its time once it can be seen. Says whether
    /// the time of one began or stopped.
    pub(super) fn keep_time(&mut self) -> Result<bool, Error> {
        let one_by_one = self.questions.one_at_a_time();
        let asking = self.asking();
        let first = asking.first().filter(|_| !self.processes.have_terminal()).copied();
        let mut any = false;
        for id in asking {
            let shown = !one_by_one || first == Some(id);
            let changes = match &self.lane(id).machine.state().phase {
                Phase::Asking { question, still_ms, .. } if shown => {
                    still_ms.is_some()
                        && (!question.default_proceeds() || self.is_seen(&question.id))
                }
                Phase::Asking { question, .. } => question.deadline.is_some(),
                Phase::Transition(_) | Phase::Running { .. } | Phase::Ended(_) => false,
            };
            if changes {
                self.apply(id, Input::Shown(shown), None)?;
                any = true;
            }
        }
        Ok(any)
    }

    /// Asks every open question; says whether something came of it.
    pub(super) fn ask(&mut self) -> Result<bool, Error> {
        if self.asking().is_empty() {
            return Ok(false);
        }
        self.listen()?;
        self.flush_output()?;
        self.parts.report.pause();
        let asking = self.asking();
        let one_by_one = self.questions.one_at_a_time();
        let among = self.questions.place_of_first(asking.len()).filter(|_| one_by_one);
        for id in asking {
            let Some(question) = self.lane(id).question() else { continue };
            let shown = self.questions.has_latecomer() && self.is_attended_elsewhere(&question.id);
            if self.questions.known(&question.id).is_none() {
                let known = self.known_about(id, &question);
                self.questions.note_known(question.id.clone(), known);
            }
            let Self { lanes, questions, .. } = self;
            let around = lanes.around(id);
            let Some(lane) = lanes.get(id) else { continue };
            let known = questions.known(&question.id).unwrap_or_default().to_vec();
            let state = lane.machine.state();
            let Phase::Asking { agreed, advice, .. } = &state.phase else { continue };
            let asked = AskedQuestion {
                question: &question,
                deadline: lane.machine.wake_at(),
                agreed,
                advice,
                known: &known,
                run: Some(state),
                around: &around,
                secrets: Some(lane.machine.secrets()),
                among,
                shown,
            };
            match questions.ask(id, &asked) {
                Polled::Nothing => continue,
                Polled::Event(prompter, event) => self.heard(id, &question, prompter, event)?,
                Polled::Nobody(why) => self.leave(id, why)?,
            }
            return Ok(true);
        }
        let now = self.parts.clock.now();
        self.questions.look(now);
        self.say_what_is_shown();
        Ok(false)
    }

    /// Something happened where a question is asked.
    fn heard(
        &mut self,
        id: LaneId,
        question: &Question,
        prompter: usize,
        event: PromptEvent,
    ) -> Result<(), Error> {
        let (answer, code) = match event {
            PromptEvent::Answered { mut answer, code } => {
                // Who answers at our terminal, or in a window of ours, answers from where
                // we come from.
                match answer.prompter {
                    Channel::Terminal
                    | Channel::Desktop
                    | Channel::Zenity
                    | Channel::Kdialog
                    | Channel::Notification => {
                        answer.origin = Some(origin(|| self.parts.store.held()));
                    }
                    Channel::Command
                    | Channel::Editor
                    | Channel::Web
                    | Channel::Assistant
                    | Channel::Elicited
                    | Channel::Message
                    | Channel::DropBox
                    | Channel::Memory
                    | Channel::Override => {}
                }
                (answer, code)
            }
            PromptEvent::Engaged => {
                let by = self.lane(ROOT).machine.state().started.driver.user.clone();
                let hold = Request::Hold { question: question.id.clone(), by };
                self.apply(id, Input::Request(hold), None)?;
                return Ok(());
            }
            PromptEvent::Advised(advice) => {
                let advise = Request::Advise { question: question.id.clone(), advice };
                self.apply(id, Input::Request(advise), None)?;
                return Ok(());
            }
            PromptEvent::Left(why) => return self.leave(id, why),
        };
        let choice = answer.value.as_str().unwrap_or_default().to_owned();
        let editing = self.questions.editing.as_ref();
        if editing.is_some_and(|one| one.id == question.id && one.prompter == prompter) {
            return self.consented(id, question, &choice);
        }
        let edits = choice == "edit" && question.kind == AskKind::Recover && answer.edits.is_none();
        // A change is remembered as a fix, and asked about when it is made.
        let remember = answer.remember.filter(|_| !edits);
        let answer = Answer { remember, ..answer };
        let request = Request::Answer { question: question.id.clone(), answer, code };
        if edits {
            // The code would be too old once the editor is left.
            let home = self.parts.home;
            let (machine, world) = (&self.lane(id).machine, self.world());
            let spent = auth::spend_code(Input::Request(request), machine, home, &world);
            let Input::Request(Request::Answer { answer, .. }) = spent else { return Ok(()) };
            return self.edit(id, question, answer, prompter);
        }
        if let Some(refusal) = self.apply(id, Input::Request(request), None)? {
            self.questions.refused(prompter, &question.id, &refusal.to_string());
        }
        Ok(())
    }

    /// Nobody can be asked about this run any more.
    fn leave(&mut self, id: LaneId, message: String) -> Result<(), Error> {
        self.lane_mut(id).unasked = Some(message.clone());
        self.apply(id, Input::Leave { message }, None)?;
        Ok(())
    }
}
