//! A hostile repository and a hostile journal, and every verb that prints:
//! nothing that comes out steers a terminal, hides, or begins a line of its own.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::Command;

use aye::cli::Cli;
use aye_core::diagnostic::is_hidden;
use clap::CommandFactory as _;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, OutputModes, tcgetattr, tcsetattr};
use serde_json::Value;

use super::harness::Place;

/// Clears the screen, sets the title, conceals, reorders, hides, overwrites,
/// and begins a line.
pub(crate) const HOSTILE: &str =
    "a\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}31m\u{1b}[8mb\u{202e}c\u{200b}d\u{e0041}\u{7f}\u{8}e\r\nFORGED";

/// The same as a YAML or JSON string.
fn quoted() -> String {
    let escaped: String = HOSTILE
        .chars()
        .map(|c| match c {
            '\n' => "\\n".to_owned(),
            c if is_hidden(c) && u32::from(c) > 0xffff => {
                let mut pair = [0; 2];
                c.encode_utf16(&mut pair).iter().map(|unit| format!("\\u{unit:04x}")).collect()
            }
            c if is_hidden(c) => format!("\\u{:04x}", u32::from(c)),
            c => c.to_string(),
        })
        .collect();
    format!("\"{escaped}\"")
}

/// As YAML, which has no pairs.
fn yaml() -> String {
    quoted().replace("\\udb40\\udc41", "\\U000E0041")
}

/// A place where everything has a hostile text in it that may.
pub(crate) struct Repository {
    pub(crate) place: Place,
    directory: PathBuf,
}

impl Repository {
    pub(crate) fn new() -> Self {
        let place = Place::new();
        let directory = place.work().join(HOSTILE);
        let q = yaml();
        let skill = format!(
            "name: good\ndescription: {q}\n\
             inputs: [{{ name: who, description: {q}, default: {q} }}]\n\
             steps:\n\
             - {{ name: a, description: {q}, command: cat, args: [said], output: said }}\n\
             - {{ name: b, description: {q}, command: sh, args: [-c, 'cat said >&2; exit 3', {q}], on_error: continue }}\n\
             - {{ name: t, tool: own.fine, args: {{ x: {q} }}, on_error: continue }}\n\
             - {{ name: m, shell: 'echo \"{{{{ inputs.who }}}}\"', condition: \"inputs.who != ''\", on_error: continue }}\n\
             outputs: [{{ name: out, value: '{{{{ said }}}}' }}]\n"
        );
        let asking = format!(
            "name: asking\nsteps: [{{ name: gate, confirm: {{ title: {q}, message: {q}, timeout: 0, \
             options: [{{ label: {q}, value: proceed, description: {q} }}, {{ label: Stop, value: stop, action: cancel }}] }} }}]\n"
        );
        let failing = format!(
            "name: failing\nsteps: [{{ name: f, command: sh, args: [-c, 'cat said >&2; exit 3'], on_error: fail }}]\noutputs: [{{ name: o, value: {q} }}]\n"
        );
        let repository = Self { place, directory };
        repository.write("skills/good.yaml", skill.as_bytes());
        repository.write("skills/asking.yaml", asking.as_bytes());
        repository.write("skills/failing.yaml", failing.as_bytes());
        let broken =
            format!("name: {q}\n{q}: {q}\nsteps: [{{ name: {q}, command: {q}, {q}: 1 }}]\n");
        repository.write(&format!("skills/{HOSTILE}.yaml"), broken.as_bytes());
        repository.write("skills/raw.yaml", format!("name: raw\nstepz: {HOSTILE}\n").as_bytes());
        repository.write("said", HOSTILE.as_bytes());
        let tools = format!(
            "[tools.own]\nserver = ['/bin/sh', 'server.sh']\nlegacy = true\n\
             [tools.named]\ncommand = ['sh', '-c', 'cat said; cat said >&2']\ndescription = {}\n",
            quoted().replace("\\udb40\\udc41", "\\U000E0041")
        );
        repository.write("aye.toml", tools.as_bytes());
        repository.write("server.sh", server().as_bytes());
        repository
    }

