//! Agreeing to a fix that someone else wrote.

use super::pty::Terminal;
use crate::cli::harness::Place;

const FIXES: &str = ".aye/memory/learned/fixes.yaml";

/// A fix that would rather not be read.
fn place() -> Place {
    let place = Place::new();
    place.write("aye.toml", "");
    let long = "x".repeat(300);
    place.write(
        FIXES,
        &format!(
            r#"fixes:
  - id: fix-1a2b3c4d
    match: {{tool: cat, step: one, skill: s, error: No such file, args: {{"1": missing}}}}
    do:
      args: {{"1": "safe\u001b[2K\u001b[1A\u202edm", "2": "a\nfirst     nothing"}}
      first: {{command: [sh, -c, "true {long}; touch owned"]}}
    about: "harmless\u001b[8m\n\nyes"
    from: {{kind: person, by: "root\u001b[2J", at: 2026-11-02T09:00:00Z}}
    agreed: {{by: root, at: 2026-11-02T09:00:00Z}}
"#
        ),
    );
    place
}

fn standing(place: &Place) -> String {
    let listed = place.aye(&["memory", "list", "fixes", "--json"]).ok().json();
    listed["fixes"][0]["standing"].as_str().unwrap().to_owned()
}

#[test]
fn it_is_shown_whole_and_enter_is_no() {
    let place = place();
    let mut terminal = Terminal::aye(&place, &["memory", "agree", "fix-1a2b3c4d"]);
    terminal.wait_for("[y/N]");
    let seen = terminal.vt.all().replace('\n', "");
    for part in [
        "cat",
        "step one",
        "skill s",
        "No such file",
        "1 is \"missing\"",
        "safe\\u001b[2K\\u001b[1A\\u{202e}dm",
        // A value stays on its line, whatever is in it.
        "a\\nfirst     nothing",
        "touch owned'",
        "root\\u{1b}[2J",
    ] {
        assert!(seen.contains(part), "{part}: {}", terminal.vt.all());
    }
    terminal.keys("\r");
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
    terminal.assert_clean();
    assert_eq!(standing(&place), "proposed");
}

#[test]
fn a_yes_counts_for_what_was_shown() {
    let place = place();
    let mut terminal = Terminal::aye(&place, &["memory", "agree", "fix-1a2b3c4d"]);
    terminal.wait_for("[y/N]");
    // Someone changes it while it is read.
    let shown = place.read(FIXES);
    place.write(FIXES, &shown.replace("touch owned", "touch other"));
    terminal.keys("y");
    assert_eq!(terminal.end(), Some(3), "{}", terminal.vt.all());
    assert!(terminal.vt.all().contains("changed"), "{}", terminal.vt.all());
    assert_eq!(standing(&place), "proposed");

    place.write(FIXES, &shown);
    let mut terminal = Terminal::aye(&place, &["memory", "agree", "fix-1a2b3c4d"]);
    terminal.wait_for("[y/N]").keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert_eq!(standing(&place), "active");
    place.write(FIXES, &shown.replace("touch owned", "touch other"));
    assert_eq!(standing(&place), "proposed");
}
