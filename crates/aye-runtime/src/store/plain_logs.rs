//! Logs of steps that have ended and are not compressed yet.
//!
//! A run does not wait for its logs to be compressed: its driver leaves a note, and later
//! commands do it on the side. A note names logs that nobody writes to any more. A driver that is
//! killed leaves none; its logs stay as they are.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use aye_core::id::RunId;
use aye_process::Stream;
use aye_process::log::{self, WORTHWHILE};

/// How many notes are looked at: with more than these to do, a command has enough.
const NOTES: usize = 100;

/// The notes about logs that could be compressed.
#[derive(Debug, Clone)]
pub struct PlainLogs {
    /// Where the logs of all runs are.
    logs: PathBuf,
    notes: PathBuf,
}

impl PlainLogs {
    pub(super) fn below(logs: PathBuf) -> Self {
        let notes = logs.join(".plain");
        Self { logs, notes }
    }

    /// Notes logs that a driver, in the epoch in which it drove the run, wrote to the end.
    pub fn note(&self, run: &RunId, epoch: u64, logs: &[PathBuf]) -> io::Result<()> {
        let names: Vec<&[u8]> = logs
            .iter()
            .filter_map(|log| log.strip_prefix(&self.logs).ok())
            .map(|name| name.as_os_str().as_bytes())
            .collect();
        if names.is_empty() {
            return Ok(());
        }
        DirBuilder::new().recursive(true).mode(0o700).create(&self.notes)?;
        fs::write(self.notes.join(format!("{run}-{epoch}")), names.join(&b'\0'))
    }

    /// Whether there is anything to compress; cheap.
    pub fn is_empty(&self) -> bool {
        fs::read_dir(&self.notes).map_or(true, |mut notes| notes.next().is_none())
    }

    /// Compresses what fits in `most` bytes, until it is told to stop; not that of the run
    /// `but`. What cannot be compressed stays as it is, and can be read all the same.
    pub fn compress(&self, but: Option<&RunId>, most: u64, stop: &AtomicBool) {
        let Ok(entries) = fs::read_dir(&self.notes) else { return };
        let mut left = most;
        for note in entries.flatten().take(NOTES) {
            let is_spared = but.is_some_and(|run| {
                let name = note.file_name();
                name.as_bytes().strip_prefix(run.as_str().as_bytes()).is_some_and(is_epoch)
            });
            if stop.load(Ordering::Relaxed) {
                return;
            }
            if !is_spared && self.follow(&note.path(), &mut left, stop).unwrap_or(true) {
                let _ = fs::remove_file(note.path());
            }
        }
    }

    /// Does what a note says as far as it fits; says whether the note is done.
    fn follow(&self, note: &Path, left: &mut u64, stop: &AtomicBool) -> io::Result<bool> {
        let names = fs::read(note)?;
        let mut done = true;
        for name in names.split(|byte| *byte == b'\0') {
            let name = Path::new(OsStr::from_bytes(name));
            let is_below = name.components().all(|part| matches!(part, Component::Normal(_)));
            let base = self.logs.join(name);
            let size = plain_size(&base);
            if !is_below || size < WORTHWHILE {
                continue;
            }
            if size > *left || stop.load(Ordering::Relaxed) {
                done = false;
                continue;
            }
            *left -= size;
            let result = log::compress(&base, WORTHWHILE, stop);
            done &= result.is_ok() || !stop.load(Ordering::Relaxed);
        }
        Ok(done)
    }
}

/// What follows the run in the name of a note.
fn is_epoch(rest: &[u8]) -> bool {
    rest.first() == Some(&b'-')
}

/// How long the files of a log are that are not compressed.
fn plain_size(base: &Path) -> u64 {
    [log::path(base, Stream::Stdout), log::path(base, Stream::Stderr), log::order_path(base)]
        .iter()
        .filter_map(|path| path.symlink_metadata().ok())
        .map(|file| file.len())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    static NEVER: AtomicBool = AtomicBool::new(false);

    struct Place {
        _directory: tempfile::TempDir,
        plain: PlainLogs,
    }

    impl Place {
        fn new() -> Self {
            let directory = tempfile::tempdir().expect("a directory");
            let plain = PlainLogs::below(directory.path().join("logs"));
            Self { _directory: directory, plain }
        }

        /// A finished log of so many bytes, noted.
        fn log(&self, run: &str, bytes: u64) -> PathBuf {
            let base = self.plain.logs.join(run).join("0001-build");
            fs::create_dir_all(base.parent().expect("a parent")).expect("made");
            let text = vec![b'x'; usize::try_from(bytes).expect("small")];
            fs::write(log::path(&base, Stream::Stdout), text).expect("written");
            self.plain
                .note(&RunId::new(run).expect("an id"), 1, std::slice::from_ref(&base))
                .expect("noted");
            base
        }
    }

    fn is_plain(base: &Path) -> bool {
        log::path(base, Stream::Stdout).exists()
    }

    #[test]
    fn what_is_noted_is_compressed_once_and_the_note_goes() {
        let place = Place::new();
        assert!(place.plain.is_empty());
        let base = place.log("only-run", WORTHWHILE);
        assert!(!place.plain.is_empty());
        place.plain.compress(None, u64::MAX, &NEVER);
        assert!(!is_plain(&base) && log::exists(&base));
        assert!(place.plain.is_empty());
    }

    #[test]
    fn what_does_not_fit_waits_and_so_does_what_was_spared() {
        let place = Place::new();
        let (small, large) =
            (place.log("small-run", WORTHWHILE), place.log("large-run", 3 * WORTHWHILE));
        place.plain.compress(
            Some(&RunId::new("small-run").expect("an id")),
            2 * WORTHWHILE,
            &NEVER,
        );
        assert!(is_plain(&small) && is_plain(&large));
        place.plain.compress(None, 2 * WORTHWHILE, &NEVER);
        assert!(!is_plain(&small) && is_plain(&large));
        assert!(!place.plain.is_empty());
        place.plain.compress(None, u64::MAX, &NEVER);
        assert!(!is_plain(&large) && place.plain.is_empty());
    }

    #[test]
    fn told_to_stop_it_leaves_logs_and_notes_as_they_are() {
        let place = Place::new();
        let base = place.log("only-run", WORTHWHILE);
        place.plain.compress(None, u64::MAX, &AtomicBool::new(true));
        assert!(is_plain(&base) && !place.plain.is_empty());
    }

    #[test]
    fn a_note_about_a_run_that_was_pruned_goes() {
        let place = Place::new();
        let base = place.log("only-run", WORTHWHILE);
        fs::remove_dir_all(base.parent().expect("a parent")).expect("removed");
        place.plain.compress(None, u64::MAX, &NEVER);
        assert!(place.plain.is_empty());
    }
}
