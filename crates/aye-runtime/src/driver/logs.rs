//! Logs of steps that have ended are compressed by later runs: nobody waits for it.
//!
//! A driver notes the logs of its own steps when it ends, and compresses those of earlier runs
//! while it has its own to drive.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use aye_process::log::WORTHWHILE;

use crate::store::PlainLogs;

use super::drive::Driver;

/// The logs of this run that are worth compressing.
#[derive(Debug, Default)]
pub(super) struct Logs(Vec<PathBuf>);

impl Logs {
    /// A step has written so many bytes to its log.
    pub(super) fn finished(&mut self, log: Option<PathBuf>, bytes: u64) {
        self.0.extend(log.filter(|_| bytes >= WORTHWHILE));
    }
}

impl Driver<'_> {
    /// Leaves the logs of this run to later commands.
    pub(super) fn note_logs(&mut self) {
        let logs = std::mem::take(&mut self.logs.0);
        let run = &self.lane(super::lane::ROOT).machine.state().run;
        // Without a note they stay as they are, and can be read all the same.
        let _ = self.parts.store.plain_logs().note(run, self.epoch(), &logs);
    }
}

/// Compresses logs of earlier runs beside a run, while the processor is idle. Ends when it is
/// dropped: what it has not finished stays as it was.
#[derive(Debug)]
pub(super) struct Compressor {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Compressor {
    /// Starts a thread if there is something to do.
    pub(super) fn start(logs: PlainLogs) -> Option<Self> {
        if logs.is_empty() {
            return None;
        }
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let work = move || {
            aye_process::only_when_idle();
            logs.compress(None, u64::MAX, &told);
        };
        // Without a thread the files stay as they are.
        let thread = std::thread::Builder::new().name("compress".to_owned()).spawn(work).ok()?;
        Some(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use aye_core::id::RunId;
    use aye_process::Stream;
    use aye_process::log;

    use crate::store::{Logs as _, MemoryStore};

    use super::*;

    /// A finished log of an earlier run, noted; where it is.
    fn noted(store: &MemoryStore, run: u64) -> PathBuf {
        let run = RunId::from_random(run);
        store.create_logs(&run).expect("a directory");
        let base = store.log(&run, 1, "build");
        let text = vec![b'x'; usize::try_from(WORTHWHILE).expect("small")];
        std::fs::write(log::path(&base, Stream::Stdout), text).expect("written");
        store.plain_logs().note(&run, 1, std::slice::from_ref(&base)).expect("noted");
        base
    }

    fn is_plain(base: &std::path::Path) -> bool {
        log::path(base, Stream::Stdout).exists()
    }

    #[test]
    fn a_short_log_is_not_worth_a_note() {
        let (short, long) = (PathBuf::from("short"), PathBuf::from("long"));
        let mut logs = Logs::default();
        logs.finished(Some(short), WORTHWHILE - 1);
        logs.finished(Some(long.clone()), WORTHWHILE);
        // A step that keeps no log may write as much as it likes.
        logs.finished(None, u64::MAX);
        assert_eq!(logs.0, [long]);
    }

    #[test]
    fn what_earlier_runs_left_is_compressed_beside_a_run() {
        let place = tempfile::tempdir().expect("a directory");
        let store = MemoryStore::new(place.path());
        assert!(Compressor::start(store.plain_logs()).is_none(), "there is nothing to do");
        let bases = [1, 2, 3].map(|run| noted(&store, run));
        let _compressor = Compressor::start(store.plain_logs()).expect("a thread");
        let give_up = Instant::now() + Duration::from_secs(60);
        while !store.plain_logs().is_empty() {
            assert!(Instant::now() < give_up, "the notes stay");
            std::thread::sleep(Duration::from_millis(2));
        }
        for base in bases {
            assert!(!is_plain(&base) && log::exists(&base), "{}", base.display());
        }
    }

    #[test]
    fn a_run_that_ends_does_not_wait_and_what_is_left_stays_noted() {
        let place = tempfile::tempdir().expect("a directory");
        let store = MemoryStore::new(place.path());
        let bases: Vec<PathBuf> = (1..=30).map(|run| noted(&store, run)).collect();
        drop(Compressor::start(store.plain_logs()).expect("a thread"));
        // It has ended: nothing changes from here on.
        let left = bases.iter().filter(|base| is_plain(base)).count();
        assert!(bases.iter().all(|base| log::exists(base)), "a log is gone");
        assert_eq!(store.plain_logs().is_empty(), left == 0);
        drop(Compressor::start(store.plain_logs()));
        assert!(bases.iter().filter(|base| is_plain(base)).count() <= left);
    }
}
