//! Runs in the background.

use aye_core::id::RunId;
use aye_runtime::store::{Leases as _, SqliteStore};
use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};

use super::harness::{Place, drivers, until};

fn place(steps: &str) -> Place {
    let place = Place::new();
    place.write("skill.yaml", &format!("name: gate\nsteps:\n{steps}\n"));
    place
}

fn gated(ask: &str) -> Place {
    place(&format!(
        "  - {{ name: deploy, command: touch, args: [deployed], confirmation: {{ message: 'Deploy?', {ask} }} }}"
    ))
}

/// The process that drives a run.
pub(crate) fn driver(place: &Place, run: &str) -> Option<Pid> {
    let store = SqliteStore::open_to_read(&place.home()).unwrap()?;
    let held = store.holder(&RunId::new(run).unwrap()).unwrap()?;
    Pid::from_raw(i32::try_from(held.holder?.pid).unwrap())
}

/// The id of the only open question, once there is one.
fn question(place: &Place) -> String {
    let mut id = None;
    until("a question", || {
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        id = inbox[0]["question"].as_str().map(str::to_owned);
        id.is_some()
    });
    id.unwrap()
}

fn ended(place: &Place, status: &str) {
    until(status, || place.status() == status);
}

#[test]
fn the_caller_is_told_how_to_follow() {
    let place = gated("timeout: 10m");
    // `aye` reads both pipes to their end: nothing may keep them open.
    assert_snapshot!(place.aye(&["run", "skill.yaml", "--detach"]).all(), @r"
    --- stdout
    RUN
    --- stderr
    ▸ gate continues in the background
      follow  aye watch RUN
      answer  aye inbox --watch
      stop    aye cancel RUN
    --- exit 0
    ");
    let run = place.last();
    place.aye(&["cancel", &run]).ok();
    ended(&place, "cancelled");
    let ran = place.aye(&["run", "skill.yaml", "-d", "--json"]).ok();
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.all());
    assert_eq!(ran.json()["skill"], "gate");
    assert_eq!(ran.json()["run"], place.last());
    assert_eq!(ran.stderr, "");
    place.aye(&["cancel", "last"]).ok();
}

/// The session of a process; 0 if it belongs to another PID namespace.
fn session(pid: &str) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let rest = stat.rsplit(')').next().unwrap();
    rest.split_whitespace().nth(3).unwrap().to_owned()
}

#[test]
fn a_question_waits_in_the_inbox_and_its_answer_goes_on() {
    let place = gated("timeout: 10m");
    let run = place.aye(&["run", "skill.yaml", "--detach", "-q"]).ok().stdout.trim().to_owned();
    let question = question(&place);
    let pid = driver(&place, &run).expect("someone holds the run");
    assert_ne!(session(&pid.as_raw_nonzero().to_string()), session("self"), "a session of its own");
    assert!(!place.work().join("deployed").exists());
    let said = place.aye(&["answer", &question, "proceed"]).ok();
    assert!(!said.stdout.contains("nobody drives"), "{}", said.all());
    ended(&place, "completed");
    assert!(place.work().join("deployed").exists());
    until("the process has gone", || rustix::process::test_kill_process(pid).is_err());
}

