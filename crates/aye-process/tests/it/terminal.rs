//! Terminals: lending the real one, job control, pseudo-terminals.

use std::process::Command;

use aye_process::{Spec, spawn};
use aye_test_programs::{NASTY, RUNNER};
use rustix::termios::LocalModes;

use crate::helper::{finish, is_alive, nasty, run, start_until};
use crate::pseudo::Pseudo;

fn shell(script: &str) -> Pseudo {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    Pseudo::start(command)
}

/// An interactive shell with job control.
fn bash() -> Pseudo {
    let mut command = Command::new("bash");
    command.args(["--norc", "--noprofile", "--noediting", "-i"]).env("PS1", "prompt> ");
    let mut pseudo = Pseudo::start(command);
    pseudo.until("prompt> ");
    pseudo
}

fn is_cooked(pseudo: &Pseudo) -> bool {
    let wanted = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
    pseudo.modes().local_modes.contains(wanted)
}

#[test]
fn the_terminal_comes_back_clean_however_the_child_ended() {
    let mut pseudo = shell(&format!(
        "{RUNNER} --interactive {NASTY} terminal; echo after $?; read x; echo got $x"
    ));
    pseudo.until("foreground true");
    pseudo.until("\x1b[?25l");
    crate::helper::eventually("raw mode", || !is_cooked(&pseudo));
    pseudo.send(b"k");
    pseudo.until("read 1 107");
    for sequence in ["\x1b[?1049l", "\x1b[?1000l", "\x1b[?2004l", "\x1b[?25h", "\x1b[0m"] {
        pseudo.until(sequence);
    }
    pseudo.until("after 137");
    assert!(is_cooked(&pseudo));
    pseudo.send(b"line\n");
    pseudo.until("got line");
    assert_eq!(pseudo.end(), 0);
}

#[test]
fn the_terminal_comes_back_when_the_engine_is_killed() {
    let mut pseudo = bash();
    pseudo.send(format!("{RUNNER} --interactive {NASTY} terminal\n").as_bytes());
    pseudo.until("foreground true");
    crate::helper::eventually("raw mode", || !is_cooked(&pseudo));
    let step = pseudo.foreground();
    let engine = parent(step);
    // SAFETY: kills a process of this test.
    unsafe { libc::kill(engine, libc::SIGKILL) };
    pseudo.until("\x1b[?1049l");
    pseudo.until("prompt> ");
    assert!(!is_alive(step));
    pseudo.send(b"echo status $?\n");
    pseudo.until("status 137");
    pseudo.send(b"exit\n");
    pseudo.end();
}

/// The shell takes the terminal as soon as the guard is gone; the engine, which
/// ends a little later, must not take it away again.
#[test]
fn the_shell_keeps_the_terminal_when_the_guard_is_killed() {
    let mut pseudo = bash();
    let shell = pseudo.foreground();
    pseudo.send(format!("{RUNNER} --interactive {NASTY} terminal\n").as_bytes());
    pseudo.until("foreground true");
    crate::helper::eventually("raw mode", || !is_cooked(&pseudo));
    let step = pseudo.foreground();
    let engine = parent(step);
    // SAFETY: signals processes of this test. The engine is held up until the
    // shell has noticed.
    unsafe {
        libc::kill(parent(engine), libc::SIGKILL);
        libc::kill(engine, libc::SIGSTOP);
    }
    pseudo.until("prompt> ");
    // SAFETY: as above; it has not been waited for by anybody else.
    unsafe { libc::kill(engine, libc::SIGCONT) };
    crate::helper::eventually("the engine's end", || !is_alive(engine));
    assert!(!is_alive(step));
    assert_eq!(pseudo.foreground(), shell);
    pseudo.send(b"echo status $?\n");
    pseudo.until("status 137");
    assert!(pseudo.seen.contains("\x1b[?1049l"), "{:?}", pseudo.seen);
    pseudo.send(b"exit\n");
    pseudo.end();
}

fn parent(pid: i32) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("alive");
    let rest = stat.rsplit(") ").next().expect("fields");
    rest.split(' ').nth(1).expect("a parent").parse().expect("a pid")
}

