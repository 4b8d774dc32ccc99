//! Pages that need something around them: a server, an assistant, a display, a place that
//! takes messages. They are followed as [`super::tutorials`] follows the others.

use std::process::{Child, Command, Stdio};

use regex_lite::Regex;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::harness::{Place, signal, until};
use super::tutorials::{Around, files_of, follow_with};
use crate::desktop::screen::{Screen, settings};
use crate::mcp_peers::{Peer, Sdk};
use crate::needs;
use crate::notify::Receiver;

/// A text in which this is the same on every machine.
fn same(text: &str, patterns: &[(&str, &str)]) -> String {
    let mut text = text.replace("PLACE/work", "/srv/app");
    text = text.replace("PLACE/home", "/home/ann/.local/state/aye").replace("DIGEST", "…");
    for (pattern, with) in patterns {
        text = Regex::new(pattern).unwrap().replace_all(&text, *with).into_owned();
    }
    text
}

/// What is run for a command that would ask: the person says yes.
fn with_a_yes(line: &str) -> String {
    match line {
        "aye trust" | "aye mcp install claude" => format!("{line} --yes"),
        _ => line.to_owned(),
    }
}

/// Waits until the newest run asks its first question.
fn until_asked(place: &Place) {
    let question = format!("{}-1", place.last());
    until("a question", || {
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        inbox.as_array().unwrap().iter().any(|row| row["question"] == question.as_str())
    });
}

fn until_completed(place: &Place) {
    until("the end of the run", || place.status() == "completed");
}

#[test]
fn schedules_and_jobs_without_a_terminal() {
    needs::program("systemd-analyze");
    let place = Place::new();
    let mut before = |place: &Place, line: &str| {
        if line.starts_with("aye answer") {
            until_asked(place);
        }
        // The crontab of the machine stays as it is.
        let scheduler = if line.starts_with("aye schedule add") { " --with systemd" } else { "" };
        with_a_yes(line) + scheduler
    };
    let tidy = |text: &str| {
        // Where no manager of the user's units runs, it says so.
        let silent = "warning: the timer does not run yet|hint: it starts with your next session";
        let silent = Regex::new(silent).unwrap();
        let lines = text.lines().filter(|line| !silent.is_match(line));
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        let days = [
            (r"(daily 03:00  next) \w+ [0-9-]+", "$1 Wed 2026-11-18"),
            (r"(Mon 09:00  next) \w+ [0-9-]+", "$1 Mon 2026-11-23"),
        ];
        same(&text, &days)
    };
    let mut around = Around { before: Some(&mut before), tidy: Some(&tidy), ..Around::default() };
    follow_with("how-to/schedules-cron-ci.md", &place, &mut around);
    place.aye(&["schedule", "remove", "backup"]).ok();
}

#[test]
fn a_message_when_a_question_waits() {
    let server = Receiver::new();
    let place = Place::new();
    let mut before = |place: &Place, line: &str| {
        match line {
            "aye notify test phone" => {
                let file = place.path().join(".config/aye/config.toml");
                let text = std::fs::read_to_string(&file).unwrap();
                let here = format!("kind = \"ntfy\"\nurl = \"{}\"", server.url());
                std::fs::write(file, text.replace("kind = \"ntfy\"", &here)).unwrap();
            }
            "aye notify list" => until("it is sent", || {
                let sent = place.aye(&["notify", "list", "--json"]).ok().json();
                sent[0]["state"] == "sent"
            }),
            _ => {}
        }
        line.to_owned()
    };
    let tidy = |text: &str| same(text, &[(r"sent [0-9-]+ [0-9:]+", "sent 2026-11-17 09:00:02")]);
    let env = vec![("NTFY_TOPIC".to_owned(), "a-topic-that-nobody-guesses".to_owned())];
    let mut around = Around { env, before: Some(&mut before), tidy: Some(&tidy) };
    follow_with("how-to/notify.md", &place, &mut around);
    until_completed(&place);
    let sent = server.until(3);
    assert_eq!(sent[0].json()["topic"], "a-topic-that-nobody-guesses");
    let question = format!("aye answer {}-1", place.last());
    assert!(sent[1].body.contains(&question), "{}", sent[1].all());
    assert!(sent[1].body.contains("Remove the old builds?"), "{}", sent[1].all());
    assert_eq!(sent[2].method, "DELETE", "{}", sent[2].all());
}

