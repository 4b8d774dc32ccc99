//! What memory did, as an assistant is told of it: with what it changed, once, and
//! with command lines that are said to be the person's.

use serde_json::{Value, json};

use crate::memory::lookup::{FIRST, SECOND, SKILL, furnish};

use super::client::{Client, Got, InboxView};

/// No line names a command line without saying that it is for the person.
#[track_caller]
fn is_for_people(got: &Got) {
    let text = got.text();
    for line in text.lines().filter(|line| line.contains("aye ")) {
        assert!(line.contains("person"), "{line}\n{text}");
    }
    for told in ["memory", "decisions", "unused_fixes"] {
        for line in got.ok()[told].as_array().into_iter().flatten().filter_map(Value::as_str) {
            assert!(!line.contains("`aye ") || line.contains("person"), "{told}: {line}");
        }
    }
}

/// Every line of what memory did is in the text as well as in the data.
#[track_caller]
fn memory_of(got: &Got) -> Vec<String> {
    is_for_people(got);
    let told = got.ok();
    let lines = told["memory"].as_array().unwrap_or_else(|| panic!("{}", got.text()));
    let lines: Vec<String> =
        lines.iter().map(|line| line.as_str().unwrap_or_default().to_owned()).collect();
    for line in &lines {
        assert!(got.text().contains(&format!("memory (data): {line}")), "{line}\n{}", got.text());
    }
    lines
}

fn release(client: &mut Client, image: &str, tag: &str) -> Got {
    let inputs = json!({ "image": image, "tag": tag });
    client.call("skill_run", json!({ "skill": "release", "inputs": inputs }))
}

#[test]
fn a_fix_is_told_with_the_arguments_that_it_changed() {
    let desk = InboxView::untrusted(&[]);
    desk.write("skills/release.yaml", SKILL);
    furnish(&desk);
    let mut client = Client::new(&desk);
    let failed = release(&mut client, "app", "abc123");
    let args =
        json!({ "execution_id": failed.id(), "step": "roll", "args": { "image_tag": FIRST } });
    let done = client.call("skill_retry_step", args);
    assert_eq!(done.status(), "completed", "{}", done.text());
    // What was proposed is said once, as a proposal.
    is_for_people(&done);
    let id = done.ok()["proposals"][0]["id"].as_str().unwrap().to_owned();
    assert!(done.text().contains("proposed fix (data): "), "{}", done.text());
    assert!(!done.text().contains("learned: proposed"), "{}", done.text());
    assert!(!done.ok()["memory"].to_string().contains(&id[..12]), "{}", done.ok());

    let learned = client.call(
        "learn_tool_fix",
        json!({
            "tool": "deploy", "error": "Error: manifest unknown: abc123",
            "first": { "tool": "tags", "with": { "image": "{{ args.image }}", "tag": "{{ args.image_tag }}" } },
            "args": { "image_tag": "{{ first.full_sha }}" },
            "about": "the registry knows the full name",
        }),
    );
    is_for_people(&learned);
    let by =
        |id: &str| desk.aye(&["memory", "show", id, "--json"]).ok().json()["from"]["by"].clone();
    let proposed = id;
    let id = learned.ok()["id"].as_str().unwrap().to_owned();
    assert!(by(&id).as_str().unwrap().contains(" for "), "the assistant is named: {}", by(&id));
    assert_eq!(by(&proposed), by(&id), "in a retry too");
    desk.aye(&["memory", "agree", &id, "--yes"]).ok();
    let healed = release(&mut client, "web", "def456");
    assert_eq!(healed.status(), "completed", "{}", healed.text());
    let told = memory_of(&healed);
    let short = &id[..12];
    let changed = format!("`{short}` changed `roll`: `image_tag` is now `{SECOND}`");
    assert!(told.contains(&changed), "{told:#?}");
    assert!(told.contains(&format!("`{short}` repaired `roll`")), "{told:#?}");
    let tried = told.iter().find(|line| line.contains("known error: trying")).unwrap();
    assert!(tried.contains("for the person: `aye memory forget"), "{tried}");
    assert!(tried.contains("agreed"), "who agreed is told: {tried}");
    // The same is told later.
    let later = client.call("skill_status", json!({ "execution_id": healed.id() }));
    assert!(memory_of(&later).contains(&changed));
}

