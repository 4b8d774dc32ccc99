//! `aye run --json`: events as lines, output of steps among them.

use insta::assert_snapshot;
use serde_json::Value;

use super::harness::{Place, Ran};

fn lines(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

#[test]
fn every_event_is_a_line() {
    let place = Place::new();
    place.write("s.yaml", "name: s\nsteps:\n- {name: a, shell: 'echo out; exit 3'}\n");
    let ran = place.aye(&["run", "s.yaml", "--json"]);
    assert_snapshot!(ran.all(), @r#"
    --- stdout
    {"v":1,"run":"RUN","seq":1,"at":"TIME","type":"skill_started","skill":"s","file":"s.yaml","source":"DIGEST","steps":1,"workspace":"PLACE/work","driver":{"user":"USER","host":"HOST","pid":PID},"step_list":[{"name":"a","kind":"shell"}],"started_by":"script","epoch":1}
    {"v":1,"run":"RUN","seq":2,"at":"TIME","type":"step_started","step":"a","execution":1,"attempt":1,"index":0,"machine":"HOST","kind":"shell","command":"echo out; exit 3","argv":["sh","-c","echo out; exit 3"],"deadline":"TIME"}
    {"v":1,"run":"RUN","type":"step_output","step":"a","stream":"stdout","text":"out"}
    {"v":1,"run":"RUN","seq":3,"at":"TIME","type":"step_failed","step":"a","execution":1,"outcome":"failure","message":"exit code 3","process":{"exit_code":3,"duration_ms":N,"stdout":"out\n","left_running":0,"cpu_ms":N},"log":{"stdout":{"bytes":4,"blake3":"DIGEST"}}}
    {"v":1,"run":"RUN","seq":4,"at":"TIME","type":"skill_failed","why":"step_failed","message":"step `a`: exit code 3","step":"a","duration_ms":N}
    {"v":1,"run":"RUN","seq":5,"at":"TIME","type":"memory_learned","kind":"usage","step":"a","message":"","lesson":{"lesson":"failure","failure":{"at":"TIME","tool":"","skill":"s","step":"a","run":"RUN","error":"out","ending":"failed"}}}
    --- exit 1
    "#);
}

#[test]
fn output_is_streamed_as_it_was_written_and_not_journalled() {
    let place = Place::new();
    let script = r#"printf 'tab\there\n\033[31mred\033[0m\n'; echo err >&2; printf half"#;
    place.write(
        "s.yaml",
        &format!("name: s\nsteps:\n- name: a\n  shell: {}\n", serde_json::json!(script)),
    );
    let ran = place.aye(&["run", "s.yaml", "--json"]).ok();
    let lines = lines(&ran);
    let said = |stream: &str| -> Vec<&str> {
        let of =
            lines.iter().filter(|line| line["type"] == "step_output" && line["stream"] == stream);
        of.map(|line| line["text"].as_str().unwrap()).collect()
    };
    assert_eq!(said("stdout"), ["tab\there", "\u{1b}[31mred\u{1b}[0m", "half"]);
    assert_eq!(said("stderr"), ["err"]);
    assert!(lines.iter().all(|line| line["v"] == 1 && line["run"] == lines[0]["run"]));
    let journal = place.aye(&["show", "last", "--json"]).ok().json();
    let journal = journal["events"].as_array().unwrap().clone();
    let streamed: Vec<Value> =
        lines.into_iter().filter(|line| line["type"] != "step_output").collect();
    assert_eq!(journal, streamed, "the rest is the journal, word for word");
}

#[test]
fn a_paused_run_says_so_in_its_last_line() {
    let place = Place::new();
    place.write("s.yaml", "name: s\nsteps:\n- {name: a, confirm: Go?}\n");
    let ran = place.aye(&["run", "s.yaml", "--json", "--no-input"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (6, ""));
    let lines = lines(&ran);
    assert_eq!(lines[lines.len() - 1]["type"], "skill_paused");
    assert_eq!(lines[lines.len() - 2]["type"], "confirmation_required");
}
