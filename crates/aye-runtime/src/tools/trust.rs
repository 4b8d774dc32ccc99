//! Who decides whether a server may be started.

use crate::settings::ServerSettings;
use crate::trust::{Power, TrustError, TrustFile};

use super::launch::Launch;

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

/// Whether a server may be started: the user's own settings name it, or it was agreed to.
pub(super) fn may_start(
    server: &ServerSettings,
    launch: &Launch,
    file: &TrustFile,
) -> Result<bool, TrustError> {
    Ok(server.own || file.read()?.holds(&Power::from(launch)))
}
