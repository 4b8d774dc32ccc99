//! Fixes that look something up: learned from one case, used for the next.

use serde_json::{Value, json};

use crate::cli::harness::{Place, Ran};

/// Deploys full names of commits only.
const DEPLOY: &str = r#"#!/bin/sh
echo "$1 $2" >>deploys
case "$2" in
????????????????????????????????????????) echo "deployed $1 $2" ;;
broken) echo "Error: image is corrupt: $2" >&2; exit 1 ;;
*) echo "Error: manifest unknown: $2" >&2; exit 1 ;;
esac
"#;

/// The full name of a short one, as long as the registry is there.
const TAGS: &str = r#"#!/bin/sh
[ -e down ] && { echo "registry: connection refused" >&2; exit 7; }
line=$(grep "^$1 $2" registry) || { echo "no such tag: $2" >&2; exit 1; }
printf '{"full_sha": "%s", "image": "%s"}\n' "${line#* }" "$1"
"#;

pub(crate) const SKILL: &str = "
name: release
inputs:
  - { name: image, type: string, required: true }
  - { name: tag, type: string, required: true }
steps:
  - name: roll
    tool: deploy
    args: { image: '{{ inputs.image }}', image_tag: '{{ inputs.tag }}' }
    on_error: ask
";

pub(crate) const SETTINGS: &str = r#"
[tools.deploy]
command = ["./deploy", "{{ args.image }}", "{{ args.image_tag }}"]
args = { image = { required = true }, image_tag = { required = true } }
[tools.tags]
command = ["./tags", "{{ args.image }}", "{{ args.tag }}"]
args = { image = { required = true }, tag = { required = true } }
output = "json"
read_only = true
"#;

pub(crate) const FIRST: &str = "abc123aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
pub(crate) const SECOND: &str = "def456bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

/// Puts the programs and the registry there.
pub(crate) fn furnish(place: &Place) {
    for (name, text) in [("deploy", DEPLOY), ("tags", TAGS)] {
        let path = place.write(name, text);
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
    }
    place.write("aye.toml", SETTINGS);
    place.write("registry", &format!("app {FIRST}\nweb {SECOND}\n"));
    place.aye(&["trust", "--yes"]).ok();
}

fn place() -> Place {
    let place = Place::new();
    place.write("release.yaml", SKILL);
    furnish(&place);
    place
}

fn in_week(place: &Place, week: u32, args: &[&str]) -> Ran {
    let mut command = place.command(args);
    command.env("AYE_TEST_DAYS", (7 * (week - 1)).to_string());
    Ran::of(command.output().unwrap(), place)
}

fn run(place: &Place, week: u32, image: &str, tag: &str) -> Ran {
    let (image, tag) = (format!("image={image}"), format!("tag={tag}"));
    in_week(place, week, &["run", "release.yaml", "-i", &image, "-i", &tag])
}

fn events(place: &Place) -> Vec<Value> {
    let shown = place.aye(&["show", "last", "--json"]).ok();
    shown.json()["events"].as_array().unwrap().clone()
}

fn has(place: &Place, kind: &str) -> bool {
    events(place).iter().any(|event| event["type"] == kind)
}

fn question(place: &Place) -> String {
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    inbox[0]["question"].as_str().unwrap_or_else(|| panic!("{inbox}")).to_owned()
}

fn learn<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let fix = [
        "memory",
        "learn",
        "--tool",
        "deploy",
        "--error",
        "Error: manifest unknown: abc123",
        "--fix",
        "the registry knows the full SHA",
        "--look-up",
        "tags",
        "--with",
        "image={{ args.image }}",
        "--with",
        "tag={{ args.image_tag }}",
        "--set",
        "image_tag={{ first.full_sha }}",
    ];
    [&fix[..], more].concat()
}

