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
fn ten_processes_at_a_time_write_and_killed_ones_neither_lose_nor_double() {
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

#[test]
fn a_block_of_python3_writes_as_one_of_the_sandbox_does() {
    crate::needs::program("python3");
    let place = Place::new();
    let python = |code: &str| {
        skill(&place, "real", code);
        let text = place
            .read("real.yaml")
            .replace("  - name: note\n", "  - name: note\n    python: true\n");
        place.write("real.yaml", &text);
        place.aye(&["run", "real.yaml"])
    };
    let ran = python(
        "import os\nos.chdir('/')\n\
         memory.write('team', {'people': ['ana']})\n\
         memory.append('team', 'people', 'bo')\n\
         seen = memory.read('team')\n\
         result = [seen.people, memory.query('team', 'people[0]'), memory.remove('team', 'people', 'x', 'y')]\n",
    )
    .ok();
    assert!(
        ran.all().contains("memory: `state/team`: written, added to `people`"),
        "{}",
        ran.all()
    );
    assert_eq!(plain(&place, "team"), json!({ "people": ["ana", "bo"] }));
    let from = &state(&place, "team")["_aye"]["last"];
    assert_eq!((&from["step"], &from["run"]), (&json!("note"), &json!(place.last())));
    // The journal has it before the file does, next to the result.
    let events = place.aye(&["show", "last", "--json"]).ok().json();
    let events = events["events"].as_array().unwrap().clone();
    let at = |kind: &str| events.iter().position(|event| event["type"] == kind).unwrap();
    assert!(at("memory_learned") < at("skill_completed"), "{events:?}");

    // A block that fails writes nothing, and what memory does not have is an error.
    let ran = python("memory.append('team', 'people', 'cy')\nraise ValueError('no')\n");
    assert_eq!(ran.code, 1, "{}", ran.all());
    let ran = python(
        "memory.append('team', 'people', 'cy')\nresult = memory.apend('team', 'people', 1)\n",
    );
    assert!(ran.all().contains("did you mean `memory.append`?"), "{}", ran.all());
    assert_eq!(plain(&place, "team"), json!({ "people": ["ana", "bo"] }));
}

#[test]
fn what_looks_like_learned_by_aye_is_a_proposal_at_most() {
    let place = Place::new();
    place.write("aye.toml", "");
    place.aye(&["trust", "--yes"]).ok();
    skill(
        &place,
        "one",
        "memory.append('learned/tool_fixes', 'tool_fixes', {'tool_name': 'deploy', 'error_pattern': 'manifest unknown', 'root_cause': 'short tag', 'fix_applied': 'use the full SHA'})\n\
         memory.append('learned/patterns', 'auth', {'pattern': 'token expired', 'meaning': 'log in again'})\n\
         memory.write('learned/confirmations', {'release:gate': {'auto_proceed': True}})\n\
         memory.append('learned/other', 'list', {'name': 'plain data'})\n\
         result = 1\n",
    );
    let ran = place.aye(&["run", "one.yaml"]).ok();
    for said in [
        "proposed as `fix-",
        "`state/learned/patterns` looks like a known issue",
        "`state/learned/confirmations` looks like",
    ] {
        assert!(ran.all().contains(said), "{said}: {}", ran.all());
    }
    // The data is there, and Aye's own files are not.
    assert_eq!(plain(&place, "learned/tool_fixes")["tool_fixes"][0]["tool_name"], "deploy");
    assert_eq!(plain(&place, "learned/patterns")["auth"][0]["pattern"], "token expired");
    let known = place.aye(&["memory", "list", "--json"]).ok().json();
    assert_eq!((&known["issues"], &known["preferences"]), (&json!([]), &json!([])), "{known}");
    assert_eq!(known["fixes"].as_array().map(Vec::len), Some(1), "{known}");
    assert_eq!(known["fixes"][0]["standing"], "proposed", "{known}");
    // It waits for a person, wherever proposals wait.
    let id = known["fixes"][0]["id"].as_str().unwrap().to_owned();
    for listing in [&["inbox"][..], &["doctor"]] {
        let listed = place.aye(listing);
        assert!(listed.all().contains(&id[..12]), "{listing:?}: {}", listed.all());
    }
    place.aye(&["memory", "agree", &id, "--yes"]).ok();
    let known = place.aye(&["memory", "list", "--json"]).ok().json();
    assert_eq!(known["fixes"][0]["standing"], "prose", "{known}");
}

/// What the first line of such a file says.
#[test]
fn what_a_skill_wrote_is_listed_shown_and_forgotten() {
    let place = Place::new();
    place.write("aye.toml", "");
    place.aye(&["trust", "--yes"]).ok();
    skill(&place, "one", "memory.append('zz', 'list', 'a line')\nresult = 1\n");
    place.aye(&["run", "one.yaml"]).ok();
    let story = place.aye(&["show", "last"]).ok().stdout;
    assert!(story.contains("state state/zz: "), "its whole name: {story}");
    assert!(place.aye(&["memory", "list"]).ok().stdout.contains("  state/zz\n"));
    let shown = place.aye(&["memory", "show", "state/zz"]).ok().stdout;
    assert!(shown.contains("a line"), "{shown}");
    place.aye(&["memory", "forget", "state/zz"]).ok();
    assert_eq!(plain(&place, "zz"), json!({}));
    assert!(!place.aye(&["memory", "list"]).ok().stdout.contains("state/zz"));
    assert_eq!(place.aye(&["memory", "forget", "state/zz"]).code, 3, "there is nothing left");
    place.aye(&["run", "one.yaml"]).ok();
    assert_eq!(plain(&place, "zz"), json!({ "list": ["a line"] }));
}

/// What people work on: issues and merge requests come, change and go.
#[test]
fn current_work_is_added_to_changed_and_removed() {
    let place = Place::new();
    place.write("aye.toml", "");
    place.aye(&["trust", "--yes"]).ok();
    let value = |code: &str| {
        skill(&place, "one", code);
        place.aye(&["run", "one.yaml"]).ok();
        let shown = place.aye(&["show", "last", "--json"]).ok().json();
        let events = shown["events"].as_array().unwrap();
        let done = events.iter().find(|event| event["type"] == "step_completed").unwrap();
        done["value"].clone()
    };
    let seen = value(
        "memory.add_active_issue('AB-1', 'Fix it')\n\
         memory.add_active_issue('AB-2', 'Try it')\n\
         memory.add_open_mr(1403, 'shop', 'Fix it', 'https://x/1403')\n\
         memory.add_open_mr(1404, 'shop', 'Try it', 'https://x/1404', pipeline_status='failed', needs_review=False)\n\
         result = [mr['id'] for mr in memory.get_open_mrs()]\n",
    );
    assert_eq!(seen, json!([1403, 1404]));
    let mrs = plain(&place, "current_work")["open_mrs"].clone();
    let status = |at: usize| [&mrs[at]["pipeline_status"], &mrs[at]["needs_review"]];
    assert_eq!(status(0), [&json!("pending"), &json!(true)], "{mrs}");
    assert_eq!(status(1), [&json!("failed"), &json!(false)], "{mrs}");
    // The next run sees them; one that is added again is the same one, changed.
    let seen = value(
        "before = [memory.remove_active_issue('AB-1'), memory.remove_active_issue('AB-9')]\n\
         gone = [memory.remove_open_mr(1403), memory.remove_open_mr('1499')]\n\
         memory.add_open_mr(1404, 'shop', 'Tried it', 'https://x/1404')\n\
         result = [before, gone, len(memory.get_open_mrs())]\n",
    );
    assert_eq!(seen, json!([[true, false], [true, false], 1]));
    let work = plain(&place, "current_work");
    let keys = |list: &str, key: &str| -> Vec<Value> {
        work[list].as_array().unwrap().iter().map(|one| one[key].clone()).collect()
    };
    assert_eq!(keys("active_issues", "key"), ["AB-2"]);
    assert_eq!(keys("open_mrs", "title"), ["Tried it"]);
}

/// Names of the original system that no skill of the corpus calls, and what they do.
#[test]
fn names_of_the_original_system_do_what_theirs_did() {
    let place = Place::new();
    place.write("aye.toml", "");
    place.aye(&["trust", "--yes"]).ok();
    skill(
        &place,
        "one",
        "memory.save_shared_context({'issue': 'AB-1'})\n\
         memory.add_active_issue('AB-1', 'Fix it')\n\
         memory.record_tool_failure('deploy', 'manifest unknown', {'tag': 'abc'})\n\
         memory.write('knowledge/developer/shop', {'gotchas': {'db': 'slow'}})\n\
         seen = memory.load_shared_context()\n\
         result = [seen['issue'], memory.get_active_issues()[0]['key'], memory.knowledge_query('shop', 'gotchas')]\n",
    );
    place.aye(&["run", "one.yaml"]).ok();
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    let events = shown["events"].as_array().unwrap();
    let done = events.iter().find(|event| event["type"] == "step_completed").unwrap();
    assert_eq!(done["value"], json!(["AB-1", "AB-1", { "db": "slow" }]), "{done}");
    assert_eq!(plain(&place, "shared_context")["context"], json!({ "issue": "AB-1" }));
    assert!(plain(&place, "shared_context")["expires_at"].is_string());
    let failed = plain(&place, "learned/tool_failures")["failures"][0].clone();
    assert_eq!((&failed["tool"], &failed["context"]), (&json!("deploy"), &json!({ "tag": "abc" })));
    assert_eq!(plain(&place, "current_work")["active_issues"][0]["summary"], "Fix it");
    // What another run left is read, as a tool too.
    place.write(
        "two.yaml",
        "name: two\nsteps:\n\
         \x20 - { name: ask, tool: knowledge_query, args: { project: shop, section: gotchas }, output: known }\n\
         \x20 - { name: old, compute: \"result = memory.load_shared_context()['issue']\", output: issue }\n\
         outputs: [{ name: all, value: '{{ known.db }} {{ issue }}' }]\n",
    );
    let ran = place.aye(&["run", "two.yaml", "--json"]).ok();
    assert!(ran.stdout.contains("slow AB-1"), "{}", ran.all());
}
