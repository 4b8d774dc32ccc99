//! An HTTP server that keeps what it was sent, and misbehaves when told to.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::cli::harness::until;

/// What was sent.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) method: String,
    pub(super) path: String,
    head: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Sent {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.head.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// Everything of it as text.
    pub(crate) fn all(&self) -> String {
        format!("{} {} {:?} {}", self.method, self.path, self.head, self.body)
    }
}

/// How it answers.
#[derive(Debug, Clone, Default)]
pub(super) struct ReplyConfig {
    /// The status; 200 if there is none.
    pub(super) status: Option<u16>,
    /// A header line.
    pub(super) header: Option<String>,
    /// It answers after this time.
    pub(super) delay: Duration,
}

/// A server on loopback.
pub(crate) struct Receiver {
    pub(super) port: u16,
    sent: Arc<Mutex<Vec<Sent>>>,
    config: Arc<Mutex<ReplyConfig>>,
}

impl Receiver {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sent, config) =
            (Arc::<Mutex<Vec<Sent>>>::default(), Arc::<Mutex<ReplyConfig>>::default());
        let (kept, how) = (Arc::clone(&sent), Arc::clone(&config));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, how) = (Arc::clone(&kept), Arc::clone(&how));
                std::thread::spawn(move || serve(stream, &kept, &how));
            }
        });
        Self { port, sent, config }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(super) fn behave(&self, config: ReplyConfig) {
        *self.config.lock().unwrap() = config;
    }

    pub(super) fn sent(&self) -> Vec<Sent> {
        self.sent.lock().unwrap().clone()
    }

    /// Waits until it was sent so many requests.
    #[track_caller]
    pub(crate) fn until(&self, count: usize) -> Vec<Sent> {
        until(&format!("{count} requests"), || self.sent().len() >= count);
        self.sent()
    }
}

fn serve(stream: TcpStream, kept: &Mutex<Vec<Sent>>, how: &Mutex<ReplyConfig>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        head.push((name.to_owned(), value.to_owned()));
    }
    let length = head.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).ok()?;
    kept.lock().unwrap().push(Sent { method, path, head, body });
    let ReplyConfig { status, header, delay } = how.lock().unwrap().clone();
    std::thread::sleep(delay);
    let header = header.map(|line| format!("{line}\r\n")).unwrap_or_default();
    let mut stream = stream;
    let said = r#"{"said": "so"}"#;
    let status = status.unwrap_or(200);
    write!(
        stream,
        "HTTP/1.1 {status} X\r\n{header}Content-Length: {}\r\nConnection: close\r\n\r\n{said}",
        said.len()
    )
    .ok()
}
