//! Webhooks: what is sent, and what they are signed with.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::json;

use super::receiver::Receiver;
use super::{messages, place_with};
use crate::cli::harness::Place;
use crate::needs;

/// The HMAC as another program computes it.
pub(crate) fn hmac(secret: &str, text: &str) -> String {
    needs::program("openssl");
    let mut child = Command::new("openssl")
        .args(["dgst", "-sha256", "-hmac", secret])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    said.trim().rsplit(' ').next().unwrap().to_owned()
}

#[test]
fn a_question_is_posted_with_a_signature_over_time_and_body() {
    let receiver = Receiver::new();
    let place = place_with(&format!(
        "[notify.hook]\nkind = \"webhook\"\nurl = \"{}/in?x=1\"\nsecret = {{ env = \"HOOK\" }}\n\
         person = \"ann\"\n",
        receiver.url()
    ));
    let ran = place.command(&["run", "gate", "--no-input"]).env("HOOK", "k3y").output().unwrap();
    assert_eq!(ran.status.code(), Some(6));
    let sent = receiver.until(1);
    assert_eq!((sent[0].method.as_str(), sent[0].path.as_str()), ("POST", "/in?x=1"));
    let signature = sent[0].header("aye-signature").unwrap();
    let time = signature.strip_prefix("t=").unwrap().split(',').next().unwrap();
    let expected = hmac("k3y", &format!("{time}.{}", sent[0].body));
    assert_eq!(signature, format!("t={time},v1={expected}"));
    assert_ne!(signature, format!("t={time},v1={}", hmac("other", &sent[0].body)));
    let body = sent[0].json();
    let run = place.last();
    assert_eq!(body["event"], "question");
    assert_eq!(body["run"], json!(run));
    assert_eq!(body["question"], json!(format!("{run}-1")));
    assert_eq!(body["title"], "gate: Really");
    assert_eq!(body["person"], "ann");
    assert_eq!(body["asked"]["message"], "Ship it?");
    assert_eq!(body["asked"]["options"][0]["value"], "proceed");
    assert_eq!(messages(&place)[0]["state"], "sent");
}

#[test]
fn how_much_is_told_is_for_the_channel_to_say() {
    let receiver = Receiver::new();
    let channel = |name: &str, show: &str| {
        format!(
            "[notify.{name}]\nkind = \"webhook\"\nurl = \"{}/{name}\"\nshow = \"{show}\"\n",
            receiver.url()
        )
    };
    let all: String = ["full", "title", "pointer"].iter().map(|show| channel(show, show)).collect();
    let place = place_with(&all);
    assert_eq!(place.aye(&["run", "gate", "--no-input"]).code, 6);
    let sent = receiver.until(3);
    let of = |path: &str| sent.iter().find(|one| one.path == path).unwrap().body.clone();
    assert!(of("/full").contains("Ship it?") && of("/full").contains("Really"));
    assert!(!of("/title").contains("Ship it?") && of("/title").contains("Really"));
    let pointer = of("/pointer");
    assert!(!pointer.contains("Ship it?") && !pointer.contains("Really"), "{pointer}");
    assert!(!pointer.contains("gate"), "{pointer}");
    assert!(pointer.contains(&place.last()));
}

/// The body that a template makes of a message with a hostile question.
fn templated(template: &str) -> serde_json::Value {
    let receiver = Receiver::new();
    let place = Place::new();
    place.write(
        "skills/gate.yaml",
        "name: gate\nsteps:\n  - name: sure\n    confirm:\n      title: \"<!channel> *bold* @everyone\"\n      \
         message: \"``` ````` </script> & \\\"quoted\\\" \\u001b[31m [x](http://evil)\"\n",
    );
    super::configure(
        &place,
        &format!(
            "[notify.chat]\nkind = \"webhook\"\nurl = \"{}\"\nlink = \"https://aye.example\"\n{template}\n",
            receiver.url()
        ),
    );
    assert_eq!(place.aye(&["run", "gate", "--no-input"]).code, 6);
    let sent = receiver.until(1);
    assert!(!sent[0].body.contains('\u{1b}'), "{}", sent[0].body);
    sent[0].json()
}

