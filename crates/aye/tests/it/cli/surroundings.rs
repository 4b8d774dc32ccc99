//! Places where a program is not as free as usual: namespaces, a missing
//! `/proc`, closed descriptors, ignored signals.

use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal};

use super::hardening::left_of;
use super::harness::{AYE, Place, Ran, until};

/// A step that leaves a process behind in every way there is.
const LEAVES: &str = "\
name: leaves
steps:
  - {name: a, shell: 'echo one'}
  - {name: b, shell: 'sleep 60 & setsid sleep 60 & (setsid sh -c \"sleep 60; :\" &) ; echo two'}
";

const LONG: &str = "\
name: long
steps:
  - {name: a, shell: 'setsid sleep 60 & touch began; sleep 60'}
";

fn place() -> Place {
    let place = Place::new();
    place.write("leaves.yaml", LEAVES);
    place.write("long.yaml", LONG);
    place
}

/// A shell with `$1` as the program, below `wrapper`.
fn shell(place: &Place, wrapper: &[&str], script: &str) -> Command {
    let own = place.command(&[]);
    let words = [wrapper, &["sh", "-c", script, "sh", AYE]].concat();
    let (program, args) = words.split_first().expect("a shell");
    let mut command = Command::new(program);
    command.args(args).env_clear().current_dir(place.work());
    command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(place: &Place, wrapper: &[&str], script: &str) -> Output {
    shell(place, wrapper, script).output().expect("a shell starts")
}

#[track_caller]
fn completed(place: &Place, wrapper: &[&str], script: &str) {
    let output = run(place, wrapper, script);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}: {text}");
    assert_eq!(place.status(), "completed", "{script}: {text}");
    assert_eq!(left_of(&place.last()), 0, "{script}: {text}");
}

const PROCESSES: &[&str] =
    &["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
const MOUNTS: &[&str] = &["unshare", "--user", "--map-root-user", "--mount"];

/// Fails where the machine does not let us make namespaces.
#[track_caller]
fn must_allow(place: &Place, wrapper: &[&str], script: &str) {
    let output = run(place, wrapper, script);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "this machine does not allow `{}`: {said}\nrun the tests as root, or allow user namespaces",
        wrapper.join(" ")
    );
}

/// A container, a sandbox or a CI runner: our group and session belong to a
/// process that has no number here.
#[test]
fn runs_in_a_pid_namespace_are_runs_like_any_other() {
    let place = place();
    must_allow(&place, PROCESSES, "true");
    // As an ordinary process, and as the first one, which nobody else reaps for.
    completed(&place, PROCESSES, "\"$1\" run leaves.yaml");
    completed(&place, PROCESSES, "exec \"$1\" run leaves.yaml");
}

/// The kernel keeps signals away from the first process of a namespace unless
/// it has said that it wants them.
#[test]
fn the_first_process_of_a_namespace_can_be_stopped() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::QUIT, 131)] {
        let place = place();
        must_allow(&place, PROCESSES, "true");
        let child = shell(&place, PROCESSES, "exec \"$1\" run long.yaml").spawn().expect("started");
        until("the step", || place.work().join("began").exists());
        let children = format!("/proc/{0}/task/{0}/children", child.id());
        let first = std::fs::read_to_string(children).expect("its children");
        let first = first.trim().parse().ok().and_then(Pid::from_raw).expect("one child");
        rustix::process::kill_process(first, signal).expect("sent");
        let ran = place.finish(child);
        assert_eq!(ran.code, code, "{}", ran.all());
        assert!(!ran.stderr.contains("left running"), "{}", ran.all());
        assert_eq!(left_of(&place.last()), 0);
    }
}

#[test]
fn without_proc_nobody_is_left_either() {
    let place = place();
    let hidden = "mount -t tmpfs none /proc";
    must_allow(&place, MOUNTS, hidden);
    completed(&place, MOUNTS, &format!("{hidden} && exec \"$1\" run leaves.yaml"));
}

