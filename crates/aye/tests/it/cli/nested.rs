//! Runs inside a run: loops and sub-skills, with gates, crashes and stops.

use std::time::{Duration, Instant};

use super::harness::{AYE, Place, until};

const LOOP: &str = "
name: loop
steps:
  - name: each
    foreach: [a, b, c]
    parallel: 2
    shell: echo \"{{ item }}{{ index }}\" | tee -a lines.txt
outputs:
  - { name: all, value: '{{ each }}' }
";

#[test]
fn every_item_has_a_record_of_its_own_and_the_results_come_in_order() {
    let place = Place::new();
    place.write("loop.yaml", LOOP);
    place.aye(&["run", "loop.yaml"]).ok();
    let run = place.last();
    let shown = place.aye(&["show", &run, "--json"]).ok().json();
    assert_eq!(shown["outputs"]["all"], serde_json::json!(["a0", "b1", "c2"]));
    let inside = shown["runs"].as_array().unwrap();
    assert_eq!(inside.len(), 3);
    for (index, item) in inside.iter().enumerate() {
        assert_eq!(item["run"], format!("{run}_1_{index}"));
        assert_eq!(item["status"], "completed");
    }
    // A listing shows what was asked for, not what is inside it.
    assert_eq!(place.aye(&["runs", "--json"]).ok().json().as_array().unwrap().len(), 1);
    let logs = place.aye(&["logs", &run]).ok();
    assert!(logs.all().contains("== each[b]/each"), "{}", logs.all());
    let shown = place.aye(&["show", &run]).ok();
    assert!(shown.stdout.contains("each[c]"), "{}", shown.stdout);
    place.aye(&["audit"]).ok();
}

