//! Verifying the journal.

use crate::error::Error;
use crate::runtime::Runtime;
use crate::store::{Audited, BadHeads, Finding, Heads};

impl Runtime {
    /// Verifies what is recorded of one run and of those inside it, or of all:
    /// hash chains, derived rows, logs of steps, entries of pruned runs. With
    /// `against`, also whether anything is shorter, different or gone since
    /// those were the heads.
    pub fn audit(
        &self,
        run: Option<&str>,
        against: Option<&Heads>,
    ) -> Result<(Audited, Vec<Finding>), Error> {
        // A journal that is gone has lost every run there was.
        let journal = match (self.journal_if_any()?, against) {
            (Some(journal), _) => journal,
            (None, Some(heads)) if !heads.is_empty() => {
                return Ok((Audited::default(), heads.all_gone()));
            }
            (None, _) => self.journal()?,
        };
        let run = match run {
            Some(name) => Some(journal.find_run(name)?.id),
            None => None,
        };
        let mut findings = Vec::new();
        let mut report = |finding| findings.push(finding);
        let audited = journal.store.audit(run.as_ref(), &mut report)?;
        if let Some(heads) = against {
            heads.compare(&*journal.store, &mut report)?;
        }
        Ok((audited, findings))
    }

    /// Where the chain of every run and that of the pruned runs ends.
    pub fn heads(&self) -> Result<Heads, Error> {
        Ok(self.journal()?.store.heads()?)
    }
}

/// Heads that were kept, from what `aye audit --head` printed.
pub fn parse_heads(name: &str, text: &str) -> Result<Heads, Error> {
    Heads::parse(text).map_err(|error: BadHeads| {
        Error::usage(
            format!("`{name}` does not hold heads: {error}"),
            "keep what `aye audit --head` prints, and name that file",
        )
    })
}
