//! `concurrency`: one run at a time has a name, and the others wait for it.

use rustix::process::{Signal, kill_process};

use super::detach::driver;
use super::harness::{Place, Ran, signal, until};

/// A skill that has a name while it waits for the file `go`, and then writes
/// its input down.
const HOLD: &str = "
name: deploy
concurrency: deploy-{{ inputs.env }}
inputs:
  - { name: env, type: string, default: stage }
  - { name: who, type: string, default: me }
steps:
  - { name: wait, shell: 'touch began.$who; until [ -e go ]; do sleep 0.02; done', env: { who: '{{ inputs.who }}' } }
  - { name: work, shell: 'mkdir busy || touch twice; echo $who >> log; sleep 0.02; rmdir busy', env: { who: '{{ inputs.who }}' } }
";

fn place() -> Place {
    let place = Place::new();
    place.write("deploy.yaml", HOLD);
    place
}

/// Starts it in the background; the id of the run.
fn detached(place: &Place, who: &str) -> String {
    let who = format!("who={who}");
    let ran = place.aye(&["run", "deploy.yaml", "-i", &who, "--detach", "-q"]).ok();
    ran.stdout.trim().to_owned()
}

/// The run that has the name.
fn holder(place: &Place) -> String {
    let run = detached(place, "first");
    until("it has the name", || place.work().join("began.first").exists());
    run
}

fn listed(place: &Place, run: &str) -> serde_json::Value {
    let runs = place.aye(&["runs", "--json"]).ok().json();
    let found = runs.as_array().unwrap().iter().find(|one| one["run"] == run);
    found.cloned().unwrap_or_default()
}

fn stands(place: &Place, run: &str, status: &str) {
    until(&format!("{run} {status}"), || listed(place, run)["status"] == status);
}

/// Where `aye` was told to run in the foreground: its run, once it waits.
fn waiting(place: &Place) -> String {
    let mut run = String::new();
    until("a run waits", || {
        let runs = place.aye(&["runs", "--json", "--status", "queued"]).ok().json();
        run = runs[0]["run"].as_str().unwrap_or_default().to_owned();
        !run.is_empty()
    });
    run
}

#[test]
fn a_second_run_waits_every_view_says_for_which_and_it_goes_on_when_the_name_is_free() {
    let place = place();
    let first = holder(&place);
    let second = place.start(&["run", "deploy.yaml", "-i", "who=second"]);
    let run = waiting(&place);
    let row = listed(&place, &run);
    assert_eq!(
        (&row["waits_for"], &row["concurrency"]),
        (&first.clone().into(), &"deploy-stage".into())
    );
    let runs = place.aye(&["runs"]).ok().stdout;
    assert!(runs.contains(&format!("waits for run {first} (deploy-stage)")), "{runs}");
    let shown = place.aye(&["show", &run]).ok().stdout;
    let words = format!("waits for run {first}: it holds the name `deploy-stage`");
    assert!(shown.contains(&words) && shown.contains(&format!("aye cancel {first}")), "{shown}");
    let shown = place.aye(&["show", &run, "--json"]).ok().json();
    assert_eq!(shown["status"], "queued");
    assert_eq!(shown["concurrency"]["waits_for"], first);
    let planned = place.aye(&["run", "deploy.yaml", "--dry-run"]).ok().stdout;
    assert!(
        planned.contains(&format!("concurrency: deploy-stage  run {first} holds it")),
        "{planned}"
    );
    // Another name is free.
    let free = place.aye(&["run", "deploy.yaml", "--dry-run", "-i", "env=test"]).ok().stdout;
    assert!(
        free.contains("concurrency: deploy-test  one run at a time can hold this name"),
        "{free}"
    );
    place.write("go", "");
    let ran = place.finish(second).ok();
    assert!(ran.stderr.contains(&words) || ran.stdout.contains(&words), "{}", ran.all());
    assert!(ran.all().contains("ends that run"), "{}", ran.all());
    assert!(ran.all().contains("holds the name `deploy-stage` after"), "{}", ran.all());
    assert_eq!(place.read("log"), "first\nsecond\n");
    assert_eq!(listed(&place, &first)["status"], "completed");
    place.aye(&["audit"]).ok();
}

