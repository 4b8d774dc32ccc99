//! Other processes know that a question is shown.

use super::pty::Terminal;
use crate::cli::detach::driver;
use crate::cli::harness::{Place, until};
use crate::cli::resting::{clocked, rests};

#[test]
fn a_prompt_on_a_terminal_is_known_to_others() {
    let place = Place::new();
    place.write(
        "go.yaml",
        "name: go\nsteps: [ { name: sure, confirm: { message: 'Go?', timeout: 1h } } ]\n",
    );
    let mut terminal = Terminal::aye(&place, &["run", "go.yaml"]);
    terminal.wait_for("[y/N]");
    let db = place.journal_db();
    let kinds = || -> Vec<String> {
        let mut query = db.prepare("SELECT kind FROM presence").unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    until("it is told", || kinds() == ["terminal"]);
    terminal.keys("\u{3}");
    terminal.end();
    assert_eq!(kinds(), Vec::<String>::new(), "nothing is shown any more");
}

#[test]
fn a_prompt_on_a_terminal_stays_where_a_run_in_the_background_rests() {
    let place = Place::new();
    place.write(
        "gate.yaml",
        "name: gate\nsteps: [ { name: sure, confirm: { message: 'Go?', timeout: 0 } } ]\n",
    );
    let clock = place.home().join("clock").display().to_string();
    let mut terminal = Terminal::with(&place, &["run", "gate.yaml"], &[("AYE_TEST_CLOCK", &clock)]);
    terminal.wait_for("[y/N]");
    let here = place.last();
    let pid = driver(&place, &here).expect("someone drives it");
    clocked(&place, &["run", "gate.yaml", "--detach", "-q"]).output().unwrap();
    let asked = || place.aye(&["inbox", "--json"]).ok().json().as_array().map(Vec::len);
    until("both ask", || asked() == Some(2));
    let behind = place.last();
    assert_ne!(here, behind);
    let other = driver(&place, &behind).expect("someone drives it");
    // When this one has gone, the ten minutes are over for both.
    rests(&place, &behind, other);
    assert_eq!(driver(&place, &here), Some(pid));
    terminal.keys("y");
    assert_eq!(terminal.end(), Some(0));
    let shown = place.aye(&["show", &here, "--json"]).ok().json();
    assert_eq!(shown["status"], "completed", "{shown}");
}
