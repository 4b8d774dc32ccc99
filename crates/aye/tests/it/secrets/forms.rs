//! A secret in every form that the docs list, looked for everywhere.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::traces::{files, forms, silent};
use crate::cli::harness::{Place, Ran, until};

const TOKEN: &str = "correct/horse battery+\"staple\"";
const ANSWER: &str = "sword&fish+mackerel 12";
const NAMED: &str = "from-the-skills-own-env";

const LEAKY: &str = r#"
name: leaky
inputs: [{ name: token, type: secret, required: true, from: { env: HIDDEN_SOURCE } }]
steps:
  - { name: code, input: { message: "Code?", secret: true, timeout: 0 }, output: code }
  - name: plain
    shell: |
      for v in {{ inputs.token }} {{ code }}; do
        printf '%s\n' "$v"; printf '%s\n' "$v" >&2
        printf %s "$v" | base64 -w0; echo; printf 'u:%s' "$v" | base64 -w0; echo
        printf 'us:%s' "$v" | base64 -w0; echo
      done
  - name: coloured
    shell: |
      for v in {{ inputs.token }} {{ code }}; do
        printf '%s' "$v" | sed 's/./&\x1b[1;31m/g; s/$/\x1b[0m\n/'
        printf '%s' "$v" | cut -c1-7 | tr -d '\n'; sleep 0.05; printf '\033[32m'; printf '%s\n' "$v" | cut -c8-
      done
  - name: named
    shell: 'printf "%s\n" "$DEPLOY_TOKEN"; printf %s "$DEPLOY_TOKEN" | base64'
    env: { DEPLOY_TOKEN: "NAMED", KEY_FILE: /etc/hostname }
  - name: web
    python: true
    compute: |
      from urllib.parse import quote
      print("token is", inputs["token"], code)
      result = {"url": "https://x/?t=" + quote(inputs["token"], safe=""), "code": [code + "!"]}
  - name: fails
    shell: 'echo "error: {{ inputs.token }} was refused" >&2; exit 3'
    on_error: continue
  - name: sure
    confirm: { message: "Use {{ inputs.token }} and {{ code }}?", timeout: 0 }
outputs:
  - { name: all, value: "{{ inputs.token }} {{ code }}" }
"#;

fn place() -> Place {
    let place = Place::new();
    place.write("leaky.yaml", &LEAKY.replace("NAMED", NAMED));
    place
}

fn with_token(place: &Place, args: &[&str]) -> Ran {
    Ran::of(place.command(args).env("HIDDEN_SOURCE", TOKEN).output().unwrap(), place)
}

fn question(place: &Place, purpose: &str) -> String {
    let mut id = String::new();
    until(purpose, || {
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        let open = inbox.as_array().unwrap().iter().find(|row| row["step"] == purpose);
        id = open.map(|row| row["question"].as_str().unwrap().to_owned()).unwrap_or_default();
        !id.is_empty()
    });
    id
}

/// Without what the skill file itself says: its text is in the journal.
fn needles() -> Vec<String> {
    [forms(TOKEN), forms(ANSWER)].concat()
}

#[test]
fn a_secret_is_nowhere_in_any_form_that_is_listed() {
    let place = place();
    let mut printed: BTreeMap<&str, String> = BTreeMap::new();
    let dry = with_token(&place, &["run", "leaky.yaml", "--dry-run"]).ok();
    assert!(dry.stdout.contains("*** from environment variable `HIDDEN_SOURCE`"), "{}", dry.all());
    printed.insert("dry run", dry.all());
    let started = with_token(&place, &["run", "leaky.yaml", "--detach", "-q"]).ok();
    printed.insert("start", started.all());
    let id = question(&place, "code");
    printed.insert("answer", place.aye(&["answer", &id, ANSWER, "--no-input"]).ok().all());
    let sure = question(&place, "sure");
    // While the question is open and its driver lives: what everybody is told.
    silent(&files(&place.home()), &needles());
    for args in [
        &["inbox", "--json"][..],
        &["show", "last"],
        &["show", "last", "--json"],
        &["show", "last", "--markdown"],
        &["logs", "last"],
        &["runs", "--json"],
        &["memory", "list", "--json"],
    ] {
        printed.insert(args[args.len() - 1], place.aye(args).all());
    }
    let told = mcp(&place, "inbox", "");
    let id = regex_lite::Regex::new(r#""execution_id":"([\w.~-]+)"#).unwrap();
    let id = id.captures(&told).unwrap_or_else(|| panic!("no id: {told}"))[1].to_owned();
    let status = mcp(&place, "skill_status", &id);
    assert!(status.contains("Use *** and ***?"), "{status}");
    let logs = mcp(&place, "skill_logs", &id);
    assert!(logs.contains("***"), "{logs}");
    for (name, text) in [("mcp inbox", told), ("mcp status", status), ("mcp logs", logs)] {
        printed.insert(name, text);
    }
    printed.insert("yes", place.aye(&["answer", &sure, "yes", "--no-input"]).ok().all());
    until("the end", || place.status() == "completed");
    printed.insert("watch", place.aye(&["watch", "last", "--json"]).all());
    printed.insert("audit", place.aye(&["audit"]).all());
    let mut all = files(&place.home());
    all.extend(files(&place.work()).into_iter().filter(|(path, _)| !path.ends_with("leaky.yaml")));
    let texts = printed.iter().map(|(name, text)| (PathBuf::from(name), text.clone().into_bytes()));
    all.extend(texts);
    silent(&all, &needles());
    // What it shows with the colours taken out, as a person would read it.
    let logs: Vec<(PathBuf, Vec<u8>)> =
        all.iter().map(|(path, bytes)| (path.clone(), without_escapes(bytes))).collect();
    silent(&logs, &needles());
    let logs = &printed["last"];
    assert!(logs.contains("***"), "{logs}");
    // The skill's own value is in the skill's text, and in nothing that was printed or logged.
    let named: Vec<(PathBuf, Vec<u8>)> = all
        .into_iter()
        .filter(|(path, _)| !path.to_string_lossy().contains("journal.db"))
        .collect();
    silent(&named, &[NAMED.to_owned(), "ZnJvbS10aGUtc2tpbGxzLW93bi1lbn".to_owned()]);
}

/// The bytes without sequences that change colours.
fn without_escapes(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let colours = regex_lite::Regex::new("\u{1b}\\[[0-9;]*[A-Za-z]").unwrap();
    colours.replace_all(&text, "").into_owned().into_bytes()
}

/// What a tool for assistants says of a run.
fn mcp(place: &Place, tool: &str, id: &str) -> String {
    let arguments = match id {
        "" => serde_json::json!({}),
        id => serde_json::json!({ "execution_id": id }),
    };
    let hello = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        },
    });
    let ready = serde_json::json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let call = serde_json::json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments },
    });
    let told = place.aye_with_input(&["mcp"], &format!("{hello}\n{ready}\n{call}\n"));
    assert!(told.stdout.contains("\"id\":2"), "{tool}: {}", told.all());
    told.stdout
}
