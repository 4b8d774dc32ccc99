//! Watching drop-boxes for answers: one thread for each, woken by inotify where
//! there is one, and looking twice a second otherwise.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};

use crate::notify::{NotTaken, NotifyHost};

use super::requests::{prepare, request, responses};
use super::responses::take;

/// How often it is looked without being woken: files become stale, and some file
/// systems wake nobody.
const LOOK: Duration = Duration::from_millis(500);

/// The drop-boxes that this process watches.
#[derive(Debug)]
pub(in crate::notify) struct DropBoxes {
    host: Arc<dyn NotifyHost>,
    watched: BTreeSet<PathBuf>,
}

impl DropBoxes {
    pub(in crate::notify) fn new(host: Arc<dyn NotifyHost>) -> Self {
        Self { host, watched: BTreeSet::new() }
    }

    /// Watches those of the settings.
    pub(in crate::notify) fn watch_all(&mut self) {
        for directory in self.host.drop_boxes() {
            self.watch(&directory);
        }
    }

    /// Watches one, if it is not watched already.
    pub(in crate::notify) fn watch(&mut self, directory: &Path) {
        if self.watched.contains(directory) {
            return;
        }
        let (host, path) = (Arc::clone(&self.host), directory.to_path_buf());
        if Builder::new().name("drop-box".to_owned()).spawn(move || watch(&*host, &path)).is_ok() {
            self.watched.insert(directory.to_path_buf());
        }
    }
}

fn watch(host: &dyn NotifyHost, directory: &Path) {
    let mut wake = None;
    loop {
        if prepare(directory).is_ok() {
            wake = wake.or_else(|| {
                let events = WatchFlags::MOVED_TO | WatchFlags::CLOSE_WRITE;
                let descriptor = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
                add_watch(&descriptor, responses(directory), events).ok()?;
                Some(descriptor)
            });
            for response in take(directory) {
                // What is refused is on record there; the request stays for another try
                // as long as the question does.
                match host.answer(&response.id, &response.choice, response.reason) {
                    Ok(()) => {
                        let _ = std::fs::remove_file(request(directory, &response.id));
                    }
                    Err(NotTaken::Refused) => {}
                    // Its file is put back after a while, and taken again.
                    Err(NotTaken::Failed) => continue,
                }
                let _ = std::fs::remove_file(&response.taken);
            }
        }
        match &wake {
            Some(descriptor) => {
                let mut ready = [PollFd::new(descriptor, PollFlags::IN)];
                let limit = Timespec::try_from(LOOK).ok();
                if matches!(poll(&mut ready, limit.as_ref()), Ok(1..)) {
                    let mut events = [0u8; 4096];
                    while rustix::io::read(descriptor, &mut events).is_ok_and(|read| read > 0) {}
                }
            }
            None => std::thread::sleep(LOOK),
        }
    }
}
