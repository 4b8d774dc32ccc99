//! Programs that serve several steps.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};

use aye_process::{SpawnError, Spec, Status, serve, spawn};
use aye_test_programs::RUNNER;

use crate::helper::{Scratch, eventually, finish, is_alive, nasty};

fn shell(script: &str) -> Spec {
    Spec::new("/bin/sh").args(["-c", script])
}

#[test]
fn a_service_answers_before_and_after_a_step() {
    let (mut service, pipes) = serve(&Spec::new("cat")).expect("started");
    let mut to = File::from(pipes.stdin);
    let mut from = BufReader::new(File::from(pipes.stdout));
    let mut echo = move |text: &str| {
        writeln!(to, "{text}").expect("written");
        let mut line = String::new();
        from.read_line(&mut line).expect("read");
        assert_eq!(line.trim_end(), text);
    };
    echo("before");
    let mut step = spawn(nasty(&["exit", "0"])).expect("started");
    finish(&mut step);
    echo("after");
    assert_eq!(service.try_wait(), None);
    drop(echo);
    eventually("its end", || service.try_wait().is_some());
    assert_eq!(service.try_wait(), Some(Status::Exited(0)), "its input was closed");
}

#[test]
fn dropping_a_service_ends_all_of_it() {
    let scratch = Scratch::new("service-tree");
    let pids = scratch.path("pids");
    let file = pids.display();
    // One in its group, and on Linux one that has left it.
    let leave = if cfg!(target_os = "linux") { "setsid" } else { "" };
    let script = format!(
        "trap '' TERM; echo $$ >>{file}; (echo $$; exec sleep 1000) & \
         {leave} sh -c 'echo $$ >>{file}; exec sleep 1000' & wait; wait"
    );
    let (service, pipes) = serve(&shell(&script)).expect("started");
    let read = || std::fs::read_to_string(&pids).unwrap_or_default();
    eventually("both", || read().lines().count() == 2);
    drop(pipes);
    drop(service);
    for pid in read().lines().map(|line| line.parse().expect("a pid")) {
        eventually("its end", || !is_alive(pid));
    }
}

#[test]
fn how_it_ended_is_known() {
    let (mut service, _pipes) = serve(&shell("exit 7")).expect("started");
    eventually("its end", || service.try_wait().is_some());
    assert_eq!(service.try_wait(), Some(Status::Exited(7)));
    let (mut service, _pipes) = serve(&shell("kill -9 $$")).expect("started");
    eventually("its end", || service.try_wait().is_some());
    assert_eq!(service.try_wait(), Some(Status::Signaled(9)));
    service.terminate();
    service.kill();
    let missing = serve(&Spec::new("no-such-service")).expect_err("it is not there");
    assert!(matches!(missing, SpawnError::NotFound { .. }), "{missing:?}");
}

/// Under a guard a step ends every stray it finds; a service is none.
#[test]
fn no_step_takes_a_service_for_a_stray() {
    let runner = std::process::Command::new(&*RUNNER)
        .args(["--serve", "exec sleep 1000", "/bin/sh", "-c", "sleep 0.05 & exit 0"])
        .output()
        .expect("the runner");
    let said = String::from_utf8_lossy(&runner.stdout).into_owned();
    let pid = said.trim().strip_prefix("serving ").expect(&said).parse().expect("a pid");
    eventually("its end with the runner", || !is_alive(pid));
}
