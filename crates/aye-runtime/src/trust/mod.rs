//! Trust: which projects this user lets Aye run, and what they agreed to in each.
//!
//! A directory is trusted as a whole (`aye trust`): without that nothing of it
//! is started where nobody typed `aye run`. What widens power besides (servers,
//! heal rules, the advisor, a looser policy, skill directories elsewhere) is
//! a [`Power`], agreed to by its content. [`TrustFile`] keeps both below
//! `AYE_HOME`; [`Granted`] is what follows for a run, [`Retention`] for how long
//! it is kept.
//!
//! Touches one file below `AYE_HOME`. Settings and use cases ask it what counts.

mod file;
mod granted;
mod must_be_trusted;
mod power;
mod retention;

use std::path::Path;

use crate::error::Error;
use crate::settings::Settings;

pub use file::{Agreement, Agreements, TrustError, TrustFile, Trusted};
pub use granted::{Granted, StartedBy};
pub use power::Power;
pub use retention::Retention;

/// The settings of a project as far as it is trusted. `user` is the file of the
/// user's own settings, `home` where agreements are kept.
///
/// # Errors
/// When a file of settings cannot be read or is wrong.
pub fn load_settings(
    directory: &Path,
    user: Option<&Path>,
    home: &Path,
) -> Result<Settings, Error> {
    // Agreements that cannot be read agree to nothing.
    let is_trusted =
        |root: &Path| TrustFile::new(home, root).read().is_ok_and(|agreed| agreed.trusted);
    Settings::load(directory, user, is_trusted)
}
