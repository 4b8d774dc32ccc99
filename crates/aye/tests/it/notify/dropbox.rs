//! The drop-box: files that ask, files that answer.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::{configure, messages};
use crate::cli::harness::{Place, until};

const BOX: &str = "[notify.files]\nkind = \"dropbox\"\ndirectory = \"box\"\n";

fn place(steps: &str) -> Place {
    let place = Place::new();
    place.write("skills/gate.yaml", &format!("name: gate\n{steps}\n"));
    configure(&place, BOX);
    place
}

const GATE: &str = "steps:
  - { name: sure, confirm: { title: Really, message: 'Ship it?', timeout: 1h } }
  - { name: go, shell: touch went }";

fn folder(place: &Place, name: &str) -> PathBuf {
    place.path().join(".config/aye/box").join(name)
}

/// The requests that are there, whole ones.
fn requests(place: &Place) -> Vec<Value> {
    let Ok(entries) = folder(place, "requests").read_dir() else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let whole = paths.filter(|path| path.extension().is_some_and(|end| end == "json"));
    whole
        .filter_map(|path| serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok())
        .collect()
}

fn request(place: &Place) -> Value {
    until("a request", || !requests(place).is_empty());
    requests(place).remove(0)
}

/// Answers as a careful client does.
fn respond(place: &Place, id: &str, body: &str) {
    let folder = folder(place, "responses");
    std::fs::write(folder.join(format!(".{id}.tmp")), body).unwrap();
    std::fs::rename(folder.join(format!(".{id}.tmp")), folder.join(format!("{id}.json"))).unwrap();
}

/// Waits until an answer was looked at and not taken: its file is gone.
fn refused(place: &Place, id: &str) {
    let folder = folder(place, "responses");
    let names = [format!("{id}.json"), format!(".{id}.taken")];
    until("the answer is refused", || names.iter().all(|name| !folder.join(name).exists()));
}

/// Waits until every file that is there was looked at: stale ones that come later are
/// removed, the second by another look than the first.
fn looked_at(place: &Place) {
    for name in ["first.json", "second.json"] {
        let (new, stale) = (place.path().join(name), folder(place, "responses").join(name));
        let file = std::fs::File::create(&new).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(600)).unwrap();
        std::fs::rename(&new, &stale).unwrap();
        until("the files are looked at", || !stale.exists());
    }
}

#[test]
fn a_file_asks_and_a_file_answers() {
    let place = place(GATE);
    place.aye(&["run", "gate", "--detach"]).ok();
    let asked = request(&place);
    assert_eq!(asked["asked"]["message"], "Ship it?");
    assert_eq!(asked["choices"], json!(["proceed", "cancel"]));
    let id = asked["id"].as_str().unwrap();
    respond(&place, id, "{\"choice\": \"proceed\", \"reason\": \"tested\"}");
    until("the end", || place.status() == "completed");
    assert!(place.work().join("went").exists());
    until("the request is gone", || requests(&place).is_empty());
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    let events = shown["events"].as_array().unwrap();
    let answer = events.iter().find(|one| one["type"] == "confirmation_answered").unwrap();
    assert_eq!(answer["answer"]["prompter"], "dropbox");
    assert_eq!(answer["answer"]["proof"], "relayed");
    assert_eq!(answer["answer"]["reason"], "tested");
}

#[test]
fn a_request_goes_when_the_question_is_answered_elsewhere() {
    let place = place(GATE);
    place.aye(&["run", "gate", "--detach"]).ok();
    let asked = request(&place);
    place.aye(&["answer", asked["question"].as_str().unwrap(), "cancel"]).ok();
    until("the request is gone", || requests(&place).is_empty());
    until("retracted", || messages(&place)[0]["state"] == "retracted");
    // Too late: it decides nothing any more.
    respond(&place, asked["id"].as_str().unwrap(), "{\"choice\": \"proceed\"}");
    assert_eq!(place.status(), "cancelled");
    assert!(!place.work().join("went").exists());
}

#[test]
fn half_written_forged_and_odd_files_answer_nothing() {
    let place = place(GATE);
    place.aye(&["run", "gate", "--detach"]).ok();
    let id = request(&place)["id"].as_str().unwrap().to_owned();
    let responses = folder(&place, "responses");
    let write = |name: &str, body: &str| std::fs::write(responses.join(name), body).unwrap();
    // Forged: well-formed, and nobody was asked under this name.
    write(&format!("{}.json", "0".repeat(64)), "{\"choice\": \"proceed\"}");
    write("..json", "{\"choice\": \"proceed\"}");
    write("a b.json", "{\"choice\": \"proceed\"}");
    // Half-written, without a temporary name.
    write(&format!("{id}.json"), "{\"choice\": \"pro");
    // A link to something else.
    let other = "1".repeat(64);
    std::os::unix::fs::symlink("/etc/passwd", responses.join(format!("{other}.json"))).unwrap();
    // A pipe holds nobody up.
    let pipe = responses.join(format!("{}.json", "2".repeat(64)));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    looked_at(&place);
    assert_eq!(place.status(), "waiting");
    respond(&place, &id, "{\"choice\": \"abort\"}");
    refused(&place, &id);
    assert_eq!(place.status(), "waiting", "what is not an option answers nothing");
    // The rest of the file comes, and it counts.
    respond(&place, &id, "{\"choice\": \"cancel\"}");
    until("the end", || place.status() == "cancelled");
    assert!(!place.work().join("went").exists());
}

