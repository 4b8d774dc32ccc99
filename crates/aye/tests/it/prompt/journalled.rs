//! `aye confirm`, `aye choose` and `aye input` with `--journal`: the question
//! is in the inbox and in a run, and a script notices no difference.

use serde_json::{Value, json};

use super::pty::Terminal;
use crate::cli::harness::{Place, until};

/// Asks on a terminal with `--journal`.
#[track_caller]
fn ask(place: &Place, args: &[&str], wait: &str, keys: &str) -> (Option<i32>, String) {
    let mut all = args.to_vec();
    all.push("--journal");
    let mut terminal = Terminal::captured(place, &all);
    terminal.wait_for(wait).keys(keys);
    let code = terminal.end();
    terminal.assert_clean();
    assert!(!terminal.vt.screen().contains(['╭', '╰']), "{}", terminal.vt.screen());
    (code, terminal.stdout())
}

fn inbox(place: &Place) -> Vec<Value> {
    place.aye(&["inbox", "--json"]).ok().json().as_array().unwrap().clone()
}

/// The open question, as soon as there is one.
fn asked(place: &Place) -> String {
    let mut open = Vec::new();
    until("a question in the inbox", || {
        open = inbox(place);
        !open.is_empty()
    });
    open[0]["question"].as_str().unwrap().to_owned()
}

#[test]
fn exit_codes_and_output_are_those_without_a_journal() {
    let place = Place::new();
    let nothing = String::new;
    let confirm = |keys| ask(&place, &["confirm", "Deploy?"], "[y/N]", keys);
    for (keys, code, status) in [
        ("y", Some(0), "completed"),
        ("n", Some(1), "cancelled"),
        ("\x1b", Some(5), "cancelled"),
        // By the signal itself: the shell that runs the script stops too.
        ("\x03", None, "cancelled"),
    ] {
        assert_eq!(confirm(keys), (code, nothing()), "{keys:?}");
        assert_eq!(place.status(), status, "{keys:?}");
        assert_eq!(inbox(&place), [] as [Value; 0], "{keys:?}");
    }
    let late = ["confirm", "Go?", "--timeout", "1s"];
    assert_eq!(ask(&place, &late, "1s left, then no answer", ""), (Some(124), nothing()));
    let late = ["confirm", "Go?", "--timeout", "1s", "--default", "no"];
    assert_eq!(ask(&place, &late, "1s left", ""), (Some(1), nothing()));
    let late = ["input", "Name?", "--timeout", "1s", "--default", "x"];
    assert_eq!(ask(&place, &late, "1s left", ""), (Some(0), "x\n".into()));
    let choose = ["choose", "Where?", "stage", "production"];
    assert_eq!(ask(&place, &choose, "stage", "prod\r"), (Some(0), "production\n".into()));
    assert_eq!(ask(&place, &choose, "stage", "q"), (Some(5), nothing()));
    let input = ["input", "Hex?", "--match", "^[0-9a-f]+$"];
    assert_eq!(ask(&place, &input, "Hex?", "xyz\r\x15beef\r"), (Some(0), "beef\n".into()));
    assert_eq!(inbox(&place), [] as [Value; 0]);
}

#[test]
fn the_prompt_looks_like_that_of_a_script() {
    let place = Place::new();
    let mut screens = Vec::new();
    for journal in [false, true] {
        let mut args = vec!["confirm", "Deploy?", "--timeout", "0"];
        args.extend(journal.then_some("--journal"));
        let mut terminal = Terminal::aye(&place, &args);
        terminal.wait_for("Esc cancels");
        screens.push(terminal.vt.screen());
        terminal.keys("y");
        assert_eq!(terminal.end(), Some(0));
        let closing = terminal.vt.screen();
        assert!(closing.starts_with("● Deploy?  Yes  after "), "{closing}");
        assert_eq!(closing.lines().count(), 1, "{closing}");
    }
    assert_eq!(screens[0], screens[1]);
}

#[test]
fn texts_are_no_templates() {
    let place = Place::new();
    let message = "Is {{ nothing }} {% if %} {# x #} { fine }?";
    let mut terminal = Terminal::captured(&place, &["input", message, "--journal"]);
    terminal.wait_for(message).keys("{{ y }}\r");
    assert_eq!(terminal.end(), Some(0));
    assert_eq!(terminal.stdout(), "{{ y }}\n");
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    assert_eq!(shown["status"], "completed");
    assert!(shown.to_string().contains("{{ nothing }}"), "{shown}");
}

