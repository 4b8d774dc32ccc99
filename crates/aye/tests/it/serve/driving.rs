//! Runs whose driver died.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::cli::harness::until;

use super::client::{GATE, Served};

/// The process that drives a run, once there is one that is not `before`.
fn driver(server: &Served, run: &str, before: Option<i32>) -> i32 {
    let mut found = 0;
    until("a driver", || {
        let sql = "SELECT pid FROM runs WHERE id = ?1";
        found = server.journal_db().query_row(sql, [run], |row| row.get(0)).unwrap();
        let driven = server.get(&format!("/api/v1/runs/{run}")).ok()["driven"] == true;
        driven && before != Some(found)
    });
    found
}

fn kill(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_run_whose_driver_died_is_taken_up_three_times() {
    let server = Served::with(&[("go", GATE)]);
    let run = server.start_skill("go");
    server.question();
    let mut pid = driver(&server, &run, None);
    for _ in 0..3 {
        kill(pid);
        pid = driver(&server, &run, Some(pid));
    }
    kill(pid);
    // Another one is taken up meanwhile, this one is not.
    let other = server.start_skill("go");
    let first = driver(&server, &other, None);
    kill(first);
    driver(&server, &other, Some(first));
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(server.get(&format!("/api/v1/runs/{run}")).ok()["driven"], false);
    // Its question is still there, and an answer lets it continue.
    let all = server.get("/api/v1/questions").ok();
    let open = all["questions"].as_array().unwrap();
    let question = open.iter().find(|question| question["run"] == run.as_str()).unwrap();
    let path = format!("/api/v1/questions/{}/answer", question["question"].as_str().unwrap());
    server.post(&path, &json!({ "choice": "proceed", "digest": question["digest"] })).ok();
    server.until_status(&run, "completed");
}

#[test]
fn a_run_that_somebody_drove_is_theirs() {
    let wait = "
steps: [ { name: wait, shell: 'touch began; sleep 1000', idempotent: true } ]";
    let server = Served::with(&[("go", GATE), ("wait", wait)]);
    // As at a terminal: this process drives the run itself.
    let mut child = server.start_until(&["run", "wait"], "began");
    child.kill().unwrap();
    child.wait().unwrap();
    let own = server.last();
    // Of what is detached by a person, the server takes care.
    let detached = server.aye(&["run", "go", "--detach", "-q"]).ok().stdout.trim().to_owned();
    let first = driver(&server, &detached, None);
    kill(first);
    driver(&server, &detached, Some(first));
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(server.get(&format!("/api/v1/runs/{own}")).ok()["driven"], false);
}
