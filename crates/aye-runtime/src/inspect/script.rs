//! The words of a shell script that may name files, as far as they can be told
//! without running it. A word too many does no harm; a word that starts
//! something and is known only to the shell is named.

use std::path::{Component, Path, PathBuf};

use aye_core::text::VALUE_PREFIX;

use crate::fmt::cut;

use super::word::{Role, Word, base_name, names_in};

/// How deep scripts inside scripts are read.
const DEEPEST: usize = 8;
/// How many directories are tried for each word.
const MOST_PLACES: usize = 16;
/// How much of a word stands in a note.
const SHOWN: usize = 40;

/// Commands that start what an argument names.
const STARTERS: [&str; 16] = [
    "env", "sudo", "doas", "exec", "command", "eval", "nohup", "nice", "ionice", "time", "timeout",
    "xargs", "setsid", "stdbuf", "chroot", "flock",
];
/// Words after which another command begins.
const BEFORE_COMMANDS: [&str; 9] = ["if", "then", "elif", "else", "while", "until", "do", "!", "{"];

/// What a script names.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// Its words.
    pub(super) words: Vec<Word>,
    /// Where `cd` may lead, from where it starts.
    pub(super) places: Vec<PathBuf>,
    /// Words that start something and that only the shell knows.
    pub(super) unknown: Vec<String>,
    /// One of those holds a secret.
    pub(super) has_secrets: bool,
    most_words: usize,
}

impl Script {
    /// Reads a script; `value` is what a variable of Aye holds.
    pub(super) fn read(
        text: &str,
        most_words: usize,
        value: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let mut script = Self { most_words, ..Self::default() };
        Reader::new(text, value, 0, true).read(&mut script);
        script
    }

    fn push(&mut self, word: Word) {
        // One more shows that there are more.
        if self.words.len() <= self.most_words {
            self.words.push(word);
        }
    }

    /// Everything from here on may happen in this directory as well.
    fn enter(&mut self, directory: &str) {
        let mut entered = vec![PathBuf::from(directory)];
        entered.extend(self.places.iter().map(|place| place.join(directory)));
        entered.retain(|place| !self.places.contains(place));
        if self.places.len() + entered.len() > MOST_PLACES {
            return self.cannot_tell(&format!("cd {directory}"));
        }
        self.places.extend(entered);
    }

    fn cannot_tell(&mut self, word: &str) {
        let word = cut(word, SHOWN);
        if !self.unknown.contains(&word) {
            self.unknown.push(word);
        }
    }
}

/// A document that the lines below a command are.
struct Here {
    end: String,
    /// What stands there is run.
    runs: bool,
}

/// A word as far as it is read.
#[derive(Default)]
struct Part {
    text: String,
    /// Something of it was read, if only a pair of quotes.
    begun: bool,
    quoted: bool,
    /// Only the shell knows all of it.
    unknown: bool,
    /// It may stand for several.
    pattern: bool,
    secret: bool,
}

struct Reader<'a> {
    text: Vec<char>,
    at: usize,
    value: &'a dyn Fn(&str) -> Option<String>,
    depth: usize,
    /// It is certain that this is a script.
    runs: bool,
    part: Part,
    /// The next word is a command.
    first: bool,
    /// The command starts what an argument names.
    starter: bool,
    /// The command is `cd`, and its directory has not come yet.
    enters: bool,
    /// `CDPATH` is set: `cd` may lead to places that its argument does not name.
    elsewhere: bool,
    /// The next word may be `cd`.
    by_command: bool,
    /// The next word is a file that is written to.
    written: bool,
    role: Role,
    here: Vec<Here>,
}

impl<'a> Reader<'a> {
    fn new(
        text: &str,
        value: &'a dyn Fn(&str) -> Option<String>,
        depth: usize,
        runs: bool,
    ) -> Self {
        Self {
            text: text.chars().collect(),
            at: 0,
            value,
            depth,
            runs,
            part: Part::default(),
            first: true,
            starter: false,
            enters: false,
            elsewhere: false,
            by_command: false,
            written: false,
            role: Role::Plain,
            here: Vec::new(),
        }
    }

