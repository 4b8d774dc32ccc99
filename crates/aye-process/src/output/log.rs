//! The whole output of a child, in files.
//!
//! `<base>.out` and `<base>.err` hold the plain bytes of the two streams, so
//! that any tool can read them and the kernel can move the bytes there
//! without our help. `<base>.order` says how they were interleaved: a line
//! `o 120` or `e 7` for every stretch of bytes of one stream that was
//! followed by bytes of the other. The line is written *before* the first byte
//! of the other stream, so at any moment, and after any crash, only one
//! stream can have bytes that no line speaks of, and they come last. A file
//! is created with its first byte: a silent step leaves none.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::digest::Digester;
use super::reserve::Reserve;
use super::stream::Stream;

pub use super::digest::{Algorithm, FileDigest, LogDigest};

/// The path of one stream's file.
#[must_use]
pub fn path(base: &Path, stream: Stream) -> PathBuf {
    suffixed(
        base,
        match stream {
            Stream::Stdout => "out",
            Stream::Stderr => "err",
        },
    )
}

/// The path of the file that holds the order of the streams.
#[must_use]
pub fn order_path(base: &Path) -> PathBuf {
    suffixed(base, "order")
}

fn suffixed(base: &Path, suffix: &str) -> PathBuf {
    let mut name = base.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

/// Whether there is a log, compressed or not.
#[must_use]
pub fn exists(base: &Path) -> bool {
    [Stream::Stdout, Stream::Stderr].into_iter().any(|stream| {
        let file = path(base, stream);
        file.exists() || super::compress::FORMS.iter().any(|form| form.path(&file).exists())
    })
}

/// What to give [`compress`]: a file of one block takes the same room compressed.
pub const WORTHWHILE: u64 = 4096 + 1;

/// Compresses the files of a finished child, those of at least `least` bytes each. They get
/// `.lz4` appended; [`LogReader`](crate::LogReader) reads both forms. Do it when nobody waits;
/// once `stop` is set, it ends.
///
/// # Errors
/// When the disk is full, the files are not ours, or it was told to stop; the plain file stays
/// then.
pub fn compress(base: &Path, least: u64, stop: &AtomicBool) -> io::Result<()> {
    for file in [path(base, Stream::Stdout), path(base, Stream::Stderr), order_path(base)] {
        super::compress::compress(&file, least, stop)?;
    }
    Ok(())
}

/// The writing side, one for both streams of a child.
#[derive(Debug)]
pub(crate) struct Writer {
    base: PathBuf,
    files: [Option<File>; 2],
    lengths: [u64; 2],
    reserves: [Reserve; 2],
    order: Option<File>,
    current: Option<Stream>,
    stretch: u64,
    seal: Option<Seal>,
}

/// The digests of the files, as far as they have come.
#[derive(Debug, Default)]
struct Seal {
    digesters: [Option<Digester>; 2],
    /// Those of streams that have ended.
    done: [Option<FileDigest>; 2],
    order: Option<Digester>,
    /// One could not be made.
    failed: bool,
}

impl Seal {
    /// The file of a stream has so many bytes now; `passed` are the last of them, if they passed
    /// through us.
    fn grew(&mut self, at: usize, file: &File, length: u64, passed: Option<&[u8]>) {
        let digester = self.digesters[at].get_or_insert_default();
        let result = match passed {
            // What the kernel moved comes before them.
            Some(bytes) => {
                digester.catch_up(file, length - bytes.len() as u64).map(|()| digester.push(bytes))
            }
            None => digester.grew(file, length),
        };
        self.failed |= result.is_err();
    }

    /// The file of a stream is complete.
    fn end(&mut self, at: usize, file: &File, length: u64) {
        let mut digester = self.digesters[at].take().unwrap_or_default();
        match digester.catch_up(file, length) {
            Ok(()) => self.done[at] = Some(digester.finish()),
            Err(_) => self.failed = true,
        }
    }
}

impl Writer {
    /// A log at `base`; `digest` says whether its digest is wanted.
    pub(crate) fn new(base: PathBuf, digest: bool) -> Self {
        Self {
            base,
            files: [None, None],
            lengths: [0, 0],
            reserves: [Reserve::new(), Reserve::new()],
            order: None,
            current: None,
            stretch: 0,
            seal: digest.then(Seal::default),
        }
    }

    pub(crate) fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        self.turn_to(stream)?;
        let file = self.file(stream)?;
        let result = file.write_all(bytes);
        if result.is_ok() {
            self.count(stream, bytes.len() as u64, Some(bytes));
        }
        result
    }

    /// Moves what is in the pipe to the file inside the kernel; 0 is the end.
    #[cfg(target_os = "linux")]
    pub(crate) fn splice(
        &mut self,
        stream: Stream,
        pipe: BorrowedFd<'_>,
        most: usize,
    ) -> io::Result<usize> {
        use rustix::pipe::{SpliceFlags, splice};
        self.turn_to(stream)?;
        let file = self.file(stream)?;
        let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
        let moved = splice(pipe, None, &*file, None, most, flags)?;
        self.count(stream, moved as u64, None);
        Ok(moved)
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn splice(&mut self, _: Stream, _: BorrowedFd<'_>, _: usize) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// So many bytes were added; `passed` are these, if they passed through us.
    fn count(&mut self, stream: Stream, bytes: u64, passed: Option<&[u8]>) {
        let at = stream.index();
        self.lengths[at] += bytes;
        self.stretch += bytes;
        if let Some(file) = &self.files[at] {
            self.reserves[at].keep_ahead(file, self.lengths[at]);
            if let Some(seal) = &mut self.seal {
                seal.grew(at, file, self.lengths[at], passed);
            }
        }
    }

    /// Closes the stretch of the other stream before this one's bytes begin.
    fn turn_to(&mut self, stream: Stream) -> io::Result<()> {
        if self.current == Some(stream) {
            return Ok(());
        }
        if let Some(previous) = self.current
            && self.stretch > 0
        {
            let letter = match previous {
                Stream::Stdout => 'o',
                Stream::Stderr => 'e',
            };
            let line = format!("{letter} {}\n", self.stretch);
            let order = match &mut self.order {
                Some(file) => file,
                none => none.insert(create(&order_path(&self.base))?),
            };
            order.write_all(line.as_bytes())?;
            if let Some(seal) = &mut self.seal {
                seal.order.get_or_insert_default().push(line.as_bytes());
            }
        }
        self.current = Some(stream);
        self.stretch = 0;
        Ok(())
    }

    fn file(&mut self, stream: Stream) -> io::Result<&mut File> {
        match &mut self.files[stream.index()] {
            Some(file) => Ok(file),
            none => Ok(none.insert(create(&path(&self.base, stream))?)),
        }
    }

    /// The stream gets no more bytes here.
    pub(crate) fn give_back(&mut self, stream: Stream) {
        let at = stream.index();
        if let Some(file) = &self.files[at] {
            self.reserves[at].give_back(file, self.lengths[at]);
        }
    }

    /// The stream's length and, if it has any bytes, its file.
    pub(crate) fn take(&mut self, stream: Stream) -> (u64, Option<File>) {
        self.give_back(stream);
        let at = stream.index();
        let (length, file) = (self.lengths[at], self.files[at].take());
        if let (Some(seal), Some(file)) = (&mut self.seal, &file) {
            seal.end(at, file, length);
        }
        (length, file)
    }

    /// The digest of the whole log, once both streams were taken; `None` if it
    /// was not wanted, or could not be made.
    pub(crate) fn digest(&mut self) -> Option<LogDigest> {
        let seal = self.seal.take().filter(|seal| !seal.failed)?;
        let [stdout, stderr] = seal.done;
        Some(LogDigest { stdout, stderr, order: seal.order.map(Digester::finish) })
    }

    /// No room is left, and others need some: the journal, for one. The second half of what the
    /// stream wrote goes.
    pub(crate) fn make_room(&mut self, stream: Stream) {
        let at = stream.index();
        if let Some(file) = &self.files[at] {
            let _ = file.set_len(self.lengths[at] / 2);
        }
    }

    /// The newest bytes of a stream, for going on without the log.
    pub(crate) fn tail(&self, stream: Stream, limit: usize) -> (u64, Vec<u8>) {
        let length = self.lengths[stream.index()];
        let bytes = self.files[stream.index()]
            .as_ref()
            .and_then(|file| read_tail(file, length, limit).ok())
            .unwrap_or_default();
        (length, bytes)
    }
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(true).mode(0o600);
    options.open(path).or_else(|error| match path.parent() {
        Some(parent) if error.kind() == io::ErrorKind::NotFound => {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
            options.open(path)
        }
        _ => Err(error),
    })
}

/// The last `limit` of `length` bytes of a file.
pub(crate) fn read_tail(file: &File, length: u64, limit: usize) -> io::Result<Vec<u8>> {
    let size = usize::try_from(length).unwrap_or(usize::MAX).min(limit);
    let mut bytes = vec![0; size];
    file.read_exact_at(&mut bytes, length - size as u64)?;
    Ok(bytes)
}
