//! What is known about tools and their errors, and what is not counted.

use serde_json::Value;

use crate::cli::harness::Place;

const ISSUES: &str = "issues:\n\
    \x20 - {pattern: manifest unknown, tools: [bonfire], meaning: the tag is too short}\n\
    \x20 - {pattern: namespace gone, tools: [bonfire_reserve], fix: reserve another}\n\
    \x20 - {pattern: rejected, tools: [git], meaning: someone was faster}\n";

fn patterns(found: &Value) -> Vec<&str> {
    let found = found.as_array().unwrap_or_else(|| panic!("{found}"));
    let mut names: Vec<&str> = found.iter().filter_map(|one| one["pattern"].as_str()).collect();
    names.sort_unstable();
    names
}

#[test]
fn what_is_known_about_a_family_is_found_without_an_error() {
    const FAMILY: [&str; 2] = ["manifest unknown", "namespace gone"];
    let desk = Place::new();
    desk.write(".aye/memory/learned/patterns.yaml", ISSUES);
    desk.write("aye.toml", "");
    let checked = desk.aye(&["memory", "check", "", "--tool", "bonfire", "--json"]).ok().json();
    assert_eq!(patterns(&checked["issues"]), FAMILY, "{checked}");
    let text = desk.aye(&["memory", "check", "", "--tool", "bonfire"]).ok().stdout;
    assert!(FAMILY.iter().all(|pattern| text.contains(pattern)), "{text}");
    desk.write(
        "known.yaml",
        "name: known\nsteps:\n  - { name: ask, compute: 'result = memory.check_known_issues(\"bonfire\", \"\")' }\n\
         outputs: [{ name: known, value: '{{ ask }}' }]\n",
    );
    desk.aye(&["run", "known.yaml"]).ok();
    let shown = desk.aye(&["show", "last", "--json"]).ok().json();
    assert_eq!(patterns(&shown["outputs"]["known"]["matches"]), FAMILY, "{shown}");
}

