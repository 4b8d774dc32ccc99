//! A terminal in miniature: what the bytes a program writes look like.
//!
//! It knows the few sequences the program uses and panics at any other, so
//! that a message that gets one through is found out.

use unicode_width::UnicodeWidthChar as _;

/// A screen with a cursor.
#[derive(Debug, Clone)]
pub(super) struct Vt {
    columns: usize,
    rows: usize,
    cells: Vec<Vec<String>>,
    row: usize,
    column: usize,
    saved: (usize, usize),
    /// Lines that went off the top.
    pub(super) above: Vec<String>,
    pending: Vec<u8>,
    /// Bracketed paste is on.
    pub(super) paste: bool,
    /// What comes is part of a picture that is not to be looked at yet.
    pub(super) drawing: bool,
    /// The titles that the window was given.
    pub(super) titles: Vec<String>,
}

impl Vt {
    pub(super) fn new(columns: usize, rows: usize) -> Self {
        Self {
            columns,
            rows,
            cells: vec![vec![String::from(" "); columns]; rows],
            row: 0,
            column: 0,
            saved: (0, 0),
            above: Vec::new(),
            pending: Vec::new(),
            paste: false,
            drawing: false,
            titles: Vec::new(),
        }
    }

    /// The lines, without what is empty at the end.
    pub(super) fn screen(&self) -> String {
        let lines: Vec<String> = self.cells.iter().map(|line| text(line)).collect();
        lines.join("\n").trim_end().to_owned()
    }

    /// What was ever shown and is not erased.
    pub(super) fn all(&self) -> String {
        let mut all = self.above.join("\n");
        if !all.is_empty() {
            all.push('\n');
        }
        all + &self.screen()
    }

    pub(super) fn cursor(&self) -> (usize, usize) {
        (self.row, self.column)
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        while let Some(used) = self.step() {
            self.pending.drain(..used);
        }
    }

    fn step(&mut self) -> Option<usize> {
        let first = *self.pending.first()?;
        match first {
            b'\r' => self.column = 0,
            b'\n' => self.line_feed(),
            0x07 => {}
            0x08 => self.column = self.column.saturating_sub(1),
            0x1b => return self.escape(),
            0x20..=0x7e => self.put(char::from(first)),
            0x80.. => {
                let length = match first {
                    0xc0..=0xdf => 2,
                    0xe0..=0xef => 3,
                    _ => 4,
                };
                let bytes = self.pending.get(..length)?.to_vec();
                let text = std::str::from_utf8(&bytes).expect("UTF-8 on the terminal");
                let c = text.chars().next().expect("a character");
                assert!(!c.is_control(), "control character {c:?} on the terminal");
                self.put(c);
                return Some(length);
            }
            // The shell's own Tab; the program never sends one.
            b'\t' => self.column = (self.column / 8 + 1) * 8,
            other => panic!("byte {other:#x} on the terminal"),
        }
        Some(1)
    }

    fn escape(&mut self) -> Option<usize> {
        let introducer = *self.pending.get(1)?;
        match introducer {
            b'7' => self.saved = (self.row, self.column),
            b'8' => (self.row, self.column) = self.saved,
            b'>' | b'=' => {}
            b']' => return self.title(),
            other => {
                assert_eq!(other, b'[', "an escape sequence of an unknown kind");
                return self.sequence();
            }
        }
        Some(2)
    }

    /// The title of the window: the one thing that is said beside the screen.
    fn title(&mut self) -> Option<usize> {
        let end = self.pending.iter().position(|byte| *byte == 0x07)?;
        let text = String::from_utf8(self.pending[2..end].to_vec()).expect("UTF-8 in a title");
        let text = text.strip_prefix("2;").expect("a title and nothing else");
        assert!(!text.contains(char::is_control), "{text:?}");
        self.titles.push(text.to_owned());
        Some(end + 1)
    }

    fn sequence(&mut self) -> Option<usize> {
        let rest = &self.pending[2..];
        let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
        let parameters = String::from_utf8(rest[..end].to_vec()).expect("ASCII");
        let last = rest[end];
        let count = parameters.parse::<usize>().unwrap_or(1);
        match last {
            b'A' => self.row = self.row.saturating_sub(count),
            b'B' => self.row = (self.row + count).min(self.rows - 1),
            b'C' => self.column = (self.column + count).min(self.columns - 1),
            b'K' if parameters == "2" => self.cells[self.row].fill(" ".into()),
            b'K' => self.cells[self.row][self.column.min(self.columns - 1)..].fill(" ".into()),
            b'J' => {
                self.cells[self.row][self.column.min(self.columns - 1)..].fill(" ".into());
                for line in &mut self.cells[self.row + 1..] {
                    line.fill(" ".into());
                }
            }
            b'm' => {}
            b'h' if parameters == "?2004" => self.paste = true,
            b'l' if parameters == "?2004" => self.paste = false,
            b'h' | b'l' if parameters == "?2026" => self.drawing = last == b'h',
            b'h' | b'l' => {}
            // Titles are put on a stack and taken from it.
            b't' if matches!(parameters.as_str(), "22;2" | "23;2") => {}
            other => panic!("an unknown sequence: CSI {parameters} {}", char::from(other)),
        }
        Some(2 + end + 1)
    }

    fn put(&mut self, c: char) {
        let width = c.width().unwrap_or(0);
        if width == 0 {
            let at = self.column.saturating_sub(1);
            self.cells[self.row][at].push(c);
            return;
        }
        if self.column + width > self.columns {
            self.column = 0;
            self.line_feed();
        }
        self.cells[self.row][self.column] = c.to_string();
        if width == 2 {
            self.cells[self.row][self.column + 1] = String::new();
        }
        self.column += width;
    }

    fn line_feed(&mut self) {
        self.row += 1;
        if self.row == self.rows {
            self.row -= 1;
            let gone = self.cells.remove(0);
            self.above.push(text(&gone));
            self.cells.push(vec![" ".into(); self.columns]);
        }
    }
}

fn text(cells: &[String]) -> String {
    cells.concat().trim_end().to_owned()
}
