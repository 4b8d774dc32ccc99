//! What an assistant is told, in words alone: nothing that matters is missing,
//! nothing is said twice, and no command line is for the assistant.

use serde_json::{Value, json};

use super::client::{Client, InboxView};

/// A token of texts and JSON like these is at least 3 characters.
fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(3)
}

/// A skill whose question has everything.
pub(super) const RICH: &str = "
description: Releases
inputs: [{ name: commit, default: abc }]
steps:
  - { name: build, shell: echo built 7, output: built }
  - { name: plan, compute: \"result = {'sha': inputs['commit'], 'n': 7}\", output: plan }
  - name: sure
    confirm:
      title: A release
      message: 'Ship {{ built }} of {{ plan.sha }}?'
      options:
        - { label: Ship it, value: ship, description: Makes it public }
        - { label: Leave it, value: leave, action: cancel }
      ai_assist: true
      timeout: 1h
      default: leave
  - { name: ship, shell: touch shipped }";

#[test]
fn a_client_that_shows_text_only_misses_nothing() {
    let desk = InboxView::with(&[("release", RICH)]);
    let mut client = Client::new(&desk);
    let asks = client.call("skill_run", json!({ "skill": "release", "environment": "stage" }));
    let (told, text) = (asks.ok(), asks.text());
    for words in [
        "awaiting_confirmation: release (run ",
        "environment stage",
        "step: sure (skills/release.yaml:",
        "the question: A release",
        "| Ship built 7 of abc?",
        "- ship (Ship it): Makes it public",
        "- leave (Leave it)",
        "built 7",
        "if nobody answers in time: `leave` is taken",
        "may be answered by: anyone; you may relay a person's answer",
        "execution_id: ",
        "next: skill_continue {",
    ] {
        assert!(text.contains(words), "{words:?} is missing:\n{text}");
    }
    for name in ["run", "execution_id", "expires_at"] {
        assert!(text.contains(told[name].as_str().unwrap()), "{name}: {text}");
    }
    // Nothing is said twice: each line once, and the question itself once.
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let all = lines.len();
    lines.dedup();
    assert_eq!(lines.len(), all, "{text}");
    for once in ["Ship built 7 of abc?", "Makes it public", "A release"] {
        assert_eq!(text.matches(once).count(), 1, "{once}: {text}");
    }
    assert!(told.to_string().len() <= 4096 && text.len() <= 4096, "{}", text.len());
    assert!(tokens(&text) <= 700, "{} tokens: {text}", tokens(&text));
    assert!(tokens(&told.to_string()) <= 900, "{} tokens: {told}", tokens(&told.to_string()));
}

/// Command lines are for people; where one is named it is said to be theirs.
#[test]
fn no_words_of_the_command_line_are_for_the_assistant() {
    let needs = "
inputs: [{ name: commit, required: true }]
steps:
  - { name: build, shell: echo built }";
    let desk = InboxView::with(&[("needs", needs), ("broken", "stepz: []")]);
    let mut client = Client::new(&desk);
    let calls: [(&str, Value); 7] = [
        ("skill_run", json!({ "skill": "needs" })),
        ("skill_run", json!({ "skill": "nothing" })),
        ("skill_run", json!({ "skill": "broken" })),
        ("skill_describe", json!({ "skill": "broken" })),
        ("skill_list", json!({})),
        ("skill_status", json!({ "execution_id": "abc" })),
        ("skill_logs", json!({ "execution_id": "aaaaaaaaaa-1-000000000000000000000000" })),
    ];
    for (tool, arguments) in calls {
        let text = client.call(tool, arguments).text();
        for line in text.lines().filter(|line| line.contains("aye ") || line.contains(" -i ")) {
            assert!(line.contains("person"), "{tool}: {line}");
        }
    }
    let missing = client.run("needs").refused();
    assert!(missing.contains("give `commit` in `inputs`"), "{missing}");
    let described = client.call("skill_describe", json!({ "skill": "broken" }));
    assert!(described.text().contains("stepz"), "{}", described.text());
}

#[test]
fn what_a_failed_step_wrote_is_said_once() {
    let fails = "
steps:
  - { name: pull, shell: \"printf 'no %s here\\n' tag >&2; exit 3\", on_error: ask }";
    let desk = InboxView::with(&[("fails", fails)]);
    let mut client = Client::new(&desk);
    let asks = client.run("fails");
    assert_eq!(asks.status(), "error_recovery_needed", "{}", asks.text());
    let told = asks.ok();
    assert_eq!(told["message"], "`pull` failed: see `error`");
    assert_eq!(told["error"], "exit code 3\noutput: no tag here");
    assert_eq!(asks.text().matches("no tag here").count(), 1, "{}", asks.text());
    // A person, who has no field beside the message, sees it there.
    let inbox = desk.aye(&["inbox"]).ok();
    assert!(inbox.stdout.contains("no tag here"), "{}", inbox.all());
}

/// As many and as long as a question can have: neither data nor text is longer than 4 KB,
/// and what can be chosen is still there.
#[test]
fn a_pause_is_short_whatever_is_in_it() {
    let words = "word ".repeat(60);
    let options: Vec<String> = (0..40)
        .map(|n| {
            format!("        - {{ label: 'L{n} {words}', value: v{n}, description: '{words}' }}")
        })
        .collect();
    let many = format!(
        "
inputs: [{{ name: long, default: '{words}' }}]
steps:
  - name: which
    choose:
      title: '{words}'
      message: '{words}{words}{words} {{{{ inputs.long }}}}'
      remember: true
      timeout: 1h
      options:
{}
  - {{ name: after, shell: 'true' }}",
        options.join("\n")
    );
    let gate = format!(
        "
steps:
  - name: sure
    confirm: {{ message: '{words}', remember: true, timeout: 1h }}
  - {{ name: act, command: echo, args: [{}] }}",
        (0..30).map(|n| format!("'{n} {words}'")).collect::<Vec<_>>().join(", ")
    );
    let fails = format!(
        "
steps:
  - {{ name: bad, shell: 'for n in 1 2 3 4 5 6 7 8 9; do echo \"{words}\" >&2; done; exit 1', on_error: ask }}"
    );
    let desk = InboxView::with(&[("many", &many), ("gate", &gate), ("fails", &fails)]);
    let mut client = Client::new(&desk);
    for skill in ["many", "gate", "fails"] {
        let asks = client.run(skill);
        let (data, text) = (asks.ok(), asks.text());
        let size = data.to_string().len();
        assert!(size <= 4096 && text.len() <= 4096, "{skill}: {size} {}", text.len());
        let id = data["execution_id"].as_str().unwrap();
        assert!(text.contains(&format!("execution_id: {id}")), "{text}");
        let offered = data["options"].as_array().unwrap();
        assert!(offered.iter().all(|option| option["value"].is_string()), "{data}");
        assert_eq!(data["left_out"].is_u64(), text.contains("details were left out"), "{text}");
    }
    let data = client.run("many").ok();
    assert_eq!(data["options"].as_array().unwrap().len(), 40, "{data}");
    assert!(data["next"].as_array().is_some_and(|next| !next.is_empty()), "{data}");
}

#[test]
fn lists_and_descriptions_say_in_words_what_their_data_says() {
    let outputs = format!("{RICH}\noutputs: [{{ name: version, value: '{{{{ built }}}}' }}]");
    let desk = InboxView::with(&[
        ("release", &outputs),
        ("short", "steps:\n  - { name: one, shell: 'true' }"),
    ]);
    let mut client = Client::new(&desk);
    let described = client.call("skill_describe", json!({ "skill": "release" }));
    assert!(described.text().contains("outputs: version"), "{}", described.text());
    let inputs = json!({ "skill": "release", "environment": "stage" });
    let asks = client.call("skill_run", inputs);
    let open = client.call("inbox", json!({}));
    let question = open.ok()["questions"][0].clone();
    let text = open.text();
    assert!(text.contains("options ship, leave"), "{text}");
    assert!(
        text.contains(&format!("until {}", question["expires_at"].as_str().unwrap())),
        "{text}"
    );
    for _ in 0..3 {
        assert_eq!(client.run("short").status(), "completed");
    }
    let runs = client.call("run_list", json!({}));
    let text = runs.text();
    assert!(text.contains("environment stage, at step sure, started "), "{text}");
    let ended = runs.ok()["runs"][0]["ended"].as_str().unwrap().to_owned();
    assert!(text.contains(&format!(", ended {ended}")), "{text}");
    // Only those of one skill, and no more than are wanted.
    let some = client.call("run_list", json!({ "skill": "short", "limit": 2 }));
    let listed = some.ok()["runs"].as_array().unwrap().clone();
    assert_eq!(listed.len(), 2, "{listed:?}");
    assert!(listed.iter().all(|run| run["skill"] == "short"), "{listed:?}");
    assert!(some.text().contains("and more"), "{}", some.text());
    let other = client.call("run_list", json!({ "skill": "release", "limit": 2 }));
    assert_eq!(other.ok()["runs"].as_array().unwrap().len(), 1, "{}", other.text());
    assert_eq!(other.ok()["runs"][0]["run"], asks.ok()["run"]);
}

/// A command line in Aye's own words is for a person; what a program wrote is left as it is.
#[test]
fn what_a_program_wrote_is_not_worded_anew() {
    let bad = "
steps:
  - { name: a, shel: 'true' }
  - { name: b, shel: 'true' }
  - { name: c, shel: 'true' }";
    let hints = "
steps:
  - name: no
    shell: |
      echo 'first line' >&2
      echo 'hint: run `aye trust` first' >&2
      exit 1
    on_error: ask";
    let calls = "
inputs: [{ name: which, default: bad }]
steps:
  - { name: call, skill: '{{ inputs.which }}', on_error: ask }";
    let scheduled = "
schedule: '0 3 * * *'
steps:
  - { name: a, shell: 'true' }";
    let desk = InboxView::with(&[
        ("bad", bad),
        ("hints", hints),
        ("calls", calls),
        ("scheduled", scheduled),
        ("tool", "steps:\n  - { name: no, tool: nothing.here, on_error: ask }"),
    ]);
    desk.write("aye.toml", "[tools.own]\nserver = ['/bin/sh']\n");
    desk.aye(&["trust", "--yes"]).ok();
    let mut client = Client::new(&desk);
    let failed = client.run("hints");
    let wrote = "hint: run `aye trust` first";
    for got in [&failed, &client.call("debug_tool", json!({ "execution_id": failed.id() }))] {
        let error = got.ok()["error"].as_str().unwrap().to_owned();
        assert!(error.ends_with(&format!("output: first line\n{wrote}")), "{error}");
    }
    let mut told = vec![
        client.run("scheduled"),
        client.call("skill_describe", json!({ "skill": "scheduled" })),
        client.call("skill_run", json!({ "skill": "calls", "inputs": { "which": "scheduled" } })),
    ];
    for skill in ["calls", "tool"] {
        let asks = client.run(skill);
        if asks.whole["isError"] != true {
            told.push(client.call("debug_tool", json!({ "execution_id": asks.id() })));
        }
        told.push(asks);
    }
    for got in told {
        for line in got.text().lines().filter(|line| line.contains("`aye ")) {
            assert!(line.contains("person"), "{line}\n{}", got.text());
        }
    }
    let failed = client.run("calls");
    assert!(failed.text().contains("2 more errors"), "{}", failed.text());
}

/// What a step that failed was given is told once, and not as what a yes starts.
#[test]
fn the_command_of_a_step_that_failed_is_said_once() {
    let fails = "
steps:
  - { name: first, compute: 'result = 1', output: one }
  - { name: other, compute: 'result = 2', output: two }
  - { name: no, command: sh, args: [-c, 'exit 7'], on_error: ask }";
    let block = "
steps:
  - { name: first, compute: 'result = 1', output: one }
  - { name: other, compute: 'result = 2', output: two }
  - { name: sum, compute: 'result = {\"a\": one}[\"b\"]' }";
    let desk = InboxView::with(&[("fails", fails), ("block", block)]);
    let mut client = Client::new(&desk);
    let failed = client.run("fails");
    let told = failed.ok();
    assert_eq!(told["args"], json!({ "0": "sh", "1": "-c", "2": "exit 7" }), "{told}");
    assert!(told.get("command").is_none(), "{told}");
    assert!(!failed.text().contains("a yes starts"), "{}", failed.text());
    assert_eq!(failed.text().matches("exit 7").count(), 1, "{}", failed.text());
    let block = client.run("block").ok();
    let values = json!({ "one": 1, "names": ["two"] });
    assert_eq!(block["variables"], values, "a name that has its value here is not listed again");
}

/// What the data of other calls says is in their texts too.
#[test]
fn a_client_that_shows_text_only_can_advise_debug_and_look_up() {
    let strict = "
steps:
  - { name: sure, confirm: { message: Sure?, by: human, timeout: 1h } }";
    let fails = "
steps:
  - { name: no, shell: 'echo {{ 3 + 4 }} lost >&2; exit 1', on_error: ask }";
    let desk = InboxView::with(&[("strict", strict), ("fails", fails)]);
    let mut client = Client::new(&desk);
    let asks = client.run("strict");
    let open = client.call("inbox", json!({}));
    let id = open.ok()["questions"][0]["execution_id"].as_str().unwrap().to_owned();
    assert!(open.text().contains(&format!("execution_id {id}; for a person: ")), "{}", open.text());
    let args = json!({ "execution_id": id, "advice": "Wait." });
    assert_eq!(client.call("skill_advise", args).ok()["run"], asks.ok()["run"]);
    let failed = client.run("fails");
    let debugged = client.call("debug_tool", json!({ "execution_id": failed.id() }));
    let command = debugged.ok()["command"].as_str().unwrap().to_owned();
    assert!(command.contains("echo 7 lost"), "{command}");
    assert!(debugged.text().contains(&format!("\n| {command}")), "{}", debugged.text());
    let fix = json!({
        "tool": "sh", "error": "7 lost", "args": { "script": "echo found" }, "about": "find it",
        "step": "no",
    });
    client.call("learn_tool_fix", fix).ok();
    let words = json!({ "tool": "sh", "error": "7 lost", "about": "look behind the sofa" });
    client.call("learn_tool_fix", words).ok();
    let known = client.call("check_known_issues", json!({ "tool": "sh", "error": "7 lost" }));
    let text = known.text();
    assert!(text.contains("(proposed): find it; when `sh`, step `no` fails with `"), "{text}");
    assert!(text.contains("`script` becomes \"echo found\""), "{text}");
    assert_eq!(text.matches("look behind the sofa").count(), 1, "{text}");
}
