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

#[test]
fn check_never_contradicts_itself() {
    let place = Place::new();
    place.write(".aye/memory/learned/patterns.yaml", ISSUES);
    place.write("aye.toml", "");
    for error in
        ["", "manifest unknown: abc", "HTTP 401 unauthorized", "invalid tag format: x", "eof"]
    {
        for tool in ["", "bonfire", "git", "podman"] {
            let args = match tool.is_empty() {
                true => vec!["memory", "check", error],
                false => vec!["memory", "check", error, "--tool", tool],
            };
            let said = place.aye(&args);
            let data = place.aye(&[&args[..], &["--json"]].concat());
            let json = data.json();
            let lists = ["issues", "fixes", "usage"].map(|key| json[key].as_array().unwrap().len());
            let nothing = lists.iter().all(|found| *found == 0);
            let case = format!("{error:?} {tool:?}: {}", said.all());
            assert_eq!(said.code, i32::from(nothing), "{case}");
            assert_eq!(data.code, said.code, "{case}");
            let denies = |words: &str| said.stdout.contains(words);
            assert_eq!(denies("memory knows nothing"), nothing, "{case}");
        }
    }
}
