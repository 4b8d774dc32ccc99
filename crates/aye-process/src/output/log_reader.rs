//! Reading a child's log in the order in which the bytes arrived.

use std::io;
use std::path::{Path, PathBuf};

use super::compress::Source;
use super::log::{order_path, path};
use super::stream::Stream;

/// Reads a log, also while it is still being written or after it was
/// compressed.
#[derive(Debug)]
pub struct LogReader {
    base: PathBuf,
    streams: [Source; 2],
    order: Source,
    /// What has been read of the order file and not yet used.
    lines: Vec<u8>,
    /// The stretch being read and how many of its bytes are left.
    stretch: Option<(Stream, u64)>,
    /// Bytes read of a stretch before its line was written.
    early: u64,
}

impl LogReader {
    /// A reader at the beginning. Files that do not exist yet are looked for
    /// again with every [`read`](Self::read).
    #[must_use]
    pub fn new(base: impl Into<PathBuf>) -> Self {
        Self {
            base: base.into(),
            streams: [Source::default(), Source::default()],
            order: Source::default(),
            lines: Vec::new(),
            stretch: None,
            early: 0,
        }
    }

    /// Reads the next bytes, all of one stream. `None` is the end for now.
    ///
    /// # Errors
    /// When a file cannot be read, or the order file is not ours.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<(Stream, usize)>> {
        let done = self.advance(|source, path, there| {
            let most = usize::try_from(there).unwrap_or(usize::MAX).min(buffer.len());
            source.read(path, &mut buffer[..most]).map(|read| read as u64)
        })?;
        Ok(done.map(|(stream, read)| (stream, usize::try_from(read).unwrap_or(usize::MAX))))
    }

    /// Passes over the next bytes, at most so many and all of one stream; how
    /// many. A file that is not compressed is not read for that.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn skip(&mut self, most: u64) -> io::Result<Option<(Stream, u64)>> {
        self.advance(|source, path, there| source.skip(path, there.min(most)))
    }

    /// Takes some of the next bytes, all of one stream, with `take`: it is told how many
    /// there are and says how many it took.
    fn advance(
        &mut self,
        take: impl FnOnce(&mut Source, &Path, u64) -> io::Result<u64>,
    ) -> io::Result<Option<(Stream, u64)>> {
        if !self.in_stretch()? {
            // No line speaks of the bytes that are there now, unless one came
            // between the two looks; then the line decides.
            let mut waiting = None;
            for stream in [Stream::Stdout, Stream::Stderr] {
                let available = self.available(stream)?;
                if available > 0 {
                    waiting = Some((stream, available));
                }
            }
            if !self.in_stretch()? {
                let Some((stream, available)) = waiting else {
                    return Ok(None);
                };
                let taken = self.take(stream, available, take)?;
                self.early += taken;
                return Ok(Some((stream, taken)));
            }
        }
        let Some((stream, left)) = self.stretch else {
            return Ok(None);
        };
        let taken = self.take(stream, left, take)?;
        self.stretch = Some((stream, left - taken));
        Ok((taken > 0).then_some((stream, taken)))
    }

    /// Whether there is a stretch with bytes left, taking up the next line if
    /// need be.
    fn in_stretch(&mut self) -> io::Result<bool> {
        loop {
            if self.stretch.is_some_and(|(_, left)| left > 0) {
                return Ok(true);
            }
            let Some((stream, length)) = self.next_line()? else {
                return Ok(false);
            };
            self.stretch = Some((stream, length.saturating_sub(self.early)));
            self.early = 0;
        }
    }

    fn next_line(&mut self) -> io::Result<Option<(Stream, u64)>> {
        if !self.lines.contains(&b'\n') {
            let mut more = [0; 4096];
            let read = self.order.read(&order_path(&self.base), &mut more)?;
            self.lines.extend_from_slice(&more[..read]);
        }
        let Some(end) = self.lines.iter().position(|&byte| byte == b'\n') else {
            return Ok(None);
        };
        let line: Vec<u8> = self.lines.drain(..=end).collect();
        let parsed = std::str::from_utf8(&line).ok().and_then(|text| {
            let (letter, number) = text.trim_end().split_once(' ')?;
            let stream = match letter {
                "o" => Stream::Stdout,
                "e" => Stream::Stderr,
                _ => return None,
            };
            Some((stream, number.parse().ok()?))
        });
        let invalid = || io::Error::new(io::ErrorKind::InvalidData, "not an order file");
        parsed.map(Some).ok_or_else(invalid)
    }

    fn available(&mut self, stream: Stream) -> io::Result<u64> {
        self.streams[stream.index()].available(&path(&self.base, stream))
    }

    fn take(
        &mut self,
        stream: Stream,
        most: u64,
        take: impl FnOnce(&mut Source, &Path, u64) -> io::Result<u64>,
    ) -> io::Result<u64> {
        take(&mut self.streams[stream.index()], &path(&self.base, stream), most)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::output::log::{self, Writer};

    type Chunks = Vec<(Stream, Vec<u8>)>;

    fn read_all(reader: &mut LogReader, into: &mut Chunks) {
        let mut buffer = [0; 3];
        while let Some((stream, read)) = reader.read(&mut buffer).expect("readable") {
            match into.last_mut() {
                Some((last, bytes)) if *last == stream => bytes.extend_from_slice(&buffer[..read]),
                _ => into.push((stream, buffer[..read].to_vec())),
            }
        }
    }

    fn flat(chunks: &[(Stream, Vec<u8>)]) -> Vec<u8> {
        chunks.iter().flat_map(|(_, bytes)| bytes.clone()).collect()
    }

    fn second_half(written: &[(Stream, Vec<u8>)]) -> Vec<u8> {
        let all = flat(written);
        all[all.len() / 2..].to_vec()
    }

    /// The second half, the first having been passed over.
    fn skipped_to_half(base: &Path) -> Vec<u8> {
        let mut length = 0;
        let mut counter = LogReader::new(base);
        while let Some((_, more)) = counter.skip(u64::MAX).expect("readable") {
            length += more;
        }
        let (mut reader, mut left) = (LogReader::new(base), length / 2);
        while left > 0 {
            left -= reader.skip(left).expect("readable").expect("bytes").1;
        }
        let mut rest = Chunks::new();
        read_all(&mut reader, &mut rest);
        flat(&rest)
    }

    #[test]
    fn the_order_of_the_streams_is_kept_live_and_afterwards() {
        use Stream::{Stderr, Stdout};
        let directory = std::env::temp_dir().join(format!("aye-log-{}", std::process::id()));
        let base = directory.join("step");
        let mut writer = Writer::new(base.clone(), false);
        let mut follower = LogReader::new(&base);
        let mut followed = Chunks::new();
        let mut written = Chunks::new();
        for (number, stream) in
            [Stdout, Stdout, Stderr, Stdout, Stderr, Stderr, Stderr, Stdout].into_iter().enumerate()
        {
            let text = format!("chunk {number};").into_bytes();
            writer.write(stream, &text).expect("written");
            match written.last_mut() {
                Some((last, bytes)) if *last == stream => bytes.extend_from_slice(&text),
                _ => written.push((stream, text)),
            }
            if number % 3 != 1 {
                read_all(&mut follower, &mut followed);
            }
        }
        read_all(&mut follower, &mut followed);
        assert_eq!(followed, written);
        let mut afterwards = Chunks::new();
        read_all(&mut LogReader::new(&base), &mut afterwards);
        assert_eq!(afterwards, written);
        assert_eq!(skipped_to_half(&base), second_half(&written));

        // Readers that have it open do not notice, nor do later ones.
        let mut early = LogReader::new(&base);
        let mut halfway = Chunks::new();
        let mut few = [0; 3];
        let (stream, read) = early.read(&mut few).expect("readable").expect("bytes");
        halfway.push((stream, few[..read].to_vec()));
        log::compress(&base, 0, &AtomicBool::new(false)).expect("compressed");
        assert!(!path(&base, Stdout).exists());
        let mut compressed = Chunks::new();
        read_all(&mut LogReader::new(&base), &mut compressed);
        assert_eq!(compressed, written);
        read_all(&mut early, &mut halfway);
        assert_eq!(halfway, written);
        assert_eq!(skipped_to_half(&base), second_half(&written));
        std::fs::remove_dir_all(directory).expect("removed");
    }
}
