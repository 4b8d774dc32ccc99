//! What a command line means: which program, which scripts, which directory.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use aye_core::facts::{Fact, FactKind};
use aye_process::{Spec, Stdin};

use super::contents::{Contents, Found};
use super::script::{Script, plain_path};
use super::word::{Role, Word, base_name, is_code_runner, is_shell, names_in, takes_code};
use super::wrapper::{Wrapped, is_opaque};

/// The largest argument whose contents count.
const LARGEST: u64 = 1024 * 1024;
/// How many words of a command line are looked at.
const MOST_WORDS: usize = 4096;
/// How many names stand in a note.
const MOST_NAMES: usize = 5;

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

/// Variables that name files or directories with code that a program runs.
const LOADERS: [&str; 14] = [
    "BASH_ENV",
    "ENV",
    "ZDOTDIR",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5LIB",
    "PERL5OPT",
    "RUBYLIB",
    "RUBYOPT",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
];

/// A command line as it would be started.
pub struct Invocation<'a> {
    /// What would be started.
    pub spec: &'a Spec,
    /// Some of its arguments hold a secret and are not there.
    pub has_secrets: bool,
    /// Its standard input holds a secret and is not there.
    pub has_secret_input: bool,
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
        let line = self.line();
        let mut notes: Vec<String> = Vec::new();
        if is_script {
            let name = self.spec.program.to_string_lossy();
            notes.push(format!("files that `{name}` reads, imports or starts"));
        }
        let mut seen: Vec<PathBuf> = Vec::new();
        facts.extend(self.started(&line, cwd, &mut seen, &mut notes, contents, now));
        let mut data: Vec<String> = Vec::new();
        let workspace = self.workspace.canonicalize();
        if line.words.len() > MOST_WORDS {
            notes.push(format!("files that words after the first {MOST_WORDS} name"));
        }
        for (word, name) in line.names() {
            let Ok(path) = cwd.join(&name).canonicalize() else { continue };
            if seen.contains(&path) {
                continue;
            }
            let Some(found) = Found::open(&path) else {
                // A package, or a pipe that a script comes through.
                if word.role == Role::Script {
                    notes.push(format!("what `{name}` holds, which is not a file"));
                    seen.push(path);
                }
                continue;
            };
            seen.push(path.clone());
            let is_here = workspace.as_ref().is_ok_and(|workspace| path.starts_with(workspace));
            let is_run = match is_here {
                true => word.role != Role::Plain || found.is_executable() || found.is_script(),
                false => word.role == Role::Script || found.is_script(),
            };
            if !is_run {
                data.push(name);
            } else if !is_here {
                notes.push(format!("the contents of `{name}`, which is not in the workspace"));
            } else if found.metadata.len() > LARGEST {
                notes.push(format!("the contents of `{name}`, which is larger than 1 MiB"));
            } else {
                notes.push(format!("files that `{name}` reads, imports or starts"));
                let fact = Fact::new(FactKind::File, Some(&name), &path.to_string_lossy());
                facts.push(match contents.digest(found, now) {
                    Some(digest) => fact.with_digest(digest),
                    None => fact,
                });
            }
        }
        notes.extend(list("the contents of", &data));
        notes.extend(line.notes());
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

    /// The program that the first one starts, if that is what it is for.
    fn started(
        &self,
        line: &Line,
        cwd: &Path,
        seen: &mut Vec<PathBuf>,
        notes: &mut Vec<String>,
        contents: &mut Contents,
        now: SystemTime,
    ) -> Option<Fact> {
        let wrapped = &line.wrapped;
        if let Some(name) = &wrapped.opaque {
            notes.push(format!("the program that `{name}` starts"));
        }
        let argv = self.argv();
        let name = argv.get(wrapped.program?)?;
        let mut spec = Spec::new(name);
        spec.env.clone_from(&self.spec.env);
        let set = wrapped.env.iter().map(|(name, value)| (name.into(), Some(value.into())));
        spec.env.extend(set);
        spec.cwd = Some(cwd.join(wrapped.directory.as_deref().unwrap_or(Path::new(""))));
        let Ok(path) = aye_process::resolve(&spec) else {
            return Some(Fact::new(FactKind::File, Some(name), "not found"));
        };
        let real = real(&path);
        let fact = Fact::new(FactKind::File, Some(name), &real);
        let found = Found::open(&path);
        if found.as_ref().is_some_and(Found::is_script) {
            notes.push(format!("files that `{name}` reads, imports or starts"));
        }
        seen.push(PathBuf::from(real));
        Some(match found.and_then(|found| contents.digest(found, now)) {
            Some(digest) => fact.with_digest(digest),
            None => fact,
        })
    }

    fn argv(&self) -> Vec<String> {
        let all = std::iter::once(&self.spec.program).chain(&self.spec.args);
        all.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// Everything that may name a file.
    fn line(&self) -> Line {
        let argv = self.argv();
        let wrapped = Wrapped::of(&argv);
        let value = |name: &str| {
            let mut set = self.spec.env.iter().rev();
            let (_, value) = set.find(|(one, _)| one == name)?;
            value.as_ref().map(|value| value.to_string_lossy().into_owned())
        };
        let mut line = Line { has_secrets: self.has_secrets, ..Line::default() };
        line.places.extend(wrapped.directory.clone());
        let goes = wrapped.directory.is_some();
        let mut role = Role::Plain;
        for (at, text) in argv.iter().enumerate() {
            if is_shell_script(&argv, at) {
                line.add(Script::read(text, MOST_WORDS, &value));
                continue;
            }
            let word =
                |text: &str| Word { text: text.to_owned(), role, starts: true, in_script: goes };
            let names = names_in(text).take(if at == 0 { 1 } else { usize::MAX });
            line.words.extend(names.map(word));
            role = role.next(text);
        }
        let input = match &self.spec.stdin {
            Stdin::Bytes(text) => Some(&text[..]),
            Stdin::Empty => self.has_secret_input.then_some(&b""[..]),
        };
        if let Some(text) = input {
            // Without another one, or with `-s`, an interpreter reads its script from there; so
            // does one that a script starts.
            let alone = role == Role::Script && !line.has_script;
            let asked = argv.iter().any(|word| word == "-s");
            let shell = |word: &Word| word.in_script && word.starts && is_shell(&word.text);
            let inner = line.has_script && line.words.iter().any(shell);
            match argv.iter().any(|word| is_shell(word)) {
                true if alone || asked || inner => {
                    line.add(Script::read(&String::from_utf8_lossy(text), MOST_WORDS, &value));
                    line.has_secrets |= self.has_secret_input;
                }
                false if alone => line.has_code = true,
                true | false => {}
            }
        }
        let loads = |name: &&&str| value(name).is_some_and(|files| !files.is_empty());
        line.loaders = LOADERS.iter().filter(loads).copied().collect();
        line.wrapped = wrapped;
        line
    }
}

