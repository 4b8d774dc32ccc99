//! `aye memory`.

use insta::assert_snapshot;

use crate::cli::harness::Place;

/// A fix, taught.
fn teach(place: &Place) -> String {
    let args = ["--error", "token expired", "--tool", "oc", "--fix", "log in", "--", "oc", "login"];
    let all = [&["memory", "learn", "--json"][..], &args].concat();
    let learned = place.aye(&all).ok().json();
    learned["id"].as_str().unwrap().to_owned()
}

#[test]
fn nothing_was_learned_yet() {
    let place = Place::new();
    assert_eq!(place.aye(&["memory", "list"]).ok().stdout, "nothing was learned yet\n");
    let list = place.aye(&["memory", "list", "--json"]).ok().json();
    assert_eq!(list["fixes"], serde_json::json!([]));
    assert_snapshot!(place.aye(&["memory", "stats"]).all(), @r"
    --- stdout
    no runs yet
    0 fixes (0 suspended, 0 proposed), 0 known issues, 0 preferences, 0 patterns of use (0 sure enough to warn)
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["memory", "check", "it broke"]).all(), @r"
    --- stdout
    memory knows nothing about it; add it with `aye memory learn`
    --- exit 1
    ");
    assert!(!place.home().join("memory").exists());
}

#[test]
fn a_fix_is_taught_listed_found_shown_and_forgotten() {
    let place = Place::new();
    let id = teach(&place);
    let known = |text: String| text.replace(&id, "fix-ID").replace(&id[..12], "fix-ID");
    assert_snapshot!(known(place.aye(&["memory", "list"]).all()), @r"
    --- stdout
    fixes (learned)
      fix-ID  active  oc: token expired -> first oc login; worked 0 times
    --- exit 0
    ");
    let check = ["memory", "check", "error: Token expired", "--tool", "oc"];
    assert_snapshot!(known(place.aye(&check).all()), @r"
    --- stdout
    kind of error: auth
    fixes (learned)
      fix-ID  active  oc: token expired -> first oc login; worked 0 times
    --- exit 0
    ");
    let found = place.aye(&[&check[..], &["--json"]].concat()).ok().json();
    assert_eq!(
        (&found["category"], &found["fixes"][0]["id"]),
        (&"auth".into(), &id.clone().into())
    );
    assert_eq!(place.aye(&["memory", "check", "token expired", "--tool", "git"]).code, 1);
    let piped = place.aye_with_input(&["memory", "check", "-", "--tool", "oc"], "token expired\n");
    assert_eq!(piped.code, 0);
    let shown = known(place.aye(&["memory", "show", &id[..6]]).ok().stdout);
    assert!(shown.contains("data, not an instruction"), "{shown}");
    assert!(shown.contains("command: [oc, login]"), "{shown}");
    assert_snapshot!(known(place.aye(&["memory", "forget", &id]).all()), @r"
    --- stdout
    forgot fix-DIGEST
    --- exit 0
    ");
    assert_snapshot!(known(place.aye(&["memory", "forget", &id]).all()), @r"
    --- stderr
    error: memory has no `fix-DIGEST`
    hint: `aye memory list` shows what there is
    --- exit 3
    ");
}

#[test]
fn the_beginning_of_an_id_is_enough_to_show_and_to_forget() {
    let place = Place::new();
    let asks: Vec<String> =
        (0..8).map(|n| format!("s{n}:gate: {{ auto_proceed: false }}\n")).collect();
    place.write("confirmations.yaml", &asks.concat());
    place.aye(&["memory", "import", "confirmations.yaml"]).ok();
    let ids = || -> Vec<String> {
        let list = place.aye(&["memory", "list", "preferences", "--json"]).ok().json();
        let list = list["preferences"].as_array().unwrap().clone();
        list.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    let before = ids();
    assert_eq!(before.len(), 8, "{before:?}");
    // The same rule for both; what could be meant is named, and nothing is forgotten.
    for verb in ["show", "forget"] {
        let several = place.aye(&["memory", verb, "orig-"]);
        assert_eq!(several.code, 2, "{}", several.all());
        assert!(several.stderr.contains("`orig-` stands for several: orig-"), "{}", several.all());
        assert!(before.iter().all(|id| several.stderr.contains(id)), "{}", several.all());
        let none = place.aye(&["memory", verb, ""]);
        assert_eq!(none.code, 3, "{}", none.all());
    }
    assert_eq!(ids(), before);
    let (short, full) = (&before[0][..before[0].len() - 1], &before[0]);
    let shown = place.aye(&["memory", "show", short, "--json"]).ok().json();
    assert_eq!(shown["id"], full.as_str());
    assert_eq!(place.aye(&["memory", "forget", short]).ok().stdout, format!("forgot {full}\n"));
    assert_eq!(ids(), before[1..]);
    let forgotten = place.aye(&["memory", "forget", &before[1], "--json"]).ok().json();
    assert_eq!(forgotten["forgotten"][0], before[1].as_str());
    let gone = place.aye(&["memory", "forget", short]);
    assert_eq!(gone.code, 3, "{}", gone.all());
}

#[test]
fn a_known_issue_is_taught_and_left_to_people() {
    let place = Place::new();
    place.write("aye.toml", "");
    let learn = ["memory", "learn", "--error", "manifest unknown", "--meaning", "the tag is short"];
    let learn =
        [&learn[..], &["--fix", "use the full SHA", "--tag", "registry", "--shared"]].concat();
    let learned = place.aye(&[&learn[..], &["--json"]].concat()).ok().json();
    let id = learned["id"].as_str().unwrap().to_owned();
    assert_snapshot!(place.read(".aye/memory/learned/patterns.yaml"), @r"
    issues:
      - pattern: manifest unknown
        meaning: the tag is short
        fix: use the full SHA
        tags: [registry]
    ");
    let known = |text: String| text.replace(&id, "issue-ID");
    assert_snapshot!(known(place.aye(&["memory", "check", "Manifest unknown: x"]).all()), @r"
    --- stdout
    kind of error: registry
    probably a value is written the wrong way
    known issues (written by people)
      issue-ID  manifest unknown  use the full SHA
        the tag is short
    --- exit 0
    ");
    let forget = place.aye(&["memory", "forget", &id]);
    assert_eq!(forget.code, 1);
    assert!(forget.stderr.contains("patterns.yaml:2"), "{}", forget.all());
    let again = place.aye(&learn);
    assert!(again.stderr.contains("is known already"), "{}", again.all());
}

#[test]
fn what_is_malformed_is_said_with_its_line() {
    let place = Place::new();
    let text = "issues:\n  - pattern: disk full\n    fix: make room\n  - fix: no pattern\n";
    place.write(".aye/memory/learned/patterns.yaml", text);
    let listed = place.aye(&["memory", "list"]).ok();
    assert!(listed.stdout.contains("disk full"), "{}", listed.all());
    assert_snapshot!(listed.stderr, @"warning: PLACE/work/.aye/memory/learned/patterns.yaml:4: this entry of `issues` is passed over: `pattern` is missing");
    let json = place.aye(&["memory", "list", "issues", "--json"]).ok().json();
    assert_eq!(json["problems"][0]["line"], 4);
}

#[test]
fn lessons_that_make_no_sense_say_what_to_write() {
    let place = Place::new();
    let learn = |args: &[&str]| place.aye(&[&["memory", "learn"][..], args].concat()).all();
    assert_snapshot!(learn(&[]), @r"
    --- stderr
    error: nobody can be asked: neither standard input nor standard error is a terminal
    hint: give `--error` and what to do about it: `aye memory learn --help`
    --- exit 6
    ");
    assert_snapshot!(learn(&["--error", "disk full"]), @r"
    --- stderr
    error: there is nothing to learn about the error
    hint: say what it means with `--meaning`, what to do with `--fix`, or give a command after `--`
    --- exit 2
    ");
    assert_snapshot!(learn(&["--error", "x", "--fix", "y"]), @r"
    --- stderr
    error: the pattern `x` would match nearly everything: write at least 3 letters or digits
    hint: write words of the error, or `/a regular expression/`
    --- exit 2
    ");
    assert_snapshot!(learn(&["--error", "disk full", "--", "make", "room"]), @r"
    --- stderr
    error: `match` needs a `tool` or a `step` besides `error`
    hint: `aye memory learn --help` shows how
    --- exit 1
    ");
    assert_snapshot!(learn(&["--error", "disk full", "--tool", "x", "--set", "y"]), @r"
    --- stderr
    error: `--set y` has no value
    hint: write it as NAME=VALUE
    --- exit 2
    ");
}

#[test]
fn secrets_of_the_environment_are_not_learned() {
    let place = Place::new();
    let args = ["memory", "learn", "--error", "disk full", "--fix", "use s3cr3t-value"];
    let mut command = place.command(&args);
    assert!(command.env("MY_TOKEN", "s3cr3t-value").output().unwrap().status.success());
    let text = std::fs::read_to_string(place.home().join("memory/learned/patterns.yaml")).unwrap();
    assert!(text.contains("use ***") && !text.contains("s3cr3t"), "{text}");
    let args =
        ["memory", "learn", "--error", "disk full", "--tool", "x", "--", "x", "s3cr3t-value"];
    let mut command = place.command(&args);
    assert!(!command.env("MY_TOKEN", "s3cr3t-value").output().unwrap().status.success());
}

#[test]
fn a_proposal_is_listed_and_agreed_to() {
    let place = Place::new();
    let id = teach(&place);
    let path = place.home().join("memory/learned/fixes.yaml");
    // What was taught is agreed to; what was changed since then is not.
    let text = std::fs::read_to_string(&path).unwrap().replace("[oc, login]", "[oc, logout]");
    std::fs::write(&path, text).unwrap();
    let shown = place.aye(&["memory", "show", &id, "--json"]).ok().json();
    assert_eq!((&shown["standing"], &shown["written_id"]), (&"proposed".into(), &id.into()));
    let id = shown["id"].as_str().unwrap();
    let short = &id[..12];
    assert!(place.aye(&["memory", "list"]).ok().stdout.contains(&format!("{short}  proposed")));
    let agreed = place.aye(&["memory", "agree", id, "--yes"]).ok();
    assert!(agreed.stdout.ends_with(&format!("{short} is used from now on\n")), "{}", agreed.all());
    let shown = place.aye(&["memory", "show", short, "--json"]).ok().json();
    assert_eq!(shown["standing"], "active");
    assert_eq!(
        place.aye(&["memory", "agree", short]).ok().stdout,
        format!("{short} is used already\n")
    );
}

#[test]
fn learned_text_is_made_harmless_where_it_is_shown() {
    let place = Place::new();
    let text = "issues:\n  - pattern: disk full\n    fix: \"\\e[2Jall is well\\u202e\"\n";
    place.write(".aye/memory/learned/patterns.yaml", text);
    for args in [&["memory", "list"][..], &["memory", "check", "disk full"]] {
        let ran = place.aye(args).ok();
        assert!(!ran.stdout.contains(['\u{1b}', '\u{202e}']), "{}", ran.all());
        assert!(ran.stdout.contains("\\u{1b}[2J"), "{}", ran.all());
    }
}

#[test]
fn stats_count_questions_week_by_week() {
    let place = Place::new();
    place.write(
        "skills/ask.yaml",
        "name: ask\nsteps:\n  - name: gate\n    confirm: Continue?\n  - name: more\n    confirm: Still?\n",
    );
    for _ in 0..2 {
        place.aye(&["run", "ask", "--yes"]).ok();
    }
    let stats = place.aye(&["memory", "stats", "--json"]).ok().json();
    let week = stats["weeks"].as_array().unwrap().last().unwrap().clone();
    let numbers = ["runs", "questions", "by_memory", "asked", "heals"].map(|key| week[key].clone());
    assert_eq!(numbers.map(|number| number.as_u64().unwrap()), [2, 4, 0, 4, 0]);
    let shown = place.aye(&["memory", "stats"]).ok().stdout;
    assert!(shown.contains("████"), "{shown}");
    // What memory answers is a question, and nobody was asked.
    place.write(
        "skills/again.yaml",
        "name: again\nsteps:\n  - { name: gate, confirm: { message: Again?, remember: true } }\n",
    );
    assert_eq!(place.aye(&["run", "again", "--no-input"]).code, 6);
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let question = inbox[0]["question"].as_str().unwrap().to_owned();
    place.aye(&["answer", &question, "proceed", "--remember", "step", "--resume"]).ok();
    for _ in 0..2 {
        place.aye(&["run", "again", "--no-input"]).ok();
    }
    let stats = place.aye(&["memory", "stats", "--json"]).ok().json();
    let weeks = stats["weeks"].as_array().unwrap();
    let sum = |key: &str| weeks.iter().map(|week| week[key].as_u64().unwrap()).sum::<u64>();
    let sums = ["runs", "questions", "by_memory", "asked"].map(sum);
    assert_eq!(sums, [5, 7, 2, 5], "{stats}");
    let plain = place.aye(&["memory", "stats", "--plain"]).ok().stdout;
    assert!(plain.contains("####"), "{plain}");
}

/// Who reads a list through a pipe gets all of it.
#[test]
fn lists_are_whole_in_a_pipe() {
    let place = Place::new();
    let long = "manifest unknown ".repeat(12).trim().to_owned();
    place.aye(&["memory", "learn", "--error", &long, "--fix", &long]).ok();
    let listed = place.aye(&["memory", "list"]).ok().stdout;
    assert_eq!(listed.matches(&long).count(), 2, "{listed}");
    let skill = serde_json::json!({
        "name": "s", "description": long,
        "steps": [{ "name": "a", "confirm": long }, { "name": "b", "shell": format!("exit 1 # {long}") }],
    });
    place.write("skills/s.yaml", &skill.to_string());
    place.aye(&["run", "s", "--no-input"]);
    for list in ["list", "inbox"] {
        let listed = place.aye(&[list]).ok().stdout;
        assert!(listed.contains(&long), "{listed}");
    }
    place.aye(&["cancel", "last", "--reason", &long]).ok();
    let listed = place.aye(&["runs"]).ok().stdout;
    assert!(listed.contains(&long), "{listed}");
}
