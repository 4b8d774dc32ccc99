//! From chunks of bytes to lines of text.

use aye_process::text::Decoder;

/// A line longer than this is handed out in parts: memory has an end.
const LONGEST: usize = 64 * 1024;

/// Splits one stream into lines, as they were written.
#[derive(Debug, Default)]
pub(super) struct Feed {
    decoder: Decoder,
    pending: String,
}

impl Feed {
    /// Takes a chunk and hands out every line that is complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        self.decoder.push(bytes, &mut self.pending);
        let mut lines = Vec::new();
        let mut rest = self.pending.as_str();
        while let Some((line, after)) = rest.split_once('\n') {
            lines.push(line.strip_suffix('\r').unwrap_or(line).to_owned());
            rest = after;
        }
        if rest.len() > LONGEST {
            lines.push(std::mem::take(&mut rest).to_owned());
        }
        self.pending = rest.to_owned();
        lines
    }

    /// Hands out what is left without a line end.
    pub(super) fn finish(&mut self) -> Option<String> {
        self.decoder.finish(&mut self.pending);
        (!self.pending.is_empty()).then(|| std::mem::take(&mut self.pending))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        let mut feed = Feed::default();
        assert!(feed.push("gr\u{fc}".as_bytes()).is_empty());
        assert_eq!(feed.push(b"n\r\n\nlast"), ["gr\u{fc}n", ""]);
        assert_eq!(feed.finish().as_deref(), Some("last"));
        assert_eq!(feed.finish(), None);
    }

    #[test]
    fn a_line_without_an_end_is_not_kept_for_ever() {
        let mut feed = Feed::default();
        let lines = feed.push(&vec![b'x'; LONGEST + 1]);
        assert_eq!(lines.len(), 1);
        assert_eq!(feed.finish(), None);
    }
}
