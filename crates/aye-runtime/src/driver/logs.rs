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

/// Compresses logs of earlier runs beside a run, with the least priority. Ends when it is
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
            // On Linux this is about this thread alone.
            #[cfg(target_os = "linux")]
            let _ = rustix::process::nice(19);
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
