//! Time-outs, cancels, and trees that do not want to go.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use aye_process::{Happening, Outcome, Spec, Status, Stop, spawn, wait};

use crate::helper::{LONG, Scratch, eventually, finish, is_alive, nasty, run, start_until};

#[test]
fn a_time_out_is_124_with_the_partial_output() {
    let mut spec = Spec::new("sh").args(["-c", "echo partial; sleep 60"]);
    spec.timeout = Some(Duration::from_millis(300));
    let exit = run(spec);
    assert_eq!(exit.outcome, Outcome::TimedOut);
    assert_eq!((exit.exit_code(), exit.outcome), (124, Outcome::TimedOut));
    assert_eq!(exit.status, Status::Signaled(15));
    assert_eq!(exit.stdout.text(), "partial\n");
    assert!(exit.duration >= Duration::from_millis(300));
    assert!(!exit.stopped);
    assert_eq!((exit.hint(), exit.log_problem()), (None, None));
}

#[test]
fn the_outer_deadline_counts_too() {
    let mut spec = nasty(&["sleep", "60000"]);
    spec.deadline = Some(Instant::now() + Duration::from_millis(100));
    let mut child = spawn(spec).expect("started");
    assert!(child.remaining().expect("a limit") <= Duration::from_millis(100));
    let exit = finish(&mut child);
    assert_eq!(exit.outcome, Outcome::TimedOut);
    assert!(exit.duration < LONG);
}

#[test]
fn a_cancel_lets_the_child_say_goodbye() {
    let mut child = start_until(nasty(&["says-on-term"]), "ready");
    child.stop(Stop::Cancel);
    assert_eq!(child.stopping(), Some(Stop::Cancel));
    let exit = finish(&mut child);
    assert_eq!(exit.outcome, Outcome::Cancelled);
    assert_eq!(exit.status, Status::Exited(3));
    assert_eq!(exit.stdout.text(), "ready\nbye\n");
    assert_eq!((exit.exit_code(), exit.outcome), (143, Outcome::Cancelled));
}

#[test]
fn an_interrupt_is_sigint_first() {
    let mut child = start_until(nasty(&["tree", "5"]), "ready");
    child.stop(Stop::Interrupt);
    let exit = finish(&mut child);
    assert_eq!(exit.outcome, Outcome::Interrupted);
    assert_eq!(exit.status, Status::Signaled(2));
    assert_eq!(exit.left_running.len(), 0);
}

#[test]
fn whoever_ignores_term_is_killed_after_the_grace() {
    let mut spec = nasty(&["ignores-term"]);
    spec.grace = Duration::from_millis(200);
    let mut child = start_until(spec, "ready");
    let asked = Instant::now();
    child.stop(Stop::Cancel);
    let exit = finish(&mut child);
    assert_eq!(exit.status, Status::Signaled(9));
    assert_eq!(exit.outcome, Outcome::Cancelled);
    assert!(asked.elapsed() >= Duration::from_millis(200));
}

#[test]
fn a_second_request_kills_at_once() {
    let mut spec = nasty(&["ignores-term"]);
    spec.grace = LONG;
    let mut child = start_until(spec, "ready");
    child.stop(Stop::Cancel);
    child.stop(Stop::Cancel);
    let exit = finish(&mut child);
    assert_eq!(exit.status, Status::Signaled(9));
    assert!(exit.duration < LONG);
}

#[test]
fn a_stopped_child_still_gets_the_signal() {
    let mut spec = nasty(&["stops-itself"]);
    spec.timeout = Some(Duration::from_millis(200));
    spec.grace = LONG;
    let exit = run(spec);
    assert_eq!(exit.outcome, Outcome::TimedOut);
    assert!(exit.stopped);
    assert_eq!(exit.hint(), Some("something stopped it (SIGSTOP), and nothing continued it"));
    // It either died of the signal or, just continued, came to its end first.
    assert!(matches!(exit.status, Status::Signaled(15) | Status::Exited(0)), "{:?}", exit.status);
}

#[test]
fn no_process_of_the_tree_survives_a_cancel() {
    for kind in ["foreground", "background", "setsid", "double-fork"] {
        let scratch = Scratch::new(kind);
        let pids = scratch.path("pids");
        let mut child = start_until(nasty(&["stray", kind, pids.to_str().expect("text")]), "ready");
        let expected = if kind == "foreground" { 1 } else { 2 };
        let read = || -> Vec<i32> {
            let text = std::fs::read_to_string(&pids).unwrap_or_default();
            text.lines().filter_map(|line| line.parse().ok()).collect()
        };
        eventually("all processes", || read().len() == expected);
        child.stop(Stop::Cancel);
        let exit = finish(&mut child);
        assert_eq!(exit.left_running.len(), 0, "{kind}");
        assert!(!exit.leaky, "{kind}");
        let left: Vec<i32> = read().into_iter().filter(|pid| is_alive(*pid)).collect();
        assert!(left.is_empty(), "{kind}: {left:?} survived");
    }
}

