//! A list to choose from: what is marked, and what the filter leaves.

use aye_core::question::{Offer, Question};

use super::key::Key;
use super::line::{Edited, Line};

/// How far a page goes.
const PAGE: usize = 5;

/// The longest filter.
const LONGEST: usize = 256;

/// Where someone is in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// What was typed to narrow the list.
    pub filter: Line,
    /// The marked option, as an index into the question's options.
    pub marked: Option<usize>,
    /// Options have numbers that can be typed.
    pub numbered: bool,
    /// `/` was typed: every letter belongs to the filter.
    pub filtering: bool,
    /// Letters that are commands, because no option begins with them.
    commands: Vec<char>,
}

/// What a key did to the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// Something moved.
    Moved,
    /// Something was typed into the filter.
    Filtered,
    /// This option was picked.
    Picked(usize),
    /// Enter, but nothing is marked.
    Nothing,
    /// The person wants out.
    Out,
    /// The person wants to know more.
    Details,
    /// The key means nothing here.
    Unknown,
}

impl List {
    /// The list of a question; the default is marked, or `first` is if there
    /// is none.
    pub fn new(question: &Question, first: bool) -> Self {
        let options = &question.options;
        let default = question.default.as_ref();
        let marked = options.iter().position(|offer| Some(&offer.value) == default);
        let begins = |wanted: &dyn Fn(char) -> bool| {
            options.iter().any(|offer| {
                words(&offer.label).chain(words(&offer.value)).any(|word| word.starts_with(wanted))
            })
        };
        let commands = ['j', 'k', 'q', 'd'];
        Self {
            filter: Line::default(),
            marked: marked.or_else(|| (first && !options.is_empty()).then_some(0)),
            numbered: options.len() < 10 && !begins(&|c| c.is_ascii_digit()),
            filtering: false,
            commands: commands
                .into_iter()
                .filter(|command| !begins(&|c| c.to_ascii_lowercase() == *command))
                .collect(),
        }
    }

    /// The options that the filter leaves, as indices.
    pub fn left(&self, question: &Question) -> Vec<usize> {
        let wanted = self.filter.text().to_lowercase();
        let options = question.options.iter().enumerate();
        options.filter(|(_, offer)| fits(offer, &wanted)).map(|(index, _)| index).collect()
    }

    /// Whether a letter is a command at this moment.
    pub fn commands(&self, letter: char) -> bool {
        !self.filtering && self.filter.is_empty() && self.commands.contains(&letter)
    }

    /// Takes a key.
    pub fn key(&mut self, question: &Question, key: &Key) -> Listed {
        let typing = self.filtering || !self.filter.is_empty();
        match key {
            Key::Up => self.step(question, -1),
            Key::Down | Key::Tab => self.step(question, 1),
            Key::Ctrl('p') => self.step(question, -1),
            Key::Ctrl('n') => self.step(question, 1),
            Key::PageUp => self.step(question, -(PAGE as isize)),
            Key::PageDown => self.step(question, PAGE as isize),
            Key::Home => self.mark(question, 0),
            Key::End => self.mark(question, usize::MAX),
            Key::Enter => match self.marked {
                Some(index) => Listed::Picked(index),
                None => Listed::Nothing,
            },
            Key::Esc if typing => {
                self.filtering = false;
                self.filter = Line::default();
                self.keep_mark(question);
                Listed::Moved
            }
            Key::Esc => Listed::Out,
            Key::Char('k') if self.commands('k') => self.step(question, -1),
            Key::Char('j') if self.commands('j') => self.step(question, 1),
            Key::Char('q') if self.commands('q') => Listed::Out,
            Key::Char('d') if self.commands('d') => Listed::Details,
            Key::Char('?') if !typing => Listed::Details,
            Key::Char('/') if !typing => {
                self.filtering = true;
                Listed::Filtered
            }
            Key::Char(digit @ '1'..='9') if self.numbered && !typing => {
                let index = *digit as usize - '1' as usize;
                if index >= question.options.len() {
                    return Listed::Unknown;
                }
                self.marked = Some(index);
                Listed::Moved
            }
            // No label is that long.
            Key::Char(_) if self.filter.text().len() > LONGEST => Listed::Unknown,
            Key::Paste(text) if text.len() > LONGEST => Listed::Unknown,
            key => match self.filter.key(key) {
                Edited::No => Listed::Unknown,
                Edited::Yes | Edited::Joined | Edited::Full => {
                    if self.filter.is_empty() && matches!(key, Key::Backspace) {
                        self.filtering = false;
                    }
                    self.keep_mark(question);
                    Listed::Filtered
                }
            },
        }
    }

    /// The mark stays if the filter leaves it, or goes to the first that is left.
    fn keep_mark(&mut self, question: &Question) {
        let left = self.left(question);
        let narrowed = !self.filter.is_empty();
        match self.marked {
            Some(marked) if left.contains(&marked) => {}
            Some(_) | None if narrowed => self.marked = left.first().copied(),
            Some(_) | None => {}
        }
    }

    fn step(&mut self, question: &Question, by: isize) -> Listed {
        let left = self.left(question);
        let at = self.marked.and_then(|marked| left.iter().position(|index| *index == marked));
        let last = left.len().saturating_sub(1);
        let to = match (at, by) {
            (None, 1..) => 0,
            (None, _) => last,
            // From either end a single step goes round.
            (Some(0), -1) => last,
            (Some(at), 1) if at == last => 0,
            (Some(at), by) => at.saturating_add_signed(by).min(last),
        };
        self.mark(question, to)
    }

    fn mark(&mut self, question: &Question, at: usize) -> Listed {
        let left = self.left(question);
        self.marked = left.get(at).or(left.last()).copied();
        Listed::Moved
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Every word of the filter occurs in the label or the value.
fn fits(offer: &Offer, wanted: &str) -> bool {
    if wanted.is_empty() {
        return true;
    }
    let (label, value) = (offer.label.to_lowercase(), offer.value.to_lowercase());
    wanted.split_whitespace().all(|word| label.contains(word) || value.contains(word))
}
