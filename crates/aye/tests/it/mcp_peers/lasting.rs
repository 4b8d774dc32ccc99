//! What outlives a call, a connection, a server: and what does not.

use std::path::Path;

use serde_json::json;

use crate::cli::harness::{AYE, Place, until};

use super::peer::{Peer, Sdk, with_each};
use super::room::{Room, run};
use super::service::Service;

/// After its time an assistant's id is worth nothing; a person can still answer.
#[test]
fn an_id_expires() {
    with_each(|peer| {
        let room = Room::with("[mcp]\nexpires = \"1s\"\n");
        peer.connect_with(&room, json!({ "elicitation": false }));
        let paused = run(peer, "gate", json!({})).stands("awaiting_confirmation");
        let expires: jiff::Timestamp = paused.data["expires_at"].as_str().unwrap().parse().unwrap();
        until("the id has expired", || jiff::Timestamp::now() > expires);
        let args = json!({ "execution_id": paused.id(), "choice": "proceed" });
        let late = peer.call("skill_continue", args).refused();
        assert!(late.text.contains("expired"), "{late:?}");
        assert_eq!(room.inbox().len(), 1);
        assert_eq!(room.read("acted"), "");
        room.person_says("proceed");
        room.ends("completed");
        assert_eq!(room.decisions(), [("proceed".to_owned(), "command".to_owned())]);
    });
}

/// Connects through a shell that leaves the server's process id in a file.
fn connect_to_a_mortal(peer: &mut Peer, place: &Place) {
    peer.connect_with(
        place,
        json!({
            "elicitation": false,
            "stdio": {
                "command": "/bin/sh",
                "args": ["-c", "echo $$ >>servers; exec \"$0\" mcp", AYE],
                "cwd": place.work(),
                "env": {
                    "PATH": "/usr/local/bin:/usr/bin:/bin",
                    "HOME": place.path(),
                    "AYE_HOME": place.home(),
                },
            },
        }),
    );
}

/// Kills the servers of this place. The TypeScript SDK 2.x starts one of its
/// own to find out what it speaks, which may be gone by now.
fn kill_servers(place: &Place) {
    let mut killed = 0;
    for pid in place.read("servers").lines() {
        let program = std::fs::read_link(format!("/proc/{pid}/exe"));
        if program.is_ok_and(|program| program == Path::new(AYE)) {
            let pid = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
            let sent = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            killed += usize::from(sent.is_ok());
        }
    }
    assert!(killed > 0, "a server was there");
}

#[test]
fn a_killed_server_loses_nothing() {
    with_each(|peer| {
        let room = Room::new();
        connect_to_a_mortal(peer, &room);
        let paused = run(peer, "gate", json!({})).stands("awaiting_confirmation");
        kill_servers(&room);
        let dead = peer.try_call("skill_status", json!({ "execution_id": paused.id() }));
        dead.expect_err("nobody is there");
        let closing = peer.send(json!({ "do": "close" }));
        let _ = peer.outcome(closing);

        connect_to_a_mortal(peer, &room);
        let still = peer.call("skill_status", json!({ "execution_id": paused.id() }));
        assert_eq!(still.stands("awaiting_confirmation").id(), paused.id());
        let args = json!({ "execution_id": paused.id(), "choice": "proceed" });
        peer.call("skill_continue", args).stands("completed");
        assert_eq!(room.read("acted"), "proceed stage\n");
    });
}

/// Two clients, each with a server of its own, answer the same pause at once.
#[test]
fn of_two_clients_one_wins() {
    let mut peers = [Peer::start(Sdk::Python1), Peer::start(Sdk::TypeScript2)];
    let room = Room::new();
    for peer in &mut peers {
        peer.connect_with(&room, json!({ "elicitation": false }));
    }
    race(&mut peers, &room);
    peers.into_iter().for_each(Peer::rest);
}

/// The same with one server for both.
#[test]
fn of_two_clients_of_one_service_one_wins() {
    let mut peers = [Peer::start(Sdk::Python2), Peer::start(Sdk::TypeScript1)];
    let room = Room::with("[mcp]\nforms = false\n");
    let service = Service::start(&room);
    for peer in &mut peers {
        peer.connect_http(&service.url, &service.token);
    }
    race(&mut peers, &room);
    peers.into_iter().for_each(Peer::rest);
}

fn race(peers: &mut [Peer; 2], room: &Room) {
    for round in 0..10 {
        let target = format!("round-{round}");
        let id = run(&mut peers[0], "gate", json!({ "target": target })).id();
        let choices = ["proceed", "stop"];
        let calls: Vec<u64> = peers
            .iter_mut()
            .zip(choices)
            .map(|(peer, choice)| {
                peer.start_call("skill_continue", json!({ "execution_id": id, "choice": choice }))
            })
            .collect();
        let replies: Vec<_> =
            peers.iter_mut().zip(calls).map(|(peer, call)| peer.reply(call)).collect();
        let winners: Vec<usize> = (0..2).filter(|at| !replies[*at].is_error).collect();
        assert_eq!(winners.len(), 1, "{replies:#?}");
        let choice = choices[winners[0]];
        let status = if choice == "proceed" { "completed" } else { "cancelled" };
        assert_eq!(replies[winners[0]].status(), status, "{replies:#?}");
        assert_eq!(room.decisions(), [(choice.to_owned(), "assistant".to_owned())]);
        let acted = room.read("acted").lines().filter(|line| line.ends_with(&target)).count();
        assert_eq!(acted, usize::from(choice == "proceed"));
    }
}

