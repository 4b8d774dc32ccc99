//! From the first paint to the last: time, signals, windows, stops.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use aye_core::id::RunId;
use aye_runtime::store::{Leases as _, SqliteStore};
use rustix::process::{Pid, Signal, kill_process};

use super::pty::Terminal;
use super::vt::Vt;
use crate::cli::harness::{Place, until};

fn place(timeout: &str) -> Place {
    let place = Place::new();
    place.write(
        "skill.yaml",
        &format!(
            "
name: gate
steps:
  - name: deploy
    command: touch
    args: [deployed]
    confirmation: {{ message: 'Deploy?', {timeout} }}
"
        ),
    );
    place
}

/// The process that drives the only run.
fn driver(place: &Place) -> Pid {
    let runs = place.aye(&["runs", "--json"]).ok().json();
    let run = RunId::new(runs[0]["run"].as_str().unwrap()).unwrap();
    let store = SqliteStore::open_to_read(&place.home()).unwrap().expect("a journal");
    let held = store.holder(&run).unwrap().expect("someone drives it");
    Pid::from_raw(i32::try_from(held.holder.expect("who").pid).unwrap()).unwrap()
}

fn run(place: &Place) -> Terminal {
    Terminal::aye(place, &["run", "skill.yaml"])
}

/// Waits until a question shows one of these numbers of seconds. A busy machine draws some of
/// them late or never.
#[track_caller]
fn wait_for_seconds(terminal: &mut Terminal, seconds: RangeInclusive<u32>) -> &mut Terminal {
    let shown = |vt: &Vt, left| vt.all().contains(&format!(" {left}s left"));
    let what = format!("one of {seconds:?} seconds");
    terminal.wait(&what, |vt| seconds.clone().any(|left| shown(vt, left)))
}

/// More time than a question of 15 seconds can have left, unless someone typed.
const EXTENDED: RangeInclusive<u32> = 16..=30;

#[test]
fn time_runs_down_and_the_default_is_taken() {
    for (default, code, outcome) in [
        (", default: yes", 0, "`proceed` is taken"),
        (", default: no", 5, "`cancel` is taken"),
        ("", 5, "counts as no"),
    ] {
        let place = place(&format!("timeout: 4s{default}"));
        let mut terminal = run(&place);
        wait_for_seconds(&mut terminal, 1..=4).wait_for("nobody answered in time");
        assert_eq!(terminal.end(), Some(code), "{}", terminal.vt.all());
        assert!(terminal.vt.all().contains(outcome), "{}", terminal.vt.all());
        assert_eq!(place.work().join("deployed").exists(), code == 0);
        terminal.assert_clean();
    }
}

#[test]
fn the_spinner_turns_and_disturbs_nothing_typed() {
    let place = Place::new();
    let mut terminal = Terminal::captured(&place, &["input", "Which commit?", "--timeout", "5m"]);
    terminal.wait_for("⠋").keys("abc").wait_for("❯ abc");
    let mut frames = std::collections::BTreeSet::new();
    let give_up = Instant::now() + Duration::from_secs(20);
    while frames.len() < 10 && Instant::now() < give_up {
        terminal.read(Duration::from_millis(50));
        let screen = terminal.vt.screen();
        frames.extend(screen.chars().filter(|c| ('\u{2800}'..='\u{28ff}').contains(c)));
        assert!(screen.contains("├─ ❯ abc"), "{screen}");
        assert_eq!(terminal.vt.cursor(), (1, 8));
    }
    assert_eq!(frames.len(), 10, "all frames are shown");
    terminal.keys("d\r");
    assert_eq!(terminal.end(), Some(0));
    assert_eq!(terminal.stdout(), "abcd\n");
}

#[test]
fn somebody_who_types_gets_more_time() {
    let place = Place::new();
    place.write(
        "skill.yaml",
        "
name: slow
steps:
  - { name: who, input: { message: 'Who?', timeout: 15s }, output: who }
",
    );
    let mut terminal = run(&place);
    wait_for_seconds(terminal.wait_for("Who?").keys("a"), EXTENDED).keys("da\r");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(terminal.vt.all().contains("ada"));
}

#[test]
fn somebody_who_types_elsewhere_gets_more_time_too() {
    let place = Place::new();
    place.write(
        "skill.yaml",
        "
name: slow
steps:
  - { name: who, input: { message: 'Who?', timeout: 15s }, output: who }
",
    );
    // With a driver that grants it, and with none.
    for driven in [true, false] {
        let option = if driven { "--detach" } else { "--no-input" };
        place.aye(&["run", "skill.yaml", option]);
        let mut terminal = Terminal::aye(&place, &["answer", &format!("{}-1", place.last())]);
        wait_for_seconds(terminal.wait_for("Who?").keys("a"), EXTENDED).keys("da\r");
        if !driven {
            terminal.wait_for("Resume it here?").keys("n");
        }
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
        terminal.assert_clean();
        let events = place.aye(&["show", "last", "--json"]).ok();
        assert!(events.stdout.contains("ada"), "{}", events.all());
    }
}

