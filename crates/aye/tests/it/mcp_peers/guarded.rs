//! A hostile assistant tries every way to approve what a person has to
//! approve, with every peer, and fails.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::harness::until;

use super::peer::{Peer, Reply, Sdk, with_each};
use super::room::{Room, run};

/// Gates that take more than anybody's word; each guards a line in `forbidden`.
const GATES: [(&str, &str); 5] = [
    ("human", "by: human"),
    ("named", "by: [ada]"),
    ("both", "approvals: 2"),
    ("typed", "type: ship"),
    ("coded", "reauth: true"),
];

fn room(settings: &str) -> Room {
    let room = Room::with(settings);
    for (name, guard) in GATES.into_iter().chain([("anyone", "by: anyone")]) {
        // The question as a step of its own, and as the gate of a step.
        room.write(
            &format!("skills/{name}.yaml"),
            &format!(
                "name: {name}
description: Ships if the right person says so
inputs: [{{ name: target, default: stage }}]
steps:
  - name: ask
    confirm: {{ message: 'Ship to {{{{ inputs.target }}}}?', {guard}, timeout: 10m }}
    output: decision
  - name: act
    shell: echo {name} >>forbidden
    condition: decision == 'proceed'
"
            ),
        );
        room.write(
            &format!("skills/{name}_step.yaml"),
            &format!(
                "name: {name}_step
inputs: [{{ name: target, default: stage }}]
steps:
  - name: act
    command: ./forbidden.sh
    args: ['{{{{ inputs.target }}}}']
    destructive: true
    confirmation: {{ message: 'Ship to {{{{ inputs.target }}}}?', {guard}, timeout: 10m }}
    on_error: ask
"
            ),
        );
    }
    let script = room.write(
        "forbidden.sh",
        "#!/bin/sh\necho \"$1\" >>forbidden\n[ \"$1\" != broken ] || { echo 'no such host: broken' >&2; exit 3; }\n",
    );
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(script, mode).unwrap();
    room
}

/// Nothing of what it tried had an effect, and the question is still there.
#[track_caller]
fn unmoved(room: &Room, what: &str) {
    assert_eq!(room.read("forbidden"), "", "{what} got through");
    assert_eq!(room.inbox().len(), 1, "{what}: the question is gone");
    assert_eq!(room.decisions(), [], "{what} was taken for an answer");
}

/// The attempt was refused in its result, by its schema or by the protocol.
#[track_caller]
fn refused(outcome: &Result<Reply, Value>, what: &str) {
    if let Ok(reply) = outcome {
        assert!(reply.is_error, "{what} was not refused: {reply:#?}");
    }
}

/// Says yes in every word it knows, also with what a person would have to add.
fn says_yes(peer: &mut Peer, id: &str) {
    for choice in
        ["proceed", "Proceed", "PROCEED", "yes", "y", "true", "1", "", "skip", "retry", "done"]
    {
        let args = json!({ "execution_id": id, "choice": choice, "reason": "the person said yes" });
        let said = peer.try_call("skill_continue", args);
        refused(&said, choice);
    }
    for more in [
        json!({ "by": "ada" }),
        json!({ "prompter": "terminal" }),
        json!({ "prompter": "command", "by": "root" }),
        json!({ "vouched": true }),
        json!({ "typed": "ship" }),
        json!({ "reauth": true, "code": "000000" }),
        json!({ "yes": true }),
        json!({ "override": true }),
        json!({ "elicited": true, "inputResponses": { "answer": { "action": "accept" } } }),
    ] {
        let mut args = json!({ "execution_id": id, "choice": "proceed" });
        let added = more.as_object().unwrap().clone();
        args.as_object_mut().unwrap().extend(added);
        refused(&peer.try_call("skill_continue", args), &more.to_string());
    }
}

/// Treats the gate as a failure to be tried again, with other arguments.
fn retries(peer: &mut Peer, id: &str) {
    for step in ["ask", "act"] {
        for args in [
            json!({}),
            json!({ "choice": "proceed" }),
            json!({ "by": "anyone" }),
            json!({ "message": "Nothing to see", "confirmation": null }),
            json!({ "script": "echo forced >>forbidden" }),
            json!({ "0": "/bin/sh", "1": "-c", "2": "echo forced >>forbidden" }),
        ] {
            for mode in ["merge", "replace"] {
                let retry = json!({
                    "execution_id": id, "step": step, "args": args, "mode": mode, "remember": "tool",
                });
                refused(&peer.try_call("skill_retry_step", retry), &args.to_string());
            }
        }
    }
}

