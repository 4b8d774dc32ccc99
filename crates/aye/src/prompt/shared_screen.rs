//! The terminal as the prompt and the report share it: one of them draws at a
//! time, and an interactive step has it for itself.

use std::cell::{Ref, RefCell, RefMut};
use std::rc::Rc;

use aye_core::id::QuestionId;

use super::framed::Framed;
use super::plain::Plain;

/// A handle to the screen; clones share it.
#[derive(Clone, Default)]
pub struct SharedScreen(Rc<RefCell<Drawn>>);

/// What is on the screen of ours.
#[derive(Default)]
pub(super) struct Drawn {
    pub(super) prompt: Option<Prompt>,
    /// The lane whose step has the terminal.
    pub(super) lent: Option<usize>,
}

/// A prompt that is on the terminal.
pub(super) enum Prompt {
    Framed(Box<Framed>),
    Plain(Box<Plain>),
}

impl SharedScreen {
    pub(super) fn drawn(&self) -> Ref<'_, Drawn> {
        self.0.borrow()
    }

    pub(super) fn drawn_mut(&self) -> RefMut<'_, Drawn> {
        self.0.borrow_mut()
    }

    /// Whether a prompt is on it.
    pub fn has_prompt(&self) -> bool {
        self.drawn().prompt.is_some()
    }

    /// Something else is about to be printed: takes the prompt away for the
    /// moment. It comes back with what was typed.
    pub fn hide(&self) {
        match &mut self.drawn_mut().prompt {
            Some(Prompt::Framed(prompt)) => prompt.hide(),
            Some(Prompt::Plain(prompt)) => prompt.hide(),
            None => {}
        }
    }

    /// Whether a prompt is on it that cannot be taken away for the moment.
    pub(super) fn is_tall(&self) -> bool {
        match &self.drawn().prompt {
            Some(Prompt::Framed(prompt)) => prompt.is_tall(),
            Some(Prompt::Plain(_)) | None => false,
        }
    }

    /// The window has changed: a frame is painted anew, lines stay as they are.
    pub fn resized(&self) {
        if let Some(Prompt::Framed(prompt)) = &mut self.drawn_mut().prompt {
            prompt.hide();
        }
    }

    /// The question is answered, or the run is over: nothing of the prompt
    /// stays that looks as if it was still open.
    pub fn finish(&self) {
        match &mut self.drawn_mut().prompt {
            Some(Prompt::Framed(prompt)) => prompt.finish(),
            Some(Prompt::Plain(prompt)) => prompt.hide(),
            None => {}
        }
    }

    /// This process is about to be stopped: gives the terminal back.
    pub fn rest(&self) {
        match &mut self.drawn_mut().prompt {
            Some(Prompt::Framed(prompt)) => prompt.rest(),
            Some(Prompt::Plain(prompt)) => prompt.rest(),
            None => {}
        }
    }

    /// This process runs again after a stop: takes the terminal again.
    pub fn redraw(&self) {
        match &mut self.drawn_mut().prompt {
            Some(Prompt::Framed(prompt)) => prompt.redraw(),
            Some(Prompt::Plain(prompt)) => prompt.redraw(),
            None => {}
        }
    }

    /// An interactive step of this lane has the terminal from now on.
    pub fn lend(&self, lane: usize) {
        self.rest();
        self.drawn_mut().lent = Some(lane);
    }

    /// A step of this lane has ended; if it had the terminal, it is ours again.
    pub fn take_back(&self, lane: usize) {
        if self.drawn().lent == Some(lane) {
            self.drawn_mut().lent = None;
            self.redraw();
        }
    }

    /// Takes the prompt away for good.
    pub(super) fn close(&self) {
        match self.drawn_mut().prompt.take() {
            Some(Prompt::Framed(prompt)) => prompt.close(),
            Some(Prompt::Plain(prompt)) => prompt.close(),
            None => {}
        }
    }
}

impl Drawn {
    /// Whether this question is the one that is asked.
    pub(super) fn is_about(&self, question: &QuestionId) -> bool {
        match &self.prompt {
            Some(Prompt::Framed(prompt)) => prompt.is_for(question),
            Some(Prompt::Plain(prompt)) => prompt.is_for(question),
            None => false,
        }
    }

    /// Whether someone at the terminal could see this question.
    pub(super) fn shows(&self, question: &QuestionId) -> bool {
        let on_it = match &self.prompt {
            Some(Prompt::Framed(prompt)) => prompt.is_for(question) && prompt.is_visible(),
            Some(Prompt::Plain(prompt)) => prompt.is_for(question) && prompt.is_visible(),
            None => false,
        };
        on_it && self.lent.is_none()
    }
}
