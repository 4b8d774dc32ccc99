//! Terminals that know little, and lines that nobody repaints.

use crate::cli::harness::Place;
use crate::prompt::pty::Terminal;

const SKILL: &str = "
name: release
steps:
- {name: build, shell: echo done}
- {name: check, on_error: continue, shell: exit 3}
- {name: gate, confirm: {message: Go?, timeout: 12s}}
";

#[test]
fn a_terminal_that_nobody_named_gets_ascii_without_colours() {
    for term in ["dumb", ""] {
        let place = Place::new();
        place.write("s.yaml", SKILL);
        let mut terminal = Terminal::with(&place, &["run", "s.yaml"], &[("TERM", term)]);
        terminal.wait_for("[y/N]").keys("y\n");
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
        let shown = terminal.vt.all();
        assert!(shown.is_ascii() && shown.contains("+ build"), "{term}: {shown}");
        let raw = String::from_utf8_lossy(&terminal.raw).into_owned();
        assert!(!raw.contains("\u{1b}[3") && !raw.contains("\u{1b}[1m"), "{term}: {raw:?}");
        for verb in [&["show"][..], &["runs"], &["inbox"]] {
            let mut terminal = Terminal::with(&place, verb, &[("TERM", term)]);
            assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
            let raw = String::from_utf8_lossy(&terminal.raw).into_owned();
            assert!(raw.is_ascii() && !raw.contains('\u{1b}'), "{term} {verb:?}: {raw:?}");
        }
    }
}

#[test]
fn a_program_that_was_killed_in_the_middle_of_a_line_is_left_behind() {
    // It may also have ended its line, and then no row is left empty.
    let skill = "
name: vim
steps:
- {name: edit, interactive: true, on_error: continue, shell: 'printf half; kill -9 $$'}
- {name: whole, interactive: true, shell: 'echo whole'}
- {name: tell, shell: echo done}
";
    for (args, term) in [(&["--plain"][..], "xterm"), (&[], "dumb"), (&["--plain", "-q"], "xterm")]
    {
        let place = Place::new();
        place.write("s.yaml", skill);
        let args = [&["run", "s.yaml"], args].concat();
        let mut terminal = Terminal::with(&place, &args, &[("TERM", term)]);
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
        let shown = terminal.vt.all();
        let lines: Vec<&str> = shown.lines().collect();
        assert!(!lines.contains(&""), "{shown}");
        let after = |line: &str| {
            let at = lines.iter().position(|one| *one == line);
            at.and_then(|at| lines.get(at + 1)).copied().unwrap_or_else(|| panic!("{shown}"))
        };
        if args.contains(&"-q") {
            assert_eq!(lines, ["half", "whole", "done"]);
            continue;
        }
        assert!(after("half").starts_with("x edit  ended by SIGKILL"), "{shown}");
        assert!(after("whole").starts_with("+ whole"), "{shown}");
    }
}

#[test]
fn the_time_left_is_said_again() {
    let place = Place::new();
    place.write("s.yaml", SKILL);
    let mut terminal = Terminal::aye(&place, &["run", "s.yaml", "--plain"]);
    terminal.wait_for("within 12s, then no").wait_for("within 10s, then no").keys("y\n");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
}

#[test]
fn standard_error_is_told_apart_where_both_are_on_the_terminal() {
    let skill = "
name: both
steps:
- {name: a, shell: 'echo to stdout; echo to stderr >&2'}
";
    let place = Place::new();
    place.write("s.yaml", skill);
    for (args, env) in [(&["run", "s.yaml", "--plain"][..], "xterm"), (&["run", "s.yaml"], "dumb")]
    {
        let mut terminal = Terminal::with(&place, args, &[("TERM", env)]);
        assert_eq!(terminal.end(), Some(0));
        let shown = terminal.vt.all();
        assert!(shown.contains("a | to stdout\n") && shown.contains("a ! to stderr\n"), "{shown}");
    }
    let piped = place.aye(&["run", "s.yaml"]).ok();
    assert!(piped.stderr.contains("a | to stderr\n"), "{}", piped.all());
}
