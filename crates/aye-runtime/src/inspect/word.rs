//! A word of a command line or a script, and what it may be.

/// Programs that run the file they are given.
const INTERPRETERS: [&str; 31] = [
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "ash",
    "fish",
    "python",
    "python2",
    "python3",
    "pypy3",
    "node",
    "nodejs",
    "deno",
    "bun",
    "ruby",
    "perl",
    "php",
    "lua",
    "Rscript",
    "pwsh",
    "tclsh",
    "osascript",
    "psql",
    "uv",
    "tsx",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "ansible-playbook",
];
/// Options of interpreters whose value is a word of its own.
const WITH_VALUE: [&str; 12] =
    ["-o", "-O", "+o", "+O", "--rcfile", "--init-file", "-W", "-X", "-I", "-d", "-v", "-F"];
/// Those whose `-c` is followed by a script.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];
/// A word that may name a file.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) role: Role,
    /// It may be a command.
    pub(super) starts: bool,
    /// It stands in a script, which may change its directory.
    pub(super) in_script: bool,
}

/// What a word may be, by those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Anything.
    Plain,
    /// The file that an interpreter runs: the first word after it, options apart.
    Script,
    /// The value of an option of an interpreter; its script may still come.
    Value,
    /// A later word after an interpreter.
    Argument,
}

impl Role {
    /// The role of the word after this one.
    pub(super) fn next(self, word: &str) -> Self {
        match self {
            _ if is_one_of(word, &INTERPRETERS) => Self::Script,
            Self::Script if takes_value(word) => Self::Value,
            Self::Value => Self::Script,
            Self::Script if !word.starts_with(['-', '+']) => Self::Argument,
            role => role,
        }
    }
}

/// Whether the word after an option of an interpreter is its value: `-o`, and `-euo` of a shell.
fn takes_value(word: &str) -> bool {
    let cluster = |sign| {
        let letters = word.strip_prefix(sign).unwrap_or_default();
        letters.chars().all(char::is_alphabetic) && letters.ends_with(['o', 'O'])
    };
    WITH_VALUE.contains(&word) || cluster('-') || cluster('+')
}

/// What of a word may name a file: all of it, the value of an option (`--file=x`, `-fx`), what
/// `@` points to (`-d@x`).
pub(super) fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let value = text.split_once('=').map(|(_, value)| value);
    let joined = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| {
        let mut letters = rest.chars();
        letters.next()?;
        Some(letters.as_str()).filter(|value| !value.is_empty())
    });
    let all = [Some(text), value, joined].into_iter().flatten();
    all.flat_map(|text| [Some(text), text.strip_prefix('@')]).flatten()
}

/// Whether a shell.
pub(super) fn is_shell(word: &str) -> bool {
    is_one_of(word, &SHELLS)
}

/// Whether an interpreter that is not a shell.
pub(super) fn is_code_runner(word: &str) -> bool {
    is_one_of(word, &INTERPRETERS) && !is_shell(word)
}

/// Whether code follows this option of an interpreter: `-c` of Python, `-pe` of Perl.
pub(super) fn takes_code(program: &str, option: &str) -> bool {
    let letters = option.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let ends = |last: char| letters.is_some_and(|letters| letters.ends_with(last));
    match program.split(|c: char| c.is_ascii_digit() || c == '.').next().unwrap_or(program) {
        "python" | "pypy" | "psql" | "tclsh" | "pwsh" => ends('c'),
        "perl" => ends('e') || ends('E'),
        "php" => ends('r'),
        "awk" | "gawk" | "mawk" | "nawk" => !option.starts_with('-'),
        "uv" | "ansible-playbook" | "tsx" => false,
        _ => ends('e') || ends('p') || option == "--eval" || option == "--print",
    }
}

/// The last part of a path.
pub(super) fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_one_of(word: &str, programs: &[&str]) -> bool {
    // `python3.12` is Python.
    let name = base_name(word);
    let name = name.split_once('.').map_or(name, |(name, _)| name);
    programs.contains(&name)
}
