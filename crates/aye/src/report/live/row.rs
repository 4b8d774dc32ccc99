//! Rows of a plan: a mark, a name, what is to be said, and a time at the right.

use crate::paint::{Glyph, Paint, Tone};
use crate::screen::Painted;
use crate::term;

use super::super::fold::wrap_words;

/// Wider rows would tear the time away from its step.
const WIDEST: usize = 100;
/// Room for a usual time, so that texts end at the same column whatever they took.
const TIME: usize = 5;
/// A text that has to be said whole goes below its name if there is less room.
const NARROW: usize = 12;
/// Less than this says nothing.
const LEAST_TEXT: usize = 6;

/// Where the parts of a row are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    /// How wide a row is.
    pub(super) width: usize,
    /// The column at which texts begin.
    pub(super) text_at: usize,
    pub(super) paint: Paint,
}

/// A row before it is painted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) mark: (Glyph, Tone),
    /// How far in it is.
    pub(super) depth: usize,
    pub(super) name: &'a str,
    pub(super) text: &'a str,
    /// What came of it: the text is cut first, as far as the half of the room.
    pub(super) result: &'a str,
    /// The time.
    pub(super) right: &'a str,
}

impl Layout {
    /// A layout for a window, where the longest name has so many columns.
    pub(super) fn new(columns: usize, longest_name: usize, paint: Paint) -> Self {
        let width = columns.saturating_sub(1).clamp(10, WIDEST);
        Self { width, text_at: 4 + longest_name.min(width / 3), paint }
    }

    /// One row: what does not fit is cut.
    pub(super) fn row(&self, row: &Row<'_>) -> Painted {
        let (left, name) = self.left(row);
        let right = term::width(row.right);
        let room = self.room(left, right);
        let (text, result) = self.text(row, room);
        let fill =
            self.width.saturating_sub(left + term::width(&text) + term::width(&result) + right);
        let text = format!("{}{result}", self.paint.text(Tone::Dim, &text));
        self.paint(&name, &text, fill, row.right)
    }

    /// The columns between what is left and right of a text.
    fn room(&self, left: usize, right: usize) -> usize {
        let right = if right > 0 { right.max(TIME) + 2 } else { 0 };
        self.width.saturating_sub(left + right)
    }

    /// The text and the result as far as there is room.
    fn text(&self, row: &Row<'_>, room: usize) -> (String, String) {
        if room < LEAST_TEXT {
            return (String::new(), String::new());
        }
        if row.result.is_empty() || row.text.is_empty() {
            return (self.paint.cut(row.text, room), self.paint.cut(row.result, room));
        }
        let arrow = format!(" {} ", self.paint.glyph(Glyph::Arrow));
        // A result that leaves the text no half of the room is cut: what was done has to
        // be seen as well.
        let both = room.saturating_sub(term::width(&arrow));
        let most = both.saturating_sub(term::width(row.text)).max(both / 2);
        let most = most.min(both.saturating_sub(LEAST_TEXT));
        let result = self.paint.cut(row.result, most);
        let left = room.saturating_sub(term::width(&result) + term::width(&arrow));
        let text = self.paint.cut(row.text, left);
        (format!("{text}{arrow}"), result)
    }

    /// A row that says everything: what does not fit continues below it.
    pub(super) fn whole(&self, row: &Row<'_>, tone: Option<Tone>, more: &[String]) -> Vec<Painted> {
        let (left, name) = self.left(row);
        let right = term::width(row.right);
        let room = self.room(left, right);
        let narrow = room < NARROW;
        let toned = |text: &str| match tone {
            Some(tone) => self.paint.text(tone, text),
            None => text.to_owned(),
        };
        let indent = if narrow { 2 * row.depth + 2 } else { left };
        let below = self.width.saturating_sub(indent).max(LEAST_TEXT);
        let mut rows = Vec::new();
        let mut told = match narrow {
            true => {
                let fill = self.width.saturating_sub(left + right);
                rows.push(self.paint(&name, "", fill, row.right));
                wrap_words(row.text, below)
            }
            false => wrap_words(row.text, room),
        }
        .into_iter();
        if let Some(first) = (!narrow).then(|| told.next()).flatten() {
            let fill = self.width.saturating_sub(left + term::width(&first) + right);
            rows.push(self.paint(&name, &toned(&first), fill, row.right));
        }
        let more = more.iter().flat_map(|line| wrap_words(line, below));
        let told = told.map(|line| toned(&line));
        let more = more.map(|line| self.paint.text(Tone::Dim, &line));
        rows.extend(told.chain(more).map(|line| painted(format!("{}{line}", " ".repeat(indent)))));
        rows
    }

