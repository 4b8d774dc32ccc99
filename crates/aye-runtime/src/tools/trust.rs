//! Who decides whether a server may be started.

use crate::settings::ServerSettings;
use crate::trust::{Power, TrustError, TrustFile};

use super::launch::Launch;

/// Who decides whether a server may be started.
#[derive(Debug, Clone)]
pub enum Trust {
    /// What was agreed to, and what the user's own settings name.
    File(TrustFile),
    /// Everything: the caller has asked already.
    Everything,
}

impl From<&Launch> for Power {
    fn from(launch: &Launch) -> Self {
        let mut shown = vec![launch.command_line()];
        shown.extend(launch.cwd.as_ref().map(|cwd| format!("works in {}", cwd.display())));
        if !launch.variables.is_empty() {
            shown.push(format!("gets {}", launch.variables.join(", ")));
        }
        Self::of_server(&launch.server, shown, launch.digest.clone())
    }
}

impl Trust {
    pub(super) fn allows(
        &self,
        server: &ServerSettings,
        launch: &Launch,
    ) -> Result<bool, TrustError> {
        match self {
            Self::File(_) if server.own => Ok(true),
            Self::File(file) => Ok(file.read()?.holds(&Power::from(launch))),
            Self::Everything => Ok(true),
        }
    }
}
