//! What steps leave behind, what becomes of it, and who is told.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::process::Child;

use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};

use crate::needs;

use super::hardening::left_of;
use super::harness::{Place, Ran, signal, until};

/// A step that leaves a process behind, with and without its output.
const LEAVES: &str = "\
name: leaves
steps:
  - { name: quiet, shell: 'setsid sleep 555 >/dev/null 2>&1 </dev/null & echo hi' }
  - { name: loud, shell: 'sleep 555 & sleep 556 & echo hi' }
  - { name: fails, shell: 'sleep 555 & exit 3' }
";

#[test]
fn what_a_step_left_behind_is_said_live_and_afterwards() {
    let place = Place::new();
    place.write("s.yaml", LEAVES);
    assert_snapshot!(place.aye(&["run", "s.yaml"]).all(), @r"
    --- stdout
    quiet | hi
    loud | hi
    --- stderr
    leaves  run RUN
    ▸ quiet  setsid sleep 555 >/dev/null 2>&1 </dev/null & echo hi
    ✓ quiet  DURATION, left a process behind, which was ended
    ▸ loud  sleep 555 & sleep 556 & echo hi
    ✓ loud  DURATION, left 2 processes behind, which were ended
    ▸ fails  sleep 555 & exit 3
    ✗ fails  exit code 3 after DURATION, left a process behind, which was ended
    ✗ leaves failed: step `fails`: exit code 3  2 steps done, 1 failed
      try again  aye retry RUN
    --- exit 1
    ");
    assert_snapshot!(place.aye(&["show", "last"]).ok().all(), @r"
    --- stdout
    leaves  run RUN by USER on HOST at TIME
    ✓ quiet  completed    DURATION, left a process behind, which was ended
        $ setsid sleep 555 >/dev/null 2>&1 </dev/null & echo hi
    ✓ loud   completed    DURATION, left 2 processes behind, which were ended
        $ sleep 555 & sleep 556 & echo hi
    ✗ fails  failed       DURATION, exit code 3, left a process behind, which was ended
        $ sleep 555 & exit 3
    ✗ leaves failed: step `fails`: exit code 3  2 steps done, 1 failed
      try again  aye retry RUN
    --- exit 0
    ");
}

/// A place where an ordinary user has a program that makes root of itself.
fn of_an_ordinary_user() -> Place {
    let place = Place::new();
    let given = [place.path().to_owned(), place.work()];
    let tool = place.work().join("as-root");
    std::fs::copy("/usr/bin/setpriv", &tool).expect("`setpriv`, of util-linux");
    for path in given {
        chown(path, Some(65_534), Some(65_534)).unwrap();
    }
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o4755)).unwrap();
    place
}

fn as_ordinary_user(place: &Place, args: &[&str]) -> Ran {
    let output = place.command(args).uid(65_534).gid(65_534).output().unwrap();
    Ran::of(output, place)
}

#[test]
fn what_cannot_be_ended_is_named_at_its_step() {
    if !needs::root("a process that its user cannot end") {
        return;
    }
    let place = of_an_ordinary_user();
    let become_root = "./as-root --reuid 0 --regid 0 --clear-groups";
    let skill = format!(
        "workflows:\n  left: {{ steps: [{{ name: a, shell: '{become_root} sleep 555 & while ! \
         grep -q sleep /proc/$!/comm; do :; done; echo hi' }}] }}\n  late: {{ steps: [{{ name: a, \
         shell: 'exec {become_root} sleep 555', timeout: 1s }}] }}\n"
    );
    place.write("s.yaml", &skill);
    place.write("aye.toml", "[run]\ngrace = \"0s\"\n");
    for (skill, step) in [
        ("s.yaml#left", "✓ a  DURATION, could not end process PID (sleep)\n"),
        (
            "s.yaml#late",
            "✗ a  timed out after DURATION, stopped after DURATION, could not end process PID (sleep)\n",
        ),
    ] {
        let ran = as_ordinary_user(&place, &["run", skill]).all();
        let shown = as_ordinary_user(&place, &["show", "last"]).all();
        let json = as_ordinary_user(&place, &["show", "last", "--json"]).ok().json();
        let left = &json["steps"]["a"]["process"]["left"];
        let pid = i32::try_from(left[0]["pid"].as_i64().unwrap()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
        assert!(ran.contains(step), "{ran}");
        assert!(ran.contains("1 process left running"), "{ran}");
        assert!(shown.contains(", could not end process PID (sleep)\n"), "{shown}");
        assert_eq!((left.as_array().unwrap().len(), &left[0]["name"]), (1, &"sleep".into()));
    }
}

#[test]
fn runs_inside_are_counted_among_what_is_left_running() {
    let place = Place::new();
    let skill = "\
name: par
steps:
  - { name: s, foreach: [1, 2], parallel: 2, shell: 'touch began{{ item }}; while :; do sleep 1; done' }
";
    place.write("par.yaml", skill);
    let child = place.start_until(&["run", "par.yaml"], "began1");
    until("the other begins", || place.work().join("began2").exists());
    signal(&child, Signal::INT);
    let ran = place.finish(child);
    assert!(ran.stderr.contains("‖ par is paused  0 steps done"), "{}", ran.all());
    let shown = place.aye(&["show", "last"]).ok();
    assert!(shown.stdout.contains("is paused  0 steps done"), "{}", shown.all());
}

/// Kills Aye and whoever watches over it: its steps are left.
pub(super) fn cut_off(mut child: Child, place: &Place) -> String {
    let run = place.last();
    let guard = child.id();
    let engines = std::fs::read_to_string(format!("/proc/{guard}/task/{guard}/children")).unwrap();
    // Neither may see the other die.
    signal(&child, Signal::STOP);
    for pid in engines.split_whitespace().map(|pid| pid.parse().unwrap()) {
        kill_process(Pid::from_raw(pid).unwrap(), Signal::STOP).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    run
}

#[test]
fn a_run_that_was_cut_off_says_so_and_what_was_ended() {
    let skill = "\
name: long
steps:
  - { name: a, idempotent: true, shell: 'test -e began && exit; touch began; sleep 555' }
";
    for verb in ["resume", "cancel"] {
        let place = Place::new();
        place.write("s.yaml", skill);
        let child = place.start_until(&["run", "s.yaml"], "began");
        let run = cut_off(child, &place);
        until("the run is cut off", || place.aye(&["runs"]).ok().stdout.contains("cut-off"));
        let shown = place.aye(&["show", &run]).ok().all();
        for part in ["? a  cut off\n", "‖ long was cut off  0 steps done\n", "aye resume RUN\n"] {
            assert!(shown.contains(part), "{shown}");
        }
        let json = place.aye(&["show", &run, "--json"]).ok().json();
        assert_eq!((&json["status"], &json["driven"]), (&"cut-off".into(), &false.into()));
        assert!(left_of(&run) > 0);
        place.aye(&[verb, &run]).ok();
        let shown = place.aye(&["show", &run]).ok().stdout;
        let json = place.aye(&["show", &run, "--json"]).ok().json();
        let told = |event: &&serde_json::Value| !event["ended"].is_null();
        let event = json["events"].as_array().unwrap().iter().find(told).unwrap();
        let count = event["ended"].as_u64().unwrap();
        let counted = if count == 1 { "1 process" } else { &format!("{count} processes") };
        let words = format!(", {counted} ended after it was cut off");
        assert!(count > 0 && shown.contains(&words), "{verb}: {shown}");
    }
}