#[test]
fn an_answer_from_memory_is_told_with_who_gave_it() {
    let ask = "
steps:
  - { name: sure, confirm: { message: Go?, remember: true, timeout: 1h } }
  - { name: go, shell: 'true' }";
    let desk = InboxView::with(&[("go", ask)]);
    let mut client = Client::new(&desk);
    let asks = client.run("go");
    // A client that shows text only can say how the person has it remembered.
    let text = asks.text();
    let person = asks.ok()["remember"]["person"].as_str().unwrap().to_owned();
    assert!(text.contains(&format!("remembered: `{person}`")), "{text}");
    for scope in ["step", "skill", "always"] {
        let covers = asks.ok()["remember"]["scopes"][scope].as_str().unwrap().to_owned();
        assert!(text.contains(&format!("- scope {scope}: {covers}")), "{scope}: {text}");
    }
    is_for_people(&asks);
    let question = asks.ok()["question"].as_str().unwrap().to_owned();
    desk.aye(&["answer", &question, "proceed", "--remember", "step"]).ok();
    let learned = client.call("skill_status", json!({ "execution_id": asks.id(), "wait": 45 }));
    assert_eq!(learned.status(), "completed", "{}", learned.text());
    assert!(
        memory_of(&learned)[0].starts_with("learned: remembered for this step"),
        "{}",
        learned.text()
    );
    // The question may be seen in the moment before memory answers it.
    let begun = client.run("go");
    let done = client.call("skill_status", json!({ "execution_id": begun.id(), "wait": 45 }));
    assert_eq!(done.status(), "completed", "{}", done.text());
    let told = memory_of(&done);
    let used = told.iter().find(|line| line.contains(" chose Proceed ")).unwrap();
    assert!(used.contains(" for this step on ") && used.contains(" in run "), "{used}");
    assert!(used.contains("for the person: `aye memory forget pref-"), "{used}");
}

#[test]
fn a_warning_and_a_rule_of_the_skill_are_told() {
    let rule = "
heal:
  - { name: fetch, match: { error: cannot pull }, repair: { command: touch, args: [there] } }
steps:
  - name: pull
    command: sh
    args: [-c, 'test -e there || { echo cannot pull >&2; exit 1; }', '7']
    on_error: auto_heal";
    let desk = InboxView::with(&[("go", rule)]);
    let now = jiff::Timestamp::now();
    let usage = format!(
        "patterns:\n  - {{id: use-00000001, tool: sh, mistake: format, error: cannot pull, \
         parameter: '3', calls: [{{'3': <n>}}], sightings: 20, first_seen: {now}, last_seen: {now}}}\n"
    );
    std::fs::create_dir_all(desk.home().join("memory/learned")).unwrap();
    std::fs::write(desk.home().join("memory/learned/usage.yaml"), usage).unwrap();
    let mut client = Client::new(&desk);
    let done = client.run("go");
    assert_eq!(done.status(), "completed", "{}", done.text());
    let told = memory_of(&done);
    assert!(told.iter().any(|line| line.starts_with("this usually fails because ")), "{told:#?}");
    assert!(told.contains(&"`fetch` repaired `pull`".to_owned()), "{told:#?}");
}

#[test]
fn a_note_of_a_step_and_a_block_that_usually_fails_are_for_people() {
    let notes = "
steps:
  - name: note
    tool: learn_tool_fix
    args: { tool_name: deploy, error_pattern: manifest unknown, root_cause: short tag, fix_description: use the full one }
  - { name: pull, command: 'false', args: ['7'], on_error: ask }";
    let desk = InboxView::with(&[("go", notes)]);
    let now = jiff::Timestamp::now();
    let usage = format!(
        "patterns:\n  - {{id: use-00000001, tool: 'false', mistake: format, error: cannot pull, \
         calls: [{{'0': 'false', '1': <n>}}, {{'1': <n>}}, {{'0': <n>}}], sightings: 500, first_seen: {now}, last_seen: {now}}}\n"
    );
    std::fs::create_dir_all(desk.home().join("memory/learned")).unwrap();
    std::fs::write(desk.home().join("memory/learned/usage.yaml"), usage).unwrap();
    let mut client = Client::new(&desk);
    let failed = client.run("go");
    assert_eq!(failed.status(), "error_recovery_needed", "{}", failed.text());
    let told = memory_of(&failed);
    assert!(told.iter().any(|line| line.contains("noted as `fix-")), "{told:#?}");
    let error = failed.ok()["error"].as_str().unwrap().to_owned();
    assert!(error.contains("for the person: `aye memory forget use-00000001`"), "{error}");
}
