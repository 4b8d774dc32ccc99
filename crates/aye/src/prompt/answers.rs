//! What whole lines mean, for prompts that read lines.

use aye_core::question::{AnswerScope, Question};
use aye_core::skill::AskKind;

use super::dialog::{Escape, Given, check, default_offer, meaning};

/// After so many lines that are not an answer it counts as declined.
const TRIES: u8 = 3;

/// Where someone is in answering with lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answers {
    wrong: u8,
    chosen: Option<usize>,
    agreed: Option<Given>,
    /// The answer is to be remembered, this far.
    remember: Option<AnswerScope>,
    escape: Escape,
}

/// What the next line is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The answer.
    Answer,
    /// The text that has to be typed to agree.
    Typed,
    /// A one-time code.
    Code,
}

/// What came of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineOutcome {
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
        Self { wrong: 0, chosen: None, agreed: None, remember: None, escape }
    }

    /// What the next line is to be.
    pub fn wanted(&self, question: &Question) -> Wanted {
        let chosen = self.chosen.or_else(|| typed_at_once(question));
        match (&self.agreed, chosen, &question.typed) {
            (Some(_), _, _) => Wanted::Code,
            (None, Some(_), Some(_)) => Wanted::Typed,
            (None, _, _) => Wanted::Answer,
        }
    }

    /// Takes a line.
    pub fn line(&mut self, question: &Question, line: &str) -> LineOutcome {
        match self.outcome(question, line) {
            LineOutcome::Answer(given) => {
                LineOutcome::Answer(Given { remember: self.remember, ..given })
            }
            other => other,
        }
    }

    fn outcome(&mut self, question: &Question, line: &str) -> LineOutcome {
        if line.trim() == "?" {
            return LineOutcome::Details;
        }
        if let Some(scope) = scope_wanted(question, line) {
            return self.remembered(question, scope);
        }
        if let Some(given) = self.agreed.take() {
            let code = Some(line.trim().to_owned());
            return LineOutcome::Answer(Given { code, ..given });
        }
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
            None if line.is_empty() && question.decline_starts().is_some() => {
                LineOutcome::Again("Enter does nothing here: answer yes or no".to_owned())
            }
            None if line.is_empty() => {
                self.wrong(question, "Enter is not an answer, there is no default")
            }
            None => self.wrong(question, "that is not an answer"),
        }
    }

    /// Takes in how far the answer that follows is remembered.
    fn remembered(&mut self, question: &Question, scope: &str) -> LineOutcome {
        let scopes = question.remember_scopes();
        let words = || scopes.iter().map(|scope| scope.word()).collect::<Vec<_>>().join(", ");
        let wanted = match scope {
            "" => scopes.first(),
            scope => scopes.iter().find(|one| one.word() == scope),
        };
        match (wanted, scope) {
            (Some(scope), _) => {
                self.remember = Some(*scope);
                let covers = question.remember_covers(*scope);
                LineOutcome::Again(format!("your answer is remembered {}: {covers}", scope.reach()))
            }
            (None, "no") => {
                self.remember = None;
                LineOutcome::Again("your answer is not remembered".to_owned())
            }
            (None, _) => LineOutcome::Again(format!("remember what? One of {}, or no", words())),
        }
    }

    fn text(&mut self, question: &Question, line: &str) -> LineOutcome {
        let text = match (&question.default, line.is_empty()) {
            (Some(default), true) => default.as_str(),
            (_, _) => line,
        };
        match check(question, text) {
            Ok(()) => self.agreed(question, Given::of(text)),
            Err(why) => LineOutcome::Again(why),
        }
    }

    fn typed(
        &mut self,
        question: &Question,
        index: usize,
        wanted: &str,
        line: &str,
    ) -> LineOutcome {
        if line == wanted {
            let value = question.options.get(index).map_or("", |offer| offer.value.as_str());
            let typed = Some(wanted.to_owned());
            return self.agreed(question, Given { typed, ..Given::of(value) });
        }
        match meaning(line.trim()) {
            Some(false) => self.out(question),
            Some(true) | None => self.wrong(question, "that is not the text; `no` declines"),
        }
    }

    fn pick(&mut self, question: &Question, index: usize) -> LineOutcome {
        let offer = &question.options[index];
        if !question.commits(&offer.value.as_str().into()) {
            return LineOutcome::Answer(Given::of(&offer.value));
        }
        if question.typed.is_some() {
            self.chosen = Some(index);
            return LineOutcome::Again(format!("chosen: {}", offer.label));
        }
        self.agreed(question, Given::of(&offer.value))
    }

    fn agreed(&mut self, question: &Question, given: Given) -> LineOutcome {
        if !question.reauth {
            return LineOutcome::Answer(given);
        }
        self.agreed = Some(given);
        LineOutcome::Again("the code is in your authenticator app".to_owned())
    }

    fn wrong(&mut self, question: &Question, what: &str) -> LineOutcome {
        if question.decline_starts().is_some() {
            // What declining starts is not started by a slip.
            return LineOutcome::Again(what.to_owned());
        }
        self.wrong += 1;
        let left = TRIES.saturating_sub(self.wrong);
        if left == 0 {
            let reason = Some("no clear answer in three tries".to_owned());
            return match question.decline() {
                Some(no) => LineOutcome::Answer(Given { reason, ..Given::of(&no.value) }),
                None => LineOutcome::Dismissed,
            };
        }
        let tries = if left == 1 { "try" } else { "tries" };
        LineOutcome::Again(format!("{what} ({left} {tries} left)"))
    }

    fn out(&self, question: &Question) -> LineOutcome {
        match (self.escape, question.decline()) {
            (Escape::Declines, Some(no)) => LineOutcome::Answer(Given::of(&no.value)),
            (Escape::Declines, None) => LineOutcome::Again(
                "this question cannot be declined; Ctrl-C pauses the run".to_owned(),
            ),
            (Escape::Dismisses, _) => LineOutcome::Dismissed,
        }
    }
}