/// The words of a command line and of the scripts in it.
#[derive(Default)]
struct Line {
    /// The first one is the program.
    words: Vec<Word>,
    /// Where a script may go.
    places: Vec<PathBuf>,
    /// What only the shell knows.
    unknown: Vec<String>,
    has_script: bool,
    /// An interpreter gets its code from standard input.
    has_code: bool,
    has_secrets: bool,
    /// Variables that name files which are run before or with the program.
    loaders: Vec<&'static str>,
    wrapped: Wrapped,
}

impl Line {
    fn add(&mut self, script: Script) {
        let Script { words, places, unknown, has_secrets, .. } = script;
        self.words.extend(words);
        self.places.extend(places);
        self.unknown.extend(unknown);
        self.has_secrets |= has_secrets;
        self.has_script = true;
    }

    /// Words that may be files, with the path from where the program starts.
    fn names(&self) -> impl Iterator<Item = (&Word, String)> {
        self.words.iter().skip(1).take(MOST_WORDS).flat_map(|word| {
            let places = self.places.iter().filter(|_| word.in_script);
            let elsewhere = places.map(|place| plain_path(place, &word.text));
            std::iter::once(word.text.clone()).chain(elsewhere).map(move |name| (word, name))
        })
    }

    /// What decides as well and is not looked at.
    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> =
            list("files that the script names only when it runs:", &self.unknown)
                .into_iter()
                .collect();
        for word in self.words.iter().filter(|word| word.starts) {
            let reader = READERS.iter().find(|(program, _)| base_name(&word.text) == *program);
            if let Some((program, file)) = reader {
                notes.push(format!("the {file} that `{program}` reads"));
            }
        }
        let opaque = self.words.iter().filter(|word| word.starts && word.in_script);
        for word in opaque.filter(|word| is_opaque(&word.text)) {
            let note = format!("the program that `{}` starts", base_name(&word.text));
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        let python = |word: &Word| base_name(&word.text).starts_with("python");
        let module = |(at, word): (usize, &Word)| {
            word.text == "-m" && word.role != Role::Plain && self.words[..at].iter().any(python)
        };
        if self.words.iter().enumerate().any(module) {
            notes.push("the module that `-m` names".to_owned());
        }
        if self.has_code || self.has_inline_code() {
            notes.push(
                "files that the code in the command or on standard input reads, imports or \
                starts"
                    .to_owned(),
            );
        }
        for name in &self.loaders {
            notes.push(format!("files that `{name}` names"));
        }
        if self.has_script {
            notes.push("programs that the script finds in `PATH`".to_owned());
        }
        if self.has_secrets {
            notes.push("files that an argument or a script with a secret in it names".to_owned());
        }
        notes
    }
}

