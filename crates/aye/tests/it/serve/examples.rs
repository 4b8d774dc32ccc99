//! The examples of `docs/reference/server.md` are what the server says and understands.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

use super::client::Served;

pub(super) const PAGE: &str = include_str!("../../../../../docs/reference/server.md");

const RELEASE: &str = "
inputs: [ { name: commit, type: string, default: none } ]
steps:
  - { name: build, command: 'true' }
  - { name: confirm_release, confirm: { title: Production release, message: 'Release?', timeout: 5m } }
  - { name: go, command: 'true' }";

/// The examples of a kind, in order.
fn examples(kind: &str) -> Vec<&'static str> {
    let mut blocks = PAGE.split("```");
    blocks.next();
    let inside = blocks.step_by(2);
    inside.filter_map(|block| block.strip_prefix(kind)?.strip_prefix('\n')).collect()
}

/// Every name of an example is one that is really there, of the same kind.
fn fits(example: &Value, real: &Value, place: &str) {
    match (example, real) {
        (Value::Object(example), Value::Object(real)) => {
            for (name, value) in example {
                let found =
                    real.get(name).unwrap_or_else(|| panic!("no `{place}.{name}`: {real:?}"));
                fits(value, found, &format!("{place}.{name}"));
            }
        }
        (Value::Array(example), Value::Array(real)) => {
            if let (Some(example), Some(real)) = (example.first(), real.first()) {
                fits(example, real, &format!("{place}[0]"));
            }
        }
        (example, real) => assert_eq!(
            std::mem::discriminant(example),
            std::mem::discriminant(real),
            "{place}: {example} and {real}"
        ),
    }
}

#[test]
fn the_commands_run() {
    let server = Served::with(&[("release", RELEASE)]);
    let example =
        examples("sh").into_iter().find(|example| example.contains("jq -r .url")).unwrap();
    let ran = Command::new("bash")
        .args(["-ec", example])
        .env("AYE_HOME", server.home())
        .output()
        .expect("bash, curl and jq");
    let printed = String::from_utf8(ran.stdout).unwrap();
    let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success(), "{printed}{errors}");
    let mut told = serde_json::Deserializer::from_str(&printed).into_iter::<Value>();
    let (runs, started) = (told.next().unwrap().unwrap(), told.next().unwrap().unwrap());
    assert_eq!(runs["runs"], json!([]));
    assert_eq!(started["repeated"], false, "{started}");
    let run = server.get(&format!("/api/v1/runs/{}", started["run"].as_str().unwrap())).ok();
    assert_eq!(run["inputs"]["commit"], "abc123");
}

#[test]
fn the_command_that_connects_to_the_socket_runs() {
    let server = Served::with(&[("release", RELEASE)]);
    let example = examples("sh").into_iter().find(|example| example.contains("/ws")).unwrap();
    let mut ran = Command::new("bash")
        .args(["-ec", example])
        .env("AYE_HOME", server.home())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("bash and python3");
    let lines = BufReader::new(ran.stdout.take().unwrap()).lines();
    let mut messages = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert_eq!(messages.next().unwrap()["type"], "snapshot");
    // The run may ask before its start is confirmed.
    let (mut result, mut asked) = (None, None);
    while result.is_none() || asked.is_none() {
        let message = messages.next().expect("a result and a question");
        match message["type"].as_str() {
            Some("result") => result = Some(message),
            Some("confirmation_required") => asked = Some(message),
            _ => {}
        }
    }
    let (result, asked) = (result.unwrap(), asked.unwrap());
    assert_eq!((&result["id"], &result["ok"]), (&json!(1), &json!(true)), "{result}");
    assert_eq!((&asked["run"], &asked["message"]), (&result["run"], &json!("Release?")));
    let group = Pid::from_child(&ran);
    rustix::process::kill_process_group(group, Signal::TERM).unwrap();
    ran.wait().unwrap();
}

#[test]
fn the_messages_are_what_is_said() {
    let server = Served::with(&[("release", RELEASE)]);
    let messages: Vec<Value> = examples("json")
        .into_iter()
        .flat_map(|block| serde_json::Deserializer::from_str(block).into_iter::<Value>())
        .map(|message| message.expect("the examples are JSON"))
        .collect();
    let of = |kind: &str| messages.iter().find(|one| one["type"] == kind).expect(kind);
    let results: Vec<&Value> = messages.iter().filter(|one| one["type"] == "result").collect();

    let ann = server.person("ann", "answer,start");
    let mut socket = server.socket_as(&ann, "/ws");
    socket.snapshot();
    socket.done(json!({ "type": "hello", "kind": "page" }));
    socket.done(json!({ "type": "start", "skill": "release" }));
    let asked = socket.event("confirmation_required");
    socket.done(json!({ "type": "show", "question": asked["question"] }));
    let mut again = server.socket_as(&ann, "/ws");
    fits(of("snapshot"), &again.snapshot(), "snapshot");

    let mut answer = of("answer").clone();
    answer["question"] = asked["question"].clone();
    let wrong = again.command(answer.clone());
    let refusal = results.iter().find(|one| one["ok"] == false).unwrap();
    fits(refusal, &wrong, "result");
    assert_eq!(wrong["error"]["code"], refusal["error"]["code"]);
    answer["digest"] = asked["digest"].clone();
    let taken = again.command(answer);
    fits(results.iter().find(|one| one["ok"] == true).unwrap(), &taken, "result");
    assert_eq!(taken["ok"], true);
    fits(of("confirmation_answered"), &socket.event("confirmation_answered"), "event");

    let problem = messages.iter().find(|one| one["code"] == "decided").unwrap();
    let path = format!("/api/v1/questions/{}/answer", asked["question"].as_str().unwrap());
    let late = server.post(&path, &json!({ "choice": "proceed", "digest": asked["digest"] }));
    assert_eq!(late.problem(409), "decided");
    fits(problem, &late.json(), "problem");
    let file: Value =
        serde_json::from_slice(&std::fs::read(server.home().join("serve.json")).unwrap()).unwrap();
    fits(messages.iter().find(|one| one["pid"].is_number()).unwrap(), &file, "serve.json");
}
