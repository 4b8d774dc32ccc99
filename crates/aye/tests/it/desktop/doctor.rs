//! What `aye doctor` says of the desktop, having tried it.

use std::process::Command;

use crate::cli::harness::{Place, Ran};

use super::screen::{Screen, place};

fn finding(place: &Place, command: &mut Command) -> (String, String) {
    let ran = Ran::of(command.arg("--json").output().unwrap(), place);
    let report = ran.json();
    let checks = report["checks"].as_array().unwrap().clone();
    let found = checks.into_iter().find(|check| check["what"] == "desktop dialog").unwrap();
    let text = |name: &str| found[name].as_str().unwrap_or_default().to_owned();
    (text("health"), text("about"))
}

#[test]
fn what_works_is_what_was_tried() {
    let (mut screen, place) = (Screen::start(), place(""));
    let (health, about) = finding(&place, &mut screen.aye(&place, &["doctor"]));
    assert_eq!(health, "good", "{about}");
    assert!(
        about.starts_with("/usr/bin/zenity, 3.") || about.starts_with("/usr/bin/zenity, 4."),
        "{about}"
    );
    assert!(screen.windows().is_empty(), "nothing is shown");
    for (name, value, health, about) in [
        ("CI", "true", "missing", "this is a CI job (`CI` is set)"),
        ("DISPLAY", "", "missing", "there is no display"),
        ("DISPLAY", "localhost:10.0", "broken", "belongs to another machine"),
        ("DISPLAY", ":12345", "broken", "the display `:12345` does not answer"),
        ("PATH", "/nowhere", "missing", "neither `zenity` nor `kdialog` is installed"),
    ] {
        let mut command = screen.aye(&place, &["doctor"]);
        let found = finding(&place, command.env(name, value));
        assert_eq!(found.0, health, "{found:?}");
        assert!(found.1.contains(about), "{found:?}");
    }
    screen.kill();
    let (health, about) = finding(&place, &mut screen.aye(&place, &["doctor"]));
    assert_eq!(health, "broken", "{about}");
}
