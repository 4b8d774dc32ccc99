//! Commands: words, reserved words, and what a value may be in which word.
//!
//! Most commands take any word. Some of bash's look into theirs: `let` and
//! `[[ x -eq y ]]` calculate, `unset`, `read` and the like take names of
//! variables whose subscripts are calculated, and both run `$(…)` inside.

use super::here::Pending;
use super::word::is_name;

/// What ends a stretch of commands.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum End {
    /// The end of the script.
    #[default]
    Script,
    /// `)`, opened by `(`.
    Paren,
    /// `)`, opened by `$(`.
    Dollar,
    /// A backtick.
    Backtick,
}

/// A stretch of commands.
pub(super) struct Code {
    pub(super) end: End,
    /// Here-documents that begin at the next line.
    pub(super) pending: Vec<Pending>,
    /// Open `case`s: their patterns end with `)`.
    pub(super) cases: usize,
    /// The word so far; `$` stands for anything expanded.
    word: String,
    /// Something quoted or expanded is in the word.
    mixed: bool,
    in_word: bool,
    /// The next word is a command.
    at_command: bool,
    /// The next word is the file of a redirection.
    redirects: bool,
    command: String,
    previous: String,
    test: Option<Test>,
}

/// Inside `[[ … ]]`.
#[derive(Default)]
struct Test {
    calculates: bool,
    /// A value that is no integer was placed in it.
    text: bool,
}

/// What a value has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Anything,
    Integer,
    Name,
}

/// These are followed by a command.
const BEFORE_COMMANDS: [&str; 13] = [
    "if", "then", "elif", "else", "while", "until", "do", "!", "{", "time", "coproc", "command",
    "builtin",
];
/// These take names of variables.
const TAKE_NAMES: [&str; 11] = [
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "unset",
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "wait",
];
const CALCULATE: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl Code {
    pub(super) fn new(end: End) -> Self {
        Self {
            end,
            pending: Vec::new(),
            cases: 0,
            word: String::new(),
            mixed: false,
            in_word: false,
            at_command: true,
            redirects: false,
            command: String::new(),
            previous: String::new(),
            test: None,
        }
    }

    /// Whether a word has begun: a `#` is no comment there.
    pub(super) fn in_word(&self) -> bool {
        self.in_word
    }

    /// A letter of the word.
    pub(super) fn letter(&mut self, letter: char) {
        self.in_word = true;
        self.word.push(letter);
    }

    /// A quoted letter, a quote, or `$` for something that expands.
    pub(super) fn quoted(&mut self, letter: Option<char>) {
        self.in_word = true;
        self.mixed = true;
        self.word.extend(letter);
    }

    /// The word so far, if it is the number in `2>`, is none.
    pub(super) fn drop_descriptor(&mut self) {
        if !self.mixed && self.word.chars().all(|letter| letter.is_ascii_digit()) {
            self.word.clear();
            self.in_word = false;
        }
    }

    /// Something that redirects.
    pub(super) fn redirection(&mut self) {
        self.redirects = true;
    }

    /// Inside `[[ … ]]`, where parentheses only group.
    pub(super) fn in_test(&self) -> bool {
        self.test.is_some()
    }

    /// The end of a word, which may tell that an earlier one should not have
    /// been what it is.
    pub(super) fn end_word(&mut self) -> Result<(), Need> {
        if !self.in_word {
            return Ok(());
        }
        let word = std::mem::take(&mut self.word);
        let plain = !std::mem::take(&mut self.mixed);
        self.in_word = false;
        if std::mem::take(&mut self.redirects) {
            return Ok(());
        }
        if let Some(test) = &mut self.test {
            match word.as_str() {
                "]]" if plain => self.test = None,
                word if plain && CALCULATE.contains(&word) => {
                    test.calculates = true;
                    if test.text {
                        return Err(Need::Integer);
                    }
                }
                _ => {}
            }
        } else if self.at_command {
            let is = |name: &str| plain && word == name;
            if is("case") {
                self.cases += 1;
            } else if is("esac") {
                self.cases = self.cases.saturating_sub(1);
            } else if is("[[") {
                self.test = Some(Test::default());
            }
            let assignment = word.split_once('=').is_some_and(|(name, _)| {
                is_name(name.trim_end_matches('+').split('[').next().unwrap_or(name))
            });
            self.at_command = assignment || (plain && BEFORE_COMMANDS.contains(&word.as_str()));
            if !self.at_command {
                self.command.clone_from(&word);
            }
        }
        self.previous = word;
        Ok(())
    }

    /// The end of a command.
    pub(super) fn end_command(&mut self) {
        // `&&` and parentheses stand inside `[[ … ]]` too.
        if self.test.is_none() {
            self.at_command = true;
            self.command.clear();
            self.previous.clear();
        }
    }

    /// What a value has to be that continues the word; `integer` is whether
    /// it is one.
    pub(super) fn need(&mut self, integer: bool) -> Need {
        let in_subscript = self
            .word
            .rsplit_once('[')
            .is_some_and(|(name, rest)| is_name(name) && !rest.contains(']'));
        if in_subscript || self.command == "let" {
            return Need::Integer;
        }
        let variable = self.previous == "-v" || self.previous == "-R";
        if let Some(test) = &mut self.test {
            if variable {
                return Need::Name;
            }
            test.text |= !integer;
            return if test.calculates { Need::Integer } else { Need::Anything };
        }
        let takes_names = match self.command.as_str() {
            "test" | "[" | "printf" => variable,
            // Options of `read` with a value of their own.
            "read" if self.previous.starts_with('-') => {
                !self.previous.ends_with(['p', 't', 'n', 'N', 'd', 'u', 'i'])
            }
            command => TAKE_NAMES.contains(&command),
        };
        let named = self.word.split_once('=').is_some_and(|(name, _)| !name.contains(['[', '$']));
        if takes_names && !named { Need::Name } else { Need::Anything }
    }
}
