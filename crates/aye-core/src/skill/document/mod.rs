//! Skill files as they are written: one set of types, both decoder and schema.
//!
//! The doc comments of this folder are the descriptions in the published
//! schema. A key whose value needs more than its type to be right (durations,
//! names, patterns) is kept as text here and checked in [`super::check`].
//!
//! Touches nothing. [`super::check`] turns documents into skills.

mod ask;
mod file;
mod heal;
mod input;
mod key_names;
mod parts;
mod step;

pub(super) use ask::{ApprovalsDoc, AskDoc, ByWord, OptionDoc, OverrideWord, RememberDoc};
pub(super) use file::{SkillDoc, SkillsDoc, UndefinedWord};
pub(super) use heal::{HealDoc, HealMatchDoc};
pub(super) use input::{InputDoc, OutputDoc, SourceDoc};
pub(super) use key_names::{
    ALIASES, STATE_KEYS, STEP_KEYS, instead_of, misspelt_other_word, other_value, other_word,
};
pub(super) use parts::{
    GuardDoc, ListedArgs, NamedArgs, RetryDoc, ReturnDoc, ThenItem, Validation,
};
pub(super) use step::{OnErrorDoc, Question, StateItem, StepDoc, StepItem, Targets};