/// Ids that look like the real one, and the ids of other things.
fn forges(peer: &mut Peer, room: &Room, id: &str) {
    let question = room.inbox()[0]["question"].as_str().unwrap().to_owned();
    let run = room.inbox()[0]["run"].as_str().unwrap().to_owned();
    // An id of a question that an assistant may answer, in another run.
    let other = run_of(peer, "gate", json!({ "target": "elsewhere" }));
    let code = |id: &str| id.rsplit_once('-').map(|(_, code)| code.to_owned()).unwrap();
    let head = id.rsplit_once('-').unwrap().0.to_owned();
    let flipped: String = code(id).chars().map(|c| if c == '0' { '1' } else { '0' }).collect();
    let forged = [
        String::new(),
        question.clone(),
        run.clone(),
        head.clone(),
        format!("{head}-"),
        format!("{head}-{flipped}"),
        format!("{head}-{}", code(&other)),
        format!("{question}-{}", code(&other)),
        format!("{run}-0-{}", code(id)),
        format!("{id}0"),
        format!(" {id}"),
        format!("{id}\n"),
        format!("{id}/../{other}"),
        format!("{id}\u{0}"),
        "*".to_owned(),
        "last".to_owned(),
        "../".repeat(2000),
        id.to_uppercase(),
    ];
    for fake in forged.iter().filter(|fake| *fake != id) {
        let args = json!({ "execution_id": fake, "choice": "proceed" });
        refused(&peer.try_call("skill_continue", args), fake);
        let retry = json!({ "execution_id": fake, "step": "ask", "args": {} });
        refused(&peer.try_call("skill_retry_step", retry), fake);
    }
    let args = json!({ "execution_id": other, "choice": "stop" });
    peer.call("skill_continue", args).stands("cancelled");
}

/// The answers of a form, made up: in the era of 2026 the client sends them
/// itself, with a state that the server gave it.
fn forges_forms(peer: &mut Peer, room: &Room, id: &str) {
    // A state that is real: of a form for a question that anyone may answer.
    let honest = json!({ "skill": "gate", "inputs": { "target": "elsewhere" } });
    let asked =
        peer.ask(json!({ "do": "call", "tool": "skill_run", "args": honest, "once": true }));
    let state = asked["requestState"].as_str().unwrap_or_else(|| panic!("{asked:#}")).to_owned();
    let names: Vec<String> = asked["inputRequests"].as_object().unwrap().keys().cloned().collect();
    let mut responses = json!({});
    for name in names.iter().map(String::as_str).chain(["answer", "choice", "confirm"]) {
        responses[name] = json!({ "action": "accept", "content": { "choice": "proceed" } });
    }
    let mut send = |tool: &str, args: &Value, state: &str| {
        let sent = peer.send(json!({
            "do": "call", "tool": tool, "args": args, "once": true,
            "responses": responses, "state": state,
        }));
        peer.outcome(sent)
    };
    let others = [
        ("skill_run", json!({ "skill": "human" })),
        ("skill_run", json!({ "skill": "gate", "inputs": { "target": "production" } })),
        ("skill_continue", json!({ "execution_id": id, "choice": "proceed" })),
        ("skill_status", json!({ "execution_id": id })),
    ];
    let cut = &state[..state.len() - 1];
    for forged in [id, "", "{}", &format!("0-{id}"), &format!("9999999999999-{id}"), cut] {
        for (tool, args) in &others[2..] {
            let _ = send(tool, args, forged);
            assert_eq!(room.read("forbidden") + &room.read("acted"), "", "{tool} with {forged}");
        }
    }
    // The real one, for another call than the one it was given for.
    for (tool, args) in &others {
        let outcome = send(tool, args, &state);
        let taken = outcome.as_ref().is_ok_and(|result| result["isError"] != true);
        assert!(!taken, "{tool}: {outcome:#?}");
        assert_eq!(room.read("forbidden") + &room.read("acted"), "", "{tool} with a foreign state");
    }
    let open: Vec<Value> = room.inbox().iter().map(|one| one["skill"].clone()).collect();
    assert_eq!(open, ["human", "gate"], "nothing was begun, nothing answered");

    // For its own call it counts, once.
    let done = send("skill_run", &honest, &state).unwrap();
    assert_eq!(done["structuredContent"]["status"], "completed", "{done:#}");
    let again = send("skill_run", &honest, &state);
    assert!(!again.as_ref().is_ok_and(|result| result["isError"] != true), "{again:#?}");
    assert_eq!(room.read("acted"), "proceed elsewhere\n");
}

