//! The block of lines on the terminal: paints what differs, erases it all.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Lines are cut at the edge of the window, and no longer. A multiplexer may
/// make the window narrower long before it says so: a line that it breaks would
/// move all that follows, and a row of the block would stay behind.
const WRAP: [&str; 2] = ["\u{1b}[?7l", "\u{1b}[?7h"];

/// Terminals that know these show all that is between them at once.
const SYNC: [&str; 2] = ["\u{1b}[?2026h", "\u{1b}[?2026l"];

/// The same text, which is never seen half painted.
pub fn at_once(text: &str) -> Cow<'_, str> {
    match text.contains('\u{1b}') {
        true => [SYNC[0], text, SYNC[1]].concat().into(),
        false => text.into(),
    }
}

/// A line ready to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Painted {
    /// With its colours.
    pub text: String,
    /// How many columns it takes.
    pub width: usize,
}

/// What is on the terminal of ours, and where the cursor is in it.
///
/// Every method adds what is to be written to `out`, so that a change reaches
/// the terminal in one piece.
#[derive(Debug, Default)]
pub struct Screen {
    lines: Vec<Painted>,
    cursor: (usize, usize),
    columns: usize,
    /// The window has changed and the lines take this many rows now.
    broken: Option<usize>,
    /// How many rows of an earlier block stand from the cursor on.
    stale: usize,
}

impl Screen {
    /// Whether anything of ours is shown.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Shows these lines in place of what is shown, the cursor in one of them.
    pub fn show(&mut self, lines: Vec<Painted>, cursor: (usize, usize), out: &mut String) {
        if self.broken.is_some() || lines.is_empty() {
            self.erase(out);
        }
        if lines.is_empty() {
            return;
        }
        if lines == self.lines && cursor == self.cursor {
            return;
        }
        let mut row = self.cursor.0;
        let first = (0..lines.len().max(self.lines.len()))
            .find(|index| lines.get(*index) != self.lines.get(*index));
        if let Some(first) = first {
            let first = first.min(self.lines.len().saturating_sub(1)).min(lines.len() - 1);
            let shrinks = self.lines.len() > lines.len() || self.stale > 0;
            move_rows(&mut row, first, out);
            out.push('\r');
            out.push_str(WRAP[0]);
            for (index, line) in lines.iter().enumerate().skip(first) {
                if index > first {
                    out.push_str("\r\n");
                    row += 1;
                }
                // What follows is erased from the end of the last line on.
                let is_end = shrinks && index + 1 == lines.len();
                if is_end || self.lines.get(index) != Some(line) {
                    out.push_str(&line.text);
                    out.push_str("\u{1b}[K");
                }
            }
            if shrinks {
                // Erases from the next line on without making one at the bottom.
                out.push_str("\u{1b}[J");
            }
            out.push_str(WRAP[1]);
        }
        move_rows(&mut row, cursor.0, out);
        out.push('\r');
        if cursor.1 > 0 {
            let _ = write!(out, "\u{1b}[{}C", cursor.1);
        }
        self.lines = lines;
        self.cursor = cursor;
        self.stale = 0;
    }

    /// Takes everything of ours away; the cursor is where the block began.
    pub fn erase(&mut self, out: &mut String) {
        if std::mem::take(&mut self.stale) > 0 {
            out.push_str("\u{1b}[J");
        }
        if self.lines.is_empty() {
            return;
        }
        let mut row = self.cursor.0;
        move_rows(&mut row, 0, out);
        // Line by line: a terminal that is told to clear everything may keep
        // a copy in its history, and one that has broken a line remembers so
        // until that line is cleared as a whole.
        out.push_str("\r\u{1b}7\u{1b}[2K");
        for _ in 1..self.broken.unwrap_or(self.lines.len()) {
            out.push_str("\u{1b}[1B\u{1b}[2K");
        }
        out.push_str("\u{1b}8");
        self.forget();
    }

    /// Prints lines for good, above the block. The block is not blanked: the
    /// lines take its place until [`show`](Self::show) paints it below them.
    pub fn print(&mut self, lines: &[Painted], out: &mut String) {
        if lines.is_empty() {
            return;
        }
        if self.broken.is_some() {
            self.erase(out);
        }
        let mut row = self.cursor.0;
        if !self.lines.is_empty() {
            move_rows(&mut row, 0, out);
            out.push('\r');
            self.stale = self.lines.len();
        }
        for line in lines {
            // The terminal breaks it into rows, whose ends nobody clears.
            if self.columns > 0 && line.width >= self.columns && std::mem::take(&mut self.stale) > 0
            {
                out.push_str("\u{1b}[J");
            }
            out.push_str(&line.text);
            out.push_str(if self.stale > 0 { "\u{1b}[K\r\n" } else { "\r\n" });
            self.stale = self.stale.saturating_sub(1);
        }
        self.lines.clear();
        self.cursor = (0, 0);
    }

    /// What is on the terminal is not ours any more.
    pub fn forget(&mut self) {
        self.lines.clear();
        self.cursor = (0, 0);
        self.broken = None;
        self.stale = 0;
    }

    /// The window has this many columns now. Terminals break lines that have
    /// become too long into several, which moves the cursor down.
    pub fn fit(&mut self, columns: usize) {
        let before = std::mem::replace(&mut self.columns, columns);
        if before == columns || before == 0 || self.lines.is_empty() {
            return;
        }
        let above: usize = self.lines[..self.cursor.0].iter().map(|line| self.rows(line)).sum();
        self.cursor.0 = above + self.cursor.1 / columns.max(1);
        self.broken = Some(self.lines.iter().map(|line| self.rows(line)).sum());
    }

    /// How many rows a line takes.
    fn rows(&self, line: &Painted) -> usize {
        line.width.max(1).div_ceil(self.columns.max(1))
    }
}

fn move_rows(row: &mut usize, to: usize, out: &mut String) {
    if to < *row {
        let _ = write!(out, "\u{1b}[{}A", *row - to);
    } else if to > *row {
        let _ = write!(out, "\u{1b}[{}B", to - *row);
    }
    *row = to;
}
