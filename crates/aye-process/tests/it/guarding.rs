//! Nothing survives the runner, whatever happens to it.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use aye_test_programs::{NASTY, RUNNER};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::helper::{LONG, Scratch, eventually, is_alive, users};
use crate::pseudo::Pseudo;

const KINDS: [&str; 4] = ["foreground", "background", "setsid", "double-fork"];

fn runner(options: &[&str], kind: &str, pids: &Path, uid: Option<u32>) -> Command {
    let mut command = Command::new(&*RUNNER);
    command.args(options).arg(&*NASTY).args(["stray", kind]).arg(pids);
    command.stdout(Stdio::piped()).stdin(Stdio::null()).process_group(0);
    if let Some(uid) = uid {
        command.uid(uid).gid(uid);
    }
    command
}

fn pids(file: &Path) -> Vec<i32> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn expected(kind: &str) -> usize {
    if kind == "foreground" { 1 } else { 2 }
}

fn wait_ready(child: &mut Child, kind: &str, file: &Path) -> Vec<i32> {
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n");
    eventually("all pids", || pids(file).len() == expected(kind));
    pids(file)
}

/// The engine, below the guard that the shell sees.
fn engine_of(guard: i32) -> i32 {
    let children =
        std::fs::read_to_string(format!("/proc/{guard}/task/{guard}/children")).expect("children");
    children.split_whitespace().next().expect("an engine").parse().expect("a pid")
}

fn kill(pid: i32, signal: i32) {
    // SAFETY: signals a process or group of this test.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0, "kill {pid} {signal}");
}

fn scratch(name: &str, uid: Option<u32>) -> Scratch {
    let scratch = Scratch::new(&format!("{name}-{}", uid.unwrap_or(0)));
    std::fs::set_permissions(&scratch.0, std::fs::Permissions::from_mode(0o777)).expect("chmod");
    scratch
}

/// One row of the table: start, wait until all are there, `act`, and nobody is left.
fn row(name: &str, options: &[&str], act: impl Fn(i32), code: i32) {
    for uid in users() {
        for kind in KINDS {
            let scratch = scratch(&format!("{name}-{kind}"), uid);
            let file = scratch.path("pids");
            let mut child = runner(options, kind, &file, uid).spawn().expect("runner");
            let started = wait_ready(&mut child, kind, &file);
            let guard = i32::try_from(child.id()).expect("a pid");
            let engine = engine_of(guard);
            act(guard);
            let status = child.wait().expect("ended");
            let got = status.code().unwrap_or_else(|| -status.signal().expect("a signal"));
            assert_eq!(got, code, "{name}, {kind}, {uid:?}");
            eventually("the end of the engine", || !is_alive(engine));
            let left: Vec<i32> = started.into_iter().filter(|pid| is_alive(*pid)).collect();
            assert!(left.is_empty(), "{name}, {kind}, {uid:?}: {left:?} left");
        }
    }
}

#[test]
fn a_time_out_leaves_nobody() {
    row("time-out", &["--timeout", "1000"], |_| {}, 124);
}

#[test]
fn sigint_leaves_nobody() {
    row("int", &[], |guard| kill(guard, libc::SIGINT), 130);
}

#[test]
fn sigterm_leaves_nobody() {
    row("term", &[], |guard| kill(guard, libc::SIGTERM), 143);
}

#[test]
fn sigterm_to_the_group_leaves_nobody() {
    row("term-group", &[], |guard| kill(-guard, libc::SIGTERM), 143);
}

#[test]
fn sighup_leaves_nobody() {
    row("hup", &[], |guard| kill(guard, libc::SIGHUP), 129);
}

#[test]
fn sigkill_of_the_runner_leaves_nobody() {
    row("kill", &[], |guard| kill(guard, libc::SIGKILL), -libc::SIGKILL);
}

#[test]
fn sigkill_of_the_engine_leaves_nobody() {
    row("kill-engine", &[], |guard| kill(engine_of(guard), libc::SIGKILL), -libc::SIGKILL);
}

#[test]
fn sigkill_of_the_group_leaves_nobody() {
    row("kill-group", &[], |guard| kill(-guard, libc::SIGKILL), -libc::SIGKILL);
}

#[test]
fn ctrl_c_leaves_nobody_with_and_without_a_shell() {
    for uid in users() {
        for kind in KINDS {
            for shell in [false, true] {
                let scratch = scratch(&format!("ctrl-c-{kind}-{shell}"), uid);
                let file = scratch.path("pids");
                let line = format!("{} {} stray {kind} {}", &*RUNNER, &*NASTY, file.display());
                let mut command = if shell {
                    let mut command = Command::new("sh");
                    command.args(["-c", &format!("trap : INT; {line}; echo status $?")]);
                    command
                } else {
                    let mut words = line.split(' ');
                    let mut command = Command::new(words.next().expect("a program"));
                    command.args(words);
                    command
                };
                if let Some(uid) = uid {
                    command.uid(uid).gid(uid);
                }
                let mut pseudo = Pseudo::start(command);
                pseudo.until("ready");
                eventually("all pids", || pids(&file).len() == expected(kind));
                pseudo.send(b"\x03");
                if shell {
                    pseudo.until("status 130");
                    pseudo.end();
                } else {
                    assert_eq!(pseudo.end(), 130);
                }
                let left: Vec<i32> = pids(&file).into_iter().filter(|pid| is_alive(*pid)).collect();
                assert!(left.is_empty(), "ctrl-c, {kind}, shell {shell}, {uid:?}: {left:?} left");
            }
        }
    }
}

