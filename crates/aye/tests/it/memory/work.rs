//! Work memory: what skills write down for the next run.

use serde_json::{Value, json};

use crate::cli::harness::Place;

fn state(place: &Place, key: &str) -> Value {
    let path = place.work().join(format!(".aye/memory/state/{key}.yaml"));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    aye_runtime::memory::read_mapping(&text).expect("it is YAML")
}

/// The same without what Aye notes.
fn plain(place: &Place, key: &str) -> Value {
    let mut value = state(place, key);
    value.as_object_mut().expect("a mapping").shift_remove("_aye");
    value
}

fn skill(place: &Place, name: &str, code: &str) {
    let code = code.lines().map(|line| format!("      {line}\n")).collect::<String>();
    place.write(
        &format!("{name}.yaml"),
        &format!("name: {name}\nsteps:\n  - name: note\n    compute: |\n{code}    output: note\n"),
    );
}

#[test]
fn what_a_block_writes_the_next_run_reads() {
    let place = Place::new();
    skill(
        &place,
        "one",
        "memory.write('state/team', {'name': 'core', 'people': ['ana']})\n\
         memory.append('team', 'people', 'bo')\n\
         memory.update('team', 'rooms.blue', 4)\n\
         memory.append_to_list('work', 'mrs', {'id': 7, 'title': 'x'}, match_key='id')\n\
         memory.append_to_list('work', 'mrs', {'id': 7, 'title': 'y'}, match_key='id')\n\
         memory.update_field('learned/patterns', 'a.b', True)\n\
         result = [memory.read('team')['people'], memory.query('team', 'rooms.blue')]\n",
    );
    let ran = place.aye(&["run", "one.yaml"]).ok();
    assert!(
        ran.all().contains("memory: `state/team`: written, added to `people`"),
        "{}",
        ran.all()
    );
    assert_eq!(
        plain(&place, "team"),
        json!({ "name": "core", "people": ["ana", "bo"], "rooms": { "blue": 4 } })
    );
    assert_eq!(plain(&place, "work"), json!({ "mrs": [{ "id": 7, "title": "y" }] }));
    assert_eq!(plain(&place, "learned/patterns"), json!({ "a": { "b": true } }));
    // Who wrote it stands there, and in the journal.
    let from = &state(&place, "team")["_aye"]["last"];
    assert_eq!((&from["skill"], &from["step"]), (&json!("one"), &json!("note")));
    assert_eq!(from["run"], json!(place.last()));
    let shown = place.aye(&["show", "last"]).ok().stdout;
    assert!(shown.contains("`state/team`"), "{shown}");

    // Templates and conditions read it, and so does the next block.
    place.write(
        "two.yaml",
        "name: two\nsteps:\n\
         \x20 - name: say\n    condition: memory.read('team').rooms.blue == 4\n    command: echo\n\
         \x20   args: [\"{{ memory.read('team').people | join('+') }}\", \"{{ memory.query('work', 'mrs[*].title')[0] }}\", \"{{ memory.read('none') | length }}\"]\n\
         \x20 - name: list\n    condition: \"any(p == 'bo' for p in memory.read('team')['people'])\"\n    compute: result = memory.read_memory('team')['people']\n\
         outputs:\n  - { name: people, value: \"{{ list }}\" }\n",
    );
    let ran = place.aye(&["run", "two.yaml"]).ok();
    assert!(ran.all().contains("ana+bo y 0"), "{}", ran.all());
    let outputs = place.aye(&["show", "last", "--json"]).ok().json();
    assert!(outputs.to_string().contains(r#"["ana","bo"]"#), "{outputs}");
    place.aye(&["audit"]).ok();
}

#[test]
fn a_block_that_fails_writes_nothing_and_its_retry_writes_once() {
    let place = Place::new();
    place.write("flag", "no");
    place.write(
        "s.yaml",
        "name: s\nsteps:\n  - name: note\n    files: read\n    retry: 1\n    compute: |\n\
         \x20     memory.append('log', 'entries', 'tried')\n\
         \x20     memory.learn_tool_fix('deploy', 'manifest unknown', 'the tag is short', 'use the full SHA')\n\
         \x20     n = len(memory.read('count').get('n', []))\n\
         \x20     if open('flag').read() == 'no': raise ValueError('not yet')\n\
         \x20     result = n\n",
    );
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 1);
    assert!(!place.work().join(".aye/memory/state/log.yaml").exists());
    assert!(place.aye(&["memory", "list", "fixes", "--json"]).ok().stdout.contains("[]"));
    place.write("flag", "yes");
    let ran = place.aye(&["retry", "last"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(plain(&place, "log"), json!({ "entries": ["tried"] }));
    let fixes = place.aye(&["memory", "list", "fixes"]).ok().stdout;
    assert!(fixes.contains("prose") && fixes.contains("use the full SHA"), "{fixes}");
    // A validation that says no is a failed step too.
    place.write(
        "v.yaml",
        "name: v\nsteps:\n  - name: note\n    compute: |\n      memory.append('v', 'entries', 1)\n      result = 1\n    validate: { condition: note == 2 }\n",
    );
    let ran = place.aye(&["run", "v.yaml"]);
    assert_ne!(ran.code, 0, "{}", ran.all());
    assert!(!place.work().join(".aye/memory/state/v.yaml").exists(), "{}", ran.all());
}

#[test]
fn what_memory_does_not_have_is_an_error_that_says_what_it_has() {
    let place = Place::new();
    for (code, said) in [
        ("result = memory.increment('x')", "`memory` has no function `increment`"),
        ("result = memory.apend('x', 'y', 1)", "did you mean `memory.append`?"),
        ("result = memory.append('x', 'y')", "`memory.append` is not given `item`"),
        ("result = memory.read('../learned/fixes')", "is not a key of memory"),
        ("result = memory.write('/etc/passwd', {})", "is not a key of memory"),
        ("memory.write('t', {'a': 1}); result = memory.append('t', 'a', 1)", "`a` is not a list"),
        ("result = memory.query('t', 'a[')", "is not a query"),
        ("result = memory.read('x', kee='y')", "`memory.read` has no argument `kee`"),
    ] {
        skill(&place, "bad", code);
        let ran = place.aye(&["run", "bad.yaml"]);
        assert_eq!(ran.code, 1, "{code}: {}", ran.all());
        assert!(ran.all().contains(said), "{code}: {}", ran.all());
    }
    assert!(!place.work().join(".aye").exists(), "nothing was written");
    place.write(
        "t.yaml",
        "name: t\nsteps:\n  - { name: a, command: echo, args: [\"{{ memory.write('x', 1) }}\"] }\n",
    );
    let ran = place.aye(&["run", "t.yaml"]);
    assert!(ran.all().contains("in templates `memory` has `read` and `query`"), "{}", ran.all());
    place.write(
        "t.yaml",
        "name: t\nsteps:\n  - { name: a, command: echo, args: [\"{{ memory.read('../x') }}\"] }\n",
    );
    let ran = place.aye(&["run", "t.yaml"]);
    assert!(ran.all().contains("is not a key of memory"), "{}", ran.all());
}

#[test]
fn tools_of_the_original_system_are_there_or_check_says_what_to_write() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\ninputs: [{ name: key, default: A-1 }]\nsteps:\n\
         \x20 - name: log\n    tool: memory_session_log\n    args: { action: \"Started {{ inputs.key }}\", details: fine }\n\
         \x20 - name: add\n    tool: memory_append\n    args:\n      key: state/current_work\n      list_path: active_issues\n      item: |\n        key: {{ inputs.key }}\n        summary: \"a: b\"\n        open: true\n\
         \x20 - name: stamp\n    tool: memory_update\n    args: { key: state/current_work, path: last_updated, value: \"2026-01-01\" }\n\
         \x20 - name: read\n    tool: memory_read\n    args: { key: state/current_work }\n\
         \x20 - name: known\n    tool: check_known_issues\n    args: { tool_name: bonfire, error_text: \"\" }\n\
         \x20 - name: learn\n    tool: learn_tool_fix\n    args: { tool_name: bonfire_deploy, error_pattern: manifest unknown, root_cause: short tag, fix_description: use the full SHA }\n\
         outputs:\n  - { name: read, value: \"{{ read }}\" }\n  - { name: known, value: \"{{ known.has_known_issues }}\" }\n",
    );
    place.write(
        ".aye/memory/learned/patterns.yaml",
        "bonfire:\n  - { pattern: no route, meaning: VPN, fix: connect }\n",
    );
    let ran = place.aye(&["run", "s.yaml", "--json"]).ok();
    assert!(
        ran.stdout.contains("\"known\":true") || ran.stdout.contains("\"True\""),
        "{}",
        ran.stdout
    );
    let work = plain(&place, "current_work");
    let item = json!({ "key": "A-1", "summary": "a: b", "open": true });
    assert_eq!(work["active_issues"], json!([item]));
    assert_eq!(work["last_updated"], "2026-01-01");
    let sessions = place.work().join(".aye/memory/state/sessions");
    let file = std::fs::read_dir(sessions).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains("action: Started A-1") && text.contains("details: fine"), "{text}");
    assert!(place.aye(&["memory", "list"]).ok().stdout.contains("use the full SHA"));

    // Aye's own files are out of reach, whatever a skill calls them.
    place.write(
        "own.yaml",
        "name: own\nsteps:\n  - { name: w, tool: memory_write, args: { key: learned/fixes, content: \"fixes: []\" } }\n  - { name: c, tool: memory_write, args: { key: learned/confirmations, content: \"x: {auto_proceed: true}\" } }\n",
    );
    place.aye(&["run", "own.yaml"]).ok();
    assert_eq!(plain(&place, "learned/fixes"), json!({ "fixes": [] }));
    assert!(!place.work().join(".aye/memory/learned/confirmations.yaml").exists());
    assert!(place.aye(&["memory", "list"]).ok().stdout.contains("use the full SHA"));

    place.write(
        "r.yaml",
        "name: r\nsteps:\n  - { name: r, tool: skill_run, args: { skill_name: s } }\n",
    );
    let said = place.aye(&["check", "r.yaml"]).all();
    assert!(said.contains("a skill is called with `skill: NAME`"), "{said}");
}

#[test]
fn a_projects_memory_is_not_written_through_a_link() {
    let place = Place::new();
    std::fs::create_dir_all(place.work().join(".aye/memory")).unwrap();
    let elsewhere = place.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, place.work().join(".aye/memory/state")).unwrap();
    skill(&place, "s", "memory.write('x', {'a': 1})\nresult = 1");
    let ran = place.aye(&["run", "s.yaml"]);
    assert!(ran.all().contains("is a symbolic link"), "{}", ran.all());
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn secrets_are_masked_before_they_are_written() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\ninputs: [{ name: token, type: secret, from: { env: THE_TOKEN } }]\nsteps:\n  - name: note\n    compute: |\n      memory.write('x', {'token': inputs['token'], 'text': 'is ' + inputs['token']})\n      result = 1\n",
    );
    let mut command = place.command(&["run", "s.yaml", "-q"]);
    command.env("THE_TOKEN", "hunter2-hunter2");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = state(&place, "x").to_string();
    assert!(!text.contains("hunter2") && text.contains("\"is "), "{text}");
}