#[test]
fn what_is_wrong_is_said_in_the_foreground() {
    let place = gated("timeout: 10m");
    place.write("bad.yaml", "name: bad\nsteps:\n  - { name: a, comand: x }\n");
    for (args, code, said) in [
        (&["run", "nosuch.yaml"][..], 3, "there is no file"),
        (&["run", "bad.yaml"], 2, "comand"),
        (&["run", "skill.yaml", "-i", "x=1"], 2, "no input `x`"),
        (&["run", "skill.yaml", "--only", "x"], 3, "no step `x`"),
        (&["run", "skill.yaml", "--dry-run"], 2, "`--dry-run`"),
        (&["resume", "nosuch"], 3, "no run"),
    ] {
        let ran = place.aye(&[args, &["--detach"]].concat());
        assert_eq!(ran.code, code, "{args:?}: {}", ran.all());
        assert!(ran.stderr.contains(said), "{args:?}: {}", ran.all());
    }
    assert_eq!(place.aye(&["runs", "--json"]).stdout.trim(), "[]", "nothing was begun");
    let ran = place.aye(&["background"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
}

/// A run that waits is driven for days: the place of a test ends its drivers with itself.
#[test]
fn a_place_leaves_no_drivers() {
    let place = gated("timeout: 10m");
    for _ in 0..2 {
        place.aye(&["run", "skill.yaml", "--detach"]).ok();
    }
    let path = place.path().to_owned();
    until("both are driven", || place.drivers().len() == 2);
    drop(place);
    until("they are gone", || drivers(&path).is_empty());
}

#[test]
fn a_run_that_is_driven_is_not_taken_a_second_time() {
    let place = gated("timeout: 10m");
    place.aye(&["run", "skill.yaml", "--detach"]).ok();
    question(&place);
    let ran = place.aye(&["resume", "last", "--detach"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.stderr.contains("aye cancel"), "{}", ran.all());
    place.aye(&["cancel", "last"]).ok();
    ended(&place, "cancelled");
}

#[test]
fn a_paused_run_goes_on_in_the_background() {
    let place = gated("timeout: 10m");
    let ran = place.aye(&["run", "skill.yaml"]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(ran.stderr.contains("aye resume") && ran.stderr.contains("--detach"), "{}", ran.all());
    place.aye(&["resume", "last", "--detach"]).ok();
    place.aye(&["answer", &question(&place), "proceed"]).ok();
    ended(&place, "completed");
}

#[test]
fn time_runs_out_in_the_background_too() {
    let place = gated("timeout: 1s, default: no");
    place.aye(&["run", "skill.yaml", "--detach"]).ok();
    ended(&place, "cancelled");
    let shown = place.aye(&["show", "last"]).ok();
    assert!(shown.stdout.contains("nobody answered in time"), "{}", shown.all());
}

#[test]
fn secrets_reach_it_and_nobody_else() {
    let place = place(
        "  - { name: use, shell: 'printf %s \"$T\" | rev > used', env: { T: '{{ inputs.token }}' }, confirmation: { message: 'Use it?', timeout: 10m } }",
    );
    let text = place.read("skill.yaml");
    place.write(
        "skill.yaml",
        &text.replace("steps:", "inputs: [{ name: token, type: secret }]\nsteps:"),
    );
    let run = place.aye(&["run", "skill.yaml", "-dq", "-i", "token=hunter-22"]).ok();
    let question = question(&place);
    let pid = driver(&place, run.stdout.trim()).expect("someone holds the run");
    let engine = std::path::PathBuf::from(format!("/proc/{}", pid.as_raw_nonzero()));
    for file in ["cmdline", "environ"] {
        let text = std::fs::read(engine.join(file)).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        assert!(!text.contains("hunter-22"), "{file}: {text}");
    }
    place.aye(&["answer", &question, "proceed"]).ok();
    ended(&place, "completed");
    assert_eq!(place.read("used"), "22-retnuh", "the step got it");
    let mut seen = 0;
    for entry in walk(&place.home()) {
        let bytes = std::fs::read(&entry).unwrap();
        let found = bytes.windows(9).any(|window| window == b"hunter-22");
        assert!(!found, "{}", entry.display());
        seen += 1;
    }
    assert!(seen > 1, "the journal at least was looked at");
}

fn walk(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn a_killed_background_run_leaves_nothing_and_can_be_taken_up() {
    let place = place(
        "  - { name: long, shell: 'echo $$ > pid; exec sleep 600', timeout: 0, idempotent: true }",
    );
    let run = place.aye(&["run", "skill.yaml", "-dq"]).ok().stdout.trim().to_owned();
    until("the step", || place.read("pid").ends_with('\n'));
    let step = Pid::from_raw(place.read("pid").trim().parse().unwrap()).unwrap();
    kill_process(driver(&place, &run).unwrap(), Signal::KILL).unwrap();
    until("the step has ended", || rustix::process::test_kill_process(step).is_err());
    until("no process drives it", || driver(&place, &run).is_none());
    std::fs::remove_file(place.work().join("pid")).unwrap();
    place.aye(&["resume", &run, "--detach"]).ok();
    until("the step again", || place.read("pid").ends_with('\n'));
    place.aye(&["cancel", &run]).ok();
    ended(&place, "cancelled");
}

#[test]
fn what_goes_wrong_later_is_noted() {
    let place = gated("timeout: 10m");
    let run = place.aye(&["run", "skill.yaml", "-dq"]).ok().stdout.trim().to_owned();
    let question = question(&place);
    // With its table gone, the driver can neither read mail nor write events.
    let db = place.journal_db();
    db.execute_batch("DROP TABLE events; DROP TABLE requests").unwrap();
    let _ = place.aye(&["answer", &question, "proceed"]);
    let note = place.home().join("logs").join(&run).join("background.err");
    until("a note", || std::fs::read_to_string(&note).is_ok_and(|text| !text.is_empty()));
}