#[test]
fn ctrl_z_stops_everything_and_fg_goes_on() {
    let mut pseudo = bash();
    pseudo.send(format!("{RUNNER} {NASTY} says-on-term\n").as_bytes());
    pseudo.until("ready");
    pseudo.send(b"\x1a");
    pseudo.until("Stopped");
    pseudo.until("prompt> ");
    pseudo.send(b"jobs\n");
    pseudo.until("Stopped");
    pseudo.until("prompt> ");
    let shell = pseudo.foreground();
    pseudo.send(b"fg\n");
    // Before that the key would be for the shell.
    crate::helper::eventually("the job in the foreground", || pseudo.foreground() != shell);
    pseudo.send(b"\x03");
    pseudo.until("prompt> ");
    pseudo.send(b"echo status $?\n");
    pseudo.until("status 130");
    pseudo.send(b"exit\n");
    pseudo.end();
}

#[test]
fn a_job_can_go_on_in_the_background() {
    let mut pseudo = bash();
    pseudo.send(format!("{RUNNER} sh -c 'echo u''p; sleep 2; exit 6'\n").as_bytes());
    pseudo.until("up");
    pseudo.send(b"\x1a");
    pseudo.until("Stopped");
    pseudo.until("prompt> ");
    pseudo.send(b"bg\n");
    pseudo.until("prompt> ");
    pseudo.send(b"wait %1; echo status $?\n");
    pseudo.until("status 6");
    pseudo.send(b"exit\n");
    pseudo.end();
}

#[test]
fn ctrl_z_in_an_interactive_child_stops_the_runner_too() {
    let mut pseudo = bash();
    pseudo.send(
        format!("{RUNNER} --interactive sh -c 'echo u''p; read x; echo got $x; exit 5'\n")
            .as_bytes(),
    );
    pseudo.until("up");
    pseudo.send(b"\x1a");
    pseudo.until("Stopped");
    pseudo.until("prompt> ");
    pseudo.send(b"fg\n");
    pseudo.until("runner");
    pseudo.send(b"words\n");
    pseudo.until("got words");
    pseudo.until("prompt> ");
    pseudo.send(b"echo status $?\n");
    pseudo.until("status 5");
    pseudo.send(b"exit\n");
    pseudo.end();
}

#[test]
fn other_members_of_a_pipeline_keep_the_terminal() {
    let mut pseudo = bash();
    pseudo.send(
        format!("{RUNNER} {NASTY} sleep 300 | sh -c 'read x </dev/tty; echo got $x'\n").as_bytes(),
    );
    pseudo.send(b"typed\n");
    pseudo.until("got typed");
    pseudo.until("prompt> ");
    pseudo.send(b"exit\n");
    pseudo.end();
}

#[test]
fn real_full_screen_programs_work() {
    for (program, keys) in [("vim -u NONE -N", ":q!\r"), ("less /etc/passwd", "q")] {
        let name = program.split(' ').next().expect("a name");
        if aye_process::resolve(&Spec::new(name)).is_err() {
            continue;
        }
        let mut pseudo = shell(&format!("{RUNNER} --interactive {program}; echo after $?"));
        pseudo.until("\x1b[?1049h");
        pseudo.send(keys.as_bytes());
        pseudo.until("after 0");
        assert!(is_cooked(&pseudo), "{program}");
        assert_eq!(pseudo.end(), 0);
    }
}

#[test]
fn without_a_terminal_an_interactive_step_is_refused() {
    let output = Command::new("setsid")
        .args(["-w", &*RUNNER, "--interactive", "true"])
        .output()
        .expect("ended");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("`true` needs a terminal and there is none"), "{message}");
}

#[test]
fn a_pseudo_terminal_for_the_output() {
    let mut spec = nasty(&["pty"]);
    spec.tty = true;
    let text = run(spec).stdout.text();
    // Output is a terminal, input is not, and there is a size.
    assert!(text.starts_with("1 0 "), "{text:?}");
    assert!(!text.ends_with(" 0x0\n") && !text.contains('\r'), "{text:?}");
}

#[test]
fn a_new_window_size_reaches_the_child() {
    let script = "trap 'stty size <&1; exit 0' WINCH; echo ready; while :; do sleep 0.05; done";
    let mut spec = Spec::new("bash").args(["-c", script]);
    spec.tty = true;
    let mut child = start_until(spec, "ready");
    child.resize(101, 33).expect("resized");
    let exit = finish(&mut child);
    assert_eq!(exit.stdout.text(), "ready\n33 101\n");
}

#[test]
fn a_leftover_with_the_pseudo_terminal_cannot_hang_the_step() {
    let mut spec = nasty(&["holds-pipe"]);
    spec.tty = true;
    let exit = finish(&mut spawn(spec).expect("started"));
    assert!(exit.success() && exit.leaky);
    assert_eq!(exit.left_running.len(), 0);
}
