//! A secret in every form that the docs list, looked for everywhere.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use super::traces::{files, forms, silent};
use crate::cli::harness::{Place, Ran, until};

/// Two lines, with everything that one of the encodings escapes.
const TOKEN: &str = "correct/horse battery+\"staple\", it's $5 for `K\u{e4}se\u{1f9c0}` & \\o/\nsecond line: <50%> off, ~twice!";
const ANSWER: &str = "sword&fish+mackerel 12";
const NAMED: &str = "from-the-skills-own-env";

/// Seven characters: too short to be masked for the name of its variable.
const SHORT: &str = "seven-7";
/// Eight are enough.
const ENOUGH: &str = "eight-88";

/// A text as the encoders write it that programs use: each of them is listed in
/// `docs/reference/skills.md`. The step prints all, the test looks for all.
const ENCODE: &str = r#"
      import base64, json, shlex
      from urllib.parse import quote, quote_plus
      def encode(text):
          raw = text.encode()
          yield from [text, *text.splitlines()]
          for safe in ["", "/", "!'()*", "!'()*;,/?:@&=+$#"]:
              yield quote(text, safe=safe)
              yield quote(text, safe=safe).replace("%20", "+")
          yield quote_plus(text)
          yield json.dumps(text)[1:-1]
          yield json.dumps(text, ensure_ascii=False)[1:-1]
          for one in [json.dumps(text), json.dumps(text, ensure_ascii=False)]:
              yield one.replace("/", "\\/")[1:-1]
              yield json.dumps(one)[3:-3]
          wide = text.encode("utf-16-be")
          yield "".join(f"\\u{wide[at]:02x}{wide[at + 1]:02x}" for at in range(0, len(wide), 2))
          yield repr(text)[1:-1]
          yield ascii(text)[1:-1]
          yield repr(raw)[2:-1]
          yield shlex.quote(text)[1:-1]
          for before in ["", "u:", "us:"]:
              for encoder in [base64.b64encode, base64.urlsafe_b64encode]:
                  whole = encoder((before + text).encode()).decode()
                  # Without what depends on the neighbours.
                  yield whole if PRINTS else whole[4:-4]
          for width in [76, 64]:
              whole = base64.b64encode(raw).decode()
              rows = [whole[at:at + width] for at in range(0, len(whole), width)]
              yield from ["\n".join(rows)] if PRINTS else rows[:-1]
"#;

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
        for width in 64 76; do
          printf 'a longer text, so that it crosses the end of a line: %s' "$v" | base64 -w $width
        done
        printf '%s\n' "$v" | fold -w 11
      done
  - name: coloured
    shell: |
      for v in {{ inputs.token }} {{ code }}; do
        printf '%s' "$v" | sed 's/./&\x1b[1;31m/g; s/$/\x1b[0m\n/'
        printf '%s' "$v" | cut -c1-7 | tr -d '\n'; sleep 0.05; printf '\033[32m'; printf '%s\n' "$v" | cut -c8-
      done
  - name: named
    shell: 'printf "%s\n" "$DEPLOY_TOKEN" "$SHORT_TOKEN" "$OTHER_TOKEN"; printf %s "$DEPLOY_TOKEN" | base64'
    env: { DEPLOY_TOKEN: "NAMED", SHORT_TOKEN: "SHORT", OTHER_TOKEN: "ENOUGH", KEY_FILE: /etc/hostname }
  - name: encoded
    python: true
    compute: |ENCODE
      PRINTS = True
      for text in [inputs["token"], code]:
          for form in encode(text):
              print(form)
      result = list(encode(code))
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
    let skill = LEAKY.replace("NAMED", NAMED).replace("\"SHORT\"", SHORT);
    place.write("leaky.yaml", &skill.replace("ENOUGH", ENOUGH).replace("ENCODE", ENCODE));
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
    [forms(TOKEN), forms(ANSWER), encoded(TOKEN), encoded(ANSWER)].concat()
}

