//! Compresses log files that are finished; `lz4cat` reads them. Earlier versions wrote `.gz`.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::read::GzDecoder;
use lz4_flex::frame::{BlockMode, BlockSize, FrameDecoder, FrameEncoder, FrameInfo};
#[cfg(target_os = "linux")]
use rustix::fs::Mode;
use rustix::fs::{AtFlags, CWD, OFlags};
use rustix::io::Errno;

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// What is written.
    Lz4,
    /// What was written before.
    Gzip,
}

/// Every form, in the order in which they are looked for.
pub(super) const FORMS: [Form; 2] = [Form::Lz4, Form::Gzip];

impl Form {
    /// Where a file is once it is compressed.
    pub(super) fn path(self, path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(match self {
            Self::Lz4 => ".lz4",
            Self::Gzip => ".gz",
        });
        PathBuf::from(name)
    }

    fn reader(self, file: File) -> Box<dyn BufRead + Send> {
        match self {
            Self::Lz4 => Box::new(BufReader::new(FrameDecoder::new(file))),
            Self::Gzip => Box::new(BufReader::new(GzDecoder::new(file))),
        }
    }
}

/// Opens a regular file to read. Anything else that someone put in its place is refused: a
/// pipe would be waited for, and a device may never end.
fn open(path: &Path) -> io::Result<File> {
    let refused = || io::Error::new(io::ErrorKind::InvalidData, "it is not a plain file");
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let file = match fs::OpenOptions::new().read(true).custom_flags(flags).open(path) {
        // A link, or a socket.
        Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::LOOP | Errno::NXIO)) => {
            return Err(refused());
        }
        other => other?,
    };
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused()) }
}

/// Replaces a file of at least `least` bytes by a compressed one, unless it is told to stop
/// meanwhile. At every moment one of the two is there and whole.
pub(crate) fn compress(path: &Path, least: u64, stop: &AtomicBool) -> io::Result<()> {
    let plain = match open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    if plain.metadata()?.len() < least {
        return Ok(());
    }
    let mut made = Unfinished::create(Form::Lz4.path(path))?;
    let mut plain = Stoppable { file: plain, stop };
    let frame = FrameInfo::new()
        .block_size(BlockSize::Max256KB)
        .block_mode(BlockMode::Linked)
        .content_checksum(true);
    let mut encoder = FrameEncoder::with_frame_info(frame, BufWriter::new(&mut made.file));
    io::copy(&mut plain, &mut encoder)?;
    encoder.finish()?.flush()?;
    made.keep()?;
    fs::remove_file(path)
}

/// A file that is there only once it is whole: without a name until then, so
/// that nothing is left of it whatever happens to us. Not every file system
/// can; there it has another name.
struct Unfinished {
    file: File,
    target: PathBuf,
    name: Option<PathBuf>,
}

impl Unfinished {
    fn create(target: PathBuf) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(directory) = target.parent() {
            let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
            if let Ok(file) = rustix::fs::open(directory, flags, Mode::from_raw_mode(0o600)) {
                return Ok(Self { file: file.into(), target, name: None });
            }
        }
        let name = target.with_extension("lz4.part");
        let mut options = fs::OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(&name)?;
        Ok(Self { file, target, name: Some(name) })
    }

    fn keep(mut self) -> io::Result<()> {
        if let Some(name) = self.name.take() {
            return fs::rename(name, &self.target);
        }
        // From an earlier try that was cut off between its last two acts.
        let _ = fs::remove_file(&self.target);
        let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        rustix::fs::linkat(CWD, own, CWD, &self.target, AtFlags::SYMLINK_FOLLOW)?;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = fs::remove_file(name);
        }
    }
}

/// A file that nobody wants to read on at times.
struct Stoppable<'a> {
    file: File,
    stop: &'a AtomicBool,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(io::Error::other("told to stop")),
            false => self.file.read(buffer),
        }
    }
}

/// A log file that may not exist yet, may grow, or may be compressed.
#[derive(Default)]
pub(crate) enum Source {
    #[default]
    Missing,
    Plain {
        file: File,
        position: u64,
    },
    Compressed(Box<dyn BufRead + Send>),
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Missing => "Missing",
            Self::Plain { .. } => "Plain",
            Self::Compressed(_) => "Compressed",
        })
    }
}

impl Source {
    /// Whether the file is there.
    pub(crate) fn open(&mut self, path: &Path) -> io::Result<bool> {
        if !matches!(self, Self::Missing) {
            return Ok(true);
        }
        let found = |result: io::Result<File>| match result {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other.map(Some),
        };
        if let Some(file) = found(open(path))? {
            *self = Self::Plain { file, position: 0 };
            return Ok(true);
        }
        for form in FORMS {
            if let Some(file) = found(open(&form.path(path)))? {
                *self = Self::Compressed(form.reader(file));
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How many bytes are there to be read at least.
    pub(crate) fn available(&mut self, path: &Path) -> io::Result<u64> {
        self.open(path)?;
        match self {
            Self::Missing => Ok(0),
            Self::Plain { file, position } => Ok(file.metadata()?.len().saturating_sub(*position)),
            Self::Compressed(reader) => Ok(reader.fill_buf()?.len() as u64),
        }
    }

    /// Reads on; 0 is the end for now.
    pub(crate) fn read(&mut self, path: &Path, buffer: &mut [u8]) -> io::Result<usize> {
        self.open(path)?;
        match self {
            Self::Missing => Ok(0),
            Self::Plain { file, position } => {
                let read = file.read_at(buffer, *position)?;
                *position += read as u64;
                Ok(read)
            }
            Self::Compressed(reader) => reader.read(buffer),
        }
    }

    /// Passes over at most so many bytes; how many, 0 at the end for now.
    pub(crate) fn skip(&mut self, path: &Path, most: u64) -> io::Result<u64> {
        let step = self.available(path)?.min(most);
        match self {
            Self::Missing => {}
            Self::Plain { position, .. } => *position += step,
            Self::Compressed(reader) => {
                reader.consume(usize::try_from(step).unwrap_or(usize::MAX));
            }
        }
        Ok(step)
    }
}
