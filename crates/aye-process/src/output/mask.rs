//! Keeps secrets out of everything that is shown or stored.
//!
//! A secret is looked for in what a terminal shows: escape sequences inside it,
//! such as a change of colour, do not hide it. They stay behind the stars. Nor do line breaks
//! in a long one, as in Base64 that is wrapped.

use super::escape::{Invisible, invisible};

/// What a secret is replaced by.
const STARS: &[u8] = b"***";

/// The most bytes that are held back beside those of a secret: what stands
/// between its letters.
const BETWEEN: usize = 16 * 1024;

/// From so many bytes on, a secret is found over the ends of lines.
const LONG: usize = 8;
/// With so many of its letters at the end of what came so far, the rest of a secret may follow
/// on the next line. Fewer would hold back the ends of lines that have nothing to hide.
const TELLING: usize = 3;

/// Replaces byte strings in a stream, also where a chunk border cuts them.
#[derive(Debug)]
pub(crate) struct Masker {
    /// Longest first, so that the longest match wins.
    secrets: Vec<Vec<u8>>,
    starts: [bool; 256],
    /// Those that begin with a byte, by that byte.
    beginning: Vec<Vec<usize>>,
    /// The end of the last chunk, as far as a secret may begin there.
    held: Vec<u8>,
}

/// Whether a secret stands at the beginning of some bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    No,
    /// So many bytes, with what stands between its letters, and so many ends of lines there.
    Yes(usize, usize),
    /// Perhaps: the bytes end too early to tell.
    Perhaps,
}

impl Masker {
    /// `None` if there is nothing to hide.
    pub(crate) fn new(secrets: &[Vec<u8>]) -> Option<Self> {
        let mut secrets: Vec<Vec<u8>> =
            secrets.iter().filter(|one| !one.is_empty()).cloned().collect();
        if secrets.is_empty() {
            return None;
        }
        secrets.sort_by_key(|one| std::cmp::Reverse(one.len()));
        let mut starts = [false; 256];
        let mut beginning = vec![Vec::new(); 256];
        for (at, secret) in secrets.iter().enumerate() {
            starts[usize::from(secret[0])] = true;
            beginning[usize::from(secret[0])].push(at);
        }
        Some(Self { secrets, starts, beginning, held: Vec::new() })
    }

    /// The most bytes that one secret takes, with what stands between its letters.
    pub(crate) fn longest(&self) -> usize {
        self.secrets.first().map_or(0, Vec::len) + BETWEEN
    }

    /// The first place from `at` on that is not inside a secret.
    pub(crate) fn outside(&self, bytes: &[u8], at: usize) -> usize {
        let mut place = at.saturating_sub(self.longest());
        while place < at {
            match self.at(&bytes[place..], true) {
                Found::Yes(length, _) if place + length > at => return place + length,
                Found::Yes(length, _) => place += length,
                Found::No | Found::Perhaps => place += 1,
            }
        }
        at
    }

    /// The part of the stream that is now certain.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        let mut input = std::mem::take(&mut self.held);
        input.extend_from_slice(chunk);
        self.mask(&input, false)
    }

    /// What was held back, at the end of the stream.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        self.mask(&held, true)
    }

    fn mask(&mut self, input: &[u8], last: bool) -> Vec<u8> {
        let mut output = Vec::with_capacity(input.len());
        let mut rest = input;
        while let Some(&first) = rest.first() {
            if !self.starts[usize::from(first)] {
                let plain = rest
                    .iter()
                    .position(|&byte| self.starts[usize::from(byte)])
                    .unwrap_or(rest.len());
                output.extend_from_slice(&rest[..plain]);
                rest = &rest[plain..];
                continue;
            }
            match self.at(rest, last) {
                Found::Perhaps => {
                    self.held = rest.to_vec();
                    break;
                }
                Found::Yes(length, lines) => {
                    output.extend_from_slice(STARS);
                    output.extend(sequences(&rest[..length]));
                    output.extend(std::iter::repeat_n(b'\n', lines));
                    rest = &rest[length..];
                }
                Found::No => {
                    output.push(first);
                    rest = &rest[1..];
                }
            }
        }
        output
    }

    /// Whether a secret stands here: the longest, so one that may still become
    /// whole comes before a shorter one that is.
    fn at(&self, bytes: &[u8], last: bool) -> Found {
        let mut found = Found::No;
        let first = bytes.first().map_or(0, |byte| usize::from(*byte));
        for secret in self.beginning[first].iter().map(|at| &self.secrets[*at]) {
            match stands(secret, bytes) {
                Found::Perhaps if !last && bytes.len() <= secret.len() + BETWEEN => {
                    return Found::Perhaps;
                }
                yes @ Found::Yes(..) if found == Found::No => found = yes,
                Found::Perhaps | Found::Yes(..) | Found::No => {}
            }
        }
        found
    }
}

/// Whether this secret stands at the beginning, whatever is between its letters.
fn stands(secret: &[u8], bytes: &[u8]) -> Found {
    let (mut at, mut lines) = (0, 0);
    for (index, letter) in secret.iter().enumerate() {
        while let Some(byte) = bytes.get(at).filter(|byte| *byte != letter) {
            if matches!(byte, b'\n' | b'\r') && index > 0 && secret.len() >= LONG {
                lines += usize::from(*byte == b'\n');
                at += 1;
                if at == bytes.len() && index < TELLING {
                    return Found::No;
                }
                continue;
            }
            match invisible(&bytes[at..]) {
                Invisible::Yes(length) if index > 0 => at += length,
                Invisible::Perhaps if index > 0 => return Found::Perhaps,
                Invisible::Yes(_) | Invisible::Perhaps | Invisible::No => return Found::No,
            }
        }
        if at >= bytes.len() {
            return Found::Perhaps;
        }
        at += 1;
    }
    Found::Yes(at, lines)
}

