//! A server of its own for each test, and clients that are written by hand so
//! that they can misbehave.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::ops::Deref;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::harness::{Place, until};

/// Longer than anything here takes.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A question, then a step.
pub(super) const GATE: &str = "
steps:
  - { name: sure, confirm: { message: 'Go?', timeout: 1h } }
  - { name: go, shell: echo went && touch went }";

/// A place with a server. Its runs are cancelled in the end.
pub(crate) struct Served {
    place: Place,
    child: Child,
    pub(super) port: u16,
    pub(super) token: String,
}

impl Deref for Served {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

/// What a request got.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert!((200..300).contains(&self.status), "{} {}", self.status, self.body);
        self.json()
    }

    /// The code of a problem.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.body);
        assert!(self.head.contains("application/problem+json"), "{}", self.head);
        let problem = self.json();
        assert_eq!(problem["status"], status);
        problem["code"].as_str().unwrap().to_owned()
    }

    pub(super) fn header(&self, wanted: &str) -> Option<String> {
        self.head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case(wanted).then(|| value.trim().to_owned())
        })
    }
}

impl Served {
    /// With skills, each a name and its steps, in a project that is trusted.
    pub(super) fn with(skills: &[(&str, &str)]) -> Self {
        let place = Place::new();
        for (name, steps) in skills {
            place.write(&format!("skills/{name}.yaml"), &format!("name: {name}\n{steps}\n"));
        }
        place.aye(&["trust", "--yes"]).ok();
        Self::at(place)
    }

    /// A server that loses patience with its clients ten times as soon.
    pub(super) fn hurried(skills: &[(&str, &str)]) -> Self {
        let mut server = Self::with(skills);
        server.kill();
        (server.child, server.port, server.token) = start(&server.place, "10");
        server
    }

    pub(crate) fn at(place: Place) -> Self {
        let (child, port, token) = start(&place, "1");
        Self { place, child, port, token }
    }

    /// Kills the server and starts another one.
    pub(super) fn restart(&mut self) {
        self.kill();
        (self.child, self.port, self.token) = start(&self.place, "1");
    }

