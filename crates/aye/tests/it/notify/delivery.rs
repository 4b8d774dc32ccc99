//! From the event to the person: dead, slow and hostile channels, crashes, and
//! what is not told.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::receiver::{Receiver, ReplyConfig};
use super::{messages, place_with};
use crate::cli::harness::{Place, signal, until};
use crate::needs;

fn hook(name: &str, url: &str, more: &str) -> String {
    format!("[notify.{name}]\nkind = \"webhook\"\nurl = \"{url}\"\n{more}\n")
}

#[test]
fn a_dead_channel_costs_an_ending_run_two_seconds_at_most_and_is_seen() {
    // Nobody accepts: the connection hangs in the queue or is refused.
    let silent = Receiver::new();
    silent.behave(ReplyConfig { delay: Duration::from_secs(600), ..ReplyConfig::default() });
    let place = place_with(&hook("dead", &silent.url(), "on = [\"completed\"]"));
    place.write("skills/quick.yaml", "name: quick\nsteps:\n  - { name: go, shell: touch went }\n");
    let before = Instant::now();
    let without = place.aye(&["run", "gate", "--no-input"]);
    let usual = before.elapsed();
    assert_eq!(without.code, 6);
    let before = Instant::now();
    place.aye(&["run", "quick"]).ok();
    let took = before.elapsed();
    assert!(place.work().join("went").exists());
    // Two seconds, and what the machine takes for a run at all.
    assert!(took < Duration::from_secs(3) + 3 * usual, "{took:?} (a run takes {usual:?})");
    let row = &messages(&place)[0];
    assert_eq!(
        (row["state"].as_str(), row["event"].as_str()),
        (Some("waiting"), Some("completed"))
    );
}

