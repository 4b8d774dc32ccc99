//! What keys mean: from a key to a state or a decision, without any IO.

use aye_core::pattern::is_match;
use aye_core::question::{AnswerScope, Question};
use aye_core::skill::AskKind;

use super::key::Key;
use super::line::{Edited, Line};
use super::list::{List, Listed};

/// After so many keys that are not an answer it counts as declined.
const TRIES: u8 = 3;

/// What Escape means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escape {
    /// The option that declines, if there is one: for runs.
    Declines,
    /// The prompt is dismissed without an answer: for scripts.
    Dismisses,
}

/// Where someone is in answering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// One key answers: the indices of yes and no.
    Key(usize, usize),
    /// A word and Enter answer: yes and no are too close for one key.
    Word(usize, usize, Line),
    /// One of several.
    List(List),
    /// Text.
    Input(Line),
    /// This option was chosen and has to be confirmed by typing a text.
    Typed(usize, Line),
    /// The answer is known; a one-time code has to go with it.
    Code(Given, Line),
}

/// What came of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The question is still open.
    Stay,
    /// Still open, and someone is writing.
    Typing,
    /// An answer.
    Answer(Given),
    /// The person left without an answer.
    Dismissed,
}

/// An answer as given at the keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The value of an option, or text.
    pub value: String,
    /// What was typed to agree.
    pub typed: Option<String>,
    /// Why, where the prompt itself knows.
    pub reason: Option<String>,
    /// The one-time code, not yet checked.
    pub code: Option<String>,
    /// It is to be remembered, this far.
    pub remember: Option<AnswerScope>,
}

impl Given {
    /// This value and nothing else.
    pub fn of(value: &str) -> Self {
        Self { value: value.to_owned(), typed: None, reason: None, code: None, remember: None }
    }
}

/// The state of one prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialog {
    /// Where it stands.
    pub stage: Stage,
    /// What the prompt says about the last key.
    pub notice: Option<String>,
    /// Details are shown.
    pub details: bool,
    /// The answer is to be remembered, this far.
    pub remember: Option<AnswerScope>,
    wrong: u8,
    escape: Escape,
}

impl Dialog {
    /// The beginning for a question.
    pub fn new(question: &Question, escape: Escape) -> Self {
        Self {
            stage: first_stage(question),
            notice: None,
            details: false,
            remember: None,
            wrong: 0,
            escape,
        }
    }

    /// What Escape means here.
    pub fn escape(&self) -> Escape {
        self.escape
    }

    /// How far the answer is remembered after one more Ctrl-R: further each time,
    /// then not at all.
    pub fn next_scope(&self, question: &Question) -> Option<AnswerScope> {
        let scopes = question.remember_scopes();
        let at = self.remember.and_then(|scope| scopes.iter().position(|one| *one == scope));
        scopes.get(at.map_or(0, |at| at + 1)).copied()
    }

    /// Whether something stands there that Escape takes back first.
    pub fn is_writing(&self) -> bool {
        match &self.stage {
            Stage::Key(..) => false,
            Stage::List(list) => list.filtering || !list.filter.is_empty(),
            Stage::Word(_, _, line)
            | Stage::Input(line)
            | Stage::Typed(_, line)
            | Stage::Code(_, line) => !line.is_empty(),
        }
    }

    /// Takes what was read at once. Whatever follows a decision is dropped.
    pub fn keys(&mut self, question: &Question, keys: &[Key]) -> Reply {
        let mut keys = keys;
        if let Stage::Key(yes, no) = self.stage {
            // Looking something up is not a part of an answer, nor is how far it is remembered.
            while let Some((key @ (Key::Char('?') | Key::Ctrl('r')), rest)) = keys.split_first()
                && (*key == Key::Char('?') || question.remember)
            {
                let _ = self.key(question, key);
                keys = rest;
            }
            if keys.len() > 1 {
                let reply = self.burst(question, keys, yes, no);
                return self.remembered(reply);
            }
        }
        let mut reply = Reply::Stay;
        for key in keys {
            match self.key(question, key) {
                Reply::Stay => {}
                Reply::Typing => reply = Reply::Typing,
                decided => return decided,
            }
        }
        reply
    }

