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
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let said = lines.next().unwrap().unwrap();
        let url = said.split_whitespace().find(|word| word.starts_with("http://"));
        let url = url.unwrap_or_else(|| panic!("no address: {said}")).to_owned();
        // Whatever else it says must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let token = std::fs::read_to_string(place.home().join("mcp.token")).unwrap();
        Self { child, url, token: token.trim().to_owned() }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