#[test]
fn strays_of_two_steps_are_told_apart() {
    let scratch = Scratch::new("apart");
    let start = |name: &str| {
        let file = scratch.path(name);
        let child =
            start_until(nasty(&["stray", "double-fork", file.to_str().expect("text")]), "ready");
        let read = move || -> Vec<i32> {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            text.lines().filter_map(|line| line.parse().ok()).collect()
        };
        eventually("both pids", || read().len() == 2);
        (child, read())
    };
    let (mut one, ones) = start("one");
    let (mut two, twos) = start("two");
    one.stop(Stop::Cancel);
    assert_eq!(finish(&mut one).left_running.len(), 0);
    assert!(ones.iter().all(|pid| !is_alive(*pid)));
    assert!(twos.iter().all(|pid| is_alive(*pid)), "the other step lost someone");
    two.stop(Stop::Cancel);
    assert_eq!(finish(&mut two).left_running.len(), 0);
    assert!(twos.iter().all(|pid| !is_alive(*pid)));
}

#[test]
fn a_tree_that_forks_while_it_dies_is_ended() {
    let mut child = start_until(nasty(&["forks-while-dying"]), "ready");
    child.stop(Stop::Cancel);
    let exit = finish(&mut child);
    assert_eq!((exit.left_running.len(), exit.leaky), (0, false));
}

#[test]
fn orphans_that_die_while_the_step_goes_on_do_not_pile_up() {
    let mut child = start_until(nasty(&["orphans", "50"]), "ready");
    let group = child.pid();
    let zombies = || {
        let own = std::process::id();
        let all = std::fs::read_dir("/proc").expect("proc").flatten();
        let stats = all.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
        let start = format!("Z {own} {group} ");
        stats
            .filter(|stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(&start)))
            .count()
    };
    eventually("the last of them waited for", || {
        let soon = Some(Instant::now() + Duration::from_millis(50));
        let happening = wait(std::slice::from_mut(&mut child), &[], soon, &mut |_, _, _| {});
        assert!(matches!(happening, Ok(Happening::Deadline)));
        zombies() == 0
    });
}

#[test]
fn a_large_tree_goes_quickly() {
    let mut child = start_until(nasty(&["tree", "100"]), "ready");
    child.stop(Stop::Cancel);
    let exit = finish(&mut child);
    assert_eq!((exit.left_running.len(), exit.outcome), (0, Outcome::Cancelled));
}

#[test]
fn a_dropped_child_is_killed_with_its_tree() {
    let scratch = Scratch::new("dropped");
    let pids = scratch.path("pids");
    let child =
        start_until(nasty(&["stray", "double-fork", pids.to_str().expect("text")]), "ready");
    let pid = child.pid();
    eventually("both pids", || {
        std::fs::read_to_string(&pids).unwrap_or_default().lines().count() == 2
    });
    drop(child);
    assert!(!is_alive(pid));
    for line in std::fs::read_to_string(&pids).expect("pids").lines() {
        assert!(!is_alive(line.parse().expect("a pid")));
    }
}

#[test]
fn a_pause_stops_processes_and_timers() {
    let mut spec = nasty(&["sleep", "60000"]);
    spec.timeout = Some(Duration::from_millis(400));
    let mut child = spawn(spec).expect("started");
    let pid = child.pid();
    child.pause();
    eventually("the stop", || state(pid) == Some('T'));
    let paused_at = child.elapsed();
    let until = Some(Instant::now() + Duration::from_millis(600));
    let happening =
        wait(std::slice::from_mut(&mut child), &[], until, &mut |_, _, _| {}).expect("poll");
    assert!(matches!(happening, Happening::Deadline), "{happening:?}");
    assert_eq!(child.elapsed(), paused_at);
    child.resume();
    eventually("the continuation", || state(pid) != Some('T'));
    assert_eq!(finish(&mut child).outcome, Outcome::TimedOut);
}

fn state(pid: i32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(") ").next()?.chars().next()
}

#[test]
fn the_caller_is_woken_by_its_own_descriptors_and_deadline() {
    let mut children = [spawn(nasty(&["sleep", "60000"])).expect("started")];
    let (read, mut write) = std::io::pipe().expect("pipe");
    let soon = Some(Instant::now() + Duration::from_millis(20));
    let happening = wait(&mut children, &[read.as_fd()], soon, &mut |_, _, _| {}).expect("poll");
    assert!(matches!(happening, Happening::Deadline));
    std::io::Write::write_all(&mut write, b"x").expect("written");
    let happening = wait(&mut children, &[read.as_fd()], None, &mut |_, _, _| {}).expect("poll");
    assert!(matches!(happening, Happening::Wake(0)));
    children[0].kill(Stop::Cancel);
}

#[test]
fn progress_is_a_part_of_the_time_out() {
    let mut spec = nasty(&["sleep", "60000"]);
    spec.timeout = Some(LONG);
    let child = spawn(spec).expect("started");
    assert!(child.percent().expect("a limit") <= 100);
    assert!(child.remaining().expect("a limit") <= LONG);
}
