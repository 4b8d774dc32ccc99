//! Where a report's words go: never blocks, whoever does not read them.
//!
//! A reader may stop reading (a pager, a stalled collector of logs). Then the
//! words wait here, up to a limit; beyond it the driver stops reading from the
//! step as well, so that nothing is lost and nothing grows. Time-outs, signals
//! and letters are attended to all the while.

use std::cell::RefCell;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use aye_runtime::report::Sink;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// A pipe that is ready takes this much without blocking.
const CHUNK: usize = 4096;
/// More than this is too much to wait for.
const FULL: usize = 256 * 1024;

/// One stream of the program; copies share it.
#[derive(Debug, Clone)]
pub struct OutputBuffer(Rc<RefCell<Waiting>>);

#[derive(Debug)]
struct Waiting {
    stream: OwnedFd,
    /// A file takes everything at once.
    is_file: bool,
    words: Vec<u8>,
    written: usize,
    /// Why words were lost that somebody may have wanted: a full disk.
    lost: Option<rustix::io::Errno>,
}

impl OutputBuffer {
    /// An outlet to a stream.
    pub fn new(stream: impl AsFd) -> io::Result<Self> {
        let stream = stream.as_fd().try_clone_to_owned()?;
        let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&stream)?.st_mode);
        let is_file = kind == rustix::fs::FileType::RegularFile;
        let (words, written, lost) = (Vec::new(), 0, None);
        Ok(Self(Rc::new(RefCell::new(Waiting { stream, is_file, words, written, lost }))))
    }

    /// Why words were lost; a reader that has gone away does not count.
    pub fn lost(&self) -> Option<io::Error> {
        self.0.borrow().lost.map(io::Error::from)
    }

    /// Writes what can be written now; says whether nothing is left.
    pub fn drain(&self) -> bool {
        self.0.borrow_mut().drain()
    }

    /// Whether so much waits that no more should come.
    pub fn is_full(&self) -> bool {
        let waiting = self.0.borrow();
        waiting.words.len() - waiting.written > FULL
    }

    /// Drops what waits: nobody wants to read it.
    pub fn discard(&self) {
        self.0.borrow_mut().clear();
    }
}

/// Standard output and standard error.
#[derive(Debug, Clone)]
pub struct OutputBuffers {
    /// For what steps write, and for programs.
    pub out: OutputBuffer,
    /// For what Aye says.
    pub err: OutputBuffer,
}

impl OutputBuffers {
    /// Those of this process.
    pub fn standard() -> io::Result<Self> {
        Ok(Self { out: OutputBuffer::new(io::stdout())?, err: OutputBuffer::new(io::stderr())? })
    }
}

impl Sink for OutputBuffers {
    fn is_full(&self) -> bool {
        self.out.is_full() || self.err.is_full()
    }

    fn drain(&self) -> bool {
        let (out, err) = (self.out.drain(), self.err.drain());
        out && err
    }

    fn discard(&self) {
        self.out.discard();
        self.err.discard();
    }

    fn window(&self) -> Option<(u16, u16)> {
        crate::term::size()
    }
}

impl Write for OutputBuffer {
    fn write(&mut self, words: &[u8]) -> io::Result<usize> {
        let mut waiting = self.0.borrow_mut();
        waiting.words.extend_from_slice(words);
        waiting.drain();
        Ok(words.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.drain();
        Ok(())
    }
}

impl Waiting {
    fn drain(&mut self) -> bool {
        while self.written < self.words.len() {
            let rest = &self.words[self.written..];
            let chunk = if self.is_file { rest } else { &rest[..rest.len().min(CHUNK)] };
            if !self.is_file && !is_ready(&self.stream) {
                return false;
            }
            match rustix::io::write(&self.stream, chunk) {
                Ok(count) => self.written += count,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return false,
                // A reader that has gone away must not stop the run.
                Err(rustix::io::Errno::PIPE) => self.clear(),
                Err(error) => {
                    self.lost.get_or_insert(error);
                    self.clear();
                }
            }
        }
        self.clear();
        true
    }

    fn clear(&mut self) {
        self.words.clear();
        self.written = 0;
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // The last words of a program that is done may take their time.
        while self.written < self.words.len() && !self.drain() {
            let mut stream = [PollFd::new(&self.stream, PollFlags::OUT)];
            if poll(&mut stream, None).is_err_and(|error| error != rustix::io::Errno::INTR) {
                return;
            }
        }
    }
}

fn is_ready(stream: &OwnedFd) -> bool {
    let mut stream = [PollFd::new(stream, PollFlags::OUT)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut stream, Some(&at_once)).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_reader_that_does_not_read_blocks_nobody_and_loses_nothing() {
        let (mut reader, writer) = io::pipe().expect("a pipe");
        let mut outlet = OutputBuffer::new(&writer).expect("an outlet");
        drop(writer);
        let words = vec![b'x'; 1_000_000];
        outlet.write_all(&words).expect("it takes everything");
        assert!(outlet.is_full());
        assert!(!outlet.drain());
        let rest = std::thread::spawn(move || {
            let mut read = Vec::new();
            reader.read_to_end(&mut read).map(|_| read.len())
        });
        drop(outlet);
        assert_eq!(rest.join().expect("no panic").expect("it reads"), words.len());
    }

    #[test]
    fn a_reader_that_has_gone_away_is_no_error() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let mut outlet = OutputBuffer::new(&writer).expect("an outlet");
        drop(reader);
        outlet.write_all(b"nobody reads this").expect("it is dropped");
        assert!(outlet.drain());
        assert!(outlet.lost().is_none());
    }

    #[test]
    fn what_there_is_no_room_for_is_lost_and_known_to_be() {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
        let mut outlet = OutputBuffer::new(&full).expect("an outlet");
        outlet.write_all(b"no room for this").expect("it stops nobody");
        let lost = outlet.lost().expect("it is known");
        assert_eq!(lost.kind(), io::ErrorKind::StorageFull);
    }
}
