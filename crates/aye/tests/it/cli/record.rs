//! The record of a run: what `aye show`, `aye logs` and JSON tell of it.

use serde_json::{Value, json};

use super::harness::{Place, assert_says, until};
use super::leaving::cut_off;

/// A state machine that comes to `work` three times and never to `rollback`.
const LOOP: &str = "
name: round
initial: work
states:
  work: { shell: 'echo try >> tries; test $(wc -l < tries) -ge 3 || { echo not yet >&2; exit 1; }', transitions: { success: done, failure: again } }
  again: { command: sleep, args: ['0'], transitions: { success: work } }
  rollback: { command: echo, args: [back], transitions: { success: done } }
  done: { type: final }
";

#[test]
fn a_story_tells_commands_every_visit_and_what_was_not_reached() {
    let place = Place::new();
    place.write("round.yaml", LOOP);
    place.aye(&["run", "round.yaml"]).ok();
    let shown = place.aye(&["show", "last"]).ok().stdout;
    let page = place.aye(&["show", "last", "--markdown"]).ok().stdout;
    assert_says(&[
        (
            &shown,
            &[
                "    $ echo try >> tries;",
                "visit 1: failed after",
                "visit 2: failed after",
                "| not yet",
                "· rollback  not reached",
            ],
        ),
        (
            &page,
            &[
                "| rollback | not reached | | |",
                "- visit 1, attempt 1: failed after",
                "- visit 2, attempt 1: failed after",
                "```sh\nsleep 0\n```",
            ],
        ),
    ]);
    let whole = place.aye(&["show", "last", "--json"]).ok().json();
    assert_eq!(whole["not_reached"], json!(["rollback"]));
}

/// Prints seven lines and fails.
const FAILS: &str = "name: f\nsteps:\n  - { name: build, command: sh, args: [-c, 'for n in 1 2 3 4 5 6 7; do echo line $n >&2; done; exit 3'] }\n";

/// An exit code with a way of its own is no failure, at the last visit and at earlier ones.
#[test]
fn an_earlier_visit_with_an_exact_exit_code_did_not_fail() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\nstates:\n  look: { shell: 'test -e made || exit 3', transitions: { success: done, 3: make } }\n  make: { command: touch, args: [made], transitions: { success: look } }\n  done: { type: final }\n",
    );
    place.aye(&["run", "s.yaml"]).ok();
    for view in [&["show", "last"][..], &["show", "last", "look"], &["show", "last", "--markdown"]]
    {
        let shown = place.aye(view).ok().stdout;
        assert!(shown.contains(": exited after ") && !shown.contains("failed"), "{shown}");
    }
}

#[test]
fn a_failure_is_shown_with_its_last_lines() {
    let place = Place::new();
    place.write("f.yaml", FAILS);
    assert_eq!(place.aye(&["run", "f.yaml"]).code, 1);
    let shown = place.aye(&["show", "last"]).ok().stdout;
    let page = place.aye(&["show", "last", "--markdown"]).ok().stdout;
    assert_says(&[
        (&shown, &["    | line 3\n", "    | line 7\n"]),
        (&page, &["line 3\n", "line 7\n"]),
    ]);
    assert!(!shown.contains("| line 2\n"), "{shown}");
}

#[test]
fn changed_arguments_are_shown_as_a_diff() {
    let place = Place::new();
    place.write("f.yaml", FAILS);
    assert_eq!(place.aye(&["run", "f.yaml"]).code, 1);
    place.aye(&["retry", "last", "--set", "2=echo fixed"]).ok();
    let shown = place.aye(&["show", "last"]).ok().stdout;
    let page = place.aye(&["show", "last", "--markdown"]).ok().stdout;
    assert_says(&[
        (
            &shown,
            &[
                "attempt 2 with changes: requested by a person, by ",
                "      - sh -c 'for n in",
                "      + sh -c 'echo fixed'",
            ],
        ),
        (&page, &["```diff\n- sh -c ", "+ sh -c 'echo fixed'\n"]),
    ]);
}

