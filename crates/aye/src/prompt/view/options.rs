//! The options of a question as a list.

use aye_core::question::Question;

use crate::paint::Tone;
use crate::prompt::list::List;
use crate::prompt::markup::harmless;
use crate::prompt::style::Styled;
use crate::prompt::wrap::wrap;

use super::{Look, Part};

/// Fewer lines than this are not a list.
const FEWEST: usize = 3;
/// Between a label and its description.
const GAP: usize = 2;
/// A longer list is measured by what is shown of it.
const USUAL: usize = 100;
/// A column narrower than this is hard to read.
const NARROW: usize = 20;

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
    let laid_out = |shown: &[usize]| -> Vec<Vec<Styled>> {
        let column = widest(question, shown);
        shown.iter().map(|index| option(question, list, *index, column, look)).collect()
    };
    let mut room = look.rows.saturating_sub(taken + 1);
    // Of ten thousand options only those in the window are looked at.
    if left.len() <= room {
        let full = laid_out(&left);
        if full.iter().map(Vec::len).sum::<usize>() <= room {
            body.extend(full.into_iter().flatten());
            return cursor;
        }
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
    for lines in laid_out(&left[first..last]) {
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
        return super::ask::field(body, ask, &list.filter, None, look);
    }
    let numbers = "Choose, or type a number";
    let words = if list.numbered && look.room() > numbers.len() { numbers } else { "Choose" };
    let ask = ask.plain(words).plain(" ");
    let cursor = ask.width().min(look.columns.saturating_sub(1));
    body.push(ask);
    cursor
}

/// One option with everything it says: its description beside the label, or
/// beneath it in a narrow window.
fn option(
    question: &Question,
    list: &List,
    index: usize,
    widest: usize,
    look: Look,
) -> Vec<Styled> {
    let offer = &question.options[index];
    let marked = list.marked == Some(index);
    let pointer = if marked { look.pointer() } else { "  " };
    let number = if list.numbered { format!("{} ", index + 1) } else { String::new() };
    let before = Styled::new().tone(Tone::Ask, pointer).tone(Tone::Dim, number);
    let hang = before.width();
    let label = label(question, index, marked);
    let room = look.room().saturating_sub(hang).max(1);
    let column = widest.min(room / 2).max(1);
    let beside = room.saturating_sub(column + GAP);
    let described = offer.description.as_deref().filter(|text| !text.is_empty());
    let lines = match described {
        Some(text) if beside >= NARROW => {
            let text = harmless(Styled::new(), text, Some(Tone::Dim));
            columns(&wrap(&label, column, 0, true), &wrap(&text, beside, 0, true), column)
        }
        Some(text) => {
            let text = harmless(Styled::new(), text, Some(Tone::Dim));
            let mut lines = wrap(&label, room, 0, true);
            let inner = wrap(&text, room.saturating_sub(2).max(1), 0, true);
            lines.extend(inner.into_iter().map(|line| Styled::new().plain("  ").then(line)));
            lines
        }
        None => wrap(&label, room, 0, true),
    };
    let indent = |at: usize| match at {
        0 => before.clone(),
        _ => Styled::new().plain(" ".repeat(hang)),
    };
    let framed = |(at, line)| look.bar(Part::Plain).then(indent(at)).then(line);
    lines.into_iter().enumerate().map(framed).collect()
}

/// The width of the widest label, if there are descriptions to stand beside.
fn widest(question: &Question, shown: &[usize]) -> usize {
    if !shown.iter().any(|at| question.options[*at].description.is_some()) {
        return 0;
    }
    // The column stays where it is while a list of the usual length is moved
    // or narrowed.
    let count = question.options.len();
    let all: Vec<usize> = if count <= USUAL { (0..count).collect() } else { shown.to_vec() };
    all.into_iter().map(|at| label(question, at, false).width()).max().unwrap_or(0)
}

fn label(question: &Question, index: usize, marked: bool) -> Styled {
    let offer = &question.options[index];
    let label = harmless(Styled::new(), &offer.label, marked.then_some(Tone::Strong));
    match question.default.as_ref() == Some(&offer.value) {
        true => label.tone(Tone::Dim, " (default)"),
        false => label,
    }
}

/// Two texts side by side.
fn columns(left: &[Styled], right: &[Styled], column: usize) -> Vec<Styled> {
    (0..left.len().max(right.len()))
        .map(|at| {
            let first = left.get(at).cloned().unwrap_or_default();
            let Some(second) = right.get(at) else {
                return first;
            };
            let gap = " ".repeat(column.saturating_sub(first.width()) + GAP);
            first.plain(gap).then(second.clone())
        })
        .collect()
}