    fn write(&self, name: &str, text: &[u8]) {
        let path = self.directory.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn command(&self, args: &[OsString]) -> Command {
        let mut command = self.place.command(&[]);
        command
            .args(args)
            .current_dir(&self.directory)
            .env("USER", HOSTILE)
            .env("LOGNAME", HOSTILE);
        command
    }

    pub(crate) fn quietly(&self, args: &[&str]) {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        self.command(&args).output().unwrap();
    }

    /// Ends what still waits.
    pub(crate) fn cancel_all(&self) {
        let [out, _] = piped(self.command(&["runs", "--json"].map(OsString::from)));
        let runs: Value = serde_json::from_str(&out).expect("JSON");
        let open = |run: &&Value| run["ended"].is_null();
        for run in runs.as_array().unwrap().iter().filter(open) {
            self.quietly(&["cancel", run["run"].as_str().unwrap()]);
        }
    }

    /// Something that was learned, and an open question.
    fn ids(&self) -> (String, String) {
        let id = |args: &[&str], pointer: &str| {
            let args: Vec<OsString> = args.iter().map(OsString::from).collect();
            let [out, err] = piped(self.command(&args));
            let listed: Value = serde_json::from_str(&out).expect("JSON");
            listed
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_else(|| panic!("{args:?}: {out}{err}"))
                .to_owned()
        };
        (id(&["memory", "list", "--json"], "/fixes/0/id"), id(&["inbox", "--json"], "/0/question"))
    }

    /// Runs, questions and memory with hostile texts; then the journal itself is changed.
    fn fill(&self) {
        self.learn();
        self.quietly(&["run", "good", "-i", &format!("who={HOSTILE}")]);
        self.quietly(&["run", "failing"]);
        self.quietly(&["run", "asking"]);
        self.forge(&["runs SET workspace = ?1, file = ?1", "sources SET file = ?1"]);
    }

    /// Trusts the project and fills its memory.
    pub(crate) fn learn(&self) {
        self.quietly(&["trust", "--yes"]);
        self.quietly(&["tools", "trust", "--yes"]);
        let issue = ["memory", "learn", "--error", HOSTILE, "--meaning", HOSTILE, "--fix", HOSTILE];
        self.quietly(&issue);
        self.quietly(&[
            "memory",
            "learn",
            "--error",
            "some error",
            "--tool",
            "sh",
            "--",
            "echo",
            HOSTILE,
        ]);
    }

    /// Writes hostile texts into the journal's tables, and into these.
    pub(crate) fn forge(&self, more: &[&str]) {
        let journal = self.place.journal_db();
        for change in [
            "runs SET skill = ?1, user = ?1, host = ?1, message = ?1, step = ?1",
            "questions SET skill = ?1, step = ?1, title = ?1, message = ?1",
        ]
        .iter()
        .chain(more)
        {
            journal.execute(&format!("UPDATE {change}"), [HOSTILE]).unwrap();
        }
    }
}

/// A server whose every text is hostile.
fn server() -> String {
    let q = quoted().replace('\\', "\\\\");
    format!(
        r#"answer() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%b}}\n' "$id" "$1"; }}
cat said >&2
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"method":"initialize"'*) answer '{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":{q},"version":{q}}}}}' ;;
    *'"method":"tools/list"'*) answer '{{"tools":[{{"name":"fine","description":{q},"inputSchema":{{"type":"object","properties":{{"x":{{"type":"string","description":{q}}}}}}}}},{{"name":{q},"inputSchema":{{"type":"object"}}}}]}}' ;;
    *'"method":"tools/call"'*) answer '{{"content":[{{"type":"text","text":{q}}}]}}' ;;
  esac
done
"#
    )
}

