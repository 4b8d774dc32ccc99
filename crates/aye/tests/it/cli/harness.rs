//! A place of its own for each test: directory, home and environment.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// The program under test.
pub(crate) const AYE: &str = env!("CARGO_BIN_EXE_aye");

/// A fresh directory with nothing of the machine's own settings.
pub(crate) struct Place {
    directory: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = TempDir::with_prefix("aye-").unwrap();
        std::fs::create_dir(directory.path().join("work")).unwrap();
        Self { directory }
    }

    /// The working directory.
    pub(crate) fn work(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    /// `AYE_HOME`.
    pub(crate) fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// The journal's database, to look into it or tamper with it.
    pub(crate) fn journal_db(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.home().join("journal.db")).unwrap()
    }

    /// Writes a file below the working directory.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.work().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// What a file below the working directory says; nothing if it is not there.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.work().join(name)).unwrap_or_default()
    }

    /// The program with these arguments, in this place.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(AYE);
        command
            .args(args)
            .current_dir(self.work())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.directory.path())
            .env("AYE_HOME", self.home())
            .env("LANG", "C.UTF-8")
            // Where `./test coverage` collects what was reached.
            .envs(std::env::var_os("LLVM_PROFILE_FILE").map(|file| ("LLVM_PROFILE_FILE", file)))
            .stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    pub(crate) fn aye(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap(), self)
    }

    /// Runs it with text on standard input.
    pub(crate) fn aye_with_input(&self, args: &[&str], input: &str) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Ran::of(child.wait_with_output().unwrap(), self)
    }

    /// Starts it and lets it continue.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Starts a skill and lets it continue until its step has made a file.
    pub(crate) fn start_until(&self, args: &[&str], file: &str) -> Child {
        let mut child = self.start(args);
        let mut ended = false;
        until(file, || {
            ended = child.try_wait().unwrap().is_some();
            ended || self.work().join(file).exists()
        });
        if ended && !self.work().join(file).exists() {
            panic!("ended before it made `{file}`: {}", self.finish(child).all());
        }
        child
    }

    /// What a program that was started has printed and returned in the end.
    pub(crate) fn finish(&self, child: Child) -> Ran {
        Ran::of(child.wait_with_output().unwrap(), self)
    }

    /// The newest run's id.
    pub(crate) fn last(&self) -> String {
        let runs = self.aye(&["runs", "--json"]).ok().json();
        runs[0]["run"].as_str().expect("there is a run").to_owned()
    }

    /// Where the newest run stands.
    pub(crate) fn status(&self) -> String {
        let runs = self.aye(&["runs", "--json"]).ok().json();
        runs[0]["status"].as_str().expect("there is a run").to_owned()
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Processes that drive runs of this place in the background. The guard of each, its child,
    /// is not one of them.
    pub(crate) fn drivers(&self) -> Vec<Pid> {
        drivers(self.path())
    }
}

/// The same for any directory.
pub(crate) fn drivers(below: &Path) -> Vec<Pid> {
    let mut found: Vec<(i32, i32)> = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        // What has ended meanwhile cannot be read.
        let line = std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        let mut words = line.split('\0').skip(1);
        if words.next() != Some("background")
            || !words.any(|word| Path::new(word).starts_with(below))
        {
            continue;
        }
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let after = stat.rsplit_once(") ").map_or("", |(_, after)| after);
        let parent = after.split(' ').nth(1).and_then(|parent| parent.parse().ok());
        found.push((pid, parent.unwrap_or_default()));
    }
    let is_guard = |parent: i32| found.iter().any(|(pid, _)| *pid == parent);
    let drivers = found.iter().filter(|(_, parent)| !is_guard(*parent));
    drivers.filter_map(|(pid, _)| Pid::from_raw(*pid)).collect()
}

impl Drop for Place {
    /// A run that waits would wait for days in a process of its own. Its guard ends what it
    /// started.
    fn drop(&mut self) {
        for driver in self.drivers() {
            let _ = kill_process(driver, Signal::KILL);
        }
    }
}

/// What a call printed and returned.
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

