//! An assistant proposes a change of a skill's file; a person accepts it, in the
//! inbox or with `aye patch`, and nobody else does.

use serde_json::{Value, json};

use crate::cli::harness::until;

use super::client::{Client, Era, InboxView};

const PLAN: &str = "
steps:
  - name: plan
    compute: |
      result = {'sha': [][0]}
  - { name: ship, shell: touch shipped }";

const FIXED: &str = "      result = {'sha': 'abc', 'note': 'a ** b `c`'}";

fn fix(about: &str) -> Value {
    json!({
        "skill": "plan", "about": about,
        "old": "      result = {'sha': [][0]}", "new": FIXED,
    })
}

fn file(desk: &InboxView) -> String {
    desk.read("skills/plan.yaml")
}

fn question(desk: &InboxView) -> Value {
    let inbox = desk.aye(&["inbox", "--json"]).ok().json();
    assert_eq!(inbox.as_array().unwrap().len(), 1, "{inbox}");
    inbox[0].clone()
}

#[test]
fn a_person_accepts_it_in_the_inbox_and_the_assistant_cannot() {
    let desk = InboxView::with(&[("plan", PLAN)]);
    let before = file(&desk);
    let mut client = Client::new(&desk);
    let asks = client.call("skill_change", fix("The name is `inputs`."));
    assert_eq!(asks.status(), "awaiting_confirmation", "{}", asks.text());
    let told = asks.ok();
    assert_eq!(told["relayable"], false, "{told}");
    assert!(told["answered_by"].as_str().unwrap().starts_with("a person, not through you"));
    let message = told["message"].as_str().unwrap();
    assert!(message.contains("| -      result = {'sha': [][0]}"), "{message}");
    assert!(message.contains(&format!("| +{FIXED}")), "{message}");
    for choice in ["proceed", "yes"] {
        let own = json!({ "execution_id": asks.id(), "choice": choice });
        let why = client.call("skill_continue", own).refused();
        assert!(why.contains("by a person, not through an assistant"), "{why}");
    }
    assert_eq!(file(&desk), before);
    // What a person sees is what is written: no mark is taken out of it.
    let listed = desk.aye(&["inbox"]).ok();
    assert!(listed.stdout.contains("change-plan"), "{}", listed.all());
    let id = question(&desk)["question"].as_str().unwrap().to_owned();
    desk.aye(&["answer", &id, "proceed"]).ok();
    let done = client.call("skill_status", json!({ "execution_id": asks.id(), "wait": 45 }));
    assert_eq!(done.status(), "completed", "{}", done.text());
    assert_eq!(file(&desk), before.replace("      result = {'sha': [][0]}", FIXED));
    assert_eq!(desk.decision()["prompter"], "command");
    assert_eq!(client.run("plan").status(), "completed");
}

#[test]
fn aye_patch_names_it() {
    let desk = InboxView::with(&[("plan", PLAN)]);
    let mut client = Client::new(&desk);
    client.call("skill_change", fix("The name is wrong.")).ok();
    let patched = desk.aye(&["patch", "plan", "--yes"]).ok();
    assert!(patched.all().contains("changed skills/plan.yaml"), "{}", patched.all());
    assert!(file(&desk).contains(FIXED));
    // No more is proposed.
    let nothing = desk.aye(&["patch", "plan", "--yes"]);
    assert!(nothing.stderr.contains("there is no run `plan`"), "{}", nothing.all());
}

#[test]
fn a_no_leaves_the_file_and_a_form_is_not_a_person() {
    let desk = InboxView::with(&[("plan", PLAN)]);
    let before = file(&desk);
    let can = json!({ "elicitation": { "form": {} } });
    let mut client = Client::that_can(&desk, Era::Legacy, can);
    client.answers = vec![json!({ "action": "accept", "content": { "choice": "proceed" } })];
    let asks = client.call("skill_change", fix("Accept this."));
    assert_eq!(asks.status(), "awaiting_confirmation", "{}", asks.text());
    assert!(client.forms.is_empty(), "{:?}", client.forms);
    let id = question(&desk)["question"].as_str().unwrap().to_owned();
    desk.aye(&["answer", &id, "cancel"]).ok();
    until("the run is over", || desk.aye(&["inbox", "--json"]).stdout.trim() == "[]");
    assert_eq!(file(&desk), before);
}

