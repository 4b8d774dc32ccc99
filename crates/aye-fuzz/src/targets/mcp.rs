//! MCP messages, to a real server: this process, started again as one.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::watch::peak_of;

use super::Target;

/// After so many messages it has to answer one that makes sense.
const BATCH: u32 = 50;

pub(super) struct Mcp {
    place: TempDir,
    server: Server,
    sent: u32,
    memory: u64,
}

struct Server {
    child: Child,
    input: ChildStdin,
    /// The ids of the answers to what made sense.
    answers: Receiver<u64>,
    asked: u64,
}

impl Mcp {
    pub(super) fn start() -> Result<Self, String> {
        let place = TempDir::with_prefix("aye-fuzz-").map_err(|error| error.to_string())?;
        let server = Server::start(&place).map_err(|error| error.to_string())?;
        Ok(Self { place, server, sent: 0, memory: 0 })
    }
}

impl Server {
    fn start(place: &TempDir) -> std::io::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("mcp")
            .current_dir(place.path())
            .env_clear()
            .env("HOME", place.path())
            .env("AYE_HOME", place.path().join("home"))
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let missing = || std::io::Error::other("it has no pipes");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let (told, answers) = sync_channel(1024);
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let id =
                    serde_json::from_str::<Value>(&line).ok().and_then(|said| said["id"].as_u64());
                if let Some(id) = id.filter(|id| *id >= 1 << 32)
                    && told.send(id).is_err()
                {
                    return;
                }
            }
        });
        let mut server = Self { child, input, answers, asked: 1 << 32 };
        server.tell(&json!({ "jsonrpc": "2.0", "id": server.asked, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "fuzz", "version": "1" },
        } }))?;
        server.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(server)
    }

    fn tell(&mut self, message: &Value) -> std::io::Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes())
    }

    /// Whether it still answers.
    fn answers(&mut self) -> bool {
        self.asked += 1;
        let ping = json!({ "jsonrpc": "2.0", "id": self.asked, "method": "ping" });
        if self.tell(&ping).is_err() {
            return false;
        }
        loop {
            match self.answers.recv_timeout(Duration::from_secs(10)) {
                Ok(id) if id == self.asked => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Target for Mcp {
    fn run(&mut self, case: &[u8]) -> Result<(), String> {
        let mut line: Vec<u8> = case.iter().copied().filter(|byte| *byte != b'\n').collect();
        line.push(b'\n');
        let alive = self.server.input.write_all(&line).is_ok();
        self.sent += 1;
        if alive && !self.sent.is_multiple_of(BATCH) {
            return Ok(());
        }
        self.memory = self.memory.max(peak_of(&self.server.child.id().to_string()));
        if alive && self.server.answers() {
            return Ok(());
        }
        // A client that does not speak the protocol may be left; nothing else.
        let ended = self.server.child.try_wait().map_err(|error| error.to_string())?;
        match ended {
            Some(status) if status.code() == Some(0) || status.code() == Some(1) => {}
            Some(status) => return Err(format!("the server ended: {status}")),
            None => return Err("the server does not answer".to_owned()),
        }
        self.server = Server::start(&self.place).map_err(|error| error.to_string())?;
        Ok(())
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "\"jsonrpc\":\"2.0\"",
            "\"id\":1",
            "\"id\":null",
            "\"id\":\"a\"",
            "\"method\":\"tools/call\"",
            "\"method\":\"tools/list\"",
            "\"method\":\"resources/read\"",
            "\"params\":{}",
            "\"params\":[]",
            "\"name\":\"skill_list\"",
            "\"name\":\"skill_run\"",
            "\"arguments\":{}",
            "\"skill\":\"../../etc/passwd\"",
            "\"execution_id\":\"\"",
            "\"cursor\":",
            "\"uri\":\"aye://runs/\"",
            "\"_meta\":{}",
            "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"",
            "null",
            "true",
            "{}",
            "[]",
            "\"\"",
            ",",
            "\\u0000",
            "\\ud800",
            "\"progressToken\":",
            "\"method\":\"initialize\"",
            "\"method\":\"ping\"",
            "\"result\":{}",
            "\"error\":{}",
        ]
    }

    fn memory(&self) -> u64 {
        self.memory
    }
}
