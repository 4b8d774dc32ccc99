//! Starting: environment, directory, input, and the errors.

use std::os::unix::fs::PermissionsExt;

use aye_process::{Outcome, Sink, SpawnError, Spec, Status, Stdin, spawn};

use crate::helper::{Scratch, nasty, run};

fn refusal(spec: Spec) -> SpawnError {
    aye_process::slots::set_limit(1000);
    spawn(spec).expect_err("must be refused")
}

#[test]
fn exit_codes_are_exact() {
    for code in [0, 1, 42, 255] {
        let exit = run(nasty(&["exit", &code.to_string()]));
        assert_eq!(exit.outcome, Outcome::Exited(code));
        assert_eq!(exit.exit_code(), code);
        assert_eq!(exit.success(), code == 0);
    }
}

#[test]
fn a_signal_is_128_plus_n() {
    let exit = run(nasty(&["die", "9"]));
    assert_eq!(exit.outcome, Outcome::Signaled(9));
    assert_eq!(exit.status, Status::Signaled(9));
    assert_eq!(exit.exit_code(), 137);
}

#[test]
fn a_missing_program_is_127_and_named() {
    let error = refusal(Spec::new("no-such-program-xyz"));
    assert_eq!(error.to_string(), "command `no-such-program-xyz` not found");
    assert!(matches!(error, SpawnError::NotFound { .. }), "{error:?}");
    assert_eq!(error.exit_code(), 127);
    assert_eq!(refusal(Spec::new("/no/such/file")).exit_code(), 127);
    assert_eq!(refusal(Spec::new("")).exit_code(), 127);
}

#[test]
fn a_whole_command_line_as_program_gets_a_hint() {
    let error = refusal(Spec::new("npm run build"));
    assert_eq!(error.exit_code(), 127);
    let hint = error.hint().expect("a hint");
    assert_eq!(
        hint,
        "a command is one program; write `command: npm` with `args: [\"run\", \"build\"]`, or use `shell:`"
    );
}

#[test]
fn a_file_that_cannot_be_executed_is_126() {
    let scratch = Scratch::new("not-executable");
    let file = scratch.path("script");
    std::fs::write(&file, "echo hello\n").expect("written");
    let error = refusal(Spec::new(&file));
    assert!(matches!(error, SpawnError::NotExecutable { .. }), "{error:?}");
    assert_eq!(error.exit_code(), 126);
    assert!(error.hint().expect("a hint").contains("chmod +x"));

    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("chmod");
    let error = refusal(Spec::new(&file));
    assert_eq!(error.exit_code(), 126);
    assert!(error.hint().expect("a hint").contains("#!/bin/sh"), "{error:?}");

    std::fs::write(&file, "#!/no/such/interpreter\n").expect("written");
    let error = refusal(Spec::new(&file));
    assert_eq!(error.exit_code(), 126);
    assert!(error.hint().expect("a hint").contains("/no/such/interpreter"));

    assert_eq!(refusal(Spec::new(&scratch.0)).exit_code(), 126);
}

#[test]
fn a_missing_directory_is_its_own_error() {
    let mut spec = Spec::new("true");
    spec.cwd = Some("/no/such/directory".into());
    let error = refusal(spec);
    assert!(matches!(error, SpawnError::WorkingDirectory { .. }), "{error:?}");
    assert_eq!(error.to_string(), "working directory `/no/such/directory` does not exist");
}

#[test]
fn the_environment_is_an_overlay_and_null_removes() {
    let mut spec = Spec::new("sh").args(["-c", "echo $ADDED ${HOME-removed} ${PATH:+inherited}"]);
    spec.env = vec![("ADDED".into(), Some("added".into())), ("HOME".into(), None)];
    assert_eq!(run(spec).stdout.text(), "added removed inherited\n");
}

#[test]
fn a_relative_program_is_relative_to_the_directory() {
    let scratch = Scratch::new("relative");
    let file = scratch.path("tool");
    std::fs::write(&file, "#!/bin/sh\npwd -P\n").expect("written");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("chmod");
    let mut spec = Spec::new("./tool");
    spec.cwd = Some(scratch.0.clone());
    let expected = scratch.0.canonicalize().expect("real path");
    assert_eq!(run(spec).stdout.text().trim_end(), expected.to_str().expect("text"));
}

#[test]
fn the_path_of_the_child_is_searched() {
    let scratch = Scratch::new("path");
    let file = scratch.path("only-here");
    std::fs::write(&file, "#!/bin/sh\necho found\n").expect("written");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("chmod");
    let mut spec = Spec::new("only-here");
    spec.env = vec![("PATH".into(), Some(scratch.0.clone().into()))];
    assert_eq!(run(spec).stdout.text(), "found\n");
}

#[test]
fn signals_and_descriptors_are_clean_in_the_child() {
    let _leak = std::fs::File::open("/dev/null").expect("open");
    // What we inherited ourselves without the close-on-exec mark is not ours to close.
    let inherited = inheritable();
    let exit = run(nasty(&["descriptors"]));
    assert_eq!(exit.stdout.text().trim_end(), inherited.join(" "));
    // SAFETY: blocks a signal in this thread only; `sigset_t` is plain data.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&raw mut set, libc::SIGUSR1);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
    }
    let exit = run(Spec::new("grep").args(["-E", "SigBlk|SigIgn", "/proc/self/status"]));
    let text = exit.stdout.text();
    let bits = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
        u64::from_str_radix(line.trim(), 16).expect("a mask")
    };
    assert_eq!(bits("SigBlk:"), 0);
    assert_eq!(bits("SigIgn:") & (1 << (libc::SIGPIPE - 1)), 0);
}

fn inheritable() -> Vec<String> {
    let mut open: Vec<String> = (0..256)
        // SAFETY: asks for the flags of a descriptor, open or not.
        .filter(|fd| matches!(unsafe { libc::fcntl(*fd, libc::F_GETFD) }, 0))
        .map(|fd| fd.to_string())
        .collect();
    open.sort();
    open
}

#[test]
fn input_is_empty_or_given() {
    assert_eq!(run(nasty(&["cat"])).stdout.text(), "0\n");
    for size in [1, 65_536, 1_000_000] {
        let mut spec = nasty(&["cat"]);
        spec.stdin = Stdin::Bytes(vec![b'x'; size]);
        assert_eq!(run(spec).stdout.text(), format!("{size}\n"));
    }
}

#[test]
fn a_child_that_never_reads_does_not_hang() {
    let mut spec = nasty(&["never-reads-stdin"]);
    spec.stdin = Stdin::Bytes(vec![b'x'; 10_000_000]);
    let exit = run(spec);
    assert!(exit.success());
    assert_eq!(exit.stdout.text(), "done\n");
}

#[test]
fn streams_may_be_discarded() {
    let mut spec = nasty(&["flood", "both", "100"]);
    spec.stdout = Sink::Discard;
    let exit = run(spec);
    assert_eq!((exit.stdout.total(), exit.stderr.total()), (0, 100));
}
