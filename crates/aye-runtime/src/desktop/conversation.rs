//! Which window comes next, and what the end of one means. No IO.
//!
//! The prompter shows the window and returns its end here.

use aye_core::pattern::is_match;
use aye_core::question::{AnswerScope, Question};

use crate::fmt::escape_control_line;

use super::card::Card;
use super::window::{Closed, Pick, Row, Window, rows, scope_rows, scopes};

/// Where someone is in answering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stage {
    /// They read a long text.
    Read,
    /// They pick one of the options.
    Pick,
    /// They say how far this is to be remembered.
    Scope(Draft),
    /// They write an answer.
    Write,
    /// They type what it takes to agree to this.
    Type(Draft),
    /// They give a one-time code for this.
    Code(Draft),
    /// They say once more that the row at this place of a list is their answer.
    Sure(Box<Stage>, usize),
}

/// An answer that needs something more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Draft {
    /// The value of an option, or text.
    pub(super) value: String,
    /// What was typed to agree.
    pub(super) typed: Option<String>,
    /// It is to be remembered, this far.
    pub(super) remember: Option<AnswerScope>,
}

/// What follows the end of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// Another window, and what it says about the last one.
    Show(Stage, Option<String>),
    /// An answer, and a code with it.
    Answer(Draft, Option<String>),
    /// The person left without an answer.
    Left,
    /// The program failed, and why.
    Failed(String),
}

/// The window that a question begins with. It may come up while someone types elsewhere: a
/// field that would take what they type comes only after a button or a row was picked.
pub(super) fn first(card: &Card) -> Stage {
    if card.is_long() { Stage::Read } else { Stage::Pick }
}

impl Stage {
    /// The window of this stage, and its text.
    pub(super) fn window(&self, question: &Question, card: Card) -> (Window, Card) {
        let short = |card: Card| if card.is_long() { card.brief() } else { card };
        let write = |initial: &str, hidden| Window::Write { initial: initial.to_owned(), hidden };
        match self {
            Self::Read => (Window::Read, card),
            Self::Pick => (Window::Pick(rows(question)), short(card)),
            Self::Scope(draft) => {
                let task = Some("Remember it for what?".to_owned());
                (Window::Pick(scope_rows(question, &draft.value)), Card { task, ..short(card) })
            }
            Self::Write => {
                let initial = question.default.as_deref().filter(|_| !question.secret);
                let task = question
                    .pattern
                    .as_ref()
                    .map(|pattern| format!("It has to match {}", escape_control_line(pattern)));
                (write(initial.unwrap_or_default(), question.secret), Card { task, ..short(card) })
            }
            Self::Type(_) => {
                let wanted = escape_control_line(question.typed.as_deref().unwrap_or_default());
                let task = Some(format!("Type {wanted} to agree."));
                (write("", false), Card { task, ..short(card) })
            }
            Self::Code(_) => {
                let task = Some("Give the one-time code of your authenticator app.".to_owned());
                (write("", true), Card { task, ..short(card) })
            }
            Self::Sure(list, at) => match list.window(question, card) {
                (Window::Pick(mut rows), card) if *at < rows.len() => {
                    let row = rows.swap_remove(*at);
                    let task = Some(format!("Your answer: {}", row.label));
                    let row = Row { label: "Answer".to_owned(), about: None, ..row };
                    (Window::Pick(vec![row]), Card { task, ..card })
                }
                shown => shown,
            },
        }
    }

    /// What follows a row of a list in which typing picks: a window of its own, since someone
    /// may have typed for another window.
    pub(super) fn sure(&self, at: usize) -> Next {
        Next::Show(Self::Sure(Box::new(self.clone()), at), None)
    }

