//! Output: tails, logs, live views.

use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::time::{Duration, Instant};

use aye_process::{Happening, LogReader, Spec, Stream, log, spawn, wait};

use crate::helper::{Scratch, nasty, run};
use crate::privilege::root;

const MIB: u64 = 1024 * 1024;

#[test]
fn both_streams_are_read_at_once_and_kept_apart() {
    let exit = run(nasty(&["flood", "both", "1000000"]));
    assert!(exit.success());
    assert_eq!((exit.stdout.total(), exit.stderr.total()), (1_000_000, 1_000_000));
    assert_eq!(exit.stdout.bytes().len(), 1_000_000);
}

#[test]
fn the_tail_is_exact_and_says_what_was_dropped() {
    let scratch = Scratch::new("tail");
    for logged in [false, true] {
        let mut spec = Spec::new("seq").args(["1", "100000"]);
        spec.tail_limit = 1001;
        spec.log = logged.then(|| scratch.path("step"));
        let exit = run(spec);
        let whole: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
        let kept = &whole[whole.len() - 1001..];
        assert_eq!(exit.stdout.total(), whole.len() as u64);
        assert_eq!(exit.stdout.dropped(), whole.len() as u64 - 1001);
        assert_eq!(exit.stdout.bytes(), kept.as_bytes());
        assert_eq!(
            exit.stdout.text(),
            format!("[{} bytes dropped]\n{kept}", exit.stdout.dropped())
        );
        assert_eq!(exit.stdout.last(3), b"00\n".to_vec().as_slice());
    }
}

#[test]
fn the_log_is_whole_with_and_without_a_viewer() {
    let scratch = Scratch::new("log");
    for live in [false, true] {
        let base = scratch.path(if live { "live" } else { "quiet" });
        let mut spec = nasty(&["flood", "both", &(20 * MIB).to_string()]);
        spec.log = Some(base.clone());
        spec.live = live;
        let mut children = [spawn(spec).expect("started")];
        let mut viewed = [0, 0];
        let happening = wait(&mut children, &[], None, &mut |_, stream, bytes| {
            viewed[usize::from(stream == Stream::Stderr)] += bytes.len() as u64;
        });
        let Ok(Happening::Exited(0, exit)) = happening else { panic!("no end") };
        assert!(exit.log_error.is_none());
        assert_eq!(viewed, if live { [20 * MIB; 2] } else { [0; 2] });
        assert_eq!(exit.stdout.bytes().len() as u64, 10 * MIB);
        for stream in [Stream::Stdout, Stream::Stderr] {
            let file = std::fs::metadata(log::path(&base, stream)).expect("log");
            assert_eq!(file.len(), 20 * MIB);
            // Room that was asked for ahead and not needed is given back.
            assert!(file.blocks() * 512 < 21 * MIB, "{} blocks", file.blocks());
        }
    }
}

#[test]
fn the_log_keeps_the_order_of_the_streams() {
    let scratch = Scratch::new("order");
    let base = scratch.path("step");
    let script = "for n in 1 2 3; do echo out$n; sleep 0.05; echo err$n >&2; sleep 0.05; done";
    let mut spec = Spec::new("sh").args(["-c", script]);
    spec.log = Some(base.clone());
    assert!(run(spec).success());
    let mut reader = LogReader::new(base);
    let mut text = String::new();
    let mut buffer = [0; 100];
    while let Some((_, read)) = reader.read(&mut buffer).expect("readable") {
        text.push_str(std::str::from_utf8(&buffer[..read]).expect("text"));
    }
    assert_eq!(text, "out1\nerr1\nout2\nerr2\nout3\nerr3\n");
}

#[test]
fn a_silent_step_leaves_no_files() {
    let scratch = Scratch::new("silent");
    let mut spec = Spec::new("true");
    spec.log = Some(scratch.path("step"));
    let exit = run(spec);
    assert!(exit.success() && exit.stdout.is_empty());
    assert_eq!(std::fs::read_dir(&scratch.0).expect("directory").count(), 0);
}

#[test]
fn a_log_that_cannot_be_written_does_not_lose_the_tail() {
    // `/dev/full` takes no byte; a directory in its place takes no file.
    let mut spec = nasty(&["flood", "out", "200000"]);
    spec.log = Some("/dev/null/step".into());
    let exit = run(spec);
    assert!(exit.success());
    let problem = exit.log_problem().expect("a problem");
    assert!(problem.starts_with("its log is not complete: "), "{problem}");
    assert_eq!(exit.stdout.bytes().len(), 200_000);
}

