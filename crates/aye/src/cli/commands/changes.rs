//! `--set` and `--only`: what a failed step is given differently.

use aye_core::question::{Edits, FixScope};
use clap::Args;

use aye_runtime::error::Error;

use super::answer::Reach;
use super::given;

// What a failed step is given differently.
#[derive(Debug, Clone, Default, Args)]
pub struct Changes {
    /// What a failed step is given differently; repeat it. JSON, or plain text
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// With `--set`: everything that is not named is left out
    #[arg(long, requires = "set")]
    pub only: bool,
}

impl Changes {
    /// The changes, and whether they are kept; none if there are none.
    pub(super) fn edits(&self, remember: Option<Reach>) -> Result<Option<Edits>, Error> {
        if self.set.is_empty() {
            return Ok(None);
        }
        let set = given::values(&self.set)?;
        Ok(Some(Edits { set, only: self.only, remember: remember.map(FixScope::from) }))
    }
}
