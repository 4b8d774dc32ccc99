//! One output stream of a child: from its pipe to log or ring, and to the view.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

use super::captured::{Output, Plain};
use super::log::Writer;
use super::mask::Masker;
use super::ring::Ring;
use super::stream::Stream;

/// What a pipe holds, unless it is made wider.
const PIPE: usize = 64 * 1024;

/// Bytes read at once. More would not stay in the cache until they are hashed and written.
pub(crate) const CHUNK: usize = 128 * 1024;

/// The first read of a stream: most programs say little, and memory that is
/// not touched costs nothing.
const FIRST: usize = 4 * 1024;

/// What a pipe may hold once it was full.
const WIDE_PIPE: usize = 1024 * 1024;

/// How many bytes are kept as they came, where a mask hides some of them.
const PLAIN: usize = 10 * 1024 * 1024;

/// Gets the bytes of a stream as they arrive.
pub(crate) type View<'a> = dyn FnMut(Stream, &[u8]) + 'a;

#[derive(Debug)]
pub(crate) struct Capture {
    stream: Stream,
    pipe: Option<OwnedFd>,
    /// A copy of the child's end, kept while its first process lives: so the
    /// end of that process wakes us once, and not for each of its pipes before.
    kept_open: Option<OwnedFd>,
    /// `None`: the bytes are in the log.
    ring: Option<Ring>,
    limit: usize,
    mask: Option<Masker>,
    /// The newest bytes as they came, where a mask hides some of them.
    plain: Option<Ring>,
    splices: bool,
    wide: bool,
    started: bool,
}

impl Capture {
    pub(crate) fn new(
        stream: Stream,
        pipe: OwnedFd,
        kept_open: Option<OwnedFd>,
        logged: bool,
        limit: usize,
        masks: &[Vec<u8>],
    ) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        let mask = Masker::new(masks);
        Ok(Self {
            stream,
            pipe: Some(pipe),
            kept_open,
            ring: (!logged).then(|| Ring::new(limit)),
            limit,
            splices: logged && mask.is_none() && cfg!(target_os = "linux"),
            plain: mask.as_ref().map(|mask| Ring::new(PLAIN + mask.longest())),
            mask,
            wide: false,
            started: false,
        })
    }

    /// The pipe, as long as it is open.
    pub(crate) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// From now on the pipe ends with the last of the child's processes.
    pub(crate) fn let_end(&mut self) {
        self.kept_open = None;
    }

    /// Takes one portion out of the pipe.
    pub(crate) fn pump(
        &mut self,
        log: &mut Log,
        live: bool,
        buffer: &mut Vec<u8>,
        view: &mut View<'_>,
    ) {
        // The first bytes are read even when they could be moved: at the end
        // of a silent stream there must be no empty log file.
        if self.splices && self.started && !live && self.ring.is_none() && self.splice(log) {
            return;
        }
        let Some(pipe) = &self.pipe else { return };
        let size = if self.started { CHUNK } else { FIRST };
        buffer.resize(buffer.len().max(size), 0);
        match rustix::io::read(pipe, &mut buffer[..]) {
            Ok(0) | Err(Errno::IO) => self.close(log, live, view),
            Ok(read) => {
                self.started = true;
                if read >= PIPE {
                    self.widen();
                }
                if let Some(plain) = &mut self.plain {
                    plain.push(&buffer[..read]);
                }
                match &mut self.mask {
                    Some(mask) => {
                        let shown = mask.push(&buffer[..read]);
                        self.accept(&shown, log, live, view);
                    }
                    None => self.accept(&buffer[..read], log, live, view),
                }
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => self.close(log, live, view),
        }
    }

    /// Takes what is in the pipe at the moment when its time is up: it was
    /// written before. Bounded, since someone may continue writing.
    pub(crate) fn drain(&mut self, log: &mut Log, live: bool, view: &mut View<'_>) {
        let mut buffer = Vec::new();
        for _ in 0..2 * WIDE_PIPE / CHUNK {
            let waiting = self
                .pipe
                .as_ref()
                .is_some_and(|pipe| rustix::io::ioctl_fionread(pipe).is_ok_and(|bytes| bytes > 0));
            if !waiting {
                break;
            }
            self.pump(log, live, &mut buffer, view);
        }
        self.close(log, live, view);
    }

    /// A full pipe is worth a larger one. Refusal costs only speed.
    fn widen(&mut self) {
        if std::mem::replace(&mut self.wide, true) {
            return;
        }
        #[cfg(target_os = "linux")]
        if let Some(pipe) = &self.pipe {
            let _ = rustix::pipe::fcntl_setpipe_size(pipe, WIDE_PIPE);
        }
    }

    /// Whether the bytes could be moved to the log without us.
    fn splice(&mut self, log: &mut Log) -> bool {
        let (Some(pipe), Some(writer)) = (&self.pipe, &mut log.writer) else {
            return false;
        };
        match writer.splice(self.stream, pipe.as_fd(), WIDE_PIPE) {
            Ok(0) => self.pipe = None,
            Ok(moved) => {
                if moved >= PIPE {
                    self.widen();
                }
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => {}
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => {
                    self.splices = false;
                    return false;
                }
                _ => {
                    self.leave_log(log, error);
                    return false;
                }
            },
        }
        true
    }

    fn accept(&mut self, bytes: &[u8], log: &mut Log, live: bool, view: &mut View<'_>) {
        if bytes.is_empty() {
            return;
        }
        if self.ring.is_none()
            && let Some(writer) = &mut log.writer
            && let Err(error) = writer.write(self.stream, bytes)
        {
            self.leave_log(log, error);
        }
        if let Some(ring) = &mut self.ring {
            ring.push(bytes);
        }
        if live {
            view(self.stream, bytes);
        }
    }

    /// A full disk must not lose the tail nor stop the child: continue in memory.
    fn leave_log(&mut self, log: &mut Log, error: io::Error) {
        let (total, tail) = log
            .writer
            .as_mut()
            .map(|writer| {
                writer.give_back(self.stream);
                writer.tail(self.stream, self.limit)
            })
            .unwrap_or_default();
        self.ring = Some(Ring::resume(self.limit, &tail, total));
        if let (io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded, Some(writer)) =
            (error.kind(), &mut log.writer)
        {
            writer.make_room(self.stream);
        }
        log.error.get_or_insert(error);
    }

    /// No more bytes, even if a process still holds the other end.
    fn close(&mut self, log: &mut Log, live: bool, view: &mut View<'_>) {
        self.pipe = None;
        if let Some(mask) = &mut self.mask {
            let rest = mask.finish();
            self.accept(&rest, log, live, view);
        }
    }

    pub(crate) fn finish(self, log: &mut Log) -> Output {
        let output = match self.ring {
            Some(ring) => Output::memory(ring.total(), ring.into_bytes()),
            None => {
                let (total, file) =
                    log.writer.as_mut().map(|writer| writer.take(self.stream)).unwrap_or_default();
                Output::file(total, self.limit, file)
            }
        };
        let plain = self.plain.zip(self.mask).map(|(ring, secrets)| Plain {
            total: ring.total(),
            bytes: ring.into_bytes(),
            secrets,
        });
        output.with_plain(plain)
    }
}

/// The log of a child and what went wrong with it.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) writer: Option<Writer>,
    pub(crate) error: Option<io::Error>,
}
