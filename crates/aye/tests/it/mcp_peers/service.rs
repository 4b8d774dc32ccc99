//! `aye mcp --http` as a process of its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use crate::cli::harness::Place;

/// A server that listens on a port of its own.
pub(super) struct Service {
    child: Child,
    pub(super) url: String,
    pub(super) token: String,
}

impl Service {
    pub(super) fn start(place: &Place) -> Self {
        let mut command = place.command(&["mcp", "--http", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut url = String::new();
        said.read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        assert!(url.starts_with("http://127.0.0.1:"), "no address: {url}");
        let token = place.aye(&["mcp", "token"]).ok().stdout;
        Self { child, url, token: token.trim().to_owned() }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