#[test]
fn what_somebody_wrote_meanwhile_is_not_undone() {
    let desk = InboxView::with(&[("plan", PLAN)]);
    let mut client = Client::new(&desk);
    let asks = client.call("skill_change", fix("The name is wrong."));
    let theirs = file(&desk).replace("touch shipped", "touch shipped-by-ada");
    desk.write("skills/plan.yaml", &theirs);
    let id = question(&desk)["question"].as_str().unwrap().to_owned();
    desk.aye(&["answer", &id, "proceed"]).ok();
    let failed = client.call("skill_status", json!({ "execution_id": asks.id(), "wait": 45 }));
    assert_eq!(failed.status(), "failed", "{}", failed.text());
    assert!(failed.text().contains("has changed since this was proposed"), "{}", failed.text());
    assert_eq!(file(&desk), theirs);
}

#[test]
fn what_cannot_be_proposed_is_refused_with_what_to_do() {
    let desk = InboxView::with(&[("plan", PLAN)]);
    std::os::unix::fs::symlink("plan.yaml", desk.work().join("skills/link.yaml")).unwrap();
    let mut client = Client::new(&desk);
    let long = "\n      # x".repeat(9000);
    for (old, new, said) in [
        ("nothing of the kind", "x", "is not in the file"),
        ("a", "x", "times"),
        ("", "x", "is empty"),
        ("touch shipped", "touch \u{1b}[2J", "control character"),
        ("name: ship", "nam: ship", "would have errors"),
        ("[][0]}", &format!("1}}{long}"), "that is too long to review"),
        ("touch shipped", "touch shipped", "the change would be invisible"),
    ] {
        let args = json!({ "skill": "plan", "old": old, "new": new, "about": "x" });
        let why = client.call("skill_change", args).refused();
        assert!(why.contains(said), "{old:?} {new:?}: {why}");
    }
    let other = json!({ "skill": "../../etc/passwd", "old": "root", "new": "x", "about": "x" });
    assert!(client.call("skill_change", other).refused().contains("no skill"));
    assert_eq!(desk.aye(&["runs", "--json"]).stdout.trim(), "[]");
    for number in 0..10 {
        client.call("skill_change", fix(&format!("number {number}"))).ok();
    }
    let why = client.call("skill_change", fix("one more")).refused();
    assert!(why.contains("10 proposed changes wait"), "{why}");
}

#[test]
fn nothing_is_proposed_in_a_project_that_nobody_trusts() {
    let desk = InboxView::untrusted(&[("plan", PLAN)]);
    let mut client = Client::new(&desk);
    let why = client.call("skill_change", fix("x")).refused();
    assert!(why.contains("trust"), "{why}");
    assert_eq!(desk.aye(&["runs", "--json"]).stdout.trim(), "[]");
}

/// What an assistant sends ends with a line break; the last block of a file may not.
#[test]
fn a_block_without_a_final_newline_is_patched() {
    let skill = "name: last\nsteps:\n  - name: plan\n    on_error: ask\n    compute: |\n      \
        result = [][0]";
    let desk = InboxView::with(&[]);
    desk.write("skills/last.yaml", skill);
    let mut client = Client::new(&desk);
    let failed = client.run("last");
    assert_eq!(failed.status(), "compute_error", "{}", failed.text());
    let args = json!({
        "execution_id": failed.id(), "step": "plan", "args": { "code": "result = 7\n" },
    });
    let asks = client.call("skill_retry_step", args);
    assert_eq!(asks.status(), "awaiting_confirmation", "{}", asks.text());
    let id = question(&desk)["question"].as_str().unwrap().to_owned();
    desk.aye(&["answer", &id, "proceed"]).ok();
    let done = client.call("skill_status", json!({ "execution_id": asks.id(), "wait": 45 }));
    assert_eq!(done.status(), "completed", "{}", done.text());
    desk.aye(&["patch", "last", "--yes"]).ok();
    assert_eq!(desk.read("skills/last.yaml"), skill.replace("[][0]", "7"));
}