/// A mistake in a call that is swallowed is a sighting; one where someone gave up is not.
#[test]
fn cancelling_at_a_recovery_question_is_not_a_sighting() {
    let place = Place::new();
    let program =
        place.write("bad", "#!/bin/sh\necho 'Error: invalid tag format: abc' >&2; exit 1\n");
    std::fs::set_permissions(program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    place.write(
        "s.yaml",
        "name: s\nsteps:\n- {name: a, command: ./bad, args: [x], on_error: ask}\n",
    );
    let sightings = || {
        let known = place.aye(&["memory", "list", "usage", "--json"]).ok().json();
        known["usage"].as_array().map_or(0, Vec::len)
    };
    let question = || {
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        inbox[0]["question"].as_str().unwrap_or_else(|| panic!("{inbox}")).to_owned()
    };
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
    assert_eq!(place.aye(&["answer", &question(), "abort", "--resume"]).code, 1);
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
    place.aye(&["cancel", "last"]);
    assert_eq!(sightings(), 0, "nobody learned anything about the call");
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
    place.aye(&["answer", &question(), "skip", "--resume"]).ok();
    assert_eq!(sightings(), 1, "what was passed over was seen");
}

/// Known issues, a fix of `oc`, and a call of `podman` that keeps failing.
fn furnished() -> Place {
    let place = Place::new();
    place.write("aye.toml", "");
    place.write(".aye/memory/learned/patterns.yaml", ISSUES);
    let learn = ["memory", "learn", "--tool", "oc", "--error", "the token of the cluster expired"];
    place.aye(&[&learn[..], &["--fix", "log in", "--", "oc", "login"]].concat()).ok();
    let now = jiff::Timestamp::now();
    place.write(
        ".aye/memory/learned/usage.yaml",
        &format!(
            "patterns:\n  - {{id: use-00000001, tool: podman, mistake: format, error: 'invalid tag format: <name>', prevention: give 40 digits, sightings: 12, first_seen: {now}, last_seen: {now}}}\n"
        ),
    );
    place
}

/// What is known about a tool is all that is known, not only what people wrote.
#[test]
fn fixes_and_patterns_of_use_are_found_without_an_error() {
    let place = furnished();
    let check = |tool: &str| place.aye(&["memory", "check", "", "--tool", tool]);
    let oc = check("oc").ok().stdout;
    assert!(oc.contains("the token of the cluster expired -> first oc login"), "{oc}");
    let podman = check("podman").ok().stdout;
    assert!(podman.contains("invalid tag format"), "{podman}");
    assert!(podman.contains("to prevent it, give 40 digits"), "{podman}");
    assert_eq!(check("curl").code, 1);
    // A fix of a tool is found by the family, and by a program of it.
    let learn = ["memory", "learn", "--tool", "git_push", "--error", "push rejected", "--"];
    place.aye(&[&learn[..], &["git", "pull"]].concat()).ok();
    for tool in ["git", "git_push"] {
        assert!(check(tool).ok().stdout.contains("push rejected"), "{tool}");
    }
    assert!(!check("git_pull").ok().stdout.contains("push rejected"));
}

/// A block sees fixes as people do: those that nobody has to agree to first.
#[test]
fn check_known_issues_finds_fixes_too() {
    let place = furnished();
    place.aye(&["trust", "--yes"]).ok();
    let note = "name: note\nsteps:\n\
        \x20 - { name: note, tool: learn_tool_fix, args: { tool_name: git_push, error_pattern: push was refused, root_cause: behind, fix_description: pull first } }\n\
        \x20 - { name: do, tool: learn_tool_fix, args: { tool_name: git_push, error_pattern: push was refused, about: pull, first: { command: [git, pull] } } }\n";
    place.write("note.yaml", note);
    place.aye(&["run", "note.yaml"]).ok();
    let asked = |tool: &str, error: &str| {
        place.write(
            "known.yaml",
            &format!(
                "name: known\nsteps:\n  - {{ name: ask, compute: 'result = memory.check_known_issues(\"{tool}\", \"{error}\")' }}\n\
                 outputs: [{{ name: known, value: '{{{{ ask }}}}' }}]\n"
            ),
        );
        place.aye(&["run", "known.yaml"]).ok();
        place.aye(&["show", "last", "--json"]).ok().json()["outputs"]["known"].clone()
    };
    for error in ["Error: push was refused by the remote", ""] {
        let known = asked("git_push", error);
        assert_eq!(known["has_known_issues"], true, "{known}");
        let words: Vec<&Value> = known["matches"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["pattern"] == "push was refused")
            .map(|one| &one["fix"])
            .collect();
        assert_eq!(words, ["behind: pull first"], "the proposal waits: {known}");
    }
    let known = asked("oc", "error: the token of the cluster expired");
    assert!(known["matches"][0]["fix"].as_str().unwrap().contains("log in"), "{known}");
    assert_eq!(asked("git_push", "no such remote")["has_known_issues"], false);
}

/// What a skill or a file says in words is shown where the error happens.
#[test]
fn a_fix_in_words_is_shown_where_the_error_happens() {
    let place = Place::new();
    place.write("aye.toml", "");
    place.aye(&["trust", "--yes"]).ok();
    place.write(
        "note.yaml",
        "name: note\nsteps:\n  - { name: note, tool: learn_tool_fix, args: { tool_name: ls, error_pattern: cannot access, root_cause: nothing there, fix_description: make it first } }\n",
    );
    place.aye(&["run", "note.yaml"]).ok();
    place.write(
        "s.yaml",
        "name: s\nsteps:\n  - { name: list, command: ls, args: [/nowhere/at/all], on_error: ask }\n",
    );
    let ran = place.aye(&["run", "s.yaml", "--no-input"]);
    let words = "known fix of `cannot access`: nothing there: make it first; `fix-";
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(ran.all().contains(words), "{}", ran.all());
    assert!(ran.all().contains("from note in run RUN"), "{}", ran.all());
}

/// A pattern that Aye learned itself says what prevents the error: in the run, and where it
/// is looked up.
#[test]
fn what_aye_learned_from_failures_says_what_prevents_them() {
    let place = Place::new();
    let program = place.write(
        "report",
        "#!/bin/sh\ncase $1 in 2*) exit 0;; esac\necho 'Error: invalid date format: must be YYYY-MM-DD' >&2; exit 1\n",
    );
    std::fs::set_permissions(program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    place.write(
        "s.yaml",
        "name: s\nsteps:\n- {name: a, command: ./report, args: [x], on_error: continue}\n",
    );
    let prevention = "to prevent it, give it as YYYY-MM-DD";
    for _ in 0..10 {
        let ran = place.aye(&["run", "s.yaml"]).ok();
        assert!(!ran.all().contains(prevention), "too early: {}", ran.all());
    }
    let ran = place.aye(&["run", "s.yaml"]).ok();
    assert!(ran.all().contains(prevention), "{}", ran.all());
    let checked = place.aye(&["memory", "check", "", "--tool", "report"]).ok().stdout;
    assert!(checked.contains(prevention), "{checked}");
}

/// A pattern that someone wrote as a regular expression, without the slashes.
#[test]
fn what_reads_like_an_expression_is_reported_with_its_line() {
    let place = Place::new();
    place.write("aye.toml", "");
    place.write(
        ".aye/memory/learned/patterns.yaml",
        "issues:\n  - {pattern: 'disk.*full', meaning: no room}\n  - {pattern: '/quota (hit|gone)/', meaning: ask for more}\n",
    );
    let listed = place.aye(&["memory", "list"]).ok();
    let said = "patterns.yaml:2: `disk.*full` reads like a regular expression and is looked for as it stands; write `/disk.*full/` if it is one";
    assert!(listed.stderr.contains(said), "{}", listed.all());
    assert_eq!(listed.stderr.matches("reads like").count(), 1, "{}", listed.all());
    assert_eq!(place.aye(&["memory", "check", "the disk is full"]).code, 1);
    place.aye(&["memory", "check", "a disk.*full b"]).ok();
    place.aye(&["memory", "check", "error: quota gone"]).ok();
    // So is one that a skill teaches.
    place.aye(&["trust", "--yes"]).ok();
    place.write(
        "note.yaml",
        "name: note\nsteps:\n  - { name: note, tool: learn_tool_fix, args: { tool_name: ls, error_pattern: 'cannot.*access', fix_description: make it } }\n",
    );
    let ran = place.aye(&["run", "note.yaml"]).ok();
    assert!(ran.all().contains("`cannot.*access` is looked for as it stands"), "{}", ran.all());
}

#[test]
fn check_never_contradicts_itself() {
    let place = furnished();
    let (mut near, mut all) = (0, [0; 3]);
    for error in [
        "",
        "manifest unknown: abc",
        "HTTP 401 unauthorized",
        "invalid tag format: x",
        "eof",
        "the token of the cluster expired",
        // Nearly the error of the fix, and not quite.
        "the token of the registry expired",
    ] {
        for tool in ["", "bonfire", "git", "podman", "oc"] {
            let args = match tool.is_empty() {
                true => vec!["memory", "check", error],
                false => vec!["memory", "check", error, "--tool", tool],
            };
            let said = place.aye(&args);
            let data = place.aye(&[&args[..], &["--json"]].concat());
            let json = data.json();
            let lists = ["issues", "fixes", "usage"].map(|key| json[key].as_array().unwrap().len());
            let nothing = lists.iter().all(|found| *found == 0);
            for (all, found) in all.iter_mut().zip(lists) {
                *all += found;
            }
            let case = format!("{error:?} {tool:?}: {}", said.all());
            assert_eq!(said.code, i32::from(nothing), "{case}");
            assert_eq!(data.code, said.code, "{case}");
            let says = |words: &str| said.stdout.contains(words);
            assert_eq!(says("memory knows nothing about"), nothing, "{case}");
            for (list, title) in
                lists.iter().zip(["known issues", "fixes (learned)", "patterns of use"])
            {
                assert_eq!(says(title), *list > 0, "{case}");
            }
            // What nearly fits is listed, and is not called nothing.
            let misses = json["near_misses"].as_array().unwrap().len();
            assert_eq!(says("fixes for something like this"), misses > 0, "{case}");
            assert_eq!(says("nothing about exactly this"), nothing && misses > 0, "{case}");
            near += misses;
        }
    }
    assert!(near > 0 && all.iter().all(|found| *found > 0), "{near} {all:?}");
}
