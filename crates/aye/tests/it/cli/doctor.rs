//! What `aye doctor` says of programs: tried where that is safe, else looked for.

use std::os::unix::fs::PermissionsExt as _;

use super::harness::{Place, Ran};

fn finding(place: &Place, what: &str, env: &[(&str, &str)]) -> (String, String) {
    let mut command = place.command(&["doctor", "--json"]);
    command.envs(env.iter().copied());
    let report = Ran::of(command.output().unwrap(), place).json();
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["what"] == what).unwrap();
    let text = |name: &str| found[name].as_str().unwrap_or_default().to_owned();
    (text("health"), text("about"))
}

fn program(place: &Place, name: &str, script: &str) -> String {
    let path = place.write(name, &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn an_editor_that_is_known_is_tried_and_another_is_only_looked_for() {
    let place = Place::new();
    let sound = program(&place, "bin/vim", "echo 'VIM - Vi IMproved 9.1'");
    let broken = program(&place, "bad/vim", "exit 3");
    let other = program(&place, "bin/mine", "touch started");
    let editor = |path: &str| finding(&place, "editor", &[("VISUAL", ""), ("EDITOR", path)]);
    let (health, about) = editor(&sound);
    assert!(health == "good" && about.contains("VIM - Vi IMproved 9.1"), "{health}: {about}");
    let (health, about) = editor(&broken);
    assert!(health == "broken" && about.contains("ended with"), "{health}: {about}");
    let (health, about) = editor(&other);
    assert!(health == "good" && about.ends_with("(found, not started)"), "{health}: {about}");
    assert!(!place.work().join("started").exists());
    assert_eq!(editor("/nowhere/vim").0, "broken");
}

#[test]
fn the_program_of_a_command_is_looked_for_and_not_started() {
    let place = Place::new();
    program(&place, "bin/look", "touch started");
    place.write("aye.toml", "[tools.look]\ncommand = ['bin/look']\n");
    place.aye(&["trust", "--yes"]).ok();
    let (health, about) = finding(&place, "tools", &[]);
    assert!(health == "good" && about.contains("1 command (found, not started)"), "{about}");
    place.write(
        "aye.toml",
        "[tools.look]\ncommand = ['bin/gone', '{{ args.x }}']\nargs = { x = {} }\n",
    );
    let (health, about) = finding(&place, "tools", &[]);
    assert!(health == "broken", "{about}");
    assert_eq!(about, "the program `bin/gone` of `look` is not there");
    assert!(!place.work().join("started").exists());
}
