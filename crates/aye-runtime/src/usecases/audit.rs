//! Verifying the journal.

use crate::error::Error;
use crate::runtime::Runtime;
use crate::store::{Audited, Finding};

impl Runtime {
    /// Verifies the hash chain and the derived rows of one run, or of all.
    pub fn audit(&self, run: Option<&str>) -> Result<(Audited, Vec<Finding>), Error> {
        let journal = self.journal()?;
        let run = match run {
            Some(name) => Some(journal.find_run(name)?.id),
            None => None,
        };
        let mut findings = Vec::new();
        let audited = journal.store.audit(run.as_ref(), &mut |finding| findings.push(finding))?;
        Ok((audited, findings))
    }
}
