//! A server behind an address.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use aye::tools::ToolEvent;
use serde_json::json;

use super::harness::{Shop, node_server};

/// The everything server on a port of its own.
struct Everything {
    child: Child,
    port: u16,
}

impl Everything {
    fn start() -> Option<Self> {
        let argv = node_server("server-everything")?;
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
        // Somebody has to read what else it says.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { child, port })
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
    let Some(server) = Everything::start() else { return };
    for (host, legacy) in [("127.0.0.1", false), ("localhost", true)] {
        let mut shop = Shop::new(&format!(
            "[tools.it]\nurl = \"http://{host}:{}/mcp\"\nlegacy = {legacy}\n",
            server.port
        ));
        let echo = shop.call("it.echo", json!({ "message": "hi" })).expect("it echoes");
        assert_eq!(echo.text, "Echo: hi");
        let args = json!({ "duration": 1, "steps": 4 });
        shop.call("it.trigger-long-running-operation", args).expect("it ends");
        let told = |event: &&ToolEvent| matches!(event, ToolEvent::Progress { .. });
        assert!(shop.seen.iter().filter(told).count() >= 2, "{:?}", shop.seen);
        let call = shop.start(
            "it.trigger-long-running-operation",
            json!({ "duration": 600, "steps": 2000 }),
            None,
        );
        shop.until(|event| {
            matches!(event, ToolEvent::Progress { call: it, .. } if *it == call).then_some(())
        });
        shop.tools.cancel(call);
        assert_eq!(shop.end(call).expect_err("it was cancelled").code, "CANCELLED");
        shop.call("it.echo", json!({ "message": "still here" })).expect("it goes on");
    }
}

#[test]
fn an_address_where_nobody_is() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("its number").port();
    drop(free);
    let mut shop = Shop::new(&format!("[tools.it]\nurl = \"http://127.0.0.1:{port}/mcp\"\n"));
    let error = shop.call("it.echo", json!({})).expect_err("nobody is there");
    assert_eq!(error.code, "TOOL_SERVER");
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
    let error = Shop::new(&text).call("it.echo", json!({})).expect_err("it wants a token");
    assert_eq!(error.message, "the server `it` wants to know who asks");
    assert!(error.hint.is_some_and(|hint| hint.contains("token_env")));
    assert!(!asked.recv().expect("a request").contains("uthorization"));

    let text = format!("{text}token_env = \"TOKEN_OF_THE_RUN\"\n");
    let error = Shop::new(&text).call("it.echo", json!({})).expect_err("it still refuses");
    let request = asked.recv().expect("a request");
    assert!(request.contains("authorization: Bearer hunter2"), "{request}");
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");

    let text =
        format!("[tools.it]\nurl = \"http://127.0.0.1:{port}/mcp\"\ntoken_env = \"NO_SUCH\"\n");
    let error = Shop::new(&text).call("it.echo", json!({})).expect_err("there is no token");
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
        let mut shop = Shop::new(&format!("[tools.it]\nurl = \"http://127.0.0.1:{port}/mcp\"\n"));
        let error = shop.call("it.echo", json!({})).expect_err("it is no server");
        assert_eq!(error.code, "TOOL_SERVER", "{error:?}");
    }
}
