//! The schedules that were added, one file each.

use std::fs;
use std::path::{Path, PathBuf};

use super::schedule::Schedule;
use crate::error::Error;
use crate::replace::replace;

/// The files below `AYE_HOME/schedules`.
#[derive(Debug, Clone)]
pub struct Registry {
    directory: PathBuf,
}

impl Registry {
    /// The schedules of this home.
    pub fn of(home: &Path) -> Self {
        Self { directory: home.join("schedules") }
    }

    /// All of them, by name. A file that cannot be read is left out.
    pub fn all(&self) -> Vec<Schedule> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let read = entries.filter_map(|entry| {
            serde_json::from_str::<Schedule>(&fs::read_to_string(entry.path()).ok()?).ok()
        });
        let mut all: Vec<Schedule> = read.collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }

    /// The one of this name.
    pub fn find(&self, name: &str) -> Option<Schedule> {
        self.all().into_iter().find(|schedule| schedule.name == name)
    }

    /// Keeps a schedule.
    pub fn keep(&self, schedule: &Schedule) -> Result<(), Error> {
        let path = self.file(&schedule.name);
        let text = serde_json::to_string_pretty(schedule).unwrap_or_default();
        replace(&path, &text, 0o600).map_err(Error::file("write", &path))
    }

    /// Forgets a schedule.
    pub fn forget(&self, name: &str) -> Result<(), Error> {
        let path = self.file(name);
        fs::remove_file(&path).map_err(Error::file("remove", &path))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.json"))
    }
}
