//! An assistant proposes a change of a skill's file; a person accepts it in the
//! inbox, also where the client can show forms.

use serde_json::json;

use super::peer::{Peer, with_each};
use super::room::{Room, run};
use super::service::Service;

const PLAN: &str = "\
name: plan
description: Plans and ships
steps:
  - name: plan
    compute: |
      result = {'sha': [][0]}
    on_error: ask
  - { name: ship, shell: echo shipped >>shipped }
";

const WRONG: &str = "      result = {'sha': [][0]}";
const RIGHT: &str = "      result = {'sha': 'abc'}";

fn proposes(peer: &mut Peer, room: &Room) {
    room.write("skills/plan.yaml", PLAN);
    let failed = run(peer, "plan", json!({}));
    assert!(failed.data["error"].to_string().contains("IndexError"), "{failed:#?}");
    peer.call("skill_cancel", json!({ "execution_id": failed.id() }));
    room.ends("cancelled");
    let forms = peer.elicitations();
    let change = json!({
        "skill": "plan", "about": "The list is empty.", "old": WRONG, "new": RIGHT,
    });
    let asked = peer.call("skill_change", change).stands("awaiting_confirmation");
    assert_eq!(asked.data["relayable"], false, "{asked:#?}");
    for shown in [format!("| -{WRONG}"), format!("| +{RIGHT}")] {
        assert!(asked.data["message"].as_str().unwrap().contains(&shown), "{asked:#?}");
        // A client that shows text only shows the difference too.
        assert!(asked.text.contains(&shown), "{}", asked.text);
    }
    let own = json!({ "execution_id": asked.id(), "choice": "proceed" });
    peer.call("skill_continue", own).refused();
    // A form is not a person: none was shown.
    assert_eq!(peer.elicitations(), forms);
    assert_eq!(room.read("skills/plan.yaml"), PLAN);
    room.person_says("proceed");
    let wait = json!({ "execution_id": asked.id(), "wait": 45 });
    peer.call("skill_status", wait).stands("completed");
    assert_eq!(room.read("skills/plan.yaml"), PLAN.replace(WRONG, RIGHT));
    run(peer, "plan", json!({})).stands("completed");
    assert_eq!(room.read("shipped"), "shipped\n");
}

#[test]
fn a_change_is_proposed_and_accepted_by_a_person_with_and_without_forms() {
    with_each(|peer| {
        for forms in [false, true] {
            let room = Room::new();
            peer.connect_with(&room, json!({ "elicitation": forms }));
            proposes(peer, &room);
            peer.close();
            let room = Room::new();
            let service = Service::start(&room);
            let (url, token) = (&service.url, &service.token);
            peer.connect_http_with(url, token, json!({ "elicitation": forms }));
            proposes(peer, &room);
            peer.close();
        }
    });
}
