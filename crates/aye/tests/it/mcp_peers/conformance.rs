//! The conformance suites, for 2025-11-25 and 2026-07-28.
//!
//! Most scenarios call tools that only a test server has: they are listed in
//! `tests/peers/conformance-*.yml` as expected failures, and the suite fails
//! if one of them passes or another one fails. Those that a product can pass
//! are named here; scenarios that pass without having tested anything are not.

use std::path::Path;
use std::process::Command;

use crate::needs;

use super::peer::node;
use super::room::Room;
use super::service::Service;

/// What has to pass for 2025-11-25.
const OLD: [&str; 8] = [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "completion-complete",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
];

/// What has to pass for 2026-07-28.
const NEW: [&str; 10] = [
    "tools-list",
    "resources-list",
    "prompts-list",
    "completion-complete",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
    "caching",
    "sep-2164-resource-not-found",
    "http-header-validation",
    "input-required-result-unsupported-methods",
];

/// Runs a suite against a server of ours and comes back with its summary.
fn summary(suite: &str, args: &[&str]) -> String {
    let node = node();
    let packages = needs::installed("conformance");
    let room = Room::new();
    let service = Service::start(&room);
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers");
    let output = Command::new(node)
        .arg("--import")
        .arg(peers.join("bearer.mjs"))
        .arg(packages.join(format!("node_modules/{suite}/dist/index.js")))
        .args(["server", "--url", &service.url, "--expected-failures"])
        .arg(peers.join(format!("{suite}.yml")))
        .args(args)
        .current_dir(room.path())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", room.path())
        .env("PEER_PACKAGES", &packages)
        .env("PEER_TOKEN", &service.token)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let warned = String::from_utf8_lossy(&output.stderr).into_owned();
    let at = said.find("=== SUMMARY ===").unwrap_or_else(|| panic!("no summary: {said}\n{warned}"));
    assert!(output.status.success(), "{}\n{warned}", &said[at..]);
    said[at..].to_owned()
}

/// Each of these passed with at least as many checks.
#[track_caller]
fn passed(summary: &str, scenarios: &[&str], least: u32) {
    for scenario in scenarios {
        let line = summary.lines().find(|line| line.contains(&format!(" {scenario}: ")));
        let line = line.unwrap_or_else(|| panic!("{scenario} was not run: {summary}"));
        let rest = line.strip_prefix('✓').unwrap_or_else(|| panic!("{line}\n{summary}"));
        let (_, counts) = rest.split_once(": ").unwrap();
        let checks: u32 = counts.split(' ').next().unwrap().parse().unwrap();
        assert!(checks >= least && counts.contains(" 0 failed"), "{line}");
    }
}

#[test]
fn conforms_to_2025_11_25() {
    let summary = summary("conformance-2025", &["--spec-version", "2025-11-25"]);
    passed(&summary, &OLD, 1);
}

#[test]
fn conforms_to_2026_07_28() {
    let summary = summary("conformance-2026", &["--requirements", "2026-07-28"]);
    // One of them is that messages fit the schema: alone it says nothing of the scenario.
    passed(&summary, &NEW, 2);
    // The four that fail want a tool that misbehaves on purpose.
    assert!(summary.contains("server-stateless: 24 passed, 4 failed"), "{summary}");
}
