//! What the tests share.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use aye_process::{Exit, Happening, Running, Spec, Stream, spawn, wait};
use aye_test_programs::NASTY;

use crate::privilege::root;

/// No test waits longer, however loaded the machine is.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// The binary with the test programs, doing the given thing.
pub(crate) fn nasty(args: &[&str]) -> Spec {
    // Tests run side by side and share the slots.
    aye_process::slots::set_limit(1000);
    let mut spec = Spec::new(&*NASTY).args(args.iter().copied());
    spec.timeout = Some(LONG);
    spec
}

/// Runs to the end.
pub(crate) fn run(spec: Spec) -> Exit {
    finish(&mut spawn(spec).expect("started"))
}

/// Waits for the end.
pub(crate) fn finish(child: &mut Running) -> Exit {
    match wait(std::slice::from_mut(child), &[], None, &mut |_, _, _| {}).expect("poll") {
        Happening::Exited(0, exit) => *exit,
        other => panic!("expected the end, got {other:?}"),
    }
}

/// Starts with a live view and waits until the output holds `text`.
pub(crate) fn start_until(mut spec: Spec, text: &str) -> Running {
    spec.live = true;
    let mut child = spawn(spec).expect("started");
    until_output(&mut child, text);
    child
}

/// Waits until the output of a live child holds `text`.
pub(crate) fn until_output(child: &mut Running, text: &str) {
    let mut seen = Vec::new();
    let give_up = Instant::now() + LONG;
    while !String::from_utf8_lossy(&seen).contains(text) {
        assert!(Instant::now() < give_up, "`{text}` did not appear");
        let soon = Some(Instant::now() + Duration::from_millis(20));
        let mut view = |_: usize, _: Stream, bytes: &[u8]| seen.extend_from_slice(bytes);
        let happening = wait(std::slice::from_mut(child), &[], soon, &mut view).expect("poll");
        assert!(matches!(happening, Happening::Deadline), "ended early: {happening:?}");
    }
}

/// Waits until a condition holds.
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let give_up = Instant::now() + LONG;
    while !condition() {
        assert!(Instant::now() < give_up, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process exists and is not just a zombie.
pub(crate) fn is_alive(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().unwrap_or("Z").starts_with(['Z', 'X']))
}

/// Who a test is run as: root, and an ordinary user.
#[track_caller]
pub(crate) fn users() -> Vec<Option<u32>> {
    const NOBODY: u32 = 65_534;
    if root("the same as another account") { vec![None, Some(NOBODY)] } else { vec![None] }
}

/// A directory for one test, removed afterwards.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("aye-process-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("scratch directory");
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
