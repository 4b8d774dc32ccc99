//! `finally`, as people see it.

use std::process::Child;

use rustix::process::Signal;

use super::harness::{Place, children_of, signal, signal_to, until};

/// A skill whose step `work` does this, and whose `finally` writes how it ended.
fn skill(work: &str) -> String {
    format!(
        "name: demo
steps:
  - name: work
    {work}
finally:
  - name: tell
    shell: echo {{{{ run.status }}}} {{{{ run.failed_step }}}} >> ended.txt
  - name: tidy
    shell: echo tidy >> ended.txt
"
    )
}

fn last_run(place: &Place) -> String {
    place.aye(&["runs", "--json"]).ok().json()[0]["run"].as_str().unwrap().to_owned()
}

#[test]
fn it_runs_after_a_failure_and_every_view_says_so() {
    let place = Place::new();
    place.write("skill.yaml", &skill("shell: exit 3"));
    place.aye(&["check", "skill.yaml"]).ok();
    let planned = place.aye(&["run", "skill.yaml", "--dry-run"]).ok();
    assert!(planned.stdout.contains("finally, however it ends"), "{}", planned.all());
    assert!(planned.stdout.contains("3. tidy"), "{}", planned.all());
    let graph = place.aye(&["graph", "skill.yaml"]).ok();
    assert!(graph.stdout.contains("finally") && !graph.stdout.contains("unreachable"));
    let ran = place.aye(&["run", "skill.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.all().contains("finally  the run failed"), "{}", ran.all());
    assert!(ran.all().contains("demo failed: step `work`: exit code 3"), "{}", ran.all());
    assert_eq!(place.read("ended.txt"), "failed work\ntidy\n");
    let shown = place.aye(&["show", "last"]).ok();
    assert!(shown.stdout.contains("finally"), "{}", shown.all());
    let events = place.aye(&["show", "last", "--json"]).ok();
    assert!(events.stdout.contains("skill_finishing"), "{}", events.all());
    place.aye(&["audit"]).ok();
}

#[test]
fn it_runs_when_the_time_of_the_run_is_up() {
    let place = Place::new();
    let skill = skill("shell: sleep 1000").replacen("steps:", "timeout: 2s\nsteps:", 1);
    place.write("skill.yaml", &skill);
    let ran = place.aye(&["run", "skill.yaml"]);
    assert_eq!(ran.code, 124, "{}", ran.all());
    let ended = place.read("ended.txt");
    assert!(ended.ends_with("\ntidy\n"), "{ended}");
    assert!(ended.contains("work"), "{ended}");
}

#[test]
fn plain_lines_name_what_its_time_does_not_reach() {
    let place = Place::new();
    let text = skill("shell: 'true'").replacen("steps:", "cleanup: 1s\nsteps:", 1);
    let text = text.replace("echo {{ run.status }}", "sleep 1000; echo {{ run.status }}");
    place.write("skill.yaml", &format!("{text}  - name: last\n    shell: 'true'\n"));
    let ran = place.aye(&["run", "skill.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.stderr.contains("\n· not reached: tidy, last\n"), "{}", ran.all());
    // Where nothing is left out, nothing is said of it.
    place.write("skill.yaml", &skill("shell: exit 3"));
    assert!(!place.aye(&["run", "skill.yaml"]).stderr.contains("not reached"));
}

#[test]
fn a_failure_in_it_fails_the_run_and_can_be_retried() {
    let place = Place::new();
    let text = skill("shell: echo work >> ended.txt").replace("echo tidy", "test -e ok && echo ok");
    place.write("skill.yaml", &text);
    let ran = place.aye(&["run", "skill.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    let said = "demo failed: `finally`: step `tidy`: exit code 1";
    assert!(ran.all().contains(said), "{}", ran.all());
    place.write("ok", "");
    let again = place.aye(&["retry", &last_run(&place)]);
    assert_eq!(again.code, 0, "{}", again.all());
    assert_eq!(place.read("ended.txt"), "work\ncompleted \nok\n");
}

#[test]
fn it_runs_when_a_run_that_waits_is_cancelled() {
    let place = Place::new();
    place.write("skill.yaml", &skill("confirm: Continue?"));
    assert_eq!(place.aye(&["run", "skill.yaml", "--no-input"]).code, 6);
    assert_eq!(place.read("ended.txt"), "", "never at a pause");
    let cancelled = place.aye(&["cancel", "last"]);
    assert_eq!(cancelled.code, 0, "{}", cancelled.all());
    assert_eq!(place.read("ended.txt"), "cancelled work\ntidy\n");
    // Nobody let its time run out.
    let shown = place.aye(&["show", "last", "work"]).ok();
    assert!(shown.stdout.contains("withdrawn: the run was stopped"), "{}", shown.all());
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    assert_eq!(shown["decisions"].as_array().map(Vec::len), Some(0), "{shown}");
    let states: Vec<String> = place
        .journal_db()
        .prepare("SELECT state FROM questions")
        .and_then(|mut query| query.query_map([], |row| row.get(0))?.collect())
        .unwrap();
    assert_eq!(states, ["withdrawn"]);
    let runs = place.aye(&["runs", "--json"]).ok().json();
    assert_eq!(runs[0]["status"], "cancelled", "{runs}");
}

/// Who cancelled was killed, and cancelled again: that is one cancel, and nobody asked to end the
/// clean-up.
#[test]
fn cancels_that_were_sent_before_it_began_do_not_end_it() {
    let place = Place::new();
    place.write("skill.yaml", &skill("confirm: Continue?"));
    assert_eq!(place.aye(&["run", "skill.yaml", "--no-input"]).code, 6);
    let cancels = || {
        let body = r#"{"request":"cancel","by":"ada"}"#;
        place
            .journal_db()
            .execute(
                "INSERT INTO requests (run, at, sender, body)
                 SELECT id, unixepoch() * 1000, 'ada', ?1 FROM runs",
                [body],
            )
            .unwrap();
    };
    cancels();
    cancels();
    let resumed = place.aye(&["resume", "last", "--no-input"]);
    assert_eq!(resumed.code, 5, "{}", resumed.all());
    assert_eq!(place.read("ended.txt"), "cancelled work\ntidy\n", "{}", resumed.all());
    let verdicts: Vec<String> = place
        .journal_db()
        .prepare("SELECT verdict FROM requests")
        .and_then(|mut query| query.query_map([], |row| row.get(0))?.collect())
        .unwrap();
    assert_eq!(verdicts, ["accepted", "accepted"]);
}

/// A cancel that is sent while it runs ends it.
#[test]
fn a_cancel_while_it_runs_ends_it() {
    let place = Place::new();
    let text = skill("shell: touch began; sleep 100");
    place.write("skill.yaml", &text.replace("echo tidy", "touch tidying; sleep 100; echo tidy"));
    place.aye(&["run", "skill.yaml", "--detach"]).ok();
    until("the step runs", || place.work().join("began").exists());
    place.aye(&["cancel", "last"]).ok();
    until("it cleans up", || place.work().join("tidying").exists());
    place.aye(&["cancel", "last"]).ok();
    until("it is over", || place.aye(&["runs", "--json"]).ok().json()[0]["status"] == "cancelled");
    assert_eq!(place.read("ended.txt"), "cancelled work\n");
}

/// The steps are over and nobody has cancelled the run: one cancel does not drop its clean-up.
#[test]
fn a_first_cancel_while_it_runs_is_refused_and_now_ends_it() {
    let place = Place::new();
    let text = skill("shell: 'true'");
    place.write("skill.yaml", &text.replace("echo tidy", "touch tidying; sleep 100; echo tidy"));
    place.aye(&["run", "skill.yaml", "--detach"]).ok();
    until("it cleans up", || place.work().join("tidying").exists());
    let cancelled = place.aye(&["cancel", "last"]);
    assert_ne!(cancelled.code, 0);
    assert!(cancelled.stderr.contains("only its `finally` is left"), "{}", cancelled.all());
    assert!(cancelled.stderr.contains("--now` leaves out the rest"), "{}", cancelled.all());
    assert_eq!(place.aye(&["runs", "--json"]).ok().json()[0]["status"], "running");
    place.aye(&["cancel", "last", "--now"]).ok();
    until("it is over", || place.aye(&["runs", "--json"]).ok().json()[0]["status"] != "running");
    assert_eq!(place.read("ended.txt").trim_end(), "completed");
}

#[test]
fn it_runs_when_a_run_in_the_background_is_cancelled() {
    let place = Place::new();
    place.write("skill.yaml", &skill("shell: touch began; sleep 100"));
    place.aye(&["run", "skill.yaml", "--detach"]).ok();
    until("the step runs", || place.work().join("began").exists());
    let cancelled = place.aye(&["cancel", "last"]).ok();
    assert!(
        cancelled.stdout.contains("is being cancelled: it cleans up first"),
        "{}",
        cancelled.all()
    );
    until("it is over", || place.aye(&["runs", "--json"]).ok().json()[0]["status"] == "cancelled");
    assert_eq!(place.read("ended.txt"), "cancelled work\ntidy\n");
}

#[test]
fn only_leaves_it_out_and_from_does_not() {
    let place = Place::new();
    place.write("skill.yaml", &skill("shell: echo work >> ended.txt"));
    place.aye(&["run", "skill.yaml", "--only", "work"]).ok();
    assert_eq!(place.read("ended.txt"), "work\n");
    place.aye(&["run", "skill.yaml", "--from", "work"]).ok();
    assert_eq!(place.read("ended.txt"), "work\nwork\ncompleted \ntidy\n");
    let ran = place.aye(&["run", "skill.yaml", "--from", "tell"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.all().contains("belongs to `finally`"), "{}", ran.all());
}

#[test]
fn the_one_of_a_sub_skill_runs_when_the_run_around_it_is_cancelled() {
    let place = Place::new();
    place.write("inner.yaml", &skill("confirm: Continue?"));
    let outer = "name: outer\nsteps:\n  - name: each\n    foreach: [1, 2]\n    skill: inner.yaml\n";
    place.write("outer.yaml", outer);
    assert_eq!(place.aye(&["run", "outer.yaml", "--no-input"]).code, 6);
    let run = last_run(&place);
    let cancelled = place.aye(&["cancel", &run]);
    assert_eq!(cancelled.code, 0, "{}", cancelled.all());
    assert_eq!(place.read("ended.txt"), "cancelled work\ntidy\n");
    let shown = place.aye(&["show", &run]).ok();
    assert!(!shown.stdout.contains("paused"), "{}", shown.all());
}

/// A cancel that waits when the driver dies is not applied without one: something is to be
/// cleaned up.
#[test]
fn a_cancel_that_a_killed_driver_has_not_read_cleans_up_too() {
    for step in AROUND {
        let place = Place::new();
        place.write("inner.yaml", &skill("shell: touch there; exec sleep 1000"));
        place.write("outer.yaml", &format!("name: outer\nsteps:\n  - {{ name: call, {step} }}\n"));
        let driver = place.start_until(&["run", "outer.yaml"], "there");
        let engine = stop_engine(&place, &driver);
        let cancel = place.start(&["cancel", "last"]);
        let sent = "SELECT count(*) FROM requests WHERE verdict IS NULL";
        let waits = || place.journal_db().query_row(sent, [], |row| row.get::<_, u32>(0)).unwrap();
        until("it is sent", || waits() == 1);
        signal_to(engine, Signal::KILL);
        // The guard has stopped with it, as Ctrl-Z makes it.
        signal(&driver, Signal::CONT);
        drop(place.finish(driver));
        let cancelled = place.finish(cancel);
        assert_eq!(cancelled.code, 0, "{}", cancelled.all());
        assert_eq!(place.status(), "cancelled", "{}", cancelled.all());
        assert_eq!(place.read("ended.txt"), "cancelled work\ntidy\n", "{}", cancelled.all());
        assert_eq!(waits(), 0);
        place.aye(&["audit"]).ok();
    }
}

#[test]
fn an_item_that_fails_does_not_keep_back_the_others() {
    let place = Place::new();
    let run = |more: &str| {
        let each = format!(
            "finally:\n  - name: each\n    foreach: [a, b]\n{more}    shell: echo {{{{ item }}}} >> \
             items.txt; exit 1\n"
        );
        place.write("items.txt", "");
        place
            .write("s.yaml", &format!("name: s\nsteps:\n  - {{ name: w, shell: 'true' }}\n{each}"));
        assert_eq!(place.aye(&["run", "s.yaml"]).code, 1);
        place.read("items.txt")
    };
    assert_eq!(run(""), "a\nb\n");
    assert_eq!(run("    fail_fast: true\n"), "a\n");
}

/// Stops the process that drives, not while it writes to the journal: others could not either.
fn stop_engine(place: &Place, driver: &Child) -> u32 {
    let engine = children_of(driver.id())[0];
    until("it is stopped where the journal is free", || {
        signal_to(engine, Signal::STOP);
        until("it is stopped", || {
            let stat = std::fs::read_to_string(format!("/proc/{engine}/stat")).unwrap();
            stat.rsplit(')').next().unwrap().trim_start().starts_with('T')
        });
        let is_free = place.journal_db().execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_ok();
        if !is_free {
            signal_to(engine, Signal::CONT);
        }
        is_free
    });
    engine
}

/// A run around one whose `finally` waits for the file `go`: by a step, and as an item.
fn around(step: &str) -> Place {
    let place = Place::new();
    place.write(
        "inner.yaml",
        "name: inner
steps:
  - { name: work, shell: 'true' }
finally:
  - name: unlock
    shell: touch tidying; until [ -e go ]; do sleep 0.01; done; echo unlocked >> ended.txt
  - { name: tell, shell: echo told >> ended.txt }
",
    );
    place.write("outer.yaml", &format!("name: outer\nsteps:\n  - {{ name: call, {step} }}\n"));
    place
}

const AROUND: [&str; 2] = ["skill: inner.yaml", "foreach: [1], skill: inner.yaml"];

/// Whoever cancels a run does not know that a run inside it cleans up already.
#[test]
fn a_cancel_of_the_run_around_it_lets_it_finish_and_a_second_ends_it() {
    for step in AROUND {
        for ending in [None, Some(&["cancel", "last"][..]), Some(&["cancel", "last", "--now"])] {
            let place = around(step);
            place.aye(&["run", "outer.yaml", "--detach"]).ok();
            until("it cleans up", || place.work().join("tidying").exists());
            let cancel = place.start(&["cancel", "last"]);
            let events =
                || place.aye(&["show", "last", "--json"]).ok().json()["events"].to_string();
            until("it is taken", || events().contains("skill_stopping"));
            match ending {
                None => drop(place.write("go", "")),
                Some(again) => drop(place.aye(again).ok()),
            }
            assert_eq!(place.finish(cancel).code, 0);
            until("it is over", || place.status() == "cancelled");
            let ended = std::fs::read_to_string(place.work().join("ended.txt"));
            let expected = ending.is_none().then_some("unlocked\ntold\n");
            assert_eq!(ended.ok().as_deref(), expected, "{step} {ending:?}");
        }
        // At once, too.
        let place = around(step);
        place.aye(&["run", "outer.yaml", "--detach"]).ok();
        until("it cleans up", || place.work().join("tidying").exists());
        place.aye(&["cancel", "last", "--now"]).ok();
        until("it is over", || place.status() == "cancelled");
        assert!(!place.work().join("ended.txt").exists());
    }
}

/// What was interrupted in it is over when the run around it is cancelled; the rest is done.
#[test]
fn the_rest_of_it_runs_when_the_run_around_it_is_cancelled_after_an_interrupt() {
    let inside = "foreach: [1, 2], shell: 'touch tidying; until [ -e go ]; do sleep 0.01; done'";
    for (step, nested) in [(AROUND[0], false), (AROUND[1], false), (AROUND[0], true)] {
        let place = around(step);
        if nested {
            let text = place.read("inner.yaml");
            let (head, _) = text.split_once("  - name: unlock").unwrap();
            let tell = "  - { name: tell, shell: echo told >> ended.txt }\n";
            let each = format!("  - {{ name: each, {inside} }}\n");
            place.write("inner.yaml", &format!("{head}{each}{tell}"));
        }
        let child = place.start_until(&["run", "outer.yaml"], "tidying");
        signal(&child, Signal::INT);
        assert_eq!(place.finish(child).code, 130);
        let cancelled = place.aye(&["cancel", "last"]).ok();
        assert_eq!(place.status(), "cancelled", "{}", cancelled.all());
        assert_eq!(place.read("ended.txt"), "told\n", "{step} {}", cancelled.all());
        assert_eq!(place.aye(&["inbox", "--json"]).ok().json().as_array().map(Vec::len), Some(0));
        place.aye(&["audit"]).ok();
    }
}

#[test]
fn a_retry_names_the_skill_and_the_run() {
    let place = Place::new();
    place.write("skill.yaml", &skill("shell: exit 1"));
    for retry in [&["run", "skill.yaml"][..], &["retry", "last"], &["retry", "last", "--plain"]] {
        let ran = place.aye(retry);
        assert_eq!(ran.code, 1, "{}", ran.all());
        assert!(!ran.all().contains("resumed after"), "{}", ran.all());
        assert_eq!(
            ran.all().contains("demo  run RUN, resumed by"),
            retry[0] == "retry",
            "{}",
            ran.all()
        );
    }
}

#[test]
fn its_steps_are_shown_last_also_after_a_retry() {
    let place = Place::new();
    let more = "  - { name: later, shell: 'true' }\nfinally:";
    place.write("skill.yaml", &skill("shell: test -e fixed").replace("finally:", more));
    assert_eq!(place.aye(&["run", "skill.yaml"]).code, 1);
    place.write("fixed", "");
    place.aye(&["retry", "last"]).ok();
    for show in [&["show", "last"][..], &["show", "last", "--markdown"]] {
        let shown = place.aye(show).ok().stdout;
        let at = |name: &str| shown.find(name).unwrap_or_else(|| panic!("{name}: {shown}"));
        assert!(at("later") < at("tidy"), "{shown}");
    }
}

#[test]
fn how_a_run_ends_is_known_there_only() {
    let place = Place::new();
    place.write("skill.yaml", &skill("shell: echo {{ run.status }}"));
    let checked = place.aye(&["check", "skill.yaml"]);
    assert_eq!(checked.code, 2, "{}", checked.all());
    assert!(checked.all().contains("`run.status` is known in `finally` only"), "{}", checked.all());
    let misspelt = skill("shell: 'true'").replace("run.failed_step", "run.failed_steps");
    place.write("skill.yaml", &misspelt);
    let checked = place.aye(&["check", "skill.yaml"]);
    assert_eq!(checked.code, 2, "{}", checked.all());
    assert!(checked.all().contains("did you mean `run.failed_step`?"), "{}", checked.all());
    place.write("skill.yaml", &skill("shell: echo {{ run.id }} {{ run.started }}"));
    place.aye(&["check", "skill.yaml"]).ok();
    place.write("skill.yaml", &skill("shell: 'true'").replace("tidy\n", "work\n"));
    assert!(place.aye(&["check", "skill.yaml"]).all().contains("duplicate-name"));
}

/// A clean-up that a failure led to is not what failed.
#[test]
fn the_step_that_failed_is_named_after_a_clean_up() {
    let place = Place::new();
    place.write(
        "skill.yaml",
        "name: demo
states:
  a: { shell: exit 3, on_error: fail, transitions: { success: d, failure: cl } }
  cl: { shell: echo cleaning, transitions: { success: bad } }
  d: { type: final }
  bad: { type: final, status: failed }
finally:
  - { name: t, command: echo, args: ['{{ run.failed_step }}: {{ run.error }}'] }
",
    );
    let ran = place.aye(&["run", "skill.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.stdout.contains("a: ended in `bad`; step `a`: exit code 3\n"), "{}", ran.all());
}

/// It has what is left of `cleanup`, and none where nobody can be asked.
#[test]
fn a_question_in_it_says_the_time_that_it_has() {
    let place = Place::new();
    let asks = "cleanup: 30m\nfinally:\n  - name: q\n    shell: 'true'\n    \
                confirmation: { message: '# Plan\n\n\nClean?', timeout: 0 }\n";
    place.write("skill.yaml", &skill("shell: 'true'").replacen("finally:\n", asks, 1));
    let ran = place.aye(&["run", "skill.yaml"]).ok();
    for part in ["q  Clean?  nobody can be asked here: counts as no", "nobody could be asked"] {
        assert!(ran.all().contains(part), "{part}: {}", ran.all());
    }
    assert!(!ran.all().contains("in time"), "{}", ran.all());
    place.aye(&["run", "skill.yaml", "--detach", "-q"]).ok();
    let mut open = serde_json::Value::Null;
    until("a question", || {
        open = place.aye(&["inbox", "--json"]).ok().json();
        open[0]["question"].is_string()
    });
    assert!(open[0]["deadline"].is_string() && open[0]["title"].is_null(), "{open}");
    let inbox = place.aye(&["inbox"]).ok().stdout;
    assert!(inbox.contains(" left") && !inbox.contains("no time limit"), "{inbox}");
    place.aye(&["answer", open[0]["question"].as_str().unwrap(), "proceed"]).ok();
    until("the end", || place.status() == "completed");
}