#[test]
fn four_weeks_with_other_values_than_those_it_learned_from() {
    let place = place();
    // Week 1: nobody knows the error. Someone looks the tag up, tries again with the full name,
    // and says how it was found.
    let ran = run(&place, 1, "app", "abc123");
    assert_eq!(ran.code, 6, "{}", ran.all());
    let looked = ["tools", "call", "tags", "-a", "image=app", "-a", "tag=abc123"];
    assert!(place.aye(&looked).ok().stdout.contains(FIRST));
    let set = format!("image_tag={FIRST}");
    in_week(&place, 1, &["answer", &question(&place), "edit", "--set", &set, "--resume"]).ok();
    let learned = in_week(&place, 1, &learn(&["--json"])).ok().json();
    let id = learned["id"].as_str().unwrap().to_owned();
    let shown = place.aye(&["memory", "show", &id, "--json"]).ok().json();
    assert_eq!(shown["match"]["error"], "Error: manifest unknown", "what varies is left out");
    assert_eq!(shown["standing"], "active", "a person said it");
    place.aye(&["memory", "forget", &id]).ok();

    // The same, proposed to this machine by the project: nobody agreed here.
    in_week(&place, 1, &learn(&["--shared"])).ok();
    std::fs::remove_file(place.home().join("memory/agreed.yaml")).unwrap();
    let ran = run(&place, 2, "web", "def456");
    assert_eq!(ran.code, 6, "a proposal is only shown: {}", ran.all());
    assert!(ran.all().contains("memory has a fix for this"), "{}", ran.all());
    assert!(ran.all().contains("`aye memory agree fix-"), "{}", ran.all());
    in_week(&place, 2, &["answer", &question(&place), "abort", "--resume"]);
    let full = place.aye(&["memory", "list", "fixes", "--json"]).ok().json();
    let full = full["fixes"][0]["id"].as_str().unwrap().to_owned();
    place.aye(&["memory", "agree", &full, "--yes"]).ok();

    // Week 2: another short name of another image, and nobody is asked.
    let ran = run(&place, 2, "web", "def456");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.all().contains(&format!("deployed web {SECOND}")), "{}", ran.all());
    assert!(has(&place, "memory_recalled") && has(&place, "auto_heal_completed"));
    assert!(
        !events(&place).iter().any(|e| e["type"].as_str().unwrap().starts_with("confirmation_"))
    );
    let retried = events(&place).into_iter().find(|event| event["type"] == "step_retried").unwrap();
    assert_eq!(retried["edits"]["set"], json!({ "image_tag": SECOND }), "{retried}");
    let text = place.aye(&["show", "last"]).ok().stdout;
    assert!(text.contains("known error: trying `fix-"), "{text}");
    place.aye(&["audit"]).ok();

    // Week 3: a new error is asked about, and the fix that is not for it is not used.
    let ran = run(&place, 3, "web", "broken");
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(!has(&place, "memory_recalled"));
    in_week(&place, 3, &["answer", &question(&place), "abort", "--resume"]);

    // Week 4: the registry is gone. Twice, and the fix is not used any more, which is said.
    place.write("down", "");
    let mut said = String::new();
    for tag in ["0aa111", "0aa222"] {
        let ran = run(&place, 4, "web", tag);
        assert_eq!(ran.code, 6, "{}", ran.all());
        said = ran.all();
        assert!(has(&place, "auto_heal_triggered"), "{said}");
        in_week(&place, 4, &["answer", &question(&place), "abort", "--resume"]);
    }
    assert!(said.contains("failed twice in a row and is not used any more"), "{said}");
    assert!(!said.contains("it was not used"), "it was tried in that run: {said}");
    let ran = run(&place, 4, "web", "0aa333");
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(!has(&place, "auto_heal_triggered"));
    assert!(ran.all().contains("it was not used: it failed twice in a row"), "{}", ran.all());
    assert!(place.aye(&["memory", "list"]).ok().stdout.contains("suspended"));
    // Week by week: what was repaired, and what did not help.
    let counted = in_week(&place, 4, &["memory", "stats", "--json"]).ok().json();
    let weeks = counted["weeks"].as_array().unwrap();
    let count = |name: &str| -> Vec<u64> {
        weeks.iter().map(|week| week[name].as_u64().unwrap_or_default()).collect()
    };
    assert_eq!(count("heals"), [0, 1, 0, 0], "{counted}");
    assert_eq!(count("failed_fixes"), [0, 0, 0, 2], "{counted}");
}

#[test]
fn a_fix_looks_only_with_tools_that_somebody_marked() {
    let place = place();
    place.write("aye.toml", &SETTINGS.replace("read_only = true\n", ""));
    // It is said when it is learned, and before someone agrees.
    let obstacle = "it begins with the tool `tags`, which no settings that count mark";
    let learned = place.aye(&learn(&["--shared", "--json"])).ok().json();
    assert!(learned["obstacles"][0].as_str().unwrap().contains(obstacle), "{learned}");
    std::fs::remove_file(place.home().join("memory/agreed.yaml")).unwrap();
    let id = learned["id"].as_str().unwrap();
    let agreed = place.aye(&["memory", "agree", id, "--yes"]).ok().stdout;
    assert!(agreed.contains("is agreed to, but is not used as long as this holds"), "{agreed}");
    assert!(agreed.matches(obstacle).count() == 2, "{agreed}");
    place.aye(&["memory", "forget", id]).ok();
    let learned = place.aye(&learn(&[])).ok();
    assert!(learned.all().contains("is not used as it is: it begins with"), "{}", learned.all());
    let ran = run(&place, 1, "web", "def456");
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(ran.all().contains("was not used: it begins with the tool `tags`"), "{}", ran.all());
    assert!(!has(&place, "auto_heal_triggered"));
    place.aye(&["answer", &question(&place), "abort", "--resume"]);
    // A project that nobody trusts cannot mark its own tools.
    place.write("aye.toml", SETTINGS);
    place.aye(&["trust", "--remove"]).ok();
    let ran = run(&place, 1, "web", "def456");
    assert!(ran.all().contains("was not used: it begins with the tool `tags`"), "{}", ran.all());
    place.aye(&["answer", &question(&place), "abort", "--resume"]);
    place.aye(&["trust", "--yes"]).ok();
    assert_eq!(run(&place, 1, "web", "def456").code, 0);

    // What else would keep a fix from being used.
    let fix = ["memory", "learn", "--tool", "deploy", "--error", "no such image"];
    for (more, said) in [
        (&["--look-up", "nothing", "--set", "image=x"][..], "`nothing`, which no settings define"),
        (&["--set", "image_tag={{ first.full_sha }}"], "but it looks nothing up"),
        (&["--set", "image_tag={{ broken"], "`{{ broken` is not a template"),
        (&["--set", "img=x"], "`deploy` has no argument `img`"),
    ] {
        let learned = place.aye(&[&fix[..], more].concat()).ok();
        assert!(learned.all().contains(said), "{said}: {}", learned.all());
    }
    // One error of a tool has one fix: the one before is named.
    let learned = place.aye(&[&fix[..], &["--set", "image=x"]].concat()).ok();
    assert!(learned.stdout.contains(" in place of fix-"), "{}", learned.all());
    assert!(!learned.all().contains("warning:"), "{}", learned.all());
}

