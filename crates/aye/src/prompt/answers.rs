//! What whole lines mean, for prompts that read lines.

use aye_core::question::Question;
use aye_core::skill::{AskKind, ChoiceAction};

use super::dialog::{Escape, Given, check, default_offer, meaning, yes_and_no};

/// After so many lines that are no answer it counts as declined.
const TRIES: u8 = 3;

/// Where somebody is in answering with lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answers {
    wrong: u8,
    chosen: Option<usize>,
    /// An answer that still wants its one-time code.
    uncoded: Option<Given>,
    escape: Escape,
}

/// What came of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// It is asked again, and why.
    Again(String),
    /// Details are wanted.
    Details,
    /// An answer.
    Answer(Given),
    /// The person left without an answer, or never gave a clear one.
    Dismissed,
}

impl Answers {
    /// Nothing said yet.
    pub fn new(escape: Escape) -> Self {
        Self { wrong: 0, chosen: None, uncoded: None, escape }
    }

    /// The option that still has to be confirmed by typing.
    pub fn chosen(&self) -> Option<usize> {
        self.chosen
    }

    /// Whether a one-time code is asked for now.
    pub fn wants_code(&self) -> bool {
        self.uncoded.is_some()
    }

    /// Takes a line.
    pub fn line(&mut self, question: &Question, line: &str) -> Said {
        if line.trim() == "?" {
            return Said::Details;
        }
        if let Some(given) = self.uncoded.clone() {
            return match line.trim() {
                "" | "q" | "Q" => {
                    self.uncoded = None;
                    Said::Again("no code: nothing is answered yet".to_owned())
                }
                code => Said::Answer(Given { code: Some(code.to_owned()), ..given }),
            };
        }
        match self.answer(question, line) {
            Said::Answer(given) if given.wants_code(question) => {
                self.uncoded = Some(given);
                Said::Again("this needs a one-time code".to_owned())
            }
            said => said,
        }
    }

    fn answer(&mut self, question: &Question, line: &str) -> Said {
        if question.kind == AskKind::Input {
            return self.text(question, line);
        }
        let chosen = self.chosen.or_else(|| typed_at_once(question));
        if let (Some(index), Some(wanted)) = (chosen, &question.typed) {
            return self.typed(question, index, wanted, line);
        }
        let line = line.trim();
        let index = match line {
            "" => default_offer(question),
            line => pick(question, line),
        };
        match index {
            Some(index) => self.pick(question, index),
            None if matches!(line, "q" | "Q") => self.out(question),
            None if line.is_empty() => {
                self.wrong(question, "Enter is no answer, there is no default")
            }
            None => self.wrong(question, "that is no answer"),
        }
    }

    fn text(&self, question: &Question, line: &str) -> Said {
        let text = match (&question.default, line.is_empty()) {
            (Some(default), true) => default.as_str(),
            (_, _) => line,
        };
        match check(question, text) {
            Ok(()) => Said::Answer(given(text)),
            Err(why) => Said::Again(why),
        }
    }

    fn typed(&mut self, question: &Question, index: usize, wanted: &str, line: &str) -> Said {
        if line == wanted {
            let value = question.options.get(index).map_or("", |offer| offer.value.as_str());
            return Said::Answer(Given { typed: Some(wanted.to_owned()), ..given(value) });
        }
        match meaning(line.trim()) {
            Some(false) => self.out(question),
            Some(true) | None => self.wrong(question, "that is not the text; `no` declines"),
        }
    }

    fn pick(&mut self, question: &Question, index: usize) -> Said {
        let offer = &question.options[index];
        if question.typed.is_some() && offer.action == ChoiceAction::Proceed {
            self.chosen = Some(index);
            return Said::Again(format!("chosen: {}", offer.label));
        }
        Said::Answer(given(&offer.value))
    }

    fn wrong(&mut self, question: &Question, what: &str) -> Said {
        self.wrong += 1;
        let left = TRIES.saturating_sub(self.wrong);
        if left == 0 {
            let reason = Some("no clear answer in three tries".to_owned());
            return match decline(question) {
                Some(value) => Said::Answer(Given { reason, ..given(value) }),
                None => Said::Dismissed,
            };
        }
        let tries = if left == 1 { "try" } else { "tries" };
        Said::Again(format!("{what} ({left} {tries} left)"))
    }

    fn out(&self, question: &Question) -> Said {
        match (self.escape, decline(question)) {
            (Escape::Declines, Some(value)) => Said::Answer(given(value)),
            (Escape::Declines, None) => {
                Said::Again("nothing here declines; Ctrl-C pauses the run".to_owned())
            }
            (Escape::Dismisses, _) => Said::Dismissed,
        }
    }
}

fn given(value: &str) -> Given {
    Given::of(value)
}

/// A plain yes or no that has to be typed asks for the text at once.
fn typed_at_once(question: &Question) -> Option<usize> {
    question.typed.as_ref()?;
    yes_and_no(question).map(|(yes, _)| yes)
}

fn decline(question: &Question) -> Option<&str> {
    let cancels = question.options.iter().find(|offer| offer.action == ChoiceAction::Cancel);
    cancels.map(|offer| offer.value.as_str())
}

/// A number, a name, or yes and no.
fn pick(question: &Question, line: &str) -> Option<usize> {
    let options = &question.options;
    let named = |text: &str| text.to_lowercase() == line.to_lowercase();
    let exact = options.iter().position(|offer| offer.value == line || offer.label == line);
    let loose = || options.iter().position(|offer| named(&offer.value) || named(&offer.label));
    let number = || match yes_and_no(question) {
        Some(_) => None,
        None => line.parse::<usize>().ok().filter(|n| (1..=options.len()).contains(n)),
    };
    let word = || match (yes_and_no(question), meaning(line)) {
        (Some((yes, _)), Some(true)) => Some(yes),
        (Some((_, no)), Some(false)) => Some(no),
        (Some(_) | None, _) => None,
    };
    exact.or_else(loose).or_else(word).or_else(|| number().map(|n| n - 1))
}