/// How each verb is called: with what is there and with what is not.
fn calls(verb: &str) -> Option<Vec<Vec<&'static str>>> {
    let h = HOSTILE;
    Some(match verb {
        "run" => vec![
            vec!["good"],
            vec!["good", "--dry-run"],
            vec!["failing"],
            vec!["asking"],
            vec![h],
            vec!["good", "--only", h],
            vec!["good", "-i", h],
            vec!["raw"],
        ],
        "resume" => vec![vec!["last"], vec![h]],
        "retry" => vec![vec!["last"], vec![h], vec!["last", h]],
        "patch" => vec![vec!["last"], vec![h]],
        "cancel" => vec![vec![h]],
        "answer" => vec![vec![h, "proceed"], vec!["QUESTION", h]],
        "inbox" => vec![vec![]],
        "watch" => vec![vec![h]],
        "serve" => vec![vec!["--listen", h]],
        "serve open" => vec![vec!["--print"], vec![h]],
        "serve install" => vec![vec![h]],
        "people" => vec![vec![], vec![h]],
        "people add" => vec![vec![h], vec![h, "--rights", h]],
        "people list" => vec![vec![]],
        "people link" | "people revoke" | "people remove" => vec![vec![h]],
        "schedule" => vec![vec![], vec![h]],
        "schedule add" => vec![
            vec!["good", "--at", h],
            vec![h, "--at", "daily"],
            vec!["good", "--at", "daily", "--name", h, "--with", "systemd"],
            vec!["good", "--at", "daily", "--environment", h, "--with", "systemd"],
        ],
        "schedule list" => vec![vec![]],
        "notify" => vec![vec![], vec![h]],
        "notify test" => vec![vec![], vec![h]],
        "notify list" => vec![vec![]],
        "schedule remove" => vec![vec![h]],
        "stats" => vec![vec!["good"], vec![h], vec!["good", "--since", h]],
        "confirm" => vec![vec![h, "--yes"], vec![h], vec![h, "--yes", "--journal"]],
        "choose" => vec![vec![h, h, "b", "--yes", "--default", h], vec![h, "a"]],
        "input" => vec![vec![h, "--yes", "--default", h], vec![h]],
        "list" => vec![vec![], vec!["good"], vec![h]],
        "check" => vec![vec![], vec!["skills"], vec![h]],
        "graph" => vec![
            vec!["good"],
            vec!["asking", "-f", "mermaid"],
            vec!["good", "-f", "dot"],
            vec!["asking", "-f", "svg"],
            vec![h],
            vec!["raw"],
        ],
        "doctor" => vec![vec![]],
        "init" => vec![vec![h]],
        "runs" => vec![vec![], vec!["--skill", h]],
        "runs prune" => vec![vec!["--older-than", h]],
        "show" => vec![vec!["last"], vec!["last", "--markdown"], vec![h]],
        "logs" => vec![vec!["last"], vec!["last", "-n", "5"], vec![h], vec!["last", h]],
        "audit" => vec![vec![], vec![h]],
        "trust" => vec![vec![], vec!["--yes"], vec!["--list"], vec![h]],
        "auth" | "tools" | "memory" => vec![vec![], vec![h]],
        "auth setup" | "auth status" | "auth remove" => vec![vec![]],
        "auth confirm" => vec![vec![h]],
        "tools list" => vec![vec![], vec!["own"], vec![h]],
        "tools call" => vec![
            vec!["own.fine", "-a", "x=1"],
            vec!["named"],
            vec![h],
            vec!["own.fine", "-a", h],
            vec!["own.fine", "--args", h],
        ],
        "tools trust" => vec![vec!["--yes"], vec![h]],
        "tools forget" => vec![vec![h]],
        "mcp" => vec![vec![], vec!["--http", h], vec!["--workspace", h]],
        "mcp token" => vec![vec![]],
        "mcp install" => vec![vec![h], vec!["claude", "--print"]],
        "memory list" | "memory stats" | "memory call" => vec![vec![]],
        "memory show" => vec![vec!["MEMORY"], vec![h]],
        "memory forget" | "memory agree" => vec![vec![h]],
        "memory import" => vec![vec![h], vec![".aye/memory/learned/patterns.yaml"]],
        "memory check" => vec![vec![h], vec!["some error", "--tool", "sh"]],
        "memory learn" => vec![vec!["--error", h], vec!["--error", h, "--meaning", h]],
        "schema" => vec![vec![]],
        "completions" => vec![vec!["bash"], vec!["zsh"], vec!["fish"], vec![h]],
        "man" => vec![vec![], vec![h]],
        _ => return None,
    })
}

