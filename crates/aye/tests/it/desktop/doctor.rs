//! What `aye doctor` says of the desktop, having tried it.

use std::process::Command;

use crate::cli::harness::{Place, Ran};

use super::notification::Bus;
use super::screen::{Screen, place, settings};

fn finding(place: &Place, command: &mut Command) -> (String, String) {
    finding_of("desktop dialog", place, command).unwrap()
}

fn finding_of(what: &str, place: &Place, command: &mut Command) -> Option<(String, String)> {
    let ran = Ran::of(command.arg("--json").output().unwrap(), place);
    let report = ran.json();
    let checks = report["checks"].as_array().unwrap().clone();
    let found = checks.into_iter().find(|check| check["what"] == what)?;
    let text = |name: &str| found[name].as_str().unwrap_or_default().to_owned();
    Some((text("health"), text("about")))
}

#[test]
fn what_the_settings_leave_out_is_said_and_what_they_want_is_tried() {
    let (screen, place) = (Screen::start(), place(""));
    let bus = Bus::start(&screen, true);
    let doctor = || bus.aye(&screen, &place, &["doctor"]);
    assert_eq!(finding_of("notification", &place, &mut doctor()), None, "nobody wants one");
    settings(&place, "[ask]\nprompters = [\"terminal\", \"notification\"]\n");
    let (health, about) = finding(&place, &mut doctor());
    assert_eq!((health.as_str(), about.as_str()), ("missing", "`[ask] prompters` leaves it out"));
    let (health, about) = finding_of("notification", &place, &mut doctor()).unwrap();
    assert_eq!(health, "good", "{about}");
    assert!(about.contains("notify-send 0.8") && about.ends_with("; dunst"), "{about}");
    drop(bus);
    let bus = Bus::start(&screen, false);
    let mut doctor = bus.aye(&screen, &place, &["doctor"]);
    let (health, about) = finding_of("notification", &place, &mut doctor).unwrap();
    assert_eq!((health.as_str(), about.as_str()), ("broken", "no notification service answers"));
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
