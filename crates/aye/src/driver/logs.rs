//! Logs of steps that have ended are compressed while the run goes on.

use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use aye_process::log::{WORTHWHILE, compress};

/// One thread for all of them, made with the first.
#[derive(Debug, Default)]
pub(super) struct Logs(Option<(Sender<PathBuf>, JoinHandle<()>)>);

impl Logs {
    /// A step has written so many bytes to its log.
    pub(super) fn finished(&mut self, log: Option<PathBuf>, bytes: u64) {
        let Some(log) = log.filter(|_| bytes >= WORTHWHILE) else { return };
        let (send, _) = self.0.get_or_insert_with(|| {
            let (send, receive) = channel::<PathBuf>();
            let worker = std::thread::spawn(move || {
                for log in receive {
                    // What cannot be compressed stays as it is, and can be read all the same.
                    let _ = compress(&log, WORTHWHILE);
                }
            });
            (send, worker)
        });
        // A worker that has panicked has lost nothing: the plain file is still there.
        let _ = send.send(log);
    }

    /// Waits for the last of them.
    pub(super) fn wait(&mut self) {
        if let Some((send, worker)) = self.0.take() {
            drop(send);
            let _ = worker.join();
        }
    }
}