#[test]
fn one_step_is_shown_in_full() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\nsteps:\n  - { name: plan, compute: 'result = {\"n\": 2}' }\n  - { name: ship, command: echo, args: ['{{ plan.n }} shipped'], confirmation: { message: 'Ship {{ plan.n }}?', timeout: 0 } }\n  - { name: last, command: 'true' }\n",
    );
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let question = inbox[0]["question"].as_str().unwrap();
    place.aye(&["answer", question, "yes", "--reason", "it is time", "--resume"]).ok();
    let shown = place.aye(&["show", "last", "ship"]).ok().stdout;
    for part in [
        "asked: Ship 2?",
        "$ echo '2 shipped'",
        "answered: Proceed, by ",
        "(it is time)",
        "stdout:\n    | 2 shipped",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("last"), "{shown}");
    let shown = place.aye(&["show", "last", "plan"]).ok().stdout;
    assert!(shown.contains("result:\n    | {\n    |   \"n\": 2\n    | }"), "{shown}");
    let one = place.aye(&["show", "last", "ship", "--json"]).ok().json();
    assert_eq!((&one["step"], &one["argv"]), (&json!("ship"), &json!(["echo", "2 shipped"])));
    let none = place.aye(&["show", "last", "shop"]);
    assert_eq!(none.code, 3, "{}", none.all());
    assert!(none.stderr.contains("did you mean `ship`?"), "{}", none.stderr);
}

#[test]
fn a_running_step_has_a_pid_and_time_left() {
    let place = Place::new();
    place.write("long.yaml", "name: long\nsteps:\n  - { name: wait, shell: 'echo $$ > pid; exec sleep 100', timeout: 90s }\n");
    let child = place.start_until(&["run", "long.yaml"], "pid");
    until("the pid", || !place.read("pid").trim().is_empty());
    let shown = place.aye(&["show", "last"]).ok().stdout;
    let pid = place.read("pid").trim().to_owned();
    assert_says(&[(&shown, &[&format!("pid {pid}, "), " so far, 1m ", " left"])]);
    let one = place.aye(&["show", "last", "wait", "--json"]).ok().json();
    assert_eq!(one["pid"].to_string(), pid);
    assert!((80_000..=90_000).contains(&one["remaining_ms"].as_u64().unwrap()), "{one}");
    assert!(one["elapsed_ms"].as_u64().unwrap() < 60_000, "{one}");
    assert!(one["deadline"].is_string(), "{one}");
    // A run that continues has lasted as long in every view.
    let listed = place.aye(&["runs", "--json"]).ok().json()[0]["duration_ms"].as_u64().unwrap();
    let shown = place.aye(&["show", "--json"]).ok().json()["duration_ms"].as_u64().unwrap();
    assert!(listed <= shown && shown < listed + 30_000, "{listed} {shown}");
    place.aye(&["cancel", "last"]).ok();
    place.finish(child);
}

#[test]
fn a_heal_rule_and_what_it_did_are_part_of_the_story() {
    let place = Place::new();
    place.write("h.yaml", "name: h\nheal:\n  - { name: make-room, match: { error: disk full }, repair: { command: touch, args: [room] } }\nsteps:\n  - { name: copy, shell: 'test -e room || { echo disk full >&2; exit 1; }', on_error: auto_heal }\n");
    place.aye(&["run", "h.yaml"]).ok();
    let shown = place.aye(&["show", "last"]).ok().stdout;
    let page = place.aye(&["show", "last", "--markdown"]).ok().stdout;
    assert_says(&[
        (
            &shown,
            &[
                "heal: the rule `make-room` fits the error",
                "$ touch room",
                "heal: `make-room` ran in ",
                "attempt 2: after the repair",
            ],
        ),
        (&page, &["- heal: \\`make-room\\` ran in ", "$ touch room"]),
    ]);
}

#[test]
fn results_of_blocks_are_in_the_logs() {
    let place = Place::new();
    place.write(
        "r.yaml",
        "name: r\nsteps:\n  - { name: block, compute: 'result = {\"a\": [1, 2]}' }\n  - { name: text, compute: 'result = \"plain\"' }\n  - { name: whole, python: true, compute: 'result = 1 + 1' }\n",
    );
    place.aye(&["run", "r.yaml"]).ok();
    assert_eq!(place.aye(&["logs", "last", "text"]).ok().stdout, "plain\n");
    assert_eq!(place.aye(&["logs", "last", "whole"]).ok().stdout, "2\n");
    let block = place.aye(&["logs", "last", "block"]).ok().stdout;
    assert_eq!(serde_json::from_str::<Value>(&block).unwrap(), json!({ "a": [1, 2] }));
    let line = place.aye(&["logs", "last", "block", "--json"]).ok().json();
    assert_eq!((&line["type"], &line["value"]), (&json!("step_result"), &json!({ "a": [1, 2] })));
}

