//! A client that other people wrote, driven through its script in `tests/peers`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::harness::{AYE, Place};
use crate::needs;

/// No test waits longer for anything.
const LIMIT: Duration = Duration::from_secs(120);

/// Which SDK, and which era it is told to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sdk {
    Python1,
    Python2,
    Python2Legacy,
    TypeScript1,
    TypeScript2,
}

impl Sdk {
    pub(super) const ALL: [Self; 5] =
        [Self::Python1, Self::Python2, Self::Python2Legacy, Self::TypeScript1, Self::TypeScript2];

    /// Whether it speaks the protocol of 2026.
    pub(super) fn is_modern(self) -> bool {
        matches!(self, Self::Python2 | Self::TypeScript2)
    }

    fn mode(self) -> &'static str {
        if self == Self::Python2Legacy { "legacy" } else { "auto" }
    }

    /// Its program.
    fn command(self) -> Command {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers");
        let (program, script) = match self {
            Self::Python1 => (needs::installed("python-2025/bin/python"), "peer.py"),
            Self::Python2 | Self::Python2Legacy => {
                (needs::installed("python-2026/bin/python"), "peer.py")
            }
            Self::TypeScript1 => (node(), "peer-1.mjs"),
            Self::TypeScript2 => (node(), "peer-2.mjs"),
        };
        let mut command = Command::new(program);
        command.arg(scripts.join(script)).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
        if matches!(self, Self::TypeScript1 | Self::TypeScript2) {
            command.env("PEER_PACKAGES", needs::installed("clients"));
        }
        command
    }
}

/// The Node that peers, Inspector and conformance suites need.
pub(super) fn node() -> PathBuf {
    let modules = needs::installed("node-22/node_modules");
    let mut found = std::fs::read_dir(&modules).unwrap().map(|entry| entry.unwrap().path());
    let node = found.find_map(|path| Some(path.join("bin/node")).filter(|path| path.is_file()));
    node.unwrap_or_else(|| panic!("there is no Node in {}", modules.display()))
}

/// Clients that rest between two scenarios: to start one takes longer than
/// most scenarios do. They end with the process, whose end closes their input.
static RESTING: Mutex<Vec<Peer>> = Mutex::new(Vec::new());

/// Plays the same with every peer, side by side, each in a
/// place of its own.
pub(super) fn with_each(play: impl Fn(&mut Peer) + Sync) {
    std::thread::scope(|scope| {
        for sdk in Sdk::ALL {
            let play = &play;
            std::thread::Builder::new()
                .name(format!("{sdk:?}"))
                .spawn_scoped(scope, move || {
                    let mut peer = Peer::start(sdk);
                    play(&mut peer);
                    peer.rest();
                })
                .unwrap();
        }
    });
}

/// One client, in a place of its own.
pub(crate) struct Peer {
    pub(super) sdk: Sdk,
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<Value>,
    /// Every line that was read, in order.
    pub(super) seen: Vec<Value>,
    next: u64,
    /// Nothing was connected yet: what was seen is of another scenario.
    is_new: bool,
}

/// What a tool answered.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    /// The whole result.
    pub(super) whole: Value,
    /// Its structured part.
    pub(super) data: Value,
    /// All its texts.
    pub(crate) text: String,
    pub(super) is_error: bool,
}

impl Reply {
    fn of(whole: Value) -> Self {
        let texts = whole["content"].as_array().into_iter().flatten();
        let texts: Vec<&str> = texts.filter_map(|part| part["text"].as_str()).collect();
        Self {
            text: texts.join("\n"),
            data: whole["structuredContent"].clone(),
            is_error: whole["isError"] == true,
            whole,
        }
    }

    /// Where the run stands.
    #[track_caller]
    pub(super) fn status(&self) -> &str {
        self.data["status"].as_str().unwrap_or_else(|| panic!("no status: {self:?}"))
    }

    /// The id to continue with.
    #[track_caller]
    pub(crate) fn id(&self) -> String {
        let id = self.data["execution_id"].as_str();
        id.unwrap_or_else(|| panic!("no execution id: {self:?}")).to_owned()
    }

    #[track_caller]
    pub(crate) fn stands(self, status: &str) -> Self {
        assert_eq!(self.status(), status, "{self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn refused(self) -> Self {
        assert!(self.is_error, "it was not refused: {self:#?}");
        self
    }
}

impl Peer {
    /// Starts it, or takes one that rests.
    pub(crate) fn start(sdk: Sdk) -> Self {
        let mut resting = RESTING.lock().unwrap();
        if let Some(at) = resting.iter().position(|peer| peer.sdk == sdk) {
            return resting.swap_remove(at);
        }
        drop(resting);
        let mut command = sdk.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = child.stdout.take().unwrap();
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { return };
                let line =
                    serde_json::from_str(&line).unwrap_or_else(|_| json!({ "no json": line }));
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        Self { sdk, child, stdin, lines, seen: Vec::new(), next: 1, is_new: true }
    }

    /// Hangs up, and is ready for another scenario.
    pub(crate) fn rest(mut self) {
        let id = self.send(json!({ "do": "close" }));
        let _ = self.outcome(id);
        self.is_new = true;
        RESTING.lock().unwrap().push(self);
    }

    /// Sends a command and does not wait.
    pub(super) fn send(&mut self, mut command: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        command["id"] = json!(id);
        writeln!(self.stdin, "{command}").unwrap();
        id
    }

