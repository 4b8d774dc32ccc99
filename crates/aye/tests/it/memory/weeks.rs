//! The whole loop: every error is asked about once.

use serde_json::{Value, json};

use crate::cli::harness::{Place, Ran, assert_says};

/// Tags need a `v`; from some day on nothing helps; other names are an error of their own.
const DEPLOY: &str = r#"#!/bin/sh
[ -e gone ] && { echo "Error: manifest unknown: $1" >&2; exit 1; }
case "$1" in
v*) echo "deployed $1" ;;
[0-9]*) echo "Error: manifest unknown: $1" >&2; exit 1 ;;
*) echo "Error: no such channel: $1" >&2; exit 1 ;;
esac
"#;

const SKILL: &str = "
name: rel
inputs:
  - { name: tag, type: string, required: true }
steps:
  - name: deploy
    command: ./deploy
    args: ['{{ inputs.tag }}']
    on_error: ask
";

fn place() -> Place {
    let place = Place::new();
    place.write("rel.yaml", SKILL);
    let deploy = place.write("deploy", DEPLOY);
    std::fs::set_permissions(deploy, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    place
}

fn in_week(place: &Place, week: u32, args: &[&str]) -> Ran {
    let mut command = place.command(args);
    command.env("AYE_TEST_DAYS", (7 * (week - 1)).to_string());
    Ran::of(command.output().unwrap(), place)
}

fn run(place: &Place, week: u32, tag: &str) -> Ran {
    in_week(place, week, &["run", "rel.yaml", "-i", &format!("tag={tag}")])
}

fn events(place: &Place) -> Vec<Value> {
    let shown = place.aye(&["show", "last", "--json"]).ok();
    shown.json()["events"].as_array().unwrap().clone()
}

fn types(place: &Place) -> Vec<String> {
    events(place).iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

fn open_question(place: &Place) -> String {
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    inbox[0]["question"].as_str().unwrap_or_else(|| panic!("{inbox}")).to_owned()
}

#[test]
fn four_weeks() {
    let place = place();
    // Week 1: nobody knows the error; someone says what helps, and it is kept.
    let ran = run(&place, 1, "1.0.0");
    assert_eq!(ran.code, 6, "{}", ran.all());
    let question = open_question(&place);
    let edit = ["answer", &question, "edit", "--set", "1=v1.0.0", "--remember", "--resume"];
    let ran = in_week(&place, 1, &edit);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(types(&place).contains(&"memory_learned".to_owned()), "{:?}", types(&place));
    let fixes = place.read("../home/memory/learned/fixes.yaml");
    assert!(fixes.contains("startswith"), "{fixes}");
    assert!(fixes.contains("kind: person"), "{fixes}");

    // Week 2: the same error with another tag is healed, and nobody is asked.
    let ran = run(&place, 2, "2.0.0");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.all().contains("deployed v2.0.0"), "{}", ran.all());
    let told = types(&place);
    assert!(told.contains(&"memory_recalled".to_owned()), "{told:?}");
    assert!(!told.iter().any(|what| what.starts_with("confirmation_")), "{told:?}");
    assert!(place.read("../home/memory/learned/fixes.yaml").contains("verified: 1"));

    // Week 3: another error is asked about.
    let ran = run(&place, 3, "nightly");
    assert_eq!(ran.code, 6, "{}", ran.all());
    let question = open_question(&place);
    in_week(&place, 3, &["answer", &question, "abort", "--resume"]);

    // Week 4: the fix helps no more. Twice, and it is not used any longer.
    place.write("gone", "");
    for tag in ["3.0.0", "3.0.1"] {
        assert_eq!(run(&place, 4, tag).code, 6);
        assert!(types(&place).contains(&"memory_recalled".to_owned()));
        let question = open_question(&place);
        in_week(&place, 4, &["answer", &question, "abort", "--resume"]);
    }
    let list = place.aye(&["memory", "list"]).ok().stdout;
    assert!(list.contains("suspended"), "{list}");
    assert_eq!(run(&place, 4, "3.0.2").code, 6);
    assert!(!types(&place).contains(&"memory_recalled".to_owned()), "{:?}", types(&place));

    let stats = in_week(&place, 4, &["memory", "stats", "--json"]).ok().json();
    assert_eq!(stats["weeks"].as_array().map(Vec::len), Some(4), "{stats}");
}

#[test]
fn a_fix_and_what_it_changed_are_part_of_the_story() {
    let place = place();
    assert_eq!(run(&place, 1, "1.0.0").code, 6);
    let question = open_question(&place);
    let edit = ["answer", &question, "edit", "--set", "1=v1.0.0", "--remember", "--resume"];
    in_week(&place, 1, &edit).ok();
    run(&place, 2, "2.0.0").ok();
    let shown = place.aye(&["show", "last"]).ok().stdout;
    let page = place.aye(&["show", "last", "--markdown"]).ok().stdout;
    let diff = "- ./deploy 2.0.0\n+ ./deploy v2.0.0\n";
    assert_says(&[
        (&shown, &["memory: fix fix-", "attempt 2 with changes: memory knows a fix"]),
        (&shown.replace("      ", ""), &[diff]),
        (&page, &["- memory: fix fix-", &format!("```diff\n{diff}```")]),
    ]);
}

#[test]
fn a_run_that_failed_is_tried_again_from_anywhere() {
    let place = place();
    place.write("rel.yaml", &SKILL.replace("on_error: ask", "on_error: fail"));
    assert_eq!(run(&place, 1, "1.0.0").code, 1);
    let other = place.aye(&["retry", "last", "other"]);
    assert!(other.all().contains("the step that failed is `deploy`"), "{}", other.all());
    let wrong = place.aye(&["retry", "last", "--set", "tag=v1"]);
    assert!(wrong.all().contains("`tag` is not an argument of `deploy`"), "{}", wrong.all());
    let ran = place.aye(&["retry", "last", "--set", "1=v1.0.0", "--remember", "always"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.all().contains("deployed v1.0.0"));
    assert_eq!(place.aye(&["audit"]).code, 0);
    let again = place.aye(&["retry", "last"]);
    assert_eq!(again.code, 1, "{}", again.all());
    // What was kept is for the program, wherever it is used.
    place.write("rel.yaml", &SKILL.replace("name: deploy", "name: ship"));
    assert_eq!(run(&place, 1, "5.0.0").code, 0);
}

#[test]
fn what_is_to_be_kept_is_kept_though_aye_was_killed_meanwhile() {
    // The changed step kills Aye once: its outcome is unknown, then it goes well.
    let dying = "[ -e killed ] || { touch killed; kill -9 $PPID; sleep 5; }\n";
    for on_error in ["ask", "fail"] {
        let place = place();
        let deploy =
            DEPLOY.replacen("#!/bin/sh\n", &format!("#!/bin/sh\n[ $1 = 1.0.0 ] || {dying}"), 1);
        place.write("deploy", &deploy);
        place.write("rel.yaml", &SKILL.replace("on_error: ask", &format!("on_error: {on_error}")));
        run(&place, 1, "1.0.0");
        let change = ["--set", "1=v1.0.0", "--remember"];
        let ran = match on_error {
            "ask" => {
                let question = open_question(&place);
                place.aye(&[&["answer", &question, "edit", "--resume"], change.as_slice()].concat())
            }
            _ => place.aye(&[&["retry", "last"], change.as_slice()].concat()),
        };
        assert!(place.work().join("killed").exists(), "{}", ran.all());
        assert_eq!(place.aye(&["memory", "list", "--json"]).ok().json()["fixes"], json!([]));
        assert_eq!(place.aye(&["resume", "last", "--no-input"]).code, 6);
        let ran = place.aye(&["answer", &open_question(&place), "retry", "--resume"]);
        assert!(ran.code == 0 && ran.all().contains("takes it back"), "{}", ran.all());
        let fixes = place.aye(&["memory", "list", "--json"]).ok().json();
        assert_eq!(fixes["fixes"][0]["match"]["tool"], "deploy", "{fixes}");
        // It is the error that is known, not that Aye was killed.
        let ran = run(&place, 2, "2.0.0");
        assert!(ran.code == 0 && ran.all().contains("deployed v2.0.0"), "{}", ran.all());
    }
}

#[test]
fn a_fix_never_passes_a_gate_unseen() {
    let place = place();
    assert_eq!(run(&place, 1, "1.0.0").code, 6);
    let question = open_question(&place);
    place.aye(&["answer", &question, "edit", "--set", "1=v1.0.0", "--remember", "--resume"]).ok();
    let gate = "on_error: ask\n    confirmation: { message: 'Deploy?' }";
    place.write("rel.yaml", &SKILL.replace("on_error: ask", gate));
    assert_eq!(run(&place, 1, "2.0.0").code, 6);
    let first = open_question(&place);
    assert_eq!(place.aye(&["answer", &first, "proceed", "--resume"]).code, 6);
    let second = open_question(&place);
    assert_ne!(first, second);
    let shown = place.aye(&["inbox"]).ok().stdout;
    let asked = place.aye(&["inbox", "--json"]).ok().json();
    let message = asked[0]["message"].as_str().unwrap();
    assert!(message.contains("1: 2.0.0 -> v2.0.0"), "{message}\n{shown}");
    place.aye(&["answer", &second, "proceed", "--resume"]).ok();
    assert_eq!(place.status(), "completed");
}

#[test]
fn known_issues_are_told_before_a_run() {
    let place = place();
    place.write(
        ".aye/memory/learned/patterns.yaml",
        "issues:\n- {pattern: manifest unknown, tools: [deploy], meaning: tags begin with v}\n",
    );
    place.write("aye.toml", "");
    let ran = run(&place, 1, "v1.0.0");
    assert!(ran.all().contains("tags begin with v"), "{}", ran.all());
    assert!(types(&place).contains(&"memory_recalled".to_owned()));
}

/// A pattern of use that was seen so often.
fn usage(place: &Place, sightings: u32) {
    for _ in 0..2 {
        // Two swallowed failures make the file; the numbers are then ours.
        let said = "echo 'Error: invalid tag format: abc' >&2; exit 1";
        place.write("bad", &format!("#!/bin/sh\n[ -e fine ] && exit 0\n{said}\n"));
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(place.work().join("bad"), mode).unwrap();
        let skill = "name: s\nsteps:\n- {name: a, command: ./bad, args: [x], on_error: continue}\n";
        place.write("s.yaml", skill);
        assert_eq!(place.aye(&["run", "s.yaml"]).code, 0);
    }
    let file = place.home().join("memory/learned/usage.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("sightings: 2"), "{text}");
    std::fs::write(&file, text.replace("sightings: 2", &format!("sightings: {sightings}")))
        .unwrap();
}

#[test]
fn what_keeps_failing_is_warned_about_and_then_waits_for_a_person() {
    let place = Place::new();
    usage(&place, 10);
    let ran = place.aye(&["run", "s.yaml"]);
    assert!(ran.all().contains("this usually fails because"), "{}", ran.all());
    assert_eq!(ran.code, 0);
    let file = place.home().join("memory/learned/usage.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("sightings: 11", "sightings: 100")).unwrap();
    // It does not even begin, though the skill would pass over its failure.
    let ran = place.aye(&["run", "s.yaml"]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    place.write("fine", "");
    let question = open_question(&place);
    place.aye(&["answer", &question, "retry", "--resume"]).ok();
    assert_eq!(place.status(), "completed");
    // It went well: the warning was wrong, and that is kept.
    assert!(std::fs::read_to_string(&file).unwrap().contains("wrong: 1"));
}

#[test]
fn each_change_is_kept_for_its_own_error() {
    let place = Place::new();
    let two = "#!/bin/sh
case \"$1\" in *[A-Z]*) echo \"repository name must be lowercase: $1\" >&2; exit 1;; esac
[ \"$2\" = new ] || { echo 'unknown region supplied here' >&2; exit 1; }
echo \"ok $1 $2\"
";
    let path = place.write("two", two);
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let skill = |name: &str| {
        format!(
            "name: s\nsteps:\n- {{name: a, command: ./two, args: [{name}, old], on_error: ask}}\n"
        )
    };
    place.write("s.yaml", &skill("ABC"));
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
    let first = open_question(&place);
    let edit = |id: &str, set: &str| {
        place.aye(&["answer", id, "edit", "--set", set, "--remember", "--resume"]).code
    };
    assert_eq!(edit(&first, "1=abc"), 6);
    assert_eq!(edit(&open_question(&place), "2=new"), 0);
    let fixes = place.aye(&["memory", "list", "--json"]).ok().json();
    assert_eq!(fixes["fixes"].as_array().map(Vec::len), Some(2), "{fixes}");
    // Another name with the same two mistakes: nobody is asked.
    place.write("s.yaml", &skill("OtherNAME"));
    let ran = place.aye(&["run", "s.yaml"]);
    assert!(ran.code == 0 && ran.all().contains("ok othername new"), "{}", ran.all());
}

#[test]
fn a_secret_is_not_changed_into_the_open() {
    let place = Place::new();
    let sec = "#!/bin/sh\n[ \"$1\" = good ] && exit 0\necho \"bad credential given for $1\" >&2; exit 1\n";
    let path = place.write("sec", sec);
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    place.write(
        "s.yaml",
        "name: s\ninputs: [{ name: token, type: secret }]\nsteps:\n- {name: a, command: ./sec, args: [x, '{{ inputs.token }}'], on_error: ask}\n",
    );
    let token = "token=Sup3rS3cretTok";
    assert_eq!(place.aye(&["run", "s.yaml", "-i", token]).code, 6);
    let question = open_question(&place);
    // Nobody here knows what must not be shown.
    let ran = place.aye(&["answer", &question, "edit", "--set", "1=Sup3rS3cretTok"]);
    assert!(ran.all().contains("secrets that are not known here"), "{}", ran.all());
    place.aye(&["answer", &question, "abort", "--resume"]);
    place.write("s.yaml", &place.read("s.yaml").replace(", on_error: ask", ""));
    assert_eq!(place.aye(&["run", "s.yaml", "-i", token]).code, 1);
    for (set, said) in
        [("2=newpass999XX", "`2` holds a secret"), ("1=Sup3rS3cretTok", "holds a secret")]
    {
        let ran = place.aye(&["retry", "last", "--set", set, "--remember", "-i", token]);
        assert!(ran.all().contains(said), "{}", ran.all());
    }
    let shown = place.aye(&["show", "last", "--json"]).ok().stdout;
    assert!(!shown.contains("newpass") && !shown.contains("Sup3r"), "{shown}");
}
