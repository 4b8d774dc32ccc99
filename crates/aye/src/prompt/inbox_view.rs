//! The inbox on a terminal: a list that changes by itself, to pick from.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use crate::screen::{Painted, Screen, at_once};

use super::key::{Decoder, Key};
use super::poll::poll;
use super::terminal::PromptConfig;
use super::tty::{Mode, Tty};
use super::view::{Item, Look, inbox_lines};

/// An Escape that nothing follows for so long was the key.
const ESCAPE: Duration = Duration::from_millis(100);
/// How often the times in the list are painted.
const LOOK: Duration = Duration::from_secs(1);
/// As far as a page goes.
const PAGE: usize = 5;

/// What someone at the inbox wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InboxAction {
    /// To answer the question of this id.
    Open(String),
    /// To leave.
    Leave,
    /// Nothing yet: something else is ready, or it is time to look.
    Nothing,
}

/// A list of questions on the terminal.
pub struct InboxView {
    tty: Tty,
    paint: crate::paint::Paint,
    screen: Screen,
    decoder: Decoder,
    /// Until then an Escape may be the beginning of more.
    escape_until: Option<Instant>,
}

impl InboxView {
    /// Takes the terminal, or says why it cannot be had.
    pub fn open(config: &PromptConfig) -> Result<Self, String> {
        if let Some(obstacle) = &config.obstacle {
            return Err(obstacle.clone());
        }
        let mut tty = Tty::open()?;
        tty.take(Mode::Keys).map_err(|error| format!("the terminal cannot be used: {error}"))?;
        Ok(Self {
            tty,
            paint: config.paint,
            screen: Screen::default(),
            decoder: Decoder::default(),
            escape_until: None,
        })
    }

    /// Shows the list and waits for a wish, for one of `wake`, or for a
    /// second. The mark is the id of a question: it stays where it is while
    /// others come and go.
    pub fn ask(
        &mut self,
        items: &[Item],
        mark: &mut Option<String>,
        wake: &[BorrowedFd<'_>],
    ) -> Result<InboxAction, String> {
        let look_up = Instant::now() + LOOK;
        loop {
            if !self.tty.is_foreground() {
                return Err("this process is in the background".to_owned());
            }
            self.paint(items, position(items, mark.as_deref()))?;
            let limit = self.escape_until.unwrap_or(look_up).min(look_up);
            let ready = poll(self.tty.as_fd(), wake, limit);
            if ready.gone {
                return Err("the terminal has gone away".to_owned());
            }
            let mut keys = Vec::new();
            if ready.typed {
                let mut buffer = [0; 4096];
                let count = self.tty.read(&mut buffer).map_err(|error| error.to_string())?;
                keys = self.decoder.push(&buffer[..count]);
            }
            if !self.decoder.is_waiting() {
                self.escape_until = None;
            } else if ready.typed || self.escape_until.is_none() {
                self.escape_until = Some(Instant::now() + ESCAPE);
            } else if self.escape_until.is_some_and(|until| Instant::now() >= until) {
                keys = self.decoder.flush();
                self.escape_until = None;
            }
            for key in &keys {
                if let Some(wish) = press(key, items, mark) {
                    return Ok(wish);
                }
            }
            if ready.woken || Instant::now() >= look_up {
                return Ok(InboxAction::Nothing);
            }
        }
    }

    fn paint(&mut self, items: &[Item], marked: usize) -> Result<(), String> {
        let (columns, rows) = self.tty.size();
        let look = Look { paint: self.paint, columns, rows };
        let (lines, cursor) = inbox_lines(items, marked, look);
        let lines: Vec<Painted> = lines
            .iter()
            .map(|line| Painted { text: line.render(look.paint), width: line.width() })
            .collect();
        let mut out = String::new();
        self.screen.fit(columns);
        // A window too small for all of it shows its end.
        let over = lines.len().saturating_sub(rows.saturating_sub(1).max(1));
        let cursor = (cursor.0.saturating_sub(over), cursor.1);
        self.screen.show(lines.into_iter().skip(over).collect(), cursor, &mut out);
        if out.is_empty() {
            return Ok(());
        }
        self.tty
            .write(&at_once(&out))
            .map_err(|error| format!("the terminal cannot be written to: {error}"))
    }

    /// This process is about to be stopped: gives the terminal back.
    pub fn rest(&mut self) {
        self.erase();
        self.tty.give_back();
        self.decoder.reset();
    }

    /// This process continues after a stop.
    pub fn redraw(&mut self) {
        if self.tty.is_foreground() {
            self.screen.forget();
            self.tty.retake();
        }
    }

    /// Takes the list away for the moment.
    pub fn erase(&mut self) {
        let mut out = String::new();
        self.screen.fit(self.tty.size().0);
        self.screen.erase(&mut out);
        if !out.is_empty() && self.tty.is_foreground() {
            // A terminal that has gone away has nothing to erase.
            let _ = self.tty.write(&at_once(&out));
        }
    }
}

impl Drop for InboxView {
    fn drop(&mut self) {
        self.erase();
    }
}

/// Where the mark is; the first line if it is nowhere.
fn position(items: &[Item], mark: Option<&str>) -> usize {
    items.iter().position(|item| Some(item.id.as_str()) == mark).unwrap_or(0)
}

fn press(key: &Key, items: &[Item], mark: &mut Option<String>) -> Option<InboxAction> {
    let at = position(items, mark.as_deref());
    let last = items.len().saturating_sub(1);
    let to = match key {
        Key::Enter => return items.get(at).map(|item| InboxAction::Open(item.id.clone())),
        Key::Esc | Key::Char('q' | 'Q') => return Some(InboxAction::Leave),
        Key::Up | Key::Char('k') | Key::Ctrl('p') => at.saturating_sub(1),
        Key::Down | Key::Tab | Key::Char('j') | Key::Ctrl('n') => (at + 1).min(last),
        Key::PageUp => at.saturating_sub(PAGE),
        Key::PageDown => (at + PAGE).min(last),
        Key::Home => 0,
        Key::End => last,
        Key::Char(digit @ '1'..='9') => {
            let number = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
            number.map(|number| number - 1).filter(|at| *at <= last).unwrap_or(at)
        }
        _ => at,
    };
    *mark = items.get(to).map(|item| item.id.clone());
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str) -> Item {
        Item {
            id: id.to_owned(),
            asked: String::new(),
            note: String::new(),
            soon: false,
            proposed: false,
        }
    }

    #[test]
    fn the_mark_stays_with_its_question() {
        let items = [item("a"), item("b"), item("c")];
        let mut mark = None;
        assert_eq!(press(&Key::Down, &items, &mut mark), None);
        assert_eq!(mark.as_deref(), Some("b"));
        let fewer = [item("b"), item("c")];
        assert_eq!(press(&Key::Enter, &fewer, &mut mark), Some(InboxAction::Open("b".to_owned())));
        assert_eq!(press(&Key::Char('7'), &fewer, &mut mark), None, "there is no seventh");
        assert_eq!(mark.as_deref(), Some("b"));
        assert_eq!(press(&Key::End, &fewer, &mut mark), None);
        assert_eq!(press(&Key::Down, &fewer, &mut mark), None);
        assert_eq!(mark.as_deref(), Some("c"));
        assert_eq!(press(&Key::Enter, &[], &mut mark), None, "nothing to open");
        assert_eq!(press(&Key::Char('q'), &[], &mut mark), Some(InboxAction::Leave));
    }
}