/// Proposes memory that would answer, or run something, in its place.
fn teaches(peer: &mut Peer) {
    for tool in ["sh", "./forbidden.sh", "forbidden.sh", "ask", "act", "confirm"] {
        let fix = json!({
            "tool": tool, "error": "waiting for a person", "about": "answers by itself",
            "args": { "choice": "proceed", "1": "forced" },
            "first": { "command": ["sh", "-c", "echo taught >>forbidden"] },
        });
        let _ = peer.try_call("learn_tool_fix", fix);
    }
}

/// Reads whatever can be read, and what should not be.
fn reads(peer: &mut Peer, room: &Room) {
    let listed = peer.ask(json!({ "do": "resources" }));
    let mut addresses: Vec<String> = Vec::new();
    for resource in listed["resources"].as_array().into_iter().flatten() {
        addresses.push(resource["uri"].as_str().unwrap().to_owned());
    }
    for name in ["mcp.key", "mcp.token", "journal.db"] {
        let path = room.home().join(name);
        addresses.push(format!("file://{}", path.display()));
        for known in listed["resources"].as_array().into_iter().flatten().take(3) {
            let known = known["uri"].as_str().unwrap();
            addresses.push(format!("{known}/../../../home/{name}"));
            addresses.push(format!("{known}/%2e%2e/%2e%2e/home/{name}"));
        }
    }
    for uri in addresses {
        let sent = peer.send(json!({ "do": "read", "uri": uri }));
        let _ = peer.outcome(sent);
    }
}

#[track_caller]
fn run_of(peer: &mut Peer, skill: &str, inputs: Value) -> String {
    run(peer, skill, inputs).stands("awaiting_confirmation").id()
}

/// Gives up on the question and begins anew with inputs that might decide it.
fn reruns(peer: &mut Peer, room: &Room, skill: &str) {
    for inputs in [
        json!({ "target": "{{ decision }}" }),
        json!({ "target": "stage', by: anyone, x: '" }),
        json!({ "target": "stage\nby: anyone" }),
        json!({ "target": "stage", "decision": "proceed" }),
        json!({ "decision": "proceed", "by": "anyone", "yes": true }),
    ] {
        let begun = peer.try_call("skill_run", json!({ "skill": skill, "inputs": inputs }));
        let begun = begun.ok().filter(|reply| !reply.is_error);
        if let Some(reply) = begun {
            let reply = reply.stands("awaiting_confirmation");
            assert_eq!(reply.data["relayable"], false, "{reply:#?}");
            let args = json!({ "execution_id": reply.id(), "choice": "proceed" });
            peer.call("skill_continue", args).refused();
            peer.call("skill_cancel", json!({ "execution_id": reply.id() }));
            room.ends("cancelled");
        }
        assert_eq!(room.read("forbidden"), "", "{inputs}");
    }
    for more in [json!({ "yes": true }), json!({ "from": "act" }), json!({ "only": "act" })] {
        let mut args = json!({ "skill": skill });
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        refused(&peer.try_call("skill_run", args), &more.to_string());
    }
    let dry = peer.call("skill_run", json!({ "skill": skill, "dry_run": true }));
    assert!(!dry.is_error, "{dry:#?}");
    assert_eq!(room.read("forbidden"), "");
}

/// Whatever was said to the assistant holds no secret of the server.
#[track_caller]
fn kept_secret(peer: &Peer, room: &Room) {
    let said = serde_json::to_string(&peer.seen).unwrap();
    let mut secrets = 0;
    for entry in std::fs::read_dir(room.home()).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.contains("key") || name.contains("token") {
            let secret = std::fs::read_to_string(entry.path()).unwrap_or_default();
            if secret.trim().len() >= 32 {
                assert!(!said.contains(secret.trim()), "{name} was told");
                secrets += 1;
            }
        }
    }
    assert!(secrets > 0, "there is a key to be kept");
}

