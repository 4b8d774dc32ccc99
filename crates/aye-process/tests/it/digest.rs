//! The digest of a log: what was written is what it says.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use aye_process::log::{self, Algorithm, FileDigest, LogDigest};
use aye_process::{Spec, Stream};

use crate::helper::{Scratch, nasty, run};

const MIB: u64 = 1024 * 1024;

/// The files of a log, as they are now.
fn read(base: &Path) -> LogDigest {
    let file = |path: &Path| FileDigest::read(path, u64::MAX, Algorithm::Blake3).expect("readable");
    LogDigest {
        stdout: file(&log::path(base, Stream::Stdout)),
        stderr: file(&log::path(base, Stream::Stderr)),
        order: file(&log::order_path(base)),
    }
}

#[test]
fn short_and_long_logs_are_sealed_with_and_without_a_viewer() {
    let scratch = Scratch::new("digest");
    for bytes in [1, 70_000, MIB, 5 * MIB + 3] {
        for (live, masks) in [(false, vec![]), (true, vec![]), (false, vec![b"xxx".to_vec()])] {
            let base = scratch.path(&format!("{bytes}-{live}-{}", masks.len()));
            let mut spec = nasty(&["flood", "both", &bytes.to_string()]);
            spec.log = Some(base.clone());
            (spec.digest, spec.live, spec.masks) = (true, live, masks);
            let sealed = run(spec).digest.expect("sealed");
            let length = |stream| log::path(&base, stream).metadata().expect("a log").len();
            for (stream, sealed) in
                [(Stream::Stdout, &sealed.stdout), (Stream::Stderr, &sealed.stderr)]
            {
                assert_eq!(sealed.as_ref().expect("sealed").bytes, length(stream));
            }
            let whole = std::fs::read(log::path(&base, Stream::Stdout)).expect("a log");
            assert_eq!(sealed.stdout, Some(FileDigest::of(&whole)));
            assert_eq!(read(&base), sealed);
            log::compress(&base, 0, &AtomicBool::new(false)).expect("compressed");
            assert!(!log::path(&base, Stream::Stdout).exists());
            assert_eq!(read(&base), sealed);
        }
    }
}

#[test]
fn logs_of_before_are_read_gzip_and_sha256() {
    let scratch = Scratch::new("digest-before");
    let path = scratch.path("step.out");
    std::fs::write(&path, "abc").expect("written");
    let sha256 = [
        0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22,
        0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00,
        0x15, 0xad,
    ];
    let before = FileDigest { bytes: 3, algorithm: Algorithm::Sha256, digest: sha256 };
    let read = |algorithm| FileDigest::read(&path, 3, algorithm).expect("readable");
    assert_eq!(read(Algorithm::Sha256), Some(before.clone()));
    let zipped = std::process::Command::new("gzip").arg(&path).status().expect("gzip");
    assert!(zipped.success() && !path.exists());
    assert_eq!(read(Algorithm::Sha256), Some(before));
    assert_eq!(read(Algorithm::Blake3), Some(FileDigest::of(b"abc")));
}

#[test]
fn the_order_of_the_streams_is_sealed() {
    let scratch = Scratch::new("digest-order");
    let base = scratch.path("step");
    let mut spec = Spec::new("sh").args(["-c", "echo a; echo b >&2; echo c"]);
    (spec.log, spec.digest) = (Some(base.clone()), true);
    let sealed = run(spec).digest.expect("sealed");
    let order = std::fs::read(log::order_path(&base)).expect("two streams");
    assert_eq!(sealed.order, Some(FileDigest::of(&order)));
    assert_eq!(read(&base), sealed);
}

#[test]
fn a_silent_step_is_sealed_as_silent_and_nothing_is_sealed_unasked() {
    let scratch = Scratch::new("digest-silent");
    let mut spec = Spec::new("true");
    (spec.log, spec.digest) = (Some(scratch.path("step")), true);
    assert_eq!(run(spec.clone()).digest, Some(LogDigest::default()));
    assert_eq!(read(&scratch.path("step")), LogDigest::default());
    spec.digest = false;
    assert_eq!(run(spec).digest, None);
}

#[test]
fn a_changed_or_cut_log_has_another_digest() {
    let scratch = Scratch::new("digest-changed");
    let base = scratch.path("step");
    let mut spec = Spec::new("seq").args(["1", "5000"]);
    (spec.log, spec.digest) = (Some(base.clone()), true);
    let sealed = run(spec).digest.expect("sealed");
    let path = log::path(&base, Stream::Stdout);
    let whole = std::fs::read(&path).expect("a log");
    for changed in [&whole[..whole.len() - 1], &[b"7", &whole[1..]].concat()[..], &[]] {
        std::fs::write(&path, changed).expect("written");
        assert_ne!(read(&base), sealed);
    }
    std::fs::remove_file(&path).expect("removed");
    assert_eq!(read(&base).stdout, None);
}

#[test]
fn no_more_is_read_than_shows_that_a_log_is_too_long() {
    let scratch = Scratch::new("digest-most");
    let path = scratch.path("step.out");
    std::fs::write(&path, "0123456789").expect("written");
    for (most, text) in [(0, "0"), (4, "01234"), (9, "0123456789"), (10, "0123456789")] {
        let found = FileDigest::read(&path, most, Algorithm::Blake3).expect("readable");
        assert_eq!(found, Some(FileDigest::of(text.as_bytes())), "at most {most}");
    }
}