#[test]
fn a_journal_that_is_backed_up_and_restored() {
    needs::program("sqlite3");
    let place = Place::new();
    files_of("tutorials/first-question.md", &place);
    let mut before = |_: &Place, line: &str| line.replace("~/.local/state/aye", "\"$AYE_HOME\"");
    let mut around = Around { before: Some(&mut before), ..Around::default() };
    follow_with("how-to/backup.md", &place, &mut around);
}

#[test]
fn a_desktop_that_answers() {
    let screen = Screen::start();
    let place = Place::new();
    // Tests run in containers, where the desktop counts only if the settings name it.
    settings(&place, "[ask]\nprompters = [\"terminal\", \"desktop\"]\n");
    let tidy = |text: &str| same(text, &[(r"zenity, [0-9.]+", "zenity, 3.44.0")]);
    let mut around = Around { env: screen.env(), tidy: Some(&tidy), ..Around::default() };
    follow_with("how-to/desktop.md", &place, &mut around);
}

/// What the person asks the assistant for: it runs the skill and looks at the question.
fn runs_it(peer: &mut Peer) -> String {
    let asks = peer.call("skill_run", json!({ "skill": "publish" }));
    asks.stands("awaiting_confirmation").id()
}

#[test]
fn an_assistant_that_advises() {
    let place = Place::new();
    files_of("tutorials/first-question.md", &place);
    let mut peer = Peer::start(Sdk::Python2);
    let mut commands = 0;
    let mut before = |place: &Place, line: &str| {
        commands += 1;
        match (commands, line) {
            (1, "aye mcp install claude") => {}
            (2, "aye answer k3f9x2m8qa-1 proceed") => {
                peer.connect_with(place, json!({ "elicitation": false }));
                let asked = runs_it(&mut peer);
                let advice = "The version is new, and nothing else is being published.";
                let looked = json!({ "execution_id": asked, "advice": advice });
                peer.call("skill_continue", looked).stands("awaiting_confirmation");
            }
            (3, "aye show last") => until_completed(place),
            (4, "aye show last | grep decisions -A 1") => {
                let word = json!({ "execution_id": runs_it(&mut peer), "choice": "proceed" });
                peer.call("skill_continue", word).stands("completed");
            }
            (5, "aye inbox") => {
                let word = json!({ "execution_id": runs_it(&mut peer), "choice": "proceed" });
                let refused = peer.call("skill_continue", word).refused();
                assert!(refused.text.contains("has to be answered by a person"), "{refused:?}");
                assert!(refused.text.contains("`aye inbox`"), "{refused:?}");
            }
            (6, "aye answer k3f9x2m8qa-1 proceed") => {}
            (7, "aye show last | grep decisions -A 2") => until_completed(place),
            other => panic!("what does the assistant do at {other:?}?"),
        }
        with_a_yes(line)
    };
    let tidy = |text: &str| same(text, &[(r"(by|from) \S+ for \S+", "$1 claude-code for ann")]);
    let mut around = Around { before: Some(&mut before), tidy: Some(&tidy), ..Around::default() };
    follow_with("tutorials/assistant.md", &place, &mut around);
    assert_eq!(commands, 7);
    peer.rest();
}

/// A browser, as far as a server sees one.
struct Browser {
    origin: String,
    secret: String,
    cookies: String,
    certificate: String,
}

impl Browser {
    /// Opens a link, which signs it in.
    fn sign_in(place: &Place, link: &str) -> Self {
        let (origin, secret) = link.split_once("/#signin=").unwrap();
        let mut browser = Self {
            origin: origin.to_owned(),
            secret: String::new(),
            cookies: place.path().join("cookies").display().to_string(),
            certificate: place.home().join("serve.crt").display().to_string(),
        };
        let session = browser.send("/api/v1/session", Some(&json!({ "link": secret })));
        browser.secret = session["secret"].as_str().unwrap().to_owned();
        browser
    }

    fn send(&self, path: &str, body: Option<&Value>) -> Value {
        let mut command = Command::new("curl");
        command.args(["-sS", "--fail-with-body", "-b", &self.cookies, "-c", &self.cookies]);
        if self.origin.starts_with("https:") {
            command.args(["--cacert", &self.certificate]);
        }
        command.args(["-H", &format!("Origin: {}", self.origin)]);
        command.args(["-H", &format!("X-Aye-Secret: {}", self.secret)]);
        if let Some(body) = body {
            command.args(["-H", "Content-Type: application/json", "-d", &body.to_string()]);
        }
        let ran = command.arg(format!("{}{path}", self.origin)).output().unwrap();
        assert!(ran.status.success(), "{path}: {ran:?}");
        serde_json::from_slice(&ran.stdout).unwrap()
    }

