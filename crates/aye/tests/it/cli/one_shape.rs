//! An item looks the same wherever JSON tells of it.

use serde_json::{Value, json};

use super::harness::Place;

const SKILL: &str = "
name: roll
steps:
- name: roll
  foreach: [web-1, web-2]
  steps:
  - { name: stop, shell: 'echo stopping {{ item }}' }
  - { name: go, confirm: { message: 'Go?', timeout: 0 } }
";

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn an_item_has_number_value_and_label_everywhere() {
    let place = Place::new();
    place.write("roll.yaml", SKILL);
    let ran = place.aye(&["run", "roll.yaml", "--yes", "--json"]).ok();
    let item = json!({ "index": 1, "value": "web-2", "label": "web-2" });
    let about = |line: &Value| (line["path"].clone(), line["item"].clone(), line["text"].clone());
    let wanted = (json!(["roll[web-2]"]), item.clone(), json!("stopping web-2"));
    let output = |text: &str| -> Vec<Value> {
        lines(text).into_iter().filter(|line| line["type"] == "step_output").collect()
    };
    assert_eq!(about(&output(&ran.stdout)[1]), wanted);
    let logs = place.aye(&["logs", "--json"]).ok();
    assert_eq!(about(&output(&logs.stdout)[1]), wanted);
    let shown = place.aye(&["show", "--json"]).ok().json();
    assert_eq!(shown["runs"][1]["item"], item);
    assert_eq!(shown["decisions"][1]["item"], item);
    let place = Place::new();
    place.write("roll.yaml", &SKILL.replace("web-1, web-2", "web-2"));
    assert_eq!(place.aye(&["run", "roll.yaml", "--no-input"]).code, 6);
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let item = json!({ "index": 0, "value": "web-2", "label": "web-2" });
    assert_eq!(inbox[0]["item"], item);
}

#[test]
fn a_long_argument_is_cut_in_a_pipe_and_whole_in_the_record() {
    let place = Place::new();
    let long = "x".repeat(5000);
    place.write(
        "s.yaml",
        &format!("name: s\nsteps:\n- {{ name: a, command: echo, args: [{long}] }}\n"),
    );
    let ran = place.aye(&["run", "s.yaml"]).ok();
    let begins = ran.stderr.lines().find(|line| line.contains("▸ a")).unwrap();
    assert!(begins.chars().count() < 250 && begins.ends_with('…'), "{begins}");
    assert!(place.aye(&["show"]).ok().stdout.contains(&long));
}
