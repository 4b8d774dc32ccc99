//! `aye stats`: how a skill did over its last runs.

use serde_json::{Value, json};

use super::harness::{Place, signal, until};

const SKILL: &str = "\
name: s
inputs: [{ name: code, default: '0' }]
steps:
  - { name: ask, confirm: Go? }
  - { name: work, shell: 'exit {{ inputs.code }}' }
  - { name: last, command: 'true' }
";

/// Two runs that went well, one that failed, one that was declined, one that waits.
fn place() -> Place {
    let place = Place::new();
    place.write("s.yaml", SKILL);
    let run = |code: &str, exit: i32| {
        let ran = place.aye(&["run", "s.yaml", "--yes", "-i", code]);
        assert_eq!(ran.code, exit, "{}", ran.all());
    };
    run("code=0", 0);
    run("code=3", 1);
    run("code=0", 0);
    for answer in ["cancel", ""] {
        assert_eq!(place.aye(&["run", "s.yaml", "--no-input"]).code, 6);
        let question = format!("{}-1", place.last());
        if !answer.is_empty() {
            assert_eq!(place.aye(&["answer", &question, answer, "--resume"]).code, 5);
        }
    }
    place
}

/// It was stopped, and then cancelled: that is one execution, and no failure.
#[test]
fn an_interrupted_step_ran_once_and_did_not_fail() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s
steps:
  - { name: work, shell: touch began; sleep 100 }
finally:
  - { name: tidy, shell: 'true' }
",
    );
    let child = place.start_until(&["run", "s.yaml"], "began");
    signal(&child, rustix::process::Signal::INT);
    assert_eq!(place.finish(child).code, 130);
    place.aye(&["cancel", "last"]).ok();
    let stats = place.aye(&["stats", "s", "--json"]).ok().json();
    let work = &stats["steps"][0];
    assert_eq!(
        (&work["step"], &work["count"], &work["failed"]),
        (&json!("work"), &json!(1), &json!(0))
    );
    let none = place.aye(&["stats", "s", "--last", "0"]);
    assert_eq!(none.code, 2, "{}", none.all());
}

#[test]
fn an_exit_code_with_a_transition_is_no_failure() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s
initial: look
states:
  look: { shell: exit 3, transitions: { success: good, 3: bad } }
  good: { type: final }
  bad: { type: final, status: completed }
",
    );
    place.aye(&["run", "s.yaml"]).ok();
    let stats = place.aye(&["stats", "s", "--json"]).ok().json();
    let look = &stats["steps"][0];
    assert_eq!((&look["count"], &look["failed"]), (&json!(1), &json!(0)), "{stats}");
    assert!(look["duration_ms"]["median"].is_number(), "{stats}");
}

#[test]
fn figures_are_those_of_the_journal() {
    let place = place();
    let stats = place.aye(&["stats", "s", "--json"]).ok().json();
    let of_runs = |key: &str| -> Vec<Value> {
        stats["runs"].as_array().unwrap().iter().map(|run| run[key].clone()).collect()
    };
    let words = ["completed", "failed", "completed", "cancelled", "paused"];
    assert_eq!(of_runs("status"), words.map(Value::from));
    assert_eq!(of_runs("failed_step")[1], "work");
    assert_eq!(of_runs("duration_ms")[4], Value::Null, "it has not ended");
    let line =
        |list: &str, at: usize, keys: [&str; 3]| keys.map(|key| stats[list][at][key].clone());
    let keys = ["step", "count", "failed"];
    assert_eq!(line("steps", 0, keys), [json!("work"), json!(3), json!(1)]);
    assert_eq!(line("steps", 1, keys), [json!("last"), json!(2), json!(0)]);
    assert_eq!(stats["steps"].as_array().unwrap().len(), 2, "a question is not a step here");
    let keys = ["step", "count", "expired"];
    assert_eq!(
        line("questions", 0, keys),
        [json!("ask"), json!(1), json!(0)],
        "`--yes` asks nobody"
    );
    // A run waited for as long as its question was open, and one with `--yes` not at all.
    let events = place.aye(&["show", of_runs("run")[3].as_str().unwrap(), "--json"]).ok().json();
    let events = events["events"].as_array().unwrap().clone();
    let answered = events.iter().find(|event| event["type"] == "confirmation_answered").unwrap();
    assert_eq!(of_runs("waiting_ms")[3], answered["latency_ms"]);
    assert!(answered["latency_ms"].as_u64() > Some(0), "{answered}");
    assert_eq!(of_runs("waiting_ms")[0], 0);
    // What `aye show` says of a run is what is counted.
    let shown = place.aye(&["show", of_runs("run")[0].as_str().unwrap(), "--json"]).ok().json();
    assert_eq!(of_runs("duration_ms")[0], shown["duration_ms"]);
    for spread in [&stats["duration_ms"], &stats["steps"][0]["duration_ms"]] {
        let [median, max] = ["median", "max"].map(|key| spread[key].as_u64().unwrap());
        assert!(median <= max, "{spread}");
    }
}

