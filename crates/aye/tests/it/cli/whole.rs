//! Whole skills: secrets stay secret in every form, values stay values everywhere.

use std::io::Read as _;

use lz4_flex::frame::FrameDecoder;

use super::harness::{Place, Ran};

const SECRET: &str = "hunter2/correct horse+\"battery\"";

const LEAKY: &str = r#"
name: leaky
inputs: [{ name: token, type: secret, required: true }]
steps:
  - name: plain
    shell: printf '%s\n' {{ inputs.token }}; printf '%s\n' {{ inputs.token }} >&2
  - name: encoded
    shell: printf 'user:%s' {{ inputs.token }} | base64 -w0; echo; printf %s {{ inputs.token }} | base64 -w0
  - name: web
    compute: |
      from urllib.parse import quote
      result = {"url": "https://x/?t=" + quote(inputs["token"], safe="")}
    on_error: continue
  - name: block
    compute: |
      print("token is", inputs["token"])
      result = {"token": inputs["token"], "list": [inputs["token"] + "!"]}
  - name: sub
    skill: inner.yaml
    inputs: { value: "{{ inputs.token }}" }
  - name: each
    foreach: ["{{ inputs.token }}", other]
    shell: echo {{ item }}
  - name: tool
    tool: shout
    args: { what: "{{ inputs.token }}" }
  - name: sure
    confirm: { message: "Use {{ inputs.token }}?", options: [{ label: "Yes {{ inputs.token }}", value: "yes" }, { label: "No", value: "no", action: cancel }] }
  - name: fails
    shell: echo {{ inputs.token }}; exit 3
    on_error: continue
outputs:
  - { name: all, value: "{{ block.list[0] }} {{ sub.echoed }}" }
"#;

/// Every file under a place's home, and what was printed.
fn traces(place: &Place, printed: &[&Ran]) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<(String, Vec<u8>)> =
        printed.iter().map(|ran| ("printed".to_owned(), ran.all().into_bytes())).collect();
    let mut folders = vec![place.home()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let name = path.display().to_string();
            if name.ends_with(".lz4") {
                let mut plain = Vec::new();
                FrameDecoder::new(&bytes[..]).read_to_end(&mut plain).unwrap();
                found.push((name.clone(), plain));
            }
            found.push((name, bytes));
        }
    }
    found
}

#[test]
fn a_secret_is_nowhere_in_any_form() {
    let place = Place::new();
    place.write("leaky.yaml", LEAKY);
    place.write("inner.yaml", "name: inner\ninputs: [{ name: value, required: true }]\nsteps:\n  - { name: e, shell: 'echo {{ inputs.value }}' }\noutputs: [{ name: echoed, value: '{{ e }}' }]\n");
    place.write("aye.toml", "[tools.shout]\ndescription = \"Says it again\"\ncommand = [\"echo\", \"{{ args.what }}\"]\nargs = { what = { type = \"string\", required = true } }\noutput = \"text\"\n");
    let token = format!("token={SECRET}");
    let run = place.aye(&["run", "leaky.yaml", "-i", &token, "--yes"]);
    assert_eq!(run.code, 0, "{}", run.all());
    let json = place.aye(&["run", "leaky.yaml", "-i", &token, "--yes", "--json"]);
    let verbose = place.aye(&["run", "leaky.yaml", "-i", &token, "--yes", "-v"]);
    let dry = place.aye(&["run", "leaky.yaml", "-i", &token, "--dry-run"]);
    let show = place.aye(&["show", "last", "--json"]);
    let markdown = place.aye(&["show", "last", "--markdown"]);
    let logs = place.aye(&["logs", "last"]);
    let printed = [&run, &json, &verbose, &dry, &show, &markdown, &logs];
    assert!(run.all().contains("***"), "{}", run.all());
    let needles = [
        SECRET.to_owned(),
        SECRET.replace('"', "\\\""),
        // base64 of it alone, and after `user:` as in basic authentication
        "aHVudGVyMi9jb3JyZWN0IGhvcnNlKyJiYXR0ZXJ5I".to_owned(),
        "odW50ZXIyL2NvcnJlY3QgaG9yc2UrImJhdHRlcnki".to_owned(),
        "hunter2%2Fcorrect%20horse%2B%22battery%22".to_owned(),
        "hunter2%2fcorrect%20horse%2b%22battery%22".to_owned(),
    ];
    for (name, bytes) in traces(&place, &printed) {
        for needle in &needles {
            let found = bytes.windows(needle.len()).any(|part| part == needle.as_bytes());
            assert!(!found, "`{needle}` is in {name}");
        }
    }
}

