//! What a step has written, as far as a view keeps it: enough for its last
//! lines while it runs and for the whole of a usual failure.

use std::collections::VecDeque;

use aye_process::lines::Lines;

use super::sanitizer::Sanitizer;

/// As much of one step is kept; the log has the rest.
const MOST: usize = 256 * 1024;
/// Where the last lines are looked for.
const NEAR: usize = 16 * 1024;

/// The end of what a step wrote to both of its streams, in order.
#[derive(Debug, Default)]
pub(super) struct KeptOutput {
    chunks: VecDeque<(usize, Vec<u8>)>,
    bytes: usize,
    /// Something at the beginning was dropped.
    cut: bool,
    line_ends: u64,
}

/// A line, made safe to show, and its stream: 0 is standard output, 1 standard error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeptLine {
    pub(super) stream: usize,
    pub(super) text: String,
}

impl KeptOutput {
    /// Takes in what a stream got. This is on the path of everything a step
    /// writes: it copies and counts, and looks at nothing else.
    pub(super) fn push(&mut self, stream: usize, bytes: &[u8]) {
        let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
        self.line_ends += ends as u64;
        let kept = &bytes[bytes.len().saturating_sub(MOST)..];
        self.cut |= kept.len() < bytes.len();
        self.bytes += kept.len();
        match self.chunks.back_mut() {
            Some((last, chunk)) if *last == stream && chunk.len() < NEAR => {
                chunk.extend_from_slice(kept);
            }
            _ => self.chunks.push_back((stream, kept.to_vec())),
        }
        while let Some((_, first)) = self.chunks.front()
            && self.bytes - first.len() >= MOST
        {
            self.bytes -= first.len();
            self.cut = true;
            self.chunks.pop_front();
        }
    }

    /// Drops everything: another step begins.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether nothing was written.
    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// How many lines were written in all, a last one without its end included.
    pub(super) fn count(&self) -> u64 {
        let half = self.chunks.back().is_some_and(|(_, chunk)| chunk.last() != Some(&b'\n'));
        self.line_ends + u64::from(half)
    }

    /// Whether [`all`](Self::all) lacks the beginning.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// The lines that are kept.
    pub(super) fn all(&self, color: bool) -> Vec<KeptLine> {
        lines(self.chunks.iter(), color)
    }

    /// The last lines with something in them.
    pub(super) fn last(&self, most: usize, color: bool) -> Vec<KeptLine> {
        let mut near = 0;
        let far = self.chunks.iter().rev().take_while(|(_, chunk)| {
            let is_near = near < NEAR;
            near += chunk.len();
            is_near
        });
        let begin = self.chunks.len() - far.count();
        let mut last = lines(self.chunks.range(begin..), color);
        last.retain(|line| !line.text.trim().is_empty());
        last.drain(..last.len().saturating_sub(most));
        last
    }

    /// All that was written, if that is one line.
    pub(super) fn only_line(&self) -> Option<KeptLine> {
        if self.count() != 1 || self.cut {
            return None;
        }
        let mut all = self.all(false);
        all.pop().filter(|line| !line.text.trim().is_empty())
    }
}

fn lines<'a>(chunks: impl Iterator<Item = &'a (usize, Vec<u8>)>, color: bool) -> Vec<KeptLine> {
    let mut splitters = [Lines::new(), Lines::new()];
    let mut sanitizers = [Sanitizer::default(), Sanitizer::default()];
    let mut all = Vec::new();
    for (stream, chunk) in chunks {
        let (splitter, sanitizer) = (&mut splitters[*stream], &mut sanitizers[*stream]);
        splitter.push(chunk, &mut |line| {
            all.push(KeptLine { stream: *stream, text: sanitizer.line(line, color) });
        });
    }
    for (stream, splitter) in splitters.iter_mut().enumerate() {
        let sanitizer = &mut sanitizers[stream];
        splitter.finish(&mut |line| {
            all.push(KeptLine { stream, text: sanitizer.line(line, color) });
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[KeptLine]) -> Vec<(usize, &str)> {
        lines.iter().map(|line| (line.stream, line.text.as_str())).collect()
    }

    #[test]
    fn both_streams_keep_their_order() {
        let mut output = KeptOutput::default();
        output.push(0, b"one\ntwo");
        output.push(1, b"warning\n");
        output.push(0, b" more\n");
        output.push(0, b"10%\r50%");
        let all = [(0, "one"), (1, "warning"), (0, "two more"), (0, "50%")];
        assert_eq!(texts(&output.all(false)), all);
        assert_eq!(texts(&output.last(2, false)), all[2..]);
        assert_eq!(output.count(), 4);
        assert!(output.only_line().is_none());
    }

    #[test]
    fn one_line_is_all_there_is() {
        let mut output = KeptOutput::default();
        assert!(output.only_line().is_none());
        output.push(0, b"4f2a91c0\n");
        let line = output.only_line().map(|line| (line.stream, line.text));
        assert_eq!(line, Some((0, "4f2a91c0".to_owned())));
        output.push(1, b"!");
        assert!(output.only_line().is_none());
    }

    #[test]
    fn memory_has_an_end_and_the_last_lines_stay() {
        let mut output = KeptOutput::default();
        for number in 0..100_000 {
            output.push(0, format!("line {number}\n").as_bytes());
        }
        assert!(output.bytes < 2 * MOST);
        assert!(output.is_cut());
        assert_eq!(output.count(), 100_000);
        let last = output.last(2, false);
        assert_eq!(texts(&last), [(0, "line 99998"), (0, "line 99999")]);
        assert_eq!(output.all(false).pop(), last.into_iter().next_back());
        let mut output = KeptOutput::default();
        output.push(0, &vec![b'x'; 10 * MOST]);
        assert_eq!(output.bytes, MOST);
    }
}