/// Every verb of the program, `runs prune` and the like included.
fn verbs() -> Vec<String> {
    fn walk(command: &clap::Command, path: &str, into: &mut Vec<String>) {
        for inside in command.get_subcommands().filter(|inside| inside.get_name() != "help") {
            let name = format!("{path} {}", inside.get_name()).trim().to_owned();
            into.push(name.clone());
            walk(inside, &name, into);
        }
    }
    let mut found = Vec::new();
    let mut program = Cli::command();
    program.build();
    walk(&program, "", &mut found);
    assert!(found.iter().any(|verb| verb == "runs prune"), "{found:?}");
    found
}

/// What a call wrote: standard output and standard error.
fn piped(mut command: Command) -> [String; 2] {
    let output = command.output().unwrap();
    [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The same on a terminal that controls nobody, so that nobody is asked.
fn on_a_terminal(mut command: Command) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave =
        rustix::fs::open(ptsname(&master, Vec::new()).unwrap(), flags, Mode::empty()).unwrap();
    let mut modes = tcgetattr(&slave).unwrap();
    // Line ends as they were written.
    modes.output_modes.remove(OutputModes::OPOST);
    tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
    command.env("TERM", "xterm-256color").stdout(slave.try_clone().unwrap()).stderr(slave);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut all = Vec::new();
    let mut chunk = [0; 4096];
    let mut master = std::fs::File::from(master);
    // An error is the end of the last who had it open.
    while let Ok(count @ 1..) = master.read(&mut chunk) {
        all.extend_from_slice(&chunk[..count]);
    }
    child.wait().unwrap();
    String::from_utf8_lossy(&all).into_owned()
}

/// Without the sequences that Aye itself writes: colours, and what the live view moves with.
fn without_own(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some(at) = rest.find(['\u{1b}', '\r']) {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        match own(rest) {
            Some(length) => rest = &rest[length..],
            None => {
                kept.push_str(&rest[..1]);
                rest = &rest[1..];
            }
        }
    }
    kept + rest
}

fn own(text: &str) -> Option<usize> {
    if text.starts_with("\r\n") {
        return Some(1);
    }
    // What lies between `[?2026h` and `[?2026l` is shown at once, between `[?7l` and
    // `[?7h` cut at the edge. Nothing hostile moves up or back: the plan of a run does.
    let moves = ["7", "8", "[2K", "[K", "[J", "[?2026h", "[?2026l", "[?7l", "[?7h"];
    let bare = text.strip_prefix('\r').unwrap_or(text);
    if let Some(rest) = bare.strip_prefix('\u{1b}')
        && let Some(moves) = moves.iter().find(|moves| rest.starts_with(**moves))
    {
        return Some(text.len() - rest.len() + moves.len());
    }
    // A row of the plan is painted from its beginning.
    if text.starts_with('\r') && !text.starts_with("\r\u{1b}") {
        return Some(1);
    }
    let body = text.strip_prefix("\r").unwrap_or(text).strip_prefix("\u{1b}[")?;
    let codes = body.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    let end = text.len() - body.len() + codes + 1;
    let fine = match body.as_bytes()[codes] {
        b'A' | b'B' | b'C' => true,
        b'm' => body[..codes]
            .split(';')
            .all(|code| matches!(code, "0" | "1" | "2" | "31" | "32" | "33" | "34" | "35" | "36")),
        _ => false,
    };
    fine.then_some(end)
}

/// What is wrong with what came out.
fn faults(text: &str, whole_texts: bool) -> Vec<String> {
    let text = without_own(text);
    let mut found: Vec<String> = Vec::new();
    if let Some(at) = text.find(is_hidden) {
        let around: String = text[..at]
            .chars()
            .rev()
            .take(40)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .chain(text[at..].chars().take(10))
            .collect();
        found.push(format!("a hidden character in {around:?}"));
    }
    let lines = if whole_texts { "" } else { text.as_str() };
    found.extend(
        lines
            .lines()
            .filter(|line| line.starts_with("FORGED"))
            .map(|line| format!("a line of its own: {line:?}")),
    );
    found
}

fn is_json(text: &str) -> bool {
    serde_json::Deserializer::from_str(text).into_iter::<Value>().all(|value| value.is_ok())
}

const MODES: [&[&str]; 5] = [&[], &["-v"], &["--json"], &["--plain"], &["--color", "always"]];

#[test]
fn no_verb_prints_what_steers_a_terminal() {
    let repository = Repository::new();
    repository.fill();
    let (memory, question) = repository.ids();
    let named = |word: OsString| match word.to_str() {
        Some("MEMORY") => OsString::from(&memory),
        Some("QUESTION") => OsString::from(&question),
        _ => word,
    };
    let (mut wrong, mut reached) = (Vec::new(), BTreeSet::new());
    for verb in verbs() {
        let calls =
            calls(&verb).unwrap_or_else(|| panic!("`aye {verb}` is not tested here: add it"));
        for call in calls {
            for mode in MODES {
                let args: Vec<OsString> = verb
                    .split(' ')
                    .chain(call.iter().copied())
                    .chain(mode.iter().copied())
                    .map(OsString::from)
                    .collect();
                let args: Vec<OsString> = args.into_iter().map(&named).collect();
                let json = mode == ["--json"];
                // What a step or a tool said, as a text of several lines.
                let whole = matches!(verb.as_str(), "logs" | "tools call");
                let [out, err] = piped(repository.command(&args));
                if [&out, &err].iter().any(|text| text.contains(r"\u{202e}")) {
                    reached.insert(verb.clone());
                }
                // Bytes as they came: what a step wrote, in a pipe; and the answer that a script waits for.
                let exact = match verb.as_str() {
                    "logs" => !json && !call.contains(&"-n"),
                    "confirm" | "choose" | "input" => !json,
                    _ => false,
                };
                let mut report = |what: &str, faults: Vec<String>| {
                    wrong.extend(
                        faults.into_iter().map(|fault| format!("{what} of {args:?}: {fault}")),
                    );
                };
                if !exact {
                    report("stdout", faults(&out, whole));
                }
                if !exact || verb != "logs" {
                    report("stderr", faults(&err, whole));
                }
                if json && verb != "completions" && verb != "man" && !is_json(&out) {
                    report("stdout", vec!["no JSON".to_owned()]);
                }
                let shown = on_a_terminal(repository.command(&args));
                report("the terminal", faults(&shown, whole));
            }
        }
    }
    // The texts did come that far, and were written out.
    for verb in [
        "run",
        "trust",
        "show",
        "runs",
        "inbox",
        "list",
        "check",
        "graph",
        "tools list",
        "tools call",
        "memory list",
        "memory show",
        "memory check",
        "answer",
        "logs",
    ] {
        assert!(reached.contains(verb), "`aye {verb}` showed nothing hostile: {reached:?}");
    }
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

/// Settings that cannot be read are named in an error by every verb.
#[test]
fn no_error_about_settings_does_either() {
    let repository = Repository::new();
    let keys = quoted().replace("\\udb40\\udc41", "\\U000E0041");
    for settings in [
        format!("{keys} = 1\n"),
        format!("[{keys}]\n"),
        format!("[tools.{keys}]\nserver = [{keys}]\n"),
        format!("= {HOSTILE}\n"),
        format!("[policy]\nallow = {keys}\n"),
    ] {
        repository.write("aye.toml", settings.as_bytes());
        for mode in MODES {
            for verb in ["list", "doctor", "run"] {
                let args: Vec<OsString> = std::iter::once(verb)
                    .chain((verb == "run").then_some("good"))
                    .chain(mode.iter().copied())
                    .map(OsString::from)
                    .collect();
                let [out, err] = piped(repository.command(&args));
                let shown = on_a_terminal(repository.command(&args));
                for text in [out, err, shown] {
                    assert_eq!(faults(&text, false), [""; 0], "{args:?} with {settings:?}: {text}");
                }
            }
        }
    }
}

/// Bytes that are not text at all, as a name of a file and on the command line.
#[test]
fn names_that_are_no_text_are_shown_all_the_same() {
    let repository = Repository::new();
    let odd = OsStr::from_bytes(b"odd\xff\x1b[2J\x9b.yaml");
    std::fs::write(repository.directory.join("skills").join(odd), "name: [").unwrap();
    for args in [
        vec![OsString::from("check"), "skills".into()],
        vec!["run".into(), odd.to_owned()],
        vec!["list".into()],
    ] {
        for text in piped(repository.command(&args)) {
            assert_eq!(faults(&text, false), [""; 0], "{args:?}: {text}");
        }
    }
}
