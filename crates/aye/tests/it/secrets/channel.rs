//! Answers from other processes: through a socket to the driver, past mailbox and journal.

use std::fs::Permissions;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;

use super::traces::{files, forms, silent};
use crate::cli::harness::{Place, Ran, until};
use crate::needs;

const SECRET: &str = "correct/horse battery+staple";

const SKILL: &str = "
name: s
steps:
  - { name: code, input: { message: 'Code?', secret: true, timeout: 0 }, output: code }
  - { name: use, command: sh, args: ['-c', 'cat > used'], stdin: '{{ code }}' }
";

/// A run that asks for a secret, in the background.
fn asking() -> (Place, String) {
    let place = Place::new();
    ask_in(&place);
    let question = question(&place);
    (place, question)
}

fn ask_in(place: &Place) {
    place.write("s.yaml", SKILL);
    place.aye(&["run", "s.yaml", "--detach", "-q"]).ok();
}

fn question(place: &Place) -> String {
    let mut id = String::new();
    until("a question", || {
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        id = inbox[0]["question"].as_str().unwrap_or_default().to_owned();
        !id.is_empty()
    });
    id
}

fn ended(place: &Place) {
    until("the end of the run", || place.status() == "completed");
}

fn socket(place: &Place) -> PathBuf {
    place.home().join("sockets").join(format!("{}.sock", place.last()))
}

/// The socket of the newest run, once its driver listens.
fn listening(place: &Place) -> PathBuf {
    let socket = socket(place);
    until("the driver listens", || socket.exists());
    socket
}

#[test]
fn a_secret_answer_is_in_no_file_at_any_time() {
    let (place, question) = asking();
    let socket = listening(&place);
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert!(socket.metadata().unwrap().file_type().is_socket());
    assert_eq!((mode(&socket), mode(socket.parent().unwrap())), (0o600, 0o700));
    // Anyone who reads keeps what is written to the journal's WAL where it is.
    let reader = rusqlite::Connection::open(place.home().join("journal.db")).unwrap();
    reader.execute_batch("begin; select count(*) from sqlite_master;").unwrap();
    let reason = format!("it is {SECRET}");
    let args = ["answer", &question, SECRET, "--no-input", "--reason", &reason];
    let said = place.aye(&args).ok();
    ended(&place);
    assert_eq!(place.read("used"), SECRET, "the step got it");
    let shown = place.aye(&["show", "last", "--json"]).ok().stdout;
    assert!(shown.contains("it is ***"), "the reason is kept without it: {shown}");
    let mut all = files(&place.home());
    let holds = |name: &str, text: &[u8]| {
        let file = all.iter().find(|(path, _)| path.ends_with(name));
        file.is_some_and(|(_, bytes)| bytes.windows(text.len()).any(|part| part == text))
    };
    assert!(holds("journal.db-wal", b"$handle"), "the mailbox had a handle");
    all.push(("printed".into(), said.all().into_bytes()));
    silent(&all, &forms(SECRET));
    drop(reader);
    until("the socket is gone", || !socket.exists());
}

#[test]
fn nobody_listens_where_no_secret_is_wanted() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\nsteps:\n  - { name: a, confirm: { message: 'Continue?', timeout: 0 } }\n",
    );
    place.aye(&["run", "s.yaml", "--detach", "-q"]).ok();
    let question = question(&place);
    assert!(!place.home().join("sockets").exists(), "not even the directory is there");
    place.aye(&["answer", &question, "yes", "--no-input"]).ok();
    ended(&place);
    assert!(!place.home().join("sockets").exists());
}

