//! Stopping a run: signals, `aye cancel`.

use insta::assert_snapshot;
use rustix::process::Signal;

use super::harness::{Place, signal, until};

const LONG: &str = "\
name: long
steps:
  - name: first
    shell: touch began; while [ ! -e go ]; do sleep 0.02; done; echo over
  - name: second
    shell: echo second
";

const CLEANS: &str = "\
name: cleans
initial: work
states:
  work:
    shell: touch began; while [ ! -e go ]; do sleep 0.02; done
    transitions: { success: end, cancelled: tidy }
  tidy: { shell: touch tidied; echo tidied, transitions: { success: end } }
  end: { type: final }
";

fn place() -> Place {
    let place = Place::new();
    place.write("long.yaml", LONG);
    place.write("cleans.yaml", CLEANS);
    place
}

#[test]
fn an_interrupt_pauses_the_run_and_is_130() {
    let place = place();
    let child = place.start_until(&["run", "long.yaml"], "began");
    signal(&child, Signal::INT);
    let ran = place.finish(child);
    // A second for `INT`, five for `TERM`.
    assert!(ran.stderr.contains("what still runs after 6.0s is killed"), "{}", ran.stderr);
    assert_snapshot!(ran.all(), @r"
    --- stderr
    long  run RUN
    ▸ first  touch began; while [ ! -e go ]; do sleep 0.02; done; echo over
    stopping; what still runs after DURATION is killed, or at once on a second signal
    ? first  Aye was told to stop while the step ran
    ‖ interrupted by SIGINT
    ‖ long is paused  0 steps done
      resume  aye resume RUN
      cancel  aye cancel RUN
    --- exit 130
    ");
    let events = place.aye(&["show", "last", "--json"]).ok().json()["events"].clone();
    let last = &events[events.as_array().unwrap().len() - 1];
    assert_eq!((&last["type"], &last["why"]), (&"skill_paused".into(), &"interrupted".into()));
    assert!(events.as_array().unwrap().iter().any(|e| e["outcome"] == "interrupted"));
    assert_eq!(place.status(), "paused");
}

#[test]
fn a_polite_kill_is_143_a_hangup_129_and_a_quit_131() {
    let stops = [
        (Signal::TERM, "SIGTERM", 143),
        (Signal::HUP, "SIGHUP", 129),
        (Signal::QUIT, "SIGQUIT", 131),
    ];
    for (number, name, code) in stops {
        let place = place();
        let child = place.start_until(&["run", "long.yaml"], "began");
        signal(&child, number);
        let ran = place.finish(child);
        assert_eq!(ran.code, code, "{}", ran.all());
        assert!(ran.stderr.contains(&format!("interrupted by {name}")), "{}", ran.all());
        assert!(ran.stderr.contains("what still runs after 5.0s is killed"), "{}", ran.stderr);
    }
}

#[test]
fn a_running_step_is_cancelled_and_its_clean_up_runs() {
    let place = place();
    let child = place.start_until(&["run", "cleans.yaml"], "began");
    assert_snapshot!(place.aye(&["cancel", "last", "--reason", "wrong commit"]).all(), @r"
    --- stdout
    run RUN is being cancelled: it cleans up first; `aye watch RUN` shows it
    --- exit 0
    ");
    assert_snapshot!(place.finish(child).all(), @r"
    --- stdout
    tidy | tidied
    --- stderr
    cleans  run RUN
    ▸ work  touch began; while [ ! -e go ]; do sleep 0.02; done
    ✗ work  cancelled by USER: wrong commit after DURATION
    ▸ tidy  touch tidied; echo tidied
    ✓ tidy  DURATION
    ✗ cleans cancelled by USER: wrong commit  1 step done
    --- exit 5
    ");
    assert!(place.work().join("tidied").exists());
    assert_snapshot!(place.aye(&["cancel", "last"]).all(), @r"
    --- stderr
    error: run `RUN` has ended already: it was cancelled
    hint: `aye show RUN` shows how
    --- exit 1
    ");
}

#[test]
fn a_running_step_without_clean_up_is_just_stopped() {
    let place = place();
    let child = place.start_until(&["run", "long.yaml"], "began");
    place.aye(&["cancel", "last"]).ok();
    assert_snapshot!(place.finish(child).all(), @r"
    --- stderr
    long  run RUN
    ▸ first  touch began; while [ ! -e go ]; do sleep 0.02; done; echo over
    ✗ first  cancelled by USER after DURATION
    ✗ long cancelled by USER  0 steps done
    --- exit 5
    ");
}

#[test]
fn a_run_that_waits_is_cancelled_at_once() {
    let place = Place::new();
    place.write(
        "asks.yaml",
        "name: asks\nsteps:\n- {name: gate, confirm: { message: 'Go?', timeout: 0 }}\n",
    );
    assert_eq!(place.aye(&["run", "asks.yaml"]).code, 6);
    assert_snapshot!(place.aye(&["cancel", "last"]).all(), @r"
    --- stdout
    run RUN (asks) is cancelled
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["show", "last"]).all(), @r"
    --- stdout
    asks  run RUN by USER on HOST at TIME
    ✗ gate  cancelled
    ✗ asks cancelled by USER  0 steps done
    --- exit 0
    ");
    assert_eq!(place.aye(&["inbox", "--json"]).ok().json(), serde_json::json!([]));
}

#[test]
fn an_interrupted_run_is_cancelled_though_nobody_drives_it() {
    let place = place();
    let child = place.start_until(&["run", "long.yaml"], "began");
    signal(&child, Signal::INT);
    place.finish(child);
    assert_snapshot!(place.aye(&["cancel", "last"]).all(), @r"
    --- stdout
    run RUN (long) is cancelled
    --- exit 0
    ");
    assert_eq!(place.status(), "cancelled");
}

#[test]
fn an_interrupt_during_the_second_step_keeps_the_first() {
    let place = Place::new();
    place.write("s.yaml", "name: s\nsteps:\n- {name: a, shell: echo a >> a}\n- {name: b, shell: 'touch began; while [ ! -e go ]; do sleep 0.02; done', idempotent: true}\n");
    let child = place.start_until(&["run", "s.yaml"], "began");
    signal(&child, Signal::INT);
    assert_eq!(place.finish(child).code, 130);
    place.write("go", "");
    assert_eq!(place.aye(&["resume", "last"]).code, 0);
    assert_eq!(place.read("a"), "a\n");
}

#[test]
fn what_does_not_exist_cannot_be_stopped() {
    let place = place();
    assert_snapshot!(place.aye(&["cancel", "last"]).all(), @r"
    --- stderr
    error: there are no runs yet
    hint: start one with `aye run SKILL`
    --- exit 3
    ");
    place.aye(&["run", "long.yaml", "--only", "second"]).ok();
    assert_snapshot!(place.aye(&["cancel", "zzzz"]).all(), @r"
    --- stderr
    error: there is no run `zzzz`
    hint: `aye runs` lists them
    --- exit 3
    ");
    until("the run ended", || place.status() == "completed");
}