    /// The first line that fits, of those already seen from `since` on and those to come.
    #[track_caller]
    pub(super) fn until(&mut self, since: usize, fits: impl Fn(&Value) -> bool) -> Value {
        let give_up = Instant::now() + LIMIT;
        let mut at = since;
        loop {
            while let Some(line) = self.seen.get(at) {
                if fits(line) {
                    return line.clone();
                }
                at += 1;
            }
            match self.lines.recv_timeout(give_up.saturating_duration_since(Instant::now())) {
                Ok(line) => self.seen.push(line),
                Err(error) => panic!("{:?}: {error}; seen: {:#?}", self.sdk, self.seen),
            }
        }
    }

    /// What became of a command.
    #[track_caller]
    pub(super) fn outcome(&mut self, id: u64) -> Result<Value, Value> {
        let line = self.until(0, |line| line["id"] == id);
        match line.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(line["error"].clone()),
        }
    }

    /// Sends a command and waits for its result.
    #[track_caller]
    pub(super) fn ask(&mut self, command: Value) -> Value {
        let shown = command.to_string();
        let id = self.send(command);
        self.outcome(id).unwrap_or_else(|error| panic!("{:?}: {shown}: {error}", self.sdk))
    }

    /// Starts `aye mcp` in this place and connects to it.
    #[track_caller]
    pub(super) fn connect(&mut self, place: &Place) -> Value {
        self.connect_with(place, json!({}))
    }

    /// The same with other keys in the command.
    #[track_caller]
    pub(crate) fn connect_with(&mut self, place: &Place, more: Value) -> Value {
        let mut command = json!({
            "do": "connect",
            "mode": self.sdk.mode(),
            "stdio": {
                "command": AYE,
                "args": ["mcp"],
                "cwd": place.work(),
                "env": {
                    "PATH": "/usr/local/bin:/usr/bin:/bin",
                    "HOME": place.path(),
                    "AYE_HOME": place.home(),
                    "LANG": "C.UTF-8",
                },
            },
        });
        if let Value::Object(more) = more {
            command.as_object_mut().unwrap().extend(more);
        }
        let about = self.ask(command);
        self.check_era(&about);
        about
    }

    /// Connects over HTTP.
    #[track_caller]
    pub(super) fn connect_http(&mut self, url: &str, token: &str) -> Value {
        self.connect_http_with(url, token, json!({}))
    }

    /// The same with other keys in the command.
    #[track_caller]
    pub(super) fn connect_http_with(&mut self, url: &str, token: &str, more: Value) -> Value {
        let mut command = json!({
            "do": "connect", "mode": self.sdk.mode(), "http": { "url": url, "token": token },
        });
        if let Value::Object(more) = more {
            command.as_object_mut().unwrap().extend(more);
        }
        let about = self.ask(command);
        self.check_era(&about);
        about
    }

    #[track_caller]
    fn check_era(&mut self, about: &Value) {
        if std::mem::take(&mut self.is_new) {
            self.seen.clear();
        }
        let spoken = if self.sdk.is_modern() { "2026-07-28" } else { "2025-11-25" };
        // SDK 1.x for TypeScript knows it over HTTP only.
        if !about["protocol"].is_null() {
            assert_eq!(about["protocol"], spoken, "{:?}: {about}", self.sdk);
        }
    }

    /// Calls a tool and does not wait.
    pub(super) fn start_call(&mut self, tool: &str, args: Value) -> u64 {
        let mut command = json!({ "do": "call", "tool": tool });
        command["args"] = args;
        self.send(command)
    }

    /// The answer to a call.
    #[track_caller]
    pub(super) fn reply(&mut self, call: u64) -> Reply {
        let outcome = self.outcome(call);
        Reply::of(outcome.unwrap_or_else(|error| panic!("{:?}: {error}", self.sdk)))
    }

    /// Calls a tool.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, args: Value) -> Reply {
        let call = self.start_call(tool, args);
        self.reply(call)
    }

    /// Calls a tool that may be refused by its schema, by the protocol or by its result.
    #[track_caller]
    pub(super) fn try_call(&mut self, tool: &str, args: Value) -> Result<Reply, Value> {
        let call = self.start_call(tool, args);
        self.outcome(call).map(Reply::of)
    }

    /// How elicitations are answered from now on.
    #[track_caller]
    pub(super) fn answering(&mut self, how: Value) {
        let mut command = how;
        command["do"] = json!("answering");
        self.ask(command);
    }

    /// The next elicitation that was not looked at yet.
    #[track_caller]
    pub(super) fn elicitation(&mut self, since: usize) -> (u64, Value) {
        let line = self.until(since, |line| line["event"] == "elicitation");
        (line["number"].as_u64().unwrap(), line["params"].clone())
    }

    /// Answers an elicitation.
    #[track_caller]
    pub(super) fn answer(&mut self, number: u64, action: &str, content: Value) {
        let mut command = json!({ "do": "answer", "number": number, "action": action });
        command["content"] = content;
        self.ask(command);
    }

    /// How many elicitations it was shown.
    pub(super) fn elicitations(&self) -> usize {
        self.seen.iter().filter(|line| line["event"] == "elicitation").count()
    }

    /// What was told of a call's progress.
    pub(super) fn progress(&self, call: u64) -> Vec<Value> {
        let told = self.seen.iter().filter(|l| l["event"] == "progress" && l["call"] == call);
        told.cloned().collect()
    }

    pub(super) fn close(&mut self) {
        self.ask(json!({ "do": "close" }));
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