    pub(super) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// What the server wrote on standard error.
    pub(super) fn said(&self) -> String {
        std::fs::read_to_string(self.place.path().join("serve.stderr")).unwrap()
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// A request with exactly these headers, and `Host` unless it is among them.
    pub(crate) fn raw(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut stream = self.connect();
        let host = format!("127.0.0.1:{}", self.port);
        stream.write_all(request(method, path, &host, headers, body).as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        parse(&answer)
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.raw("GET", path, &[("Authorization", &self.bearer())], "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_as(&self.token, path, body, &new_key())
    }

    pub(super) fn post_as(&self, token: &str, path: &str, body: &Value, key: &str) -> Answer {
        self.sent(self.connect(), token, path, body, key).expect("an answer")
    }

    /// The same to a server that may be killed meanwhile: nothing if it did not answer.
    pub(super) fn post_if_there(&self, path: &str, body: &Value, key: &str) -> Option<Answer> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        self.sent(stream, &self.token, path, body, key)
    }

    fn sent(
        &self,
        mut stream: TcpStream,
        token: &str,
        path: &str,
        body: &Value,
        key: &str,
    ) -> Option<Answer> {
        let bearer = format!("Bearer {token}");
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Idempotency-Key", key),
        ];
        let host = format!("127.0.0.1:{}", self.port);
        let request = request("POST", path, &host, &headers, &body.to_string());
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Some(parse(&answer)).filter(|answer| answer.status != 0)
    }

    /// Starts a skill and returns its run.
    #[track_caller]
    pub(super) fn start_skill(&self, skill: &str) -> String {
        let started = self.post("/api/v1/runs", &json!({ "skill": skill })).ok();
        started["run"].as_str().unwrap().to_owned()
    }

    /// The first open question, once there is one.
    pub(super) fn question(&self) -> Value {
        let mut found = Value::Null;
        until("a question", || {
            found = self.get("/api/v1/questions").ok()["questions"][0].clone();
            !found.is_null()
        });
        found
    }

    /// Answers a question that was listed; what came of it.
    #[track_caller]
    pub(super) fn answer(&self, asked: &Value, choice: &str) -> Value {
        let path = format!("/api/v1/questions/{}/answer", asked["question"].as_str().unwrap());
        self.post(&path, &json!({ "choice": choice, "digest": asked["digest"] })).ok()
    }

    /// Waits until a run stands like this.
    pub(super) fn until_status(&self, run: &str, status: &str) {
        until(status, || self.get(&format!("/api/v1/runs/{run}")).ok()["status"] == status);
    }

    /// Adds a person; their token.
    pub(super) fn person(&self, name: &str, rights: &str) -> String {
        let told = self.aye(&["people", "add", name, "--rights", rights, "--json"]).ok().json();
        told["token"].as_str().unwrap().to_owned()
    }

    pub(crate) fn socket(&self, path: &str) -> Socket {
        self.socket_as(&self.token, path)
    }

    pub(super) fn socket_as(&self, token: &str, path: &str) -> Socket {
        let bearer = format!("Bearer {token}");
        Socket::open(self, path, &[("Authorization", &bearer)]).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.kill();
        let runs = self.place.aye(&["runs", "--json"]);
        let runs: Value = serde_json::from_str(&runs.stdout).unwrap_or_default();
        for run in runs.as_array().into_iter().flatten() {
            let ended =
                matches!(run["status"].as_str(), Some("completed" | "failed" | "cancelled"));
            if let (false, Some(id)) = (ended, run["run"].as_str()) {
                self.place.aye(&["cancel", id]);
            }
        }
    }
}

fn start(place: &Place, haste: &str) -> (Child, u16, String) {
    let mut command = place.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
    command.env("AYE_TEST_HASTE", haste);
    let mut said = std::fs::OpenOptions::new();
    let said = said.append(true).create(true).open(place.path().join("serve.stderr")).unwrap();
    let mut child = command.stdout(Stdio::piped()).stderr(said).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let first: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("`{line}`"));
    assert_eq!(first["pid"], child.id());
    let url = first["url"].as_str().unwrap();
    let port = url.strip_prefix("http://127.0.0.1:").unwrap().parse().unwrap();
    let file = std::fs::read_to_string(place.home().join("serve.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    assert_eq!((&file["url"], &file["pid"]), (&first["url"], &first["pid"]));
    (child, port, file["token"].as_str().unwrap().to_owned())
}

/// A key that no other request has.
pub(super) fn new_key() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("key-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

pub(super) fn request(
    method: &str,
    path: &str,
    host: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> String {
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        head.push_str(&format!("Host: {host}\r\n"));
    }
    if method != "GET" && !headers.iter().any(|(name, _)| *name == "Content-Length") {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    format!("{head}\r\n{body}")
}

fn parse(answer: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(answer).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let body = match head.to_lowercase().contains("transfer-encoding: chunked") {
        true => unchunk(body),
        false => body.to_owned(),
    };
    Answer { status, head: head.to_owned(), body }
}

fn unchunk(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size.trim(), 16) else { break };
        if size == 0 || rest.len() < size {
            break;
        }
        whole.push_str(&rest[..size]);
        body = rest[size..].strip_prefix("\r\n").unwrap_or_default();
    }
    whole
}

/// A client of the socket.
pub(crate) struct Socket {
    stream: TcpStream,
    next: u64,
    /// Every event that came.
    pub(super) seen: Vec<Value>,
    /// What came while a result was waited for.
    passed: VecDeque<Value>,
}

impl Socket {
    pub(super) fn open(
        server: &Served,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<Self, Answer> {
        let mut stream = server.connect();
        let host = format!("127.0.0.1:{}", server.port);
        let mut all = vec![
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        all.extend_from_slice(headers);
        let text = request("GET", path, &host, &all, "");
        let text = text.replacen("Connection: close", "Connection: Upgrade", 1);
        stream.write_all(text.as_bytes()).unwrap();
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
            head.push(byte[0]);
        }
        if head.starts_with(b"HTTP/1.1 101") {
            let (seen, passed) = (Vec::new(), VecDeque::new());
            return Ok(Self { stream, next: 1, seen, passed });
        }
        let _ = stream.read_to_end(&mut head);
        Err(parse(&head))
    }

    /// Sends a frame, masked as a client has to.
    pub(super) fn send_frame(&mut self, code: u8, payload: &[u8]) {
        let mut frame = vec![0x80 | code];
        match payload.len() {
            length @ 0..126 => frame.push(0x80 | u8::try_from(length).unwrap()),
            length @ 126..65536 => {
                frame.push(0x80 | 126);
                frame.extend_from_slice(&u16::try_from(length).unwrap().to_be_bytes());
            }
            length => {
                frame.push(0x80 | 127);
                frame.extend_from_slice(&(length as u64).to_be_bytes());
            }
        }
        let mask = [1, 2, 3, 4];
        frame.extend_from_slice(&mask);
        frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        // Who has closed the connection says so in what is read next.
        let _ = self.stream.write_all(&frame);
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.send_frame(1, message.to_string().as_bytes());
    }

    fn exactly(&mut self, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }

    /// The next message or control frame: its code and its bytes.
    pub(super) fn frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let (code, mut is_last, mut whole) = self.part()?;
        // A long message comes in several frames, and nothing in between.
        while !is_last {
            let (kind, last, bytes) = self.part()?;
            assert_eq!(kind, 0, "it continues");
            whole.extend(bytes);
            is_last = last;
        }
        Some((code, whole))
    }

    /// A frame as it comes: its code, whether it is the last of a message, its bytes.
    pub(super) fn part(&mut self) -> Option<(u8, bool, Vec<u8>)> {
        let head = self.exactly(2)?;
        let length = match head[1] {
            126 => usize::from(u16::from_be_bytes(self.exactly(2)?.try_into().unwrap())),
            127 => {
                let bytes: [u8; 8] = self.exactly(8)?.try_into().unwrap();
                usize::try_from(u64::from_be_bytes(bytes)).unwrap()
            }
            length => usize::from(length),
        };
        Some((head[0] & 0x0f, head[0] & 0x80 != 0, self.exactly(length)?))
    }

    /// The next message; `None` once the server has closed the connection.
    pub(super) fn next(&mut self) -> Option<Value> {
        loop {
            match self.frame()? {
                (1, text) => return Some(serde_json::from_slice(&text).unwrap()),
                (9, payload) => self.send_frame(10, &payload),
                (8, _) => return None,
                _ => {}
            }
        }
    }

    /// The next message, noted if it is an event.
    fn noted(&mut self, what: &str, began: Instant) -> Value {
        assert!(began.elapsed() < PATIENCE, "never: {what}");
        let Some(message) = self.next() else { panic!("closed before {what}") };
        if message["n"].is_u64() && message["seq"].is_u64() {
            self.seen.push(message.clone());
        }
        message
    }

    /// The next message that fits; what was passed over for a result comes first.
    #[track_caller]
    pub(super) fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        while let Some(message) = self.passed.pop_front() {
            if fits(&message) {
                return message;
            }
        }
        let began = Instant::now();
        loop {
            let message = self.noted(what, began);
            if fits(&message) {
                return message;
            }
        }
    }

    #[track_caller]
    pub(crate) fn event(&mut self, kind: &str) -> Value {
        self.until(kind, |message| message["type"] == kind)
    }

    #[track_caller]
    pub(crate) fn snapshot(&mut self) -> Value {
        let first = self.next().expect("a first message");
        assert_eq!(first["type"], "snapshot", "{first}");
        first
    }

    /// Sends a command and returns its result.
    #[track_caller]
    pub(super) fn command(&mut self, mut command: Value) -> Value {
        let id = self.next;
        self.next += 1;
        command["id"] = id.into();
        self.send(&command);
        let began = Instant::now();
        loop {
            let message = self.noted("a result", began);
            if message["type"] == "result" && message["id"] == id {
                return message;
            }
            self.passed.push_back(message);
        }
    }

    #[track_caller]
    pub(crate) fn done(&mut self, command: Value) -> Value {
        let result = self.command(command);
        assert_eq!(result["ok"], true, "{result}");
        result
    }

    #[track_caller]
    pub(super) fn refused(&mut self, command: Value) -> String {
        let result = self.command(command);
        assert_eq!(result["ok"], false, "{result}");
        result["error"]["code"].as_str().unwrap().to_owned()
    }
}
