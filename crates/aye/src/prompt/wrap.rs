//! Breaking text into lines that fit.

use unicode_width::UnicodeWidthChar as _;

use crate::paint::Tone;

use super::style::{Span, Styled};

/// Breaks a line where words end, or inside a word that is longer than a
/// line. Lines after the first are indented by `hang`. Nothing is lost but
/// the blanks at which a line was broken.
pub fn wrap(line: &Styled, columns: usize, hang: usize, at_words: bool) -> Vec<Styled> {
    let cells: Vec<(char, Option<Tone>)> =
        line.spans.iter().flat_map(|span| span.text.chars().map(move |c| (c, span.tone))).collect();
    let mut lines = Vec::new();
    let mut start = 0;
    loop {
        let indent = if lines.is_empty() { 0 } else { hang.min(columns / 2) };
        let room = columns.saturating_sub(indent).max(1);
        let (end, next) = split(&cells[start..], room, at_words);
        lines.push(gather(&cells[start..start + end], indent));
        start += next;
        if start >= cells.len() {
            return lines;
        }
    }
}

/// How many cells stay on this line, and where the next one begins.
fn split(cells: &[(char, Option<Tone>)], room: usize, at_words: bool) -> (usize, usize) {
    let mut used = 0;
    let mut break_at = None;
    for (at, (c, _)) in cells.iter().enumerate() {
        let wide = c.width().unwrap_or(0);
        if at > 0 && at_words && (wide > 1 || cells[at - 1].0 == ' ' && *c != ' ') {
            break_at = Some(at);
        }
        if used + wide > room {
            let end = match break_at {
                // A blank that does not fit is the break itself.
                _ if *c == ' ' && at_words && at > 0 => at,
                Some(at) => at,
                // A character wider than the window still takes a line.
                None => at.max(1),
            };
            if !at_words {
                return (end, end);
            }
            let kept = cells[..end].iter().rposition(|(c, _)| *c != ' ').map_or(end, |at| at + 1);
            let blanks = cells[end..].iter().take_while(|(c, _)| *c == ' ').count();
            return (kept, end + blanks);
        }
        used += wide;
    }
    (cells.len(), cells.len())
}

fn gather(cells: &[(char, Option<Tone>)], indent: usize) -> Styled {
    let mut line = Styled::new().plain(" ".repeat(indent));
    for (c, tone) in cells {
        match line.spans.last_mut() {
            Some(Span { tone: last, text }) if last == tone => text.push(*c),
            _ => line.spans.push(Span { tone: *tone, text: c.to_string() }),
        }
    }
    line
}
