//! `--set` and `--only`: what a failed step is given differently.

use aye_core::question::{AnswerScope, Edits, FixScope};
use clap::Args;

use aye_runtime::error::Error;
use aye_runtime::usecases::TextArguments;

use super::given;

// What a failed step is given differently.
#[derive(Debug, Clone, Default, Args)]
pub struct Changes {
    /// Change an argument of the failed step; repeat for more. If the argument is not text,
    /// VALUE is read as JSON
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// With `--set`: drop all other arguments
    #[arg(long, requires = "set")]
    pub only: bool,
}

impl Changes {
    /// The changes, and whether they are kept; none if there are none. Which
    /// arguments are text is asked of `text_arguments`.
    pub(super) fn edits(
        &self,
        remember: Option<AnswerScope>,
        text_arguments: impl FnOnce() -> TextArguments,
    ) -> Result<Option<Edits>, Error> {
        if self.set.is_empty() {
            return Ok(None);
        }
        let set = given::values(&self.set, &text_arguments())?;
        let remember = remember.map(|scope| match scope {
            AnswerScope::Error | AnswerScope::Step => FixScope::Step,
            AnswerScope::Skill | AnswerScope::Always => FixScope::Tool,
        });
        Ok(Some(Edits { set, only: self.only, remember }))
    }
}
