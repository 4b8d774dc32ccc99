//! More processes than slots wait, and are shown as waiting.

use serde_json::Value;

use super::harness::{Place, until};

/// Each item says that it began, and continues when it is told to.
const MANY: &str = "name: many
steps:
  - name: each
    foreach: '{{ range(50) }}'
    parallel: 50
    shell: 'touch began-{{ item }}; while [ ! -e go ]; do sleep 0.05; done; touch done-{{ item }}'
";

fn files(place: &Place, prefix: &str) -> usize {
    let entries = std::fs::read_dir(place.work()).unwrap();
    entries
        .filter(|one| one.as_ref().unwrap().file_name().to_string_lossy().starts_with(prefix))
        .count()
}

#[test]
fn ten_of_fifty_run_and_forty_wait_for_a_slot() {
    let place = Place::new();
    place.write("many.yaml", MANY);
    let child = place.start(&["run", "many.yaml", "--json"]);
    let waiting = || place.aye(&["show", "last"]).all().matches("waiting for a slot").count();
    until("ten items run and the others wait", || files(&place, "began-") == 10 && waiting() == 40);
    place.write("go", "");
    let ran = place.finish(child).ok();
    assert_eq!(files(&place, "done-"), 50);
    let events: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    assert_eq!([count("step_queued"), count("step_dequeued")], [40, 40]);
    assert!(!place.aye(&["show", "last"]).ok().all().contains("waiting for a slot"));
    place.aye(&["audit"]).ok();
}

#[test]
fn blocks_and_programs_share_the_slots_and_plain_output_says_who_waits() {
    let place = Place::new();
    place.write("aye.toml", "[run]\nmax_processes = 2\n");
    place.write(
        "s.yaml",
        "name: s\nsteps:\n  - name: each\n    foreach: '{{ range(6) }}'\n    parallel: 6\n    steps:\n      - { name: block, compute: 'result = item + 1' }\n      - { name: line, shell: 'echo {{ block }} >> lines.txt' }\n",
    );
    let ran = place.aye(&["run", "s.yaml"]).ok();
    let mut lines: Vec<String> = place.read("lines.txt").lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["1", "2", "3", "4", "5", "6"]);
    assert!(ran.all().contains("block  waiting for a slot"), "{}", ran.all());
}

#[test]
fn a_run_that_is_cancelled_starts_none_of_those_that_wait() {
    let place = Place::new();
    place.write("many.yaml", MANY);
    let child = place.start(&["run", "many.yaml"]);
    until("ten items run", || files(&place, "began-") == 10);
    place.aye(&["cancel", "last"]).ok();
    let ran = place.finish(child);
    assert_eq!(ran.code, 5, "{}", ran.all());
    assert_eq!([files(&place, "began-"), files(&place, "done-")], [10, 0]);
}