/// Servers that answer with text: as JSON, or in lines of `key: value`.
#[test]
fn what_a_lookup_says_as_text_is_read() {
    let place = place();
    place.write("aye.toml", &SETTINGS.replace("output = \"json\"\n", ""));
    place.aye(&["trust", "--yes"]).ok();
    let parsed: Vec<&str> = learn(&[])
        .into_iter()
        .map(|word| match word.contains("full_sha") {
            true => "image_tag={{ first_parsed.full_sha }}",
            false => word,
        })
        .collect();
    let learned = place.aye(&parsed).ok();
    assert!(!learned.all().contains("warning:"), "{}", learned.all());
    let ran = run(&place, 1, "web", "def456").ok();
    assert!(ran.all().contains(&format!("deployed web {SECOND}")), "{}", ran.all());
    let lines = TAGS.replace(r#"{"full_sha": "%s", "image": "%s"}"#, r"full_sha: %s\nimage: %s");
    assert_ne!(lines, TAGS);
    place.write("tags", &lines);
    let ran = run(&place, 1, "app", "abc123").ok();
    assert!(ran.all().contains(&format!("deployed app {FIRST}")), "{}", ran.all());
}

#[test]
fn a_fix_that_cannot_be_applied_says_why_and_one_that_nearly_fits_too() {
    let place = place();
    // What it looked up does not have what it uses.
    let wrong: Vec<&str> = learn(&[])
        .into_iter()
        .map(|word| if word.contains("full_sha") { "image_tag={{ first.sha512 }}" } else { word })
        .collect();
    place.aye(&wrong).ok();
    let ran = run(&place, 1, "web", "def456");
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(
        ran.all().contains("the fix was not used: its arguments cannot be made"),
        "{}",
        ran.all()
    );
    place.aye(&["answer", &question(&place), "abort", "--resume"]);
    // It finds something, and the step fails all the same: that is not a repair.
    let useless: Vec<&str> = learn(&[])
        .into_iter()
        .map(
            |word| if word.contains("full_sha") { "image_tag={{ args.image_tag }}1" } else { word },
        )
        .collect();
    place.aye(&useless).ok();
    let ran = run(&place, 1, "web", "def456");
    assert_eq!(ran.code, 6, "{}", ran.all());
    let shown = place.aye(&["show", "last"]).ok().stdout;
    assert!(!ran.all().contains("repaired") && !shown.contains("repaired"), "{shown}");
    place.aye(&["answer", &question(&place), "abort", "--resume"]);
    let stats = place.aye(&["memory", "stats", "--json"]).ok().json();
    let week = stats["weeks"].as_array().unwrap().last().unwrap();
    assert_eq!((&week["heals"], &week["failed_fixes"]), (&json!(0), &json!(2)), "{week}");
    let fixes = place.aye(&["memory", "list", "fixes", "--json"]).ok().json();
    place.aye(&["memory", "forget", fixes["fixes"][0]["id"].as_str().unwrap()]).ok();

    // A value that stands in for another is for that one only.
    let ran = run(&place, 1, "app", "abc123");
    assert_eq!(ran.code, 6, "{}", ran.all());
    let set = format!("image_tag={FIRST}");
    let edit = ["answer", &question(&place), "edit", "--set", &set, "--remember", "--resume"];
    place.aye(&edit).ok();
    let ran = run(&place, 1, "app", "abc124");
    assert_eq!(ran.code, 6, "{}", ran.all());
    let said = "it was not used: it is only for `image_tag` `abc123`, and this is `abc124`";
    assert!(ran.all().contains(said), "{}", ran.all());

    // Looking at it says what the run says.
    let elsewhere = learn(&["--step", "other", "--skill", "release"]);
    place.aye(&elsewhere).ok();
    let error = "Error: manifest unknown: 998877a";
    let check =
        ["memory", "check", error, "--tool", "deploy", "--skill", "release", "--step", "roll"];
    let checked = place.aye(&check).stdout;
    assert!(checked.contains("not used: it is only for the step `other`"), "{checked}");
    assert!(!checked.contains("memory knows nothing"), "{checked}");
    let checked = place.aye(&["memory", "check", error]).ok().stdout;
    assert!(checked.contains("only in the step other"), "{checked}");
}
