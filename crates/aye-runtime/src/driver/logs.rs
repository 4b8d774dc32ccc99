//! Logs of steps that have ended are compressed while the run goes on.

use std::io::{self, PipeReader};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use aye_process::Happening;
use aye_process::log::{WORTHWHILE, compress};

use crate::error::Error;

use super::drive::Driver;

/// One thread for all of them, made with the first.
#[derive(Debug, Default)]
pub(super) struct Logs(Option<Worker>);

#[derive(Debug)]
struct Worker {
    send: Sender<PathBuf>,
    thread: JoinHandle<()>,
    stop: Arc<AtomicBool>,
    /// Readable once the thread has ended.
    end: PipeReader,
}

impl Logs {
    /// A step has written so many bytes to its log.
    pub(super) fn finished(&mut self, log: Option<PathBuf>, bytes: u64) {
        let Some(log) = log.filter(|_| bytes >= WORTHWHILE) else { return };
        if self.0.is_none() {
            // Without a thread or a pipe the files stay as they are.
            self.0 = Worker::start().ok();
        }
        if let Some(worker) = &self.0 {
            // A worker that has panicked has lost nothing: the plain file is still there.
            let _ = worker.send.send(log);
        }
    }
}

impl Worker {
    fn start() -> io::Result<Self> {
        let (end, alive) = io::pipe()?;
        let (send, receive) = channel::<PathBuf>();
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("logs".to_owned()).spawn(move || {
            let _alive = alive;
            for log in receive {
                // What cannot be compressed stays as it is, and can be read all the same.
                let _ = compress(&log, WORTHWHILE, &told);
            }
        })?;
        Ok(Self { send, thread, stop, end })
    }
}

impl Driver<'_> {
    /// Waits for the last of them; told to stop, leaves them as they are, and
    /// says so.
    pub(super) fn finish_logs(&mut self) -> Result<bool, Error> {
        const LONG: Duration = Duration::from_secs(1);
        let Some(Worker { send, thread, stop, end }) = self.logs.0.take() else { return Ok(false) };
        drop(send);
        let mut say_at = Some(Instant::now() + LONG);
        loop {
            let wake: [BorrowedFd<'_>; 2] = [end.as_fd(), self.parts.signals.fd()];
            match aye_process::wait(&mut [], &wake, say_at, &mut |_, _, _| {}) {
                Ok(Happening::Deadline) => {
                    say_at = None;
                    self.parts.report.note("compressing the logs; Ctrl-C leaves them as they are");
                }
                Ok(Happening::Wake(1)) => {
                    let seen = self.read_signals()?;
                    if seen.suspend {
                        self.parts.report.suspended();
                        self.processes.suspend();
                    }
                    if !seen.stops.is_empty() {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
                Ok(Happening::GuardLost) => {}
                _ => break,
            }
        }
        let _ = thread.join();
        Ok(stop.load(Ordering::Relaxed))
    }
}