#[test]
fn the_newest_runs_count_and_a_time_bounds_them() {
    let place = place();
    let stats = place.aye(&["stats", "s.yaml#s", "--last", "2", "--json"]).ok().json();
    let words: Vec<&Value> =
        stats["runs"].as_array().unwrap().iter().map(|run| &run["status"]).collect();
    assert_eq!(words, [&json!("cancelled"), &json!("paused")]);
    let count = |since: &str| {
        let stats = place.aye(&["stats", "s", "--since", since, "--json"]).ok().json();
        stats["runs"].as_array().unwrap().len()
    };
    assert_eq!((count("1h"), count("2020-01-01")), (5, 5));
    // Two days later.
    let mut later = place.command(&["stats", "s", "--since", "1d"]);
    let later = super::harness::Ran::of(later.env("AYE_TEST_DAYS", "2").output().unwrap(), &place);
    assert_eq!(later.code, 3, "{}", later.all());
    assert!(later.stderr.contains("no runs of `s` since then"), "{}", later.all());
    for (args, code, said) in [
        (&["stats", "s", "--since", "yesterday"][..], 2, "such as `7d`, or a date"),
        (&["stats", "nothing"], 3, "there are no runs of `nothing`"),
    ] {
        let ran = place.aye(args);
        assert_eq!(ran.code, code, "{}", ran.all());
        assert!(ran.stderr.contains(said), "{}", ran.all());
    }
}

#[test]
fn charts_have_letters_that_the_terminal_knows() {
    let place = place();
    let shown = place.aye(&["stats", "s"]).ok().stdout;
    let first = shown.lines().next().unwrap();
    assert_eq!(first, "s  5 runs: 2 completed, 1 failed, 1 cancelled, 1 paused");
    assert!(shown.contains("\noutcome   ✓✗✓−‖  the newest is the last\n"), "{shown}");
    assert!(shown.contains("\nwork"), "{shown}");
    // Only the run that was declined had waited: no bar, no bar, no bar, the highest, no bar.
    let waiting = shown.lines().find_map(|line| line.strip_prefix("waiting   ")).unwrap();
    let (bars, words) = waiting.split_once("  ").unwrap();
    assert_eq!(bars.chars().count(), 5, "{shown}");
    assert_eq!(bars.chars().nth(3), Some('█'), "{shown}");
    assert!(bars.chars().take(3).all(|bar| bar < '█'), "{shown}");
    let stats = place.aye(&["stats", "s", "--json"]).ok().json();
    let longest = aye_runtime::fmt::duration(std::time::Duration::from_millis(
        stats["waiting_ms"]["max"].as_u64().unwrap(),
    ));
    assert!(
        words.starts_with("median ") && words.ends_with(&format!("longest {longest}")),
        "{shown}"
    );
    let plain = place.aye(&["stats", "s", "--plain"]).ok().stdout;
    assert!(plain.contains("\noutcome   +x+-=  the newest is the last\n"), "{plain}");
    assert!(plain.is_ascii(), "{plain}");
}

#[test]
fn a_file_stands_for_its_skill() {
    let place = place();
    let named = place.aye(&["stats", "s", "--json"]).ok().stdout;
    for file in ["s.yaml", "./s.yaml", "s.yaml#s"] {
        assert_eq!(place.aye(&["stats", file, "--json"]).ok().stdout, named, "{file}");
    }
    let missing = place.aye(&["stats", "t.yaml"]);
    assert_eq!(missing.code, 3, "{}", missing.all());
}

/// The first run holds the name until the second has waited for it; the second waits for
/// nothing else.
#[test]
fn time_in_the_queue_of_a_name_is_waiting_and_not_duration() {
    let place = Place::new();
    let wait = "until [ -e go ]; do sleep 0.02; done";
    let skill = format!(
        "name: s\nconcurrency: one\nsteps:\n  - {{ name: work, shell: 'touch began; {wait}' }}\n"
    );
    place.write("s.yaml", &skill);
    let first = place.start_until(&["run", "s.yaml"], "began");
    let queued = || place.aye(&["runs", "--json", "--status", "queued"]).ok().json()[0].clone();
    let second = place.start(&["run", "s.yaml"]);
    until("it has queued for a second", || queued()["duration_ms"].as_u64() > Some(1000));
    place.write("go", "");
    place.finish(first).ok();
    place.finish(second).ok();
    let stats = place.aye(&["stats", "s", "--json"]).ok().json();
    let of = |at: usize, key: &str| stats["runs"][at][key].as_u64().unwrap();
    let run = stats["runs"][1]["run"].as_str().unwrap();
    let shown = place.aye(&["show", run, "--json"]).ok().json();
    let total = shown["duration_ms"].as_u64().unwrap();
    let events = shown["events"].as_array().unwrap();
    let acquired = events.iter().find(|it| it["type"] == "concurrency_acquired").unwrap();
    let waited = acquired["waited_ms"].as_u64().unwrap();
    assert!(waited > 900, "{acquired}");
    let [took, waiting] = ["duration_ms", "waiting_ms"].map(|key| of(1, key));
    assert!(waiting.abs_diff(waited) <= 2, "{stats} {acquired}");
    assert!((took + waiting).abs_diff(total) <= 2, "{stats} {total}");
    assert_eq!(of(0, "waiting_ms"), 0);
    assert_eq!(stats["waiting_ms"]["max"], waiting);
    let shown = place.aye(&["stats", "s"]).ok().stdout;
    assert!(shown.lines().any(|line| line.starts_with("waiting ")), "{shown}");
}
