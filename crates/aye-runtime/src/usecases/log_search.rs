//! Where a text is in what a step wrote.

use aye_process::LogReader;

use crate::error::Error;

/// A line that is longer counts as several, each of so many bytes.
const LINE: usize = 16 << 10;
/// How much of a log one search looks through.
const MOST: u64 = 256 << 20;
/// How many lines one search finds.
const LINES: usize = 100;
/// How much is read at once.
const PIECE: usize = 64 << 10;

/// What a search found.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct LogMatches {
    /// The bytes at which the lines with the text begin.
    pub lines: Vec<u64>,
    /// The byte at which the next search begins; `None` at the end of the log.
    pub next: Option<u64>,
}

/// Looks for a text in a log, in upper or lower case, from the line that begins at this byte on.
pub fn search_log(mut reader: LogReader, text: &str, from: u64) -> Result<LogMatches, Error> {
    let wanted = text.to_lowercase();
    let mut at = 0;
    while at < from {
        let Some((_, passed)) = reader.skip(from - at).map_err(Error::Log)? else {
            return Ok(LogMatches::default());
        };
        at += passed;
    }
    let mut found = LogMatches::default();
    let (mut buffer, mut unseen) = (vec![0; PIECE], Vec::new());
    loop {
        let read = reader.read(&mut buffer).map_err(Error::Log)?;
        let is_end = read.is_none();
        unseen.extend_from_slice(&buffer[..read.map_or(0, |(_, length)| length)]);
        let whole = if is_end { unseen.len() } else { whole_lines(&unseen) };
        // Most of a log does not have it: only where it is, the line is looked for.
        if has(&unseen[..whole], &wanted) {
            for (place, line) in lines(&unseen[..whole]) {
                if found.lines.len() == LINES {
                    found.next = Some(at + place as u64);
                    return Ok(found);
                }
                if has(line, &wanted) {
                    found.lines.push(at + place as u64);
                }
            }
        }
        unseen.drain(..whole);
        at += whole as u64;
        if is_end {
            return Ok(found);
        }
        if at - from >= MOST {
            found.next = Some(at);
            return Ok(found);
        }
    }
}

fn has(bytes: &[u8], wanted: &str) -> bool {
    String::from_utf8_lossy(bytes).to_lowercase().contains(wanted)
}

/// How many of these bytes are lines that have ended, or are as long as a line may be.
fn whole_lines(bytes: &[u8]) -> usize {
    let newline = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    newline + (bytes.len() - newline) / LINE * LINE
}

/// The lines, and the place at which each begins.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        let (begin, length) = (at, end.min(LINE));
        at += if length == end { end + 1 } else { length };
        Some((begin, &rest[..length]))
    })
}