#[test]
fn results_of_tools_are_in_the_logs() {
    let place = Place::new();
    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/tools/server.sh");
    place.write(
        "aye.toml",
        &format!(
            "[tools.own]\nserver = [\"/bin/sh\", {server:?}, \"notes\"]\nlegacy = true\n[tools.greet]\ncommand = [\"echo\", \"hello {{{{ args.name }}}}\"]\nargs = {{ name = {{ required = true }} }}\n"
        ),
    );
    place.aye(&["tools", "trust", "--yes"]).ok();
    place.write(
        "r.yaml",
        "name: r\nsteps:\n  - { name: look, tool: own.fine }\n  - { name: hi, tool: greet, args: { name: ann } }\n",
    );
    place.aye(&["run", "r.yaml"]).ok();
    assert_eq!(place.aye(&["logs", "last", "look"]).ok().stdout, "Status: fine\n");
    // What a command prints is its result: it is not told twice.
    assert_eq!(place.aye(&["logs", "last", "hi"]).ok().stdout, "hello ann\n");
}

/// The second host fails; nobody begins with the third.
const ROLL: &str = "
name: roll
steps:
  - name: restart
    foreach: [web1, web2, web3]
    steps:
      - { name: stop, shell: 'echo {{ item }}; test {{ item }} != web2' }
";

