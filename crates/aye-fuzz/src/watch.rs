//! Looks at time and memory while cases run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A case that takes this long will not end.
const HANGS: Duration = Duration::from_secs(20);

/// Ends the process when a case hangs: nothing else could.
pub(crate) struct Watch {
    began: Instant,
    /// The case that runs, plus one, and since when, in milliseconds.
    running: Arc<(AtomicU64, AtomicU64)>,
}

impl Watch {
    pub(crate) fn start(target: &str, seed: u64) -> Self {
        let running = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
        let (began, shared, target) = (Instant::now(), Arc::downgrade(&running), target.to_owned());
        std::thread::spawn(move || {
            while let Some(running) = shared.upgrade() {
                let number = running.0.load(Ordering::Relaxed);
                let since = Duration::from_millis(running.1.load(Ordering::Relaxed));
                if number > 0 && began.elapsed().saturating_sub(since) > HANGS {
                    eprintln!("{target}: a hang; `aye-fuzz {target} 1 {seed} {}`", number - 1);
                    std::process::abort();
                }
                drop(running);
                std::thread::sleep(Duration::from_millis(200));
            }
        });
        Self { began, running }
    }

    pub(crate) fn begin(&self, number: u64) -> Instant {
        let since = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.running.1.store(since, Ordering::Relaxed);
        self.running.0.store(number + 1, Ordering::Relaxed);
        Instant::now()
    }

    pub(crate) fn end(&self) {
        self.running.0.store(0, Ordering::Relaxed);
    }
}

/// The most memory that this process, or one that it has started and that still
/// runs, has had in use, in bytes.
pub(crate) fn peak() -> u64 {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let children = threads.map(|thread| thread.path().join("children"));
    let children = children.filter_map(|file| std::fs::read_to_string(file).ok());
    let most = children.flat_map(|pids| pids.split_whitespace().map(peak_of).collect::<Vec<_>>());
    let own = peak_of("self");
    assert!(own > 0, "/proc/self/status says how much memory is in use");
    most.chain([own]).max().unwrap_or(own)
}

/// The same of another process.
pub(crate) fn peak_of(pid: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() << 10
}
