//! Whether this process speaks for a person.

use aye_core::question::Origin;

use crate::error::Error;
use crate::origin;
use crate::people::PeopleFile;
use crate::runtime::Runtime;
use crate::store::Store;

impl Runtime {
    /// The name that an answer of this account carries: that of the person whose
    /// account it is, else its own.
    pub fn person(&self) -> String {
        let user = self.driver().user;
        // If the file cannot be read, the account has no other name.
        let people = PeopleFile::new(&self.home).read().unwrap_or_default();
        people.of_account(&user).map_or(user, |person| person.name.clone())
    }

    /// Where an answer of this process comes from.
    pub(super) fn origin(&self) -> Box<Origin> {
        origin::origin(|| match self.store_to_read() {
            Ok(Some(store)) => store.held(),
            // Without the journal nobody knows which run it was.
            Ok(None) | Err(_) => Ok(Vec::new()),
        })
    }

    /// Refuses to take this process for a person: what a run started cannot
    /// agree for the person who started the run.
    pub fn require_person(&self, to_do: &str) -> Result<(), Error> {
        let store = self.store_to_read()?;
        let held = || store.as_deref().map_or(Ok(Vec::new()), |store: &dyn Store| store.held());
        origin::require_person(held, to_do)
    }
}