#[test]
fn no_wait_refuses_with_the_id_of_the_holder_and_begins_nothing() {
    let place = place();
    let first = holder(&place);
    for more in [&[][..], &["--detach"][..]] {
        let args = [&["run", "deploy.yaml", "--no-wait"][..], more].concat();
        let ran = place.aye(&args);
        assert_eq!(ran.code, 1, "{}", ran.all());
        let said = format!("error: run `{first}` holds the name `deploy-stage`");
        assert!(ran.stderr.contains(&said), "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("aye cancel {first}")), "{}", ran.stderr);
    }
    assert_eq!(place.aye(&["runs", "--json"]).ok().json().as_array().unwrap().len(), 1);
    place.write("go", "");
    stands(&place, &first, "completed");
    place.aye(&["run", "deploy.yaml", "--no-wait", "-q"]).ok();
}

#[test]
fn no_wait_refuses_to_resume_and_to_retry_and_changes_nothing() {
    let place = place();
    let skill =
        "name: demo\nconcurrency: deploy-stage\nsteps:\n  - { name: a, shell: 'test -e ok' }\n";
    place.write("demo.yaml", skill);
    assert_eq!(place.aye(&["run", "demo.yaml", "-q"]).code, 1);
    let failed = place.last();
    let first = holder(&place);
    let second = detached(&place, "second");
    stands(&place, &second, "queued");
    kill_process(driver(&place, &second).unwrap(), Signal::KILL).unwrap();
    stands(&place, &second, "cut-off");
    let attempts = [
        (&failed, &["retry", &failed][..], "failed"),
        (&second, &["resume", &second], "cut-off"),
        (&second, &["resume", &second, "--detach"], "cut-off"),
    ];
    for (run, args, status) in attempts {
        let ran = place.aye(&[args, &["--no-wait"]].concat());
        assert_eq!(ran.code, 1, "{}", ran.all());
        let said = format!("error: run `{first}` holds the name `deploy-stage`");
        assert!(ran.stderr.contains(&said), "{}", ran.stderr);
        assert_eq!(listed(&place, run)["status"], status, "{args:?}");
    }
    place.write("go", "");
    place.write("ok", "");
    stands(&place, &first, "completed");
    for (_, args, _) in &attempts[..2] {
        place.aye(&[args, &["--no-wait", "-q"][..]].concat()).ok();
    }
    assert_eq!(place.read("log"), "first\nsecond\n");
}

#[test]
fn the_events_of_a_run_that_waits_say_so() {
    let place = place();
    let first = holder(&place);
    let second = place.start(&["run", "deploy.yaml", "--json"]);
    waiting(&place);
    place.write("go", "");
    let ran = place.finish(second).ok();
    let events: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> =
        events.iter().map(|event| event["type"].as_str().unwrap()).take(3).collect();
    assert_eq!(kinds, ["skill_started", "concurrency_waiting", "concurrency_acquired"]);
    assert_eq!((&events[1]["holder"], &events[1]["name"]), (&first.into(), &"deploy-stage".into()));
    assert!(events[2]["waited_ms"].is_u64(), "{}", events[2]);
    assert_eq!(events[0]["concurrency"], "deploy-stage");
}

#[test]
fn a_run_that_waits_can_be_cancelled_and_runs_nothing() {
    let place = place();
    place.write(
        "deploy.yaml",
        &format!("{HOLD}finally:\n  - {{ name: tidy, shell: touch tidied }}\n"),
    );
    let first = holder(&place);
    let second = detached(&place, "second");
    stands(&place, &second, "queued");
    place.aye(&["cancel", &second]).ok();
    stands(&place, &second, "cancelled");
    assert!(!place.work().join("tidied").exists(), "it had nothing to tidy");
    // The same where no process drives it.
    let third = detached(&place, "third");
    stands(&place, &third, "queued");
    kill_process(driver(&place, &third).unwrap(), Signal::KILL).unwrap();
    stands(&place, &third, "cut-off");
    place.aye(&["cancel", &third]).ok();
    stands(&place, &third, "cancelled");
    assert!(!place.work().join("tidied").exists(), "it had nothing to tidy");
    place.write("go", "");
    stands(&place, &first, "completed");
    assert_eq!(place.read("log"), "first\n");
}

#[test]
fn a_run_that_is_paused_or_was_killed_keeps_its_name_until_it_ends() {
    let place = place();
    let first = holder(&place);
    let second = detached(&place, "second");
    kill_process(driver(&place, &first).unwrap(), Signal::KILL).unwrap();
    stands(&place, &first, "cut-off");
    let refused = |place: &Place| {
        let ran = place.aye(&["run", "deploy.yaml", "--no-wait"]);
        assert!(ran.stderr.contains(&format!("run `{first}` holds the name")), "{}", ran.all());
    };
    refused(&place);
    // What became of the step that was cut off is asked: the run is paused.
    assert_eq!(place.aye(&["resume", &first, "--no-input"]).code, 6);
    refused(&place);
    assert_eq!(listed(&place, &second)["waits_for"], first);
    place.write("go", "");
    place.aye(&["cancel", &first]).ok();
    stands(&place, &second, "completed");
    assert_eq!(place.read("log"), "second\n");
}

#[test]
fn those_who_wait_are_served_in_the_order_in_which_they_came() {
    let place = place();
    holder(&place);
    let mut runs = Vec::new();
    for who in ["a", "b", "c", "d"] {
        let run = detached(&place, who);
        stands(&place, &run, "queued");
        runs.push(run);
    }
    let shown = place.aye(&["show", &runs[3], "--json"]).ok().stdout;
    assert!(shown.contains("\"ahead\": 3") || shown.contains("\"ahead\":3"), "{shown}");
    // One that is stopped keeps its place, but holds nobody up.
    kill_process(driver(&place, &runs[1]).unwrap(), Signal::KILL).unwrap();
    stands(&place, &runs[1], "cut-off");
    place.write("go", "");
    stands(&place, &runs[3], "completed");
    assert_eq!(place.read("log"), "first\na\nc\nd\n");
    place.aye(&["resume", &runs[1], "-q"]).ok();
    assert_eq!(place.read("log"), "first\na\nc\nd\nb\n");
    assert!(!place.work().join("twice").exists());
}

#[test]
fn many_that_start_at_once_never_have_the_name_together() {
    let place = place();
    place.write("go", "");
    let names: Vec<String> = (0..12).map(|n| format!("who={n}")).collect();
    let args = |who: &'_ String| {
        ["run", "deploy.yaml", "-q", "-i"].map(str::to_owned).into_iter().chain([who.clone()])
    };
    let started: Vec<_> = names
        .iter()
        .map(|who| {
            let args: Vec<String> = args(who).collect();
            place.start(&args.iter().map(String::as_str).collect::<Vec<_>>())
        })
        .collect();
    for child in started {
        place.finish(child).ok();
    }
    assert_eq!(place.read("log").lines().count(), 12);
    assert!(!place.work().join("twice").exists(), "two had the name");
}