    /// Takes one key.
    pub fn key(&mut self, question: &Question, key: &Key) -> Reply {
        self.notice = None;
        if *key == Key::Ctrl('r') && question.remember {
            self.remember = self.next_scope(question);
            return Reply::Stay;
        }
        // The end of input is not an answer, wherever it comes.
        if *key == Key::Ctrl('d') && !self.is_writing() {
            return Reply::Dismissed;
        }
        let reply = self.stage_key(question, key);
        self.remembered(reply)
    }

    /// An answer goes with how far it is remembered.
    fn remembered(&self, reply: Reply) -> Reply {
        match reply {
            Reply::Answer(given) => Reply::Answer(Given { remember: self.remember, ..given }),
            other => other,
        }
    }

    fn stage_key(&mut self, question: &Question, key: &Key) -> Reply {
        match self.stage.clone() {
            Stage::Key(yes, no) => self.single(question, key, yes, no),
            Stage::Word(yes, no, line) => self.word(question, key, yes, no, line),
            Stage::List(list) => self.list(question, key, list),
            Stage::Input(line) => self.input(question, key, line),
            Stage::Typed(offer, line) => self.typed(question, key, offer, line),
            Stage::Code(given, line) => self.code(question, key, given, line),
        }
    }

    /// An answer from here did not count.
    pub fn refused(&mut self, why: &str) {
        if let Stage::Code(_, line) = &mut self.stage {
            // A code that was wrong is not fixed.
            *line = Line::default();
        }
        self.notice = Some(why.to_owned());
    }

    /// Several keys at once are a paste or a slow line, not one key pressed:
    /// only a whole word counts.
    fn burst(&mut self, question: &Question, keys: &[Key], yes: usize, no: usize) -> Reply {
        self.notice = None;
        let (last, word) = match keys.split_last() {
            Some((Key::Enter, word)) => (true, word),
            Some(_) | None => (false, keys),
        };
        let text: Option<String> =
            word.iter().map(|key| if let Key::Char(c) = key { Some(*c) } else { None }).collect();
        match (text.as_deref().and_then(meaning), last, word) {
            (Some(true), _, _) => self.pick(question, yes),
            (Some(false), _, _) => self.pick(question, no),
            // One key that came with a second Enter, or twice Enter.
            (None, true, [only]) => self.single(question, only, yes, no),
            (None, _, _) => self.wrong(question, "that was more than one key"),
        }
    }

    fn single(&mut self, question: &Question, key: &Key, yes: usize, no: usize) -> Reply {
        match key {
            Key::Char('y' | 'Y') => self.pick(question, yes),
            Key::Char('n' | 'N') => self.pick(question, no),
            Key::Char('?' | 'd' | 'D') => self.toggle_details(),
            Key::Enter => match default_offer(question) {
                Some(offer) => self.pick(question, offer),
                None => self.undecided(question),
            },
            Key::Esc => self.out(question),
            Key::Paste(_) => self.wrong(question, "pasted text is not an answer"),
            Key::Char(c) => {
                let shown = crate::paint::escape_control(&c.to_string());
                self.wrong(question, &format!("`{shown}` is not an answer"))
            }
            _ => {
                self.notice = Some("press y or n".to_owned());
                Reply::Stay
            }
        }
    }

    fn word(
        &mut self,
        question: &Question,
        key: &Key,
        yes: usize,
        no: usize,
        mut line: Line,
    ) -> Reply {
        match key {
            Key::Enter => match (line.text().trim(), default_offer(question)) {
                ("", Some(offer)) => self.pick(question, offer),
                ("", None) => self.undecided(question),
                (text, _) => match meaning(text) {
                    Some(true) => self.pick(question, yes),
                    Some(false) => self.pick(question, no),
                    None => {
                        self.stage = Stage::Word(yes, no, Line::default());
                        self.wrong(question, "that is not an answer")
                    }
                },
            },
            Key::Char('?') if line.is_empty() => self.toggle_details(),
            Key::Esc if line.is_empty() => self.out(question),
            Key::Esc => {
                self.stage = Stage::Word(yes, no, Line::default());
                Reply::Stay
            }
            key => {
                let edited = line.key(key);
                self.stage = Stage::Word(yes, no, line);
                self.edited(edited)
            }
        }
    }