impl Line {
    /// Whether an interpreter that is not a shell is given code as an argument: `python3 -c`,
    /// `perl -pe`, `awk`.
    fn has_inline_code(&self) -> bool {
        let mut interpreter: Option<&str> = None;
        self.words.iter().any(|word| {
            let name = base_name(&word.text);
            if is_code_runner(name) {
                interpreter = Some(name);
                return false;
            }
            interpreter
                .is_some_and(|program| word.role != Role::Plain && takes_code(program, &word.text))
        })
    }
}

/// One note about some names, if there are any.
fn list(what: &str, names: &[String]) -> Option<String> {
    let shown: Vec<String> =
        names.iter().take(MOST_NAMES).map(|name| format!("`{name}`")).collect();
    let more = match names.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!shown.is_empty()).then(|| format!("{what} {}{more}", shown.join(", ")))
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
        && before.iter().any(|word| is_shell(word))
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
        std::fs::create_dir(workspace.join("sub")).expect("made");
        for file in ["work/x.sh", "outside.sh", "work/sub/y.sh", "work/my z.sh"] {
            let path = place.path().join(file);
            std::fs::write(&path, "#!/bin/sh\ntrue\n").expect("written");
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(path, mode).expect("executable");
        }
        for file in ["data.txt", "sub/plain"] {
            std::fs::write(workspace.join(file), "data").expect("written");
        }
        let large = std::fs::File::create(workspace.join("large")).expect("made");
        large.set_len(LARGEST + 1).expect("long");
        let mut spec = Spec::new(argv[0]);
        spec.args = argv[1..].iter().map(Into::into).collect();
        let values = [("AYE_V1", "x.sh"), ("AYE_V2", "sub"), ("AYE_V3", "my z.sh")];
        spec.env = values.map(|(name, value)| (name.into(), Some(value.into()))).into();
        spec.cwd = Some(workspace.clone());
        let invocation = Invocation {
            spec: &spec,
            has_secrets: false,
            has_secret_input: false,
            workspace: &workspace,
        };
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
            &["awk", "-fx.sh", "data.txt"],
            &["bash", "-o", "pipefail", "x.sh"],
            &["sh", "-c", "bash -o pipefail x.sh"],
            &["sh", "-c", "awk -fx.sh data.txt"],
            &["bash", "-euo", "pipefail", "x.sh"],
            &["bash", "+x", "x.sh"],
        ] {
            let (files, _) = looked_at(argv);
            let named = files.iter().any(|name| name.ends_with("x.sh"));
            // As the program it counts anyway.
            assert!(named || argv.len() == 1, "{argv:?}: {files:?}");
        }
        let (files, notes) = looked_at(&["cat", "data.txt"]);
        assert!(files.is_empty(), "data is listed alone: {files:?}");
        assert_eq!(notes, ["the contents of `data.txt`"]);
        let (_, notes) = looked_at(&["sh", "-c", "echo git commit -m x > data.txt"]);
        assert_eq!(notes, ["programs that the script finds in `PATH`"], "it is written to");
    }

    #[test]
    fn what_a_wrapper_starts_counts_where_it_starts_it() {
        for argv in [
            &["env", "A=1", "sub/y.sh"][..],
            &["timeout", "5", "sub/y.sh"],
            &["env", "-C", "sub", "./y.sh"],
            &["env", "--chdir=sub", "sh", "y.sh"],
            &["env", "PATH=sub:/bin", "timeout", "5", "y.sh"],
        ] {
            let (files, notes) = looked_at(argv);
            assert!(files.iter().any(|name| name.ends_with("y.sh")), "{argv:?}: {files:?}");
            assert!(!notes.iter().any(|note| note.contains("the program that")), "{notes:?}");
        }
        let (_, notes) = looked_at(&["sudo", "-u", "root", "y.sh"]);
        assert!(notes.contains(&"the program that `sudo` starts".to_owned()), "{notes:?}");
    }

    /// What `sh -c` means.
    fn script(text: &str) -> (Vec<String>, Vec<String>) {
        looked_at(&["sh", "-c", text])
    }

    #[test]
    fn values_of_a_script_are_in_their_place() {
        for (text, name) in [
            (r#"./"${AYE_V1}""#, "./x.sh"),
            (r#"sh "${AYE_V1}" now"#, "x.sh"),
            (r#""./${AYE_V1}""#, "./x.sh"),
            (r#"'./'"${AYE_V1}"''"#, "./x.sh"),
            (r#"echo $(./"${AYE_V1}")"#, "./x.sh"),
            (r#"./"${AYE_V3}""#, "./my z.sh"),
            ("./'my z'.sh", "./my z.sh"),
            (r"./my\ z.sh", "./my z.sh"),
            (r#""${AYE_V2}"/y.sh"#, "sub/y.sh"),
            ("bash -c './x.sh && true'", "./x.sh"),
            ("sh <<'END'\n./x.sh\nEND\n", "./x.sh"),
            ("true # don't\n./x.sh", "./x.sh"),
            ("psql --file=./data.txt", "./data.txt"),
        ] {
            let (files, notes) = script(text);
            assert_eq!(files, [name], "{text}: {notes:?}");
        }
    }

    #[test]
    fn a_script_is_followed_to_where_it_goes() {
        for text in [
            "cd sub && ./y.sh",
            "cd -- sub; sh y.sh",
            "(cd sub && ./y.sh)",
            "pushd sub\n./y.sh",
            r#"cd "${AYE_V2}" && ./y.sh"#,
            r#"cd "./${AYE_V2}" || exit 1; ./y.sh"#,
            "cd . && cd sub && ./y.sh",
            "if cd sub; then ./y.sh; fi",
            "bash -ec 'cd sub && ./y.sh'",
            "env -C sub ./y.sh",
            "env --chdir=sub sh y.sh",
            "command cd sub && ./y.sh",
        ] {
            let (files, notes) = script(text);
            assert_eq!(files, ["sub/y.sh"], "{text}: {notes:?}");
        }
        // Both may be meant.
        let (files, _) = script("(cd sub && ./y.sh); ./x.sh");
        assert_eq!(files, ["sub/y.sh", "./x.sh"]);
    }

    #[test]
    fn what_only_the_shell_knows_is_named() {
        let note = "files that the script names only when it runs: ";
        for (text, names) in [
            ("./$f", "`./$f`"),
            ("f=x.sh; sh \"$f\"", "`$f`"),
            ("for f in *.sh; do sh \"$f\"; done", "`$f`"),
            ("sh *.sh", "`*.sh`"),
            ("env A=1 ./\"$f\"", "`./$f`"),
            (". \"$HOME/env\"", "`$HOME/env`"),
            ("$(which x) now", "`$(…)`"),
            ("`which x` now", "`$(…)`"),
            ("~/bin/x", "`~/bin/x`"),
            ("cd \"$d\" && ./y.sh", "`cd $d`"),
            ("cd && ./y.sh", "`cd`"),
            ("eval \"$x\"", "`$x`"),
            ("bash -c \"./$f\"", "`./$f`"),
            ("bash -o pipefail ?.sh", "`?.sh`"),
            ("bash -o pipefail \"$(ls)\"", "`$(…)`"),
            (". $'\\x2e/x.sh'", "`$'\\x2e/x.sh'`"),
            ("CDPATH=sub; cd d; . ./x.sh", "`cd d`"),
        ] {
            let (_, notes) = script(text);
            assert!(notes.contains(&format!("{note}{names}")), "{text}: {notes:?}");
        }
        for text in [
            "echo \"$x\"",
            "printf %s \"$TARGET\" > env.txt; cat > stdin.txt",
            "case $1 in *.sh) true;; *) false;; esac",
            "x=$(date); export x",
            "cat <<END\n$x\nEND\ntrue",
            "echo 'cd $x'",
            "test -n \"$x\" || exit 2 2>&1",
            "echo $((1 << 2))",
        ] {
            let (_, notes) = script(text);
            assert_eq!(notes, ["programs that the script finds in `PATH`"], "{text}");
        }
        // One that was not told is a secret.
        let (_, notes) = script(r#"./"${AYE_V4}""#);
        assert!(notes.iter().any(|note| note.contains("with a secret in it")), "{notes:?}");
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
    fn a_script_on_standard_input_counts() {
        let read = |argv: &[&str], text: &str| {
            let place = tempfile::tempdir().expect("a directory");
            std::fs::write(place.path().join("x.sh"), "true\n").expect("written");
            let mut spec = Spec::new(argv[0]);
            spec.args = argv[1..].iter().map(Into::into).collect();
            spec.stdin = Stdin::Bytes(text.into());
            spec.env = vec![("BASH_ENV".into(), Some("x.sh".into())), ("ENV".into(), None)];
            let workspace = place.path();
            let invocation =
                Invocation { spec: &spec, has_secrets: false, has_secret_input: false, workspace };
            let facts = invocation.facts(&mut Contents::default(), SystemTime::now());
            let lines: Vec<String> = facts.iter().map(Fact::line).collect();
            assert!(lines.contains(&"not_covered: files that `BASH_ENV` names".to_owned()));
            assert!(!lines.contains(&"not_covered: files that `ENV` names".to_owned()));
            lines.join("\n")
        };
        for argv in [
            &["sh"][..],
            &["bash", "-e"],
            &["bash", "-euo", "pipefail"],
            &["bash", "+x"],
            &["bash", "-s", "--", "one"],
            &["sh", "-c", "bash"],
            &["sh", "-c", "bash -s"],
            &["env", "A=1", "sh", "-s"],
        ] {
            let lines = read(argv, ". ./x.sh\nmake");
            assert!(lines.contains("file `./x.sh`: "), "{argv:?}: {lines}");
            assert!(lines.contains("the Makefile that `make` reads"), "{argv:?}: {lines}");
        }
        let lines = read(&["sh", "-c", "cat"], ". ./x.sh");
        assert!(!lines.contains("file `"), "it is not the script: {lines}");
        let code = "files that the code in the command or on standard input reads";
        assert!(read(&["python3"], "import x").contains(code));
        assert!(!read(&["cat"], "import x").contains(code));
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
            (&["sh", "-c", "cd sub && make deploy"], "the Makefile that `make` reads"),
            (&["sh", "-c", "python3 -m deploy"], "the module that `-m` names"),
            (&["python3", "-c", "import x"], "files that the code in the command"),
            (&["sh", "-c", "perl -lpe 'do q(x.pl)'"], "files that the code in the command"),
            (&["awk", "BEGIN { system(\"./x.sh\") }"], "files that the code in the command"),
            (&["node", "--eval", "require('./x')"], "files that the code in the command"),
            (&["sh", "large"], "the contents of `large`, which is larger than 1 MiB"),
            (&["kubectl", "-f", "data.txt", "--x=sub/plain"], "of `data.txt`, `sub/plain`"),
            (&["sh", "-c", "cd sub; kubectl apply -f plain"], "the contents of `sub/plain`"),
            (&["sh", "-c", "true < data.txt"], "the contents of `data.txt`"),
            (&["python3", "sub"], "what `sub` holds, which is not a file"),
            (&["sed", "-fdata.txt"], "the contents of `data.txt`"),
            (&["curl", "-d@data.txt"], "the contents of `data.txt`"),
            (&["sh", "-c", "ls x*.sh | xargs -n1 sh"], "the program that `xargs` starts"),
            (&["sh", "-c", "cd sub && sudo ./y.sh"], "the program that `sudo` starts"),
        ] {
            let (_, notes) = looked_at(argv);
            assert!(notes.iter().any(|one| one.contains(note)), "{argv:?}: {notes:?}");
        }
    }
}
