//! Who decides whether a server may be started.

use crate::settings::ServerSettings;
use crate::trust::{Power, TrustError, TrustFile};

use super::launch::Launch;

/// Who decides whether a server may be started.
#[derive(Debug, Clone)]
pub enum Trust {
    /// What was agreed to, and what the user's own settings name.
    File(TrustFile),
    /// Everything: whoever calls has asked already.
    Everything,
}

impl Trust {
    pub(super) fn allows(
        &self,
        server: &ServerSettings,
        launch: &Launch,
    ) -> Result<bool, TrustError> {
        match self {
            Self::File(_) if server.own => Ok(true),
            Self::File(book) => Ok(book.read()?.holds(&Power::from(launch))),
            Self::Everything => Ok(true),
        }
    }
}