#[test]
fn while_a_failed_item_is_asked_about_no_other_starts() {
    let place = Place::new();
    // The second item ends when the first is asked about: before that, the third may start.
    let skill = |more: &str| {
        format!(
            "name: roll
steps:
  - name: each
    foreach: [1, 2, 3, 4]
    parallel: 2
{more}    steps:
      - name: go
        shell: |
          echo {{{{ item }}}} >> lines.txt
          while [ {{{{ item }}}} = 2 ] && [ \"$('{AYE}' inbox --json)\" = '[]' ]; do sleep 0.02; done
          test {{{{ item }}}} != 1
        on_error: ask
"
        )
    };
    let lines = |place: &Place| {
        let mut lines: Vec<String> = place.read("lines.txt").lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines.join(" ")
    };
    place.write("roll.yaml", &skill(""));
    assert_eq!(place.aye(&["run", "roll.yaml", "--no-input"]).code, 6);
    assert_eq!(lines(&place), "1 2");
    // Nor when the run is resumed and nobody answers.
    let run = place.last();
    assert_eq!(place.aye(&["resume", &run, "--no-input"]).code, 6);
    assert_eq!(lines(&place), "1 2");
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let question = inbox[0]["question"].as_str().unwrap();
    place.aye(&["answer", question, "skip", "--resume"]).ok();
    assert_eq!(lines(&place), "1 2 3 4");

    let place = Place::new();
    place.write("roll.yaml", &skill("    fail_fast: false\n"));
    assert_eq!(place.aye(&["run", "roll.yaml", "--no-input"]).code, 6);
    assert_eq!(lines(&place), "1 2 3 4");
}

#[test]
fn one_that_fails_keeps_the_rest_from_starting_unless_told_otherwise() {
    let place = Place::new();
    let skill = |more: &str| {
        format!(
            "name: f\nsteps:\n  - name: each\n    foreach: [1, 2, 3]\n{more}    shell: echo {{{{ item }}}} >> lines.txt; test {{{{ item }}}} != 2\n"
        )
    };
    place.write("fast.yaml", &skill(""));
    let ran = place.aye(&["run", "fast.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.all().contains("1 of 3 failed: each[2]: "), "{}", ran.all());
    assert_eq!(place.read("lines.txt"), "1\n2\n");
    place.write("slow.yaml", &skill("    fail_fast: false\n"));
    assert_eq!(place.aye(&["run", "slow.yaml"]).code, 1);
    assert_eq!(place.read("lines.txt"), "1\n2\n1\n2\n3\n");
    place.write("on.yaml", &skill("    on_error: continue\n"));
    place.aye(&["run", "on.yaml"]).ok();
}

const GATED: &str = "
name: gated
steps:
  - name: each
    foreach: [a, b, c]
    as: host
    command: touch
    args: ['{{ host }}']
    confirmation: { message: 'Touch {{ host }}?', timeout: 0 }
  - name: last
    command: touch
    args: [last]
";

#[test]
fn a_gate_is_asked_for_each_item_and_a_no_leaves_that_one_out() {
    let place = Place::new();
    place.write("gated.yaml", GATED);
    let ran = place.aye(&["run", "gated.yaml"]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    for (answer, host) in [("yes", "a"), ("no", "b"), ("yes", "c")] {
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        assert_eq!(inbox.as_array().unwrap().len(), 1, "{inbox}");
        assert_eq!(inbox[0]["message"], format!("Touch {host}?"));
        let run = place.last();
        assert!(inbox[0]["run"].as_str().unwrap().starts_with(&format!("{run}_")));
        // Nobody drives it: the answer is taken, and the run continues when it is resumed.
        place.aye(&["answer", inbox[0]["question"].as_str().unwrap(), answer]).ok();
        let ran = place.aye(&["resume", &run]);
        assert_eq!(ran.code, if host == "c" { 0 } else { 6 }, "{}", ran.all());
    }
    let exists = |name: &str| place.work().join(name).exists();
    assert_eq!([exists("a"), exists("b"), exists("c"), exists("last")], [true, false, true, true]);
}

#[test]
fn an_answer_from_elsewhere_reaches_a_run_inside_while_others_work() {
    let place = Place::new();
    place.write(
        "two.yaml",
        "name: two\nsteps:\n  - name: each\n    foreach: [ask, work]\n    parallel: 2\n    steps:\n      - name: gate\n        condition: item == 'ask'\n        confirm: { message: 'Sure?', timeout: 0 }\n      - name: act\n        shell: '[ {{ item }} = ask ] && touch asked || { touch working; until [ -e asked ]; do sleep 0.01; done; }'\n",
    );
    let child = place.start_until(&["run", "two.yaml", "--no-input"], "working");
    let mut question = String::new();
    until("a question", || {
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        question = inbox[0]["question"].as_str().unwrap_or_default().to_owned();
        !question.is_empty()
    });
    place.aye(&["answer", &question, "yes"]).ok();
    let ran = place.finish(child);
    assert_eq!(ran.code, 0, "{}", ran.all());
}

const OUTER: &str = "
name: outer
inputs: [{ name: token, type: secret }]
steps:
  - name: call
    skill: inner.yaml
    inputs: { who: '{{ inputs.token }}', times: 2 }
  - name: after
    command: echo
    args: ['{{ call.greeting }}']
";

const INNER: &str = "
name: inner
inputs:
  - { name: who, required: true }
  - { name: times, type: integer, required: true }
steps:
  - name: greet
    shell: echo hello {{ inputs.who }}
outputs:
  - { name: greeting, value: '{{ greet }}!' }
";

#[test]
fn a_sub_skill_gets_inputs_gives_outputs_and_keeps_secrets() {
    let place = Place::new();
    place.write("outer.yaml", OUTER);
    place.write("inner.yaml", INNER);
    let ran = place.aye(&["run", "outer.yaml", "-i", "token=hunter2secret"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(!ran.all().contains("hunter2secret"), "{}", ran.all());
    assert!(ran.stdout.contains("after | hello ***!"), "{}", ran.all());
    let shown = place.aye(&["show", "last", "--json"]).ok();
    assert!(!shown.stdout.contains("hunter2secret"));
    let all = std::process::Command::new("grep")
        .args(["-rlaF", "hunter2secret"])
        .arg(place.home())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&all.stdout), "", "the secret is on disk");
}

#[test]
fn a_sub_skill_that_cannot_be_called_says_why() {
    let place = Place::new();
    place.write("inner.yaml", INNER);
    let call = |skill: &str, inputs: &str| {
        place.write(
            "c.yaml",
            // It might be left out: otherwise it would be refused before it begins.
            &format!(
                "name: c\nsteps:\n  - {{ name: call, condition: 1 < 2, skill: {skill}, inputs: {inputs} }}\n"
            ),
        );
        let ran = place.aye(&["run", "c.yaml"]);
        assert_eq!(ran.code, 1, "{}", ran.all());
        ran.all()
    };
    assert!(call("inner.yml", "{}").contains("there is no file"), "a file that is not there");
    assert!(call("inner.yaml", "{ who: x }").contains("times"), "an input that is missing");
    assert!(
        call("inner.yaml", "{ who: x, times: many }").contains("times"),
        "one that does not fit"
    );
    assert!(call("inner.yaml", "{ who: x, times: 1, tmes: 2 }").contains("tmes"), "one too many");
    let deep = call("c.yaml", "{}");
    assert!(deep.contains("8 deep"), "{deep}");
}

#[test]
fn a_sub_skill_that_is_declined_declines_its_step() {
    let place = Place::new();
    place.write(
        "inner.yaml",
        "name: inner\nsteps:\n  - { name: sure, confirm: { message: Sure?, timeout: 0 } }\n",
    );
    place.write("outer.yaml", "name: outer\ninitial: call\nstates:\n  call: { skill: inner.yaml, transitions: { success: done, declined: sorry } }\n  sorry: { command: touch, args: [sorry], transitions: { success: done } }\n  done: { type: final }\n");
    assert_eq!(place.aye(&["run", "outer.yaml"]).code, 6);
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    place.aye(&["answer", inbox[0]["question"].as_str().unwrap(), "no"]).ok();
    place.aye(&["resume", "last"]).ok();
    assert!(place.work().join("sorry").exists());
}

#[test]
fn cancelling_ends_what_is_inside_in_order() {
    let place = Place::new();
    place.write("inner.yaml", "name: inner\ninitial: work\nstates:\n  work: { shell: 'touch working; sleep 60', timeout: 2m, transitions: { success: done, cancelled: tidy } }\n  tidy: { command: touch, args: [tidied], transitions: { success: done } }\n  done: { type: final }\n");
    place.write("outer.yaml", "name: outer\ninitial: call\nstates:\n  call: { skill: inner.yaml, transitions: { success: done, cancelled: after } }\n  after: { command: touch, args: [after], transitions: { success: done } }\n  done: { type: final }\n");
    let child = place.start_until(&["run", "outer.yaml"], "working");
    place.aye(&["cancel", "last", "--reason", "wrong day"]).ok();
    let ran = place.finish(child);
    assert_eq!(ran.code, 5, "{}", ran.all());
    assert!(place.work().join("tidied").exists() && place.work().join("after").exists());
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    assert_eq!(shown["runs"][0]["status"], "cancelled");
}

/// It is said at once, and not once the clean-up is over.
#[test]
fn a_cancel_says_what_cleans_up() {
    let place = Place::new();
    place.write("inner.yaml", "name: inner\nsteps:\n- { name: work, shell: 'touch working; sleep 60' }\nfinally:\n- { name: tidy, shell: 'while [ ! -e go ]; do sleep 0.02; done' }\n");
    place.write("outer.yaml", "name: outer\nsteps:\n- { name: call, skill: inner.yaml }\n");
    let child = place.start_until(&["run", "outer.yaml"], "working");
    let since = Instant::now();
    let said = place.aye(&["cancel", "last"]).ok();
    assert!(said.stdout.contains("is being cancelled: `call` cleans up first; "), "{}", said.all());
    assert!(since.elapsed() < Duration::from_secs(8), "{:?}", since.elapsed());
    place.write("go", "");
    let ran = place.finish(child);
    assert_eq!(ran.code, 5, "{}", ran.all());
}

#[test]
fn an_interrupt_pauses_all_and_resume_goes_on_inside() {
    let place = Place::new();
    place.write("s.yaml", "name: s\nsteps:\n  - name: each\n    foreach: [a, b]\n    parallel: 2\n    steps:\n      - { name: first, shell: 'echo {{ item }} >> first.txt' }\n      - { name: second, idempotent: true, shell: 'touch {{ item }}; until [ -e go ]; do sleep 0.01; done' }\n");
    let child = place.start(&["run", "s.yaml"]);
    until("both to wait", || place.work().join("a").exists() && place.work().join("b").exists());
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ran = place.finish(child);
    assert_eq!(ran.code, 130, "{}", ran.all());
    assert_eq!(place.status(), "paused");
    place.write("go", "");
    place.aye(&["resume", "last"]).ok();
    let mut first: Vec<String> = place.read("first.txt").lines().map(str::to_owned).collect();
    first.sort();
    assert_eq!(first, ["a", "b"], "what was done inside is not done again");
}

#[test]
fn the_time_of_a_step_is_the_time_of_what_is_inside() {
    let place = Place::new();
    place.write("inner.yaml", "name: inner\nsteps:\n  - { name: wait, shell: sleep 60 }\n");
    place.write(
        "outer.yaml",
        "name: outer\nsteps:\n  - { name: call, skill: inner.yaml, timeout: 1s }\n",
    );
    let began = Instant::now();
    let ran = place.aye(&["run", "outer.yaml"]);
    assert_eq!(ran.code, 124, "{}", ran.all());
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_run_that_is_cancelled_while_nobody_drives_it_leaves_no_question_behind() {
    let place = Place::new();
    place.write("gated.yaml", GATED);
    assert_eq!(place.aye(&["run", "gated.yaml"]).code, 6);
    place.aye(&["cancel", "last"]).ok();
    assert_eq!(place.aye(&["inbox", "--json"]).ok().json(), serde_json::json!([]));
    assert_eq!(place.status(), "cancelled");
    place.aye(&["audit"]).ok();
}

#[test]
fn what_a_skill_refers_to_is_looked_for() {
    let place = Place::new();
    place.write("inner.yaml", INNER);
    place.write("aye.toml", "[tools.deploy]\ncommand = [\"true\"]\n");
    place.write(
        "outer.yaml",
        "name: outer\nsteps:\n  - { name: a, skill: iner.yaml }\n  - { name: b, skill: inner.yaml, inputs: { who: x, tmes: 1 } }\n  - { name: c, tool: deplo }\n  - { name: d, tool: deploy }\n",
    );
    let ran = place.aye(&["check", "outer.yaml"]).ok();
    for said in [
        "outer.yaml:3:23",
        "there is no file `iner.yaml`",
        "has no input `tmes`",
        "did you mean `times`?",
        "needs input `times`",
        "outer.yaml:5:22",
        "did you mean `deploy`?",
    ] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
    assert!(ran.stdout.contains("4 warnings"), "{}", ran.stdout);
    // What is certain to fail is refused before the first step, wherever it begins.
    for detach in [&[][..], &["--detach"], &["--json"]] {
        let ran = place.aye(&[&["run", "outer.yaml"], detach].concat());
        assert_eq!(ran.code, 2, "{}", ran.all());
        for said in [
            "`outer.yaml` is certain to fail",
            "error[unknown-skill]: there is no file `iner.yaml`",
            "error[missing-input]: skill `inner` needs input `times`",
            "error[unknown-input]: skill `inner` has no input `tmes`",
            "error[unknown-tool]: there is no tool `deplo`",
        ] {
            assert!(ran.stderr.contains(said), "{said}: {}", ran.all());
        }
    }
    assert_eq!(place.aye(&["runs", "--json"]).ok().json(), serde_json::json!([]));
    place.aye(&["run", "outer.yaml", "--from", "d"]).ok();
    place.aye(&["run", "outer.yaml", "--only", "d"]).ok();
    assert_eq!(place.aye(&["run", "outer.yaml", "--only", "c"]).code, 2);
}

/// A step that may be left out, whose failure is caught, or whose file may be
/// made by a step before it is not certain to fail.
#[test]
fn what_may_not_fail_begins() {
    let place = Place::new();
    place.write("inner.yaml", INNER);
    place.write("aye.toml", "[tools.deploy]\ncommand = [\"true\"]\n");
    for steps in [
        "{ name: a, tool: deplo, condition: '1 > 2' }",
        "{ name: a, tool: deplo, on_error: continue }",
        "{ name: a, foreach: [], tool: deplo }",
        "{ name: r, command: 'true', then: [{ return: done }] }, { name: a, tool: deplo }",
        "{ name: m, shell: cp inner.yaml made.yaml }, { name: a, skill: made.yaml, inputs: { who: x, times: 1 } }",
    ] {
        place.write("s.yaml", &format!("name: s\nsteps: [{steps}]\n"));
        let ran = place.aye(&["run", "s.yaml"]);
        assert_eq!(ran.code, 0, "{steps}: {}", ran.all());
    }
    for states in [
        "a: { tool: deplo, transitions: { success: z, failure: z } }",
        "y: { command: 'false', transitions: { success: a, failure: z } }, a: { tool: deplo, transitions: { success: z } }",
    ] {
        place.write(
            "s.yaml",
            &format!("name: s\nstates: {{ {states}, z: {{ type: final, status: completed }} }}\n"),
        );
        let ran = place.aye(&["run", "s.yaml"]);
        assert_eq!(ran.code, 0, "{states}: {}", ran.all());
    }
    place.write("s.yaml", "name: s\nstates: { b: { command: 'true', transitions: { success: a } }, a: { tool: deplo, transitions: { success: z } }, z: { type: final } }\n");
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 2);
}

#[test]
fn the_name_that_logs_show_is_a_name_for_logs() {
    let place = Place::new();
    place.write("loop.yaml", LOOP);
    place.aye(&["run", "loop.yaml"]).ok();
    assert_eq!(place.aye(&["logs", "last", "each[b]/each"]).ok().stdout, "b1\n");
    // The number of an item still names it.
    assert_eq!(place.aye(&["logs", "last", "each[1]/each"]).ok().stdout, "b1\n");
}

/// Two items that ask, side by side, each through a skill of its own.
fn two_askers(place: &Place) {
    place.write(
        "live2.yaml",
        "name: live2\nsteps:\n  - { name: q, confirm: { message: Ship?, timeout: 0 } }\n",
    );
    place.write(
        "live.yaml",
        "name: live\nsteps:\n  - { name: s, foreach: [web-1, web-2], parallel: 2, skill: live2.yaml }\n",
    );
}

#[test]
fn the_inbox_says_which_item_a_question_is_about() {
    let place = Place::new();
    two_askers(&place);
    assert_eq!(place.aye(&["run", "live.yaml"]).code, 6);
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let about = |at: usize| (inbox[at]["path"].clone(), inbox[at]["item"].clone());
    assert_eq!(
        about(0),
        (
            serde_json::json!(["s[web-1]", "s"]),
            serde_json::json!({"index": 0, "value": "web-1", "label": "web-1"})
        )
    );
    assert_eq!(
        about(1),
        (
            serde_json::json!(["s[web-2]", "s"]),
            serde_json::json!({"index": 1, "value": "web-2", "label": "web-2"})
        )
    );
    let inbox = place.aye(&["inbox"]).ok();
    assert!(inbox.stdout.contains("live2 · s[web-2] · q\n"), "{}", inbox.stdout);
    // Anyone who lists runs sees that someone is waited for inside it.
    assert_eq!(place.aye(&["runs", "--json"]).ok().json()[0]["waiting"], 2);
    let runs = place.aye(&["runs"]).ok();
    assert!(runs.stdout.contains("waiting"), "{}", runs.stdout);
}

#[test]
fn what_is_decided_inside_is_told_with_its_item() {
    let place = Place::new();
    two_askers(&place);
    assert_eq!(place.aye(&["run", "live.yaml"]).code, 6);
    let run = place.last();
    for question in place.aye(&["inbox", "--json"]).ok().json().as_array().unwrap() {
        let said = place.aye(&["answer", question["question"].as_str().unwrap(), "yes"]).ok();
        assert!(said.stdout.ends_with(&format!("aye resume {run}\n")), "{}", said.stdout);
    }
    place.aye(&["resume", &run]).ok();
    let decisions = place.aye(&["show", &run, "--json"]).ok().json()["decisions"].clone();
    assert_eq!(decisions.as_array().unwrap().len(), 2, "{decisions}");
    assert_eq!(decisions[1]["item"]["label"], "web-2");
    assert_eq!(decisions[1]["step"], "q");
    assert_eq!(decisions[1]["message"], "Ship?");
    let shown = place.aye(&["show", &run]).ok();
    assert!(shown.stdout.contains("? s[web-2] > q \"Ship?\" = proceed by"), "{}", shown.stdout);
    let page = place.aye(&["show", &run, "--markdown"]).ok();
    assert!(page.stdout.contains(r#"- s\[web-2\] \> q "Ship?" = proceed by"#), "{}", page.stdout);
}

#[test]
fn a_run_that_somebody_drives_is_told_as_such_inside_too() {
    let place = Place::new();
    place.write(
        "two.yaml",
        "name: two\nsteps:\n  - name: each\n    foreach: [ask, work]\n    parallel: 2\n    steps:\n      - { name: gate, condition: item == 'ask', confirm: { message: 'Sure?', timeout: 0 } }\n      - name: act\n        shell: '[ {{ item }} = ask ] || { touch working; until [ -e go ]; do sleep 0.01; done; }'\n",
    );
    let child = place.start_until(&["run", "two.yaml", "--no-input"], "working");
    let mut inbox = serde_json::Value::Null;
    until("a question", || {
        inbox = place.aye(&["inbox", "--json"]).ok().json();
        !inbox[0].is_null()
    });
    assert_eq!(inbox[0]["driven"], true, "{inbox}");
    let listed = place.aye(&["inbox"]).ok();
    assert!(!listed.stdout.contains("nobody drives"), "{}", listed.stdout);
    for run in [place.last(), inbox[0]["run"].as_str().unwrap().to_owned()] {
        let shown = place.aye(&["show", &run]).ok();
        assert!(!shown.stdout.contains("aye resume"), "{}", shown.stdout);
        assert!(shown.stdout.contains("? two waits for an answer"), "{}", shown.stdout);
        assert!(shown.stdout.contains(&format!("aye watch {run}")), "{}", shown.stdout);
    }
    place.aye(&["answer", inbox[0]["question"].as_str().unwrap(), "yes"]).ok();
    place.write("go", "");
    place.finish(child).ok();
}

#[test]
fn a_sub_skill_that_is_broken_says_where() {
    let place = Place::new();
    place.write("inner.yaml", "name: inner\nsteps:\n  - { name: a, shel: 'true' }\n");
    place.write("outer.yaml", "name: outer\nsteps:\n  - { name: sub, skill: inner.yaml }\n");
    let ran = place.aye(&["run", "outer.yaml"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.stderr.contains("`inner.yaml` cannot be run: inner.yaml:3:"), "{}", ran.all());
    assert!(ran.stderr.contains("shel"), "{}", ran.all());
}

#[test]
fn who_watches_sees_which_item_asks() {
    let place = Place::new();
    two_askers(&place);
    assert_eq!(place.aye(&["run", "live.yaml"]).code, 6);
    let watched = place.aye(&["watch"]);
    assert_eq!(watched.code, 6, "{}", watched.all());
    for item in ["[web-1]", "[web-2]"] {
        let asked = format!("    {item} ? q  Ship?\n");
        assert!(watched.stderr.contains(&asked), "{}", watched.all());
    }
}

#[test]
fn code_and_its_caret_keep_their_columns() {
    let place = Place::new();
    place.write(
        "c.yaml",
        "name: c\nsteps:\n  - { name: n, description: \"one\\ntwo\" }\n  - { name: nope, command: echo, condition: 'false' }\n  - name: k\n    compute: |\n      result = 1 + nope\n",
    );
    let ran = place.aye(&["run", "c.yaml"]);
    assert!(ran.stderr.contains("n  one\n  two\n"), "{}", ran.all());
    let shown = place.aye(&["show"]).ok();
    let lines: Vec<&str> = shown.stdout.lines().collect();
    let at = lines.iter().position(|line| line.contains("result = 1 + nope")).unwrap();
    assert_eq!(lines[at].find("nope"), lines[at + 1].find("^^^^"), "{}", shown.stdout);
    assert_eq!(shown.stdout.matches("^^^^").count(), 1, "{}", shown.stdout);
}

#[test]
fn logs_and_graphs_have_a_form_for_programs() {
    let place = Place::new();
    place.write("loop.yaml", LOOP);
    place.aye(&["run", "loop.yaml"]).ok();
    let logs = place.aye(&["logs", "last", "each[1]/each", "--json"]).ok();
    assert_eq!((logs.json()["text"].as_str(), logs.stderr.as_str()), (Some("b1"), ""));
    assert_eq!(logs.json()["run"], format!("{}_1_1", place.last()));
    let graph = place.aye(&["graph", "loop.yaml", "--json"]).ok().json();
    assert_eq!(graph["nodes"][0]["step"], "each");
    assert_eq!(graph["links"][0]["from"], 0);
}

#[test]
fn a_skill_of_the_same_file_needs_no_file() {
    let place = Place::new();
    place.write(
        "all.yaml",
        "
workflows:
  outer:
    steps: [{ name: by_name, skill: inner }, { name: by_mark, skill: '#inner' }]
  inner:
    steps: [{ name: i, shell: echo inner >> lines.txt }]
  lost:
    steps: [{ name: l, skill: '#iner' }]
",
    );
    place.aye(&["run", "all.yaml#outer"]).ok();
    assert_eq!(place.read("lines.txt"), "inner\ninner\n");
    let ran = place.aye(&["check", "all.yaml"]);
    assert!(ran.stdout.contains("`all.yaml` has no skill `iner`"), "{}", ran.all());
    assert_eq!(ran.all().matches("unknown-skill").count(), 1, "{}", ran.all());
}

#[test]
fn a_list_says_how_many_items_were_declined() {
    let place = Place::new();
    place.write(
        "each.yaml",
        "name: each\nsteps:\n- {name: loop, foreach: [a, b, c], shell: 'echo {{ item }}', confirmation: 'Do {{ item }}?'}\n",
    );
    let mut last = place.aye(&["run", "each.yaml", "--no-input"]);
    for answer in ["yes", "no", "yes"] {
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        let id = inbox[0]["question"].as_str().unwrap().to_owned();
        last = place.aye(&["answer", &id, answer, "--resume"]);
    }
    assert_eq!(place.status(), "completed");
    assert!(last.all().contains("✓ loop  1 of 3 declined, "), "{}", last.all());
}
