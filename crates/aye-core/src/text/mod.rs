//! Templates and conditions: text from a skill, values from a run.
//!
//! A [`Scope`] knows every name a template may use; [`render`] turns a
//! template into a value, [`text`] into text, [`holds`] a condition into yes
//! or no. Values are only ever data: nothing rendered is rendered again, and
//! [`shell_script`] hands them to a shell as variables, not as text.

mod render;
mod scope;
mod shell;

pub use render::{TextError, holds, names_in, names_in_condition, render, render_value, text};
pub use scope::{BUILT_IN, Names, Scope, World};
pub(crate) use shell::legible;
pub use shell::{Script, Verbatim, shell_script};
