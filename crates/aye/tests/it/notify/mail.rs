//! Mail through a real SMTP server: aiosmtpd, with STARTTLS and a password.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::{configure, messages};
use crate::cli::harness::{Place, until};
use crate::needs;

struct MailServer {
    child: Child,
    port: u16,
}

impl Drop for MailServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl MailServer {
    /// With a certificate for `localhost` that `cert.pem` vouches for.
    fn start(place: &Place) -> Self {
        needs::program("openssl");
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"])
            .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"])
            .args(["-addext", "basicConstraints=critical,CA:FALSE"])
            .args(["-keyout", "key.pem", "-out", "cert.pem"])
            .current_dir(place.work())
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        std::fs::create_dir(place.work().join("mail")).unwrap();
        let mut child = Command::new(needs::installed("python-mail/bin/python"))
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/notify/smtp.py"))
            .args(["mail", "cert.pem", "key.pem"])
            .current_dir(place.work())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, port: line.trim().parse().expect("its port") }
    }
}

fn place(password: &str) -> (Place, MailServer) {
    let place = Place::new();
    place.write(
        "skills/gate.yaml",
        "name: gate\nsteps:\n  - name: sure\n    confirm:\n      title: \"Really? \\r\\nBcc: evil@example.com\"\n      \
         message: \"Ship it?\\n.\\nQUIT \\u001b[31m\"\n",
    );
    let server = MailServer::start(&place);
    configure(
        &place,
        &format!(
            "[notify.mail]\nkind = \"email\"\nserver = \"localhost:{}\"\nfrom = \"Aye <aye@example.com>\"\n\
             to = [\"ann@example.com\", \"bob@example.com\"]\nuser = \"ann\"\npassword = \"{password}\"\n\
             link = \"https://aye.example\"\nbuttons = true\n",
            server.port
        ),
    );
    (place, server)
}

/// Starts the skill, and waits until its message was tried.
fn run(place: &Place, trusted: bool) -> Value {
    let mut command = place.command(&["run", "gate", "--detach"]);
    if trusted {
        command.env("SSL_CERT_FILE", place.work().join("cert.pem"));
    }
    assert!(command.output().unwrap().status.success());
    let tried = || messages(place).pop().filter(|row| row["result"].is_string());
    until("the message was tried", || tried().is_some());
    let row = tried().unwrap();
    place.aye(&["cancel", "last"]).ok();
    row
}

#[test]
fn a_question_is_mailed_over_starttls_with_a_link_and_no_button() {
    let (place, _server) = place("mail-pass-77");
    let row = run(&place, true);
    assert_eq!(row["state"], "sent", "{row}");
    until("the mail", || place.work().join("mail/0.json").exists());
    let mail: Value = serde_json::from_str(&place.read("mail/0.json")).unwrap();
    assert_eq!(mail["encrypted"], true);
    assert_eq!(mail["user"], "ann");
    assert_eq!(mail["from"], "aye@example.com");
    assert_eq!(mail["to"], serde_json::json!(["ann@example.com", "bob@example.com"]));
    let content = mail["content"].as_str().unwrap();
    let (head, body) = content.split_once("\r\n\r\n").expect("head and body");
    assert!(!head.to_lowercase().contains("\nbcc:"), "{head}");
    assert!(head.contains("Subject:") && head.contains("text/plain"), "{head}");
    assert!(body.contains("Ship it?") && body.contains("QUIT"), "{body}");
    assert!(!content.contains('\u{1b}'), "{content}");
    let link = format!("https://aye.example/#/questions/{}-1", place.last());
    let whole = body.replace("=\r\n", "");
    assert!(whole.contains(&link), "{body}");
    // Programs open what is in a mail: nothing in it answers.
    assert!(!content.contains("answer-token"), "{content}");
    assert!(!content.contains("mail-pass-77"));
}

#[test]
fn a_wrong_password_is_told_and_not_repeated() {
    let (place, _server) = place("wrong-pass-55");
    let row = run(&place, true);
    assert_eq!(row["state"], "waiting", "{row}");
    let why = row["result"].as_str().unwrap();
    assert!(why.contains("535") || why.to_lowercase().contains("auth"), "{why}");
    assert!(!why.contains("wrong-pass-55"), "{why}");
    assert!(!place.work().join("mail/0.json").exists());
}

#[test]
fn a_mail_server_with_a_certificate_of_nobody_is_refused() {
    let (place, _server) = place("mail-pass-77");
    let row = run(&place, false);
    assert_eq!(row["state"], "waiting", "{row}");
    assert!(row["result"].as_str().unwrap().contains("certificate"), "{row}");
    assert!(!place.work().join("mail/0.json").exists());
}