    fn list(&mut self, question: &Question, key: &Key, mut list: List) -> Reply {
        let listed = list.key(question, key);
        self.stage = Stage::List(list);
        match listed {
            Listed::Moved => Reply::Stay,
            Listed::Filtered => Reply::Typing,
            Listed::Picked(offer) => self.pick(question, offer),
            Listed::Nothing => {
                self.notice = Some("choose one first, with the arrow keys".to_owned());
                Reply::Stay
            }
            Listed::Out => self.out(question),
            Listed::Details => self.toggle_details(),
            Listed::Unknown => {
                self.notice = Some("arrow keys move, Enter chooses".to_owned());
                Reply::Stay
            }
        }
    }

    fn input(&mut self, question: &Question, key: &Key, mut line: Line) -> Reply {
        match key {
            Key::Enter => {
                let text = match (&question.default, line.is_empty()) {
                    (Some(default), true) => default.clone(),
                    (_, _) => line.text(),
                };
                match check(question, &text) {
                    Ok(()) => self.agreed(question, Given::of(&text)),
                    Err(why) => {
                        self.notice = Some(why);
                        Reply::Stay
                    }
                }
            }
            Key::Tab if line.is_empty() && !question.secret => {
                self.stage = Stage::Input(Line::new(question.default.as_deref().unwrap_or("")));
                Reply::Typing
            }
            Key::Char('?') if line.is_empty() => self.toggle_details(),
            Key::Esc if line.is_empty() => self.out(question),
            Key::Esc => {
                self.stage = Stage::Input(Line::default());
                Reply::Stay
            }
            key => {
                let edited = line.key(key);
                self.stage = Stage::Input(line);
                self.edited(edited)
            }
        }
    }

    fn typed(&mut self, question: &Question, key: &Key, offer: usize, mut line: Line) -> Reply {
        let wanted = question.typed.as_deref().unwrap_or("");
        match key {
            Key::Enter if line.text() == wanted => {
                let value = question.options.get(offer).map_or("", |offer| offer.value.as_str());
                let typed = Some(wanted.to_owned());
                self.agreed(question, Given { typed, ..Given::of(value) })
            }
            Key::Enter if line.is_empty() => {
                self.notice = Some("type the text, or press Esc".to_owned());
                Reply::Stay
            }
            Key::Enter => {
                self.stage = Stage::Typed(offer, Line::default());
                self.wrong(question, "that is not the text")
            }
            // Copied is not typed.
            Key::Paste(_) => {
                self.notice = Some("it has to be typed, not pasted".to_owned());
                Reply::Stay
            }
            Key::Char('?') if line.is_empty() => self.toggle_details(),
            Key::Esc if line.is_empty() => match first_stage(question) {
                Stage::Typed(..) => self.out(question),
                list => {
                    self.stage = list;
                    Reply::Stay
                }
            },
            Key::Esc => {
                self.stage = Stage::Typed(offer, Line::default());
                Reply::Stay
            }
            key => {
                let edited = line.key(key);
                self.stage = Stage::Typed(offer, line);
                self.edited(edited)
            }
        }
    }

    fn edited(&mut self, edited: Edited) -> Reply {
        match edited {
            Edited::Yes => Reply::Typing,
            Edited::Joined => {
                self.notice = Some("line breaks became spaces".to_owned());
                Reply::Typing
            }
            Edited::Full => {
                self.notice = Some("there is no room for more".to_owned());
                Reply::Stay
            }
            Edited::No => Reply::Stay,
        }
    }

    fn pick(&mut self, question: &Question, index: usize) -> Reply {
        let Some(offer) = question.options.get(index) else {
            return Reply::Stay;
        };
        // Saying no needs nothing further.
        if !question.commits(&offer.value.as_str().into()) {
            return Reply::Answer(Given::of(&offer.value));
        }
        if question.typed.is_some() {
            self.stage = Stage::Typed(index, Line::default());
            return Reply::Stay;
        }
        self.agreed(question, Given::of(&offer.value))
    }

    /// Someone agreed; where a one-time code is wanted, it comes now.
    fn agreed(&mut self, question: &Question, given: Given) -> Reply {
        if !question.reauth {
            return Reply::Answer(given);
        }
        self.stage = Stage::Code(given, Line::default());
        Reply::Stay
    }