#[test]
fn ctrl_c_pauses_a_run_that_waits_and_resuming_waits_again() {
    let place = place();
    let first = holder(&place);
    let second = place.start(&["run", "deploy.yaml", "-i", "who=second"]);
    let run = waiting(&place);
    signal(&second, Signal::INT);
    let ran = place.finish(second);
    assert_eq!(ran.code, 130, "{}", ran.all());
    let words = format!("is paused; it waited for run {first}: it holds the name `deploy-stage`");
    assert!(ran.all().contains("is paused; it waited for run"), "{}\n{words}", ran.all());
    assert_eq!(listed(&place, &run)["status"], "paused");
    let again = place.start(&["resume", &run, "-q"]);
    stands(&place, &run, "queued");
    place.write("go", "");
    place.finish(again).ok();
    assert_eq!(place.read("log"), "first\nsecond\n");
}

#[test]
fn a_run_that_is_tried_again_waits_too() {
    let place = Place::new();
    let skill = "name: demo\nconcurrency: n\nsteps:\n  - { name: a, shell: 'test -e ok' }\n";
    place.write("demo.yaml", skill);
    place.write("deploy.yaml", &HOLD.replace("deploy-{{ inputs.env }}", "n"));
    assert_eq!(place.aye(&["run", "demo.yaml", "-q"]).code, 1);
    let failed = place.last();
    let first = holder(&place);
    place.write("ok", "");
    let again = place.start(&["retry", &failed]);
    stands(&place, &failed, "queued");
    place.write("go", "");
    let ran = place.finish(again).ok();
    assert!(ran.all().contains("waits for run"), "{}", ran.all());
    assert_eq!(listed(&place, &first)["status"], "completed");
}

