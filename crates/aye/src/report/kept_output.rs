//! What a step has written, as far as a view keeps it: enough for its last
//! lines while it runs and for the whole of a usual failure.

use std::collections::VecDeque;

use aye_core::event::StepFailed;
use aye_process::lines::Lines;

use crate::paint::plural;

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
    /// Whether what was dropped of each stream ended in the middle of a line.
    halved: [bool; 2],
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
        for bytes in bytes.chunks(NEAR) {
            self.bytes += bytes.len();
            match self.chunks.back_mut() {
                Some((last, chunk)) if *last == stream && chunk.len() < NEAR => {
                    chunk.extend_from_slice(bytes);
                }
                _ => self.chunks.push_back((stream, bytes.to_vec())),
            }
            while let Some((stream, first)) = self.chunks.front()
                && self.bytes - first.len() >= MOST
            {
                self.bytes -= first.len();
                self.cut = true;
                self.halved[*stream] = first.last() != Some(&b'\n');
                self.chunks.pop_front();
            }
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

    /// The lines that are kept; if the beginning is missing, also words that say so.
    /// `logged` is whether the log has it.
    pub(super) fn all(&self, color: bool, logged: bool) -> (Option<String>, Vec<KeptLine>) {
        let mut all = lines(self.chunks.iter(), color);
        for (stream, halved) in self.halved.into_iter().enumerate() {
            let mut own = (0..all.len()).filter(|at| all[*at].stream == stream);
            // Half a line says little, but more than nothing.
            if let (true, Some(first), Some(_)) = (halved, own.next(), own.next()) {
                all.remove(first);
            }
        }
        let rest = if logged { "`aye logs` has all" } else { "the rest was not kept" };
        let cut = self.cut.then(|| format!("the last {}; {rest}", plural(all.len(), "line")));
        (cut, all)
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
        lines(self.chunks.iter(), false).pop().filter(|line| !line.text.trim().is_empty())
    }
}

/// Whether the log has what a step wrote.
pub(super) fn is_logged(failed: &StepFailed) -> bool {
    failed.process.as_ref().is_none_or(|process| process.kept.log)
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
        assert_eq!(texts(&output.all(false, true).1), all);
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
        assert_eq!(output.count(), 100_000);
        let last = output.last(2, false);
        assert_eq!(texts(&last), [(0, "line 99998"), (0, "line 99999")]);
        assert_eq!(output.all(false, true).1.pop(), last.into_iter().next_back());
        let mut output = KeptOutput::default();
        output.push(0, &vec![b'x'; 10 * MOST]);
        assert_eq!(output.bytes, MOST);
    }

    #[test]
    fn what_is_left_of_the_beginning_is_whole_lines_and_says_so() {
        // However the chunks fall: in the middle of a line, at its end, one stream or two.
        for length in [7, 8, 61, 64, 1000] {
            let mut output = KeptOutput::default();
            output.push(1, b"this is dropped");
            let mut written = 0;
            while written < 2 * MOST {
                let line = format!("{written:0>width$}\n", width = length - 1);
                output.push(0, &line.as_bytes()[..3]);
                output.push(0, &line.as_bytes()[3..]);
                written += length;
            }
            output.push(1, b" in part\nwarning\n");
            let (cut, mut all) = output.all(false, true);
            let kept = all.len();
            assert_eq!(cut, Some(format!("the last {kept} lines; `aye logs` has all")));
            assert_eq!(all.pop().map(|line| line.text), Some("warning".to_owned()), "{length}");
            let odd = all.iter().find(|line| line.text.len() != length - 1);
            assert_eq!(odd, None, "{length}");
            assert!(kept > MOST / length, "{length}: {kept}");
        }
        let mut output = KeptOutput::default();
        output.push(0, b"short\n");
        assert_eq!(output.all(false, true).0, None);
        output.push(0, &vec![b'x'; 2 * MOST]);
        let (cut, all) = output.all(false, false);
        assert!(cut.is_some_and(|cut| cut.ends_with("lines; the rest was not kept")));
        assert!(!all.is_empty(), "the end of a line is more than nothing");
    }
}