#[test]
fn a_disk_that_fills_up_loses_no_tail_and_keeps_room_for_others() {
    let scratch = Scratch::new("full");
    let mount = |options: &[&str]| {
        let status = Command::new(options[0]).args(&options[1..]).arg(&scratch.0).status();
        status.is_ok_and(|status| status.success())
    };
    if !root("a disk that fills up") {
        return;
    }
    let mounted = mount(&["mount", "-t", "tmpfs", "-o", "size=12m", "aye-test"]);
    assert!(mounted, "this machine does not let root mount a tmpfs");
    let base = scratch.path("step");
    let mut spec = nasty(&["flood", "out", &(30 * MIB).to_string()]);
    spec.log = Some(base.clone());
    let exit = run(spec);
    let written = std::fs::metadata(log::path(&base, Stream::Stdout)).map(|file| file.len());
    assert!(mount(&["umount"]));
    assert!(exit.success());
    assert!(exit.log_problem().is_some_and(|problem| problem.contains("No space left")));
    assert_eq!(exit.stdout.total(), 30 * MIB);
    assert_eq!(exit.stdout.bytes().len() as u64, 10 * MIB);
    let written = written.expect("a log");
    assert!((5 * MIB..7 * MIB).contains(&written), "{written}");
}

#[test]
fn characters_survive_chunk_borders() {
    assert_eq!(run(nasty(&["split-utf8"])).stdout.text(), "grüße 🎉\n");
    let mut spec = nasty(&["split-utf8"]);
    // Cuts into the middle of the last character.
    spec.tail_limit = 4;
    assert_eq!(run(spec).stdout.text(), "[12 bytes dropped]\n\n");
}

#[test]
fn secrets_are_masked_in_view_log_and_tail() {
    let scratch = Scratch::new("mask");
    let base = scratch.path("step");
    let mut spec = Spec::new("sh").args(["-c", "printf hun; sleep 0.05; echo ter2 and more"]);
    spec.masks = vec![b"hunter2".to_vec()];
    spec.log = Some(base.clone());
    spec.live = true;
    let mut viewed = Vec::new();
    let mut children = [spawn(spec).expect("started")];
    let happening = wait(&mut children, &[], None, &mut |_, _, bytes| {
        viewed.extend_from_slice(bytes);
    });
    let Ok(Happening::Exited(0, exit)) = happening else { panic!("no end") };
    assert_eq!(exit.stdout.text(), "*** and more\n");
    assert_eq!(viewed, b"*** and more\n");
    assert_eq!(std::fs::read(log::path(&base, Stream::Stdout)).expect("log"), b"*** and more\n");
}

#[test]
fn a_child_that_holds_the_pipe_cannot_hang_the_step() {
    let before = Instant::now();
    let exit = run(nasty(&["holds-pipe"]));
    assert!(exit.success());
    assert!(exit.leaky);
    assert_eq!((exit.leftovers, exit.left_running.len()), (1, 0));
    assert!(before.elapsed() < Duration::from_secs(10));
    let pid = exit.stdout.text().trim().parse().expect("a pid");
    assert!(!crate::helper::is_alive(pid));
}

#[test]
fn a_leftover_that_ignores_term_is_killed() {
    let exit = run(nasty(&["holds-pipe-detached"]));
    assert!(exit.success() && exit.leaky);
    assert_eq!((exit.leftovers, exit.left_running.len()), (1, 0));
}

#[test]
fn what_was_written_in_time_is_not_lost() {
    // More than is read at once, and someone who keeps the pipe open.
    let scratch = Scratch::new("in-time");
    for logged in [false, true] {
        let mut spec = Spec::new("sh")
            .args(["-c", "sleep 60 & head -c 60000 /dev/zero; head -c 4000 /dev/zero"]);
        spec.linger = Duration::ZERO;
        spec.log = logged.then(|| scratch.path("step"));
        let exit = run(spec);
        assert_eq!((exit.stdout.total(), exit.left_running.len()), (64_000, 0));
        assert!(exit.leaky);
    }
}

#[test]
fn several_children_in_one_wait() {
    aye_process::slots::set_limit(1000);
    let mut children: Vec<_> = [150, 10, 80]
        .iter()
        .map(|ms: &u64| spawn(nasty(&["sleep", &ms.to_string()])).expect("started"))
        .collect();
    let mut ended = Vec::new();
    loop {
        match wait(&mut children, &[], None, &mut |_, _, _| {}).expect("poll") {
            Happening::Exited(index, exit) => {
                assert!(exit.success());
                ended.push(index);
            }
            Happening::Idle => break,
            other => panic!("unexpected {other:?}"),
        }
    }
    ended.sort_unstable();
    assert_eq!(ended, [0, 1, 2]);
}

#[test]
fn resource_use_is_reported() {
    // More than this process itself may have used for the other tests.
    let exit = run(nasty(&["eats-memory", "400"]));
    assert!(exit.peak_memory > Some(400 * MIB), "{:?}", exit.peak_memory);
    // What is less than our own cannot be told from it.
    let small = run(nasty(&["never-reads-stdin"]));
    assert_eq!(small.peak_memory, None);
    assert!(exit.cpu_time > Duration::ZERO);
}
