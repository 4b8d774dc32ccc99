//! A client on the server's streams, and a place that leaves no run behind.

use std::io::{BufRead as _, BufReader, Write as _};
use std::ops::Deref;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::harness::Place;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// A place with skills that an assistant may run.
pub(crate) struct InboxView {
    place: Place,
}

impl InboxView {
    /// With skills, each a name and its steps; someone has said that it is theirs.
    pub(crate) fn with(skills: &[(&str, &str)]) -> Self {
        let desk = Self::untrusted(skills);
        desk.aye(&["trust", "--yes"]).ok();
        desk
    }

    /// The same, and nobody has said so.
    pub(crate) fn untrusted(skills: &[(&str, &str)]) -> Self {
        let place = Place::new();
        for (name, steps) in skills {
            place.write(&format!("skills/{name}.yaml"), &format!("name: {name}\n{steps}\n"));
        }
        Self { place }
    }

    /// The last decision of the newest run.
    pub(crate) fn decision(&self) -> Value {
        let shown = self.aye(&["show", "last", "--json"]).ok().json();
        shown["decisions"].as_array().unwrap().last().cloned().unwrap_or_default()
    }
}

impl Deref for InboxView {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

/// How a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

/// A client with a server of its own.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    era: Era,
    can: Value,
    name: String,
    next: u64,
    /// Everything the server wrote.
    pub(crate) heard: Vec<String>,
    /// How forms are answered, one after the other; then none is.
    pub(crate) answers: Vec<Value>,
    /// The forms that were shown.
    pub(crate) forms: Vec<Value>,
    /// Notifications other than progress.
    pub(crate) notes: Vec<Value>,
    /// What progress said.
    pub(crate) progress: Vec<String>,
}

/// What a tool answered.
#[derive(Debug, Clone)]
pub(crate) struct Got {
    pub(crate) whole: Value,
}

impl Got {
    /// The data; fails if it was an error.
    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        assert_ne!(self.whole["isError"], true, "{}", self.text());
        self.whole["structuredContent"].clone()
    }

    /// What the error says; fails if it was none.
    #[track_caller]
    pub(crate) fn refused(&self) -> String {
        assert_eq!(self.whole["isError"], true, "{}", self.whole);
        self.text()
    }

    pub(crate) fn text(&self) -> String {
        self.whole["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    }

    #[track_caller]
    pub(crate) fn id(&self) -> String {
        self.ok()["execution_id"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn status(&self) -> String {
        self.ok()["status"].as_str().unwrap().to_owned()
    }
}

impl Client {
    /// A client of the old era that can show no forms.
    pub(crate) fn new(desk: &InboxView) -> Self {
        Self::that_can(desk, Era::Legacy, json!({}))
    }

    /// A client with these capabilities.
    pub(crate) fn that_can(desk: &InboxView, era: Era, can: Value) -> Self {
        Self::called(desk, &["mcp"], era, can)
    }

    /// A client that starts the server with these arguments.
    pub(crate) fn called(desk: &InboxView, args: &[&str], era: Era, can: Value) -> Self {
        Self::of(desk.command(args), era, can, "test-client")
    }

    /// A client that calls itself `name`, and starts the server like this.
    pub(crate) fn of(mut command: Command, era: Era, can: Value, name: &str) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (said, lines) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if said.send(line).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        let mut client = Self {
            child,
            input,
            lines,
            era,
            can,
            name: name.to_owned(),
            next: 0,
            heard: Vec::new(),
            answers: Vec::new(),
            forms: Vec::new(),
            notes: Vec::new(),
            progress: Vec::new(),
        };
        if era == Era::Legacy {
            let hello = json!({
                "protocolVersion": "2025-11-25", "capabilities": client.can,
                "clientInfo": { "name": name, "version": "1" },
            });
            client.request("initialize", hello);
            client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }
        client
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// Sends a request and does not wait.
    pub(crate) fn post(&mut self, method: &str, mut params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        params["_meta"]["progressToken"] = json!(format!("p{id}"));
        if self.era == Era::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": self.name, "version": "1" });
            meta["io.modelcontextprotocol/clientCapabilities"] = self.can.clone();
        }
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&message);
        id
    }

    /// The next message; nothing once the server has ended.
    fn read(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                self.heard.push(line.clone());
                Some(serde_json::from_str(&line).expect("every line is a message"))
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the server says nothing"),
        }
    }

    /// Waits for the answer to a request, showing forms meanwhile.
    pub(crate) fn wait(&mut self, id: u64) -> Value {
        loop {
            let message = self.read().expect("the server continues");
            match message["method"].as_str() {
                None if message["id"] == id => return message,
                None => {}
                Some("elicitation/create") => self.show(&message),
                Some("notifications/progress") => {
                    let said = message["params"]["message"].as_str().unwrap_or_default();
                    self.progress.push(said.to_owned());
                }
                Some(_) => self.notes.push(message),
            }
        }
    }

    fn show(&mut self, message: &Value) {
        self.forms.push(message["params"].clone());
        if self.answers.is_empty() {
            return;
        }
        let answer = self.answers.remove(0);
        self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer }));
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        self.wait(id)
    }

    /// Calls a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Got {
        let mut params = json!({ "name": tool });
        params["arguments"] = arguments;
        let got = self.request("tools/call", params);
        assert!(got.get("result").is_some(), "{got}");
        Got { whole: got["result"].clone() }
    }

    /// Runs a skill until it asks or ends.
    pub(crate) fn run(&mut self, skill: &str) -> Got {
        self.call("skill_run", json!({ "skill": skill }))
    }

    /// Waits for a notification.
    pub(crate) fn note(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.notes.iter().position(|note| note["method"] == method) {
                return self.notes.remove(at);
            }
            let message = self.read().expect("the server continues");
            self.notes.push(message);
        }
    }

    /// Ends the server without a word.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes its end; the server's exit code.
    pub(crate) fn close(mut self) -> Option<i32> {
        self.input = None;
        self.child.wait().unwrap().code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
