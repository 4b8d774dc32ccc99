//! `aye memory learn` on a terminal.

use super::pty::Terminal;
use crate::cli::harness::Place;

#[test]
fn a_fix_is_taught_by_answering() {
    let place = Place::new();
    let mut terminal = Terminal::aye(&place, &["memory", "learn"]);
    terminal.wait_for("Words of the error?").keys("token expired\r");
    terminal.wait_for("Which tool").keys("oc\r");
    terminal.wait_for("What does it mean?").keys("\r");
    terminal.wait_for("What is to be done").keys("log in again\r");
    terminal.wait_for("A command that repairs it?").keys("oc login\r");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    terminal.assert_clean();
    let fixes = place.aye(&["memory", "list", "fixes", "--json"]).ok().json();
    let fix = &fixes["fixes"][0];
    assert_eq!(fix["match"]["tool"], "oc");
    assert_eq!(fix["do"]["first"]["command"], serde_json::json!(["oc", "login"]));
    assert_eq!(fix["about"], "log in again");
}

#[test]
fn leaving_teaches_nothing() {
    let place = Place::new();
    let mut terminal = Terminal::aye(&place, &["memory", "learn"]);
    terminal.wait_for("Words of the error?").keys("token expired\r");
    terminal.wait_for("Which tool").keys("\x1b");
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
    assert!(!place.home().join("memory").exists());
}
