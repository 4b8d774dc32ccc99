//! The question before a server is started for the first time.

use super::pty::Terminal;
use crate::cli::harness::Place;

fn place() -> Place {
    let place = Place::new();
    let script = "touch started; echo bye >&2";
    place.write("aye.toml", &format!("[tools.own]\nserver = ['/bin/sh', '-c', '{script}']\n"));
    place
}

#[test]
fn a_no_starts_nothing_and_a_yes_is_kept() {
    let place = place();
    let mut terminal = Terminal::aye(&place, &["tools", "call", "own.fine"]);
    terminal.wait_for("/bin/sh -c 'touch started; echo bye >&2'");
    terminal.wait_for("Trust own in this workspace?").keys("\r");
    assert_eq!(terminal.end(), Some(5));
    terminal.assert_clean();
    assert!(!place.work().join("started").exists());

    let mut terminal = Terminal::aye(&place, &["tools", "call", "own.fine"]);
    terminal.wait_for("[y/N]").keys("y");
    assert_eq!(terminal.end(), Some(1), "{}", terminal.vt.screen());
    assert!(place.work().join("started").exists());
    assert!(terminal.vt.screen().contains("its last output: bye"), "{}", terminal.vt.screen());

    // Agreed once; nobody is asked again.
    let ran = place.aye(&["tools", "call", "own.fine"]);
    assert!(ran.stderr.contains("exit code 0"), "{}", ran.all());
    let changed = place.read("aye.toml").replace("bye", "hello");
    place.write("aye.toml", &changed);
    let mut terminal = Terminal::aye(&place, &["tools", "list", "own"]);
    terminal.wait_for("own has changed. Trust it as it is now?").keys("n");
    assert_eq!(terminal.end(), Some(5));
}
