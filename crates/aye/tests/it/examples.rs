//! The nine everyday skills of `examples/`: sound, asking where they should,
//! and without effect until someone agrees.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cli::harness::{Place, Ran};
use crate::prompt::pty::type_to_confirm;

/// One of them, and a way through it.
struct Example {
    skill: &'static str,
    inputs: &'static [&'static str],
    /// Answers in order, the last of which lets it act.
    yes: &'static [&'static str],
    /// The same with a no at the gate.
    no: &'static [&'static str],
    /// How it ends after that no.
    code: i32,
    /// A file of the world, and what it says once it is done; gone if nothing.
    effect: (&'static str, Option<&'static str>),
}

const ALL: [Example; 9] = [
    Example {
        skill: "production-release",
        inputs: &["commit=4f2a91c0"],
        yes: &["proceed"],
        no: &["cancel"],
        code: 5,
        effect: ("deployments/web/image", Some("4f2a91c0")),
    },
    Example {
        skill: "scale-deployment",
        inputs: &["replicas=5"],
        yes: &["proceed"],
        no: &["cancel"],
        code: 5,
        effect: ("deployments/web/replicas", Some("5")),
    },
    Example {
        skill: "rolling-restart",
        inputs: &[],
        yes: &["proceed"],
        no: &["cancel"],
        code: 5,
        effect: ("restarts", Some("web-1\nweb-2\nweb-3")),
    },
    Example {
        skill: "hotfix",
        inputs: &["commit=77aa3e0d"],
        yes: &["the cart forgets its items", "proceed", "proceed"],
        no: &["the cart forgets its items", "cancel"],
        code: 5,
        effect: ("deployments/web/image", Some("88bb4f1e")),
    },
    Example {
        skill: "branch-cleanup",
        inputs: &[],
        yes: &["proceed", "proceed"],
        no: &["cancel", "cancel"],
        // A no keeps that branch; the run itself is done.
        code: 0,
        effect: ("branches/old-theme", None),
    },
    Example {
        skill: "close-issue",
        inputs: &["issue=42"],
        yes: &["completed"],
        no: &["open"],
        code: 5,
        effect: ("issues/42/state", Some("closed")),
    },
    Example {
        skill: "close-merge-request",
        inputs: &["number=118"],
        yes: &["we went another way", "proceed", "delete"],
        no: &["we went another way", "cancel"],
        code: 5,
        effect: ("merge_requests/118/state", Some("closed")),
    },
    Example {
        skill: "silence-alert",
        inputs: &["alert=disk-almost-full"],
        yes: &["60", "the disk is being replaced", "proceed"],
        no: &["60", "the disk is being replaced", "cancel"],
        code: 5,
        effect: ("alerts/disk-almost-full/state", Some("silenced")),
    },
    Example {
        skill: "cancel-pipeline",
        inputs: &["pipeline=9001"],
        yes: &["proceed"],
        no: &["cancel"],
        code: 5,
        effect: ("pipelines/9001/state", Some("cancelled")),
    },
];

impl Example {
    fn named(skill: &str) -> &'static Self {
        static EXAMPLES: [Example; 9] = ALL;
        EXAMPLES.iter().find(|example| example.skill == skill).unwrap()
    }

    fn call(&self) -> Vec<&'static str> {
        let inputs = self.inputs.iter().flat_map(|input| ["-i", input]);
        ["run", self.skill].into_iter().chain(inputs).collect()
    }
}

/// A copy of the project, with its world.
pub(crate) fn project() -> Place {
    let place = Place::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for name in ["aye.toml", "bin", "skills"] {
        copy(&from.join(name), &place.work().join(name));
    }
    // The first look makes the world.
    place.aye(&["tools", "call", "deployment", "-a", "name=web"]).ok();
    place
}

fn copy(from: &Path, to: &Path) {
    if from.is_file() {
        std::fs::copy(from, to).unwrap();
        return;
    }
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        copy(&path, &to.join(path.file_name().unwrap()));
    }
}

/// Every file of the world and what it says.
fn world(place: &Place) -> BTreeMap<String, String> {
    let root = place.work().join("world");
    let mut files = BTreeMap::new();
    let mut open = vec![root.clone()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            files.insert(name, std::fs::read_to_string(&path).unwrap().trim().to_owned());
        }
    }
    files
}

