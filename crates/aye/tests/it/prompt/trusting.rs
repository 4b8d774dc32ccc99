//! `aye trust` at a terminal.

use super::pty::Terminal;
use crate::cli::harness::Place;

#[test]
fn it_shows_what_would_be_trusted_and_only_a_yes_counts() {
    let place = Place::new();
    let settings = |program: &str| {
        let server = format!("[tools.own]\nserver = ['/bin/sh', '-c', '{program}']\n");
        place.write("aye.toml", &format!("{server}[advisor]\ncommand = ['advise']\n"));
    };
    settings("touch started");
    // Ctrl-C ends it by the signal, as at `read`.
    for (key, code) in [("n", Some(5)), ("\r", Some(5)), ("\u{1b}", Some(5)), ("\u{3}", None)] {
        let mut terminal = Terminal::aye(&place, &["trust"]);
        terminal.wait_for("server own").wait_for("touch started").wait_for("Trust ");
        terminal.keys(key);
        assert_eq!(terminal.end(), code, "{key:?}: {}", terminal.vt.all());
        terminal.assert_clean();
        assert_eq!(place.aye(&["trust", "--list"]).code, 3);
    }
    let mut terminal = Terminal::aye(&place, &["trust"]);
    terminal.wait_for("Trust ").keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(place.aye(&["trust", "--list"]).ok().stdout.contains("PLACE/work"));
    // What has changed is shown as a difference.
    settings("touch stolen");
    let mut terminal = Terminal::aye(&place, &["trust"]);
    terminal.wait_for("- /bin/sh -c 'touch started'").wait_for("+ /bin/sh -c 'touch stolen'");
    terminal.wait_for("This has changed. Trust it as it is now?").keys("n");
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
    let call = place.aye(&["tools", "call", "own.x"]);
    assert_eq!(call.code, 6, "{}", call.all());
    assert!(!place.work().join("stolen").exists() && !place.work().join("started").exists());
}

#[test]
fn installing_for_an_assistant_asks_too() {
    let place = Place::new();
    let mut terminal = Terminal::aye(&place, &["mcp", "install", "claude"]);
    terminal.wait_for("Write .mcp.json?").keys("y").wait_for("Trust ").keys("n");
    terminal.wait_for("this project is not trusted");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert_eq!(place.aye(&["trust", "--list"]).code, 3);
    let mut terminal = Terminal::aye(&place, &["mcp", "install", "claude"]);
    terminal.wait_for("names the server already").wait_for("Trust ").keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    place.aye(&["trust", "--list"]).ok();
}
