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
    rest: Finishing,
}

/// The last logs are compressed; nothing follows them.
#[derive(Debug)]
pub(super) struct Finishing {
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

    /// No step follows: what is left to wait for, if anything is.
    pub(super) fn finish(&mut self) -> Option<Finishing> {
        self.0.take().map(|worker| worker.rest)
    }
}

impl Finishing {
    /// Becomes readable when all of them are compressed.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }

    /// Leaves the rest as it is.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for the thread; says whether it was stopped.
    pub(super) fn join(self) -> bool {
        let _ = self.thread.join();
        self.stop.load(Ordering::Relaxed)
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
        Ok(Self { send, rest: Finishing { thread, stop, end } })
    }
}

impl Driver<'_> {
    /// Waits for the last of them; told to stop, leaves them as they are, and
    /// says so.
    pub(super) fn finish_logs(&mut self) -> Result<bool, Error> {
        const LONG: Duration = Duration::from_secs(1);
        let Some(rest) = self.logs.finish() else { return Ok(false) };
        let mut say_at = Some(Instant::now() + LONG);
        loop {
            let wake: [BorrowedFd<'_>; 2] = [rest.fd(), self.parts.signals.fd()];
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
                        rest.stop();
                    }
                }
                Ok(Happening::GuardLost) => {}
                _ => break,
            }
        }
        Ok(rest.join())
    }
}

#[cfg(test)]
mod tests {
    use aye_process::Stream;
    use aye_process::log::path;

    use super::*;

    fn log(directory: &std::path::Path, bytes: u64) -> PathBuf {
        let base = directory.join("1-build");
        let text = vec![b'x'; usize::try_from(bytes).expect("small")];
        std::fs::write(path(&base, Stream::Stdout), text).expect("written");
        base
    }

    #[test]
    fn a_large_log_is_compressed_and_its_end_is_heard() {
        let place = tempfile::tempdir().expect("a directory");
        let base = log(place.path(), WORTHWHILE);
        let mut logs = Logs::default();
        logs.finished(Some(base.clone()), WORTHWHILE);
        let rest = logs.finish().expect("a thread");
        let long = Some(Instant::now() + Duration::from_secs(60));
        let heard = aye_process::wait(&mut [], &[rest.fd()], long, &mut |_, _, _| {});
        assert!(matches!(heard, Ok(Happening::Wake(0))), "{heard:?}");
        assert!(!rest.join());
        assert!(!path(&base, Stream::Stdout).exists(), "it is compressed");
        assert_eq!(std::fs::read_dir(place.path()).expect("listed").count(), 1);
    }

    #[test]
    fn a_small_log_stays_as_it_is_and_costs_no_thread() {
        let place = tempfile::tempdir().expect("a directory");
        let base = log(place.path(), WORTHWHILE - 1);
        let mut logs = Logs::default();
        logs.finished(Some(base.clone()), WORTHWHILE - 1);
        logs.finished(None, WORTHWHILE);
        assert!(logs.finish().is_none());
        assert!(path(&base, Stream::Stdout).exists());
    }
}
