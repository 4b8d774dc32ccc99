//! What a command line means: which program, which scripts, which directory.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use aye_core::facts::{Fact, FactKind};
use aye_process::Spec;

use super::contents::{Contents, Found};

/// The largest argument whose contents count.
const LARGEST: u64 = 1024 * 1024;
/// How many words of a command line are looked at.
const MOST_WORDS: usize = 256;

/// Programs that run the file they are given.
const INTERPRETERS: [&str; 24] = [
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
];
/// Those whose `-c` is followed by a script.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];
/// Programs that do what a file says which no argument names.
const READERS: [(&str, &str); 9] = [
    ("make", "Makefile"),
    ("gmake", "Makefile"),
    ("just", "justfile"),
    ("rake", "Rakefile"),
    ("npm", "package.json"),
    ("yarn", "package.json"),
    ("pnpm", "package.json"),
    ("docker-compose", "compose file"),
    ("terraform", "configuration"),
];

/// A command line as it would be started.
pub struct Invocation<'a> {
    /// What would be started.
    pub spec: &'a Spec,
    /// Some of its arguments hold a secret and are not there.
    pub has_secrets: bool,
    /// The directory whose files count.
    pub workspace: &'a Path,
}

impl Invocation<'_> {
    /// What it means right now.
    pub fn facts(&self, contents: &mut Contents, now: SystemTime) -> Vec<Fact> {
        let cwd = self.spec.cwd.as_deref().unwrap_or(self.workspace);
        let mut facts = vec![Fact::new(FactKind::Directory, None, &real(cwd))];
        facts.push(self.program(contents, now));
        let words = self.words();
        let mut notes: Vec<String> = Vec::new();
        let mut seen: Vec<PathBuf> = Vec::new();
        let workspace = self.workspace.canonicalize();
        for Word { text, interpreted } in words.into_iter().take(MOST_WORDS) {
            let Ok(path) = cwd.join(&text).canonicalize() else { continue };
            let inside = workspace.as_ref().is_ok_and(|workspace| path.starts_with(workspace));
            if !inside || seen.contains(&path) {
                continue;
            }
            let Some(found) = Found::open(&path) else { continue };
            if !interpreted && !found.is_executable() && !found.is_script() {
                continue;
            }
            seen.push(path.clone());
            if found.metadata.len() > LARGEST {
                notes.push(format!("the contents of `{text}`, which is larger than 1 MiB"));
                continue;
            }
            notes.push(format!("files that `{text}` reads, imports or starts"));
            let fact = Fact::new(FactKind::File, Some(&text), &path.to_string_lossy());
            facts.push(match contents.digest(found, now) {
                Some(digest) => fact.with_digest(digest),
                None => fact,
            });
        }
        notes.extend(self.notes());
        facts.extend(notes.iter().map(|note| Fact::new(FactKind::NotCovered, None, note)));
        facts
    }

    fn program(&self, contents: &mut Contents, now: SystemTime) -> Fact {
        let Ok(path) = aye_process::resolve(self.spec) else {
            return Fact::new(FactKind::Program, None, "not found");
        };
        let fact = Fact::new(FactKind::Program, None, &real(&path));
        match Found::open(&path).and_then(|found| contents.digest(found, now)) {
            Some(digest) => fact.with_digest(digest),
            None => fact,
        }
    }

    fn argv(&self) -> Vec<String> {
        let all = std::iter::once(&self.spec.program).chain(&self.spec.args);
        all.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// Everything that may name a file.
    fn words(&self) -> Vec<Word> {
        let argv = self.argv();
        let mut words = Vec::new();
        let mut interpreted = false;
        for (at, text) in argv.iter().enumerate() {
            let script = at > 1 && argv[at - 1] == "-c" && is_one_of(&argv[at - 2], &SHELLS);
            if script {
                let parts =
                    text.split(|c: char| c.is_whitespace() || ";|&()<>\"'`$={}".contains(c));
                let mut interpreted = false;
                for part in parts.filter(|part| !part.is_empty()) {
                    words.push(Word { text: part.to_owned(), interpreted });
                    interpreted |= is_one_of(part, &INTERPRETERS);
                }
                continue;
            }
            if at > 0 {
                words.push(Word { text: text.clone(), interpreted });
                if let Some((_, value)) = text.split_once('=') {
                    words.push(Word { text: value.to_owned(), interpreted });
                }
            }
            interpreted |= is_one_of(text, &INTERPRETERS);
        }
        words
    }

    /// What decides as well and is not looked at.
    fn notes(&self) -> Vec<String> {
        let argv = self.argv();
        let mut notes = Vec::new();
        for (at, word) in argv.iter().enumerate() {
            let reader = READERS.iter().find(|(program, _)| base_name(word) == *program);
            if let Some((program, file)) = reader {
                notes.push(format!("the {file} that `{program}` reads"));
            }
            let before = &argv[..at];
            if word == "-m" && before.iter().any(|word| base_name(word).starts_with("python")) {
                notes.push("the module that `-m` names".to_owned());
            }
            if word == "-c" && before.iter().any(|word| is_one_of(word, &SHELLS)) {
                notes.push("programs that the script finds in `PATH`".to_owned());
            }
        }
        if self.has_secrets {
            notes.push("files that an argument with a secret in it names".to_owned());
        }
        notes
    }
}

/// A word of a command line.
struct Word {
    text: String,
    /// It comes after a program that runs files.
    interpreted: bool,
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_one_of(word: &str, programs: &[&str]) -> bool {
    // `python3.12` is Python.
    let name = base_name(word);
    let name = name.split_once('.').map_or(name, |(name, _)| name);
    programs.contains(&name)
}

/// A path without links.
fn real(path: &Path) -> String {
    let real = path.canonicalize();
    real.as_deref().unwrap_or(path).to_string_lossy().into_owned()
}
