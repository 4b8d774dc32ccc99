//! Ringing.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::polling;
use crate::store::Listener;

/// Wakes those who listen, by writing to a file.
#[derive(Debug)]
pub struct Notifier {
    path: PathBuf,
    file: Option<File>,
    notices: u32,
}

impl Notifier {
    /// The one with this file, which is made when first needed.
    pub fn new(path: PathBuf) -> Self {
        Self { path, file: None, notices: 0 }
    }

    /// Wakes every listener. Nothing is said of a failure: what it is about
    /// is already committed, and listeners look from time to time anyway.
    pub fn notify(&mut self) {
        self.notices = self.notices.wrapping_add(1);
        // Differs from ring to ring and from process to process, for
        // listeners that can only compare.
        let mark = (u64::from(std::process::id()) << 32) | u64::from(self.notices);
        if self.file.is_none() {
            self.file = open(&self.path).ok();
        }
        if let Some(file) = &self.file {
            let _ = file.write_all_at(&mark.to_le_bytes(), 0);
        }
    }

    /// Hears every ring from now on.
    pub fn listen(&self) -> io::Result<Listener> {
        self.make()?;
        // The number of watches a user may have is limited; comparing now and
        // then is better than not hearing at all.
        #[cfg(target_os = "linux")]
        if let Ok(watch) = super::inotify::Inotify::new(&self.path) {
            return Ok(Listener::new(watch));
        }
        self.listen_by_polling()
    }

    /// Hears every ring by comparing the file now and then: what is used where
    /// there is nothing better.
    pub fn listen_by_polling(&self) -> io::Result<Listener> {
        self.make()?;
        Ok(Listener::new(polling::Polling::new(&self.path)?))
    }

    /// Sees to it that there is a file; one that may only be read can be heard.
    fn make(&self) -> io::Result<()> {
        match open(&self.path) {
            Err(error) if !self.path.exists() => Err(error),
            _ => Ok(()),
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let open =
        || OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
    match (open(), path.parent()) {
        // Only the first one of a home finds no directory.
        (Err(error), Some(directory)) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().mode(0o700).create(directory)?;
            open()
        }
        (opened, _) => opened,
    }
}
