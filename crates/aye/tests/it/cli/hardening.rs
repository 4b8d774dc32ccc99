//! What went wrong once, when strangers tried.

use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::harness::{Place, children_of, signal_to, until};
use crate::prompt::pty::type_to_confirm;

fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < give_up, "{what}");
        std::thread::yield_now();
    }
}

fn kill(pid: u32) {
    signal_to(pid, Signal::KILL);
}

/// Processes that carry the tag of a run.
pub(super) fn left_of(run: &str) -> usize {
    aye_process::survivors::find(run).len()
}

#[test]
fn a_cancel_that_a_crash_interrupts_still_counts() {
    let place = Place::new();
    let skill = "
name: slow
steps:
  - { name: a, idempotent: true, shell: \"trap '' TERM; echo go >> out; sleep 30\" }
  - { name: b, shell: \"echo B-RAN >> out\" }
";
    place.write("slow.yaml", skill);
    let mut child = place.start(&["run", "slow.yaml", "-q"]);
    wait_for("the step begins", || place.read("out").contains("go"));
    let run = place.last();
    // It waits for the step, which does not want to end.
    let mut cancel = place.start(&["cancel", &run]);
    let sent = || rows(&place, "SELECT count(*) FROM requests") == 1;
    wait_for("the cancel is sent", sent);
    for engine in children_of(child.id()) {
        kill(engine);
    }
    child.wait().unwrap();
    cancel.wait().unwrap();
    // Anyone who comes next, the cancel or a resume, takes it as it was meant.
    let _ = place.aye(&["resume", &run, "--no-input"]);
    assert_eq!(place.aye(&["runs", "--json"]).ok().json()[0]["status"], "cancelled");
    assert!(!place.read("out").contains("B-RAN"), "{}", place.read("out"));
}

fn rows(place: &Place, query: &str) -> i64 {
    let db = place.journal_db();
    db.query_row(query, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_cancel_that_ends_the_run_is_accepted_and_not_kept() {
    let place = Place::new();
    let skill = "
name: y
initial: a
states:
  a: { shell: \"touch begun; while ! test -e go; do sleep 0.01; done\", transitions: { success: b } }
  b: { type: final }
";
    place.write("y.yaml", skill);
    let mut child = place.start(&["run", "y.yaml", "-q"]);
    wait_for("the step begins", || place.work().join("begun").exists());
    let cancelled = place.aye(&["cancel", &place.last(), "--reason", "enough"]);
    assert_eq!(cancelled.code, 0, "{}", cancelled.all());
    assert_eq!(child.wait().unwrap().code(), Some(5));
    assert_eq!(rows(&place, "SELECT count(*) FROM requests WHERE verdict = 'accepted'"), 1);
    assert_eq!(rows(&place, "SELECT count(*) FROM requests WHERE body <> ''"), 0, "not kept");
}

#[test]
fn cancelling_a_cut_off_run_ends_what_it_left_behind() {
    let place = Place::new();
    let skill = "name: left\nsteps:\n  - { name: a, shell: \"touch begun; sleep 4321\" }\n";
    place.write("left.yaml", skill);
    let mut command = place.command(&["run", "left.yaml", "-q"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().unwrap();
    wait_for("the step begins", || place.work().join("begun").exists());
    let run = place.last();
    let engines = children_of(child.id());
    kill(child.id());
    engines.into_iter().for_each(kill);
    child.wait().unwrap();
    wait_for("no process drives it", || {
        !place.home().join(format!("locks/{run}.lock")).exists() || {
            place.aye(&["runs", "--json"]).ok().json()[0]["driven"] == false
        }
    });
    place.aye(&["cancel", &run]).ok();
    assert_eq!(left_of(&run), 0);
}

#[test]
fn cancelling_a_paused_run_runs_its_clean_up() {
    let place = Place::new();
    let skill = "
name: cc
initial: q
states:
  q: { confirm: { message: go, timeout: 0 }, transitions: { success: done, cancelled: tidy } }
  tidy: { shell: \"echo tidied >> tidy\", transitions: { success: done } }
  done: { type: final }
";
    place.write("cc.yaml", skill);
    assert_eq!(place.aye(&["run", "cc.yaml", "--no-input"]).code, 6);
    place.aye(&["cancel", "last"]).ok();
    assert_eq!(place.read("tidy"), "tidied\n");
    assert_eq!(place.aye(&["runs", "--json"]).ok().json()[0]["status"], "cancelled");
}

#[test]
fn cancelling_at_a_gate_does_not_clean_up_after_a_step_that_never_ran() {
    let place = Place::new();
    let skill = "
name: cc
initial: deploy
states:
  deploy:
    { shell: touch deployed, confirmation: { message: go, timeout: 0 }, transitions: { success: done, cancelled: rollback } }
  rollback: { shell: touch rolled_back, transitions: { success: done } }
  done: { type: final }
";
    place.write("cc.yaml", skill);
    assert_eq!(place.aye(&["run", "cc.yaml", "--no-input"]).code, 6);
    place.aye(&["cancel", "last"]).ok();
    assert_eq!(place.aye(&["runs", "--json"]).ok().json()[0]["status"], "cancelled");
    assert!(!place.work().join("rolled_back").exists());
    // The same where a process drives it.
    place.aye(&["run", "cc.yaml", "--detach"]).ok();
    until("it asks", || place.aye(&["inbox", "--json"]).ok().json().as_array().unwrap().len() == 1);
    place.aye(&["cancel", "last"]).ok();
    until("it ends", || place.aye(&["runs", "--json"]).ok().json()[0]["status"] == "cancelled");
    assert!(!place.work().join("rolled_back").exists());
    assert!(!place.work().join("deployed").exists());
}

#[test]
fn a_step_with_a_long_name_keeps_its_log() {
    let place = Place::new();
    let name = "n".repeat(250);
    place.write(
        "long.yaml",
        &format!("name: long\nsteps:\n  - {{ name: {name}, shell: \"echo hi\" }}\n"),
    );
    place.aye(&["run", "long.yaml", "-q"]).ok();
    assert_eq!(place.aye(&["logs", "last"]).ok().stdout, "hi\n");
}

#[test]
fn looking_for_skills_ends_and_does_not_guess() {
    let place = Place::new();
    place.write("skills/a.yaml", "name: dup\nsteps:\n  - { name: a, command: \"true\" }\n");
    place.write("skills/b.yaml", "name: dup\nsteps:\n  - { name: b, command: \"false\" }\n");
    let skills = place.work().join("skills");
    std::os::unix::fs::symlink(&skills, skills.join("loop")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, skills.join("pipe.yaml"), rustix::fs::Mode::RWXU)
        .unwrap();
    let listed = place.aye(&["list", "--json"]).ok().json();
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
    let ran = place.aye(&["run", "dup"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.stderr.contains("stands for several skills"), "{}", ran.all());
    assert_eq!(place.aye(&["check", "skills/pipe.yaml"]).code, 2);
    assert_eq!(place.aye(&["check", "/dev/zero"]).code, 2);
}

/// A pipe would be waited for, and a device may never end.
#[test]
fn a_repository_of_pipes_and_devices_has_no_branch() {
    let skill = "name: b\nsteps:\n  - { name: a, command: echo, args: [\"on {{ branch | default('none') }}\"] }\n";
    let pipe = |path: &std::path::Path| {
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RWXU).unwrap();
    };
    for kind in ["pipe", "pipe inside", "pipe elsewhere", "device", "large"] {
        let place = Place::new();
        place.write("b.yaml", skill);
        let git = place.work().join(".git");
        match kind {
            "pipe" => pipe(&git),
            "device" => std::os::unix::fs::symlink("/dev/zero", &git).unwrap(),
            "pipe elsewhere" => {
                place.write(".git", "gitdir: real");
                std::fs::create_dir(place.work().join("real")).unwrap();
                pipe(&place.work().join("real/HEAD"));
            }
            inside => {
                std::fs::create_dir(&git).unwrap();
                match inside {
                    "large" => std::fs::write(git.join("HEAD"), "x".repeat(1 << 20)).unwrap(),
                    _ => pipe(&git.join("HEAD")),
                }
            }
        }
        for args in [&["run", "b.yaml", "--dry-run"][..], &["run", "b.yaml"]] {
            let ran = place.aye(args);
            assert_eq!(ran.code, 0, "{kind}: {}", ran.all());
        }
        assert_eq!(place.aye(&["logs", "last"]).ok().stdout, "on none\n", "{kind}");
    }
}

#[test]
fn a_limit_for_file_sizes_is_an_error_and_not_the_end() {
    let place = Place::new();
    place.write("p.yaml", "name: p\nsteps:\n  - { name: a, command: echo, args: [hi] }\n");
    let limited = format!("ulimit -f 1; exec {} run p.yaml", super::harness::AYE);
    let output = std::process::Command::new("sh")
        .args(["-c", &limited])
        .current_dir(place.work())
        .env("AYE_HOME", place.home())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("error:"), "{text}");
}

#[test]
fn an_event_that_is_no_text_any_more_is_named() {
    let place = Place::new();
    place.write("p.yaml", "name: p\nsteps:\n  - { name: a, command: echo, args: [hi] }\n");
    place.aye(&["run", "p.yaml", "-q"]).ok();
    let db = place.journal_db();
    db.execute("UPDATE events SET body = cast(x'7bff41' AS TEXT) WHERE seq = 2", []).unwrap();
    drop(db);
    let audited = place.aye(&["audit"]);
    assert_eq!(audited.code, 1, "{}", audited.all());
    assert!(audited.stdout.contains("event 2"), "{}", audited.all());
}

#[test]
fn a_guard_is_asked_again_before_a_retry() {
    let place = Place::new();
    let skill = "
name: guarded
steps:
  - name: act
    shell: \"echo ran >> out; exit 1\"
    on_error: ask
    confirmation: { message: Really?, type_to_confirm: yes please, timeout: 0 }
";
    place.write("guarded.yaml", skill);
    assert_eq!(place.aye(&["run", "guarded.yaml", "--no-input"]).code, 6);
    let question = |place: &Place| {
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        (
            inbox[0]["question"].as_str().unwrap().to_owned(),
            inbox[0]["kind"].as_str().unwrap().to_owned(),
        )
    };
    let (id, _) = question(&place);
    type_to_confirm(&place, &id, None, "yes please", false);
    assert_eq!(place.aye(&["resume", "last", "--no-input"]).code, 6);
    let (id, kind) = question(&place);
    assert_eq!(kind, "recover");
    // What becomes of the step takes the same as letting it run.
    for choice in ["retry", "skip", "done"] {
        assert_eq!(place.aye(&["answer", &id, choice, "--no-input"]).code, 1, "{choice}");
    }
    type_to_confirm(&place, &id, Some("1\r"), "yes please", false);
    assert_eq!(place.aye(&["resume", "last", "--no-input"]).code, 6);
    let (_, kind) = question(&place);
    assert_eq!(kind, "confirm", "the guard comes before the second attempt");
    assert_eq!(place.read("out"), "ran\n");
}

#[test]
fn a_reader_that_does_not_read_holds_up_neither_time_outs_nor_stops() {
    let place = Place::new();
    place.write("b.yaml", "name: b\nsteps:\n  - { name: a, shell: \"yes\", timeout: 1s }\n");
    let mut child = place.start(&["run", "b.yaml"]);
    let status = || place.aye(&["runs", "--json"]).ok().json()[0]["status"].clone();
    wait_for("the time-out is kept", || status() == "failed");
    assert_eq!(left_of(&place.last()), 0);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    wait_for("it ends when told to", || child.try_wait().unwrap().is_some());
}

#[test]
fn what_a_step_wrote_reaches_the_next_one_whole() {
    let place = Place::new();
    let skill = "
name: v
steps:
  - { name: big, shell: \"head -c 200000 /dev/zero | tr '\\\\0' x\" }
  - { name: n, command: wc, args: [-c], stdin: \"{{ big }}\" }
";
    place.write("v.yaml", skill);
    let ran = place.aye(&["run", "v.yaml", "-q"]).ok();
    assert!(ran.stdout.ends_with("200000\n"), "{}", &ran.stdout[ran.stdout.len() - 40..]);
}

#[test]
fn a_step_that_uses_up_its_processor_time_says_so() {
    let place = Place::new();
    let skill = "name: c\nsteps:\n  - { name: a, shell: \"while :; do :; done\", max_cpu: 1s }\n";
    place.write("c.yaml", skill);
    let ran = place.aye(&["run", "c.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.stderr.contains("used up its processor time"), "{}", ran.all());
}

#[test]
fn what_is_missing_for_a_yes_is_said() {
    let place = Place::new();
    let gate = |more: &str| {
        format!(
            "name: s\nsteps:\n- {{ name: a, command: 'true', confirmation: {{ message: 'Go?', timeout: 0, {more} }} }}\n"
        )
    };
    place.write("s.yaml", &gate("type_to_confirm: yes please"));
    let ran = place.aye(&["run", "s.yaml"]);
    let id = format!("{}-1", place.last());
    let command = format!("aye answer {id}");
    assert!(ran.stderr.contains(&command), "{}", ran.all());
    assert!(place.aye(&["inbox"]).ok().stdout.contains(&command));
    let ran = place.aye(&["answer", &id, "proceed"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(!ran.all().contains("--type"), "{}", ran.all());
    let hint = format!("hint: type it at a terminal: `aye answer {id}` asks for it");
    assert!(ran.stderr.contains(&hint), "{}", ran.all());
    place.aye(&["answer", &id, "cancel"]).ok();

    place.write("s.yaml", &gate("approvals: 3"));
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
    let id = format!("{}-1", place.last());
    let ran = place.aye(&["answer", &id, "proceed"]).ok();
    assert!(ran.stdout.contains("Proceed; 2 more people have to agree"), "{}", ran.all());
    assert!(place.aye(&["inbox"]).ok().stdout.contains("1 of 3 agreed"));
    let ran = place.aye(&["answer", &id, "cancel"]).ok();
    assert!(!ran.stdout.contains("have to agree"), "{}", ran.all());
}
