//! A server behind an address.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use aye_core::error_code::ErrorCode;

use aye_runtime::tools::ToolEvent;
use serde_json::json;

use crate::cli::harness::Place;

use super::harness::{ToolHarness, node_server};

/// The everything server on a port of its own.
struct Everything {
    child: Child,
    port: u16,
}

impl Everything {
    fn start() -> Self {
        let argv = node_server("server-everything");
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("its number").port();
        drop(free);
        let mut child = Command::new(&argv[0])
            .args([&argv[1], "streamableHttp"])
            .env("PORT", port.to_string())
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("its words")).lines();
        let ready = lines.any(|line| line.is_ok_and(|line| line.contains("listening")));
        assert!(ready, "it never listened");
        // Someone has to read what else it says.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, port }
    }
}

impl Drop for Everything {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_behind_an_address_is_a_server() {
    let server = Everything::start();
    for (host, legacy) in [("127.0.0.1", false), ("localhost", true)] {
        let mut harness = ToolHarness::new(&format!(
            "[tools.it]\nurl = \"http://{host}:{}/mcp\"\nlegacy = {legacy}\n",
            server.port
        ));
        let echo = harness.call("it.echo", json!({ "message": "hi" })).expect("it echoes");
        assert_eq!(echo.text, "Echo: hi");
        let args = json!({ "duration": 1, "steps": 4 });
        harness.call("it.trigger-long-running-operation", args).expect("it ends");
        let told = |event: &&ToolEvent| matches!(event, ToolEvent::Progress { .. });
        assert!(harness.seen.iter().filter(told).count() >= 2, "{:?}", harness.seen);
        let call = harness.start(
            "it.trigger-long-running-operation",
            json!({ "duration": 600, "steps": 2000 }),
            None,
        );
        harness.until(|event| {
            matches!(event, ToolEvent::Progress { call: it, .. } if *it == call).then_some(())
        });
        harness.tools.cancel(call);
        assert_eq!(harness.end(call).expect_err("it was cancelled").code, ErrorCode::Cancelled);
        harness.call("it.echo", json!({ "message": "still here" })).expect("it continues");
    }
}

#[test]
fn an_address_where_nobody_is() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("its number").port();
    drop(free);
    let mut harness =
        ToolHarness::new(&format!("[tools.it]\nurl = \"http://127.0.0.1:{port}/mcp\"\n"));
    let error = harness.call("it.echo", json!({})).expect_err("nobody is there");
    assert_eq!(error.code, ErrorCode::ToolServer);
    assert!(error.message.contains("cannot connect to `127.0.0.1`"), "{error:?}");
}

/// A web server that answers everything with this, and what it was asked.
fn answering(response: &'static str) -> (u16, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its number").port();
    let (told, asked) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut bytes = [0_u8; 65536];
            let count = stream.read(&mut bytes).unwrap_or(0);
            if told.send(String::from_utf8_lossy(&bytes[..count]).into_owned()).is_err() {
                return;
            }
            let _ = stream.write_all(response.as_bytes());
        }
    });
    (port, asked)
}

