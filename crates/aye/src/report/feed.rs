//! From chunks of bytes to lines of text that are safe to show.

use aye_process::text::Decoder;

/// Splits one stream into lines.
#[derive(Debug, Default)]
pub(super) struct Feed {
    decoder: Decoder,
    pending: String,
}

impl Feed {
    /// Takes a chunk and hands out every line that is complete.
    pub(super) fn push(&mut self, bytes: &[u8], mut line: impl FnMut(&str)) {
        self.decoder.push(bytes, &mut self.pending);
        while let Some(end) = self.pending.find('\n') {
            line(&visible(&self.pending[..end]));
            self.pending.drain(..=end);
        }
    }

    /// Hands out what is left without a line end.
    pub(super) fn finish(&mut self, mut line: impl FnMut(&str)) {
        self.decoder.finish(&mut self.pending);
        if !self.pending.is_empty() {
            line(&visible(&self.pending));
            self.pending.clear();
        }
    }
}

/// The last state of a line that was rewritten with carriage returns.
fn visible(line: &str) -> String {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let last = line.rsplit('\r').find(|part| !part.is_empty()).unwrap_or("");
    crate::paint::inert(last)
}
