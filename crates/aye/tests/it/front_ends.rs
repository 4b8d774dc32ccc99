//! What the command line, the server and the server for assistants say of the same thing is
//! the same.

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use crate::cli::detach::driver;
use crate::cli::harness::{Place, until};
use crate::mcp::client::{Client, Era};
use crate::serve::client::Served;

fn assistant(place: &Place) -> Client {
    Client::of(place.command(&["mcp"]), Era::Legacy, json!({}), "test-client")
}

/// The names in a list, each with whether it is said to have errors.
fn names(list: &Value, name: &str, broken: impl Fn(&Value) -> bool) -> Vec<(String, bool)> {
    let one = |skill: &Value| (skill[name].as_str().unwrap().to_owned(), broken(skill));
    list.as_array().unwrap().iter().map(one).collect()
}

#[test]
fn every_front_end_lists_the_same_skills_with_the_same_errors() {
    let place = Place::new();
    place.write("aye.toml", "[run]\nundefined = \"lenient\"\n");
    place.write(
        "skills/several.yaml",
        "workflows:\n  bad: { steps: [{ name: a, command: echo, foo: 1 }] }\n  \
         good: { steps: [{ name: a, command: echo }] }\n",
    );
    place.write(
        "skills/empty_name.yaml",
        "name: empty_name\nsteps:\n  - { name: a, command: echo, args: ['{{ nobody_knows }}'] }\n",
    );
    place.write("skills/nothing.yaml", "stepz: []\n");
    std::fs::write(place.work().join("skills/unreadable.yaml"), b"name: \xff\n").unwrap();
    place.aye(&["trust", "--yes"]).ok();
    // It runs: a name that is not defined is empty in this project.
    place.aye(&["run", "empty_name"]).ok();
    let wanted: Vec<(String, bool)> = [
        ("empty_name", false),
        ("nothing", true),
        ("bad", true),
        ("good", false),
        ("unreadable", true),
    ]
    .map(|(name, broken)| (name.to_owned(), broken))
    .into();
    let has_errors = |skill: &Value| skill["errors"] != 0;
    let listed = place.aye(&["list", "--json"]).ok().json();
    assert_eq!(names(&listed, "name", has_errors), wanted, "{listed}");
    place.aye(&["graph", "empty_name"]).ok();
    let said = place.aye(&["graph", "bad"]);
    assert!(said.code == 2 && said.stderr.contains("unknown key `foo`"), "{}", said.all());
    let mut client = assistant(&place);
    let told = client.call("skill_list", json!({})).ok();
    let is_broken = |skill: &Value| skill["broken"] == true;
    assert_eq!(names(&told["skills"], "skill", is_broken), wanted, "{told}");
    let resources = client.request("resources/list", json!({}))["result"]["resources"].clone();
    for (name, broken) in &wanted {
        let uri = format!("aye://skills/{name}");
        let found = resources.as_array().unwrap().iter().find(|one| one["uri"] == uri.as_str());
        let about = found.expect("it is listed")["description"].as_str().unwrap();
        assert_eq!(about.contains("has errors"), *broken, "{name}: {about}");
    }
    drop(client);
    let server = Served::at(place);
    let page = server.get("/api/v1/skills").ok();
    assert_eq!(names(&page["skills"], "skill", has_errors), wanted, "{page}");
    assert_eq!(server.get("/api/v1/skills/empty_name").ok()["errors"], 0);
    let refused = server.get("/api/v1/skills/bad").json().to_string();
    assert!(refused.contains("unknown key `foo`"), "{refused}");
}

#[test]
fn every_front_end_says_alike_which_inputs_have_to_be_given() {
    let place = Place::new();
    place.write(
        "skills/inputs.yaml",
        "name: inputs\ninputs:\n  - { name: must, required: true }\n  \
         - { name: usual, required: true, default: stage }\n  \
         - { name: read, type: secret, required: true, from: { env: HOME } }\n\
         steps:\n  - { name: a, command: echo }\n",
    );
    place.aye(&["trust", "--yes"]).ok();
    let required = |inputs: &Value| -> Vec<String> {
        let inputs = inputs.as_array().unwrap().iter().filter(|input| input["required"] == true);
        inputs.map(|input| input["name"].as_str().unwrap().to_owned()).collect()
    };
    let listed = place.aye(&["list", "--json"]).ok().json();
    assert_eq!(required(&listed[0]["inputs"]), ["must"], "{listed}");
    let mut client = assistant(&place);
    let told = client.call("skill_list", json!({}));
    assert_eq!(required(&told.ok()["skills"][0]["inputs"]), ["must"], "{}", told.text());
    assert!(told.text().contains("(needs: must)"), "{}", told.text());
    let told = client.call("skill_describe", json!({ "skill": "inputs" }));
    assert_eq!(required(&told.ok()["inputs"]), ["must"], "{}", told.text());
    drop(client);
    let server = Served::at(place);
    let view = server.get("/api/v1/skills/inputs").ok();
    assert_eq!(view["inputs"]["required"], json!(["must"]), "{view}");
}

