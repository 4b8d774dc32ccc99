//! From bytes to keys.

/// One thing a person did at the keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// Return, or Ctrl-J.
    Enter,
    /// Escape alone.
    Esc,
    /// Tab.
    Tab,
    /// Deletes to the left.
    Backspace,
    /// Deletes to the right.
    Delete,
    /// One to the left.
    Left,
    /// One to the right.
    Right,
    /// One up.
    Up,
    /// One down.
    Down,
    /// To the beginning.
    Home,
    /// To the end.
    End,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// A word to the left.
    WordLeft,
    /// A word to the right.
    WordRight,
    /// A letter with Ctrl.
    Ctrl(char),
    /// Text that was pasted, as the terminal says.
    Paste(String),
    /// Anything else; named so that it can be explained.
    Other,
}

/// The longest sequence that is waited for; longer ones are nobody's keys.
const LONGEST: usize = 64;
/// The longest paste that is kept; nobody answers with a megabyte.
const LONGEST_PASTE: usize = 1 << 20;

const PASTE_BEGINS: &[u8] = b"200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// Cuts a stream of bytes into keys. Bytes that are not complete yet wait.
#[derive(Debug, Default)]
pub struct Decoder {
    pending: Vec<u8>,
    pasting: bool,
    /// The rest of something that is too long to be a key: nobody typed it.
    dropping: Option<Long>,
}

/// What is too long to be a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Long {
    /// `ESC [ parameters final`.
    Sequence,
    /// A string of the terminal.
    Text,
}

/// What the beginning of the pending bytes is.
enum Cut {
    /// A key and how many bytes it took.
    Key(Key, usize),
    /// Nothing, and how many bytes it took.
    Skip(usize),
    /// A paste follows these bytes.
    Paste(usize),
    /// These bytes, and all up to its end, are nobody's key.
    Drop(Long, usize),
    /// More bytes are needed.
    Wait,
}

impl Decoder {
    /// Takes bytes and hands out the keys that are complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.pending.extend_from_slice(bytes);
        let mut keys = Vec::new();
        loop {
            if self.pasting {
                match self.pasted() {
                    Some(key) => keys.push(key),
                    None => break,
                }
            } else if let Some(long) = self.dropping {
                if !self.drop_rest(long) {
                    break;
                }
            } else if !self.cut_keys(&mut keys) {
                break;
            }
        }
        keys
    }

    /// Cuts keys off; false if more bytes are needed, true if something else
    /// than a key has begun.
    fn cut_keys(&mut self, keys: &mut Vec<Key>) -> bool {
        let mut done = 0;
        let mut begun = false;
        while done < self.pending.len() && !begun {
            done += match cut(&self.pending[done..]) {
                Cut::Key(key, used) => {
                    keys.push(key);
                    used
                }
                Cut::Skip(used) => used,
                Cut::Paste(used) => {
                    (self.pasting, begun) = (true, true);
                    used
                }
                Cut::Drop(long, used) => {
                    (self.dropping, begun) = (Some(long), true);
                    used
                }
                Cut::Wait => break,
            };
        }
        self.pending.drain(..done);
        begun
    }

    /// Whether an Escape waits to see whether more follows.
    pub fn is_waiting(&self) -> bool {
        !self.pasting && (self.dropping.is_some() || !self.pending.is_empty())
    }

    /// Nothing followed in time: what waits is what it is.
    pub fn flush(&mut self) -> Vec<Key> {
        self.dropping = None;
        if self.pasting || self.pending.is_empty() {
            return Vec::new();
        }
        let pending = std::mem::take(&mut self.pending);
        match pending.as_slice() {
            [0x1b] => vec![Key::Esc],
            [0x1b, 0x1b] => vec![Key::Esc, Key::Esc],
            _ => vec![Key::Other],
        }
    }

    /// Forgets everything, for a new question.
    pub fn reset(&mut self) {
        self.pending.clear();
        self.pasting = false;
        self.dropping = None;
    }

    /// Drops what is too long; false if its end has not come yet.
    fn drop_rest(&mut self, long: Long) -> bool {
        let end = match long {
            Long::Sequence => {
                let last = self.pending.iter().position(|byte| !(0x20..=0x3f).contains(byte));
                last.map(|at| at + usize::from(is_final(self.pending[at])))
            }
            Long::Text => end_of_string(&self.pending),
        };
        // An escape may be half of the end.
        let kept = usize::from(long == Long::Text && self.pending.last() == Some(&0x1b));
        self.pending.drain(..end.unwrap_or(self.pending.len() - kept));
        if end.is_some() {
            self.dropping = None;
        }
        end.is_some()
    }

    fn pasted(&mut self) -> Option<Key> {
        let end = self.pending.windows(PASTE_ENDS.len()).position(|window| window == PASTE_ENDS);
        let Some(end) = end else {
            // What cannot be the end any more and is too much is dropped.
            if self.pending.len() > LONGEST_PASTE {
                let tail = self.pending.split_off(self.pending.len() - PASTE_ENDS.len());
                self.pending = tail;
            }
            return None;
        };
        let text = String::from_utf8_lossy(&self.pending[..end]).into_owned();
        self.pending.drain(..end + PASTE_ENDS.len());
        self.pasting = false;
        Some(Key::Paste(text))
    }
}

