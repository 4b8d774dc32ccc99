//! What is kept of a stream once its child has ended.

use std::fs::File;

use super::mask::Masker;
use super::{log, text};

/// A captured stream. With a log the bytes stay in the file until asked for.
#[derive(Debug)]
pub struct Output {
    total: u64,
    limit: usize,
    source: Source,
    plain: Option<Plain>,
}

/// Bytes that may hold a secret: never printed.
pub(crate) struct Plain {
    /// The newest of them.
    pub(crate) bytes: Vec<u8>,
    /// How many there were.
    pub(crate) total: u64,
    /// What they may hold.
    pub(crate) secrets: Masker,
}

impl Plain {
    /// At most so many of the newest bytes, beginning outside of a secret: nobody would know
    /// the rest of one.
    fn last(&self, most: usize) -> &[u8] {
        let from = self.bytes.len().saturating_sub(most);
        &self.bytes[self.secrets.outside(&self.bytes, from)..]
    }
}

impl std::fmt::Debug for Plain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.bytes.len())
    }
}

#[derive(Debug)]
enum Source {
    Memory(Vec<u8>),
    File(File),
}

impl Output {
    pub(crate) fn memory(total: u64, bytes: Vec<u8>) -> Self {
        Self { total, limit: bytes.len(), source: Source::Memory(bytes), plain: None }
    }

    pub(crate) fn file(total: u64, limit: usize, file: Option<File>) -> Self {
        let source = file.map_or_else(|| Source::Memory(Vec::new()), Source::File);
        Self { total, limit, source, plain: None }
    }

    pub(crate) fn with_plain(self, plain: Option<Plain>) -> Self {
        Self { plain, ..self }
    }

    /// Like [`text_of_last`](Self::text_of_last), of the bytes as they came, at most 10 MiB,
    /// where [`Spec::masks`](crate::Spec::masks) hide some of them everywhere else. No secret is
    /// cut: a text that begins inside of one has no form that a mask would know.
    #[must_use]
    pub fn plain_text_of_last(&self, most: usize) -> String {
        match &self.plain {
            None => self.text_of_last(most),
            Some(plain) => marked(plain.last(most).to_vec(), plain.total),
        }
    }

    /// All bytes the child wrote, as they came.
    #[must_use]
    pub fn plain_total(&self) -> u64 {
        self.plain.as_ref().map_or(self.total, |plain| plain.total)
    }

    /// All bytes the child wrote.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether it wrote nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// How many of the oldest bytes [`bytes`](Self::bytes) leaves out.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.total.saturating_sub(self.limit as u64)
    }

    /// The newest bytes, as many as the step's limit allows.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.last(self.limit)
    }

    /// Like [`bytes`](Self::bytes), without a copy if they are in memory.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        match self.source {
            Source::Memory(bytes) => bytes,
            Source::File(_) => self.bytes(),
        }
    }

    /// The newest bytes, at most `most` and at most the step's limit.
    #[must_use]
    pub fn last(&self, most: usize) -> Vec<u8> {
        let most = most.min(self.limit);
        match &self.source {
            Source::Memory(bytes) => bytes[bytes.len().saturating_sub(most)..].to_vec(),
            Source::File(file) => log::read_tail(file, self.total, most).unwrap_or_default(),
        }
    }

    /// The newest bytes as text, with a line in front that says how many
    /// were dropped. Cut between characters; bytes that are not text become `U+FFFD`.
    #[must_use]
    pub fn text(&self) -> String {
        self.text_of_last(self.limit)
    }

    /// Like [`text`](Self::text) for at most `most` bytes.
    #[must_use]
    pub fn text_of_last(&self, most: usize) -> String {
        marked(self.last(most), self.total)
    }
}

/// The end of a stream as text, with a line in front if some is missing. It
/// may be long: it is not copied.
fn marked(mut bytes: Vec<u8>, total: u64) -> String {
    let dropped = total.saturating_sub(bytes.len() as u64);
    if dropped == 0 {
        return text::lossy(bytes);
    }
    let cut = text::first_boundary(&bytes);
    let mark = format!("[{} bytes dropped]\n", dropped + cut as u64);
    bytes.reserve_exact(mark.len());
    bytes.splice(..cut, mark.into_bytes());
    text::lossy(bytes)
}
