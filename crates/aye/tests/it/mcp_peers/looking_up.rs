//! The four weeks of a fix that looks something up, with an assistant.

use serde_json::{Value, json};

use crate::memory::lookup::{FIRST, SECOND, SKILL, furnish};

use super::peer::{Peer, with_each};
use super::room::{Room, run};

fn release(peer: &mut Peer, image: &str, tag: &str) -> super::peer::Reply {
    run(peer, "release", json!({ "image": image, "tag": tag }))
}

fn gives_up(peer: &mut Peer, room: &Room, id: &str) {
    peer.call("skill_cancel", json!({ "execution_id": id }));
    room.ends("cancelled");
}

fn four_weeks(peer: &mut Peer, room: &Room) {
    // Week 1: it fails. The assistant looks the tag up, tries again with the full name that it
    // found, and how it was found is proposed.
    let failed = release(peer, "app", "abc123").stands("error_recovery_needed");
    assert_eq!(failed.data["args"]["image_tag"], "abc123", "{failed:#?}");
    let tag = json!({ "tool": "tags", "args": { "image": "app", "tag": "abc123" } });
    let looked = peer.call("tool_try", tag).stands("completed");
    let full = looked.data["outputs"]["result"]["full_sha"].clone();
    assert_eq!(full, FIRST, "{looked:#?}");
    let retry = json!({
        "execution_id": failed.id(), "step": "roll", "args": { "image_tag": full },
    });
    let done = peer.call("skill_retry_step", retry).stands("completed");
    let proposal = &done.data["proposals"][0];
    assert!(proposal["id"].as_str().unwrap().starts_with("fix-"), "{done:#?}");
    let agreeing = proposal["agreeing"].as_str().unwrap();
    assert!(agreeing.contains("`image_tag` becomes") && agreeing.contains(FIRST), "{agreeing}");
    let learned = peer.call(
        "learn_tool_fix",
        json!({
            "tool": "deploy", "error": "Error: manifest unknown: abc123",
            "first": {
                "tool": "tags", "with": { "image": "{{ args.image }}", "tag": "{{ args.image_tag }}" },
            },
            "args": { "image_tag": "{{ first.full_sha }}" },
            "about": "the registry knows the full name",
        }),
    );
    let id = learned.data["id"].as_str().unwrap_or_else(|| panic!("{learned:#?}")).to_owned();

    // Week 2: before a person agreed it is only shown; after that nobody is asked.
    let failed = release(peer, "web", "def456").stands("error_recovery_needed");
    let unused = failed.data["unused_fixes"].to_string();
    assert!(unused.contains("is proposed: the registry knows the full name"), "{unused}");
    assert!(!room.read("deploys").contains(SECOND));
    gives_up(peer, room, &failed.id());
    let inbox = room.aye(&["inbox"]).ok().stdout;
    assert!(inbox.contains("proposed fix: when `deploy` fails"), "{inbox}");
    let doctor = room.aye(&["doctor"]).stdout;
    assert!(doctor.contains("wait for you to agree"), "{doctor}");
    room.aye(&["memory", "agree", &id, "--yes"]).ok();
    let healed = release(peer, "web", "def456").stands("completed");
    assert!(room.read("deploys").ends_with(&format!("web {SECOND}\n")));
    let said = healed.data["memory"].to_string();
    assert!(
        said.contains("known error: trying `fix-") && said.contains("repaired `roll`"),
        "{said}"
    );
    assert_eq!(room.decisions(), [], "nobody was asked");

    // Week 3: a new error.
    let failed = release(peer, "web", "broken").stands("error_recovery_needed");
    assert_eq!(failed.data["memory"], Value::Null, "{failed:#?}");
    gives_up(peer, room, &failed.id());

    // Week 4: the registry is gone; twice, and the fix is not used any more.
    room.write("down", "");
    for tag in ["0aa111", "0aa222"] {
        let failed = release(peer, "web", tag).stands("error_recovery_needed");
        let said = failed.data["memory"].to_string();
        assert!(said.contains("did not repair `roll`"), "{said}");
        gives_up(peer, room, &failed.id());
    }
    let failed = release(peer, "web", "0aa333").stands("error_recovery_needed");
    let unused = failed.data["unused_fixes"].to_string();
    assert!(unused.contains("it failed twice in a row"), "{unused}");
    assert!(!failed.data["memory"].to_string().contains("did not repair"), "{failed:#?}");
    gives_up(peer, room, &failed.id());
}

#[test]
fn what_was_looked_up_once_is_looked_up_again() {
    with_each(|peer| {
        let room = Room::new();
        room.write("skills/release.yaml", SKILL);
        furnish(&room);
        peer.connect_with(&room, json!({ "elicitation": false }));
        four_weeks(peer, &room);
    });
}
