//! What a run survives: the server's death, its driver's, and two clients at once.

use aye_core::id::RunId;
use aye_runtime::store::{Leases as _, SqliteStore};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::cli::harness::until;
use crate::prompt::pty::Terminal;

use super::client::{Client, InboxView};

const GATE: &str = "
steps:
  - { name: sure, confirm: { message: 'Go?', timeout: 1h } }
  - { name: go, shell: 'echo x >> went' }";

/// The process that drives a run.
fn driver(desk: &InboxView, run: &str) -> Option<Pid> {
    let store = SqliteStore::open_to_read(&desk.home()).unwrap()?;
    let held = store.holder(&RunId::new(run).unwrap()).unwrap()?;
    Pid::from_raw(i32::try_from(held.holder?.pid).unwrap())
}

#[test]
fn a_killed_server_loses_nothing_between_pause_and_answer() {
    let desk = InboxView::with(&[("go", GATE)]);
    let mut client = Client::new(&desk);
    let asks = client.run("go");
    client.kill();
    let mut client = Client::new(&desk);
    let waits = client.call("inbox", json!({})).ok();
    assert_eq!(waits["questions"][0]["execution_id"], asks.ok()["execution_id"]);
    let said = json!({ "execution_id": asks.id(), "choice": "proceed" });
    assert_eq!(client.call("skill_continue", said).status(), "completed");
    assert_eq!(desk.read("went"), "x\n");
}

#[test]
fn a_server_killed_in_the_middle_of_a_call_leaves_the_run_alone() {
    let desk = InboxView::with(&[(
        "long",
        "steps:\n  - { name: wait, shell: 'touch begun; until test -e go; do sleep 0.02; done' }",
    )]);
    let mut client = Client::new(&desk);
    client.post("tools/call", json!({ "name": "skill_run", "arguments": { "skill": "long" } }));
    until("it has begun", || desk.work().join("begun").exists());
    client.kill();
    desk.write("go", "");
    until("it has completed", || desk.status() == "completed");
}

#[test]
fn a_client_that_goes_leaves_the_run_alone() {
    let desk = InboxView::with(&[(
        "long",
        "steps:\n  - { name: wait, shell: 'touch begun; until test -e go; do sleep 0.02; done' }",
    )]);
    let mut client = Client::new(&desk);
    client.post("tools/call", json!({ "name": "skill_run", "arguments": { "skill": "long" } }));
    until("it has begun", || desk.work().join("begun").exists());
    assert_eq!(client.close(), Some(0));
    desk.write("go", "");
    until("it has completed", || desk.status() == "completed");
}

#[test]
fn an_answer_takes_up_a_run_whose_driver_was_killed() {
    let desk = InboxView::with(&[("go", GATE)]);
    let mut client = Client::new(&desk);
    let asks = client.run("go");
    let run = desk.last();
    kill_process(driver(&desk, &run).expect("someone drives it"), Signal::KILL).unwrap();
    until("no process drives it", || driver(&desk, &run).is_none());
    let looked = client.call("skill_status", json!({ "execution_id": asks.id() })).ok();
    assert_eq!(
        (&looked["status"], &looked["driven"]),
        (&json!("awaiting_confirmation"), &json!(false))
    );
    desk.write("skills/go.yaml", &format!("name: go\n{GATE}\n# changed\n"));
    let said = json!({ "execution_id": asks.id(), "choice": "proceed" });
    let done = client.call("skill_continue", said);
    assert_eq!(done.status(), "completed", "{}", done.text());
    let note = done.ok()["note"].as_str().unwrap().to_owned();
    assert!(note.contains("continues in the background"), "{note}");
    assert!(note.contains("`skills/go.yaml` has changed"), "{note}");
    assert_eq!(desk.read("went"), "x\n");
}

#[test]
fn of_two_clients_that_answer_at_once_one_wins() {
    for _ in 0..3 {
        let desk = InboxView::with(&[("go", GATE)]);
        let mut clients = [Client::new(&desk), Client::new(&desk)];
        let id = clients[0].run("go").id();
        let call = |choice: &str| {
            json!({
                "name": "skill_continue", "arguments": { "execution_id": id, "choice": choice },
            })
        };
        let sent: Vec<u64> = clients
            .iter_mut()
            .zip(["proceed", "proceed"])
            .map(|(client, choice)| client.post("tools/call", call(choice)))
            .collect();
        let got: Vec<_> =
            clients.iter_mut().zip(&sent).map(|(client, id)| client.wait(*id)).collect();
        let errors = got.iter().filter(|got| got["result"]["isError"] == true).count();
        assert_eq!(errors, 1, "{got:?}");
        until("it has completed", || desk.status() == "completed");
        assert_eq!(desk.read("went"), "x\n");
        // And once it is answered, it is.
        let late =
            clients[0].call("skill_continue", json!({ "execution_id": id, "choice": "cancel" }));
        assert!(late.refused().contains("can be used once"), "{}", late.text());
    }
}

