//! A message holds everything that decides, or nobody agrees from there: "Refresh the cache?"
//! hides nothing.

use serde_json::{Value, json};

use super::receiver::Receiver;
use super::{configure, place_with};
use crate::cli::harness::{Place, until};

const STDIN: &str = "drop database customers";

/// A harmless question before a step that reads this.
fn gate(stdin: &str) -> String {
    format!(
        "name: gate\nsteps:\n  - name: act\n    command: cat\n    args: [./data]\n    stdin: '{stdin}'\n    \
         env: {{ TARGET: production }}\n    confirmation: {{ message: 'Refresh the cache?', timeout: 0 }}\n"
    )
}

/// A skill that asks, and one channel of the user.
fn place(skill: &str, channel: &str) -> Place {
    let place = place_with(channel);
    place.write("skills/gate.yaml", skill);
    place
}

/// A channel to this receiver with buttons.
fn channel(receiver: &Receiver, kind: &str, more: &str) -> String {
    format!(
        "[notify.it]\nkind = \"{kind}\"\nurl = \"{}\"\nlink = \"https://aye.example\"\nbuttons = true\n{more}\n",
        receiver.url()
    )
}

/// The message about a skill's question.
fn sent(skill: &str, kind: &str, more: &str) -> String {
    let receiver = Receiver::new();
    let place = place(skill, &channel(&receiver, kind, more));
    assert_eq!(place.aye(&["run", "gate", "--no-input"]).code, 6);
    receiver.until(1)[0].body.clone()
}

/// What can be answered from a message.
fn choices(body: &str) -> Vec<String> {
    let body: Value = serde_json::from_str(body).unwrap();
    let labels = |list: &Value| -> Vec<String> {
        let all = list.as_array().into_iter().flatten();
        all.map(|one| one["label"].as_str().unwrap().to_owned()).collect()
    };
    [labels(&body["buttons"]), labels(&body["actions"])].concat()
}

#[test]
fn every_channel_tells_what_decides() {
    for (kind, more) in [
        ("ntfy", "topic = \"t\""),
        ("webhook", ""),
        ("webhook", "template = \"slack\""),
        ("webhook", "template = \"teams\""),
        ("webhook", "template = \"discord\""),
        ("webhook", "template = \"telegram\"\nchat = \"-42\""),
        ("webhook", "body = '{\"x\": {{ text | tojson }}}'"),
    ] {
        let body = sent(&gate(STDIN), kind, more);
        for part in ["cat ./data", "stdin: drop database customers", "env `TARGET`: production"] {
            assert!(body.contains(part), "{kind} {more}: {part} in {body}");
        }
        // A service of which nobody knows what it shows gets a link.
        let answers = matches!(more, "" | "topic = \"t\"");
        assert_eq!(body.contains("token"), answers, "{kind} {more}: {body}");
    }
}

#[test]
fn a_command_gets_what_decides_and_the_buttons() {
    let place = place(
        &gate(STDIN),
        "[notify.it]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", \"cat > \\\"$HOME/told\\\"\"]\n\
         link = \"https://aye.example\"\nbuttons = true\n",
    );
    assert_eq!(place.aye(&["run", "gate", "--no-input"]).code, 6);
    let told = place.read("../told");
    assert!(told.contains("- stdin: drop database customers"), "{told}");
    assert_eq!(choices(&told), ["Proceed", "Cancel"]);
}

#[test]
fn what_is_cut_is_not_agreed_to() {
    let long = format!("{} {STDIN}", "select 1;".repeat(1_000));
    let whole = sent(&gate(STDIN), "ntfy", "topic = \"t\"");
    assert_eq!(choices(&whole), ["Proceed", "Cancel", "Open"]);
    let cut = sent(&gate(&long), "ntfy", "topic = \"t\"");
    assert!(!cut.contains(STDIN), "{cut}");
    assert_eq!(choices(&cut), ["Cancel", "Open"]);
    // This channel cuts nothing.
    let whole = sent(&gate(&long), "webhook", "");
    assert!(whole.contains(STDIN), "{whole}");
    assert_eq!(choices(&whole), ["Proceed", "Cancel"]);
    // Of this nobody has the end.
    let longer = format!("{} {STDIN}", "select 1;".repeat(8_000));
    let cut = sent(&gate(&longer), "webhook", "");
    assert!(!cut.contains(STDIN) && cut.contains("bytes are not shown"), "{}", cut.len());
    assert_eq!(choices(&cut), ["Cancel"]);
}