#[test]
fn a_script_gives_more_time_as_well() {
    let place = Place::new();
    let args = ["input", "Who?", "--match", "^[a-z]+$", "--timeout", "15s"];
    let mut terminal = Terminal::captured(&place, &args);
    wait_for_seconds(terminal.wait_for("Who?").keys("a"), EXTENDED).keys("da\r");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert_eq!(terminal.stdout(), "ada\n");
    // Whole lines are only seen when they are sent.
    let mut terminal = Terminal::captured(&place, &[&args[..], &["--plain"]].concat());
    let extended = |vt: &Vt| EXTENDED.clone().any(|s| vt.all().contains(&format!("within {s}s")));
    terminal.wait_for("within 15s").keys("12\r").wait("more time", extended).keys("ada\r");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert_eq!(terminal.stdout(), "ada\n");
}

#[test]
fn ctrl_c_pauses_the_run_and_leaves_the_terminal_clean() {
    for (name, keys) in [("Ctrl-C", "\x03"), ("typed, then Ctrl-C", "?\x03")] {
        let place = place("timeout: 5m, default: yes");
        let mut terminal = run(&place);
        terminal.wait_for("[Y/n]").keys(keys);
        assert_eq!(terminal.end(), Some(130), "{name}: {}", terminal.vt.all());
        assert!(!place.work().join("deployed").exists());
        terminal.assert_clean();
        assert!(!terminal.vt.screen().contains("[Y/n]"), "{}", terminal.vt.screen());
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        assert_eq!(inbox.as_array().unwrap().len(), 1, "the question still waits");
    }
}

#[test]
fn sigterm_leaves_the_terminal_clean() {
    let place = place("timeout: 5m");
    let mut terminal = run(&place);
    terminal.wait_for("[y/N]");
    kill_process(terminal.pid(), Signal::TERM).unwrap();
    assert_eq!(terminal.end(), Some(143), "{}", terminal.vt.all());
    terminal.assert_clean();
    assert!(!place.work().join("deployed").exists());
}

#[test]
fn whatever_ends_the_engine_the_terminal_is_clean() {
    for signal in [Signal::KILL, Signal::QUIT, Signal::ABORT, Signal::TERM, Signal::HUP] {
        let place = place("timeout: 5m");
        // No shell that would mend the terminal itself.
        let mut terminal = run(&place);
        terminal.wait_for("[y/N]");
        assert!(!terminal.echoes(), "the prompt has the terminal");
        kill_process(driver(&place), signal).unwrap();
        assert_ne!(terminal.end(), Some(0));
        terminal.assert_clean();
        assert!(!place.work().join("deployed").exists());
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        assert_eq!(inbox.as_array().unwrap().len(), 1, "{signal:?}: the question still waits");
    }
}

#[test]
fn ctrl_backslash_does_not_leave_a_broken_terminal() {
    let place = place("timeout: 5m");
    let mut terminal = run(&place);
    terminal.wait_for("[y/N]").keys("\x1c").wait_for("press y or n").keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    terminal.assert_clean();
}

#[test]
fn a_closed_window_is_no_answer() {
    let place = place("timeout: 0, default: yes");
    let mut terminal = run(&place);
    terminal.wait_for("[Y/n]");
    let code = terminal.hang_up().unwrap();
    assert_ne!(code, Some(0));
    assert!(!place.work().join("deployed").exists());
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    assert_eq!(inbox.as_array().unwrap().len(), 1, "the question still waits");
    place.aye(&["audit"]).ok();
}

/// The kernel tells the group that has the terminal, which is the step's and not ours; what the
/// step does then (end well, for `cat`) says nothing about it.
#[test]
fn a_window_closed_during_an_interactive_step_interrupts_the_run() {
    let skill = "
name: gate
initial: edit
states:
  edit: { shell: 'echo rea$()dy; cat', interactive: true, transitions: { success: ship, failure: back } }
  ship: { command: touch, args: [shipped], transitions: { success: end } }
  back: { command: touch, args: [rolled-back], transitions: { success: end } }
  end: { type: final }
";
    for with_shell in [false, true] {
        let place = Place::new();
        place.write("skill.yaml", skill);
        let mut terminal = if with_shell { Terminal::dash(&place) } else { run(&place) };
        if with_shell {
            terminal.keys("$AYE run skill.yaml\n");
        }
        terminal.wait_for("ready");
        terminal.hang_up().unwrap();
        until("the run is paused", || place.status() == "paused");
        for trace in ["shipped", "rolled-back"] {
            let told = place.aye(&["show", "last", "--json"]).stdout;
            assert!(!place.work().join(trace).exists(), "{trace}, shell {with_shell}: {told}");
        }
    }
}