#[test]
fn without_a_driver_a_secret_is_refused() {
    let place = Place::new();
    place.write("s.yaml", SKILL);
    assert_eq!(place.aye(&["run", "s.yaml", "--no-input"]).code, 6);
    let question = question(&place);
    let said = place.aye(&["answer", &question, SECRET, "--no-input"]);
    insta::assert_snapshot!(said.all(), @r"
    --- stderr
    error: `RUN-1` asks for a secret and no process drives the run
    hint: answer it where the run continues: `aye resume RUN`
    --- exit 1
    ");
    silent(&files(&place.home()), &forms(SECRET));
}

/// Nor is it repeated, and what is offered instead works.
#[test]
fn a_secret_answer_is_not_repeated_and_the_hints_work() {
    let place = Place::new();
    let skill = SKILL.replacen("steps:", "inputs: [{ name: tok, type: secret }]\nsteps:", 1);
    place.write("s.yaml", &skill);
    let paused = place.aye(&["run", "s.yaml", "-i", "tok=hunter2-swordfish", "--no-input"]);
    assert_eq!(paused.code, 6, "{}", paused.all());
    assert!(!paused.all().contains("aye answer"), "{}", paused.all());
    let hint = "`aye resume RUN -i tok=…`";
    assert!(paused.all().contains(hint.trim_matches('`')), "{}", paused.all());
    let question = question(&place);
    let said = place.aye(&["answer", &question, SECRET, "--resume", "--no-input"]);
    assert_eq!(said.code, 1, "{}", said.all());
    assert!(said.all().contains(hint) && !said.all().contains(SECRET), "{}", said.all());
}

#[test]
fn a_path_too_long_for_a_socket_is_none() {
    let place = Place::new();
    let home = place.path().join("a-home-of-a-very-long-name".repeat(8));
    let aye = |args: &[&str]| {
        let output = place.command(args).env("AYE_HOME", &home).output().unwrap();
        Ran::of(output, &place)
    };
    place.write("s.yaml", SKILL);
    aye(&["run", "s.yaml", "--detach", "-q"]).ok();
    let mut id = String::new();
    until("a question", || {
        let inbox = aye(&["inbox", "--json"]).ok().json();
        id = inbox[0]["question"].as_str().unwrap_or_default().to_owned();
        !id.is_empty()
    });
    aye(&["answer", &id, SECRET, "--no-input"]).ok();
    until("the step", || place.read("used") == SECRET);
}

#[test]
fn the_socket_of_a_killed_driver_is_replaced() {
    let (place, first) = asking();
    let socket = listening(&place);
    let pid = crate::cli::detach::driver(&place, &place.last()).unwrap();
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
    until("the driver is gone", || UnixStream::connect(&socket).is_err());
    assert!(socket.exists(), "a killed driver leaves its socket");
    let refused = || place.aye(&["answer", &first, SECRET, "--no-input"]);
    until("no process drives it", || refused().stderr.contains("no process drives the run"));
    // Another run removes what is left.
    let run = place.last();
    ask_in(&place);
    let _ = listening(&place);
    assert!(!socket.exists(), "a stale socket stays");
    place.aye(&["resume", &run, "--detach"]).ok();
    until("the driver listens", || socket.exists());
    place.aye(&["answer", &first, SECRET, "--no-input"]).ok();
    until("the step", || place.read("used") == SECRET);
    silent(&files(&place.home()), &forms(SECRET));
    place.aye(&["cancel", &place.last()]).ok();
}

#[test]
fn peers_that_say_nothing_or_too_much_hold_nobody_up() {
    let (place, question) = asking();
    let socket = listening(&place);
    let silent: Vec<UnixStream> = (0..40).map(|_| UnixStream::connect(&socket).unwrap()).collect();
    // A gigabyte, as far as it is taken.
    let mut flood = UnixStream::connect(&socket).unwrap();
    flood.set_write_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    let block = vec![b'x'; 1 << 20];
    let taken = (0..1024).take_while(|_| flood.write_all(&block).is_ok()).count();
    assert!(taken < 8, "{taken} MiB were taken");
    // Nonsense, and a payload that no request names.
    for line in ["{}\n", "\n", "null\n", "{\"handle\":\"x\",\"value\":1}\n"] {
        let mut peer = UnixStream::connect(&socket).unwrap();
        peer.write_all(line.as_bytes()).unwrap();
        let mut said = String::new();
        let _ = peer.read_to_string(&mut said);
        assert_eq!(said.is_empty(), !line.contains("handle"), "{line}: {said}");
    }
    place.aye(&["answer", &question, SECRET, "--no-input"]).ok();
    ended(&place);
    assert_eq!(place.read("used"), SECRET);
    drop(silent);
}

#[test]
fn a_directory_of_sockets_that_is_a_link_is_not_used() {
    let place = Place::new();
    place.write("s.yaml", SKILL);
    place.aye(&["runs"]).ok();
    let elsewhere = place.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::set_permissions(&elsewhere, Permissions::from_mode(0o700)).unwrap();
    std::fs::create_dir_all(place.home()).unwrap();
    let sockets = place.home().join("sockets");
    symlink(&elsewhere, &sockets).unwrap();
    place.aye(&["run", "s.yaml", "--detach", "-q"]).ok();
    let id = question(&place);
    let said = place.aye(&["answer", &id, SECRET, "--no-input"]);
    insta::assert_snapshot!(said.all(), @r"
    --- stderr
    error: the answer was not sent: `PLACE/home/sockets` is not a directory
    hint: remove `PLACE/home/sockets`: Aye makes it again
    --- exit 1
    ");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0, "nothing is made there");
    place.aye(&["cancel", "last"]).ok();
    // Nor one that others can enter.
    std::fs::remove_file(&sockets).unwrap();
    std::fs::create_dir(&sockets).unwrap();
    std::fs::set_permissions(&sockets, Permissions::from_mode(0o755)).unwrap();
    ask_in(&place);
    let said = place.aye(&["answer", &question(&place), SECRET, "--no-input"]);
    assert!(said.stderr.contains("is open to other accounts"), "{}", said.all());
    silent(&files(&place.home()), &forms(SECRET));
    place.aye(&["cancel", "last"]).ok();
}

/// Connects and sends a payload as another account; what it was told.
const INTRUDER: &str = "
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(20)
try:
    s.connect(sys.argv[1])
except OSError as error:
    sys.exit('connect: ' + type(error).__name__)
try:
    s.sendall(b'{\"handle\":\"known\",\"value\":\"planted\"}\\n')
    print(s.recv(100))
except OSError as error:
    print(type(error).__name__)
";

#[test]
fn another_account_is_not_listened_to() {
    const USER: u32 = 65_534;
    const OTHER: u32 = 65_533;
    if !needs::root("a socket that another account connects to") {
        return;
    }
    needs::program("python3");
    // The driver as an ordinary user and as root; who connects is someone else.
    for (driver, intruder) in [(USER, OTHER), (USER, 0), (0, USER)] {
        let place = Place::new();
        place.write("s.yaml", SKILL);
        for path in [place.path().to_owned(), place.work(), place.work().join("s.yaml")] {
            std::os::unix::fs::chown(path, Some(driver), Some(driver)).unwrap();
        }
        let aye = |args: &[&str]| {
            let output = place.command(args).uid(driver).gid(driver).output().unwrap();
            Ran::of(output, &place)
        };
        aye(&["run", "s.yaml", "--detach", "-q"]).ok();
        let mut run = serde_json::Value::Null;
        until("the question", || {
            run = aye(&["inbox", "--json"]).ok().json()[0].take();
            !run.is_null()
        });
        let id = run["question"].as_str().unwrap().to_owned();
        let socket = place.home().join("sockets").join(format!("{}.sock", &id[..10]));
        until("the driver listens", || socket.exists());
        let intrude = || {
            let mut python = Command::new("python3");
            python.args(["-c", INTRUDER]).arg(&socket).uid(intruder).gid(intruder);
            let output = python.current_dir("/").output().unwrap();
            format!(
                "{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            )
        };
        if intruder != 0 {
            assert_eq!(intrude().trim(), "connect: PermissionError", "{driver} {intruder}");
        }
        // Even where every directory and the socket let them in.
        for path in [place.path().to_owned(), place.home(), place.home().join("sockets")] {
            std::fs::set_permissions(path, Permissions::from_mode(0o711)).unwrap();
        }
        std::fs::set_permissions(&socket, Permissions::from_mode(0o666)).unwrap();
        let told = intrude();
        assert!(!told.contains("taken"), "{driver} {intruder}: {told}");
        assert!(!told.contains("connect:"), "it got as far as the check: {told}");
        for path in [place.home().join("sockets"), place.home()] {
            std::fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
        }
        aye(&["answer", &id, SECRET, "--no-input"]).ok();
        until("the step", || place.read("used") == SECRET);
    }
}

/// A driver that belongs to someone else is not told a secret either.
#[test]
fn a_socket_of_another_account_gets_nothing() {
    const OTHER: u32 = 65_534;
    const LISTENER: &str = "
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
os.setgid(65534); os.setuid(65534)
s.listen(5)
print('listening', flush=True)
s.settimeout(30)
peer, _ = s.accept()
peer.settimeout(30)
print(len(peer.recv(10000)), flush=True)
";
    if !needs::root("a socket on which another account listens") {
        return;
    }
    needs::program("python3");
    let (place, id) = asking();
    let socket = listening(&place);
    std::fs::remove_file(&socket).unwrap();
    let mut python = Command::new("python3");
    python.args(["-c", LISTENER]).arg(&socket).stdout(std::process::Stdio::piped());
    let mut listener = python.spawn().unwrap();
    let mut out = listener.stdout.take().unwrap();
    let mut said = [0; 10];
    out.read_exact(&mut said).unwrap();
    let refused = place.aye(&["answer", &id, SECRET, "--no-input"]);
    assert!(refused.stderr.contains("belongs to another account"), "{}", refused.all());
    let mut got = String::new();
    out.read_to_string(&mut got).unwrap();
    assert_eq!(got.trim(), "0", "the listener of account {OTHER} read something");
    listener.wait().unwrap();
    place.aye(&["cancel", "last"]).ok();
}

#[test]
fn a_code_is_not_in_the_mailbox() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\nsteps:\n  - { name: a, command: touch, args: [acted], confirmation: { message: 'Really?', reauth: true, timeout: 0 } }\n",
    );
    crate::cli::auth::set_up(&place);
    place.aye(&["run", "s.yaml", "--detach", "-q"]).ok();
    let id = question(&place);
    let wrong = place.aye(&["answer", &id, "proceed", "--code", "918273", "--no-input"]);
    assert!(wrong.stderr.contains("the code is wrong"), "{}", wrong.all());
    let code = crate::cli::auth::code(&place, 0);
    place.aye(&["answer", &id, "proceed", "--code", &code, "--no-input"]).ok();
    ended(&place);
    assert!(place.work().join("acted").exists());
    silent(&files(&place.home()), &[code, "918273".to_owned()]);
}

/// Who answers checks it then, and passes on that it was right.
#[test]
fn a_code_without_a_driver_is_in_no_file() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\nsteps:\n  - { name: a, command: touch, args: [acted], confirmation: { message: 'Really?', reauth: true, timeout: 0 } }\n",
    );
    crate::cli::auth::set_up(&place);
    assert_eq!(place.aye(&["run", "s.yaml", "--no-input"]).code, 6);
    let id = question(&place);
    let code = crate::cli::auth::code(&place, 0);
    place.aye(&["answer", &id, "proceed", "--code", &code, "--no-input"]).ok();
    silent(&files(&place.home()), std::slice::from_ref(&code));
    place.aye(&["resume", "last", "--no-input"]).ok();
    assert!(place.work().join("acted").exists());
    silent(&files(&place.home()), &[code]);
}
