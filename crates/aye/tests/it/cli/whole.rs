//! Whole skills: secrets stay secret in every form, values stay values everywhere.

use std::process::Command;

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
            if name.ends_with(".gz") {
                let plain = Command::new("gzip").args(["-dc", &name]).output().unwrap().stdout;
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