#[test]
fn a_killed_prompt_is_asked_again_with_the_time_that_is_left() {
    let place = place("timeout: 10m, default: no");
    let mut terminal = run(&place);
    terminal.wait_for(" left");
    let deadline = || place.aye(&["inbox", "--json"]).ok().json()[0]["deadline"].clone();
    let first = deadline();
    assert!(first.is_string(), "{first}");
    // The guard ends with the engine, whichever of them is hit.
    kill_process(terminal.pid(), Signal::KILL).unwrap();
    terminal.end();
    let mut again = Terminal::aye(&place, &["resume", "last"]);
    again.wait_for("[y/N]").wait_for(" left");
    assert_eq!(deadline(), first);
    again.keys("y");
    assert_eq!(again.end(), Some(0), "{}", again.vt.all());
    assert!(place.work().join("deployed").exists());
    again.assert_clean();
}

#[test]
fn the_prompt_follows_the_window() {
    let place = Place::new();
    let message = "A message that is long enough to be broken into lines in a small window.";
    let mut terminal = Terminal::captured(&place, &["confirm", message, "--title", "Resize"]);
    terminal.wait_for("[y/N]");
    for (columns, rows) in [(40, 20), (20, 20), (100, 30), (30, 6), (80, 24)] {
        terminal.resize(columns, rows);
        terminal.wait_for("[y/N]").wait_for("╰─");
        let widest = terminal.vt.screen().lines().map(|line| line.chars().count()).max();
        assert!(widest.unwrap_or(0) < usize::from(columns), "{}", terminal.vt.screen());
    }
    terminal.keys("y");
    assert_eq!(terminal.end(), Some(0));
    terminal.assert_clean();
}

#[test]
fn ctrl_z_and_fg_bring_the_prompt_back() {
    let place = place("timeout: 10m");
    let mut shell = Terminal::shell(&place);
    shell.keys("$AYE run skill.yaml\n").wait_for("[y/N]").keys("\x1a");
    shell.wait_for("Stopped").wait_gone("[y/N]");
    assert!(!shell.vt.screen().contains("Proceed?"), "{}", shell.vt.screen());
    shell.keys("stty -a | grep -o ' echo '\n").wait_for(" echo\n");
    shell.keys("fg\n").wait_for("[y/N]").wait_for(" left");
    let count = shell.vt.screen().matches("[y/N]").count();
    assert_eq!(count, 1, "{}", shell.vt.screen());
    shell.keys("y").wait_for("gate completed");
    shell.keys("exit\n");
    shell.end();
    assert!(place.work().join("deployed").exists());
}

#[test]
fn a_stop_from_outside_is_survived_too() {
    let place = place("timeout: 10m");
    let mut shell = Terminal::shell(&place);
    shell.keys("$AYE run skill.yaml\n").wait_for("[y/N]");
    kill_process(driver(&place), Signal::STOP).unwrap();
    shell.wait_for("Stopped").keys("fg\n");
    shell.wait("a second prompt", |vt| vt.all().matches("[y/N]").count() >= 2);
    shell.keys("y").wait_for("gate completed").keys("exit\n");
    shell.end();
    assert!(place.work().join("deployed").exists());
}

/// Its time runs out while nobody can see it: that is not an answer.
#[test]
fn a_stop_is_never_taken_for_silence() {
    let place = place("timeout: 6s, default: yes");
    let mut shell = Terminal::shell(&place);
    shell.keys("$AYE run skill.yaml\n").wait_for("[Y/n]").keys("\x1a").wait_for("Stopped");
    until("its time is up", || {
        place.aye(&["inbox"]).stdout.contains("waits until someone sees it")
    });
    let asked = shell.vt.all().matches("[Y/n]").count();
    shell.keys("fg\n");
    shell.wait("the prompt, or what was taken", |vt| {
        vt.all().matches("[Y/n]").count() > asked || vt.all().contains("is taken")
    });
    shell.keys("n").wait_for("gate cancelled").keys("exit\n");
    shell.end();
    assert!(!place.work().join("deployed").exists(), "{}", shell.vt.all());
}

