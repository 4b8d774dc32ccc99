//! The same over HTTP: who may connect, and that it is the same.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::client::InboxView;
use crate::cli::printing::HOSTILE;

const GATE: &str = "
steps:
  - { name: sure, confirm: { message: 'Go?', timeout: 1h } }
  - { name: go, shell: touch went }";

/// A server on a port of its own.
struct Server {
    child: Child,
    port: u16,
    token: String,
}

/// What an HTTP request got.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Server {
    fn start(desk: &InboxView) -> Self {
        let mut command = desk.command(&["mcp", "--http", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().strip_prefix("http://127.0.0.1:").unwrap();
        let port = port.strip_suffix("/mcp").unwrap().parse().unwrap();
        let token = desk.aye(&["mcp", "token"]).ok().stdout.trim().to_owned();
        Self { child, port, token }
    }

    fn post(&self, headers: &[(&str, &str)], body: &Value) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let body = body.to_string();
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
            body.len()
        );
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head.push_str(&format!("Host: 127.0.0.1:{}\r\n", self.port));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    fn modern(&self, method: &str, name: Option<&str>, mut params: Value) -> Value {
        let meta = &mut params["_meta"];
        meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "web", "version": "1" });
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let bearer = format!("Bearer {}", self.token);
        let mut headers = vec![
            ("Authorization", bearer.as_str()),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
        ];
        headers.extend(name.map(|name| ("Mcp-Name", name)));
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = self.post(&headers, &body);
        assert_eq!(answer.status, 200, "{}\n{}", answer.head, answer.body);
        answer.message()
    }
}

impl Answer {
    /// The response among what came, whether as one message or as a stream.
    fn message(&self) -> Value {
        let lines = self.body.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
        let messages = lines.filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok());
        let mut found = messages.filter(|message| message["id"] == 1);
        found.next().unwrap_or_else(|| panic!("no response in {}", self.body))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn only_who_knows_the_token_is_heard() {
    let desk = InboxView::with(&[("go", GATE)]);
    let server = Server::start(&desk);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    let right = format!("Bearer {}", server.token);
    let other = if server.token.ends_with('0') { '1' } else { '0' };
    let wrong = format!("Bearer {}{other}", &server.token[..server.token.len() - 1]);
    for headers in [
        vec![],
        vec![("Authorization", "Bearer ")],
        vec![("Authorization", wrong.as_str())],
        vec![("Authorization", server.token.as_str())],
        vec![("X-Token", server.token.as_str())],
    ] {
        let answer = server.post(&headers, &list);
        assert_eq!(answer.status, 401, "{headers:?}: {}", answer.body);
        assert!(answer.head.to_lowercase().contains("www-authenticate"), "{}", answer.head);
    }
    for foreign in [
        ("Origin", "https://evil.example"),
        ("Origin", "null"),
        ("Origin", "http://localhost.evil.example"),
        ("Origin", "http://127.0.0.1:1"),
        ("Origin", "http://localhost:1"),
        ("Host", "evil.example"),
    ] {
        let answer = server.post(&[("Authorization", &right), foreign], &list);
        assert_eq!(answer.status, 403, "{foreign:?}: {}", answer.body);
    }
    use std::os::unix::fs::PermissionsExt as _;
    for file in ["mcp.token", "mcp.key"] {
        let mode = std::fs::metadata(desk.home().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[test]
fn only_this_machine_is_served() {
    let desk = InboxView::with(&[]);
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let ran = desk.aye(&["mcp", "--http", address]);
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.stderr.contains("can be reached by others"), "{}", ran.all());
    }
}

#[test]
fn a_token_that_others_can_read_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = InboxView::with(&[]);
    desk.aye(&["mcp", "token"]).ok();
    let path = desk.home().join("mcp.token");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let ran = desk.aye(&["mcp", "--http", "127.0.0.1:0"]);
    assert!(ran.code != 0 && ran.stderr.contains("others may read it"), "{}", ran.all());
}

#[test]
fn runs_go_over_http_as_well_and_survive_the_server() {
    let desk = InboxView::with(&[("go", GATE)]);
    let server = Server::start(&desk);
    let run = json!({ "name": "skill_run", "arguments": { "skill": "go" } });
    let asks = server.modern("tools/call", Some("skill_run"), run);
    let told = &asks["result"]["structuredContent"];
    assert_eq!(told["status"], "awaiting_confirmation", "{asks}");
    drop(server);
    let server = Server::start(&desk);
    let said = json!({
        "name": "skill_continue",
        "arguments": { "execution_id": told["execution_id"], "choice": "proceed" },
    });
    let done = server.modern("tools/call", Some("skill_continue"), said);
    assert_eq!(done["result"]["structuredContent"]["status"], "completed", "{done}");
    assert!(desk.work().join("went").exists());
    assert!(desk.decision()["by"].as_str().unwrap().starts_with("web for "));
}

#[test]
fn a_client_of_the_old_era_has_a_session() {
    let desk = InboxView::with(&[("go", GATE)]);
    let server = Server::start(&desk);
    let bearer = format!("Bearer {}", server.token);
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "old", "version": "1" },
        },
    });
    let answer = server.post(&[("Authorization", &bearer)], &hello);
    assert_eq!(answer.message()["result"]["serverInfo"]["name"], "aye");
    let session = answer.head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("mcp-session-id").then(|| value.trim().to_owned())
    });
    let session = session.expect("there is a session");
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Mcp-Session-Id", &session),
        ("MCP-Protocol-Version", "2025-11-25"),
    ];
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(server.post(&headers, &note).status, 202);
    let run = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "skill_run", "arguments": { "skill": "go" } },
    });
    let asks = server.post(&headers, &run).message();
    let told = &asks["result"]["structuredContent"];
    assert_eq!(told["status"], "awaiting_confirmation", "{asks}");
}