    /// What stands before the text, and its width.
    fn left(&self, row: &Row<'_>) -> (usize, String) {
        let indent = 2 * row.depth;
        let most = self.width.saturating_sub(indent + term::width(row.right) + 4).max(1);
        let name = self.paint.cut(row.name, most);
        let column = self.text_at.saturating_sub(indent + 4).max(term::width(&name));
        let (glyph, tone) = row.mark;
        let mark = self.paint.text(tone, self.paint.glyph(glyph));
        let missing = " ".repeat(column - term::width(&name) + 2);
        let tone = if matches!(tone, Tone::Dim) { Tone::Dim } else { Tone::Strong };
        let name = self.paint.text(tone, &name);
        (indent + 2 + column + 2, format!("{}{mark} {name}{missing}", " ".repeat(indent)))
    }

    fn paint(&self, left: &str, text: &str, fill: usize, right: &str) -> Painted {
        let right = match right {
            "" => String::new(),
            right => format!("{}{}", " ".repeat(fill), self.paint.text(Tone::Dim, right)),
        };
        painted(format!("{left}{text}{right}").trim_end().to_owned())
    }
}

/// A line with its width.
pub(super) fn painted(text: String) -> Painted {
    let width = super::super::sanitizer::painted_width(&text);
    Painted { text, width }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Paint = Paint { color: false, bold: false, unicode: true };

    fn row<'a>(name: &'a str, text: &'a str, right: &'a str) -> Row<'a> {
        Row { mark: (Glyph::Done, Tone::Good), depth: 0, name, text, result: "", right }
    }

    fn texts(rows: &[Painted]) -> Vec<&str> {
        rows.iter().map(|row| row.text.as_str()).collect()
    }

    #[test]
    fn times_are_aligned_and_texts_are_cut() {
        let layout = Layout::new(31, 5, PLAIN);
        assert_eq!(
            layout.row(&row("image", "make", "303ms")).text,
            "✓ image  make            303ms"
        );
        let long = layout.row(&row("plan", "make everything and more", "2m 1s"));
        assert_eq!(long.text, "✓ plan   make everythi…  2m 1s");
        assert_eq!(long.width, 30);
        let inside = Row { depth: 1, ..row("web", "make", "1s") };
        assert_eq!(layout.row(&inside).text, "  ✓ web  make               1s");
        let told = Row { result: "4f2a91c0", ..row("plan", "git rev-parse", "2ms") };
        assert_eq!(layout.row(&told).text, "✓ plan   git r… → 4f2a…    2ms");
        let long = Row { result: "a result that is long", ..row("plan", "echo a b c", "2ms") };
        let wide = Layout::new(46, 5, PLAIN);
        assert_eq!(wide.row(&long).text, "✓ plan   echo a b c → a result that i…    2ms");
        let both = Row { text: "echo arguments that are long", ..long };
        assert_eq!(wide.row(&both).text, "✓ plan   echo argumen… → a result tha…    2ms");
    }

    #[test]
    fn what_matters_is_said_whole() {
        let layout = Layout::new(31, 5, PLAIN);
        let failed = row("image", "exit code 1 and then some more", "30s");
        let more = ["hint: look".to_owned()];
        assert_eq!(
            texts(&layout.whole(&failed, None, &more)),
            [
                "✓ image  exit code 1       30s",
                "         and then some",
                "         more",
                "         hint: look"
            ]
        );
        let narrow = Layout::new(16, 12, PLAIN);
        assert_eq!(
            texts(&narrow.whole(&row("confirm_all", "exit code 1", "30s"), None, &[])),
            ["✓ confirm…  30s", "  exit code 1"]
        );
    }
}