    fn read(mut self, script: &mut Script) {
        while let Some(c) = self.next() {
            match c {
                '\n' => {
                    self.end_command(script);
                    self.documents(script);
                }
                c if c.is_whitespace() => self.end_word(script),
                ';' | '&' | '|' | '(' | ')' => self.end_command(script),
                '>' => {
                    self.end_word(script);
                    while self.skip('>') || self.skip('|') || self.skip('&') {}
                    self.written = true;
                }
                '<' => self.input(script),
                '#' if !self.part.begun => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(c) => self.add(c, true),
                },
                '\'' => {
                    let inner = self.until('\'');
                    self.part.quoted = true;
                    self.part.begun = true;
                    self.part.text.push_str(&inner);
                }
                '"' => self.double(script),
                '$' => self.dollar(script),
                '`' => self.backtick(script),
                '*' | '?' | '[' | ',' => {
                    self.part.pattern |= c != ',' || self.part.text.contains('{');
                    self.add(c, false);
                }
                '~' if !self.part.begun => {
                    self.part.unknown = true;
                    self.add(c, false);
                }
                c => self.add(c, false),
            }
        }
        self.end_command(script);
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn skip(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        self.at += usize::from(is_there);
        is_there
    }

    fn add(&mut self, c: char, quoted: bool) {
        self.part.begun = true;
        self.part.quoted |= quoted;
        self.part.text.push(c);
    }

    /// What comes before this character, which is taken too.
    fn until(&mut self, end: char) -> String {
        let rest = &self.text[self.at..];
        let length = rest.iter().position(|c| *c == end).unwrap_or(rest.len());
        let inner = rest[..length].iter().collect();
        self.at += (length + 1).min(rest.len());
        inner
    }

    /// What comes before the next quote that no backslash precedes.
    fn escaped(&mut self) -> String {
        let mut inner = String::new();
        while let Some(c) = self.next().filter(|c| *c != '\'') {
            inner.push(c);
            if c == '\\' {
                inner.extend(self.next());
            }
        }
        inner
    }

    /// What is inside of brackets, of which the first was read.
    fn inside(&mut self, open: char, close: char) -> String {
        let (start, mut depth) = (self.at, 1);
        while let Some(c) = self.next() {
            depth = match c {
                c if c == open => depth + 1,
                c if c == close => depth - 1,
                _ => depth,
            };
            if depth == 0 {
                return self.text[start..self.at - 1].iter().collect();
            }
        }
        self.text[start..].iter().collect()
    }

