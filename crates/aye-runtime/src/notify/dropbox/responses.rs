//! Reading response files: written by others, so nothing in them is believed.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Deserialize;

use crate::ownership::is_ours;

use super::requests::{is_id, responses};

/// Nobody needs more to name an option.
const LARGEST: u64 = 64 * 1024;
/// A file that is not an answer after this time is removed: half-written ones end
/// so, and those that nobody asked for.
pub(super) const STALE: Duration = Duration::from_secs(60);

/// What someone dropped.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    choice: String,
    #[serde(default)]
    reason: Option<String>,
}

/// An answer that was dropped.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) id: String,
    pub(super) choice: String,
    pub(super) reason: Option<String>,
    /// Where its file is until it was answered with.
    pub(super) taken: PathBuf,
}

/// Takes every answer out of a drop-box. A name that is not one of a request is
/// not opened. Two processes may look at once: a file is renamed first, and one
/// of them gets it.
pub(super) fn take(directory: &Path) -> Vec<Response> {
    let Ok(entries) = responses(directory).read_dir() else { return Vec::new() };
    let mut all = Vec::new();
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let id = name.strip_suffix(".json").filter(|id| is_id(id));
        let Some(id) = id else {
            put_back(&path, &name);
            remove_if_stale(&path);
            continue;
        };
        let Some(written) = read(&path) else {
            // It may still be written to; what stays so is removed.
            remove_if_stale(&path);
            continue;
        };
        let taken = path.with_file_name(format!(".{id}.taken"));
        if std::fs::rename(&path, &taken).is_ok() {
            let Written { choice, reason } = written;
            all.push(Response { id: id.to_owned(), choice, reason, taken });
        }
    }
    all
}

/// The answer in a file; `None` if it is not a whole one, or not a plain file of
/// ours.
fn read(path: &Path) -> Option<Written> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let file =
        OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path).ok()?;
    let about = file.metadata().ok()?;
    if !about.is_file() || !is_ours(about.uid()) || about.len() > LARGEST {
        return None;
    }
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// A process that took an answer ended before it passed it on: it is taken again.
fn put_back(path: &Path, name: &str) {
    const PATIENCE: i64 = 15;
    let id = name.strip_prefix('.').and_then(|name| name.strip_suffix(".taken"));
    let Some(id) = id.filter(|id| is_id(id)) else { return };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let taken = path.symlink_metadata().map_or(i64::MAX, |about| about.ctime());
    if i64::try_from(now.as_secs()).unwrap_or_default() - taken > PATIENCE {
        let _ = std::fs::rename(path, path.with_file_name(format!("{id}.json")));
    }
}

/// Removes a file that has been there for a while; directories stay.
fn remove_if_stale(path: &Path) {
    let old = path
        .symlink_metadata()
        .ok()
        .filter(|about| !about.is_dir())
        .and_then(|about| about.modified().ok());
    if old.and_then(|then| then.elapsed().ok()).is_some_and(|age| age > STALE) {
        let _ = std::fs::remove_file(path);
    }
}