#[test]
fn a_stray_without_environment_group_and_session_is_ended_with_its_step() {
    let scratch = scratch("bare-stray", None);
    let file = scratch.path("pid");
    let script =
        format!("env -i setsid sh -c 'echo $$ >{}; exec sleep 60' & sleep 60", file.display());
    let mut command = Command::new(&*RUNNER);
    let status = command.args(["--timeout", "1000", "sh", "-c", &script]).status().expect("ended");
    assert_eq!(status.code(), Some(124));
    let started = pids(&file);
    assert_eq!(started.len(), 1);
    assert!(!is_alive(started[0]));
}

#[test]
fn the_exit_code_and_the_signal_pass_through() {
    let nasty = &*NASTY;
    let run = |args: &[&str]| Command::new(&*RUNNER).args(args).output().expect("runner");
    assert_eq!(run(&[nasty, "exit", "42"]).status.code(), Some(42));
    assert_eq!(run(&[nasty, "die", "9"]).status.code(), Some(137));
    assert_eq!(run(&["no-such-program"]).status.code(), Some(127));
    assert_eq!(run(&["--timeout", "50", nasty, "sleep", "60000"]).status.code(), Some(124));
}

#[test]
fn a_signal_to_runner_and_group_is_one_request() {
    // `timeout` signals the process and then the group it is in.
    let script =
        "trap 'sleep 0.3; echo bye; exit 3' TERM; echo ready; while :; do sleep 0.05; done";
    let output =
        Command::new("timeout").args(["1", &*RUNNER, "sh", "-c", script]).output().expect("ended");
    assert_eq!(output.status.code(), Some(124));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ready\nbye\n");
}

/// Whether a signal has reached a process and waits there.
fn is_pending(pid: i32, signal: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let masks = status.lines().filter_map(|line| line.split_once("Pnd:\t"));
    let masks = masks.map(|(_, mask)| u64::from_str_radix(mask.trim(), 16).expect("a mask"));
    masks.fold(0, |all, mask| all | mask) & (1 << (signal - 1)) != 0
}

#[test]
fn a_second_signal_kills_at_once() {
    let mut command = Command::new(&*RUNNER);
    command.args(["--grace", "60000", &*NASTY, "ignores-term"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("runner");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut line).expect("a line");
    let guard = i32::try_from(child.id()).expect("a pid");
    kill(guard, libc::SIGTERM);
    // The same signal twice in a row would be delivered once.
    eventually("the first signal is taken", || !is_pending(guard, libc::SIGTERM));
    let before = Instant::now();
    let mut ended = None;
    // One that comes while the first is passed on is the same signal: nobody can tell.
    eventually("another signal ends it", || {
        kill(guard, libc::SIGTERM);
        ended = child.try_wait().expect("a child");
        ended.is_some()
    });
    assert_eq!(ended.and_then(|status| status.code()), Some(143));
    assert!(before.elapsed() < LONG);
}

#[test]
fn an_ignored_sigchld_does_not_matter() {
    let mut command = Command::new(&*RUNNER);
    command.args([&*NASTY, "exit", "7"]);
    // SAFETY: `signal` is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGCHLD, libc::SIG_IGN);
            Ok(())
        });
    }
    assert_eq!(command.status().expect("ended").code(), Some(7));
}

#[test]
fn whatever_a_double_kill_leaves_is_found_and_ended() {
    let scratch = scratch("double-kill", None);
    let file = scratch.path("pids");
    let tag = format!("test-{}", std::process::id());
    let mut child = runner(&["--run", &tag], "double-fork", &file, None).spawn().expect("runner");
    let started = wait_ready(&mut child, "double-fork", &file);
    let guard = i32::try_from(child.id()).expect("a pid");
    let engine = engine_of(guard);
    kill(guard, libc::SIGSTOP);
    kill(engine, libc::SIGKILL);
    kill(guard, libc::SIGKILL);
    child.wait().expect("ended");
    let found = aye_process::survivors::find(&tag);
    let mut found_pids: Vec<i32> = found.iter().map(|one| one.identity.pid).collect();
    let mut expected = started.clone();
    found_pids.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found_pids, expected);
    assert!(found.iter().all(|one| one.identity.is_alive() && one.command.contains("stray")));
    let mut signals = aye_process::Signals::catch().expect("signals");
    let grace = Duration::from_secs(5);
    let ended = aye_process::survivors::end(&tag, grace, &mut signals);
    assert_eq!((ended.left, ended.stop), (0, None));
    assert!(started.iter().all(|pid| !is_alive(*pid)));
    assert!(!found[0].identity.is_alive());
}

#[test]
fn a_stop_signal_between_fork_and_exec_does_not_hold_us_up() {
    let mut command = Command::new(&*RUNNER);
    command.args(["--no-guard", "--times", "300", "/bin/true"]).process_group(0);
    let mut runner = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().expect("started");
    let mut line = String::new();
    BufReader::new(runner.stdout.take().expect("a pipe")).read_line(&mut line).expect("readable");
    let group = Pid::from_child(&runner);
    let give_up = Instant::now() + LONG;
    let status = loop {
        if let Some(status) = runner.try_wait().expect("it can be waited for") {
            break Some(status);
        }
        if Instant::now() > give_up {
            let _ = kill_process_group(group, Signal::KILL);
            break None;
        }
        // Some of them reach a child that is in the runner's group still. More
        // of them would leave the runner no time for anything else.
        let _ = kill_process_group(group, Signal::TSTP);
        std::thread::sleep(Duration::from_micros(50));
    };
    assert!(status.is_some_and(|status| status.success()), "{status:?}");
}
