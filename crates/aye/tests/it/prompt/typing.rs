//! Typing while a run is drawn: it leaves no trace and answers nothing.

use aye_core::id::RunId;
use aye_runtime::store::{Leases as _, SqliteStore};
use rustix::process::{Pid, Signal, kill_process};

use super::pty::Terminal;
use crate::cli::harness::Place;

const SKILL: &str = "
name: slow
steps:
- { name: one, shell: 'echo 1' }
- { name: two, shell: 'echo compiling; until [ -e go ]; do sleep 0.02; done' }
- { name: three, shell: 'echo 3' }
";

fn place(skill: &str) -> Place {
    let place = Place::new();
    place.write("s.yaml", skill);
    place
}

/// A run that is drawn and stays at step `two`.
fn drawn(place: &Place) -> Terminal {
    let mut terminal = Terminal::aye(place, &["run", "s.yaml"]);
    terminal.wait_for("│ compiling");
    terminal
}

/// The process that drives the only run.
fn driver(place: &Place) -> Pid {
    let runs = place.aye(&["runs", "--json"]).ok().json();
    let run = RunId::new(runs[0]["run"].as_str().unwrap()).unwrap();
    let store = SqliteStore::open_to_read(&place.home()).unwrap().expect("a journal");
    let held = store.holder(&run).unwrap().expect("someone drives it");
    Pid::from_raw(i32::try_from(held.holder.expect("who").pid).unwrap()).unwrap()
}

#[test]
fn keys_leave_no_trace_in_the_plan() {
    let place = place(SKILL);
    let mut terminal = drawn(&place);
    assert!(!terminal.echoes());
    terminal.keys("hello\r\rworld\n\n\n\x04\x16x");
    // Painted at least twice since.
    terminal.wait_for("2.0s");
    place.write("go", "");
    assert_eq!(terminal.end(), Some(0));
    let shown = super::panes::settled(&terminal.vt.all(), 80);
    insta::assert_snapshot!(shown, @r"
    slow  run k3f9x2m7q1
    ✓ one    echo 1 → 1                                                        1.0s
    ✓ two    echo compiling; until [ -e go ]; do sleep 0.02; do… → compiling   1.0s
    ✓ three  echo 3 → 3                                                        1.0s
    ✓ slow completed in 1.0s  3 steps done
    ");
    terminal.assert_clean();
}

#[test]
fn signals_come_through_however_much_was_typed() {
    // Ctrl-C and Ctrl-\ pause the run.
    for (key, code) in [("\x03", 130), ("\x1c", 131)] {
        let place = place(SKILL);
        let mut terminal = drawn(&place);
        // More than the kernel keeps for a program that does not read.
        for _ in 0..6 {
            terminal.keys(&"x".repeat(1000)).wait_for("compiling");
        }
        terminal.keys(key);
        assert_eq!(terminal.end(), Some(code), "{}", terminal.vt.all());
        assert!(!terminal.vt.all().contains("xx"), "{}", terminal.vt.all());
        terminal.assert_clean();
    }
}

#[test]
fn what_was_typed_before_a_question_does_not_answer_it() {
    let place = place(
        &SKILL.replace("{ name: three, shell: 'echo 3' }", "{ name: three, confirm: 'Go on?' }"),
    );
    let mut terminal = drawn(&place);
    terminal.keys("y\ry\r");
    place.write("go", "");
    terminal.wait_for("[y/N]").keys("n");
    terminal.end();
    assert!(place.aye(&["show", "last"]).stdout.contains("cancelled"), "{}", terminal.vt.all());
    terminal.assert_clean();
}

#[test]
fn a_step_that_has_the_terminal_finds_it_as_it_was() {
    let place = place(
        "
name: slow
steps:
- { name: one, shell: 'echo compiling; until [ -e go ]; do sleep 0.02; done' }
- { name: two, interactive: true, shell: 'stty -a > modes; echo rea$()dy; read line; echo \"said $line\"' }
- { name: three, shell: 'echo again; until [ -e stop ]; do sleep 0.02; done' }
",
    );
    let mut terminal = drawn(&place);
    terminal.keys("not for the step\r");
    place.write("go", "");
    terminal.wait_for("ready");
    assert!(terminal.echoes());
    terminal.keys("hello\r").wait_for("said hello").wait_for("│ again");
    assert!(!terminal.echoes());
    let modes = place.read("modes");
    for mode in [" echo ", " icanon ", " iexten "] {
        assert!(modes.contains(mode), "{mode}: {modes}");
    }
    place.write("stop", "");
    assert_eq!(terminal.end(), Some(0));
    terminal.assert_clean();
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_fg_takes_it_again() {
    let place = place(SKILL);
    let mut shell = Terminal::shell(&place);
    shell.keys("$AYE run s.yaml\n").wait_for("│ compiling").keys("hello\r\x1a").wait_for("Stopped");
    shell.keys("stty -a | grep -o ' echo '\n").wait_for(" echo\n");
    shell.keys("fg\n").wait("the plan", |vt| vt.all().matches("compiling").count() > 1);
    shell.wait_for("· three");
    assert!(!shell.echoes());
    shell.keys("world\r");
    place.write("go", "");
    shell.wait_for("slow completed").keys("stty -a | grep -o ' icanon'\n").wait_for(" icanon\n");
    assert!(!shell.vt.all().contains("world"), "{}", shell.vt.all());
    shell.keys("exit\n");
    shell.end();
}

#[test]
fn in_the_background_the_terminal_is_left_alone() {
    let place = place(SKILL);
    let mut shell = Terminal::shell(&place);
    shell.keys("$AYE run s.yaml &\n").wait_for("✓ one");
    shell.keys("stty -a | grep -o ' echo '\n").wait_for(" echo\n");
    shell.keys("fg\n").wait_for("│ compiling");
    assert!(!shell.echoes());
    place.write("go", "");
    shell.wait_for("slow completed").keys("exit\n");
    shell.end();
}

#[test]
fn whatever_ends_the_engine_the_terminal_is_clean() {
    for signal in [Signal::KILL, Signal::ABORT, Signal::TERM] {
        let place = place(SKILL);
        // No shell that would mend the terminal itself.
        let mut terminal = drawn(&place);
        terminal.keys("hello\r");
        kill_process(driver(&place), signal).unwrap();
        assert_ne!(terminal.end(), Some(0));
        assert!(terminal.echoes(), "{signal:?}");
        assert!(!terminal.vt.all().contains("hello"), "{signal:?}: {}", terminal.vt.all());
    }
}