    /// Presses *Proceed* on the card of the newest run, once there is one.
    fn proceed(&self, place: &Place) {
        let run = place.last();
        let mut card = Value::Null;
        until("a card", || {
            let cards = self.send("/api/v1/questions", None)["questions"].clone();
            let asks = |card: &&Value| card["run"] == run.as_str();
            card = cards.as_array().unwrap().iter().find(asks).cloned().unwrap_or_default();
            !card.is_null()
        });
        let path = format!("/api/v1/questions/{}/answer", card["question"].as_str().unwrap());
        let answer =
            json!({ "choice": "proceed", "digest": card["digest"], "nonce": card["nonce"] });
        self.send(&path, Some(&answer));
    }
}

/// A server that ends with the test.
struct Server(Child);

impl Server {
    /// Starts it at a free port; what it prints goes to a file.
    fn start(place: &Place, options: &[&str]) -> Self {
        let said = std::fs::File::create(place.path().join("said")).unwrap();
        let mut command = place.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.args(options).stdout(said.try_clone().unwrap()).stderr(said);
        let server = Self(command.stdin(Stdio::null()).spawn().unwrap());
        until("the server says how to stop it", || place.read("../said").contains("Ctrl-C"));
        server
    }

    /// Presses Ctrl-C.
    fn stop(mut self) {
        signal(&self.0, Signal::INT);
        self.0.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The address of a server, as pages have it.
const ADDRESS: [(&str, &str); 2] = [
    (r"https://127\.0\.0\.1:\d+", "https://192.0.2.7:8740"),
    (r"http://127\.0\.0\.1:\d+", "http://127.0.0.1:8740"),
];

#[test]
fn a_decision_that_two_people_make() {
    needs::program("curl");
    let place = Place::new();
    let mut server = None;
    let mut before = |place: &Place, line: &str| match line {
        "aye serve" => {
            server = Some(Server::start(place, &[]));
            "cat ../said".to_owned()
        }
        "aye show last | grep decisions -A 2" => {
            for name in ["ann", "bob"] {
                let link = place.aye(&["people", "link", name]).ok().stdout;
                Browser::sign_in(place, link.trim()).proceed(place);
            }
            until_completed(place);
            line.to_owned()
        }
        _ => with_a_yes(line),
    };
    let tidy = |text: &str| same(text, &ADDRESS);
    let mut around = Around { before: Some(&mut before), tidy: Some(&tidy), ..Around::default() };
    follow_with("how-to/two-approvers.md", &place, &mut around);
}

#[test]
fn the_page_and_the_phone() {
    needs::program("curl");
    let place = Place::new();
    files_of("tutorials/first-question.md", &place);
    // The program that opens a browser hands it the file.
    let opener = place.write("../bin/xdg-open", "#!/bin/sh\ncp \"$1\" \"$HOME/opened.html\"\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(opener, mode).unwrap();
    let (mut server, mut link) = (None, String::new());
    let mut before = |place: &Place, line: &str| match line {
        "aye serve" => {
            server = Some(Server::start(place, &[]));
            "cat ../said".to_owned()
        }
        "aye serve open" => format!("PATH=\"$HOME/bin:$PATH\" {line}"),
        "aye serve --listen 192.0.2.7:8740 --remote --tls-self-signed" => {
            server.take().unwrap().stop();
            server = Some(Server::start(place, &["--remote", "--tls-self-signed"]));
            "cat ../said".to_owned()
        }
        "aye people link me" => {
            link = place.aye(&["people", "link", "me"]).ok().stdout.trim().to_owned();
            format!("echo '{link}'")
        }
        "aye show last" => {
            let opened = place.read("../opened.html");
            let link = opened.split('"').find(|part| part.starts_with("http")).unwrap();
            Browser::sign_in(place, link).proceed(place);
            until_completed(place);
            line.to_owned()
        }
        "aye show last | grep decisions -A 1" => {
            Browser::sign_in(place, &link).proceed(place);
            until_completed(place);
            line.to_owned()
        }
        _ => with_a_yes(line),
    };
    let tidy = |text: &str| same(text, &ADDRESS);
    let mut around = Around { before: Some(&mut before), tidy: Some(&tidy), ..Around::default() };
    follow_with("tutorials/page-and-phone.md", &place, &mut around);
    // The phone is signed out, and nobody is left who could sign in.
    assert_eq!(place.aye(&["people", "list", "--json"]).ok().json(), json!([]));
}
