//! Other processes know that a question is shown.

use super::pty::Terminal;
use crate::cli::harness::{Place, until};

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