#[test]
fn stale_files_are_removed() {
    let place = place(GATE);
    place.aye(&["run", "gate", "--detach"]).ok();
    request(&place);
    let stale = folder(&place, "responses").join("left-over.json");
    std::fs::write(&stale, "{").unwrap();
    let made = Command::new("touch").args(["-d", "10 minutes ago"]).arg(&stale).status().unwrap();
    assert!(made.success());
    until("the stale file is gone", || !stale.exists());
    place.aye(&["cancel", "last"]).ok();
}

#[test]
fn what_wants_a_person_cannot_be_answered_by_a_file() {
    for guard in
        ["by: human", "by: [ann]", "approvals: 2", "type_to_confirm: yes-please", "reauth: true"]
    {
        let place = place(&format!(
            "steps:\n  - {{ name: sure, confirm: {{ message: 'Go?', {guard} }} }}\n  - {{ name: go, shell: touch went }}"
        ));
        place.aye(&["run", "gate", "--detach"]).ok();
        let asked = request(&place);
        assert_eq!(asked["choices"], json!([]), "{guard}");
        let id = asked["id"].as_str().unwrap();
        respond(&place, id, "{\"choice\": \"proceed\"}");
        refused(&place, id);
        assert_eq!(place.status(), "waiting", "{guard}");
        place.aye(&["cancel", "last"]).ok();
    }
    let place = place(
        "steps:\n  - { name: go, shell: touch went, destructive: true, confirmation: { message: 'Go?' } }",
    );
    place.aye(&["run", "gate", "--detach"]).ok();
    assert_eq!(request(&place)["choices"], json!(["cancel"]));
    place.aye(&["cancel", "last"]).ok();
}

#[test]
fn what_a_request_does_not_tell_is_not_agreed_to() {
    let place = place(GATE);
    configure(&place, &format!("{BOX}show = \"pointer\"\n"));
    place.aye(&["run", "gate", "--detach"]).ok();
    let asked = request(&place);
    assert_eq!((&asked["asked"], &asked["choices"]), (&Value::Null, &json!(["cancel"])));
    let id = asked["id"].as_str().unwrap();
    respond(&place, id, "{\"choice\": \"proceed\"}");
    let response = folder(&place, "responses").join(format!("{id}.json"));
    until("it is taken", || !response.exists());
    // What was refused did not use the right up.
    respond(&place, id, "{\"choice\": \"cancel\"}");
    until("the end", || place.status() == "cancelled");
    assert!(!place.work().join("went").exists());
}

#[test]
fn many_requests_at_once_each_get_their_own_answer() {
    let place = place(GATE);
    place.write(
        "skills/gate.yaml",
        "name: gate\ninputs: [{ name: n }]\nsteps:\n  \
         - { name: sure, confirm: { message: 'Number {{ inputs.n }}?', timeout: 1h } }\n  \
         - { name: go, shell: 'touch went-{{ inputs.n }}' }\n",
    );
    for n in 0..6 {
        place.aye(&["run", "gate", "-i", &format!("n={n}"), "--detach"]).ok();
    }
    until("six requests", || requests(&place).len() == 6);
    for asked in requests(&place) {
        let text = asked["asked"]["message"].as_str().unwrap();
        let n: u32 = text.trim_start_matches("Number ").trim_end_matches('?').parse().unwrap();
        let choice = if n.is_multiple_of(2) { "proceed" } else { "cancel" };
        respond(&place, asked["id"].as_str().unwrap(), &format!("{{\"choice\": \"{choice}\"}}"));
    }
    until("all decided", || {
        let runs = place.aye(&["runs", "--json"]).ok().json();
        let open = |run: &&Value| run["status"] == "waiting" || run["status"] == "running";
        runs.as_array().unwrap().iter().filter(open).count() == 0
    });
    for n in 0..6 {
        assert_eq!(place.work().join(format!("went-{n}")).exists(), n % 2 == 0, "{n}");
    }
}

#[test]
fn a_directory_that_others_may_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = place(GATE);
    let shared = folder(&place, "");
    std::fs::create_dir_all(&shared).unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(place.aye(&["run", "gate", "--no-input"]).code, 6);
    let row = messages(&place).remove(0);
    assert_eq!(row["state"], "waiting", "{row}");
    assert!(row["result"].as_str().unwrap().contains("nobody else may write"), "{row}");
}

/// The client of docs/how-to/notify.md, as it is printed there.
#[test]
fn the_shell_client_of_the_docs_answers() {
    let docs = include_str!("../../../../../docs/how-to/notify.md");
    let client =
        docs.split("```sh\n#!/bin/sh\n").nth(1).expect("the client").split("```").next().unwrap();
    assert!(client.lines().count() <= 10, "ten lines:\n{client}");
    let place = place(GATE);
    place.write("client", &format!("#!/bin/sh\n{client}"));
    place.aye(&["run", "gate", "--detach"]).ok();
    request(&place);
    let ran = Command::new("sh")
        .arg(place.work().join("client"))
        .arg(folder(&place, ""))
        .arg("proceed")
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    until("the end", || place.status() == "completed");
}