    fn double(&mut self, script: &mut Script) {
        self.part.quoted = true;
        self.part.begun = true;
        while let Some(c) = self.next() {
            match c {
                '"' => return,
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => self.part.text.push(c),
                    Some(c) => self.part.text.extend(['\\', c]),
                },
                '$' => self.dollar(script),
                '`' => self.backtick(script),
                c => self.part.text.push(c),
            }
        }
    }

    /// A variable, or what a command prints.
    fn dollar(&mut self, script: &mut Script) {
        self.part.begun = true;
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let inner = self.inside('(', ')');
                self.inner(&inner, self.runs, script);
                self.unknown("$(…)");
            }
            Some('{') => {
                self.at += 1;
                let inner = self.inside('{', '}');
                self.variable(&inner, &format!("${{{inner}}}"));
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let mut name = String::new();
                while let Some(c) = self.peek().filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    name.push(c);
                    self.at += 1;
                }
                self.variable(&name, &format!("${name}"));
            }
            // Quotes in which the shell puts other letters in place of some.
            Some('\'') => {
                self.at += 1;
                let inner = self.escaped();
                match inner.contains('\\') {
                    true => self.unknown(&format!("$'{inner}'")),
                    false => self.part.text.push_str(&inner),
                }
            }
            Some('"') => {}
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => {
                self.at += 1;
                self.unknown(&format!("${c}"));
            }
            _ => self.part.text.push('$'),
        }
    }

    /// Only variables that hold a value of the skill are as they were.
    fn variable(&mut self, name: &str, written: &str) {
        let number = name.strip_prefix(VALUE_PREFIX).unwrap_or_default();
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return self.unknown(written);
        }
        match (self.value)(name) {
            Some(value) => self.part.text.push_str(&value),
            None => self.part.secret = true,
        }
    }

    fn unknown(&mut self, written: &str) {
        self.part.unknown = true;
        self.part.text.push_str(written);
    }

    fn backtick(&mut self, script: &mut Script) {
        self.part.begun = true;
        let inner = self.until('`');
        self.inner(&inner, self.runs, script);
        self.unknown("$(…)");
    }

    /// A script inside of this one.
    fn inner(&self, text: &str, runs: bool, script: &mut Script) {
        if self.depth < DEEPEST {
            Reader::new(text, self.value, self.depth + 1, runs).read(script);
        }
    }

    /// `<`, `<<`, `<<<` and `<(`.
    fn input(&mut self, script: &mut Script) {
        self.end_word(script);
        if !self.skip('<') || self.skip('<') {
            return;
        }
        self.skip('-');
        let mut end = String::new();
        while self.peek() == Some(' ') {
            self.at += 1;
        }
        while let Some(c) = self.peek().filter(|c| !c.is_whitespace() && !";|&()<>".contains(*c)) {
            self.at += 1;
            end.extend(Some(c).filter(|c| !"'\"\\".contains(*c)));
        }
        self.here.push(Here { end, runs: self.runs && self.role == Role::Script });
    }

    /// The documents that begin on this line.
    fn documents(&mut self, script: &mut Script) {
        for Here { end, runs } in std::mem::take(&mut self.here) {
            let mut document = String::new();
            while self.at < self.text.len() {
                let line = self.until('\n');
                if line.trim_start_matches('\t') == end {
                    break;
                }
                document.push_str(&line);
                document.push('\n');
            }
            self.inner(&document, runs, script);
        }
    }

    fn end_command(&mut self, script: &mut Script) {
        self.end_word(script);
        if std::mem::take(&mut self.enters) && self.runs {
            // To where the user lives.
            script.cannot_tell("cd");
        }
        self.first = true;
        self.starter = false;
        self.by_command = false;
        self.written = false;
        self.role = Role::Plain;
    }

    fn end_word(&mut self, script: &mut Script) {
        let Part { text, begun, quoted, unknown, pattern, secret } = std::mem::take(&mut self.part);
        if !begun || std::mem::take(&mut self.written) {
            return;
        }
        let is_known = !unknown && !secret;
        let starts = self.first || self.starter || self.role == Role::Script;
        let assigned = text.split_once('=').filter(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        });
        if let Some((name, value)) = assigned.filter(|_| self.first) {
            // From here on `cd` goes to places that this does not name.
            self.elsewhere |= name == "CDPATH";
            if is_known {
                script.push(self.word(value, false));
            }
            return;
        }
        // A pattern in the place of a command is one of `case`.
        let is_told = is_known && !(pattern && (self.starter || self.role == Role::Script));
        if !is_told && starts && self.runs {
            script.has_secrets |= secret;
            if !secret {
                script.cannot_tell(&text);
            }
        }
        if quoted && text.contains(|c: char| c.is_whitespace() || ";|&()".contains(c)) {
            self.inner(&text, self.runs && self.role == Role::Script, script);
        }
        // `env -C DIR`.
        let elsewhere = self.starter && matches!(text.as_str(), "-C" | "--chdir");
        let place = text.strip_prefix("--chdir=").filter(|_| self.starter && is_known);
        if let Some(place) = place {
            script.enter(place);
        }
        if self.enters && !(text.starts_with('-') && text != "-") {
            self.enters = false;
            match is_known && text != "-" && !self.elsewhere {
                true => script.enter(&text),
                false if secret => script.has_secrets = true,
                false if self.runs => script.cannot_tell(&format!("cd {text}")),
                false => {}
            }
            return;
        }
        if is_known {
            let starts = self.first || self.starter;
            for (at, name) in names_in(&text).enumerate() {
                script.push(self.word(name, starts && at == 0));
            }
        }
        let is_first = self.first;
        self.first &= !quoted && BEFORE_COMMANDS.contains(&text.as_str());
        self.starter |= is_first && STARTERS.contains(&base_name(&text));
        let is_command = is_first || std::mem::take(&mut self.by_command);
        self.by_command = is_first && matches!(text.as_str(), "command" | "builtin");
        self.enters |= elsewhere || is_command && matches!(text.as_str(), "cd" | "pushd");
        self.role = match text.as_str() {
            "." | "source" if is_first => Role::Script,
            _ => self.role.next(&text),
        };
    }

    fn word(&self, text: &str, starts: bool) -> Word {
        let starts = starts && self.runs;
        Word { text: text.to_owned(), role: self.role, starts, in_script: true }
    }
}

/// A path without `.` in it, as people would write it.
pub(super) fn plain_path(place: &Path, text: &str) -> String {
    let path = place.join(text);
    let path: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
    path.to_string_lossy().into_owned()
}