/// Whether a line says `remember`, before the answer. In a text it would be the answer.
pub(super) fn can_remember(question: &Question) -> bool {
    question.remember && question.kind != AskKind::Input
}

/// How far the answer is to be remembered, where a line says `remember [SCOPE]`.
fn scope_wanted<'a>(question: &Question, line: &'a str) -> Option<&'a str> {
    let is_answer =
        pick(question, line.trim()).is_some() || question.typed.as_deref() == Some(line);
    if !can_remember(question) || is_answer {
        return None;
    }
    let scope = line.trim().strip_prefix("remember")?;
    (scope.is_empty() || scope.starts_with(' ')).then(|| scope.trim())
}

/// A plain yes or no that has to be typed asks for the text at once.
fn typed_at_once(question: &Question) -> Option<usize> {
    question.typed.as_ref()?;
    question.yes_and_no().map(|(yes, _)| yes)
}

/// A number, a name, or yes and no.
fn pick(question: &Question, line: &str) -> Option<usize> {
    let options = &question.options;
    let named = |text: &str| text.to_lowercase() == line.to_lowercase();
    let exact = options.iter().position(|offer| offer.value == line || offer.label == line);
    let loose = || options.iter().position(|offer| named(&offer.value) || named(&offer.label));
    let number = || match question.yes_and_no() {
        Some(_) => None,
        None => line.parse::<usize>().ok().filter(|n| (1..=options.len()).contains(n)),
    };
    let word = || match (question.yes_and_no(), meaning(line)) {
        (Some((yes, _)), Some(true)) => Some(yes),
        (Some((_, no)), Some(false)) => Some(no),
        (Some(_) | None, _) => None,
    };
    exact.or_else(loose).or_else(word).or_else(|| number().map(|n| n - 1))
}