#[test]
fn an_item_is_called_by_its_value_everywhere() {
    let place = Place::new();
    place.write("roll.yaml", ROLL);
    let ran = place.aye(&["run", "roll.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    let message =
        "1 of 3 failed: restart[web2]: step `stop`: exit code 1 (1 of 3 done, 1 not started)";
    let logs = place.aye(&["logs", "last"]).ok().stderr;
    let shown = place.aye(&["show", "last"]).ok().stdout;
    assert_says(&[
        (&ran.stderr, &[message, "  [web1] ✓ stop", "  [web2] ✗ stop"]),
        (&ran.stdout, &["restart[web1]/stop | web1\n"]),
        (&logs, &["== restart[web2]/stop\n"]),
        (&shown, &["  restart[web2]  failed, run "]),
    ]);
    let whole = place.aye(&["show", "last", "--json"]).ok().json();
    assert_eq!(whole["steps"]["restart"]["labels"], json!(["web1", "web2", "web3"]));
    assert_eq!(whole["runs"][1]["item"]["label"], "web2");
    let one = place.aye(&["show", "last", "restart[web2]/stop"]).ok().stdout;
    assert!(one.contains("✗ stop"), "{one}");
}

#[test]
fn a_label_says_what_an_item_is_called() {
    let place = Place::new();
    place.write("l.yaml", "name: l\ninputs:\n  - { name: token, type: secret, default: hunter2 }\nsteps:\n  - { name: each, foreach: [{ host: a, port: 1 }, { host: b, port: 2 }], label: '{{ item.host }}:{{ item.port }}', command: 'true' }\n  - { name: named, foreach: [{ name: x }, { name: x }], command: 'true' }\n  - { name: hidden, foreach: ['{{ inputs.token }}'], command: 'true' }\n");
    place.aye(&["run", "l.yaml"]).ok();
    let whole = place.aye(&["show", "last", "--json"]).ok().json();
    assert_eq!(whole["steps"]["each"]["labels"], json!(["a:1", "b:2"]));
    assert_eq!(whole["steps"]["named"]["labels"], json!(["x", "x#2"]));
    let hidden = &whole["steps"]["hidden"];
    assert!(!hidden.to_string().contains("hunter2"), "{hidden}");
    place.write("bad.yaml", "name: bad\nsteps:\n  - { name: each, foreach: [1], label: '{{ itme }}', command: 'true' }\n");
    let checked = place.aye(&["check", "bad.yaml"]);
    assert!(checked.stdout.contains("`itme` is not defined"), "{}", checked.all());
}

#[test]
fn a_run_is_called_run_and_a_question_question_in_every_view() {
    let place = Place::new();
    place.write(
        "q.yaml",
        "name: q\nsteps:\n  - { name: ask, confirm: { message: Go?, timeout: 0 } }\n",
    );
    let events = place.aye(&["run", "q.yaml", "--json"]);
    assert_eq!(events.code, 6, "{}", events.all());
    let run = place.last();
    let asked = events.stdout.lines().find(|line| line.contains("confirmation_required")).unwrap();
    let asked: Value = serde_json::from_str(asked).unwrap();
    assert_eq!(asked["question"], format!("{run}-1"), "{asked}");
    let runs = place.aye(&["runs", "--json"]).ok().json();
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let shown = place.aye(&["show", &run, "--json"]).ok().json();
    assert_eq!(inbox[0]["details"]["question"], asked["question"], "{inbox}");
    for value in [&runs[0], &inbox[0], &shown, &asked] {
        assert_eq!(value["run"], run.as_str(), "{value}");
        assert_eq!(value["id"], Value::Null, "{value}");
    }
    assert_eq!(inbox[0]["question"], format!("{run}-1"));
    assert_eq!((&runs[0]["status"], &shown["status"]), (&json!("waiting"), &json!("waiting")));
    place.aye(&["answer", &format!("{run}-1"), "yes"]).ok();
    place.aye(&["resume", &run]).ok();
    let decision = place.aye(&["show", &run, "--json"]).ok().json()["decisions"][0].clone();
    assert_eq!(decision["question"], format!("{run}-1"));
    assert_eq!(decision["prompter"], "command");
    assert!(decision["latency_ms"].is_u64(), "{decision}");
}

#[test]
fn every_word_that_runs_prints_is_a_status() {
    let place = Place::new();
    place.write(
        "q.yaml",
        "name: q\nsteps:\n  - { name: ask, confirm: { message: Go?, timeout: 0 } }\n",
    );
    place.write(
        "w.yaml",
        "name: w\nsteps:\n  - { name: a, shell: 'touch began; sleep 100', idempotent: true }\n",
    );
    assert_eq!(place.aye(&["run", "q.yaml"]).code, 6);
    let child = place.start_until(&["run", "w.yaml"], "began");
    let skills = |status: &str| -> Vec<String> {
        let runs = place.aye(&["runs", "--status", status, "--json"]).ok().json();
        let skills =
            runs.as_array().unwrap().iter().map(|run| run["skill"].as_str().unwrap().to_owned());
        skills.collect()
    };
    assert_eq!(skills("waiting"), ["q"]);
    assert_eq!(skills("running"), ["w"]);
    assert_eq!(skills("paused"), Vec::<String>::new());
    cut_off(child, &place);
    until("it is cut off", || place.aye(&["runs"]).ok().stdout.contains("cut-off"));
    assert_eq!(skills("cut-off"), ["w"]);
    assert_eq!(skills("running"), Vec::<String>::new());
    place.aye(&["cancel", "last"]).ok();
    assert_eq!(skills("cancelled"), ["w"]);
}

#[test]
fn verbose_text_holds_no_json() {
    let place = Place::new();
    place.write("v.yaml", "name: v\nsteps:\n  - { name: a, command: echo, args: ['hi there'] }\n");
    let ran = place.aye(&["-v", "run", "v.yaml"]).ok();
    assert!(ran.stderr.contains("#2 step_started  step=a execution=1 attempt=1"), "{}", ran.stderr);
    assert!(ran.stderr.contains("argv.1=\"hi there\""), "{}", ran.stderr);
    assert!(!ran.stderr.lines().any(|line| line.trim_start().starts_with('{')), "{}", ran.stderr);
}

#[test]
fn arguments_are_a_list() {
    let place = Place::new();
    place.write("v.yaml", "name: v\nsteps:\n  - { name: a, command: echo, args: ['hi there'] }\n");
    let ran = place.aye(&["run", "v.yaml", "--json"]).ok();
    let mut events = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let started = events.find(|event| event["type"] == "step_started").unwrap();
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    for step in [&started, &shown["steps"]["a"]] {
        assert_eq!(step["argv"], json!(["echo", "hi there"]), "{step}");
    }
}

#[test]
fn signals_have_names() {
    let place = Place::new();
    place.write("sig.yaml", "name: sig\nsteps:\n  - { name: a, shell: 'kill -SEGV $$' }\n");
    let ran = place.aye(&["run", "sig.yaml"]);
    assert!(ran.stderr.contains("ended by SIGSEGV"), "{}", ran.stderr);
    let process =
        place.aye(&["show", "last", "--json"]).ok().json()["steps"]["a"]["process"].clone();
    assert_eq!((&process["signal"], &process["signal_name"]), (&json!(11), &json!("SIGSEGV")));
}

#[test]
fn a_time_out_says_what_ended_it() {
    let place = Place::new();
    for (script, signal, words) in [
        ("sleep 100", "SIGTERM", "timed out after 100ms, ended (SIGTERM) after "),
        (
            "trap \"\" TERM; while :; do sleep 1; done",
            "SIGKILL",
            "timed out after 100ms, killed (SIGKILL) after ",
        ),
    ] {
        place.write("aye.toml", "[run]\ngrace = \"200ms\"\n");
        place.write(
            "t.yaml",
            &format!("name: t\nsteps:\n  - {{ name: a, shell: '{script}', timeout: 100ms }}\n"),
        );
        let ran = place.aye(&["run", "t.yaml"]);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
        let step = place.aye(&["show", "last", "--json"]).ok().json()["steps"]["a"].clone();
        assert_eq!(step["process"]["ended_with"], signal, "{step}");
        let shown = place.aye(&["show", "last", "a"]).ok().stdout;
        assert!(shown.contains(&format!("Aye ended it with {signal}")), "{shown}");
        let how = if signal == "SIGKILL" { "killed (SIGKILL)" } else { "ended (SIGTERM)" };
        for view in [&["show", "last"][..], &["show", "last", "--markdown"]] {
            let shown = place.aye(view).ok().stdout;
            assert!(shown.contains(&format!("timed out after 100ms, {how}")), "{shown}");
        }
    }
}

#[test]
fn durations_agree_between_views() {
    let place = Place::new();
    place.write("d.yaml", "name: d\nsteps:\n  - { name: a, shell: sleep 0.05 }\n  - { name: b, compute: 'result = 1' }\n");
    place.aye(&["run", "d.yaml"]).ok();
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    let event = |step: &str| -> Value {
        let events = shown["events"].as_array().unwrap();
        let done = |event: &&Value| event["type"] == "step_completed" && event["step"] == step;
        events.iter().find(done).unwrap().clone()
    };
    assert_eq!(shown["steps"]["a"]["duration_ms"], event("a")["process"]["duration_ms"]);
    assert_eq!(shown["steps"]["b"]["duration_ms"], event("b")["duration_ms"]);
    assert!(shown["steps"]["b"]["duration_ms"].is_u64(), "{shown}");
    let ended = shown["events"].as_array().unwrap().last().unwrap()["duration_ms"].clone();
    assert_eq!(shown["duration_ms"], ended);
    assert_eq!(place.aye(&["runs", "--json"]).ok().json()[0]["duration_ms"], ended);
}

/// How long each step took: what the run printed, `aye show` and its page say the same.
#[test]
fn the_run_and_its_record_print_the_same_durations() {
    let place = Place::new();
    place.write("in.yaml", "name: in\nsteps: [{ name: i, shell: sleep 0.02 }]\n");
    place.write(
        "d.yaml",
        "name: d\nsteps:\n  - { name: each, foreach: [a, b], steps: [{ name: s, shell: sleep 0.02 }] }\n  - { name: block, compute: 'result = 1' }\n  - { name: call, skill: in.yaml }\n  - { name: last, shell: sleep 0.02 }\n",
    );
    let ran = place.aye(&["run", "d.yaml"]).ok().stderr;
    let shown = place.aye(&["show", "last"]).ok().stdout;
    let page = place.aye(&["show", "last", "--markdown"]).ok().stdout;
    let mut wrong = Vec::new();
    for step in ["each", "block", "call", "last"] {
        let line = format!("✓ {step}  ");
        let took = ran.lines().find_map(|printed| printed.strip_prefix(line.as_str())).unwrap();
        let is_shown = |printed: &str| {
            let mut words = printed.split([' ', ',']).filter(|word| !word.is_empty());
            words.next() == Some("✓")
                && words.next() == Some(step)
                && printed.contains(&format!(" {took}"))
        };
        if !shown.lines().any(is_shown)
            || !page.contains(&format!("| {step} | ✓ completed | {took} |"))
        {
            wrong.push(format!("{step} took {took}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{ran}\n{shown}\n{page}", wrong.join(", "));
}

const ASKS: &str = "name: q\nsteps:\n  - { name: go, command: 'true', confirmation: { message: Go?, timeout: 20s } }\n";

#[test]
fn a_decision_says_that_nobody_answered() {
    let place = Place::new();
    place.write("q.yaml", ASKS);
    assert_eq!(place.aye(&["run", "q.yaml", "--no-input"]).code, 6);
    let mut later = place.command(&["resume", "last", "--no-input"]);
    let ran = later.env("AYE_TEST_DAYS", "1").output().expect("aye runs");
    assert_eq!(ran.status.code(), Some(5), "{ran:?}");
    let decision = place.aye(&["show", "last", "--json"]).ok().json()["decisions"][0].clone();
    assert_eq!((&decision["expired"], &decision["value"]), (&json!(true), &json!("cancel")));
    assert_eq!((&decision["by"], &decision["prompter"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_decision_says_what_proves_it() {
    let place = Place::new();
    place.write("q.yaml", &ASKS.replace("20s", "1h"));
    assert_eq!(place.aye(&["run", "q.yaml", "--no-input"]).code, 6);
    place.aye(&["answer", &format!("{}-1", place.last()), "proceed"]).ok();
    let decision = place.aye(&["show", "last", "--json"]).ok().json()["decisions"][0].clone();
    assert_eq!(
        (&decision["prompter"], &decision["proof"]),
        (&json!("command"), &json!("local")),
        "{decision}"
    );
}

#[test]
fn a_decision_says_that_it_was_yes_in_advance() {
    let place = Place::new();
    place.write("q.yaml", ASKS);
    place.aye(&["run", "q.yaml", "--yes"]).ok();
    let shown = place.aye(&["show", "last"]).ok().stdout;
    let page = place.aye(&["show", "last", "--markdown"]).ok().stdout;
    let said = "go \"Go?\" = proceed by ";
    assert_says(&[(&shown, &[said, " through --yes"]), (&page, &[said, " through --yes"])]);
    let step = place.aye(&["show", "last", "go"]).ok().stdout;
    assert!(step.contains(" through --yes"), "{step}");
    let decision = place.aye(&["show", "last", "--json"]).ok().json()["decisions"][0].clone();
    assert_eq!((&decision["expired"], &decision["prompter"]), (&Value::Null, &json!("override")));
}

#[test]
fn an_item_is_shown_and_its_logs_are_told_by_its_name() {
    let place = Place::new();
    place.write("roll.yaml", ROLL);
    assert_eq!(place.aye(&["run", "roll.yaml"]).code, 1);
    for name in ["restart[web2]", "restart[1]"] {
        let shown = place.aye(&["show", "last", name]).ok().stdout;
        assert!(shown.contains("✗ stop"), "{shown}");
        assert!(!shown.contains("web1"), "{shown}");
        let page = place.aye(&["show", "last", name, "--markdown"]).ok().stdout;
        assert!(page.contains("| stop | ✗ failed |"), "{page}");
        let whole = place.aye(&["show", "last", name, "--json"]).ok().json();
        assert_eq!(whole["item"]["label"], "web2", "{whole}");
        assert_eq!(place.aye(&["logs", "last", name]).ok().stdout, "web2\n");
    }
    for verb in ["show", "logs"] {
        let none = place.aye(&[verb, "last", "restart[web"]);
        assert_eq!(none.code, 3, "{}", none.all());
    }
}

/// A loop of many visits: the last ones are told, and commands that were different.
#[test]
fn an_overview_shows_the_last_attempts_and_other_commands() {
    let place = Place::new();
    place.write(
        "loop.yaml",
        "\
name: loop
initial: count
states:
  count: { shell: 'echo x >> n; wc -l < n', on_success: check } # aye: allow cycle
  check: { command: test, args: ['{{ count | int }}', -ge, '14'], transitions: { success: done, failure: count } }
  done: { type: final }
",
    );
    place.aye(&["run", "loop.yaml"]).ok();
    let shown = place.aye(&["show", "last"]).ok().stdout;
    let check = &shown[shown.find("check  ").unwrap()..];
    assert!(check.contains("3 attempts before these"), "{shown}");
    assert!(!check.contains("visit 3:"), "{shown}");
    for parts in ["visit 4:", "  $ test 4 -ge 14", "visit 13:", "  $ test 13 -ge 14"] {
        assert!(check.contains(parts), "{parts}: {shown}");
    }
    // One step, as a page.
    let page = place.aye(&["show", "last", "check", "--markdown"]).ok().stdout;
    for part in ["# loop: check\n", "| check | ✓ completed |", "test 1 -ge 14", "test 14 -ge 14"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("wc -l"), "{page}");
}