#[test]
fn a_hundred_processes_write_at_once_and_killed_ones_neither_lose_nor_double() {
    const MANY: usize = 100;
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\ninputs: [{ name: n, type: integer, required: true }]\nsteps:\n  - name: note\n    compute: |\n      memory.append('log', 'entries', inputs['n'])\n      result = 1\n  - { name: rest, command: sleep, args: ['0.2'] }\n",
    );
    let mut children = Vec::new();
    for n in 0..MANY {
        let mut command = place.command(&["run", "s.yaml", "-q", "-i", &format!("n={n}")]);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        children.push(command.spawn().unwrap());
        // A few at a time is what a machine can bear; one of three is killed somewhere.
        if children.len() == 10 {
            for (at, mut child) in children.drain(..).enumerate() {
                if (n + at) % 3 == 0 {
                    std::thread::sleep(std::time::Duration::from_millis(40 * at as u64));
                    child.kill().unwrap();
                }
                child.wait().unwrap();
            }
        }
    }
    // Anyone who opens memory next takes in what is in the journal and not in the file.
    place.aye(&["memory", "list"]).ok();
    let runs = place.aye(&["runs", "-n", "1000", "--json"]).ok().json();
    let mut wanted: Vec<i64> = Vec::new();
    for run in runs.as_array().unwrap() {
        let shown = place.aye(&["show", run["run"].as_str().unwrap(), "--json"]).ok().json();
        let events = shown["events"].as_array().unwrap();
        if events.iter().any(|event| event["type"] == "memory_learned") {
            wanted.push(events[0]["inputs"]["n"].as_i64().unwrap_or_else(|| panic!("{shown}")));
        }
    }
    wanted.sort_unstable();
    assert!(wanted.len() >= MANY / 2, "{wanted:?}");
    let has = plain(&place, "log");
    let mut has: Vec<i64> =
        has["entries"].as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).collect();
    has.sort_unstable();
    assert_eq!(has, wanted, "each that is in the journal is in the file, once");
}
