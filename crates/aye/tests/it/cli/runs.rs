//! Looking at runs: `runs`, `show`, `logs`.

use std::io::{BufRead as _, BufReader};

use insta::assert_snapshot;

use super::harness::{Place, Ran, until};

const GOOD: &str = "name: good\nsteps:\n- {name: a, shell: 'echo out; echo err >&2'}\n- {name: b, shell: echo more}\noutputs: [{ name: said, value: '{{ b }}' }]\n";

fn place() -> Place {
    let place = Place::new();
    place.write("good.yaml", GOOD);
    place.write("bad.yaml", "name: bad\nsteps:\n- {name: a, shell: exit 3}\n");
    place.write(
        "asks.yaml",
        "name: asks\nsteps:\n- {name: gate, confirm: { message: 'Go?', timeout: 0 }}\n",
    );
    place
}

fn filled() -> Place {
    let place = place();
    place.aye(&["run", "good.yaml"]).ok();
    place.aye(&["run", "bad.yaml"]);
    place.aye(&["run", "asks.yaml"]);
    place
}

#[test]
fn runs_lists_the_newest_first() {
    assert_snapshot!(place().aye(&["runs"]).all(), @r"
    --- stdout
    no runs; start one with `aye run SKILL`
    --- exit 0
    ");
    assert_snapshot!(filled().aye(&["runs"]).all(), @r"
    --- stdout
    ? RUN  asks  waiting    AGO  at gate
    ✗ RUN  bad   failed     AGO  in DURATION, step `a`: exit code 3
    ✓ RUN  good  completed  AGO  in DURATION
    --- exit 0
    ");
}

#[test]
fn runs_can_be_narrowed() {
    let place = filled();
    assert_snapshot!(place.aye(&["runs", "--status", "failed"]).all(), @r"
    --- stdout
    ✗ RUN  bad  failed     AGO  in DURATION, step `a`: exit code 3
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["runs", "--skill", "good"]).all(), @r"
    --- stdout
    ✓ RUN  good  completed  AGO  in DURATION
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["runs", "-n", "1"]).all(), @r"
    --- stdout
    ? RUN  asks  waiting    AGO  at gate
    older runs: aye runs -n 20
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["runs", "--status", "lost"]).all(), @r"
    --- stderr
    error: `lost` does not fit `--status <STATUS>`
    hint: it is one of: running, queued, waiting, paused, cut-off, completed, failed, cancelled
    --- exit 2
    ");
    assert_snapshot!(place.aye(&["runs", "-n", "x"]).all(), @r"
    --- stderr
    error: `x` does not fit `--limit <COUNT>`: invalid digit found in string
    hint: see `aye --help`
    --- exit 2
    ");
}

#[test]
fn runs_as_json() {
    let place = filled();
    assert_snapshot!(place.aye(&["runs", "--json", "-n", "1"]).all(), @r#"
    --- stdout
    [
      {
        "run": "RUN",
        "skill": "asks",
        "workspace": "PLACE/work",
        "status": "waiting",
        "waiting": 1,
        "driven": false,
        "step": "gate",
        "message": "neither standard input nor standard error is a terminal",
        "environment": null,
        "user":"USER",
        "started": "TIME",
        "updated": "TIME",
        "ended": null,
        "duration_ms":N
      }
    ]
    --- exit 0
    "#);
    assert_eq!(Place::new().aye(&["runs", "--json"]).ok().json(), serde_json::json!([]));
}

#[test]
fn prune_forgets_what_is_old_and_over() {
    let place = filled();
    assert_snapshot!(place.aye(&["runs", "prune"]).all(), @r"
    --- stdout
    forgot 0 runs with 0 events
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["runs", "prune", "--older-than", "0s", "--dry-run"]).all(), @r"
    --- stdout
    would forget 2 runs with 11 events
    --- exit 0
    ");
    assert_eq!(place.aye(&["runs", "--json"]).ok().json().as_array().unwrap().len(), 3);
    let ran = place.aye(&["runs", "prune", "--older-than", "0s", "--json"]).ok().json();
    assert_eq!((&ran["runs"], &ran["dry_run"]), (&2.into(), &false.into()));
    let left = place.aye(&["runs", "--json"]).ok().json();
    assert_eq!(left.as_array().unwrap().len(), 1);
    assert_eq!(left[0]["skill"], "asks", "what is not over stays");
    place.aye(&["audit"]).ok();
    assert_snapshot!(place.aye(&["runs", "prune", "--older-than", "soon"]).all(), @r"
    --- stderr
    error: `soon` is not a duration
    hint: write a time such as `30d` or `DURATION`
    --- exit 2
    ");
    assert_snapshot!(Place::new().aye(&["runs", "prune"]).all(), @r"
    --- stdout
    no runs
    --- exit 0
    ");
}

#[test]
fn prune_keeps_for_ever_where_the_settings_say_so() {
    let place = place();
    place.write("aye.toml", "[journal]\nkeep = \"0s\"\n");
    place.aye(&["run", "good.yaml"]).ok();
    let later = |place: &Place| {
        let output = place.command(&["runs", "prune"]).env("AYE_TEST_DAYS", "60").output();
        Ran::of(output.unwrap(), place).ok().stdout
    };
    assert_eq!(later(&place), "forgot 0 runs with 0 events\n");
    place.write("aye.toml", "");
    assert_eq!(later(&place), "forgot 1 run with 6 events\n");
}

#[test]
fn what_a_project_keeps_is_for_its_own_runs() {
    let place = Place::new();
    for project in ["long", "short"] {
        place.write(
            &format!("{project}/{project}.yaml"),
            &format!("name: {project}\nsteps: [{{ name: a, command: 'true' }}]\n"),
        );
    }
    place.write("short/aye.toml", "[journal]\nkeep = \"1ms\"\n");
    place.aye(&["trust", "short", "--yes"]).ok();
    let run = |project: &str| {
        let file = format!("{project}.yaml");
        let mut command = place.command(&["run", &file, "-q"]);
        let ran = command.current_dir(place.work().join(project)).output().unwrap();
        Ran::of(ran, &place).ok();
    };
    run("long");
    run("short");
    until("a millisecond is over", || {
        run("short");
        let runs = place.aye(&["runs", "--json"]).ok().json();
        let skills: Vec<&str> =
            runs.as_array().unwrap().iter().filter_map(|run| run["skill"].as_str()).collect();
        assert!(skills.contains(&"long"), "{skills:?}");
        skills.len() < 3
    });
}

#[test]
fn show_tells_a_run() {
    let place = filled();
    assert_snapshot!(place.aye(&["show"]).all(), @r"
    --- stdout
    asks  run RUN by USER on HOST at TIME
    ? gate  waiting
    ‖ asks waits for an answer: Go?  0 steps done
      yes → the run ends (completed), no → the run ends (cancelled)
      answer  aye answer RUN-1 (proceed|cancel) --resume
      inbox   aye inbox
      wait    aye resume RUN --detach
      resume  aye resume RUN
      cancel  aye cancel RUN
    --- exit 0
    ");
    let runs = place.aye(&["runs", "--json"]).ok().json();
    let good = runs[2]["run"].as_str().unwrap();
    assert_snapshot!(place.aye(&["show", good]).all(), @r"
    --- stdout
    good  run RUN by USER on HOST at TIME
    ✓ a  completed    DURATION
        $ echo out; echo err >&2
    ✓ b  completed    DURATION
        $ echo more
    ✓ good completed in DURATION  2 steps done
      said: more
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["show", "zzzz"]).all(), @r"
    --- stderr
    error: there is no run `zzzz`
    hint: `aye runs` lists them
    --- exit 3
    ");
    let shown = place.aye(&["show", good, "--json"]).ok().json();
    assert_eq!(shown["status"], "completed");
    assert_eq!(shown["outputs"]["said"], "more");
    assert_eq!(shown["events"].as_array().unwrap().len(), 6);
}

#[test]
fn logs_shows_what_the_steps_wrote() {
    let place = place();
    assert_snapshot!(place.aye(&["logs"]).all(), @r"
    --- stderr
    error: there are no runs yet
    hint: start one with `aye run SKILL`
    --- exit 3
    ");
    place.aye(&["run", "good.yaml"]).ok();
    assert_snapshot!(place.aye(&["logs"]).all(), @r"
    --- stdout
    out
    more
    --- stderr
    == a
    err
    == b
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["logs", "last", "b"]).all(), @r"
    --- stdout
    more
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["logs", "last", "c"]).all(), @r"
    --- stderr
    error: run `RUN` has no step `c`
    hint: `aye show RUN` lists its steps
    --- exit 3
    ");
}

#[test]
fn logs_follows_a_run_that_goes_on() {
    let place = Place::new();
    let wait = |file: &str| format!("while [ ! -e {file} ]; do sleep 0.02; done");
    let skill = format!(
        "name: live\nsteps:\n- {{name: a, shell: 'echo one; touch began; {}; echo two'}}\n- {{name: b, shell: '{}; echo three'}}\n",
        wait("go"),
        wait("on")
    );
    place.write("live.yaml", &skill);
    let run = place.start_until(&["run", "live.yaml"], "began");
    let mut follow = place.start(&["logs", "last", "-f"]);
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    let mut next = || lines.next().map(|line| line.unwrap());
    assert_eq!(next().as_deref(), Some("one"));
    place.write("go", "");
    assert_eq!(next().as_deref(), Some("two"));
    place.write("on", "");
    assert_eq!(next().as_deref(), Some("three"));
    assert_eq!(next(), None, "it ends with the run");
    assert_eq!(follow.wait().unwrap().code(), Some(0));
    assert_eq!(place.finish(run).code, 0);
    until("the run ended", || place.status() == "completed");
}

#[test]
fn logs_of_steps_that_end_without_a_newline() {
    let place = Place::new();
    let skill = "name: half\nsteps:\n- {name: a, shell: printf half}\n- {name: b, shell: 'until [ -e go ]; do sleep 0.02; done; echo more'}\n";
    place.write("half.yaml", skill);
    let run = place.start(&["run", "half.yaml"]);
    until("b runs", || place.aye(&["show", "--json"]).stdout.contains("\"b\""));
    // It is shown while the next step still runs.
    let mut follow = place.start(&["logs", "last", "-f", "--json"]);
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.contains("\"half\""), "{first}");
    place.write("go", "");
    assert!(lines.next().unwrap().unwrap().contains("\"more\""));
    place.finish(run).ok();
    place.finish(follow).ok();
    // The bytes stay what they were, and the heading begins a line.
    assert_snapshot!(place.aye(&["logs"]).all(), @r"
    --- stdout
    halfmore
    --- stderr
    == a

    == b
    --- exit 0
    ");
}

#[test]
fn the_last_lines_of_each_step() {
    let place = Place::new();
    let skill = "name: long\nsteps:\n- {name: a, shell: 'seq 9; printf ten'}\n- {name: b, shell: seq 3 >&2}\n";
    place.write("long.yaml", skill);
    place.aye(&["run", "long.yaml"]).ok();
    for tail in [&["logs", "last", "-n", "2"][..], &["logs", "last", "--tail", "2", "-f"]] {
        let ran = place.aye(tail).ok();
        assert_eq!((&*ran.stdout, &*ran.stderr), ("9\nten\n", "== a\n== b\n2\n3\n"), "{tail:?}");
    }
    assert_eq!(place.aye(&["logs", "last", "a", "-n", "0"]).ok().stdout, "");
    assert_eq!(place.aye(&["logs", "last", "b", "-n", "9"]).ok().stderr, "1\n2\n3\n");
}
