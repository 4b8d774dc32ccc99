//! Commands: words, reserved words, and what a value may be in which word.
//!
//! Most commands take any word. Some look into theirs: `let` and, in bash,
//! `[[ x -eq y ]]`, in others `[ x -eq y ]` too, calculate; `unset`, `read`
//! and the like take names of variables, whose subscripts are calculated.
//! Anyone who calculates runs the `$(…)` in it.

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
    /// The options of the command so far.
    options: String,
    previous: String,
    test: Option<Test>,
}

/// Inside `[[ … ]]`, `[ … ]` or `test …`.
struct Test {
    /// `[[`, which continues to `]]`.
    double: bool,
    calculates: bool,
    /// A value that is not an integer was placed in it.
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
/// These can make them integers (`-i`) or names of others (`-n`).
const DECLARE: [&str; 5] = ["declare", "typeset", "local", "export", "readonly"];
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
            options: String::new(),
            previous: String::new(),
            test: None,
        }
    }

    /// Whether a word has begun: a `#` is not a comment there.
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
        self.test.as_ref().is_some_and(|test| test.double)
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
                "]]" if plain && test.double => self.test = None,
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
            } else if is("[[") || word == "[" || word == "test" {
                self.test = Some(Test { double: word == "[[", calculates: false, text: false });
            }
            let assignment = word.split_once('=').is_some_and(|(name, _)| {
                is_name(name.trim_end_matches('+').split('[').next().unwrap_or(name))
            });
            self.at_command = assignment || (plain && BEFORE_COMMANDS.contains(&word.as_str()));
            if !self.at_command {
                self.command.clone_from(&word);
            }
        } else if word.starts_with('-') {
            self.options.push_str(&word);
        }
        self.previous = word;
        Ok(())
    }

    /// The end of a command.
    pub(super) fn end_command(&mut self) {
        // `&&` and parentheses stand inside `[[ … ]]` too.
        if !self.in_test() {
            self.test = None;
            self.at_command = true;
            self.command.clear();
            self.options.clear();
            self.previous.clear();
        }
    }

    /// What a value has to be that continues the word; `integer` is whether
    /// it is one.
    pub(super) fn need(&mut self, integer: bool) -> Need {
        let command = self.command.as_str();
        let of_variable = matches!(self.previous.as_str(), "-v" | "-R");
        let takes_names = match command {
            "printf" => of_variable,
            // Options of `read` with a value of their own.
            "read" if self.previous.starts_with('-') => {
                !self.previous.ends_with(['p', 't', 'n', 'N', 'd', 'u', 'i'])
            }
            _ => TAKE_NAMES.contains(&command),
        };
        if command == "let" || self.in_subscript(takes_names) {
            return Need::Integer;
        }
        if let Some(test) = &mut self.test {
            if of_variable {
                return Need::Name;
            }
            test.text |= !integer;
            return if test.calculates { Need::Integer } else { Need::Anything };
        }
        if DECLARE.contains(&command) && self.options.contains('i') {
            return Need::Integer;
        }
        if DECLARE.contains(&command) && self.options.contains('n') {
            return Need::Name;
        }
        let named = self.word.split_once('=').is_some_and(|(name, _)| !name.contains(['[', '$']));
        let indexed = self.word.contains("]=") || self.word.contains("]+=");
        if takes_names && !named && !indexed { Need::Name } else { Need::Anything }
    }

    /// `a[` at the beginning of an assignment, or `[` in a list of them.
    fn in_subscript(&self, takes_names: bool) -> bool {
        let Some((name, rest)) = self.word.split_once('[') else { return false };
        let open = !rest.contains("]=") && !rest.contains("]+=");
        // A list stands in parentheses; elsewhere `[` begins a word like any other.
        let in_list = name.is_empty() && self.end == End::Paren;
        open && (in_list || (is_name(name) && (self.at_command || takes_names)))
    }
}