    /// What follows when its window ended like this.
    pub(super) fn next(&self, question: &Question, closed: Closed) -> Next {
        match (self, closed) {
            (_, Closed::Later) => Next::Left,
            (_, Closed::Failed(why)) => Next::Failed(why),
            (Self::Read, Closed::Read) => Next::Show(Self::Pick, None),
            (Self::Pick, Closed::Row(at)) => match rows(question).get(at).map(|row| row.pick) {
                Some(Pick::Write) => Next::Show(Self::Write, None),
                Some(Pick::Offer(index, remember)) => {
                    let value = question.options[index].value.clone();
                    agreed(question, Draft { value, typed: None, remember })
                }
                Some(Pick::Remember(index)) => {
                    let value = question.options[index].value.clone();
                    Next::Show(Self::Scope(Draft { value, typed: None, remember: None }), None)
                }
                None => unexpected(),
            },
            (Self::Sure(list, at), Closed::Row(_)) => list.next(question, Closed::Row(*at)),
            (Self::Scope(draft), Closed::Row(at)) => match scopes(question, &draft.value).get(at) {
                Some(scope) => agreed(question, Draft { remember: Some(*scope), ..draft.clone() }),
                None => unexpected(),
            },
            (Self::Write, Closed::Text(text)) => written(question, text),
            (Self::Type(draft), Closed::Text(text)) => match question.typed.as_ref() {
                Some(wanted) if *wanted != text => {
                    let notice = "That is not the text.".to_owned();
                    Next::Show(Self::Type(draft.clone()), Some(notice))
                }
                Some(_) | None => agreed(question, Draft { typed: Some(text), ..draft.clone() }),
            },
            (Self::Code(draft), Closed::Text(code)) if code.trim().is_empty() => {
                Next::Show(Self::Code(draft.clone()), Some("There is no code yet.".to_owned()))
            }
            (Self::Code(draft), Closed::Text(code)) => {
                Next::Answer(draft.clone(), Some(code.trim().to_owned()))
            }
            (Self::Read | Self::Type(_) | Self::Code(_) | Self::Write, Closed::Row(_))
            | (
                Self::Pick
                | Self::Scope(_)
                | Self::Write
                | Self::Type(_)
                | Self::Code(_)
                | Self::Sure(..),
                Closed::Read,
            )
            | (Self::Read | Self::Pick | Self::Scope(_) | Self::Sure(..), Closed::Text(_)) => {
                unexpected()
            }
        }
    }

    /// Where it is asked again after an answer was refused.
    pub(super) fn again(&self) -> Self {
        match self {
            Self::Code(draft) => Self::Code(draft.clone()),
            Self::Read | Self::Pick | Self::Scope(_) | Self::Type(_) => Self::Pick,
            Self::Write => Self::Write,
            Self::Sure(list, _) => list.again(),
        }
    }

    /// Where it is asked again after its window was closed by Aye: the person may type
    /// elsewhere by now.
    pub(super) fn reopened(&self) -> Self {
        match self {
            Self::Read => Self::Read,
            Self::Pick
            | Self::Scope(_)
            | Self::Write
            | Self::Type(_)
            | Self::Code(_)
            | Self::Sure(..) => Self::Pick,
        }
    }
}

fn unexpected() -> Next {
    Next::Failed("it ended in a way that is not known".to_owned())
}

/// An answer in one's own words.
fn written(question: &Question, text: String) -> Next {
    let again = |why: String| Next::Show(Stage::Write, Some(why));
    let text = match &question.default {
        Some(default) if text.is_empty() && !question.secret => default.clone(),
        Some(_) | None => text,
    };
    let is_offered = question.offer(&text).is_some();
    match &question.pattern {
        Some(pattern) if !is_offered && !is_match(pattern, &text) => {
            again(format!("That does not match {}", escape_control_line(pattern)))
        }
        None if text.is_empty() && question.default.is_none() => {
            again("There is no answer yet.".to_owned())
        }
        Some(_) | None => agreed(question, Draft { value: text, typed: None, remember: None }),
    }
}

/// What else an answer takes.
fn agreed(question: &Question, draft: Draft) -> Next {
    if !question.commits(&draft.value.as_str().into()) {
        return Next::Answer(draft, None);
    }
    match &question.typed {
        Some(wanted) if draft.typed.as_ref() != Some(wanted) => {
            Next::Show(Stage::Type(draft), None)
        }
        _ if question.reauth => Next::Show(Stage::Code(draft), None),
        Some(_) | None => Next::Answer(draft, None),
    }
}

#[cfg(test)]
mod tests;
