//! Servers that other people's code makes, which ask in the middle of a call.

use serde_json::Value;

use super::harness::{list, node_server, python_server};
use crate::cli::harness::{Place, until};

/// A run in the background that calls this tool of this server.
fn start(argv: &[String], tool: &str) -> (Place, String) {
    let place = Place::new();
    // On a busy machine it starts slowly.
    let time = "start_timeout = \"6m\"\ntimeout = \"10m\"\n";
    place.write("aye.toml", &format!("[tools.it]\nserver = {}\n{time}", list(argv)));
    place.write(
        "skill.yaml",
        &format!(
            "name: caller\nsteps:\n  - {{ name: call, tool: it.{tool}, output: said }}\noutputs:\n  - {{ name: said, value: '{{{{ said }}}}' }}\n"
        ),
    );
    place.aye(&["tools", "trust", "--yes"]).ok();
    let run = place.aye(&["run", "skill.yaml", "--detach", "-q"]).ok().stdout.trim().to_owned();
    (place, run)
}

/// Answers the question of this number, once it is asked, and gives it.
fn answer(place: &Place, run: &str, number: usize, choice: &str) -> Value {
    let id = format!("{run}_1_1-{number}");
    let mut asked = Value::Null;
    until(&id, || {
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        asked = inbox[0].clone();
        asked["question"] == id.as_str()
    });
    place.aye(&["answer", &id, "--", choice]).ok();
    asked
}

/// What the tool said in the end.
fn said(place: &Place, run: &str) -> String {
    until("the end", || place.status() == "completed");
    place.aye(&["show", run, "--json"]).ok().stdout
}

#[test]
fn everything_asks_for_everything() {
    let argv = node_server("server-everything");
    let (place, run) = start(&argv, "trigger-elicitation-request");
    let first = answer(&place, &run, 1, "answer");
    assert_eq!(first["title"], "it asks");
    let message = first["message"].as_str().expect("text");
    assert!(message.contains("> Please provide inputs"), "{message}");
    // name, check, firstLine, email, homepage, birthdate, integer, number
    let answers = ["Ann", "yes", "", "ann@example.com", "", "2026-11-16", "42", "2.5"];
    for (at, choice) in answers.into_iter().enumerate() {
        answer(&place, &run, at + 2, choice);
    }
    let said = said(&place, &run);
    for part in [
        "User provided the requested information",
        "- Name: Ann",
        "- Agreed to terms: true",
        "- Email: ann@example.com",
        "- Birthdate: 2026-11-16",
        "- Favorite Integer: 42",
        "- Favorite Number: 2.5",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("- Homepage"), "it was left out: {said}");
}

#[test]
fn everything_takes_a_no() {
    let argv = node_server("server-everything");
    let (place, run) = start(&argv, "trigger-elicitation-request");
    answer(&place, &run, 1, "decline");
    let said = said(&place, &run);
    assert!(said.contains("User declined"), "{said}");
}

#[test]
fn the_sdk_of_2026_asks_and_is_called_again() {
    let argv = python_server("python", "2026");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/tools/asking.py").to_owned();
    let (place, run) = start(&[argv, vec![script]].concat(), "book");
    answer(&place, &run, 1, "answer");
    answer(&place, &run, 2, "7");
    let said = said(&place, &run);
    assert!(said.contains("accept {'seat': 7} in row 7"), "{said}");
}