/// The escape sequences in some bytes: colours continue behind a secret.
fn sequences(bytes: &[u8]) -> Vec<u8> {
    let mut found = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&byte| byte == 0x1b) {
        let length = match invisible(&rest[at..]) {
            Invisible::Yes(length) => length,
            Invisible::Perhaps | Invisible::No => 1,
        };
        found.extend_from_slice(&rest[at..at + length]);
        rest = &rest[at + length..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(secrets: &[&str], text: &str, size: usize) -> String {
        let secrets: Vec<Vec<u8>> = secrets.iter().map(|one| one.as_bytes().to_vec()).collect();
        let mut masker = Masker::new(&secrets).expect("secrets");
        let mut output = Vec::new();
        for chunk in text.as_bytes().chunks(size) {
            output.extend(masker.push(chunk));
        }
        output.extend(masker.finish());
        String::from_utf8(output).expect("text")
    }

    #[test]
    fn secrets_are_hidden_wherever_the_chunks_are_cut() {
        let text = "my hunter2, hunter hunters aaab aab hunte";
        for size in 1..text.len() {
            let masked = masked(&["hunter2", "hunter", "aab", ""], text, size);
            assert_eq!(masked, "my ***, *** ***s a*** *** hunte", "chunks of {size}");
        }
    }

    #[test]
    fn escape_sequences_do_not_hide_a_secret() {
        for (text, shown) in [
            ("a hun\x1b[1;31mter\x1b[0m2 b", "a ***\x1b[1;31m\x1b[0m b"),
            ("h\x1b]8;;http://x\x07u\x1b]8;;\x1b\\nter2", "***\x1b]8;;http://x\x07\x1b]8;;\x1b\\"),
            ("h\0u\x07n\x1b(Bt\u{9b}0me\x7fr2.", "***\x1b(B."),
            // What only begins as one is shown as it came.
            ("hun\x1b[31mt\x1b[0m, hunt", "hun\x1b[31mt\x1b[0m, hunt"),
            ("hun\x1b[3", "hun\x1b[3"),
            ("\x1b[31mhunter2\x1b[0m", "\x1b[31m***\x1b[0m"),
            ("hunt\x1b\x1b[31mer2", "***\x1b\x1b[31m"),
            ("hun\x01t\x05er\x182", "***"),
        ] {
            for size in 1..=text.len() {
                assert_eq!(masked(&["hunter2"], text, size), shown, "chunks of {size}");
            }
        }
    }

    #[test]
    fn ends_of_lines_do_not_hide_a_long_secret() {
        let text = "a hunter\n2-swo\r\nrdfish b";
        for size in 1..=text.len() {
            assert_eq!(masked(&["hunter2-swordfish"], text, size), "a ***\n\n b", "{size}");
        }
        // In one piece, wherever the line ends.
        assert_eq!(masked(&["hunter2-swordfish"], "h\nunter2-swordfish", 99), "***\n");
        // A short one is not looked for there, and one with lines of its own is found.
        assert_eq!(masked(&["hunter2"], "hunt\ner2", 99), "hunt\ner2");
        assert_eq!(masked(&["one line\ntwo lines"], "x one line\ntwo lines y", 3), "x *** y");
    }

    #[test]
    fn the_end_of_a_line_is_shown_at_once() {
        let mut masker = Masker::new(&[b"hunter2-swordfish".to_vec()]).expect("secrets");
        assert_eq!(masker.push(b"each\n"), b"each\n");
        assert_eq!(masker.push(b"hu\n"), b"hu\n");
        assert_eq!(masker.push(b"x hunt\n"), b"x ");
        assert_eq!(masker.push(b"and more\n"), b"hunt\nand more\n");
    }

    #[test]
    fn a_text_is_cut_outside_of_secrets() {
        let masker = |secrets: &[&str]| {
            let secrets: Vec<Vec<u8>> = secrets.iter().map(|one| one.as_bytes().to_vec()).collect();
            Masker::new(&secrets).expect("secrets")
        };
        let text = b"a hunter2 hunt\x1b[31mer2hunter2 b hunte";
        let cuts = masker(&["hunter2", "hunter"]);
        let found: Vec<usize> = (0..=text.len()).map(|at| cuts.outside(text, at)).collect();
        let (first, second, third) = (2..9, 10..22, 22..29);
        let last = 32..37;
        for (at, found) in found.into_iter().enumerate() {
            let inside = [&first, &second, &third];
            let inside = inside.into_iter().find(|secret| secret.start < at && at < secret.end);
            assert_eq!(found, inside.map_or(at, |secret| secret.end), "{at}");
        }
        assert_eq!(cuts.outside(text, last.start + 2), last.start + 2, "this is none");
        // Whole ones before it do not hide where one begins.
        let many = "hunter2".repeat(5_000);
        assert_eq!(
            masker(&["hunter2"]).outside(many.as_bytes(), 30_002),
            30_002_usize.next_multiple_of(7)
        );
    }

    #[test]
    fn what_is_held_back_has_an_end() {
        let mut masker = Masker::new(&[b"hunter2".to_vec()]).expect("secrets");
        let mut most = 0;
        for _ in 0..10_000 {
            masker.push(b"h\x1b[31m\x1b[32m\x1b[33m");
            most = most.max(masker.held.len());
            masker.push(b"\x1b[0m\x1b[0m");
            most = most.max(masker.held.len());
        }
        for _ in 0..100_000 {
            masker.push(b"\x1b[0m");
            most = most.max(masker.held.len());
        }
        assert!(most <= 2 * BETWEEN, "{most} bytes");
    }
}
