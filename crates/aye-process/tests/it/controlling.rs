//! The controlling terminal is out of reach of steps and services: they run in
//! a session of their own and hold no descriptor of it. Root and `nobody`.

use std::process::Command;

use aye_process::Spec;
use aye_test_programs::{NASTY, RUNNER};

use crate::helper::{Scratch, eventually, is_alive, run, users};
use crate::pseudo::Pseudo;

/// A shell at a terminal, for each user that we can be.
fn each_user(mut test: impl FnMut(&mut dyn FnMut(&str) -> Pseudo)) {
    for uid in users() {
        test(&mut |script: &str| {
            let mut command = match uid {
                None => Command::new("sh"),
                Some(uid) => {
                    let mut command = Command::new("setpriv");
                    command.args([format!("--reuid={uid}"), format!("--regid={uid}")]);
                    command.args(["--clear-groups", "sh"]);
                    command
                }
            };
            command.args(["-c", script]);
            Pseudo::start(command)
        });
    }
}

#[test]
fn a_step_that_opens_the_terminal_fails_at_once() {
    each_user(|shell| {
        let mut pseudo = shell(&format!(
            "{RUNNER} sh -c 'read x </dev/tty && echo reached $x'; echo after $?; \
             read y </dev/tty; echo got $y"
        ));
        pseudo.until("/dev/tty: No such device or address");
        // dash and bash differ in the code.
        pseudo.until("after ");
        pseudo.send(b"typed\n");
        pseudo.until("got typed");
        assert!(!pseudo.seen.contains("reached"), "{:?}", pseudo.seen);
        assert_eq!(pseudo.end(), 0);
    });
}

/// Anyone who can put characters into the terminal's input types into the next
/// prompt, or into the shell. A descriptor that the shell left open counts.
#[test]
fn a_step_cannot_type_into_the_terminal() {
    each_user(|shell| {
        let mut pseudo = shell(&format!(
            "exec 7<>/dev/tty; {RUNNER} {NASTY} types; echo after $?; read x; echo \"got [$x]\""
        ));
        pseudo.until("typed into 0 terminals, holds 0");
        pseudo.until("after 0");
        pseudo.send(b"by hand\n");
        pseudo.until("got [");
        pseudo.until("\n");
        assert!(pseudo.seen.contains("got [by hand]"), "{:?}", pseudo.seen);
        assert_eq!(pseudo.end(), 0);
    });
}

/// The pseudo-terminal of `tty: true` is all that such a step has.
#[test]
fn a_step_with_a_pseudo_terminal_cannot_type_into_ours() {
    each_user(|shell| {
        let mut pseudo = shell(&format!(
            "exec 7<>/dev/tty; {RUNNER} --tty {NASTY} types; read x; echo \"got [$x]\""
        ));
        // Its output, twice.
        pseudo.until("holds 2");
        pseudo.send(b"by hand\n");
        pseudo.until("got [by hand]");
        assert_eq!(pseudo.end(), 0);
    });
}

#[test]
fn a_service_has_no_terminal_either() {
    each_user(|shell| {
        let mut pseudo = shell(&format!(
            "exec 7<>/dev/tty; d=$(mktemp -d); \
             {RUNNER} --serve \"{NASTY} types >$d/x; mv $d/x $d/said; exec sleep 60\" \
             sh -c \"until [ -e $d/said ]; do sleep 0.01; done; cat $d/said\"; \
             rm -r $d; read x; echo \"got [$x]\""
        ));
        pseudo.until("typed into 0 terminals, holds 0");
        pseudo.send(b"by hand\n");
        pseudo.until("got [by hand]");
        assert_eq!(pseudo.end(), 0);
    });
}

/// What is not a terminal is passed on, as by a shell; and an interactive step
/// has the terminal with everything that was left open.
#[test]
fn other_descriptors_are_passed_on_and_an_interactive_step_has_all() {
    each_user(|shell| {
        let lists =
            "sh -c 'for n in 7 8; do [ -e /proc/$$/fd/$n ] && echo ha''s $n; done; echo a''ll'";
        let mut pseudo = shell(&format!(
            "exec 7<>/dev/tty 8</dev/null; {RUNNER} {lists}; {RUNNER} --interactive {lists}"
        ));
        pseudo.until("has 8\r\nall\r\n");
        assert!(!pseudo.seen.starts_with("has 7"), "{:?}", pseudo.seen);
        pseudo.until("has 7\r\nhas 8\r\nall");
        assert_eq!(pseudo.end(), 0);
    });
}