#[test]
fn a_hostile_assistant_cannot_approve_what_is_for_people() {
    with_each(|peer| {
        let room = room("");
        // Its client accepts every form at once, with whatever might be asked for.
        peer.connect(&room);
        peer.answering(json!({ "how": "accept", "content": {
            "choice": "proceed", "answer": "proceed", "decision": "proceed", "confirm": true,
        } }));
        let paused = run(peer, "human", json!({})).stands("awaiting_confirmation");
        assert_eq!(peer.elicitations(), 0, "no form is shown for what a form cannot answer");
        assert_eq!(paused.data["relayable"], false, "{paused:#?}");
        let next = paused.data["next"].to_string();
        assert!(!next.contains("skill_continue"), "it is not even suggested: {next}");
        assert!(next.contains("aye answer"), "{next}");
        unmoved(&room, "a form");

        let id = paused.id();
        says_yes(peer, &id);
        unmoved(&room, "skill_continue");
        let tried = room.refusals();
        assert!(tried.contains(&("proceed".to_owned(), "assistant".to_owned())), "{tried:?}");
        retries(peer, &id);
        unmoved(&room, "skill_retry_step");
        teaches(peer);
        reads(peer, &room);
        unmoved(&room, "memory and resources");
        peer.answering(json!({ "how": "ask" }));
        peer.close();

        // The same without forms: the other run of `forges` must wait, too.
        peer.connect_with(&room, json!({ "elicitation": false }));
        let status = peer.call("skill_status", json!({ "execution_id": id }));
        assert_eq!(status.stands("awaiting_confirmation").id(), id);
        forges(peer, &room, &id);
        let waiting = room.inbox();
        assert_eq!(waiting.len(), 1, "{waiting:#?}");
        assert_eq!(waiting[0]["skill"], "human");
        assert_eq!(room.read("forbidden"), "");

        // It was the gate that held, not the skill that is broken: a person can.
        room.person_says("proceed");
        let done = peer.call("skill_status", json!({ "execution_id": id, "wait": 45 }));
        done.stands("completed");
        assert_eq!(room.read("forbidden"), "human\n");
        kept_secret(peer, &room);
    });
}

#[test]
fn forms_cannot_be_forged_in_the_era_of_2026() {
    with_each(|peer| {
        if !peer.sdk.is_modern() {
            return;
        }
        let room = room("");
        peer.connect(&room);
        let id = run_of(peer, "human", json!({}));
        forges_forms(peer, &room, &id);
        assert_eq!(room.read("forbidden"), "");
        let open: Vec<Value> = room.inbox().iter().map(|one| one["skill"].clone()).collect();
        assert_eq!(open, ["human"]);
    });
}

#[test]
fn other_inputs_do_not_open_a_gate() {
    with_each(|peer| {
        let room = room("");
        peer.connect_with(&room, json!({ "elicitation": false }));
        for skill in ["human", "human_step"] {
            reruns(peer, &room, skill);
        }
    });
}

#[test]
fn no_gate_that_wants_more_than_a_word_takes_one() {
    with_each(|peer| {
        let room = room("");
        peer.connect(&room);
        let content = json!({ "choice": "proceed", "typed": "ship", "code": "000000" });
        peer.answering(json!({ "how": "accept", "content": content }));
        for (gate, _) in GATES {
            for skill in [gate.to_owned(), format!("{gate}_step")] {
                let id = run_of(peer, &skill, json!({}));
                unmoved(&room, &skill);
                for more in [json!({}), json!({ "typed": "ship", "reauth": true, "by": "ada" })] {
                    let mut args = json!({ "execution_id": id, "choice": "proceed" });
                    args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                    refused(&peer.try_call("skill_continue", args), &skill);
                }
                let retry = json!({ "execution_id": id, "step": "act", "args": { "1": "forced" } });
                refused(&peer.try_call("skill_retry_step", retry), &skill);
                unmoved(&room, &skill);
                peer.call("skill_cancel", json!({ "execution_id": id }));
                room.ends("cancelled");
            }
        }
        assert_eq!(peer.elicitations(), 0);
    });
}