#[test]
fn a_body_without_the_text_has_no_button_that_agrees() {
    let buttons = "\"buttons\": {{ buttons | tojson }}";
    let with = |text: &str| sent(&gate(STDIN), "webhook", &format!("body = '{{{text}{buttons}}}'"));
    assert_eq!(choices(&with("\"text\": {{ text | tojson }}, ")), ["Proceed", "Cancel"]);
    for text in ["", "\"text\": {{ title | tojson }}, ", "\"text\": {{ text[:40] | tojson }}, "] {
        assert_eq!(choices(&with(text)), ["Cancel"], "{text}");
    }
}

#[test]
fn a_request_for_files_holds_all_of_it_or_takes_no_yes() {
    let long = format!("{} {STDIN}", "select 1;".repeat(8_000));
    for (stdin, choices) in [(STDIN, json!(["proceed", "cancel"])), (&long, json!(["cancel"]))] {
        let place = Place::new();
        place.write("skills/gate.yaml", &gate(stdin));
        configure(&place, "[notify.files]\nkind = \"dropbox\"\ndirectory = \"box\"\n");
        assert_eq!(place.aye(&["run", "gate", "--no-input"]).code, 6);
        let folder = place.path().join(".config/aye/box/requests");
        let mut all = Vec::new();
        until("the request", || {
            let entries = folder.read_dir().into_iter().flatten().flatten();
            all = entries.map(|entry| std::fs::read_to_string(entry.path()).unwrap()).collect();
            !all.is_empty()
        });
        let request: Value = serde_json::from_str(&all[0]).unwrap();
        assert_eq!(request["choices"], choices);
        assert_eq!(all[0].contains(STDIN), stdin == STDIN);
        let facts = request["asked"]["facts"].as_array().unwrap();
        assert!(facts.iter().any(|fact| fact["kind"] == "stdin"), "{request}");
    }
}

#[test]
fn a_choice_comes_with_what_each_answer_runs_and_its_code() {
    let body = sent(
        "name: gate\nsteps:\n  - { name: what, choose: { message: 'Which?', options: [clean, keep], timeout: 0 } }\n  \
         - { name: wipe, command: rm, args: [-r, cache], condition: what == 'clean' }\n  \
         - { name: tell, compute: 'result = what + \"!\"', condition: what == 'keep' }\n",
        "webhook",
        "",
    );
    let text = serde_json::from_str::<Value>(&body).unwrap()["text"].as_str().unwrap().to_owned();
    for part in ["of `wipe`: rm -r cache", "code of `tell`: result = what + \"!\""] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn what_has_changed_and_what_is_not_covered_is_told() {
    let receiver = Receiver::new();
    let skill = "name: gate\nsteps:\n  - { name: act, command: sh, args: [deploy.sh], confirmation: { message: 'Go?', timeout: 0 } }\n";
    let place = place(skill, &channel(&receiver, "webhook", ""));
    place.write("deploy.sh", "true\n");
    assert_eq!(place.aye(&["run", "gate", "--no-input"]).code, 6);
    let text = |at: usize| {
        let body = receiver.until(at + 1)[at].json();
        (body["text"].as_str().unwrap().to_owned(), body["asked"]["changed"].clone())
    };
    let (first, _) = text(0);
    assert!(!first.contains("Changed since"), "{first}");
    let not = "A yes does not cover:\n- files that `deploy.sh` reads, imports or starts\n";
    assert!(first.contains(not), "{first}");
    place.write("deploy.sh", "false\n");
    let id = format!("{}-1", place.last());
    assert_eq!(place.aye(&["answer", &id, "yes", "--resume"]).code, 6);
    let (again, changed) = text(1);
    assert!(again.contains("Changed since the last yes:\n- file `deploy.sh`: "), "{again}");
    assert_eq!(changed[0]["what"], "file `deploy.sh`");
}