/// Runs a skill and answers what it asks, one after the other, as someone
/// elsewhere would.
fn run_and_answer(place: &Place, call: &[&str], answers: &[&str]) -> Ran {
    let mut ran = place.aye(call);
    for answer in answers {
        assert_eq!(ran.code, 6, "it waits for `{answer}`: {}", ran.all());
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        let open = inbox.as_array().unwrap();
        assert_eq!(open.len(), 1, "{inbox}");
        let question = open[0]["question"].as_str().unwrap().to_owned();
        ran = place.aye(&["answer", &question, answer, "--resume"]);
    }
    ran
}

#[test]
fn they_are_sound_and_all_of_them_are_tried() {
    let place = project();
    let checked = place.aye(&["check", "--strict"]).ok();
    assert!(checked.stdout.ends_with("9 valid skills in 9 files\n"), "{}", checked.all());
    for example in &ALL {
        assert!(place.work().join(format!("skills/{}.yaml", example.skill)).exists());
        for format in ["text", "mermaid", "dot", "svg"] {
            place.aye(&["graph", example.skill, "-f", format]).ok();
        }
    }
}

#[test]
fn a_yes_has_its_effect() {
    for example in &ALL {
        let place = project();
        let ran = run_and_answer(&place, &example.call(), example.yes);
        assert_eq!(ran.code, 0, "{}: {}", example.skill, ran.all());
        let (file, wanted) = example.effect;
        let world = world(&place);
        assert_eq!(world.get(file).map(String::as_str), wanted, "{}", example.skill);
        assert_eq!(place.status(), "completed", "{}", example.skill);
    }
}

#[test]
fn a_no_leaves_everything_as_it_was() {
    for example in &ALL {
        let place = project();
        let before = world(&place);
        let ran = run_and_answer(&place, &example.call(), example.no);
        assert_eq!(ran.code, example.code, "{}: {}", example.skill, ran.all());
        assert_eq!(world(&place), before, "{}", example.skill);
    }
}

#[test]
fn nobody_there_and_dry_runs_change_nothing() {
    for example in &ALL {
        let place = project();
        let before = world(&place);
        let call = example.call();
        let dry: Vec<&str> = call.iter().copied().chain(["--dry-run"]).collect();
        let ran = place.aye(&dry).ok();
        // Whatever may end it early, the gate is in the plan.
        assert!(!ran.stdout.contains("no questions"), "{}: {}", example.skill, ran.all());
        assert!(ran.stdout.contains("? ") || ran.stdout.contains("ask "), "{}", ran.all());
        assert!(!ran.stdout.contains("asks nobody"), "{}: {}", example.skill, ran.all());
        assert_eq!(place.aye(&call).code, 6, "{}", example.skill);
        assert_eq!(world(&place), before, "{}", example.skill);
    }
}

#[test]
fn yes_does_for_all_that_allow_it_and_for_nothing_else() {
    for skill in ["scale-deployment", "rolling-restart", "branch-cleanup", "cancel-pipeline"] {
        let (place, example) = (project(), Example::named(skill));
        let ran = place.aye(&[&example.call()[..], &["--yes"]].concat());
        assert_eq!(ran.code, 0, "{skill}: {}", ran.all());
        let (file, wanted) = example.effect;
        assert_eq!(world(&place).get(file).map(String::as_str), wanted, "{skill}");
    }
    let (place, release) = (project(), Example::named("production-release"));
    let before = world(&place);
    let ran = place.aye(&[&release.call()[..], &["--yes"]].concat());
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert_eq!(world(&place), before);
}

#[test]
fn the_dry_run_of_the_clean_up_names_the_branches_and_keeps_them() {
    let place = project();
    let before = world(&place);
    let ran = place.aye(&["run", "branch-cleanup", "-i", "dry_run=true"]).ok();
    assert!(ran.all().contains("would delete fix-login, old-theme"), "{}", ran.all());
    assert_eq!(world(&place), before);
}

#[test]
fn a_no_in_the_clean_up_keeps_that_branch_alone() {
    let place = project();
    run_and_answer(&place, &["run", "branch-cleanup"], &["cancel", "proceed"]).ok();
    let after = world(&place);
    assert!(after.contains_key("branches/fix-login"));
    assert!(!after.contains_key("branches/old-theme"));
    // Twice is harmless: the one that was kept is asked about again.
    run_and_answer(&place, &["run", "branch-cleanup"], &["proceed"]).ok();
    let ran = place.aye(&["run", "branch-cleanup"]).ok();
    assert!(ran.all().contains("no branch to delete"), "{}", ran.all());
}

