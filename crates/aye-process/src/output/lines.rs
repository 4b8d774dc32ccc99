//! From chunks of bytes to lines of text, for views.

use super::text::Decoder;

/// A line longer than this is handed out in parts: memory has an end.
const LONGEST: usize = 64 * 1024;

/// Lines of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stretch<'a> {
    /// One line, without its end.
    Line(&'a str),
    /// Lines of printable ASCII and tabs, each with its end.
    Plain(&'a str),
}

/// Splits one stream of a child into lines, as they were written: what is safe
/// to show of them is for the view to say.
#[derive(Debug, Default)]
pub struct Lines {
    decoder: Decoder,
    pending: String,
}

impl Lines {
    /// An empty splitter.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes bytes as they arrive; every finished line goes to `emit`,
    /// without its end.
    pub fn push(&mut self, bytes: &[u8], emit: &mut dyn FnMut(&str)) {
        let old = self.pending.len();
        self.decoder.push(bytes, &mut self.pending);
        let mut start = 0;
        while let Some(at) = self.pending[start.max(old)..].find('\n') {
            let end = start.max(old) + at;
            let line = &self.pending[start..end];
            emit(line.strip_suffix('\r').unwrap_or(line));
            start = end + 1;
        }
        self.pending.drain(..start);
        if self.pending.len() > LONGEST {
            self.shorten(emit);
        }
    }

    /// As [`push`](Self::push), but lines that are plain come many at once.
    pub fn push_stretches(&mut self, bytes: &[u8], emit: &mut dyn FnMut(Stretch<'_>)) {
        // The line that is pending ends first.
        let begin = match self.pending.is_empty() && self.decoder.is_empty() {
            true => 0,
            false => bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1),
        };
        let end = bytes[begin..].iter().rposition(|byte| *byte == b'\n');
        let (whole, rest) = bytes[begin..].split_at(end.map_or(0, |at| at + 1));
        match std::str::from_utf8(whole) {
            Ok(text) if !text.is_empty() && is_plain(whole) => {
                self.push(&bytes[..begin], &mut |line| emit(Stretch::Line(line)));
                emit(Stretch::Plain(text));
                self.push(rest, &mut |line| emit(Stretch::Line(line)));
            }
            _ => self.push(bytes, &mut |line| emit(Stretch::Line(line))),
        }
    }

    /// The last line, if the stream did not end with a line end.
    pub fn finish(&mut self, emit: &mut dyn FnMut(&str)) {
        self.decoder.finish(&mut self.pending);
        if !self.pending.is_empty() {
            emit(&std::mem::take(&mut self.pending));
        }
    }

    /// The line that is not finished, such as a prompt or a progress bar; may
    /// be empty.
    #[must_use]
    pub fn pending(&self) -> &str {
        &self.pending
    }

    /// Of a progress bar only its last state counts; other text is handed out.
    fn shorten(&mut self, emit: &mut dyn FnMut(&str)) {
        match self.pending.trim_end_matches('\r').rfind('\r') {
            Some(at) if self.pending.len() - at <= LONGEST => {
                self.pending.drain(..=at);
            }
            _ => emit(&std::mem::take(&mut self.pending)),
        }
    }
}

/// Whether these are printable ASCII, tabs and line ends.
#[must_use]
pub fn is_plain(bytes: &[u8]) -> bool {
    all(bytes, |byte| (b' '..=b'~').contains(&byte) | (byte == b'\t') | (byte == b'\n'))
}

/// Whether these are printable ASCII: as many columns as bytes.
#[must_use]
pub fn is_printable(bytes: &[u8]) -> bool {
    all(bytes, |byte| (b' '..=b'~').contains(&byte))
}

/// Without an exit inside of a block, so that the processor looks at many bytes at once.
fn all(bytes: &[u8], fits: impl Fn(u8) -> bool) -> bool {
    bytes.chunks(256).all(|block| block.iter().fold(true, |all, byte| all & fits(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<String> {
        let mut results = Vec::new();
        for size in [1, 2, 3, bytes.len().max(1)] {
            let mut all = Vec::new();
            let mut splitter = Lines::new();
            let mut emit = |line: &str| all.push(line.to_owned());
            for chunk in bytes.chunks(size) {
                splitter.push(chunk, &mut emit);
            }
            splitter.finish(&mut emit);
            assert_eq!(splitter.pending(), "");
            results.push(all);
        }
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "chunks matter: {results:?}");
        results.remove(0)
    }

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        assert_eq!(lines(b"a\n  b \r\n\nlast"), ["a", "  b ", "", "last"]);
        assert!(lines(b"").is_empty());
        assert_eq!(lines("gr\u{fc}n\n\u{1f389}".as_bytes()), ["gr\u{fc}n", "\u{1f389}"]);
        assert_eq!(lines(b"\xff\n\xe2\x82"), ["\u{fffd}", "\u{fffd}"]);
        assert_eq!(lines(b"10%\r50%\r100%\ndone\n"), ["10%\r50%\r100%", "done"]);
    }

    #[test]
    fn plain_lines_come_many_at_once_and_nothing_is_lost_between_them() {
        let text = "one\ntwo\tx\n\nthr\u{fc}\nfour\n\u{1b}[1mfive\r\nsix\nlast".as_bytes();
        for size in 1..=text.len() {
            let (mut splitter, mut all) = (Lines::new(), String::new());
            for chunk in text.chunks(size) {
                splitter.push_stretches(chunk, &mut |stretch| match stretch {
                    Stretch::Line(line) => all.extend([line, "\n"]),
                    Stretch::Plain(lines) => {
                        assert!(lines.ends_with('\n') && is_plain(lines.as_bytes()), "{lines:?}");
                        all.push_str(lines);
                    }
                });
            }
            splitter.finish(&mut |line| all.extend([line, "\n"]));
            let expected = "one\ntwo\tx\n\nthr\u{fc}\nfour\n\u{1b}[1mfive\nsix\nlast\n";
            assert_eq!(all, expected, "in chunks of {size}");
        }
        assert!(!is_plain(b"\r") && !is_plain(b"\x1b") && !is_plain("\u{fc}".as_bytes()));
    }

    #[test]
    fn what_is_not_finished_can_be_seen() {
        let mut splitter = Lines::new();
        splitter.push(b"done\nPassword: ", &mut |line| assert_eq!(line, "done"));
        assert_eq!(splitter.pending(), "Password: ");
    }

    #[test]
    fn a_line_without_an_end_is_not_kept_for_ever() {
        let mut seen = Vec::new();
        let mut splitter = Lines::new();
        for _ in 0..4 {
            splitter.push(&vec![b'x'; LONGEST / 2 + 1], &mut |line| seen.push(line.len()));
        }
        assert_eq!(seen, [LONGEST + 2, LONGEST + 2]);
    }

    #[test]
    fn a_progress_bar_that_never_ends_keeps_its_last_state() {
        let mut splitter = Lines::new();
        for round in 0..LONGEST {
            splitter.push(format!("\r{round} of many").as_bytes(), &mut |line| panic!("{line}"));
            assert!(splitter.pending().len() <= LONGEST);
        }
        assert!(splitter.pending().ends_with("\r65535 of many"));
    }
}
