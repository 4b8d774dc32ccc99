//! What the inbox looks like on a terminal: a list to answer from.

use crate::paint::{Glyph, Tone, plural};
use crate::prompt::markup::{asking_line, harmless, message};
use crate::prompt::style::Styled;

use super::{Look, Part};

/// Below this height there are no empty lines.
const SPACIOUS: usize = 12;
/// Digits reach so many.
const NUMBERED: usize = 9;

/// Wider than any window: the line is cut, not broken.
const WHOLE: usize = 10_000;

/// A question that waits, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its id.
    pub id: String,
    /// What is asked; its first line is shown. It is someone else's text.
    pub asked: String,
    /// Where it comes from and how long it waits. So is this.
    pub note: String,
    /// Little time is left.
    pub soon: bool,
    /// It is a proposal, and not a question.
    pub proposed: bool,
}

/// Lays the list out; the cursor stands in the marked line.
pub fn inbox_lines(items: &[Item], marked: usize, look: Look) -> (Vec<Styled>, (usize, usize)) {
    let spacious = look.rows >= SPACIOUS;
    let mut lines = vec![heading(items, look)];
    lines.extend(spacious.then(|| look.bar(Part::Plain)));
    let mut cursor = (0, 0);
    if items.is_empty() {
        let none = Styled::new().plain("Nothing waits for an answer. New questions appear here.");
        lines.push(look.bar(Part::Plain).then(none));
    }
    let each = if spacious { 2 } else { 1 };
    let fixed = 2 * usize::from(spacious) + 2;
    let room = look.rows.saturating_sub(fixed + 1);
    let (first, last) = part(items.len(), marked, (room / each).max(1), each);
    if first > 0 {
        lines.push(more(first, true, look));
    }
    for (index, item) in items.iter().enumerate().take(last).skip(first) {
        if index == marked {
            cursor = (lines.len(), 3);
        }
        lines.extend(entry(item, index, index == marked, look).into_iter().take(each));
    }
    if last < items.len() {
        lines.push(more(items.len() - last, false, look));
    }
    lines.extend(spacious.then(|| look.bar(Part::Plain)));
    lines.push(footer(items.len(), look));
    if items.is_empty() {
        cursor = (lines.len() - 1, 3);
    }
    let columns = look.columns.saturating_sub(1);
    (lines.into_iter().map(|line| line.cut(columns, look.ellipsis())).collect(), cursor)
}

/// Which of them are shown; what is left out above and below takes lines too.
fn part(count: usize, marked: usize, room: usize, each: usize) -> (usize, usize) {
    if count <= room {
        return (0, count);
    }
    let shown = room.saturating_sub(2usize.div_ceil(each)).max(1);
    let first = marked.saturating_sub(shown / 2).min(count - shown);
    (first, first + shown)
}

fn heading(items: &[Item], look: Look) -> Styled {
    let line = look.bar(Part::First).tone(Tone::Strong, "Inbox");
    let proposed = items.iter().filter(|item| item.proposed).count();
    let counts = [(items.len() - proposed, "question"), (proposed, "proposal")];
    let words: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| plural(count, what))
        .collect();
    match items.len() {
        0 => line,
        1 => line.tone(Tone::Dim, format!("  {} waits", words.join(" and "))),
        _ => line.tone(Tone::Dim, format!("  {} wait", words.join(" and "))),
    }
}

fn more(count: usize, up: bool, look: Look) -> Styled {
    let arrow = match (look.paint.unicode, up) {
        (true, true) => "↑",
        (true, false) => "↓",
        (false, true) => "^",
        (false, false) => "v",
    };
    look.bar(Part::Plain).tone(Tone::Dim, format!("  {arrow} {count} more"))
}

fn entry(item: &Item, index: usize, marked: bool, look: Look) -> [Styled; 2] {
    let pointer = if marked { look.pointer() } else { "  " };
    let number = if index < NUMBERED { format!("{} ", index + 1) } else { "  ".to_owned() };
    let asked = look.bar(Part::Plain).tone(Tone::Ask, pointer).tone(Tone::Dim, number);
    let text =
        message(asking_line(&item.asked), WHOLE, look.paint).into_iter().next().unwrap_or_default();
    let asked = asked.then(text);
    let tone = if item.soon { Tone::Warn } else { Tone::Dim };
    let note = harmless(look.bar(Part::Plain).plain("    "), &item.note, Some(tone));
    [asked, note]
}

fn footer(count: usize, look: Look) -> Styled {
    let arrows = if look.paint.unicode { "↑↓ move" } else { "arrows move" };
    let hints: &[&str] = match count {
        0 => &["q leaves"],
        1 => &["Enter opens", "q leaves"],
        2.. => &["Enter opens", "q leaves", arrows, "digits too"],
    };
    let mut line = look.bar(Part::Last);
    let between = format!(" {} ", look.paint.glyph(Glyph::Dot));
    for (index, hint) in hints.iter().enumerate() {
        let before = if index == 0 { "" } else { between.as_str() };
        let longer = line.clone().tone(Tone::Dim, before).tone(Tone::Dim, *hint);
        if longer.width() >= look.columns && index > 0 {
            break;
        }
        line = longer;
    }
    line
}
