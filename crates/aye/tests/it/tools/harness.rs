//! Servers, and a driver that waits for what they do.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use aye_process::policy::Policy;
use aye_runtime::settings::{Settings, ToolSettings};
use aye_runtime::tools::{Call, ToolError, ToolEvent, ToolResult, Tools, World};
use aye_runtime::trust::{Power, TrustFile};
use jiff::Timestamp;
use serde_json::{Map, Value};
use tempfile::TempDir;

use crate::needs;

/// No test waits longer for anything.
const LIMIT: Duration = Duration::from_secs(120);

/// A workspace with tools, and what they say.
pub(super) struct ToolHarness {
    pub(super) directory: TempDir,
    pub(super) tools: Tools,
    /// Everything that happened, except ends of calls.
    pub(super) seen: Vec<ToolEvent>,
    next: u64,
    /// What was agreed to.
    _home: TempDir,
}

/// The tools that an `aye.toml` in this directory names.
pub(super) fn read(directory: &Path, text: &str) -> ToolSettings {
    std::fs::write(directory.join("aye.toml"), text).unwrap();
    Settings::load(directory, None, |_| false).unwrap_or_else(|error| panic!("{error}")).tools
}

/// The environment of a user, with one secret in it.
fn environment() -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = std::env::vars().collect();
    all.insert("MEANT_FOR_TOOLS".to_owned(), "yes".to_owned());
    all.insert("TOKEN_OF_THE_RUN".to_owned(), "hunter2".to_owned());
    all
}

/// A world without a policy.
pub(super) fn world(workspace: &Path, trust: TrustFile) -> World {
    let (workspace, environment) = (workspace.to_path_buf(), environment());
    let policy = Policy::default();
    World {
        workspace,
        environment: environment.into(),
        trust,
        policy,
        run: None,
        descriptions: None,
    }
}

impl ToolHarness {
    pub(super) fn new(text: &str) -> Self {
        let directory = TempDir::with_prefix("aye-tools-").unwrap();
        Self::at(directory, text)
    }

    pub(super) fn at(directory: TempDir, text: &str) -> Self {
        let settings = read(directory.path(), text);
        let workspace = directory.path().canonicalize().unwrap();
        let home = TempDir::with_prefix("aye-home-").unwrap();
        let trust = TrustFile::new(home.path(), &settings.root);
        let tools = Tools::new(&settings, world(&workspace, trust.clone()));
        // Everything is agreed to: `trusting` has tests of what is not.
        let programs = settings.servers.keys().filter_map(|name| tools.launch(name));
        for launch in programs.flatten() {
            trust.agree(&Power::from(&launch), Timestamp::UNIX_EPOCH).unwrap();
        }
        Self { directory, tools, seen: Vec::new(), next: 1, _home: home }
    }

    /// A workspace with our own server, which is called `own`.
    pub(super) fn own(more: &str) -> Self {
        let directory = TempDir::with_prefix("aye-tools-").unwrap();
        let text = format!("{}legacy = true\n{more}", own_server(directory.path()));
        Self::at(directory, &text)
    }

    pub(super) fn start(&mut self, name: &str, args: Value, timeout: Option<Duration>) -> u64 {
        let id = self.next;
        self.next += 1;
        let args = object(args);
        self.tools.call(Call {
            id,
            name: name.to_owned(),
            args,
            timeout,
            usual: None,
            most: None,
            run: None,
        });
        id
    }

    /// The next event that fits; all others are kept.
    #[track_caller]
    pub(super) fn until<T>(&mut self, fits: impl Fn(&ToolEvent) -> Option<T>) -> T {
        let give_up = Instant::now() + LIMIT;
        loop {
            let Some(event) = self.tools.wait(Some(give_up)) else {
                panic!("never happened; seen: {:?}", self.seen);
            };
            let found = fits(&event);
            self.seen.push(event);
            if let Some(found) = found {
                return found;
            }
        }
    }

    #[track_caller]
    pub(super) fn end(&mut self, call: u64) -> Result<ToolResult, ToolError> {
        self.until(|event| match event {
            ToolEvent::Done { call: other, result } if *other == call => Some(result.clone()),
            _ => None,
        })
    }

    #[track_caller]
    pub(super) fn call(&mut self, name: &str, args: Value) -> Result<ToolResult, ToolError> {
        let call = self.start(name, args, None);
        self.end(call)
    }

    /// What our own server has been told.
    pub(super) fn notes(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("notes")).unwrap_or_default()
    }

    /// The process of our own server.
    pub(super) fn pid(&self) -> i32 {
        let text = std::fs::read_to_string(self.directory.path().join("notes.pid")).unwrap();
        text.trim().parse().unwrap()
    }
}

/// `[tools.own]` with our own server.
pub(super) fn own_server(directory: &Path) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tools/server.sh");
    let notes = directory.join("notes");
    format!("[tools.own]\nserver = [\"/bin/sh\", {script:?}, {notes:?}]\n")
}

/// Whether a process is there and not dead.
pub(super) fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}

pub(super) fn kill(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// The command of a server that `tests/servers/install` installs.
pub(super) fn node_server(name: &str) -> Vec<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let node = std::env::split_paths(&path).map(|directory| directory.join("node"));
    let node = node.into_iter().find(|path| path.is_file());
    let node = node.expect("`node` is not installed; `./test` installs it");
    let script = format!("node/node_modules/@modelcontextprotocol/{name}/dist/index.js");
    [node, needs::installed(&script)].map(|path| path.to_str().unwrap().to_owned()).to_vec()
}

/// The same from Python: `era` is 2025 or 2026.
pub(super) fn python_server(name: &str, era: &str) -> Vec<String> {
    vec![needs::installed(&format!("python-{era}/bin/{name}")).to_str().unwrap().to_owned()]
}

/// A list of words in TOML.
pub(super) fn list(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    format!("[{}]", quoted.join(", "))
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is not an object"),
    }
}
