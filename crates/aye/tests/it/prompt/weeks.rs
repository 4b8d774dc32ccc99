//! Four weeks at a terminal: what was learned from one value is used for another.

use super::pty::Terminal;
use super::vt::Vt;
use crate::cli::harness::Place;
use crate::memory::lookup::{FIRST, SECOND, SKILL, furnish};

/// `aye` at a terminal in a week, with an editor that writes the full name.
fn in_week(place: &Place, week: u32, args: &[&str]) -> Terminal {
    let editor = place.work().join("editor.sh").to_string_lossy().into_owned();
    let days = (7 * (week - 1)).to_string();
    Terminal::with(place, args, &[("AYE_TEST_DAYS", &days), ("EDITOR", &editor)])
}

fn run(place: &Place, week: u32, image: &str, tag: &str) -> Terminal {
    let (image, tag) = (format!("image={image}"), format!("tag={tag}"));
    in_week(place, week, &["run", "release.yaml", "-i", &image, "-i", &tag])
}

/// Everything on the screen, wherever its lines break.
fn flat(vt: &Vt) -> String {
    let all = vt.all().replace('│', " ");
    all.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn wait(terminal: &mut Terminal, text: &str) {
    terminal.wait(&format!("`{text}`"), |vt| flat(vt).contains(text));
}

/// Waits for the question about the failure, and gives up.
#[track_caller]
fn abort(mut terminal: Terminal) -> String {
    terminal.wait_for("Abort").keys("\x1b");
    assert_eq!(terminal.end(), Some(1), "{}", terminal.vt.all());
    flat(&terminal.vt)
}

#[test]
fn four_weeks_with_other_values_than_those_it_learned_from() {
    let place = Place::new();
    place.write("release.yaml", SKILL);
    furnish(&place);
    // Week 1: nobody knows the error. The person looks the tag up and tries again with it.
    let mut terminal = run(&place, 1, "app", "abc123");
    wait(&mut terminal, "manifest unknown: abc123");
    terminal.wait_for("Retry with changes");
    let looked = place.aye(&["tools", "call", "tags", "-a", "image=app", "-a", "tag=abc123"]).ok();
    let found = looked.stdout.split('"').find(|word| word.len() == 40).unwrap_or_default();
    assert_eq!(found, FIRST, "{}", looked.all());
    let script = format!("#!/bin/sh\nsed -i 's/abc123/{found}/' \"$1\"\n");
    let editor = place.write("editor.sh", &script);
    std::fs::set_permissions(editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    terminal.keys("2\r");
    terminal.wait_for("Try this?").keys("1\r");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(flat(&terminal.vt).contains("deployed app abc123aaa"), "{}", terminal.vt.all());
    // How it was found is proposed; nobody agreed on this machine.
    let learn = [
        "memory",
        "learn",
        "--tool",
        "deploy",
        "--error",
        "Error: manifest unknown: abc123",
        "--look-up",
        "tags",
        "--with",
        "image={{ args.image }}",
        "--with",
        "tag={{ args.image_tag }}",
        "--set",
        "image_tag={{ first.full_sha }}",
        "--shared",
    ];
    place.aye(&learn).ok();
    std::fs::remove_file(place.home().join("memory/agreed.yaml")).unwrap();

    // Week 2: before a person agrees, the proposal is only shown.
    let said = abort(run(&place, 2, "web", "def456"));
    assert!(said.contains("that nobody agreed to on this machine"), "{said}");
    let known = place.aye(&["memory", "list", "fixes", "--json"]).ok().json();
    let id = known["fixes"][0]["id"].as_str().unwrap().to_owned();
    let mut terminal = in_week(&place, 2, &["memory", "agree", &id]);
    terminal.wait_for("[y/N]").keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    // Then another short name of another image is healed, and nobody is asked.
    let mut terminal = run(&place, 2, "web", "def456");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    let said = flat(&terminal.vt);
    assert!(!said.contains("Abort") && said.contains("known error"), "{said}");
    let deploys = place.read("deploys");
    assert!(deploys.ends_with(&format!("web {SECOND}\n")), "{deploys}");

    // Week 3: a new error is asked about.
    let mut terminal = run(&place, 3, "web", "broken");
    wait(&mut terminal, "image is corrupt");
    abort(terminal);

    // Week 4: the lookup stops working. Twice, and the fix is suspended, which is said.
    place.write("down", "");
    abort(run(&place, 4, "web", "0aa111"));
    let said = abort(run(&place, 4, "web", "0aa222"));
    assert!(said.contains("failed twice in a row and is not used any more"), "{said}");
    let said = abort(run(&place, 4, "web", "0aa333"));
    assert!(said.contains("it was not used: it failed twice in a row"), "{said}");
}