const SLOW: &str = "\
name: slow
steps:
  - { name: begin, shell: 'echo $$ >begun' }
  - { name: work, shell: 'while [ ! -e go ]; do sleep 0.05; done; echo worked >>worked' }
  - { name: end, shell: 'echo ended >>worked' }
";

/// Progress names the steps while a call continues.
#[test]
fn progress_names_the_steps() {
    with_each(|peer| {
        let room = Room::new();
        room.write("skills/slow.yaml", SLOW);
        peer.connect(&room);
        let call = peer.start_call("skill_run", json!({ "skill": "slow" }));
        let told = peer.until(0, |line| {
            line["event"] == "progress"
                && line["message"].as_str().is_some_and(|text| text.contains("work"))
        });
        assert_eq!(told["call"], call);
        room.write("go", "");
        peer.reply(call).stands("completed");
        assert_eq!(room.read("worked"), "worked\nended\n");
        let progress = peer.progress(call);
        let shares: Vec<f64> =
            progress.iter().filter_map(|line| line["progress"].as_f64()).collect();
        assert!(shares.windows(2).all(|two| two[0] < two[1]), "it only grows: {shares:?}");
        // Three steps, and the end: as many for every message, and never more done.
        let totals: Vec<f64> = progress.iter().filter_map(|line| line["total"].as_f64()).collect();
        assert_eq!(totals, vec![4.0; progress.len()], "{progress:?}");
        assert!(shares.iter().all(|share| *share <= 4.0), "{shares:?}");
    });
}

/// Who hangs up does not stop the run, and finds its result afterwards.
#[test]
fn a_dropped_connection_does_not_stop_a_run() {
    with_each(|peer| {
        let room = Room::with("[mcp]\npatience = \"1s\"\n");
        room.write("skills/slow.yaml", SLOW);
        peer.connect(&room);
        // The call comes back before the run has ended.
        let running = run(peer, "slow", json!({})).stands("running");
        peer.close();
        room.write("go", "");
        room.ends("completed");
        peer.connect(&room);
        let done = peer.call("skill_status", json!({ "execution_id": running.id() }));
        done.stands("completed");
        assert_eq!(room.read("worked"), "worked\nended\n");
    });
}

/// A cancelled call stops its run in order.
#[test]
fn a_cancelled_call_stops_its_run() {
    with_each(|peer| {
        // The Python SDK 1.x does not tell the server that it gave up.
        if peer.sdk == Sdk::Python1 {
            return;
        }
        let room = Room::new();
        room.write("skills/slow.yaml", SLOW);
        peer.connect(&room);
        let call = peer.start_call("skill_run", json!({ "skill": "slow" }));
        peer.until(0, |line| {
            line["event"] == "progress"
                && line["message"].as_str().is_some_and(|text| text.contains("work"))
        });
        peer.ask(json!({ "do": "cancel", "call": call }));
        room.ends("cancelled");
        assert_eq!(room.read("worked"), "");
        // The connection continues.
        run(peer, "plain", json!({})).stands("completed");
    });
}

/// Runs, skills and memory are resources; who subscribes to a run hears of it.
#[test]
fn resources_and_prompts() {
    with_each(|peer| {
        let room = Room::new();
        peer.connect_with(&room, json!({ "elicitation": false }));
        let paused = run(peer, "gate", json!({})).stands("awaiting_confirmation");
        let listed = peer.ask(json!({ "do": "resources" }));
        let uris: Vec<&str> = listed["resources"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|one| one["uri"].as_str())
            .collect();
        let skill = uris.iter().find(|uri| uri.contains("skill") && uri.contains("gate"));
        let skill = skill.unwrap_or_else(|| panic!("{uris:?}")).to_string();
        let text = peer.ask(json!({ "do": "read", "uri": skill }));
        assert!(text.to_string().contains("Asks before it acts"), "{text:#}");
        let id = room.last();
        let uri = uris.iter().find(|uri| uri.contains(&id));
        let uri = uri.unwrap_or_else(|| panic!("{uris:?}")).to_string();
        let text = peer.ask(json!({ "do": "read", "uri": uri }));
        assert!(text.to_string().contains("awaiting_confirmation"), "{text:#}");

        peer.ask(json!({ "do": "subscribe", "uri": uri }));
        let since = peer.seen.len();
        room.person_says("proceed");
        room.ends("completed");
        peer.until(since, |line| {
            line["method"] == "notifications/resources/updated"
                && line["params"]["uri"] == uri.as_str()
        });
        let text = peer.ask(json!({ "do": "read", "uri": uri }));
        assert!(text.to_string().contains("completed"), "{text:#}");
        let gone = peer.send(json!({ "do": "read", "uri": format!("{uri}-none") }));
        peer.outcome(gone).expect_err("there is no such run");

        let prompts = peer.ask(json!({ "do": "prompts" }));
        let prompts = prompts["prompts"].as_array().unwrap().clone();
        assert!(prompts.len() >= 2, "{prompts:#?}");
        for prompt in prompts {
            let wanted = prompt["arguments"].as_array().cloned().unwrap_or_default();
            let mut args = json!({});
            for argument in wanted {
                let name = argument["name"].as_str().unwrap();
                let value = if name.contains("skill") { "gate".to_owned() } else { paused.id() };
                args[name] = json!(value);
            }
            let command = json!({ "do": "prompt", "name": prompt["name"], "args": args });
            let text = peer.ask(command);
            assert!(text["messages"][0]["content"]["text"].is_string(), "{text:#}");
        }
    });
}