    fn code(&mut self, question: &Question, key: &Key, given: Given, mut line: Line) -> Reply {
        match key {
            Key::Enter if line.is_empty() => {
                self.notice = Some("the code is in your authenticator app".to_owned());
                Reply::Stay
            }
            Key::Enter => Reply::Answer(Given { code: Some(line.text()), ..given }),
            Key::Esc => {
                self.stage = match line.is_empty() {
                    true => first_stage(question),
                    false => Stage::Code(given, Line::default()),
                };
                Reply::Stay
            }
            key => {
                let edited = line.key(key);
                self.stage = Stage::Code(given, line);
                self.edited(edited)
            }
        }
    }

    fn toggle_details(&mut self) -> Reply {
        self.details = !self.details;
        Reply::Stay
    }

    /// Enter does nothing here.
    fn undecided(&mut self, question: &Question) -> Reply {
        let starts = question.decline_starts().map(crate::paint::escape_control);
        let why = starts.map(|starts| format!(": no starts `{starts}`")).unwrap_or_default();
        self.notice = Some(format!("Enter does nothing here{why}; {}", self.wanted()));
        Reply::Stay
    }

    fn wrong(&mut self, question: &Question, what: &str) -> Reply {
        if question.decline_starts().is_some() {
            // What declining starts is not started by a slip.
            self.notice = Some(format!("{what}; {}", self.wanted()));
            return Reply::Stay;
        }
        self.wrong += 1;
        let left = TRIES.saturating_sub(self.wrong);
        if left > 0 {
            let tries = if left == 1 { "try" } else { "tries" };
            let what = format!("{what}; {} ({left} {tries} left)", self.wanted());
            self.notice = Some(what);
            return Reply::Stay;
        }
        self.decline(question, Some("no clear answer in three tries")).unwrap_or(Reply::Dismissed)
    }

    fn wanted(&self) -> &'static str {
        match self.stage {
            Stage::Key(..) => "press y or n",
            Stage::Word(..) => "type yes or no",
            Stage::Typed(..) => "type it exactly",
            Stage::List(_) | Stage::Input(_) | Stage::Code(..) => "answer",
        }
    }

    fn out(&mut self, question: &Question) -> Reply {
        match self.escape {
            Escape::Dismisses => Reply::Dismissed,
            Escape::Declines if question.decline_starts().is_some() => {
                let why = "Esc does nothing here; Ctrl-C pauses the run";
                self.notice = Some(why.to_owned());
                Reply::Stay
            }
            Escape::Declines => self.decline(question, None).unwrap_or_else(|| {
                self.notice = Some(
                    "this question cannot be declined; Ctrl-C pauses the \
                     run"
                    .to_owned(),
                );
                Reply::Stay
            }),
        }
    }

    fn decline(&self, question: &Question, reason: Option<&str>) -> Option<Reply> {
        let offer = question.decline()?;
        let reason = reason.map(str::to_owned);
        Some(Reply::Answer(Given { reason, ..Given::of(&offer.value) }))
    }
}

fn first_stage(question: &Question) -> Stage {
    if question.kind == AskKind::Input {
        return Stage::Input(Line::default());
    }
    match question.yes_and_no() {
        Some((yes, _)) if question.typed.is_some() => Stage::Typed(yes, Line::default()),
        Some((yes, no)) if question.approvals > 1 => Stage::Word(yes, no, Line::default()),
        Some((yes, no)) => Stage::Key(yes, no),
        None => Stage::List(List::new(question, question.kind == AskKind::Choose)),
    }
}

/// The option that Enter takes: the declared default, else no, unless no
/// starts something.
pub fn default_offer(question: &Question) -> Option<usize> {
    match &question.default {
        Some(default) => question.options.iter().position(|offer| offer.value == *default),
        None if question.decline_starts().is_some() => None,
        None => question.yes_and_no().map(|(_, no)| no),
    }
}

/// Yes and no, in the ways people type them.
pub fn meaning(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => None,
    }
}

/// Whether a text answers an `input`.
pub fn check(question: &Question, text: &str) -> Result<(), String> {
    match &question.pattern {
        _ if question.offer(text).is_some() => Ok(()),
        Some(pattern) if is_match(pattern, text) => Ok(()),
        Some(pattern) => {
            Err(format!("this does not match `{}`", crate::paint::escape_control(pattern)))
        }
        None if text.is_empty() && question.default.is_none() => {
            Err("nothing is typed yet".to_owned())
        }
        None => Ok(()),
    }
}