#[test]
fn a_channel_that_is_down_holds_no_run_up_and_is_visible() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let place = place_with(&hook("down", &format!("http://127.0.0.1:{port}/a/secret-path"), ""));
    assert_eq!(place.aye(&["run", "gate", "--no-input"]).code, 6);
    let row = &messages(&place)[0];
    assert_eq!(row["state"], "waiting");
    let why = row["result"].as_str().unwrap();
    assert!(why.contains("cannot connect to `127.0.0.1`"), "{why}");
    assert!(!why.contains("secret-path"), "{why}");
    let doctor = place.aye(&["doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains("cannot connect"), "{}", doctor.stdout);
    assert!(place.aye(&["show", "last"]).ok().stdout.contains("not sent yet"));
    let json = place.aye(&["show", "last", "--json"]).ok().json();
    assert_eq!(json["messages"][0]["channel"], "down");
}

#[test]
fn a_slow_channel_does_not_hold_another_up() {
    let (slow, quick) = (Receiver::new(), Receiver::new());
    slow.behave(ReplyConfig { delay: Duration::from_secs(600), ..ReplyConfig::default() });
    // By name, the slow one comes first.
    let place = place_with(&(hook("a", &slow.url(), "") + &hook("b", &quick.url(), "")));
    assert_eq!(place.aye(&["run", "gate", "--no-input"]).code, 6);
    assert_eq!(quick.sent().len(), 1, "told within the two seconds");
}

#[test]
fn errors_are_tried_again_with_growing_pauses() {
    let receiver = Receiver::new();
    receiver.behave(ReplyConfig { status: Some(500), ..ReplyConfig::default() });
    let place = place_with(&hook("flaky", &receiver.url(), ""));
    place.aye(&["run", "gate", "--detach"]).ok();
    receiver.until(1);
    let row = || messages(&place).remove(0);
    until("the result", || row()["result"].is_string());
    assert_eq!(
        row()["result"],
        format!(
            "127.0.0.1:{} says HTTP 500 Internal Server Error: {{\"said\": \"so\"}}",
            receiver.port
        )
    );
    receiver.until(2);
    receiver.behave(ReplyConfig::default());
    receiver.until(3);
    until("sent", || row()["state"] == "sent");
    let bodies: Vec<String> = receiver
        .sent()
        .iter()
        .map(|one| one.header("idempotency-key").unwrap().to_owned())
        .collect();
    assert!(bodies.iter().all(|key| *key == bodies[0]), "the receiver can tell: {bodies:?}");
    place.aye(&["cancel", "last"]).ok();
}

#[test]
fn redirects_are_not_followed() {
    let (first, second) = (Receiver::new(), Receiver::new());
    let header = Some(format!("Location: {}/", second.url()));
    first.behave(ReplyConfig { status: Some(307), header, ..ReplyConfig::default() });
    let place = place_with(&hook("moved", &first.url(), ""));
    assert_eq!(place.aye(&["run", "gate", "--no-input"]).code, 6);
    first.until(1);
    let why = messages(&place)[0]["result"].as_str().unwrap().to_owned();
    assert!(why.contains("redirects (HTTP 307); redirects are not followed"), "{why}");
    assert!(second.sent().is_empty());
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused() {
    needs::program("openssl");
    let place = Place::new();
    place.write("skills/gate.yaml", super::GATE);
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
        ])
        .args(["-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", "key.pem", "-out", "cert.pem"])
        .current_dir(place.work())
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let mut server = Command::new("openssl")
        .args(["s_server", "-accept", &format!("127.0.0.1:{port}"), "-www", "-quiet"])
        .args(["-key", "key.pem", "-cert", "cert.pem"])
        .current_dir(place.work())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("the server listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    super::configure(&place, &hook("tls", &format!("https://localhost:{port}/"), ""));
    let ran = place.aye(&["notify", "test", "tls"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.stdout.contains("certificate"), "{}", ran.all());
    // The same server is fine for who trusts its certificate: the system's store says.
    let trusting = place
        .command(&["notify", "test", "tls", "--json"])
        .env("SSL_CERT_FILE", place.work().join("cert.pem"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&trusting.stdout).into_owned();
    assert!(!said.contains("certificate"), "{said}");
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn killed_between_intent_and_delivery_it_is_told_once_or_twice() {
    for delay in [0, 400] {
        let receiver = Receiver::new();
        receiver.behave(ReplyConfig { delay: Duration::from_secs(600), ..ReplyConfig::default() });
        let place = place_with(&hook("hook", &receiver.url(), ""));
        place.aye(&["run", "gate", "--detach"]).ok();
        let shown = || place.aye(&["show", "last", "--json"]).ok().json();
        // The message is in the journal with its event, sent or not.
        until("the message", || !messages(&place).is_empty());
        if delay > 0 {
            receiver.until(1);
        }
        let pid = i32::try_from(shown()["driver"]["pid"].as_i64().unwrap_or_default()).unwrap();
        let pid = rustix::process::Pid::from_raw(pid).expect("the driver's pid");
        rustix::process::kill_process(pid, Signal::KILL).unwrap();
        until("the driver is gone", || rustix::process::test_kill_process(pid).is_err());
        receiver.behave(ReplyConfig::default());
        // Anyone who comes next tells it, once the claim of the dead one is over.
        until("told by someone else", || {
            let ran =
                place.command(&["run", "gate", "--no-input"]).env("AYE_TEST_DAYS", "1").output();
            assert_eq!(ran.unwrap().status.code(), Some(6));
            let row = messages(&place).pop().unwrap();
            row["state"] == "sent"
        });
        let first = messages(&place).pop().unwrap()["question"].clone();
        let told = receiver.sent().iter().filter(|one| one.json()["question"] == first).count();
        assert!((1..=2).contains(&told), "told {told} times");
    }
}

#[test]
fn what_is_answered_while_it_waits_is_withdrawn_and_not_sent() {
    let receiver = Receiver::new();
    // Quiet now, whatever time it is: the message waits.
    let now = jiff::Zoned::now();
    let hour = i32::from(now.hour());
    let quiet = format!("{:02}:00-{:02}:59", hour, (hour + 2) % 24);
    let place = place_with(&hook("hook", &receiver.url(), &format!("quiet = \"{quiet}\"")));
    place.aye(&["run", "gate", "--detach"]).ok();
    until("the message", || !messages(&place).is_empty());
    let question = format!("{}-1", place.last());
    place.aye(&["answer", &question, "proceed"]).ok();
    until("the end", || place.status() == "completed");
    // A day later it is due; someone looks, and there is nothing to tell.
    let ran = place.command(&["run", "gate", "--no-input"]).env("AYE_TEST_DAYS", "1").output();
    assert_eq!(ran.unwrap().status.code(), Some(6));
    let first = || messages(&place).pop().unwrap();
    until("withdrawn", || {
        let ran = place.command(&["run", "gate", "--no-input"]).env("AYE_TEST_DAYS", "1").output();
        assert_eq!(ran.unwrap().status.code(), Some(6));
        first()["state"] == "withdrawn"
    });
    assert_eq!(first()["result"], "answered before it was sent");
    assert!(!receiver.sent().iter().any(|one| one.json()["question"] == question));
}

#[test]
fn ends_are_told_where_nobody_watches() {
    let receiver = Receiver::new();
    let place = place_with(&hook(
        "hook",
        &receiver.url(),
        "on = [\"failed\", \"completed\", \"cancelled\"]",
    ));
    place.write(
        "skills/bad.yaml",
        "name: bad\nsteps:\n  - { name: go, shell: echo broken >&2; exit 3 }\n",
    );
    place.write("skills/good.yaml", "name: good\nsteps:\n  - { name: go, shell: 'true' }\n");
    place.aye(&["run", "bad", "--detach"]).ok();
    let sent = receiver.until(1);
    assert_eq!(sent[0].json()["event"], "failed");
    assert_eq!(sent[0].json()["title"], "bad failed");
    assert!(sent[0].json()["text"].as_str().unwrap().contains("at step go"), "{:?}", sent[0]);
    place.aye(&["run", "good", "--detach"]).ok();
    assert_eq!(receiver.until(2)[1].json()["event"], "completed");
    place.aye(&["run", "gate", "--no-input"]);
    // Nobody drives it: the process that cancels it tells.
    place.aye(&["cancel", "last"]).ok();
    assert_eq!(receiver.until(3)[2].json()["event"], "cancelled");
}

#[test]
fn without_a_channel_there_is_no_thread_no_row_and_no_file() {
    let place = place_with("");
    place.write(
        "skills/sleep.yaml",
        "name: sleep\nsteps:\n  - { name: go, shell: 'touch up; sleep 600' }\n",
    );
    let child = place.start_until(&["run", "sleep"], "up");
    let threads = std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
    for thread in threads.flatten() {
        let name = std::fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
        assert!(!name.starts_with("notify"), "{name}");
    }
    signal(&child, Signal::INT);
    place.finish(child);
    assert!(messages(&place).is_empty());
}
