//! How long finished runs are kept.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::load_settings;

/// Says which runs may be forgotten: each as its own project says, as far as
/// that is trusted. The journal is shared by all projects.
#[derive(Debug)]
pub struct Retention<'a> {
    home: &'a Path,
    user: Option<&'a Path>,
    now: Timestamp,
    /// When runs of a workspace must have ended to go; `None` keeps them.
    known: HashMap<PathBuf, Option<Timestamp>>,
}

impl<'a> Retention<'a> {
    /// As of `now`; `user` is the file of the user's own settings.
    pub fn new(home: &'a Path, user: Option<&'a Path>, now: Timestamp) -> Self {
        Self { home, user, now, known: HashMap::new() }
    }

    /// Before which time runs must have ended to be older than `keep`.
    pub fn limit(&self, keep: Option<Duration>) -> Option<Timestamp> {
        self.now.checked_sub(SignedDuration::try_from(keep?).ok()?).ok()
    }

    /// Whether a run that began in `workspace` and ended then may be forgotten.
    pub fn may_forget(&mut self, workspace: &Path, ended: Timestamp) -> bool {
        let limit = match self.known.get(workspace) {
            Some(limit) => *limit,
            None => {
                // What cannot be read may say for ever.
                let settings = load_settings(workspace, self.user, self.home).ok();
                let limit = settings.and_then(|settings| self.limit(settings.keep));
                self.known.insert(workspace.to_path_buf(), limit);
                limit
            }
        };
        limit.is_some_and(|limit| ended < limit)
    }
}
