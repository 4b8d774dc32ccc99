//! Templates and conditions: text from a skill, values from a run.
//!
//! A [`Scope`] knows every name a template may use; [`mod@render`] turns a
//! template into a value, [`text`] into text, [`holds`] a condition into yes
//! or no. Values are only ever data: nothing rendered is rendered again, and
//! [`shell_script`] hands them to a shell as variables, not as text.
//! Expressions that are more than Jinja, and templates that may be much work,
//! go to [`Expressions`], if the outside has one.
//!
//! Touches the outside only through the `Names` and `Expressions` that the caller hands in. The
//! machine renders with it before a step starts.

mod chains;
mod compare;
mod cost;
mod data_in;
mod diff;
mod engine;
mod filters;
mod frozen;
mod functions;
mod isolated;
pub(crate) mod keys;
mod missing;
mod moment;
mod not_given;
mod python_fallback;
mod render;
mod scope;
mod shell;
mod unknown_word;

pub use chains::{NumberComparison, number_comparisons};
pub use data_in::{data_in, key_values};
pub use diff::{changes, diff};
pub(crate) use frozen::{Frozen, Outside, Recorder};
pub use functions::percent_encoded;
pub use isolated::{TemplateKind, evaluate_template};
pub use render::{
    TextError, holds, names_in, names_in_condition, names_in_condition_with, names_in_with, render,
    render_value, text,
};
pub use scope::{BUILT_IN, Expressions, MEMORY, MEMORY_ERROR, Names, RemoteScope, Scope, World};
pub(crate) use shell::legible;
pub use shell::{Script, VALUE_PREFIX, Verbatim, shell_script};
pub use unknown_word::{UnknownWord, unknown_word_in, unknown_word_in_condition};
