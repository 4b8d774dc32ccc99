//! Runs, skills and memory as resources, and prompts.

use serde_json::{Value, json};

use super::client::{Client, Era, InboxView};

const GATE: &str = "
description: Goes
steps:
  - { name: sure, confirm: { message: 'Go?', timeout: 1h } }";

fn read(client: &mut Client, uri: &str) -> Value {
    client.request("resources/read", json!({ "uri": uri }))
}

#[test]
fn what_is_there_can_be_listed_and_read() {
    let desk = InboxView::with(&[("go", GATE)]);
    for era in [Era::Legacy, Era::Modern] {
        let mut client = Client::that_can(&desk, era, json!({}));
        let asks = client.run("go").ok();
        let run = asks["run"].as_str().unwrap();
        let list = client.request("resources/list", json!({}));
        let uris: Vec<&str> = list["result"]["resources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["uri"].as_str().unwrap())
            .collect();
        for uri in ["aye://skills/go", &format!("aye://runs/{run}"), "aye://memory/fixes"] {
            assert!(uris.contains(&uri), "{uris:?}");
            let got = read(&mut client, uri);
            assert!(got["result"]["contents"][0]["text"].is_string(), "{uri}: {got}");
        }
        let templates = client.request("resources/templates/list", json!({}));
        assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 3);
        let shown = read(&mut client, &format!("aye://runs/{run}"));
        let shown = shown["result"]["contents"][0]["text"].as_str().unwrap();
        let shown: Value = serde_json::from_str(shown).unwrap();
        assert_eq!(shown["execution_id"], asks["execution_id"]);
        for missing in [
            "aye://runs/0000000000",
            "aye://skills/no",
            "file:///etc/passwd",
            "aye://skills/..%2F..%2Fetc%2Fpasswd",
        ] {
            let got = read(&mut client, missing);
            let code = if era == Era::Modern { -32602 } else { -32002 };
            assert_eq!(got["error"]["code"], code, "{missing}: {got}");
        }
    }
}

#[test]
fn subscribers_hear_of_a_run_in_both_eras() {
    let desk = InboxView::with(&[("go", GATE)]);
    for era in [Era::Legacy, Era::Modern] {
        let mut client = Client::that_can(&desk, era, json!({}));
        let asks = client.run("go").ok();
        let uri = format!("aye://runs/{}", asks["run"].as_str().unwrap());
        match era {
            Era::Legacy => {
                let got = client.request("resources/subscribe", json!({ "uri": uri }));
                assert!(got["error"].is_null(), "{got}");
            }
            Era::Modern => {
                let wanted = json!({ "notifications": { "resourceSubscriptions": [uri] } });
                client.post("subscriptions/listen", wanted);
                client.note("notifications/subscriptions/acknowledged");
            }
        }
        desk.aye(&["answer", asks["question"].as_str().unwrap(), "cancel"]).ok();
        let note = client.note("notifications/resources/updated");
        assert_eq!(note["params"]["uri"], uri, "{note}");
    }
}

#[test]
fn subscribers_hear_of_memory_and_skills() {
    let desk = InboxView::with(&[("go", GATE)]);
    let mut client = Client::new(&desk);
    for uri in ["aye://memory/fixes", "aye://skills/go"] {
        let got = client.request("resources/subscribe", json!({ "uri": uri }));
        assert!(got["error"].is_null(), "{got}");
        // It is looked at before it changes; a change that comes sooner is not news.
        let heard = std::cell::Cell::new(false);
        let mut round = 0;
        while !heard.get() {
            round += 1;
            match uri {
                "aye://skills/go" => {
                    desk.write("skills/go.yaml", &format!("name: go\n# {round}\n{GATE}\n"));
                }
                _ => {
                    let error = format!("something failed {}", "again ".repeat(round));
                    client
                        .call(
                            "learn_tool_fix",
                            json!({ "tool": "sh", "error": error, "about": "x", "args": { "1": "y" } }),
                        )
                        .ok();
                }
            }
            client.request("ping", json!({}));
            heard.set(client.notes.iter().any(|note| note["params"]["uri"] == uri));
            assert!(round < 5000, "never heard of {uri}");
        }
    }
}

#[test]
fn prompts_begin_a_conversation() {
    let desk = InboxView::with(&[("go", GATE)]);
    let mut client = Client::new(&desk);
    let list = client.request("prompts/list", json!({}));
    let names: Vec<&Value> =
        list["result"]["prompts"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["run_skill", "diagnose_failure"]);
    let get = json!({ "name": "run_skill", "arguments": { "skill": "go" } });
    let got = client.request("prompts/get", get);
    let text = got["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("`go`") && text.contains("wait for my word"), "{text}");
    let wrong = client.request("prompts/get", json!({ "name": "run_skill" }));
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    let complete = json!({
        "ref": { "type": "ref/prompt", "name": "run_skill" },
        "argument": { "name": "skill", "value": "g" },
    });
    let got = client.request("completion/complete", complete);
    assert_eq!(got["result"]["completion"]["values"], json!(["go"]));
}