#[test]
fn a_server_that_wants_a_token_gets_the_one_of_the_variable() {
    let (port, asked) = answering(
        "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    );
    let text = format!("[tools.it]\nurl = \"http://127.0.0.1:{port}/mcp\"\n");
    let error = ToolHarness::new(&text).call("it.echo", json!({})).expect_err("it wants a token");
    assert_eq!(error.message, "the server `it` requires a token");
    assert!(error.hint.is_some_and(|hint| hint.contains("token_env")));
    assert!(!asked.recv().expect("a request").contains("uthorization"));

    let text = format!("{text}token_env = \"TOKEN_OF_THE_RUN\"\n");
    let error = ToolHarness::new(&text).call("it.echo", json!({})).expect_err("it still refuses");
    let request = asked.recv().expect("a request");
    assert!(request.contains("authorization: Bearer hunter2"), "{request}");
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");

    let text =
        format!("[tools.it]\nurl = \"http://127.0.0.1:{port}/mcp\"\ntoken_env = \"NO_SUCH\"\n");
    let error = ToolHarness::new(&text).call("it.echo", json!({})).expect_err("there is no token");
    assert!(error.message.contains("the token of `NO_SUCH`, which is not set"), "{error}");
}

#[test]
fn a_web_page_is_no_server_and_redirects_are_not_followed() {
    for response in [
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\nconnection: close\r\n\r\n<a/>",
        "HTTP/1.1 302 Found\r\nlocation: http://example.org/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        "HTTP/1.1 500 Oops\r\ncontent-length: 4\r\nconnection: close\r\n\r\noops",
        "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        "garbage\r\n\r\n",
    ] {
        let (port, _asked) = answering(response);
        let mut harness =
            ToolHarness::new(&format!("[tools.it]\nurl = \"http://127.0.0.1:{port}/mcp\"\n"));
        let error = harness.call("it.echo", json!({})).expect_err("it is not a server");
        assert_eq!(error.code, ErrorCode::ToolServer, "{error:?}");
    }
}

/// A server with a certificate of its own that asks everybody who they are.
const ENCRYPTED: &str = r#"
import http.server, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        open("asked", "w").write(self.headers.get("Authorization", "nobody"))
        self.send_response(401)
        self.send_header("WWW-Authenticate", "Bearer")
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
"#;

#[test]
fn an_encrypted_server_has_to_have_a_certificate_that_is_trusted() {
    let place = Place::new();
    let about = "[req]\ndistinguished_name = who\nx509_extensions = what\n[who]\n[what]\n\
        basicConstraints = CA:FALSE\nsubjectAltName = DNS:localhost\n";
    place.write("cert.conf", about);
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"])
        .args(["-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=localhost"])
        .args(["-config", "cert.conf"])
        .current_dir(place.work())
        .output()
        .expect("`openssl` is not installed; `./test` installs it");
    assert!(made.status.success(), "{made:?}");
    let mut child = Command::new("python3")
        .args(["-c", ENCRYPTED])
        .current_dir(place.work())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`python3` is not installed; `./test` installs it");
    let mut line = String::new();
    let port = BufReader::new(child.stdout.take().expect("its port")).read_line(&mut line);
    port.expect("a line");
    let port = line.trim().parse().expect("a number");
    let _server = Everything { child, port };
    place.write(
        "aye.toml",
        &format!("[tools.it]\nurl = \"https://localhost:{port}/mcp\"\ntoken_env = \"TOKEN\"\n"),
    );
    place.aye(&["tools", "trust", "--yes"]).ok();
    let call = |certificates: &str| {
        let mut command = place.command(&["tools", "call", "it.echo"]);
        command.env("SSL_CERT_FILE", certificates).env("TOKEN", "hunter2");
        crate::cli::harness::Ran::of(command.output().expect("it runs"), &place)
    };
    let own = place.work().join("cert.pem");
    let known = call(own.to_str().expect("text"));
    assert!(known.stderr.contains("requires a token"), "{}", known.all());
    assert_eq!(place.read("asked"), "Bearer hunter2");
    assert!(!known.all().contains("hunter2"));

    std::fs::remove_file(place.work().join("asked")).expect("it was asked");
    let other = call("/etc/ssl/certs/ca-certificates.crt");
    assert_eq!(other.code, 1, "{}", other.all());
    assert!(other.stderr.contains("cannot connect to `localhost`"), "{}", other.all());
    assert_eq!(place.read("asked"), "", "a stranger gets no token");
}

/// A server that begins to answer and never ends is given up when its time is.
#[test]
fn one_that_never_ends_its_answer() {
    for begun in [
        "",
        "HTTP/1.1 200 OK\r\ncontent-ty",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n{",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {",
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its number").port();
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let _ = stream.write_all(begun.as_bytes());
                open.push(stream);
            }
        });
        let mut harness = ToolHarness::new(&format!(
            "[tools.it]\nurl = \"http://127.0.0.1:{port}/mcp\"\nstart_timeout = \"2s\"\n"
        ));
        let since = std::time::Instant::now();
        let error = harness.call("it.echo", json!({})).expect_err("it never ends");
        assert_eq!(error.code, ErrorCode::ToolServer, "{begun:?}: {error:?}");
        assert!(since.elapsed() < std::time::Duration::from_secs(20), "{begun:?}");
    }
}
