//! What a prompt looks like: a question, a state, a width and a moment in,
//! lines of styled text out. No IO.
//!
//! ```text
//! ╭─ title                head: the question in its own words, printed as is
//! │  message
//! ├─ Proceed? [y/N]       body: ours alone; nothing in a message can reach
//! ╰─ ⠋ 29s left           the first column, so nothing in it can look like this
//! ```
//!
//! The screen paints the lines.

mod advice;
mod ask;
mod covers;
mod details;
mod footer;
mod inbox_view;
mod known;
mod options;
mod place;
mod plain;
mod rules;

use jiff::Timestamp;

use crate::paint::{Paint, Tone, escape_control};
use aye_runtime::advisor::AskedAdvisor;
use aye_runtime::prompter::AskedQuestion;

use super::dialog::{Dialog, Stage};
use super::markup::{harmless, message};
use super::style::Styled;
use super::wrap::wrap;

pub use covers::{covered, covered_whole};
pub(super) use footer::seconds_left;
pub use inbox_view::{Item, inbox_lines};
pub use plain::{plain_advice, plain_ask, plain_details, plain_question};

/// Columns that the frame takes on the left.
const FRAME: usize = 3;

/// The window it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Colours and glyphs.
    pub paint: Paint,
    /// Its width.
    pub columns: usize,
    /// Its height.
    pub rows: usize,
}

impl Look {
    /// Columns for text beside the frame; the last one stays free, because
    /// terminals differ in what they do there.
    fn room(self) -> usize {
        self.columns.saturating_sub(FRAME + 1).max(1)
    }

    /// A line of the frame: first, plain, divided or last.
    fn bar(self, part: Part) -> Styled {
        let glyph = match (part, self.paint.unicode) {
            (Part::First, true) => "╭─ ",
            (Part::Plain, true) => "│  ",
            (Part::Divided, true) => "├─ ",
            (Part::Last, true) => "╰─ ",
            (Part::First | Part::Divided | Part::Last, false) => "+- ",
            (Part::Plain, false) => "|  ",
        };
        Styled::new().tone(Tone::Ask, glyph)
    }

    fn ellipsis(self) -> &'static str {
        self.paint.glyph(crate::paint::Glyph::Ellipsis)
    }

    fn pointer(self) -> &'static str {
        if self.paint.unicode { "❯ " } else { "> " }
    }
}

/// Where a line of the frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    First,
    Plain,
    Divided,
    Last,
}

/// A prompt as it is to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Title and message. They do not change while the question is open.
    pub head: Vec<Styled>,
    /// What was asked for with `?`; empty unless it was.
    pub details: Vec<Styled>,
    /// Everything else.
    pub body: Vec<Styled>,
    /// Row within the body and column of the cursor.
    pub cursor: (usize, usize),
}

/// Lays a prompt out that nobody advises on.
pub fn view(
    asked: &AskedQuestion<'_>,
    dialog: &Dialog,
    look: Look,
    now: Timestamp,
    beat: usize,
) -> View {
    let head = head(asked, look);
    let below = view_below(head.len(), asked, dialog, None, look, now, beat);
    View { head, ..below }
}

/// The same without the head, whose number of lines is known. A head can be
/// as long as it likes and does not change: it need not be laid out anew for
/// every beat of the countdown.
pub fn view_below(
    head: usize,
    asked: &AskedQuestion<'_>,
    dialog: &Dialog,
    advisor: Option<&AskedAdvisor>,
    look: Look,
    now: Timestamp,
    beat: usize,
) -> View {
    let details = match dialog.details {
        true => details::details(asked, advisor, look, now),
        false => Vec::new(),
    };
    let mut body = known::known(asked, look);
    body.extend(advice::advice(asked, dialog.details, look));
    body.extend(rules::rules(asked, look));
    let answer = body.len();
    let footer = footer::footer(asked, dialog, advisor, look, now, beat);
    let notice = dialog.notice.iter().flat_map(|notice| {
        let text = Styled::new().tone(Tone::Warn, format!("! {}", escape_control(notice)));
        wrap(&text, look.room(), 2, true)
    });
    let remembered = dialog.remember.into_iter().flat_map(|scope| {
        let covers = asked.question.remember_covers(scope);
        let text =
            Styled::new().tone(Tone::Dim, format!("remembered: {}", escape_control(&covers)));
        wrap(&text, look.room(), 2, true)
    });
    let notice = remembered.chain(notice);
    let notice: Vec<Styled> = notice.map(|line| look.bar(Part::Plain).then(line)).collect();
    let fixed = body.len() + notice.len() + footer.len() + 1;
    let taken = head + details.len() + fixed;
    let cursor = ask::ask(&mut body, asked.question, dialog, look, taken);
    let row = match &dialog.stage {
        Stage::List(_) => answer,
        Stage::Key(..) | Stage::Word(..) | Stage::Input(_) | Stage::Typed(..) | Stage::Code(..) => {
            body.len() - 1
        }
    };
    body.extend(notice);
    body.extend(footer);
    View { head: Vec::new(), details, body, cursor: (row, cursor) }
}

/// Title and message.
pub fn head(asked: &AskedQuestion<'_>, look: Look) -> Vec<Styled> {
    let place = asked.run.map(|run| place::place(asked, run, look));
    let title = match (asked.question.own_title(), &place) {
        (Some(title), _) => harmless(Styled::new(), title, Some(Tone::Strong)),
        (None, Some(place)) => Styled::new().tone(Tone::Dim, place.whole(look.room())),
        (None, None) => {
            let lines = message(&asked.question.message, look.room(), look.paint);
            let part = |index| if index == 0 { Part::First } else { Part::Plain };
            let lines = lines.into_iter().enumerate().map(|(i, line)| look.bar(part(i)).then(line));
            return lines.chain(covers::covers(asked, look)).collect();
        }
    };
    let mut lines = Vec::new();
    for (index, line) in wrap(&title, look.room(), 0, true).into_iter().enumerate() {
        let part = if index == 0 { Part::First } else { Part::Plain };
        lines.push(look.bar(part).then(line));
    }
    if let Some(place) = place.filter(|_| asked.question.own_title().is_some()) {
        let title = lines.last().map_or(0, Styled::width);
        let room = look.columns.saturating_sub(title + FRAME);
        let beside = Styled::new().tone(Tone::Dim, format!("  {}", place.whole(room)));
        match lines.as_mut_slice() {
            [only] if only.width() + beside.width() < look.columns => {
                *only = std::mem::take(only).then(beside);
            }
            // Which of many it is about must not be lost.
            _ => {
                let inside = place.inside(look.room());
                let inside = inside.map(|inside| Styled::new().tone(Tone::Dim, inside));
                let inside = inside.iter().flat_map(|inside| wrap(inside, look.room(), 2, true));
                lines.extend(inside.map(|line| look.bar(Part::Plain).then(line)));
            }
        }
    }
    let spacious = look.rows >= 16;
    let empty = || look.bar(Part::Plain);
    lines.extend(spacious.then(empty));
    for line in message(&asked.question.message, look.room(), look.paint) {
        lines.push(look.bar(Part::Plain).then(line));
    }
    let covers = covers::covers(asked, look);
    lines.extend((spacious && !covers.is_empty()).then(empty));
    lines.extend(covers);
    lines.extend(spacious.then(empty));
    lines
}
