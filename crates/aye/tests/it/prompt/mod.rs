//! Prompts: what they show, what keys do, and what becomes of the answers.

#![expect(clippy::unwrap_used, reason = "in helpers too a failure is the test's failure")]

mod across;
mod advice;
mod advice_look;
mod agreeing;
mod asked;
mod bell;
mod beside;
mod consent;
mod controlling;
mod covers;
mod desktop;
mod dialog;
mod hostile;
mod inbox_view;
mod journalled;
mod keys;
mod kinds;
mod lent;
mod life;
mod look;
mod made;
mod missing;
mod nested;
mod panes;
mod presence;
pub(crate) mod pty;
mod queue;
mod recovering;
mod remembering;
mod screen;
mod scripts;
mod teaching;
mod tools;
mod trusting;
mod typing;
mod view;
mod vt;
mod weeks;
