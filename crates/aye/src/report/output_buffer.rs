//! Where a report's words go: never blocks for long, even if nobody reads them.
//!
//! A reader may be slow, or stop reading (a pager, a stalled collector of logs).
//! Then the words wait here, up to a limit. Beyond it a slow reader is waited
//! for, some milliseconds; then the driver stops reading from the step as well,
//! so that nothing is lost and nothing grows. Time-outs, signals and requests
//! are attended to all the while.

use std::cell::RefCell;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use aye_runtime::report::Sink;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode, OFlags};

/// A stream that is ready takes this much without blocking.
const CHUNK: usize = 4096;
/// More than this is too much to keep.
const FULL: usize = 256 * 1024;
/// How long a reader may take before more than that is kept.
const SLOW: Duration = Duration::from_millis(10);

/// One stream of the program; copies share it.
#[derive(Debug, Clone)]
pub struct OutputBuffer(Rc<RefCell<Waiting>>);

#[derive(Debug)]
struct Waiting {
    stream: OwnedFd,
    /// It takes all of it, or as much as it can, and never blocks.
    takes_all: bool,
    words: Vec<u8>,
    written: usize,
    /// Why words were lost that someone may have wanted: a full disk.
    lost: Option<rustix::io::Errno>,
}

impl OutputBuffer {
    /// A buffer in front of a stream.
    pub fn new(stream: impl AsFd) -> io::Result<Self> {
        let stream = stream.as_fd().try_clone_to_owned()?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&stream)?.st_mode);
        let (stream, takes_all) = match kind {
            FileType::RegularFile => (stream, true),
            FileType::Fifo => match unblocked(&stream) {
                Ok(own) => (own, true),
                Err(_) => (stream, false),
            },
            _ => (stream, false),
        };
        let (words, written, lost) = (Vec::new(), 0, None);
        Ok(Self(Rc::new(RefCell::new(Waiting { stream, takes_all, words, written, lost }))))
    }

    /// Why words were lost; a reader that has gone away does not count.
    pub fn lost(&self) -> Option<io::Error> {
        self.0.borrow().lost.map(io::Error::from)
    }

    /// Writes what can be written within this time; says whether nothing is left.
    pub fn drain(&self, patience: Duration) -> bool {
        self.0.borrow_mut().drain(0, patience)
    }

    /// Whether so much waits that no more should come.
    pub fn is_full(&self) -> bool {
        self.0.borrow().left() > FULL
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

    fn drain(&self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        let out = self.out.drain(patience);
        let err = self.err.drain(until.saturating_duration_since(Instant::now()));
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
        // Where nothing waits, what is taken at once is not copied. Errors come again.
        let taken = match waiting.takes_all && waiting.left() == 0 {
            true => rustix::io::write(&waiting.stream, words).unwrap_or(0),
            false => 0,
        };
        waiting.words.extend_from_slice(&words[taken..]);
        waiting.drain(FULL, SLOW);
        Ok(words.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.drain(Duration::ZERO);
        Ok(())
    }
}

impl Waiting {
    /// How much waits.
    fn left(&self) -> usize {
        self.words.len() - self.written
    }

    /// Writes what can be written; while more than `most` is left, waits for the reader as long
    /// as its patience lasts. Says whether nothing is left.
    fn drain(&mut self, most: usize, patience: Duration) -> bool {
        let mut until = None;
        while self.left() > 0 {
            if !self.takes_all && !is_ready(&self.stream, Duration::ZERO) {
                if self.wait(most, patience, &mut until) {
                    continue;
                }
                return false;
            }
            let rest = &self.words[self.written..];
            let chunk = if self.takes_all { rest } else { &rest[..rest.len().min(CHUNK)] };
            match rustix::io::write(&self.stream, chunk) {
                Ok(count) => self.written += count,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) if self.wait(most, patience, &mut until) => {}
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

    /// Waits until the stream takes more, if more than `most` is left and there is time.
    fn wait(&self, most: usize, patience: Duration, until: &mut Option<Instant>) -> bool {
        if self.left() <= most || patience.is_zero() {
            return false;
        }
        let now = Instant::now();
        let until = *until.get_or_insert(now + patience);
        let left = until.saturating_duration_since(now);
        !left.is_zero() && is_ready(&self.stream, left)
    }

    fn clear(&mut self) {
        self.words.clear();
        self.written = 0;
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // The last words of a program that is done may take their time.
        const LONG: Duration = Duration::from_secs(60);
        while !self.drain(0, LONG) {}
    }
}

/// Whether the stream takes something within this time.
fn is_ready(stream: &OwnedFd, within: Duration) -> bool {
    let mut stream = [PollFd::new(stream, PollFlags::OUT)];
    let within = Timespec::try_from(within).unwrap_or_default();
    poll(&mut stream, Some(&within)).is_ok_and(|ready| ready > 0)
}

/// The same pipe, opened anew: it then does not block for us, and stays as it is for the
/// others that write to it.
fn unblocked(pipe: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    let path = format!("/proc/self/fd/{}", pipe.as_raw_fd());
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_reader_that_does_not_read_blocks_nobody_and_loses_nothing() {
        let (mut reader, writer) = io::pipe().expect("a pipe");
        let mut buffer = OutputBuffer::new(&writer).expect("a buffer");
        drop(writer);
        let words = vec![b'x'; 1_000_000];
        buffer.write_all(&words).expect("it takes everything");
        assert!(buffer.is_full());
        assert!(!buffer.drain(Duration::ZERO));
        let rest = std::thread::spawn(move || {
            let mut read = Vec::new();
            reader.read_to_end(&mut read).map(|_| read.len())
        });
        drop(buffer);
        assert_eq!(rest.join().expect("no panic").expect("it reads"), words.len());
    }

    #[test]
    fn a_reader_that_reads_gets_all_of_it_at_once() {
        let (mut reader, writer) = io::pipe().expect("a pipe");
        let mut buffer = OutputBuffer::new(&writer).expect("a buffer");
        drop(writer);
        let words = vec![b'x'; 1_000_000];
        buffer.write_all(&words).expect("it takes everything");
        let mut rest = vec![0; words.len()];
        let reading = std::thread::spawn(move || reader.read_exact(&mut rest).map(|()| rest));
        assert!(buffer.drain(Duration::from_secs(60)), "it waits for the reader, not for a clock");
        assert_eq!(reading.join().expect("no panic").expect("it reads"), words);
    }

    #[test]
    fn a_pipe_is_made_ours_and_blocks_for_others_as_before() {
        let (_reader, writer) = io::pipe().expect("a pipe");
        let buffer = OutputBuffer::new(&writer).expect("a buffer");
        assert!(buffer.0.borrow().takes_all);
        let flags = rustix::fs::fcntl_getfl(&writer).expect("flags");
        assert!(!flags.contains(OFlags::NONBLOCK));
    }

    #[test]
    fn a_reader_that_has_gone_away_is_no_error() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let mut buffer = OutputBuffer::new(&writer).expect("a buffer");
        drop(reader);
        buffer.write_all(b"nobody reads this").expect("it is dropped");
        assert!(buffer.drain(Duration::ZERO));
        assert!(buffer.lost().is_none());
    }

    #[test]
    fn what_there_is_no_room_for_is_lost_and_known_to_be() {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
        let mut buffer = OutputBuffer::new(&full).expect("a buffer");
        buffer.write_all(b"no room for this").expect("it stops nobody");
        let lost = buffer.lost().expect("it is known");
        assert_eq!(lost.kind(), io::ErrorKind::StorageFull);
    }
}
