//! `aye resume`.

use std::io::{BufRead as _, BufReader};
use std::time::{Duration, Instant};

use aye_process::survivors::Identity;
use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};

use super::harness::{Place, signal, until};

const WAIT: &str = "touch began; while [ ! -e go ]; do sleep 0.02; done";

/// A run that was interrupted in its only long step.
fn interrupted(skill: &str, args: &[&str]) -> Place {
    let place = Place::new();
    place.write("s.yaml", &skill.replace("WAIT", WAIT));
    let child = place.start_until(&[&["run", "s.yaml"], args].concat(), "began");
    signal(&child, Signal::INT);
    assert_eq!(place.finish(child).code, 130);
    place.write("go", "");
    place
}

#[test]
fn an_idempotent_step_is_run_again() {
    let place = interrupted(
        "name: s\nsteps:\n- {name: a, shell: 'WAIT', idempotent: true}\n- {name: b, shell: echo b}\n",
        &[],
    );
    assert_snapshot!(place.aye(&["resume", "last"]).all(), @r"
    --- stdout
    b | b
    --- stderr
    s  run RUN, resumed by USER on HOST
    ▸ a  attempt 2: it may be run twice
    ▸ a  touch began; while [ ! -e go ]; do sleep 0.02; done
    ✓ a  DURATION
    ▸ b  echo b
    ✓ b  DURATION
    ✓ s completed in DURATION  2 steps done
    --- exit 0
    ");
}

#[test]
fn another_step_is_asked_about_first() {
    let place = interrupted(
        "name: s\nsteps:\n- {name: a, shell: 'WAIT'}\n- {name: b, shell: echo b}\n",
        &[],
    );
    assert_snapshot!(place.aye(&["resume", "last", "--no-input"]).all(), @r"
    --- stderr
    s  run RUN, resumed by USER on HOST
    ‖ nobody can be asked here: `--no-input` was given
    ‖ s waits for an answer: `a` was stopped before it ended. It may have done part of its work.  0 steps done
      answer  aye answer RUN-1 (retry|done|skip|abort) --resume
      inbox   aye inbox
      wait    aye resume RUN --detach
      resume  aye resume RUN
      cancel  aye cancel RUN
    --- exit 6
    ");
    let question = format!("{}-1", place.last());
    place.aye(&["answer", &question, "done"]);
    if place.status() != "completed" {
        place.aye(&["resume", "last"]).ok();
    }
    let shown = place.aye(&["show", "last"]).ok().all();
    assert_snapshot!(shown, @r#"
    --- stdout
    s  run RUN by USER on HOST at TIME
    ✓ a  completed    marked as done by USER
        $ touch began; while [ ! -e go ]; do sleep 0.02; done
    ✓ b  completed    DURATION
        $ echo b
    decisions
      ? a "`a` was stopped before it ended. It may have done part of its work." = done by USER through command (local) after DURATION
    ✓ s completed in DURATION  2 steps done
    --- exit 0
    "#);
}

#[test]
fn secrets_are_wanted_again() {
    let place = interrupted(
        "name: s\ninputs: [{ name: token, type: secret, required: true }]\nsteps:\n- {name: a, shell: 'WAIT', idempotent: true}\n- {name: b, shell: 'printf %s {{ inputs.token }} > token'}\n",
        &["-i", "token=hunter2"],
    );
    assert_snapshot!(place.aye(&["resume", "last"]).all(), @r"
    --- stderr
    error: secret input `token` is not kept in the journal
    hint: `aye resume RUN` on a terminal asks for it; a script gives it with `-i token=…`
    --- exit 2
    ");
    assert_snapshot!(place.aye(&["resume", "last", "-i", "tok=x"]).all(), @r"
    --- stderr
    error: `tok` is not a secret input of this run
    hint: a resumed run keeps the inputs it was started with
    --- exit 2
    ");
    place.aye(&["resume", "last", "-i", "token=hunter2"]).ok();
    assert_eq!(place.read("token"), "hunter2");
}

#[test]
fn a_changed_file_is_told_and_not_used() {
    let skill = "name: s\nsteps:\n- {name: a, shell: 'WAIT', idempotent: true}\n- {name: b, shell: echo old}\n";
    let place = interrupted(skill, &[]);
    place.write("s.yaml", "name: s\nsteps:\n- {name: b, shell: echo new}\n");
    assert_snapshot!(place.aye(&["resume", "last"]).all(), @r"
    --- stdout
    b | old
    --- stderr
    warning: `s.yaml` has changed; the run continues with what it started with
    s  run RUN, resumed by USER on HOST
    ▸ a  attempt 2: it may be run twice
    ▸ a  touch began; while [ ! -e go ]; do sleep 0.02; done
    ✓ a  DURATION
    ▸ b  echo old
    ✓ b  DURATION
    ✓ s completed in DURATION  2 steps done
    --- exit 0
    ");
    let place = interrupted(skill, &[]);
    std::fs::remove_file(place.work().join("s.yaml")).unwrap();
    let ran = place.aye(&["resume", "last"]).ok();
    assert!(ran.stderr.starts_with("warning: `s.yaml` is gone"), "{}", ran.all());
}

#[test]
fn what_has_ended_is_not_resumed() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\ninputs: [{ name: who, default: you }]\nsteps:\n- {name: a, shell: echo a}\n",
    );
    assert_snapshot!(place.aye(&["resume", "last"]).all(), @r"
    --- stderr
    error: there are no runs yet
    hint: start one with `aye run SKILL`
    --- exit 3
    ");
    place.aye(&["run", "s.yaml"]).ok();
    assert_snapshot!(place.aye(&["resume", "last"]).all(), @r"
    --- stderr
    error: run `RUN` has ended: it completed
    hint: start again with `aye run s.yaml -i who=you`
    --- exit 1
    ");
}

#[test]
fn a_run_that_is_driven_is_not_driven_twice() {
    let place = Place::new();
    let skill =
        "name: s\ninputs: [{ name: token, type: secret }]\nsteps:\n- {name: a, shell: 'WAIT'}\n";
    place.write("s.yaml", &skill.replace("WAIT", WAIT));
    let child = place.start_until(&["run", "s.yaml", "-i", "token=hunter2"], "began");
    let second = place.aye(&["resume", "last"]);
    assert!(!second.all().contains("hunter2"), "who drives it is told, not with what");
    assert_snapshot!(second.all(), @r"
    --- stderr
    error: run `RUN` is driven by `USER` on `HOST` (process PID, `aye run s.yaml`) since TIME
    hint: `aye watch RUN` shows it; `aye answer` and `aye cancel RUN` reach it from here
    --- exit 1
    ");
    place.write("go", "");
    assert_eq!(place.finish(child).code, 0);
}

#[test]
fn of_two_that_resume_at_once_one_drives_and_the_other_says_who() {
    for _ in 0..5 {
        let place = interrupted(
            "name: s\nsteps:\n- {name: a, shell: 'WAIT', idempotent: true}\n- {name: b, shell: 'echo b >> b; until [ -e both ]; do sleep 0.02; done'}\n",
            &[],
        );
        let run = place.last();
        let mut children = vec![
            place.start(&["resume", &run, "--no-input"]),
            place.start(&["resume", &run, "--no-input"]),
        ];
        // The loser does not wait for anything.
        let mut loser = None;
        until("one of two gives way", || {
            loser = children.iter_mut().position(|child| child.try_wait().unwrap().is_some());
            loser.is_some()
        });
        let loser = place.finish(children.remove(loser.unwrap()));
        place.write("both", "");
        let winner = place.finish(children.remove(0));
        assert_eq!((winner.code, loser.code), (0, 1), "{}\n{}", winner.all(), loser.all());
        assert!(loser.stderr.contains("is driven by"), "{}", loser.all());
        assert_eq!(place.read("b"), "b\n");
    }
}

#[test]
fn the_beginning_of_an_id_is_enough_and_several_are_told() {
    let place = Place::new();
    place
        .write("s.yaml", "name: s\nsteps:\n- {name: a, confirm: { message: 'Go?', timeout: 0 }}\n");
    // Ids begin with one of 32 letters: among 33 runs two begin alike.
    for _ in 0..33 {
        assert_eq!(place.aye(&["-q", "run", "s.yaml"]).code, 6);
    }
    let runs = place.aye(&["runs", "--json", "-n", "33"]).ok().json();
    let ids: Vec<&str> =
        runs.as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap()).collect();
    let shared = ids.iter().find(|id| ids.iter().filter(|other| other[..1] == id[..1]).count() > 1);
    let shared = shared.expect("two begin alike");
    let ran = place.aye(&["resume", &shared[..1]]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.stderr.contains("stands for several runs"), "{}", ran.all());
    assert_eq!(place.aye(&["resume", &shared[..9]]).code, 6);
}

#[test]
fn who_is_interrupted_while_ending_survivors_leaves_none() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\nsteps:\n- {name: a, shell: \"trap '' TERM INT; echo $$ > pid; touch on; while :; do sleep 1; done\"}\n",
    );
    let mut guard = place.start_until(&["run", "s.yaml"], "on");
    let engine = place.aye(&["show", "last", "--json"]).ok().json()["driver"]["pid"].as_i64();
    let engine = Pid::from_raw(i32::try_from(engine.unwrap()).unwrap()).unwrap();
    // Both at once, so that neither can clean up after the other.
    signal(&guard, Signal::STOP);
    kill_process(engine, Signal::KILL).unwrap();
    signal(&guard, Signal::KILL);
    guard.wait().unwrap();
    let step = Identity::of(place.read("pid").trim().parse().unwrap()).expect("it outlived both");

    let mut resumed = place.start(&["resume", "last"]);
    let mut said = BufReader::new(resumed.stderr.take().unwrap()).lines();
    let line = said.find(|line| line.as_ref().unwrap().contains("behind; ending "));
    assert!(line.is_some());
    signal(&resumed, Signal::INT);
    let rest: Vec<String> = said.map(Result::unwrap).collect();
    assert_eq!(resumed.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(!step.is_alive(), "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("`aye resume ")), "{rest:?}");
}

/// An answer that resumes a run gives its secrets again, or nothing is recorded.
#[test]
fn an_answer_that_resumes_gives_the_secrets_again() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\ninputs: [{ name: token, type: secret, required: true }]\nsteps:\n- {name: ask, confirm: { message: 'Go?', timeout: 0 }}\n- {name: b, shell: 'printf %s {{ inputs.token }} > token'}\n",
    );
    let paused = place.aye(&["run", "s.yaml", "--no-input", "-i", "token=hunter2-hunter2"]);
    let again = " -i token=…\n";
    for hint in ["answer  aye answer ", "wait    aye resume ", "resume  aye resume "] {
        let line = paused.stderr.lines().find(|line| line.contains(hint)).unwrap();
        assert!(format!("{line}\n").ends_with(again), "{}", paused.all());
    }
    let id =
        place.aye(&["inbox", "--json"]).ok().json()[0]["question"].as_str().unwrap().to_owned();
    let shown = place.aye(&["show", "last"]).ok().stdout;
    assert!(
        shown.contains(&format!("aye answer {id} (proceed|cancel) --resume{again}")),
        "{shown}"
    );
    let refused = place.aye(&["answer", &id, "proceed", "--resume", "--no-input"]);
    assert_eq!(refused.code, 2, "{}", refused.all());
    assert!(refused.stderr.contains("nothing was answered"), "{}", refused.all());
    let typed = format!("`aye answer {id} proceed --resume -i token=…`");
    assert!(refused.stderr.contains(&typed), "{}", refused.all());
    // The question is still open.
    assert_eq!(place.aye(&["inbox", "--json"]).ok().json()[0]["question"], id.as_str());
    let given = ["answer", &id, "proceed", "--resume", "-i", "token=hunter2-hunter2"];
    place.aye(&given).ok();
    assert_eq!(place.read("token"), "hunter2-hunter2");
    // Without `--resume` the answer is recorded, and the way on is named.
    place.aye(&["run", "s.yaml", "--no-input", "-i", "token=hunter2-hunter2"]);
    let id =
        place.aye(&["inbox", "--json"]).ok().json()[0]["question"].as_str().unwrap().to_owned();
    let answered = place.aye(&["answer", &id, "proceed", "--no-input"]).ok();
    assert!(answered.all().contains(again.trim_end()), "{}", answered.all());
}

/// Homes as programs of older versions left them, each with a run that waits.
#[test]
fn a_run_of_an_older_journal_is_listed_answered_resumed_and_audited() {
    macro_rules! layout {
        ($name:literal) => {
            include_str!(concat!("../../../../aye-runtime/tests/it/store/fixtures/", $name))
        };
    }
    for (journal, run) in [
        (layout!("layout-2.sql"), "a8g40bx0tw"),
        (layout!("layout-4.sql"), "p1tg19qfwc"),
        (layout!("layout-5.sql"), "p1tg19qfwc"),
        (layout!("layout-8.sql"), "r687rt3r5j"),
        (layout!("layout-9.sql"), "2xg4k3f85q"),
    ] {
        let place = Place::new();
        std::fs::create_dir_all(place.home()).unwrap();
        let file = place.home().join("journal.db");
        rusqlite::Connection::open(file).unwrap().execute_batch(journal).unwrap();
        assert_eq!(
            place.aye(&["runs", "--status", "waiting", "--json"]).ok().json()[0]["run"],
            run
        );
        place.aye(&["audit"]).ok();
        let waiting = place.aye(&["resume", run, "--no-input"]);
        assert_eq!(waiting.code, 6, "{}", waiting.all());
        let question = format!("{run}-1");
        let resumed = place.aye(&["answer", &question, "proceed", "--resume"]).ok();
        assert!(resumed.stderr.contains("✓ release completed"), "{}", resumed.all());
        assert_eq!(place.aye(&["show", run, "--json"]).ok().json()["status"], "completed");
        place.aye(&["audit"]).ok();
    }
}

#[test]
fn a_step_with_a_run_inside_took_as_long_as_it_did_before_and_after() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "workflows:
  outer:
    steps:
    - { name: call, skill: '#inner' }
  inner:
    steps:
    - { name: a, idempotent: true, shell: 'touch began; [ -e go ] || sleep 100' }
",
    );
    let mut child = place.start_until(&["run", "s.yaml#outer"], "began");
    let since = Instant::now();
    until("some time has passed", || since.elapsed() > Duration::from_millis(1200));
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    place.write("go", "");
    place.aye(&["resume", "last"]).ok();
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    let mut events = shown["events"].as_array().unwrap().iter();
    let done = events.find(|event| event["type"] == "step_completed").unwrap();
    assert!(done["duration_ms"].as_u64() >= Some(1200), "{done}");
}
