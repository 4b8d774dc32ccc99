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
    /// A later word after an interpreter.
    Argument,
}

impl Role {
    /// The role of the word after this one.
    pub(super) fn next(self, word: &str) -> Self {
        match self {
            _ if is_one_of(word, &INTERPRETERS) => Self::Script,
            Self::Script if !word.starts_with('-') => Self::Argument,
            role => role,
        }
    }
}

/// Whether a shell.
pub(super) fn is_shell(word: &str) -> bool {
    is_one_of(word, &SHELLS)
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