/// Clients that connect and say nothing, or half of something, keep nobody out.
#[test]
fn who_says_nothing_keeps_nobody_out() {
    let desk = InboxView::with(&[("go", GATE)]);
    let server = Server::start(&desk);
    let connect = || TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let bearer = format!("Bearer {}", server.token);
    let mut open = Vec::new();
    for number in 0..400 {
        let mut stream = connect();
        let said = match number % 3 {
            0 => String::new(),
            1 => "POST /mcp HTTP/1.1\r\nHost: 127".to_owned(),
            _ => "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\n{".to_owned(),
        };
        // The oldest are closed already.
        let _ = stream.write_all(said.as_bytes());
        open.push(stream);
    }
    let started = std::time::Instant::now();
    let list = server.modern("tools/list", None, json!({}));
    assert!(list["result"]["tools"].is_array(), "{list}");
    assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
    // All of them are closed in the end, whether they know the token or not.
    let mut known = connect();
    let half = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: {bearer}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: 99\r\n\r\n{{",
        server.port
    );
    known.write_all(half.as_bytes()).unwrap();
    open.push(known);
    for mut stream in open {
        stream.set_read_timeout(Some(std::time::Duration::from_secs(25))).unwrap();
        let mut rest = Vec::new();
        let ended = stream.read_to_end(&mut rest);
        let closed = ended
            .as_ref()
            .map_or_else(|e| e.kind() == std::io::ErrorKind::ConnectionReset, |_| true);
        // One that has the time-out told to it may stay for another request.
        let told = String::from_utf8_lossy(&rest).contains("408");
        assert!(closed || told, "{ended:?} {}", String::from_utf8_lossy(&rest));
    }
}

/// A message is not longer than what anybody would send.
#[test]
fn an_endless_message_is_refused() {
    let desk = InboxView::with(&[]);
    let server = Server::start(&desk);
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
        server.port, server.token
    );
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    let sent = (0..4096).take_while(|_| stream.write_all(chunk.as_bytes()).is_ok()).count();
    assert!(sent < 1024, "64 MiB were taken");
    assert!(server.modern("tools/list", None, json!({}))["result"]["tools"].is_array());
}

#[test]
fn no_page_of_an_error_holds_what_steers_a_terminal() {
    let desk = InboxView::with(&[("go", GATE)]);
    let server = Server::start(&desk);
    let right = format!("Bearer {}", server.token);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    let odd = json!({ "jsonrpc": HOSTILE, "id": HOSTILE, "method": HOSTILE, HOSTILE: HOSTILE });
    // A header cannot hold a line break or an escape, but every letter above ASCII.
    let bidi = "\u{202e}x\u{9b}2J\u{200b}";
    let mut pages = Vec::new();
    for name in [
        "Authorization",
        "Origin",
        "Host",
        "Mcp-Session-Id",
        "MCP-Protocol-Version",
        "Mcp-Method",
        "Mcp-Name",
        "Last-Event-ID",
    ] {
        let mut headers = vec![(name, bidi)];
        if name != "Authorization" {
            headers.push(("Authorization", right.as_str()));
        }
        pages.push(server.post(&headers, &list));
    }
    for version in ["2025-06-18", "2026-07-28"] {
        let headers = [("Authorization", right.as_str()), ("MCP-Protocol-Version", version)];
        pages.push(server.post(&headers, &odd));
        pages.push(server.post(&headers, &json!(HOSTILE)));
    }
    assert!(pages.iter().filter(|page| page.status >= 400).count() >= 8, "errors were provoked");
    for page in pages {
        let text = format!("{}{}", page.head, page.body);
        let bad = text.chars().find(|&letter| {
            (letter.is_control() && !matches!(letter, '\r' | '\n' | '\t'))
                || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        });
        assert_eq!(bad, None, "{}\n{}", page.status, text.escape_debug());
    }
}