impl Ran {
    pub(crate) fn of(output: Output, place: &Place) -> Self {
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).expect("output is UTF-8");
            text.replace(&place.path().display().to_string(), "PLACE")
        };
        Self {
            stdout: text(output.stdout),
            stderr: text(output.stderr),
            code: output.status.code().unwrap_or(-1),
        }
    }

    /// Everything, with what differs from call to call replaced.
    pub(crate) fn all(&self) -> String {
        let mut all = String::new();
        if !self.stdout.is_empty() {
            all.push_str("--- stdout\n");
            all.push_str(&settled(&self.stdout));
        }
        if !self.stderr.is_empty() {
            all.push_str("--- stderr\n");
            all.push_str(&settled(&self.stderr));
        }
        all.push_str(&format!("--- exit {}", self.code));
        all
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).expect("standard output is JSON")
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{}", self.all());
        self
    }
}

/// Replaces what differs from call to call, machine to machine, user to user.
fn settled(text: &str) -> String {
    let (user, host) = (escape(&user()), escape(&host()));
    let patterns = [
        (r#",\s*"namespaces":\s*\{[^}]*\}"#, ""),
        (r"\b[0-9abcdefghjkmnpqrstvwxyz]{10}\b(-\d+)?", "RUN$1"),
        (r"\d{4}-\d\d-\d\d(T| )\d\d:\d\d:\d\d((\.\d+)?Z| [A-Z]+\b)", "TIME"),
        (r"\b[0-9a-f]{64}\b", "DIGEST"),
        (r"\b\d+(\.\d)?(ms|s|m|h)( \d+[sm])?\b", "DURATION"),
        (r"(just now|DURATION ago) +", "AGO  "),
        (r#""pid":\s*\d+"#, r#""pid":PID"#),
        (r"process \d+", "process PID"),
        (r#"("duration_ms"|"latency_ms"|"peak_memory"|"cpu_ms"):\s*\d+"#, "$1:N"),
        (r"\d+ MB", "N MB"),
        (&format!(r"\bby {user}\b"), "by USER"),
        (&format!(r"by USER on {host}\b"), "by USER on HOST"),
        (&format!("`{user}` on `{host}`"), "`USER` on `HOST`"),
        (&format!(r#""user":\s*"{user}""#), r#""user":"USER""#),
        (&format!(r#""by":\s*"{user}""#), r#""by":"USER""#),
        (&format!(r#""(host|machine)":\s*"{host}""#), r#""$1":"HOST""#),
    ];
    let mut text = text.to_owned();
    for (pattern, with) in patterns {
        text = regex_lite::Regex::new(pattern).unwrap().replace_all(&text, with).into_owned();
    }
    text
}

/// Who runs the tests, as the program sees it.
fn user() -> String {
    let output = Command::new("id").arg("-un").output().unwrap();
    let name = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    if name.is_empty() { rustix::process::getuid().as_raw().to_string() } else { name }
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn escape(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_alphanumeric() { c.to_string() } else { format!("\\{c}") })
        .collect()
}

/// Fails with every part that a text lacks, not with the first of them alone.
#[track_caller]
pub(crate) fn assert_says(views: &[(&str, &[&str])]) {
    let lacks = |text: &str, parts: &[&str]| -> Vec<String> {
        let missing = parts.iter().filter(|part| !text.contains(**part));
        missing.map(|part| format!("{part:?}")).collect()
    };
    let missing: Vec<String> = views.iter().flat_map(|(text, parts)| lacks(text, parts)).collect();
    let texts: Vec<&str> = views.iter().map(|(text, _)| *text).collect();
    assert!(missing.is_empty(), "missing:\n{}\nin:\n{}", missing.join("\n"), texts.join("\n"));
}

/// Waits until something has happened; fails loudly if it never does.
#[track_caller]
pub(crate) fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(120);
    while !happened() {
        assert!(Instant::now() < give_up, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The processes that a process has started and that still live.
pub(crate) fn children_of(pid: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    text.unwrap_or_default().split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Sends a signal to a program that was started.
pub(crate) fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_child(child);
    kill_process(pid, signal).unwrap();
}

/// Sends a signal to a process, which may have ended.
pub(crate) fn signal_to(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let _ = kill_process(pid, signal);
}