#[test]
fn in_the_background_nobody_is_asked() {
    let place = place("timeout: 10m, default: yes");
    let mut shell = Terminal::shell(&place);
    shell.keys("$AYE run skill.yaml & wait %1; echo \"code $?\"\n");
    shell.wait_for("nobody can be asked here: this process is in the background");
    shell.wait_for("code 6").keys("exit\n");
    shell.end();
    assert!(!place.work().join("deployed").exists());
}

#[test]
fn sent_to_the_background_the_run_waits() {
    let place = place("timeout: 10m, default: yes");
    let mut shell = Terminal::shell(&place);
    shell.keys("$AYE run skill.yaml\n").wait_for("[Y/n]").keys("\x1a").wait_for("Stopped");
    shell.keys("bg; wait %1; echo \"code $?\"\n").wait_for("code 6").keys("exit\n");
    shell.end();
    assert!(!place.work().join("deployed").exists());
}

#[test]
fn a_detached_run_outlives_its_terminal() {
    let place = place("timeout: 10m");
    let mut shell = Terminal::shell(&place);
    shell.keys("$AYE run skill.yaml --detach\n").wait_for("continues in the background");
    let pid = driver(&place);
    shell.hang_up().unwrap();
    let mut inbox = serde_json::Value::Null;
    until("a question", || {
        inbox = place.aye(&["inbox", "--json"]).ok().json();
        inbox[0]["question"].is_string()
    });
    let question = inbox[0]["question"].as_str().unwrap();
    assert_eq!(inbox[0]["driven"], true);
    assert_eq!(driver(&place), pid, "it is the same process");
    place.aye(&["answer", question, "proceed"]).ok();
    until("the run has ended", || place.status() == "completed");
    assert!(place.work().join("deployed").exists());
}

#[test]
fn without_a_terminal_the_run_waits_and_says_what_to_do() {
    let place = place("timeout: 10m, default: yes");
    let ran = place.aye(&["run", "skill.yaml"]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    let all = ran.all();
    for hint in [
        "nobody can be asked here",
        "aye answer",
        "aye resume",
        "aye inbox",
        "--resume",
        "--detach",
    ] {
        assert!(all.contains(hint), "{hint}: {all}");
    }
    assert!(!place.work().join("deployed").exists(), "a default is never taken");
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml", "--no-input"]);
    assert_eq!(terminal.end(), Some(6), "{}", terminal.vt.all());
    assert!(terminal.vt.all().contains("`--no-input` was given"));
    let mut terminal = Terminal::with(&place, &["run", "skill.yaml"], &[("CI", "true")]);
    assert_eq!(terminal.end(), Some(6), "{}", terminal.vt.all());
    assert!(!place.work().join("deployed").exists());
}

#[test]
fn yes_asks_nobody() {
    let place = place("timeout: 10m");
    let ran = place.aye(&["run", "skill.yaml", "--yes"]).ok();
    assert!(ran.all().contains("answered by --yes"), "{}", ran.all());
}

#[test]
fn a_message_taller_than_the_window_is_shown_in_full() {
    let place = Place::new();
    let message: String = (1..=40).map(|line| format!("line {line}.\n")).collect();
    let mut terminal = Terminal::captured(&place, &["confirm", &message, "--title", "Long"]);
    terminal.wait_for("[y/N]");
    let all = terminal.vt.all();
    for line in 1..=40 {
        assert!(all.contains(&format!("line {line}.")), "{line}: {all}");
    }
    terminal.keys("?").wait_for("? less").keys("?").wait_for("? details").keys("y");
    assert_eq!(terminal.end(), Some(0));
    let count = terminal.vt.all().matches("line 7.").count();
    assert_eq!(count, 1, "it is printed once: {}", terminal.vt.all());
}

#[test]
fn a_very_small_window_says_where_each_answer_leads() {
    let place = Place::new();
    place.write(
        "skill.yaml",
        "
name: where
states:
  pick: { choose: { message: 'Where?', options: [canary, everywhere] }, transitions: { canary: a, everywhere: b } }
  a: { command: echo, args: [one], transitions: { success: done } }
  b: { command: echo, args: [two], transitions: { success: done } }
  done: { type: final }
",
    );
    let mut terminal = Terminal::sized(&place, &["run", "skill.yaml"], 20, 10);
    terminal.wait_for("╰─").keys("\x1b[B").wait_for("❯ 1 canary");
    let shown = terminal.vt.all();
    let (above, _) = shown.split_once("❯ 1 canary").unwrap();
    let legend: Vec<&str> = above.split_whitespace().filter(|word| *word != "│").collect();
    let legend = legend.join(" ");
    assert_eq!(legend.matches("canary → a, everywhere → b").count(), 1, "{shown}");
    terminal.keys("\r");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    terminal.assert_clean();
}
