//! Steps that fail, and the exit codes they stand for.

use insta::assert_snapshot;

use super::harness::{Place, Ran};

fn run(skill: &str) -> (Place, Ran) {
    let place = Place::new();
    place.write("s.yaml", skill);
    let ran = place.aye(&["run", "s.yaml"]);
    (place, ran)
}

#[test]
fn a_failing_step_ends_the_run() {
    let (place, ran) = run(
        "name: s\nsteps:\n- {name: a, shell: 'echo oops >&2; exit 3'}\n- {name: b, shell: touch b}\n",
    );
    assert_snapshot!(ran.all(), @r"
    --- stderr
    s  run RUN
    ▸ a  echo oops >&2; exit 3
    a | oops
    ✗ a  exit code 3 after DURATION
    ✗ s failed: step `a`: exit code 3  0 steps done, 1 failed
      output     aye logs RUN a
      try again  aye retry RUN
    --- exit 1
    ");
    assert!(!place.work().join("b").exists());
    let ran = place.aye(&["-q", "run", "s.yaml"]);
    assert_snapshot!(ran.all(), @r"
    --- stderr
    oops
    ✗ s failed: step `a`: exit code 3  0 steps done, 1 failed
      output     aye logs RUN a
      try again  aye retry RUN
    --- exit 1
    ");
}

#[test]
fn the_hint_to_try_again_can_be_typed_as_it_stands() {
    let place = Place::new();
    let skill = "inputs: [{ name: who, default: 'a b' }, { name: n, type: integer }]\nsteps:\n- {name: one, shell: touch one}\n- {name: two, shell: test -e go}\n";
    place.write("two.yaml", &format!("name: other\n{skill}"));
    let ran = place.aye(&["run", "two.yaml", "-i", "n=3", "--environment", "stage"]);
    let hint = ran.stderr.lines().find_map(|line| line.trim().strip_prefix("try again")).unwrap();
    assert_eq!(hint.trim(), format!("aye retry {}", place.last()));
    std::fs::remove_file(place.work().join("one")).unwrap();
    place.write("go", "");
    let command = hint.trim().replacen("aye", super::harness::AYE, 1);
    let again = std::process::Command::new("sh")
        .args(["-c", &command])
        .current_dir(place.work())
        .env("AYE_HOME", place.home())
        .status()
        .unwrap();
    assert!(again.success());
    assert!(!place.work().join("one").exists(), "it went on from the step that failed");
}

#[test]
fn a_failure_may_be_passed_over() {
    let (_, ran) = run(
        "name: s\nsteps:\n- {name: a, shell: exit 3, on_error: continue}\n- {name: b, shell: echo on}\n",
    );
    assert_snapshot!(ran.all(), @r"
    --- stdout
    b | on
    --- stderr
    s  run RUN
    ▸ a  exit 3
    ✗ a  exit code 3 after DURATION
    ▸ b  echo on
    ✓ b  DURATION
    ✓ s completed in DURATION  1 step done, 1 failed
    --- exit 0
    ");
}

#[test]
fn a_failure_may_be_asked_about() {
    let (place, ran) = run("name: s\nsteps:\n- {name: a, shell: test -e go, on_error: ask}\n");
    assert_eq!(ran.code, 6, "{}", ran.all());
    place.write("go", "");
    let question = format!("{}-1", place.last());
    place.aye(&["answer", &question, "retry"]);
    let ran = place.aye(&["resume", "last"]);
    assert!(ran.code == 0 || place.status() == "completed", "{}", ran.all());
}

/// A gate that its own text breaks is not passed by saying that it was done.
#[test]
fn a_question_that_cannot_be_put_is_not_answered() {
    let (place, ran) = run("name: s
steps:
- {name: approve, confirm: {message: 'Ship {{ env.NO_SUCH_THING }}?', by: human}, on_error: ask}
- {name: ship, command: touch, args: [shipped]}
");
    assert_eq!(ran.code, 6, "{}", ran.all());
    let question = format!("{}-1", place.last());
    for way_round in ["done", "skip"] {
        assert_ne!(place.aye(&["answer", &question, way_round, "--resume"]).code, 0);
    }
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let offered = &inbox[0]["answers"];
    assert_eq!(*offered, serde_json::json!(["retry", "abort"]), "{inbox}");
    assert!(!place.work().join("shipped").exists());
}

#[test]
fn who_gives_up_one_item_gives_up_the_rest() {
    let (place, ran) = run("name: s
steps:
- name: hosts
  foreach: [h1, h2]
  fail_fast: false
  steps:
  - {name: drain, shell: 'test {{ item }} != h1', on_error: ask}
  - {name: wipe, command: touch, args: ['wiped-{{ item }}']}
");
    assert_eq!(ran.code, 6, "{}", ran.all());
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let question = inbox[0]["question"].as_str().unwrap();
    let ran = place.aye(&["answer", question, "abort", "--resume"]);
    assert_eq!(place.status(), "failed", "{}", ran.all());
    assert!(!place.work().join("wiped-h2").exists(), "{}", ran.all());
}

#[test]
fn a_command_that_is_not_there_is_127() {
    let (_, ran) = run("name: s\nsteps:\n- {name: a, command: no-such-program-anywhere}\n");
    assert_snapshot!(ran.all(), @r"
    --- stderr
    s  run RUN
    ▸ a  no-such-program-anywhere
    ✗ a  command `no-such-program-anywhere` not found
      hint: is it installed and in `PATH`?
    ✗ s failed: step `a`: command `no-such-program-anywhere` not found  0 steps done, 1 failed
      try again  aye retry RUN
    --- exit 127
    ");
}

#[test]
fn a_file_that_cannot_be_executed_is_126() {
    let place = Place::new();
    place.write("script", "echo no\n");
    place.write("s.yaml", "name: s\nsteps:\n- {name: a, command: ./script}\n");
    assert_snapshot!(place.aye(&["run", "s.yaml"]).all(), @r"
    --- stderr
    s  run RUN
    ▸ a  ./script
    ✗ a  `PLACE/work/script` is not executable
      hint: `chmod +x PLACE/work/script`
    ✗ s failed: step `a`: `PLACE/work/script` is not executable  0 steps done, 1 failed
      try again  aye retry RUN
    --- exit 126
    ");
}

#[test]
fn a_step_that_takes_too_long_is_124() {
    let (_, ran) = run("name: s\nsteps:\n- {name: a, shell: sleep 100, timeout: 100ms}\n");
    assert!(ran.stderr.contains("timed out after 100ms, ended (SIGTERM) after "), "{}", ran.stderr);
    assert_snapshot!(ran.all(), @r"
    --- stderr
    s  run RUN
    ▸ a  sleep 100
    ✗ a  timed out after DURATION, ended (SIGTERM) after DURATION
    ✗ s failed: step `a`: timed out after DURATION  0 steps done, 1 failed
      try again  aye retry RUN
    --- exit 124
    ");
}

#[test]
fn how_long_a_step_may_take_to_end_is_a_setting() {
    let place = Place::new();
    place.write("aye.toml", "[run]\ngrace = \"50ms\"\n");
    let script = "trap \"\" TERM; while :; do sleep 1; done";
    place.write(
        "s.yaml",
        &format!("name: s\nsteps:\n- {{name: a, shell: '{script}', timeout: 100ms}}\n"),
    );
    let ran = place.aye(&["run", "s.yaml", "--json"]);
    assert_eq!(ran.code, 124, "{}", ran.all());
    let mut lines = ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let failed = lines.find(|event: &serde_json::Value| event["type"] == "step_failed");
    let took = failed.and_then(|event| event["process"]["duration_ms"].as_u64());
    // Without the setting it would be five seconds.
    assert!(took.is_some_and(|took| took < 5_000), "{took:?} {}", ran.all());

    place.write("aye.toml", "[run]\ngrace = 5\n");
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 2);
}

#[test]
fn a_run_that_takes_too_long_is_124_and_cleans_up() {
    let (place, ran) = run(
        "name: s\ntimeout: 1s\ninitial: a\nstates:\n  a: { shell: sleep 100, transitions: { success: end, timeout: tidy } }\n  tidy: { shell: echo tidied; touch tidied, transitions: { success: end } }\n  end: { type: final }\n",
    );
    assert_snapshot!(ran.all(), @r"
    --- stdout
    tidy | tidied
    --- stderr
    warning[failure-completes]: only failures lead to `tidy`, and the run ends there as completed
      --> s.yaml:6:3
       |
     6 |   tidy: { shell: echo tidied; touch tidied, transitions: { success: end } }
       |   ^^^^
       |
    hint: lead it to a final state with `status: failed`

    s  run RUN
    ▸ a  sleep 100
    ✗ a  the run's time limit was up, ended (SIGTERM) after DURATION
    ▸ tidy  echo tidied; touch tidied
    ✓ tidy  DURATION
    ✗ s failed: the run's time limit was up  1 step done, 1 failed
    --- exit 124
    ");
    assert!(place.work().join("tidied").exists());
}

#[test]
fn a_final_state_that_failed_is_1_and_a_cancelled_one_5() {
    let skill = "name: s\ninitial: a\nstates:\n  a: { shell: exit 1, transitions: { success: end, failure: end } }\n  end: { type: final, status: STATUS }\n";
    let (_, ran) = run(&skill.replace("STATUS", "failed"));
    assert_snapshot!(ran.all(), @r"
    --- stderr
    s  run RUN
    ▸ a  exit 1
    ✗ a  exit code 1 after DURATION
    ✗ s failed: ended in `end`  0 steps done, 1 failed
    --- exit 1
    ");
    let (_, ran) = run(&skill.replace("STATUS", "cancelled"));
    assert_snapshot!(ran.all(), @r"
    --- stderr
    s  run RUN
    ▸ a  exit 1
    ✗ a  exit code 1 after DURATION
    ✗ s cancelled: ended in `end`  0 steps done, 1 failed
    --- exit 5
    ");
}

#[test]
fn a_program_that_died_of_a_signal_says_which() {
    let (_, ran) = run("name: s\nsteps:\n- {name: a, shell: kill -9 $$}\n");
    assert_snapshot!(ran.all(), @r"
    --- stderr
    s  run RUN
    ▸ a  kill -9 $$
    ✗ a  ended by SIGKILL after DURATION
    ✗ s failed: step `a`: ended by SIGKILL  0 steps done, 1 failed
      try again  aye retry RUN
    --- exit 1
    ");
}

#[test]
fn an_error_of_a_block_names_the_line_of_the_file() {
    let place = Place::new();
    let skill = |code: &str| format!("name: f\nsteps:\n  - name: a\n    compute: {code}\n");
    let cases = [
        ("|\n      x = 1\n      result = x.nope", 6),
        ("|  # why\n\n      x = 1\n      # two\n      result = x.nope", 8),
        ("|2-\n\n      x = 1\n      result = x.nope", 7),
        ("\"x = 1\\nresult = x.nope\"", 4),
        ("'{}.nope'", 4),
    ];
    for (code, line) in cases {
        place.write("f.yaml", &skill(code));
        let ran = place.aye(&["run", "f.yaml"]);
        assert_eq!(ran.code, 1, "{}", ran.all());
        assert!(ran.all().contains(&format!("(f.yaml:{line})")), "{code}\n{}", ran.all());
    }
    // With the line breaks of Windows, too.
    place.write("f.yaml", &skill(cases[0].0).replace('\n', "\r\n"));
    assert!(place.aye(&["run", "f.yaml"]).all().contains("(f.yaml:6)"));
}

#[test]
fn output_that_there_is_no_room_for_is_not_lost_in_silence() {
    let place = Place::new();
    place.write("s.yaml", "name: s\nsteps: [{ name: a, command: echo, args: [hi] }]\n");
    for args in [&["run", "s.yaml", "--json"][..], &["run", "s.yaml", "-q"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ran = Ran::of(place.command(args).stdout(full).output().unwrap(), &place).ok();
        let said = "warning: standard output is incomplete: No space left on device (os error 28)";
        assert_eq!(ran.stderr.trim_end(), said);
    }
}

#[test]
fn a_limit_of_memory_is_named_where_it_is_the_likely_cause() {
    let steps = |script: &str| {
        format!("name: s\nsteps:\n- {{name: a, shell: '{script}', max_memory: 64MiB}}\n")
    };
    let (_, ran) = run(&steps("head -c 300m /dev/zero | tail -c 299m > /dev/null; exit 1"));
    let hint = "hint: `max_memory` allows each of its processes 64 MiB";
    assert!(ran.stderr.contains(hint), "{}", ran.all());
    let (_, ran) = run(&steps("exit 1"));
    assert!(!ran.stderr.contains("max_memory"), "{}", ran.all());
}

#[test]
fn an_argument_with_a_zero_byte_is_named() {
    let (_, ran) = run("name: s\nsteps:\n- {name: a, command: echo, args: [x, \"a\\0b\"]}\n");
    assert!(ran.stderr.contains("its argument 2 holds a zero byte"), "{}", ran.all());
}