#[test]
fn every_front_end_has_the_same_word_for_a_run_whose_driver_died() {
    let place = Place::new();
    let long = "name: long\nsteps:\n  \
                - { name: wait, shell: 'touch begun; until test -e go; do sleep 0.02; done' }\n";
    place.write("skills/long.yaml", long);
    place.aye(&["trust", "--yes"]).ok();
    let mut child = place.start_until(&["run", "long"], "begun");
    let mut client = assistant(&place);
    let run = place.last();
    let told = client.call("run_list", json!({})).ok();
    assert_eq!(told["runs"][0]["status"], "running", "{told}");
    kill_process(driver(&place, &run).expect("someone drives it"), Signal::KILL).unwrap();
    child.wait().unwrap();
    until("it is cut off", || place.aye(&["runs", "--json"]).ok().json()[0]["status"] == "cut-off");
    for wanted in [json!({}), json!({ "status": "cut-off" })] {
        let told = client.call("run_list", wanted).ok();
        assert_eq!(told["runs"][0]["status"], "cut-off", "{told}");
        let id = told["runs"][0]["execution_id"].clone();
        let told = client.call("skill_status", json!({ "execution_id": id }));
        assert_eq!(told.status(), "cut-off", "{}", told.text());
        assert!(told.text().contains(&format!("aye resume {run}")), "{}", told.text());
    }
    let told = client.call("run_list", json!({ "status": "running" })).ok();
    assert_eq!(told["runs"], json!([]));
    let resources = client.request("resources/list", json!({})).to_string();
    assert!(resources.contains("cut-off, began"), "{resources}");
    drop(client);
    let server = Served::at(place);
    assert_eq!(server.get("/api/v1/runs").ok()["runs"][0]["status"], "cut-off");
}

#[test]
fn logs_are_found_by_the_same_paths_for_an_assistant() {
    let place = Place::new();
    place.write(
        "skills/each.yaml",
        "name: each\nsteps:\n  - name: roll\n    foreach: [web1, web2]\n    steps:\n      \
         - { name: say, shell: 'echo on {{ item }}' }\n  \
         - name: sum\n    python: true\n    compute: |\n      result = {\"sum\": 42}\n",
    );
    place.aye(&["trust", "--yes"]).ok();
    let mut client = assistant(&place);
    let ran = client.call("skill_run", json!({ "skill": "each" }));
    assert_eq!(ran.status(), "completed", "{}", ran.text());
    for (path, says) in [("roll[web2]/say", "on web2"), ("roll[0]/say", "on web1")] {
        let typed = place.aye(&["logs", "last", path]).ok();
        assert!(typed.stdout.contains(says), "{}", typed.all());
        let arguments = json!({ "execution_id": ran.id(), "step": path });
        let told = client.call("skill_logs", arguments).ok();
        assert_eq!(told["logs"].as_array().unwrap().len(), 1, "{told}");
        assert_eq!(told["logs"][0]["lines"], json!([says]), "{told}");
    }
    let inside = json!({ "execution_id": ran.id(), "step": "roll" });
    let told = client.call("skill_logs", inside);
    assert!(told.refused().contains("has written nothing"));
    // What a block returned, though a process ran it.
    let told = client.call("skill_logs", json!({ "execution_id": ran.id(), "step": "sum" })).ok();
    assert_eq!(told["logs"][0]["result"], json!({ "sum": 42 }), "{told}");
}

/// The page and the editor say through what an answer came, whatever it was.
#[test]
fn page_and_editor_have_words_for_every_channel() {
    let page = include_str!("../../src/serve/page/views/card.js");
    let editor = include_str!("../../../../editors/vscode/src/question.ts");
    for source in [page, editor] {
        let (_, table) = source.split_once("const CHANNELS").unwrap();
        let (table, _) = table.split_once("};").unwrap();
        for channel in aye_core::question::Channel::ALL {
            let entry = format!("{}: \"", channel.word());
            assert!(table.contains(&entry), "{entry} is not in {table}");
        }
    }
}
