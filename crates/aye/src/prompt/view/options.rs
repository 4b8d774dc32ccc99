//! The options of a question as a list.

use aye_core::question::Question;
use unicode_width::UnicodeWidthStr as _;

use crate::paint::{Tone, inert};
use crate::prompt::list::List;
use crate::prompt::style::Styled;
use crate::prompt::wrap::wrap;

use super::{Look, Part};

/// Fewer lines than this are no list.
const FEWEST: usize = 3;

/// Adds the list; returns the cursor's column, in its first line. `taken` is
/// how many rows everything else takes.
pub(super) fn options(
    body: &mut Vec<Styled>,
    question: &Question,
    list: &List,
    look: Look,
    taken: usize,
) -> usize {
    let cursor = ask_line(body, list, look);
    let left = list.left(question);
    if left.is_empty() {
        let none = Styled::new().tone(Tone::Dim, "nothing fits");
        body.push(look.bar(Part::Plain).then(none));
        return cursor;
    }
    let full: Vec<Vec<Styled>> =
        left.iter().map(|index| option(question, list, *index, look)).collect();
    let mut room = look.rows.saturating_sub(taken + 1);
    if full.iter().map(Vec::len).sum::<usize>() <= room {
        body.extend(full.into_iter().flatten());
        return cursor;
    }
    if room < FEWEST + 2 {
        // The head goes up and away; the list has the window for itself.
        room = look.rows.saturating_sub(6).max(FEWEST);
    }
    let marked = list.marked.and_then(|marked| left.iter().position(|index| *index == marked));
    let shown = room.saturating_sub(2).max(1);
    let first = marked.unwrap_or(0).saturating_sub(shown / 2).min(left.len().saturating_sub(shown));
    let last = (first + shown).min(left.len());
    let more = |count: usize, up: bool| {
        let arrow = match (look.paint.unicode, up) {
            (true, true) => "↑",
            (true, false) => "↓",
            (false, true) => "^",
            (false, false) => "v",
        };
        let text = match count {
            0 => String::new(),
            count => format!("  {arrow} {count} more"),
        };
        look.bar(Part::Plain).tone(Tone::Dim, text)
    };
    body.push(more(first, true));
    for lines in &full[first..last] {
        let line = lines.first().cloned().unwrap_or_default();
        let cut = if lines.len() > 1 {
            let room = look.columns.saturating_sub(2);
            line.cut(room, "").tone(Tone::Dim, look.ellipsis()).cut(look.columns - 1, "")
        } else {
            line
        };
        body.push(cut);
    }
    body.push(more(left.len() - last, false));
    cursor
}

fn ask_line(body: &mut Vec<Styled>, list: &List, look: Look) -> usize {
    let ask = look.bar(Part::Divided);
    if list.filtering || !list.filter.is_empty() {
        let ask = ask.tone(Tone::Ask, "/ ");
        return super::field(body, ask, &list.filter, None, look);
    }
    let words = if list.numbered { "Choose, or type a number" } else { "Choose" };
    let ask = ask.then(Styled::new().plain(words).cut(look.room(), look.ellipsis())).plain(" ");
    let cursor = ask.width().min(look.columns.saturating_sub(1));
    body.push(ask);
    cursor
}

/// One option with everything it says.
fn option(question: &Question, list: &List, index: usize, look: Look) -> Vec<Styled> {
    let offer = &question.options[index];
    let marked = list.marked == Some(index);
    let pointer = match (marked, look.paint.unicode) {
        (true, true) => "❯ ",
        (true, false) => "> ",
        (false, _) => "  ",
    };
    let number = if list.numbered { format!("{} ", index + 1) } else { String::new() };
    let label = inert(&offer.label);
    let tone = if marked { Tone::Strong } else { Tone::Dim };
    let mut line = Styled::new().tone(Tone::Ask, pointer).tone(Tone::Dim, number.as_str());
    let hang = line.width();
    line = match marked {
        true => line.tone(tone, label),
        false => line.plain(label),
    };
    if question.default.as_ref() == Some(&offer.value) {
        line = line.tone(Tone::Dim, " (default)");
    }
    if let Some(description) = &offer.description {
        let description = inert(description);
        let widest = question.options.iter().map(|offer| inert(&offer.label).width()).max();
        let column = hang + widest.unwrap_or(0).min(look.room() / 3) + 2;
        let gap = column.saturating_sub(line.width()).max(2);
        line = line.plain(" ".repeat(gap)).tone(Tone::Dim, description);
    }
    wrap(&line, look.room(), hang + 2, true)
        .into_iter()
        .map(|line| look.bar(Part::Plain).then(line))
        .collect()
}
