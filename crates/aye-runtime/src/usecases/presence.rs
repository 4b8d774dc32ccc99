//! Where questions are shown, for front ends that show them or tell others.

use aye_core::id::QuestionId;
use jiff::Timestamp;

use crate::error::Error;
use crate::presence::shown_now;
use crate::runtime::Runtime;
use crate::store::{Showing, ShowingProcess, Shown};

use super::journal_reader::JournalReader;

impl Runtime {
    /// What this process shows from now on, and nothing else. It has to be said
    /// again every few seconds.
    pub fn shows(&self, process: &ShowingProcess, shown: &[Showing]) -> Result<(), Error> {
        Ok(self.store()?.shows(process, shown, self.now())?)
    }
}

impl JournalReader {
    /// Where a question is shown at this moment.
    pub fn shown(&self, question: &QuestionId, now: Timestamp) -> Result<Vec<Shown>, Error> {
        Ok(shown_now(&*self.store, question, now)?)
    }
}
