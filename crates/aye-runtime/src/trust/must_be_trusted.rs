//! Whether something of a project may be started at all.

use crate::error::Error;
use crate::fmt::shell_word;

use super::file::TrustFile;
use super::granted::StartedBy;

impl TrustFile {
    /// Nothing of a project that nobody trusts is started where nobody typed it.
    ///
    /// # Errors
    /// When the project is not trusted, or that cannot be read.
    pub fn must_be_trusted(&self, started_by: StartedBy) -> Result<(), Error> {
        if started_by == StartedBy::Person || self.read()?.trusted {
            return Ok(());
        }
        let root = self.root().display();
        let whom = match started_by {
            StartedBy::Server => "the server",
            StartedBy::Assistant | StartedBy::Person => "an assistant",
        };
        Err(Error::Refused {
            message: format!(
                "the project `{root}` is not trusted: {whom} can list and describe its skills, \
                 but start none"
            ),
            hint: Some(format!(
                "a person can trust it with `aye trust {}`; do not do that for them",
                shell_word(&root.to_string())
            )),
        })
    }
}