#[test]
fn closed_descriptors_do_no_harm() {
    let place = place();
    for closed in ["0<&-", "1>&-", "2>&-", "0<&- 2>&-", "0<&- 1>&- 2>&-"] {
        completed(&place, &[], &format!("exec \"$1\" run leaves.yaml {closed}"));
        let log = place.aye(&["logs", "last", "b"]).ok();
        assert_eq!(log.stdout, "two\n", "{closed}");
    }
}

#[test]
fn ignored_signals_stay_ignored_and_children_are_waited_for_all_the_same() {
    let place = place();
    completed(&place, &[], "trap '' CHLD; exec \"$1\" run leaves.yaml");
    completed(&place, &["setsid", "--wait"], "exec \"$1\" run leaves.yaml");

    // As `nohup` does.
    let child =
        shell(&place, &[], "trap '' HUP; exec \"$1\" run long.yaml").spawn().expect("started");
    until("the step", || place.work().join("began").exists());
    super::harness::signal(&child, Signal::HUP);
    super::harness::signal(&child, Signal::TERM);
    let ran = place.finish(child);
    assert_eq!(ran.code, 143, "{}", ran.all());
    assert!(ran.stderr.contains("interrupted by SIGTERM"), "{}", ran.all());
}

#[test]
fn a_directory_that_is_gone_is_named_and_runs_are_shown_all_the_same() {
    let place = Place::new();
    place.write("s.yaml", "name: s\nsteps: [{ name: a, command: 'true' }]\n");
    place.aye(&["run", "s.yaml"]).ok();
    let gone = place.work().join("gone");
    let from_there = |args: &[&str]| {
        std::fs::create_dir(&gone).unwrap();
        // It is there when the shell starts and not when Aye does.
        let command = place.command(args);
        let mut shell = Command::new("sh");
        shell.args(["-c", "rmdir ../gone && exec \"$@\"", "sh"]).arg(command.get_program());
        shell.args(command.get_args()).current_dir(&gone).env_clear();
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Ran::of(shell.output().unwrap(), &place)
    };
    for verb in ["runs", "show", "logs", "inbox"] {
        from_there(&[verb]).ok();
    }
    let ran = from_there(&["run", "s.yaml"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.stderr.contains("the current directory does not exist any more"), "{}", ran.all());
}

/// Anyone who administers a machine may call it what they like.
#[test]
fn a_hostile_host_name_is_text() {
    const NAMES: &[&str] = &["unshare", "--user", "--map-root-user", "--uts"];
    let place = place();
    place.write(
        "ask.yaml",
        "name: ask\nsteps: [{ name: a, confirm: { message: Go?, timeout: 0 } }]\n",
    );
    must_allow(&place, NAMES, "true");
    let name = r"a\033[2J\033]0;t\007\302\233\342\200\256\rb";
    let verbs = [
        "run leaves.yaml",
        "runs",
        "show",
        "show --json",
        "show --markdown",
        "runs --json",
        "audit",
        "run ask.yaml --detach",
        "resume last",
        "inbox",
        "inbox --json",
        "show -v",
        "doctor",
        "cancel last",
    ];
    let calls: String = verbs.iter().map(|verb| format!("\"$1\" {verb};\n")).collect();
    let script = format!("printf '{name}' > /proc/sys/kernel/hostname || exit 9\n{calls}");
    let output = run(&place, NAMES, &script);
    assert_ne!(output.status.code(), Some(9), "the name was not taken");
    for bytes in [output.stdout, output.stderr] {
        let text = String::from_utf8_lossy(&bytes);
        let hidden = |c: char| c != '\n' && aye_core::diagnostic::is_hidden(c);
        assert!(!text.contains(hidden), "{text:?}");
        assert!(text.contains("u{1b}") || text.contains("u001b"), "it was not shown: {text}");
    }
}