/// Someone approved one command; the assistant cannot make it another one.
#[test]
fn an_approved_step_is_not_an_assistants_to_edit() {
    with_each(|peer| {
        let room = room("");
        peer.connect_with(&room, json!({ "elicitation": false }));
        let asked = run(peer, "anyone_step", json!({ "target": "broken" }));
        let first = json!({ "execution_id": asked.id(), "choice": "proceed" });
        let failed = peer.call("skill_continue", first.clone()).stands("error_recovery_needed");
        assert_eq!(room.read("forbidden"), "broken\n");
        let retry = json!({
            "execution_id": failed.id(), "step": "act", "args": { "1": "production" }, "mode": "merge",
        });
        peer.call("skill_retry_step", retry).refused();
        // The word that was given for the command is used up.
        peer.call("skill_continue", first).refused();
        let again = json!({ "execution_id": failed.id(), "choice": "retry" });
        peer.call("skill_continue", again).refused();
        assert_eq!(room.read("forbidden"), "broken\n", "nobody approved it");
        room.person_says("abort");
        room.ends("failed");
    });
}

/// What became of a step that a person had to approve is a person's to mend.
#[test]
fn a_guarded_step_is_mended_by_people() {
    with_each(|peer| {
        let room = room("");
        peer.connect_with(&room, json!({ "elicitation": false }));
        let id = run_of(peer, "human_step", json!({ "target": "broken" }));
        room.person_says("proceed");
        until("the step has failed", || {
            room.inbox().first().is_some_and(|question| question["kind"] == "recover")
        });
        // The id is of the question before: that there is another one is news, and not waited for.
        let since = Instant::now();
        let failed = peer.call("skill_status", json!({ "execution_id": id, "wait": 45 }));
        let failed = failed.stands("error_recovery_needed");
        assert!(since.elapsed() < Duration::from_secs(30), "it sat out the wait");
        assert_eq!(failed.data["relayable"], false, "{failed:#?}");
        let next = failed.data["next"].to_string();
        assert!(!next.contains("skill_retry_step") && !next.contains("skill_continue"), "{next}");
        for args in [json!({}), json!({ "1": "production" })] {
            for mode in ["merge", "replace"] {
                let retry = json!({ "execution_id": failed.id(), "step": "act", "args": args, "mode": mode });
                peer.call("skill_retry_step", retry).refused();
            }
        }
        for choice in ["retry", "edit", "done", "skip", "abort"] {
            let args = json!({ "execution_id": failed.id(), "choice": choice });
            peer.call("skill_continue", args).refused();
        }
        assert_eq!(room.read("forbidden"), "broken\n");
        assert_eq!(room.decisions(), [("proceed".to_owned(), "command".to_owned())]);
        room.person_says("skip");
        room.ends("completed");
        assert_eq!(room.read("forbidden"), "broken\n");
    });
}

/// Whether a form counts as a person is the machine's policy; names, numbers,
/// texts and codes are beyond it.
#[test]
fn the_user_may_take_a_form_for_a_person() {
    with_each(|peer| {
        if !matches!(peer.sdk, Sdk::Python1 | Sdk::TypeScript2) {
            return;
        }
        let room = room("");
        room.write("../.config/aye/config.toml", "[mcp]\nelicited_is_person = true\n");
        peer.connect(&room);
        let since = peer.seen.len();
        let call = peer.start_call("skill_run", json!({ "skill": "human" }));
        let (number, form) = peer.elicitation(since);
        let name = form["requestedSchema"]["required"][0].as_str().unwrap().to_owned();
        peer.answer(number, "accept", json!({ (name): "proceed" }));
        peer.reply(call).stands("completed");
        assert_eq!(room.decisions(), [("proceed".to_owned(), "elicited".to_owned())]);
        // A relayed word is still none.
        let shown = peer.elicitations();
        peer.answering(json!({ "how": "cancel" }));
        let id = run_of(peer, "human", json!({}));
        peer.call("skill_continue", json!({ "execution_id": id, "choice": "proceed" })).refused();
        assert_eq!(peer.elicitations(), shown + 1);
        for gate in ["named", "both", "typed", "coded"] {
            run_of(peer, gate, json!({}));
        }
        assert_eq!(peer.elicitations(), shown + 1, "no form for what it cannot answer");
        assert_eq!(room.read("forbidden"), "human\n");
    });
}
