//! Logs of steps that have ended are compressed while the run goes on.

use std::path::PathBuf;
use std::thread::JoinHandle;

/// Smaller logs are not worth it.
const LEAST: u64 = 64 * 1024;

/// The compressions under way.
#[derive(Debug, Default)]
pub(super) struct Logs(Vec<JoinHandle<()>>);

impl Logs {
    /// A step has written so many bytes to its log.
    pub(super) fn finished(&mut self, log: Option<PathBuf>, bytes: u64) {
        if let Some(log) = log
            && bytes >= LEAST
        {
            // What cannot be compressed stays as it is, and can be read all the same.
            self.0.push(std::thread::spawn(move || {
                let _ = aye_process::log::compress(&log, LEAST);
            }));
        }
    }

    /// Waits for the last of them.
    pub(super) fn wait(&mut self) {
        for compression in self.0.drain(..) {
            // A panic in there has lost nothing: the plain file is still there.
            let _ = compression.join();
        }
    }
}