#[test]
fn a_person_may_be_quicker() {
    let desk = InboxView::with(&[("go", GATE)]);
    let mut client = Client::new(&desk);
    let asks = client.run("go");
    let call = json!({
        "name": "skill_status", "arguments": { "execution_id": asks.id(), "wait": 45 },
    });
    let waiting = client.post("tools/call", call);
    desk.aye(&["answer", asks.ok()["question"].as_str().unwrap(), "cancel"]).ok();
    let told = client.wait(waiting);
    assert_eq!(told["result"]["structuredContent"]["status"], "cancelled", "{told}");
    let late = json!({ "execution_id": asks.id(), "choice": "proceed" });
    let refused = client.call("skill_continue", late).refused();
    assert!(refused.contains("answered by") && refused.contains("(command)"), "{refused}");
}

#[test]
fn a_line_that_is_not_json_and_an_unknown_method_are_told_what_is_wrong() {
    let desk = InboxView::with(&[("go", GATE)]);
    let mut client = Client::new(&desk);
    for line in ["{\"jsonrpc\": \"2.0\", \"id\": 7, ", "hello", "[1, 2"] {
        client.send_line(line);
    }
    client.send_line("");
    let got = client.request("skills/run", json!({}));
    assert_eq!(got["error"]["code"], -32601, "{got}");
    assert_eq!(got["error"]["message"], "there is no method `skills/run`", "{got}");
    let wrong = |line: &&String| line.contains("-32700");
    assert_eq!(client.heard.iter().filter(wrong).count(), 3, "{:?}", client.heard);
    // What comes after works.
    assert_eq!(client.run("go").status(), "awaiting_confirmation");
}

/// Someone drives the run at a terminal, and stops it there while it asks.
#[test]
fn a_run_that_was_interrupted_at_a_terminal_is_left_to_who_did_that() {
    let desk = InboxView::with(&[("go", GATE)]);
    let mut terminal = Terminal::aye(&desk, &["run", "go"]);
    terminal.wait_for("[y/N]").keys("\u{3}");
    assert_eq!(terminal.end(), Some(130), "{}", terminal.shown());
    let mut client = Client::new(&desk);
    let asked = client.call("inbox", json!({})).ok()["questions"][0]["execution_id"].clone();
    let said = json!({ "execution_id": asked, "choice": "proceed" });
    let told = client.call("skill_continue", said);
    let note = told.ok()["note"].as_str().unwrap_or_default().to_owned();
    assert!(note.contains(&format!("`aye resume {}`", desk.last())), "{}", told.text());
    assert!(note.contains("person"), "{note}");
    assert_eq!(desk.aye(&["inbox", "--json"]).ok().json(), json!([]), "the answer counts");
    // Nothing has started it meanwhile; who stopped it continues it.
    assert!(!desk.work().join("went").exists());
    desk.aye(&["resume", "last"]).ok();
    assert_eq!(desk.read("went"), "x\n");
}

#[test]
fn an_answer_on_the_command_line_follows_the_same_rule() {
    let desk = InboxView::with(&[("go", GATE)]);
    let run = desk.aye(&["run", "go", "--detach", "-q"]).ok().stdout.trim().to_owned();
    let run = if run == "RUN" { desk.last() } else { run };
    until("it asks", || desk.aye(&["inbox", "--json"]).ok().json()[0].is_object());
    kill_process(driver(&desk, &run).expect("someone drives it"), Signal::KILL).unwrap();
    until("no process drives it", || driver(&desk, &run).is_none());
    let said = desk.aye(&["answer", &format!("{run}-1"), "proceed"]).ok();
    assert!(said.all().contains("the run continues in the background"), "{}", said.all());
    until("completed", || desk.status() == "completed");
    assert_eq!(desk.read("went"), "x\n");
}
