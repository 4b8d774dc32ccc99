//! Room on the disk for a log that has become long, asked for ahead of its bytes.
//!
//! Finding a place for every page while it is written is half of what writing costs; a stretch
//! at once is nearly free. The file's length stays that of its bytes, and what was not needed
//! is given back at the end (after a crash: when the file is compressed or removed).

use std::fs::File;

/// From here on a log is long.
const LONG: u64 = 4 * 1024 * 1024;

/// How much is asked for at once.
const STRETCH: u64 = 32 * 1024 * 1024;

/// How far the room of one file goes; `None` once it was refused.
#[derive(Debug)]
pub(crate) struct Reserve(Option<u64>);

impl Reserve {
    pub(crate) fn new() -> Self {
        Self(Some(0))
    }

    /// `length` bytes are in the file and more will come.
    pub(crate) fn keep_ahead(&mut self, file: &File, length: u64) {
        let Some(end) = self.0 else { return };
        if length < LONG || length + STRETCH / 2 < end {
            return;
        }
        let from = end.max(length);
        self.0 = match allocate(file, from, STRETCH) {
            Ok(()) => Some(from + STRETCH),
            // A full disk, or one that cannot do this. What was found on the way goes back:
            // the bytes may need it elsewhere.
            Err(()) => {
                let _ = file.set_len(length);
                None
            }
        };
    }

    /// The file is complete.
    pub(crate) fn give_back(&mut self, file: &File, length: u64) {
        if self.0.take().is_some_and(|end| end > length) {
            let _ = file.set_len(length);
        }
    }
}

#[cfg(target_os = "linux")]
fn allocate(file: &File, from: u64, size: u64) -> Result<(), ()> {
    use rustix::fs::{FallocateFlags, fallocate};
    fallocate(file, FallocateFlags::KEEP_SIZE, from, size).map_err(drop)
}

#[cfg(not(target_os = "linux"))]
fn allocate(_: &File, _: u64, _: u64) -> Result<(), ()> {
    Err(())
}