/// A text in every form that [`ENCODE`] knows.
fn encoded(text: &str) -> Vec<String> {
    let main = "import sys\nPRINTS = False\njson.dump(list(encode(sys.argv[1])), sys.stdout)";
    let code = format!("{}\n{main}", ENCODE.replace("\n      ", "\n"));
    let output = Command::new("python3").args(["-c", &code, text]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let forms: Vec<String> = serde_json::from_slice(&output.stdout).unwrap();
    assert!(forms.len() > 20 && forms.iter().all(|form| form.len() >= 8), "{forms:?}");
    forms
}

#[test]
fn a_secret_is_nowhere_in_any_form_that_is_listed() {
    let place = place();
    let mut printed: BTreeMap<String, String> = BTreeMap::new();
    let mut print = |name: &str, text: String| {
        assert!(printed.insert(name.to_owned(), text).is_none(), "`{name}` is looked at once");
    };
    let dry = with_token(&place, &["run", "leaky.yaml", "--dry-run"]).ok();
    assert!(dry.stdout.contains("*** from environment variable `HIDDEN_SOURCE`"), "{}", dry.all());
    print("dry run", dry.all());
    let started = with_token(&place, &["run", "leaky.yaml", "--detach", "-q"]).ok();
    print("start", started.all());
    let id = question(&place, "code");
    print("answer", place.aye(&["answer", &id, ANSWER, "--no-input"]).ok().all());
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
        print(&args.join(" "), place.aye(args).ok().all());
    }
    let told = mcp(&place, "inbox", "");
    let id = regex_lite::Regex::new(r#""execution_id":"([\w.~-]+)"#).unwrap();
    let id = id.captures(&told).unwrap_or_else(|| panic!("no id: {told}"))[1].to_owned();
    let status = mcp(&place, "skill_status", &id);
    assert!(status.contains("Use *** and ***?"), "{status}");
    let logs = mcp(&place, "skill_logs", &id);
    assert!(logs.contains("***"), "{logs}");
    for (name, text) in [("mcp inbox", told), ("mcp status", status), ("mcp logs", logs)] {
        print(name, text);
    }
    print("yes", place.aye(&["answer", &sure, "yes", "--no-input"]).ok().all());
    until("the end", || place.status() == "completed");
    print("watch", place.aye(&["watch", "last", "--json"]).all());
    print("audit", place.aye(&["audit"]).all());
    let mut all = files(&place.home());
    all.extend(files(&place.work()).into_iter().filter(|(path, _)| !path.ends_with("leaky.yaml")));
    let texts = printed.iter().map(|(name, text)| (PathBuf::from(name), text.clone().into_bytes()));
    all.extend(texts);
    // Each place holds something in which the secret was.
    let holds = |name: &str, text: &[u8]| {
        let mut files = all.iter().filter(|(path, _)| path.to_string_lossy().contains(name));
        let found = files.any(|(_, bytes)| bytes.windows(text.len()).any(|part| part == text));
        assert!(found, "`{}` in {name}", String::from_utf8_lossy(text));
    };
    for name in ["memory/failures.yaml", "journal.db", "show last --json", "logs last"] {
        holds(name, b"*** was refused");
    }
    for name in ["inbox --json", "show last", "mcp inbox"] {
        holds(name, b"Use *** and ***?");
    }
    silent(&all, &needles());
    // What it shows with the colours taken out, as a person would read it.
    let logs: Vec<(PathBuf, Vec<u8>)> =
        all.iter().map(|(path, bytes)| (path.clone(), without_escapes(bytes))).collect();
    silent(&logs, &needles());
    let logs = &printed["logs last"];
    assert!(logs.contains("***"), "{logs}");
    // The skill's own value is in the skill's text, and in nothing that was printed or logged.
    let named: Vec<(PathBuf, Vec<u8>)> = all
        .into_iter()
        .filter(|(path, _)| !path.to_string_lossy().contains("journal.db"))
        .collect();
    let own = [NAMED, ENOUGH, "ZnJvbS10aGUtc2tpbGxzLW93bi1lbn"];
    silent(&named, &own.map(str::to_owned));
    assert!(logs.contains(SHORT), "a value of seven characters is shown: {logs}");
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