fn cut(bytes: &[u8]) -> Cut {
    match bytes[0] {
        0x1b => escape(bytes),
        b'\r' | b'\n' => Cut::Key(Key::Enter, 1),
        b'\t' => Cut::Key(Key::Tab, 1),
        0x08 | 0x7f => Cut::Key(Key::Backspace, 1),
        0x00 => Cut::Key(Key::Other, 1),
        control @ 0x01..=0x1a => Cut::Key(Key::Ctrl(char::from(control + 0x60)), 1),
        0x1c..=0x1f => Cut::Key(Key::Other, 1),
        _ => character(bytes),
    }
}

fn character(bytes: &[u8]) -> Cut {
    let length = match bytes[0] {
        0x20..=0x7e => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Cut::Key(Key::Other, 1),
    };
    if bytes.len() < length {
        let fits = bytes[1..].iter().all(|byte| byte & 0xc0 == 0x80);
        return if fits { Cut::Wait } else { Cut::Key(Key::Other, 1) };
    }
    match std::str::from_utf8(&bytes[..length]).ok().and_then(|text| text.chars().next()) {
        Some(c) if c.is_control() => Cut::Key(Key::Other, length),
        Some(c) => Cut::Key(Key::Char(c), length),
        None => Cut::Key(Key::Other, 1),
    }
}

fn escape(bytes: &[u8]) -> Cut {
    match bytes.get(1) {
        None => Cut::Wait,
        Some(b'[') => sequence(bytes),
        Some(b'O') => match bytes.get(2) {
            None => Cut::Wait,
            Some(last) => Cut::Key(named(&[], *last), 3),
        },
        // Two escapes: the first one stands alone.
        Some(0x1b) if bytes.len() > 2 => Cut::Key(Key::Esc, 1),
        Some(0x1b) => Cut::Wait,
        Some(b'b') => Cut::Key(Key::WordLeft, 2),
        Some(b'f') => Cut::Key(Key::WordRight, 2),
        Some(0x7f | 0x08) => Cut::Key(Key::Ctrl('w'), 2),
        // What a terminal reports and nobody typed: OSC, DCS, APC, PM strings.
        Some(b']' | b'P' | b'_' | b'^') => string(bytes),
        Some(_) => Cut::Key(Key::Other, 2),
    }
}

/// `ESC [ parameters final`.
fn sequence(bytes: &[u8]) -> Cut {
    let rest = &bytes[2..];
    // The Linux console: `ESC [ [ A` and so on are function keys.
    if rest.first() == Some(&b'[') {
        return if rest.len() < 2 { Cut::Wait } else { Cut::Key(Key::Other, 4) };
    }
    // However the bytes arrive, it ends at the first that is not a parameter.
    let end = rest.iter().take(LONGEST).position(|byte| !(0x20..=0x3f).contains(byte));
    let end = match end {
        Some(end) if is_final(rest[end]) => end,
        Some(odd) => return Cut::Key(Key::Other, 2 + odd),
        None if rest.len() >= LONGEST => return Cut::Drop(Long::Sequence, 2 + LONGEST),
        None => return Cut::Wait,
    };
    let used = 2 + end + 1;
    if &rest[..=end] == PASTE_BEGINS {
        return Cut::Paste(used);
    }
    // An answer or an end of paste that belongs to nothing is not a key.
    if matches!(rest[end], b'R' | b'c' | b'I' | b'O' | b'y') || &rest[..=end] == b"201~" {
        return Cut::Skip(used);
    }
    Cut::Key(named(&rest[..end], rest[end]), used)
}

/// A string up to `ESC \` or BEL: the terminal speaking, not a person.
fn string(bytes: &[u8]) -> Cut {
    let most = LONGEST * 16;
    match end_of_string(&bytes[2..bytes.len().min(most + 1)]) {
        Some(end) => Cut::Skip(2 + end),
        // The last one is only looked at, in case it is half of the end.
        None if bytes.len() > most => Cut::Drop(Long::Text, most),
        None => Cut::Wait,
    }
}

/// Where a string of the terminal ends.
fn end_of_string(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len()).find_map(|at| match (bytes[at], bytes.get(at + 1)) {
        (0x07, _) => Some(at + 1),
        (0x1b, Some(b'\\')) => Some(at + 2),
        _ => None,
    })
}

fn is_final(byte: u8) -> bool {
    (0x40..=0x7e).contains(&byte)
}

fn named(parameters: &[u8], last: u8) -> Key {
    let moved = parameters.ends_with(b";5") || parameters.ends_with(b";3");
    match (last, parameters) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'C', _) if moved => Key::WordRight,
        (b'D', _) if moved => Key::WordLeft,
        (b'C', _) => Key::Right,
        (b'D', _) => Key::Left,
        (b'H', _) | (b'~', b"1" | b"7") => Key::Home,
        (b'F', _) | (b'~', b"4" | b"8") => Key::End,
        (b'~', b"3") => Key::Delete,
        (b'~', b"5") => Key::PageUp,
        (b'~', b"6") => Key::PageDown,
        (b'M', b"") => Key::Enter,
        _ => Key::Other,
    }
}
