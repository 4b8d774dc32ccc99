//! `--json`: standard output is JSON and nothing else, and so is an error.

use serde_json::Value;

use super::harness::{Place, Ran};

/// The values on standard output: one, or one a line.
fn values(ran: &Ran) -> Vec<Value> {
    let read = serde_json::Deserializer::from_str(&ran.stdout).into_iter();
    read.map(|value| value.unwrap_or_else(|_| panic!("no JSON: {}", ran.all()))).collect()
}

fn paused(skill: &str) -> (Place, String) {
    let place = Place::new();
    place.write("s.yaml", skill);
    assert_eq!(place.aye(&["run", "s.yaml", "--no-input"]).code, 6);
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let id = inbox[0]["question"].as_str().unwrap().to_owned();
    (place, id)
}

const ASKS: &str = "name: s\nsteps:\n- {name: a, confirm: Go?}\n- {name: b, command: 'true'}\n";

#[test]
fn an_answer_is_the_event_of_the_journal() {
    let (place, question) = paused(ASKS);
    let ran = place.aye(&["answer", &question, "proceed", "--reason", "ok", "--json"]).ok();
    let events = place.aye(&["show", "last", "--json"]).ok().json()["events"].clone();
    let recorded = events.as_array().unwrap().iter().find(|e| e["type"] == "confirmation_answered");
    assert_eq!(values(&ran), [recorded.unwrap().clone()]);
    assert!(ran.stderr.contains("resume it with: aye resume"), "{}", ran.all());
}

#[test]
fn the_inbox_has_the_question_as_the_journal_has_it() {
    let (place, _) = paused(&ASKS.replace("Go?", "{ message: Go?, by: [ann, bob], approvals: 2 }"));
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let events = place.aye(&["show", "last", "--json"]).ok().json()["events"].clone();
    let mut events = events.as_array().unwrap().iter();
    let asked = events.find(|event| event["type"] == "confirmation_required").unwrap();
    let question = inbox[0]["details"].as_object().unwrap();
    assert_eq!((&question["approvals"], &inbox[0]["agreed"]), (&2.into(), &0.into()));
    assert!(question.iter().all(|(key, value)| asked[key] == *value), "{asked}");
}

/// `options` are offers with label and action, wherever they stand; what can be
/// answered now has a name of its own.
#[test]
fn options_and_answers_are_two_things() {
    let (place, _) = paused(ASKS);
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    assert_eq!(inbox[0]["answers"], serde_json::json!(["proceed", "cancel"]));
    assert_eq!(inbox[0]["options"], Value::Null);
    assert_eq!(inbox[0]["details"]["options"][0]["label"], "Proceed");
}

#[test]
fn a_graph_has_the_names_of_the_other_views() {
    let (place, _) = paused(ASKS);
    let graph = place.aye(&["graph", "s.yaml", "--json"]).ok().json();
    assert_eq!(graph["skill"], "s");
    let node = |at: usize| &graph["nodes"][at];
    assert_eq!((&node(0)["step"], &node(0)["kind"]), (&"a".into(), &"confirm".into()));
    assert_eq!((&node(0)["message"], &node(0)["command"]), (&"Go?".into(), &Value::Null));
    assert_eq!((&node(1)["kind"], &node(1)["command"]), (&"command".into(), &"true".into()));
    assert_eq!((&node(2)["kind"], &node(2)["status"]), (&"final".into(), &"completed".into()));
}

#[test]
fn an_answer_that_goes_on_is_followed_by_the_run() {
    let (place, question) = paused(ASKS);
    let ran = place.aye(&["answer", &question, "proceed", "--remember", "--resume", "--json"]).ok();
    let said = values(&ran);
    assert_eq!(said[0]["type"], "confirmation_answered");
    assert_eq!(said[said.len() - 1]["type"], "skill_completed");
}

#[test]
fn a_cancelled_run_is_as_it_is_listed() {
    let (place, _) = paused(ASKS);
    let said = values(&place.aye(&["cancel", "last", "--json"]).ok());
    let listed = place.aye(&["runs", "--json"]).ok().json();
    assert_eq!(Value::Array(said), listed);
    assert_eq!(listed[0]["status"], "cancelled");
}

#[test]
fn an_error_is_one_line() {
    let (place, question) = paused(ASKS);
    for (args, code) in [
        (&["answer", "nothing-1", "proceed", "--json"][..], 3),
        (&["answer", &question, "maybe", "--json"], 1),
        (&["answer", &question, "--json"], 6),
        (&["patch", "last", "--json"], 1),
        (&["runs", "--json", "--frobnicate"], 2),
        (&["show", "nothing", "--json"], 3),
    ] {
        let ran = place.aye(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{}", ran.all());
        let error: Value = serde_json::from_str(&ran.stderr).expect("one value");
        assert_eq!(error["exit_code"], code);
        assert!(error["error"].is_string() && ran.stderr.lines().count() == 1, "{error}");
    }
}

#[test]
fn no_verb_prints_words() {
    let place = Place::new();
    for args in [
        &["runs", "prune"][..],
        &["init", "hello"],
        &["list"],
        &["check"],
        &["graph", "hello"],
        &["runs"],
        &["inbox"],
        &["doctor"],
        &["schema"],
        &["auth", "setup"],
        &["auth", "status"],
        &["mcp", "token"],
        &["mcp", "install", "claude", "--yes"],
        &["mcp", "install", "claude", "--yes"],
        &["tools", "list"],
        &["memory", "list"],
        &["memory", "stats"],
        &["memory", "learn", "--error", "manifest unknown", "--meaning", "no such tag"],
        &["memory", "check", "manifest unknown"],
        &["run", "hello", "--dry-run"],
        &["run", "hello", "--no-input"],
        &["audit"],
        &["logs", "last"],
        &["show", "last"],
        &["resume", "last", "--no-input"],
        &["cancel", "last"],
    ] {
        let ran = place.aye(&[args, &["--json"]].concat());
        assert!(!values(&ran).is_empty() || args == ["logs", "last"], "{args:?}: {}", ran.all());
        assert!(!ran.stderr.contains("error"), "{args:?}: {}", ran.all());
    }
    place.write("aye.toml", "[tools.git]\nserver = [\"true\"]\n");
    assert_eq!(
        values(&place.aye(&["tools", "forget", "git", "--json"]).ok()),
        [serde_json::json!({ "forgotten": [] })]
    );
}