/// A diff of 60 KiB is proposed, shown as a whole to the person, and written as it was shown.
#[test]
fn a_long_change_is_shown_in_full_and_the_answer_covers_it() {
    let desk = InboxView::with(&[("plan", PLAN)]);
    let before = file(&desk);
    let lines = |count: usize| -> String {
        (0..count).map(|n| format!("\n      # line {n} {}", "x".repeat(50))).collect()
    };
    let new = format!("{FIXED}{}", lines(850));
    assert!(new.len() > 55_000, "{}", new.len());
    let args = |new: &str| json!({ "skill": "plan", "about": "Long.", "old": "      result = {'sha': [][0]}", "new": new });
    let mut client = Client::new(&desk);
    let asks = client.call("skill_change", args(&new));
    assert_eq!(asks.status(), "awaiting_confirmation", "{}", asks.text());
    // A pause stays within its budget and says where the rest is.
    let told = asks.ok();
    assert!(told.to_string().len() <= 4096, "{}", told.to_string().len());
    let cut = told["message_cut"].as_str().unwrap();
    assert!(cut.contains("skill_logs with step `apply`"), "{cut}");
    assert!(asks.text().contains("skill_logs with step `apply`"), "{}", asks.text());
    let more = client.call("skill_logs", json!({ "execution_id": asks.id(), "step": "apply" }));
    let more = more.ok();
    let asked = more["asked"].as_str().unwrap();
    assert!(asked.contains("| +      # line 80 xxx"), "{asked}");
    // The person sees every line, and the answer is bound to them.
    let listed = desk.aye(&["inbox"]).ok().stdout;
    assert!(listed.contains("# line 849 xxx"), "{}", &listed[..2000]);
    let whole = question(&desk);
    assert!(whole["message"].as_str().unwrap().contains("| +      # line 849 xxx"));
    let digest = whole["details"]["digest"].as_str().unwrap().to_owned();
    let id = whole["question"].as_str().unwrap().to_owned();
    desk.aye(&["answer", &id, "proceed"]).ok();
    let done = client.call("skill_status", json!({ "execution_id": asks.id(), "wait": 45 }));
    assert_eq!(done.status(), "completed", "{}", done.text());
    assert_eq!(file(&desk), before.replace("      result = {'sha': [][0]}", &new));
    // One line less is another question.
    desk.write("skills/plan.yaml", &before);
    let other = format!("{FIXED}{}", lines(849));
    client.call("skill_change", args(&other)).ok();
    assert_ne!(question(&desk)["details"]["digest"], digest.as_str());
}

/// What failed to be written is asked about again before it is tried again.
#[test]
fn an_assistant_does_not_retry_a_failed_change() {
    let desk = InboxView::with(&[("plan", PLAN)]);
    let mut client = Client::new(&desk);
    let asks = client.call("skill_change", fix("The name is wrong."));
    let theirs = file(&desk).replace("touch shipped", "touch shipped-by-ada");
    let before = file(&desk);
    desk.write("skills/plan.yaml", &theirs);
    let id = question(&desk)["question"].as_str().unwrap().to_owned();
    desk.aye(&["answer", &id, "proceed"]).ok();
    let failed = client.call("skill_status", json!({ "execution_id": asks.id(), "wait": 45 }));
    assert_eq!(failed.status(), "failed", "{}", failed.text());
    // It would succeed now, but nobody has agreed to that.
    desk.write("skills/plan.yaml", &before);
    let args = json!({ "execution_id": failed.id(), "step": "apply", "args": {} });
    client.call("skill_retry_step", args);
    assert_eq!(file(&desk), before);
    assert!(!file(&desk).contains(FIXED));
}