#[test]
fn a_sub_skill_shares_the_name_of_the_run_around_it_and_its_siblings_take_turns() {
    let place = Place::new();
    let inner = "name: inner\nconcurrency: shared\nsteps:\n  \
        - { name: work, shell: 'mkdir busy || touch twice; echo x >> log; sleep 0.05; rmdir busy' }\n";
    place.write("inner.yaml", inner);
    let around = "name: outer\nconcurrency: shared\nsteps:\n  - { name: sub, skill: inner.yaml }\n";
    place.write("outer.yaml", around);
    place.aye(&["run", "outer.yaml", "-q"]).ok();
    assert_eq!(place.read("log"), "x\n");
    let each = "name: each\nsteps:\n  - name: all\n    foreach: [1, 2, 3]\n    parallel: 3\n    skill: inner.yaml\n";
    place.write("each.yaml", each);
    let ran = place.aye(&["run", "each.yaml"]).ok();
    assert!(ran.all().contains("waits for run"), "{}", ran.all());
    assert_eq!(place.read("log").lines().count(), 4);
    assert!(!place.work().join("twice").exists(), "two had the name");
}

#[test]
fn a_run_that_rests_because_of_its_own_items_rests_as_a_whole() {
    let place = Place::new();
    let inner = "name: inner\nconcurrency: shared\nsteps:\n  - { name: ask, confirm: Continue? }\n  - { name: work, shell: echo x >> log }\n";
    place.write("inner.yaml", inner);
    let each = "name: each\nsteps:\n  - name: all\n    foreach: [1, 2]\n    parallel: 2\n    skill: inner.yaml\n";
    place.write("each.yaml", each);
    // Nobody can be asked: the first rests with the name, and the second waits for it.
    let ran = place.aye(&["run", "each.yaml", "--no-input"]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    let run = place.last();
    for _ in 0..2 {
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        assert_eq!(inbox.as_array().unwrap().len(), 1, "{inbox}");
        place.aye(&["answer", inbox[0]["question"].as_str().unwrap(), "yes"]).ok();
        let ran: Ran = place.aye(&["resume", &run, "--no-input"]);
        assert!([0, 6].contains(&ran.code), "{}", ran.all());
    }
    assert_eq!((place.status(), place.read("log")), ("completed".to_owned(), "x\nx\n".to_owned()));
}

#[test]
fn two_runs_that_would_wait_for_each_other_do_not() {
    let place = Place::new();
    for name in ["a", "b"] {
        let inner = format!(
            "name: inner_{name}\nconcurrency: {name}\nsteps:\n  - {{ name: work, shell: 'true' }}\n"
        );
        place.write(&format!("inner_{name}.yaml"), &inner);
    }
    for (name, other) in [("a", "b"), ("b", "a")] {
        let outer = format!(
            "name: outer_{name}\nconcurrency: {name}\nsteps:\n  - {{ name: begin, shell: 'touch began.{name}; until [ -e go ]; do sleep 0.02; done' }}\n  - {{ name: sub, skill: inner_{other}.yaml }}\n"
        );
        place.write(&format!("outer_{name}.yaml"), &outer);
    }
    let a = place.start_until(&["run", "outer_a.yaml"], "began.a");
    let b = place.start_until(&["run", "outer_b.yaml"], "began.b");
    place.write("go", "");
    let (a, b) = (place.finish(a), place.finish(b));
    let mut codes = [a.code, b.code];
    codes.sort_unstable();
    assert_eq!(codes, [0, 1], "one continues: {} {}", a.all(), b.all());
    let failed = if a.code == 1 { a } else { b };
    assert!(failed.all().contains("and waits for"), "{}", failed.all());
}

#[test]
fn a_bad_name_is_refused_by_check_and_before_a_run() {
    let place = Place::new();
    let skill = |name: &str| {
        format!(
            "name: demo\nconcurrency: \"{name}\"\ninputs: [{{ name: env, type: string, default: '' }}]\nsteps:\n  - {{ name: a, shell: 'true' }}\n"
        )
    };
    place.write("demo.yaml", &skill("x-{{ a }}"));
    let checked = place.aye(&["check", "demo.yaml"]);
    assert_eq!(checked.code, 2, "{}", checked.all());
    assert!(checked.all().contains("the name of `concurrency` uses `a`"), "{}", checked.all());
    place.write("demo.yaml", &skill("{{ inputs.env }}"));
    let ran = place.aye(&["run", "demo.yaml"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.stderr.contains("error: the name of `concurrency` is empty"), "{}", ran.all());
}