#[test]
fn slack_gets_plain_text_blocks_and_no_mention() {
    let body = templated("template = \"slack\"");
    assert!(body["text"].as_str().unwrap().contains("&lt;!channel&gt;"), "{body}");
    let blocks = body["blocks"].as_array().unwrap();
    for block in &blocks[..2] {
        assert_eq!(block["text"]["type"], "plain_text", "{block}");
    }
    assert!(blocks[1]["text"]["text"].as_str().unwrap().contains("</script> & \"quoted\""));
    let url = blocks[2]["elements"][0]["url"].as_str().unwrap();
    assert!(url.starts_with("https://aye.example/#/questions/"), "{url}");
}

#[test]
fn teams_gets_an_adaptive_card_of_text_runs() {
    let body = templated("template = \"teams\"");
    let card = &body["attachments"][0];
    assert_eq!(card["contentType"], "application/vnd.microsoft.card.adaptive");
    assert_eq!(card["content"]["type"], "AdaptiveCard");
    for block in card["content"]["body"].as_array().unwrap() {
        assert_eq!(block["type"], "RichTextBlock");
        assert_eq!(block["inlines"][0]["type"], "TextRun");
    }
    assert_eq!(card["content"]["actions"][0]["type"], "Action.OpenUrl");
}

#[test]
fn discord_mentions_nobody() {
    let body = templated("template = \"discord\"");
    assert_eq!(body["allowed_mentions"], json!({ "parse": [] }));
    let content = body["content"].as_str().unwrap();
    assert_eq!(content.matches("```").count(), 2, "the block cannot be left: {content}");
}

#[test]
fn telegram_gets_text_without_a_parse_mode() {
    let body = templated("template = \"telegram\"\nchat = \"-42\"");
    assert_eq!(body["chat_id"], "-42");
    assert!(body.get("parse_mode").is_none(), "{body}");
    assert!(body["text"].as_str().unwrap().contains("*bold*"));
}

#[test]
fn a_template_of_ones_own_is_filled_in() {
    let body =
        templated("body = '{\"alert\": {{ title | tojson }}, \"what\": {{ event | tojson }}}'");
    assert_eq!(body["what"], "question");
    assert!(body["alert"].as_str().unwrap().contains("<!channel> *bold*"), "{body}");
}

#[test]
fn secrets_are_in_no_message() {
    let receiver = Receiver::new();
    let place = Place::new();
    place.write(
        "skills/gate.yaml",
        "name: gate\ninputs:\n  - { name: token, type: secret, from: { env: TOKEN } }\nsteps:\n  \
         - { name: fails, shell: 'echo tok-12345-abc >&2; exit 1', on_error: continue }\n  \
         - { name: sure, confirm: { message: 'Use {{ inputs.token }}?' } }\n",
    );
    let channel = |name: &str, more: &str| {
        format!(
            "[notify.{name}]\nkind = \"webhook\"\nurl = {{ env = \"WHERE\" }}\n\
             secret = {{ env = \"HOOK\" }}\ntoken = {{ file = \"token\" }}\n{more}\n"
        )
    };
    let config = channel("plain", "") + &channel("chat", "template = \"slack\"");
    super::configure(&place, &config);
    place.write("../.config/aye/token", "bearer-98765\n");
    let ran = place
        .command(&["run", "gate", "--no-input"])
        .env("TOKEN", "tok-12345-abc")
        .env("HOOK", "hook-secret-1")
        .env("WHERE", format!("{}/services/T000/path-secret", receiver.url()))
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(6), "{}", String::from_utf8_lossy(&ran.stderr));
    let sent = receiver.until(2);
    for one in &sent {
        assert!(one.body.contains("***"), "{one:?}");
        assert!(!one.all().contains("tok-12345-abc"), "{one:?}");
        assert!(!one.all().contains("hook-secret-1"), "{one:?}");
        assert!(!one.body.contains("bearer-98765") && !one.body.contains("path-secret"));
        assert_eq!(one.header("authorization"), Some("Bearer bearer-98765"));
    }
    let files = std::fs::read(place.home().join("journal.db")).unwrap();
    let text = String::from_utf8_lossy(&files);
    for secret in ["hook-secret-1", "bearer-98765", "path-secret"] {
        assert!(!text.contains(secret), "{secret} is in the journal");
    }
}