const HOSTILE: &[&str] = &[
    "$(touch pwned)",
    "`touch pwned`",
    "'; touch pwned; '",
    "\"; touch pwned; \"",
    "x\ntouch pwned\n",
    "{{ 7 * 7 }}",
    "{% for i in range(3) %}x{% endfor %}",
    "__import__('os').system('touch pwned')",
    "\"\"\" + open('pwned', 'w') + \"\"\"",
    "--output=pwned",
    "../../../etc/passwd",
    "\u{1b}]0;pwned\u{7}\u{1b}[31m",
    "a\u{202e}b\u{200b}c",
    "{\"$secret\": true}",
];

const FIELDS: &str = r#"
name: fields
inputs: [{ name: v, required: true }]
steps:
  - name: command
    command: printf
    args: ['%s', "{{ inputs.v }}"]
  - name: shell
    shell: printf %s {{ inputs.v }}
  - name: quoted
    shell: printf %s "{{ inputs.v }}"
  - name: environ
    shell: printf %s "$V"
    env: { V: "{{ inputs.v }}" }
  - name: stdin
    command: cat
    stdin: "{{ inputs.v }}"
  - name: compute
    compute: result = inputs["v"]
  - name: python
    compute: result = inputs["v"]
    python: true
  - name: expression
    compute: result = "".join(c for c in inputs["v"])
  - name: comprehension
    shell: printf %s {{ ''.join(c for c in inputs.v) }}
  - name: tool
    tool: same
    args: { text: "{{ inputs.v }}" }
  - name: sub
    skill: inner.yaml
    inputs: { v: "{{ inputs.v }}" }
  - name: each
    foreach: ["{{ inputs.v }}"]
    shell: printf %s {{ item }}
  - name: confirm
    confirm: { message: "{{ inputs.v }}", title: "{{ inputs.v }}" }
  - name: guard
    command: 'true'
    validate: { condition: "inputs.v == compute", error_message: "{{ inputs.v }}" }
outputs:
  - name: all
    value:
      - "{{ command }}"
      - "{{ shell }}"
      - "{{ quoted }}"
      - "{{ environ }}"
      - "{{ stdin }}"
      - "{{ compute }}"
      - "{{ python }}"
      - "{{ expression }}"
      - "{{ comprehension }}"
      - "{{ tool }}"
      - "{{ sub.v }}"
      - "{{ each[0] }}"
"#;

#[test]
fn a_value_is_a_value_in_every_field() {
    let place = Place::new();
    place.write("fields.yaml", FIELDS);
    place.write("inner.yaml", "name: inner\ninputs: [{ name: v, required: true }]\nsteps:\n  - { name: e, shell: 'printf %s {{ inputs.v }}' }\noutputs: [{ name: v, value: '{{ e }}' }]\n");
    place.write("aye.toml", "[tools.same]\ncommand = [\"printf\", \"%s\", \"{{ args.text }}\"]\nargs = { text = { type = \"string\", required = true } }\noutput = \"text\"\n");
    for value in HOSTILE {
        let ran = place.aye(&["run", "fields.yaml", "-i", &format!("v={value}"), "--yes"]);
        assert_eq!(ran.code, 0, "{value:?}: {}", ran.all());
        assert!(!place.work().join("pwned").exists(), "{value:?} was executed");
        assert!(!ran.all().contains('\u{1b}'), "{value:?} reached the terminal: {}", ran.all());
        let shown = place.aye(&["show", "last", "--json"]).ok().json();
        for (index, result) in shown["outputs"]["all"].as_array().unwrap().iter().enumerate() {
            // A step's output ends without its last line break.
            let text = result.as_str().unwrap_or_default().trim_end_matches('\n');
            assert_eq!(text, value.trim_end_matches('\n'), "{value:?} in field {index}");
        }
    }
}