#[test]
fn only_an_interactive_step_stays_in_our_session() {
    each_user(|shell| {
        let session = "sh -c 'test $(ps -o sid= -p $$) -eq $$ && echo o''wn || echo sha''red'";
        let mut pseudo = shell(&format!(
            "{RUNNER} {session}; {RUNNER} --tty {session}; {RUNNER} --interactive {session}"
        ));
        for expected in ["own", "own", "shared"] {
            pseudo.until(expected);
        }
        assert_eq!(pseudo.end(), 0);
    });
}

#[test]
fn a_program_that_wants_the_terminal_gets_a_hint() {
    let wants = Some("a step has no terminal; `interactive: true` gives it one");
    let script = |script: &str| run(Spec::new("sh").args(["-c", script]));
    assert_eq!(script("read password </dev/tty").hint(), wants);
    assert_eq!(script("echo 'sudo: a terminal is required' >&2; exit 1").hint(), wants);
    assert_eq!(script("echo 'it works without /dev/tty' >&2").hint(), None);
    assert_eq!(script("echo /dev/tty; echo 'no such host' >&2; exit 1").hint(), None);
    let mut spec = Spec::new("sh").args(["-c", "read password </dev/tty"]);
    spec.tty = true;
    assert_eq!(run(spec).hint(), wants);
}

fn state(pid: i32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().unwrap_or_default().chars().take(1).collect()
}

/// Nobody in the step hears the Ctrl-Z itself, and the kernel stops no group
/// whose session has no terminal: we stop it, with `SIGSTOP`.
#[test]
fn ctrl_z_stops_a_step_that_has_left_the_session_and_fg_continues_it() {
    for kind in ["foreground", "background", "setsid", "double-fork"] {
        let scratch = Scratch::new(&format!("ctrl-z-{kind}"));
        let file = scratch.path("pids");
        let mut command = Command::new("bash");
        command.args(["--norc", "--noprofile", "--noediting", "-i"]).env("PS1", "prompt> ");
        let mut pseudo = Pseudo::start(command);
        pseudo.until("prompt> ");
        pseudo.send(format!("{RUNNER} {NASTY} stray {kind} {}\n", file.display()).as_bytes());
        pseudo.until("ready");
        let text = std::fs::read_to_string(&file).expect("pids");
        let pids: Vec<i32> = text.lines().map(|line| line.parse().expect("a pid")).collect();
        pseudo.send(b"\x1a");
        pseudo.until("Stopped");
        pseudo.until("prompt> ");
        eventually("all stop", || pids.iter().all(|pid| state(*pid) == "T"));
        let shell = pseudo.foreground();
        pseudo.send(b"fg\n");
        eventually("the job in the foreground", || pseudo.foreground() != shell);
        eventually("all continue", || pids.iter().all(|pid| state(*pid) == "S"));
        pseudo.send(b"\x03");
        pseudo.until("prompt> ");
        assert!(pids.iter().all(|pid| !is_alive(*pid)), "{kind}");
        pseudo.send(b"exit\n");
        pseudo.end();
    }
}

/// The kernel tells the session of the terminal, which the step is not in.
#[test]
fn a_hang_up_ends_the_step_all_the_same() {
    for kind in ["foreground", "background", "setsid", "double-fork"] {
        let scratch = Scratch::new(&format!("hang-up-{kind}"));
        let file = scratch.path("pids");
        let mut command = Command::new(&*RUNNER);
        command.args([&*NASTY, "stray", kind]).arg(&file);
        let mut pseudo = Pseudo::start(command);
        pseudo.until("ready");
        let text = std::fs::read_to_string(&file).expect("pids");
        pseudo.hang_up();
        let pids: Vec<i32> = text.lines().map(|line| line.parse().expect("a pid")).collect();
        eventually("their end", || pids.iter().all(|pid| !is_alive(*pid)));
    }
}