/// Nobody sees it, so its default is not taken: the script hears that in time.
#[test]
fn a_default_that_nobody_sees_does_not_hold_the_script() {
    let place = Place::new();
    let args = ["confirm", "Go?", "--journal", "--timeout", "1s", "--default", "yes"];
    let child = place.start(&args);
    let ran = place.finish(child);
    assert_eq!(ran.code, 124, "{}", ran.all());
    let shown = place.aye(&["show", "last"]).ok().stdout;
    assert!(!shown.contains("running"), "{shown}");
}

#[test]
fn without_a_terminal_the_inbox_is_asked() {
    let place = Place::new();
    let child = place.start(&["choose", "Which host?", "web1", "web2", "--journal", "--json"]);
    let id = asked(&place);
    let open = &inbox(&place)[0];
    assert_eq!((&open["skill"], &open["message"]), (&json!("choose"), &json!("Which host?")));
    assert_eq!(open["driven"], true);
    let wrong = place.aye(&["answer", &id, "web3"]);
    assert_ne!(wrong.code, 0, "{}", wrong.all());
    place.aye(&["answer", &id, "web2"]).ok();
    let late = place.aye(&["answer", &id, "web1"]);
    assert_ne!(late.code, 0, "the first answer wins: {}", late.all());
    let ran = place.finish(child).ok();
    let said = ran.json();
    let run = place.last();
    assert_eq!((&said["value"], &said["run"]), (&json!("web2"), &json!(run)));
    assert_eq!((&said["question"], &said["prompter"]), (&json!(id), &json!("command")));
    assert_eq!(place.status(), "completed");
    let shown = place.aye(&["show", &run]).ok().stdout;
    assert!(shown.contains("Which host?") && shown.contains("web2"), "{shown}");
    place.aye(&["audit"]).ok();
}

#[test]
fn a_prompt_closes_when_somebody_answers_elsewhere() {
    let place = Place::new();
    let mut terminal = Terminal::aye(&place, &["confirm", "Deploy?", "--journal"]);
    terminal.wait_for("[y/N]");
    place.aye(&["answer", &asked(&place), "cancel"]).ok();
    assert_eq!(terminal.end(), Some(1));
    terminal.assert_clean();
    let screen = terminal.vt.screen();
    assert!(screen.starts_with("● Deploy?  No  by "), "{screen}");
    assert!(screen.contains("through command after"), "{screen}");
}

#[test]
fn a_run_that_is_cancelled_ends_the_question() {
    let place = Place::new();
    let child = place.start(&["confirm", "Deploy?", "--journal"]);
    asked(&place);
    place.aye(&["cancel", "last"]).ok();
    let ran = place.finish(child);
    assert_eq!((ran.code, ran.stdout.as_str()), (5, ""), "{}", ran.all());
    assert!(ran.stderr.contains("aye answer"), "{}", ran.all());
}

#[test]
fn a_yes_in_advance_is_recorded_as_such() {
    let place = Place::new();
    place.aye(&["confirm", "Deploy?", "--journal", "--yes"]).ok();
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    assert_eq!(shown["decisions"][0]["prompter"], "override", "{shown}");
    let args = ["input", "Name?", "--journal", "--yes", "--default", "ada", "--json"];
    let said = place.aye(&args).ok().json();
    assert_eq!((&said["value"], &said["prompter"]), (&json!("ada"), &json!("override")));
}

#[test]
fn a_secret_reaches_the_script_and_nothing_else() {
    let place = Place::new();
    let args = ["input", "Token?", "--secret"];
    assert_eq!(ask(&place, &args, "Token?", "s3cret-word\r"), (Some(0), "s3cret-word\n".into()));
    let found = std::process::Command::new("grep")
        .args(["-rl", "s3cret-word"])
        .arg(place.home())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(found.stdout).unwrap(), "");
    let ran = place.aye(&["input", "Token?", "--secret", "--default", "x", "--journal"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
}

#[test]
fn a_script_that_was_killed_leaves_its_question_to_others() {
    let place = Place::new();
    let mut child = place.start(&["confirm", "Deploy?", "--journal"]);
    let id = asked(&place);
    child.kill().unwrap();
    child.wait().unwrap();
    place.aye(&["answer", &id, "proceed", "--resume"]).ok();
    assert_eq!(place.status(), "completed");
}
