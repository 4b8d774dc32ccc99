//! Inspector, from its command line, in both eras.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::cli::harness::AYE;
use crate::needs;

use super::peer::node;
use super::room::Room;
use super::service::Service;

/// Where the server is.
enum Server<'a> {
    Stdio,
    Http(&'a Service),
}

/// Runs Inspector with these arguments.
fn inspect(room: &Room, server: &Server<'_>, era: &str, args: &[&str]) -> Output {
    let node = node();
    let package = needs::installed("inspector");
    let launcher = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
    let mut command = Command::new(node);
    command.arg(package.join(launcher)).arg("--cli");
    match server {
        Server::Stdio => {
            command.args([AYE, "mcp", "--cwd"]).arg(room.work());
            command.args(["-e", &format!("AYE_HOME={}", room.home().display())]);
        }
        Server::Http(service) => {
            let header = format!("Authorization: Bearer {}", service.token);
            command.args([
                "--transport",
                "http",
                "--server-url",
                &service.url,
                "--header",
                &header,
            ]);
        }
    }
    command.args(["--protocol-era", era, "--format", "json"]).args(args);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", room.path());
    command.output().unwrap()
}

#[track_caller]
fn result(output: &Output) -> Value {
    let (said, warned) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{said}\n{warned}", output.status);
    assert_eq!(warned, "", "Inspector has nothing to complain about");
    let all: Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"));
    all["result"].clone()
}

fn look_around(server: &Server<'_>, room: &Room, era: &str) {
    let listed = result(&inspect(room, server, era, &["--method", "tools/list", "--strict"]));
    assert!(listed["tools"].as_array().unwrap().len() >= 15, "{listed:#}");

    let args = ["--method", "tools/call", "--tool-name", "skill_list"];
    let skills = result(&inspect(room, server, era, &args));
    let skills = &skills["structuredContent"]["skills"];
    assert!(skills.to_string().contains("Greets and takes a note"), "{skills:#}");

    let inputs = json!({ "skill": "plain", "inputs": { "who": era } }).to_string();
    let args = ["--method", "tools/call", "--tool-name", "skill_run", "--tool-args-json", &inputs];
    let ran = result(&inspect(room, server, era, &args));
    assert_eq!(ran["structuredContent"]["status"], "completed", "{ran:#}");
    assert_eq!(room.read("noted"), format!("{era}\n"));
}

#[test]
fn inspector_is_content_over_stdio() {
    std::thread::scope(|scope| {
        for era in ["legacy", "modern"] {
            scope.spawn(move || look_around(&Server::Stdio, &Room::new(), era));
        }
    });
}

#[test]
fn inspector_is_content_over_http() {
    std::thread::scope(|scope| {
        for era in ["legacy", "modern"] {
            scope.spawn(move || {
                let room = Room::new();
                let service = Service::start(&room);
                look_around(&Server::Http(&service), &room, era);
            });
        }
    });
}
