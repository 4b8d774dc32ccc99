//! What a command line means: which program, which scripts, which directory.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use aye_core::facts::{Fact, FactKind};
use aye_process::Spec;

use super::contents::{Contents, Found};

/// The largest argument whose contents count.
const LARGEST: u64 = 1024 * 1024;
/// How many words of a command line are looked at.
const MOST_WORDS: usize = 4096;

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
        let (program, is_script) = self.program(contents, now);
        facts.push(program);
        let words = self.words();
        let mut notes: Vec<String> = Vec::new();
        if is_script {
            let name = self.spec.program.to_string_lossy();
            notes.push(format!("files that `{name}` reads, imports or starts"));
        }
        let mut seen: Vec<PathBuf> = Vec::new();
        let workspace = self.workspace.canonicalize();
        if words.len() > MOST_WORDS {
            notes.push(format!("files that words after the first {MOST_WORDS} name"));
        }
        for Word { text, role } in words.into_iter().take(MOST_WORDS) {
            let Ok(path) = cwd.join(&text).canonicalize() else { continue };
            if seen.contains(&path) {
                continue;
            }
            let Some(found) = Found::open(&path) else { continue };
            if !workspace.as_ref().is_ok_and(|workspace| path.starts_with(workspace)) {
                if role == Role::Script || found.is_script() {
                    seen.push(path);
                    notes.push(format!("the contents of `{text}`, which is not in the workspace"));
                }
                continue;
            }
            if role == Role::Plain && !found.is_executable() && !found.is_script() {
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

    /// The program, and whether it is a script.
    fn program(&self, contents: &mut Contents, now: SystemTime) -> (Fact, bool) {
        let Ok(path) = aye_process::resolve(self.spec) else {
            return (Fact::new(FactKind::Program, None, "not found"), false);
        };
        let fact = Fact::new(FactKind::Program, None, &real(&path));
        let found = Found::open(&path);
        let is_script = found.as_ref().is_some_and(Found::is_script);
        let fact = match found.and_then(|found| contents.digest(found, now)) {
            Some(digest) => fact.with_digest(digest),
            None => fact,
        };
        (fact, is_script)
    }

    fn argv(&self) -> Vec<String> {
        let all = std::iter::once(&self.spec.program).chain(&self.spec.args);
        all.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// Everything that may name a file.
    fn words(&self) -> Vec<Word> {
        let argv = self.argv();
        let mut words = Vec::new();
        let mut after = Role::Plain;
        for (at, text) in argv.iter().enumerate() {
            if is_shell_script(&argv, at) {
                let parts =
                    text.split(|c: char| c.is_whitespace() || ";|&()<>\"'`$={}".contains(c));
                let mut after = Role::Plain;
                for part in parts.filter(|part| !part.is_empty()) {
                    words.push(Word { text: part.to_owned(), role: after });
                    after = after.next(part);
                }
                continue;
            }
            if at > 0 {
                words.push(Word { text: text.clone(), role: after });
                if let Some((_, value)) = text.split_once('=') {
                    words.push(Word { text: value.to_owned(), role: after });
                }
            }
            after = after.next(text);
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
            if is_shell_script(&argv, at) {
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
    role: Role,
}

/// What a word may be, by those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Anything.
    Plain,
    /// The file that an interpreter runs: the first word after it, options apart.
    Script,
    /// A later word after an interpreter.
    Argument,
}

impl Role {
    /// The role of the word after this one.
    fn next(self, word: &str) -> Self {
        match self {
            _ if is_one_of(word, &INTERPRETERS) => Self::Script,
            Self::Script if !word.starts_with('-') => Self::Argument,
            role => role,
        }
    }
}

/// Whether this argument is a script that a shell runs: `sh -c SCRIPT`,
/// `bash -ec SCRIPT`, `bash -e -o pipefail -c SCRIPT`.
fn is_shell_script(argv: &[String], at: usize) -> bool {
    let has_c =
        |word: &&String| word.starts_with('-') && !word.starts_with("--") && word.contains('c');
    let options = argv[..at].iter().rev().take_while(|word| word.starts_with('-')).count();
    let before = &argv[..at - options];
    options > 0
        && !argv[at].starts_with('-')
        && argv[at - options..at].iter().any(|word| has_c(&word))
        && before.iter().any(|word| is_one_of(word, &SHELLS))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What a command line in a workspace with `x.sh` means: files that count, and
    /// what does not.
    fn looked_at(argv: &[&str]) -> (Vec<String>, Vec<String>) {
        let place = tempfile::tempdir().expect("a directory");
        let workspace = place.path().join("work");
        std::fs::create_dir(&workspace).expect("made");
        for file in ["work/x.sh", "outside.sh"] {
            std::fs::write(place.path().join(file), "#!/bin/sh\ntrue\n").expect("written");
        }
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(workspace.join("x.sh"), mode).expect("executable");
        std::fs::write(workspace.join("data.txt"), "data").expect("written");
        let mut spec = Spec::new(argv[0]);
        spec.args = argv[1..].iter().map(Into::into).collect();
        spec.cwd = Some(workspace.clone());
        let invocation = Invocation { spec: &spec, has_secrets: false, workspace: &workspace };
        let facts = invocation.facts(&mut Contents::default(), SystemTime::now());
        let of = |kind: FactKind, text: fn(&Fact) -> String| {
            facts.iter().filter(|fact| fact.kind == kind).map(text).collect()
        };
        let files = of(FactKind::File, |fact| {
            assert!(fact.digest.is_some(), "{fact:?}");
            fact.name.clone().unwrap_or_default()
        });
        (files, of(FactKind::NotCovered, |fact| fact.value.clone()))
    }

    #[test]
    fn a_script_counts_however_the_shell_is_called() {
        for argv in [
            &["sh", "x.sh"][..],
            &["sh", "-c", "./x.sh"],
            &["bash", "-ec", "cd . && ./x.sh now"],
            &["bash", "-e", "-c", "./x.sh"],
            &["bash", "-e", "-o", "pipefail", "-c", "./x.sh"],
            &["env", "A=1", "sh", "-xc", "./x.sh"],
            &["uv", "run", "--quiet", "x.sh"],
            &["awk", "-f", "x.sh", "data.txt"],
            &["ansible-playbook", "-i", "hosts", "x.sh"],
            &["./x.sh"],
        ] {
            let (files, _) = looked_at(argv);
            let named = files.iter().any(|name| name.ends_with("x.sh"));
            // As the program it counts anyway.
            assert!(named || argv.len() == 1, "{argv:?}: {files:?}");
        }
        let (files, _) = looked_at(&["cat", "data.txt"]);
        assert!(files.is_empty(), "data decides nothing: {files:?}");
    }

    #[test]
    fn a_long_script_counts_to_its_end() {
        let script = format!("{} ./x.sh", "true;\n".repeat(1000));
        let (files, notes) = looked_at(&["sh", "-c", &script]);
        assert_eq!(files, ["./x.sh"], "{notes:?}");
        let script = format!("{} ./x.sh", "true;\n".repeat(5000));
        let (_, notes) = looked_at(&["sh", "-c", &script]);
        assert!(notes.iter().any(|note| note.contains("after the first 4096")), "{notes:?}");
    }

    #[test]
    fn what_is_not_covered_is_named() {
        for (argv, note) in [
            (&["sh", "../outside.sh"][..], "`../outside.sh`, which is not in the workspace"),
            (&["sh", "-c", ". ../outside.sh"], "`../outside.sh`, which is not in the workspace"),
            (&["sh", "x.sh"], "files that `x.sh` reads, imports or starts"),
            (&["./x.sh", "now"], "files that `./x.sh` reads, imports or starts"),
            (&["uv", "run", "data.txt"], "files that `data.txt` reads, imports or starts"),
            (&["sh", "-c", "./x.sh"], "programs that the script finds in `PATH`"),
            (&["bash", "-ec", "./x.sh"], "programs that the script finds in `PATH`"),
            (&["make", "deploy"], "the Makefile that `make` reads"),
            (&["python3", "-m", "deploy"], "the module that `-m` names"),
        ] {
            let (_, notes) = looked_at(argv);
            assert!(notes.iter().any(|one| one.contains(note)), "{argv:?}: {notes:?}");
        }
    }
}