#[test]
fn a_no_inside_the_hotfix_releases_nothing() {
    let (place, hotfix) = (project(), Example::named("hotfix"));
    let image = world(&place)["deployments/web/image"].clone();
    let answers = ["the cart forgets its items", "proceed", "cancel"];
    let ran = run_and_answer(&place, &hotfix.call(), &answers);
    assert_eq!(ran.code, 5, "{}", ran.all());
    assert_eq!(world(&place)["deployments/web/image"], image);
}

#[test]
fn whoever_waits_inside_is_told_where_to_answer() {
    let (place, hotfix) = (project(), Example::named("hotfix"));
    let ran = run_and_answer(&place, &hotfix.call(), &hotfix.yes[..2]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(ran.stderr.contains("hotfix waits for an answer inside `release`"), "{}", ran.all());
    assert!(ran.stderr.contains("answer  aye inbox"), "{}", ran.all());
    assert_eq!(ran.stderr.matches("nobody can be asked here").count(), 1, "{}", ran.all());
    let shown = place.aye(&["show", "last"]).ok();
    assert!(shown.stdout.contains(", skill production-release, run "), "{}", shown.all());
}

#[test]
fn the_commands_of_the_page_are_those_that_are_tried() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/README.md");
    let page = std::fs::read_to_string(page).unwrap();
    for example in &ALL {
        let call = format!("`aye {}", example.call().join(" "));
        assert!(page.contains(&call), "{call} is not in examples/README.md");
    }
}

#[test]
fn what_cannot_be_done_is_said_and_not_done() {
    let cases = [
        (&["production-release", "commit=deadbee1"], 1, "the checks of deadbee1 are red"),
        (&["production-release", "commit=1c0ffee2"], 1, "there is no commits/1c0ffee2"),
        (&["scale-deployment", "replicas=3"], 0, "web has 3 replicas already"),
        (&["close-issue", "issue=7"], 0, "issue 7 is closed already"),
        (&["close-merge-request", "number=117"], 1, "merge request 117 is merged"),
        (&["silence-alert", "alert=no-such-thing"], 1, "there is no alerts/no-such-thing"),
        (&["cancel-pipeline", "pipeline=9000"], 0, "there is nothing to cancel"),
    ];
    let place = project();
    let before = world(&place);
    for ([skill, input], code, said) in cases {
        let ran = place.aye(&["run", skill, "-i", input]);
        assert_eq!(ran.code, code, "{skill} {input}: {}", ran.all());
        assert!(ran.all().contains(said), "{skill} {input}: {}", ran.all());
        assert_eq!(world(&place), before, "{skill} {input}");
    }
}

#[test]
fn switching_off_wants_the_name_typed() {
    let place = project();
    let before = world(&place);
    let ran = place.aye(&["run", "scale-deployment", "-i", "replicas=0", "--yes"]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    let question = format!("{}-1", place.last());
    let ran = place.aye(&["answer", &question, "proceed", "--resume"]);
    assert_ne!(ran.code, 0, "{}", ran.all());
    assert_eq!(world(&place), before);
    type_to_confirm(&place, &question, None, "web", true);
    assert_eq!(world(&place)["deployments/web/replicas"], "0");
}

#[test]
fn one_person_alone_cannot_silence_a_critical_alert() {
    let place = project();
    let before = world(&place);
    let call = ["run", "silence-alert", "-i", "alert=checkout-errors"];
    let ran = run_and_answer(&place, &call, &["15", "the cause is known", "proceed"]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(
        ran.stderr.contains("waits for an answer (1 of 2 agreed, another person has to agree)"),
        "{}",
        ran.all()
    );
    assert_eq!(world(&place), before);
}

#[test]
fn a_pod_that_stays_sick_stops_the_restart() {
    let place = project();
    // It never becomes ready: the stand-in only knows these words.
    let script = place.read("bin/kube").replace("warming) echo ready", "warming) echo sick");
    std::fs::write(place.work().join("bin/kube"), script).unwrap();
    let ran = place.aye(&["run", "rolling-restart", "--yes"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(
        ran.all().contains("1 of 3 failed: restart[web-1]: step `health`: web-1 is sick"),
        "{}",
        ran.all()
    );
    assert_eq!(world(&place)["restarts"], "web-1");
}
