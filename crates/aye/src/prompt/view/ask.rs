//! The line that asks, and the field to type into.

use aye_core::question::Question;

use crate::paint::{Tone, escape_control};
use crate::prompt::dialog::{Dialog, Stage, default_offer};
use crate::prompt::line::Line;
use crate::prompt::style::Styled;
use crate::prompt::wrap::wrap;

use super::{Look, Part, options};

/// Adds what asks for the answer; returns the cursor's column. `taken` is how
/// many rows everything else takes.
pub(super) fn ask(
    body: &mut Vec<Styled>,
    question: &Question,
    dialog: &Dialog,
    look: Look,
    taken: usize,
) -> usize {
    match &dialog.stage {
        Stage::Key(yes, no) => {
            let line = yes_or_no(question, *yes, *no, look).plain(" ");
            let cursor = line.width();
            body.push(line);
            cursor
        }
        Stage::Word(yes, no, line) => {
            let ask = yes_or_no(question, *yes, *no, look).plain(" ");
            field(body, ask, line, None, look)
        }
        Stage::Input(line) => {
            let ask = look.bar(Part::Divided).tone(Tone::Ask, look.pointer());
            let dot = question.secret.then_some(if look.paint.unicode { '•' } else { '*' });
            let cursor = field(body, ask, line, dot, look);
            if let (true, Some(placeholder), Some(last)) =
                (line.is_empty(), placeholder(question), body.last_mut())
            {
                let room = look.columns.saturating_sub(last.width() + 1);
                let shown = Styled::new().tone(Tone::Dim, placeholder).cut(room, look.ellipsis());
                *last = std::mem::take(last).then(shown);
            }
            cursor
        }
        Stage::Typed(offer, line) => {
            let wanted = escape_control(question.typed.as_deref().unwrap_or(""));
            let ask = Styled::new().plain(typed_words(question, *offer)).tone(Tone::Strong, wanted);
            let lines = wrap(&ask, look.room(), 2, true);
            for (index, line) in lines.into_iter().enumerate() {
                let part = if index == 0 { Part::Divided } else { Part::Plain };
                body.push(look.bar(part).then(line));
            }
            let ask = look.bar(Part::Plain).tone(Tone::Ask, look.pointer());
            field(body, ask, line, None, look)
        }
        Stage::Code(_, line) => {
            let ask = look.bar(Part::Divided).plain("One-time code ");
            field(body, ask, line, None, look)
        }
        Stage::List(list) => options::options(body, question, list, look, taken),
    }
}

/// What typing the text means: where there are several options, which one it takes.
pub(super) fn typed_words(question: &Question, offer: usize) -> String {
    match (question.yes_and_no(), question.options.get(offer)) {
        (None, Some(offer)) => format!("For {}, type ", escape_control(&offer.label)),
        (Some(_), _) | (None, None) => "To agree, type ".to_owned(),
    }
}

/// `Proceed? [y/N]`, or what yes and no are called here.
fn yes_or_no(question: &Question, yes: usize, no: usize, look: Look) -> Styled {
    let keys = match default_offer(question) {
        Some(default) if default == yes => "[Y/n]",
        Some(_) => "[y/N]",
        None => "[y/n]",
    };
    let label = |index: usize| question.options.get(index).map_or("", |offer| &offer.label);
    let line = look.bar(Part::Divided);
    let room = look.room().saturating_sub(keys.len() + 2);
    let asked = match (label(yes), label(no)) {
        ("Proceed", "Cancel") => Styled::new().plain("Proceed? "),
        ("Yes", "No") => Styled::new(),
        (yes, no) => {
            let (yes, no) = (escape_control(yes), escape_control(no));
            Styled::new().tone(Tone::Ask, "y ").plain(yes).tone(Tone::Ask, ", n ").plain(no + " ")
        }
    };
    line.then(asked.cut(room, look.ellipsis())).tone(Tone::Strong, keys)
}

/// A line with a field to type into; returns the cursor's column.
pub(super) fn field(
    body: &mut Vec<Styled>,
    ask: Styled,
    line: &Line,
    dot: Option<char>,
    look: Look,
) -> usize {
    let before = ask.width();
    let (text, cursor) = line.window(look.columns.saturating_sub(before + 1), dot);
    body.push(ask.plain(text));
    before + cursor
}

/// What Enter would take, shown where nothing is typed yet.
fn placeholder(question: &Question) -> Option<String> {
    let default = question.default.as_ref()?;
    if question.secret {
        return Some("Enter takes the default".to_owned());
    }
    (!default.is_empty()).then(|| format!("Enter takes {}", escape_control(default)))
}