#[test]
fn a_known_error_heals_itself_and_is_told() {
    let place = Place::new();
    place.write(
        "aye.toml",
        "[[heal]]\nname = \"login\"\nmatch = { command = \"cat\", error = \"No such file or directory\" }\nrepair = { shell = \"touch token; echo logged in\" }\n",
    );
    place.write(
        "s.yaml",
        "name: s\nsteps:\n  - { name: use, command: cat, args: [token], on_error: auto_heal }\n",
    );
    place.aye(&["trust", "--yes"]).ok();
    let ran = place.aye(&["run", "s.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.all().contains("known error: `login` repairs it"), "{}", ran.all());
    assert!(ran.all().contains("`login` ran in "), "{}", ran.all());
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    let kinds: Vec<&str> =
        shown["events"].as_array().unwrap().iter().map(|e| e["type"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"auto_heal_triggered") && kinds.contains(&"auto_heal_completed"));
    assert_eq!(shown["steps"]["use"]["heals"], 1);
    place.aye(&["audit"]).ok();
    place.write("aye.toml", "[[heal]]\nname = \"x\"\nmatch = {}\nrepair = { command = \"y\" }\n");
    let ran = place.aye(&["run", "s.yaml"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.all().contains("is for everything"), "{}", ran.all());
}

#[test]
fn a_result_with_a_secret_in_it_is_what_later_steps_get_and_nobody_else() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\ninputs: [{ name: token, type: secret, required: true }]\nsteps:\n  - { name: login, shell: 'printf bearer-%s {{ inputs.token }}' }\n  - { name: header, compute: 'result = {\"auth\": \"Bearer \" + inputs[\"token\"]}' }\n  - { name: use, shell: 'printf %s {{ login }} | wc -c > a; printf %s {{ header.auth }} | wc -c > b' }\n  - { name: each, foreach: ['{{ login }}'], shell: 'printf %s {{ item }} | wc -c > c' }\n  - { name: wait, confirm: { message: 'Continue?', timeout: 0 } }\n  - { name: again, command: echo, args: ['{{ login }}'] }\n",
    );
    let ran = place.aye(&["run", "s.yaml", "-i", "token=hunter2"]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert_eq!(
        [place.read("a").trim(), place.read("b").trim(), place.read("c").trim()],
        ["14", "14", "14"]
    );
    assert!(!ran.all().contains("hunter2"), "{}", ran.all());
    for (name, bytes) in traces(&place, &[&ran]) {
        assert!(!bytes.windows(7).any(|part| part == b"hunter2"), "in {name}");
    }
    // What only the first process knew is not made up by the second.
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    place.aye(&["answer", inbox[0]["question"].as_str().unwrap(), "yes"]).ok();
    let ran = place.aye(&["resume", "last", "-i", "token=hunter2"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.all().contains("the secret `login` is not known"), "{}", ran.all());
}

#[test]
fn a_return_keeps_its_type_and_is_the_result_of_its_item() {
    let place = Place::new();
    place.write(
        "sub.yaml",
        "name: sub\nsteps:\n  - { name: a, then: [{ return: \"{{ {'n': [1, 2]} }}\" }] }\n",
    );
    place.write(
        "s.yaml",
        "name: s\nsteps:\n  - { name: call, skill: sub.yaml }\n  - name: each\n    foreach: [1, 2]\n    steps:\n      - { name: early, condition: item == 1, then: [{ return: 'one' }] }\n      - { name: late, command: echo, args: [two] }\noutputs:\n  - { name: n, value: '{{ call.result.n[1] }}' }\n  - { name: each, value: '{{ each }}' }\n",
    );
    place.aye(&["run", "s.yaml"]).ok();
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    assert_eq!(shown["outputs"]["n"], 2);
    assert_eq!(shown["outputs"]["each"], serde_json::json!(["one", "two"]));
}

#[test]
fn what_a_block_says_is_shown_and_logged() {
    let place = Place::new();
    place.write("s.yaml", "name: s\nsteps:\n  - name: a\n    compute: |\n      print('printed')\n      emit('progress', {'n': 1})\n      result = 5\n");
    let ran = place.aye(&["run", "s.yaml"]).ok();
    assert!(
        ran.stdout.contains("a | printed") && ran.stdout.contains("a | progress"),
        "{}",
        ran.all()
    );
    assert!(place.aye(&["logs", "last"]).ok().stdout.contains("printed"));
}

#[test]
fn what_people_know_about_an_error_is_said_when_it_happens() {
    let place = Place::new();
    place.write(
        ".aye/memory/learned/patterns.yaml",
        "issues:\n  - pattern: No such file or directory\n    tools: [cat]\n    meaning: the cache is cold\n    fix: warm it up\n    commands: [make warm]\n  - pattern: 5\n",
    );
    place.write("aye.toml", "");
    place.write("s.yaml", "name: s\nsteps:\n  - { name: read, command: cat, args: [nothing], on_error: continue }\n  - { name: ask, compute: 'result = memory.check_known_issues(\"cat\", \"No such file or directory\")[\"has_known_issues\"]' }\noutputs: [{ name: known, value: '{{ ask }}' }]\n");
    let ran = place.aye(&["run", "s.yaml"]).ok();
    let told = ran.all();
    assert!(told.contains("memory: known issue"), "before the run: {told}");
    assert!(told.contains("the cache is cold; fix: warm it up; try: make warm"), "{told}");
    assert!(told.matches("the cache is cold").count() >= 2, "and when it happens: {told}");
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    assert_eq!(shown["outputs"]["known"], true);
}
