//! What can be asked for over HTTP.

use serde_json::{Value, json};

use crate::cli::harness::{Place, until};
use crate::notify::hmac;

use super::client::{GATE, Served, new_key};

#[test]
fn the_first_line_says_where_it_is_and_a_second_server_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = Served::with(&[]);
    let file = server.home().join("serve.json");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let second = server.aye(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(second.code, 1, "{}", second.all());
    let place = format!("http://127.0.0.1:{}", server.port);
    assert!(second.stderr.contains(&place), "{}", second.all());
    assert!(second.stderr.contains(&server.pid().to_string()), "{}", second.all());
    let health = server.raw("GET", "/healthz", &[], "");
    assert_eq!((health.status, health.ok()["status"].as_str()), (200, Some("ok")));
    assert_eq!(server.raw("GET", "/readyz", &[], "").status, 200);
}

/// Without `--json` the first line is the address and nothing else.
#[test]
fn the_first_line_for_people_is_the_address() {
    use std::io::{BufRead as _, BufReader};
    let place = Place::new();
    let mut command = place.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let file = std::fs::read_to_string(place.home().join("serve.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    assert_eq!(line, format!("{}\n", file["url"].as_str().unwrap()));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_question_is_held_over_http() {
    let short = "
steps: [ { name: sure, confirm: { message: 'Go?', timeout: 25s } } ]";
    let server = Served::with(&[("go", short)]);
    server.start_skill("go");
    let asked = server.question();
    let path = format!("/api/v1/questions/{}/hold", asked["question"].as_str().unwrap());
    assert_eq!(server.post(&path, &json!({})).ok()["question"], asked["question"]);
    let held = server.question();
    assert!(held["deadline"].as_str() > asked["deadline"].as_str(), "{held}");
    let reader = server.person("bob", "read");
    assert_eq!(server.post_as(&reader, &path, &json!({}), &new_key()).problem(403), "forbidden");
    server.answer(&asked, "cancel");
    assert_eq!(server.post(&path, &json!({})).problem(409), "decided");
    // While more than half a minute is left, nothing changes and the countdown runs on.
    server.write(
        "skills/long.yaml",
        "name: long\nsteps: [ { name: sure, confirm: { message: 'Go?', timeout: 10m } } ]\n",
    );
    let run = server.start_skill("long");
    let asked = server.question();
    let path = format!("/api/v1/questions/{}/hold", asked["question"].as_str().unwrap());
    server.post(&path, &json!({})).ok();
    assert_eq!(server.question()["deadline"], asked["deadline"]);
    let events = server.get(&format!("/api/v1/runs/{run}/events")).body;
    assert!(!events.contains("confirmation_held"), "{events}");
}

#[test]
fn it_proves_that_it_is_the_server_of_this_home() {
    let server = Served::with(&[]);
    let file = std::fs::read_to_string(server.home().join("serve.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    let text = |key: &str| file[key].as_str().unwrap().to_owned();
    let proof = |challenge: &str| {
        let answer = server.raw("GET", "/healthz", &[("Aye-Challenge", challenge)], "");
        assert_eq!(answer.status, 200, "{answer:?}");
        let proof = answer.head.lines().find_map(|line| line.strip_prefix("aye-proof: "));
        proof.map(str::to_owned)
    };
    let challenge = "0123456789abcdef".repeat(4);
    let signed = format!("aye-serve-proof\n{}\n{challenge}", text("url"));
    assert_eq!(proof(&challenge), Some(hmac(&text("token"), &signed)));
    // It signs nothing but challenges.
    for other in ["", "0", &"0".repeat(65), &"x".repeat(64), &format!("{challenge}0")] {
        assert_eq!(proof(other), None, "{other}");
    }
}

#[test]
fn others_do_not_reach_it() {
    let place = Place::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let ran = place.aye(&["serve", "--listen", address]);
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.stderr.contains("can be reached by others"), "{}", ran.all());
    }
}

/// It has no ranges, and that is not an error.
#[test]
fn a_range_of_an_empty_log_is_the_empty_log() {
    let server = Served::with(&[("quiet", "steps:\n  - { name: say, shell: 'true' }")]);
    let run = server.start_skill("quiet");
    server.until_status(&run, "completed");
    let bearer = server.bearer();
    let headers = [("Authorization", bearer.as_str()), ("Range", "bytes=-100")];
    let log = server.raw("GET", &format!("/api/v1/runs/{run}/steps/say/log"), &headers, "");
    assert_eq!((log.status, log.body.as_str()), (200, ""));
}

/// What a step inside other runs is given is known without its driver, and can be changed.
#[test]
fn a_failed_step_inside_another_run_is_retried_with_changes() {
    let outer = "steps: [ { name: part, skill: inner } ]";
    let inner = "
steps:
  - name: each
    foreach: [4]
    steps: [ { name: share, compute: 'result = item / 0', on_error: ask } ]";
    let server = Served::with(&[("outer", outer), ("inner", inner)]);
    let run = server.start_skill("outer");
    let question = server.question();
    let inside = question["run"].as_str().unwrap();
    assert!(inside.starts_with(&format!("{run}_")), "{inside}");
    let given = server.get(&format!("/api/v1/runs/{inside}/steps/share/arguments")).ok();
    assert_eq!(given["arguments"], json!({ "code": "result = item / 0" }));
    let id = question["question"].as_str().unwrap();
    let set = json!({ "code": "result = item / 2" });
    let answer = json!({ "choice": "edit", "digest": question["digest"], "set": set });
    server.post(&format!("/api/v1/questions/{id}/answer"), &answer).ok();
    server.until_status(&run, "completed");
}

/// In upper or lower case, page by page, in lines of any length.
#[test]
fn a_log_is_searched() {
    // 3,000 lines of 64 bytes, then one that is longer than what is read at once.
    let loud = r#"steps:
  - name: say
    shell: "yes \"$(printf 'Needle %056d' 7)\" | head -n 3000; printf %0100000d 8; echo ' ÜBER the edge'""#;
    let server = Served::with(&[("loud", loud)]);
    let run = server.start_skill("loud");
    server.until_status(&run, "completed");
    let search = |query: &str| {
        let found = server.get(&format!("/api/v1/runs/{run}/steps/say/log/search?{query}"));
        let found = found.ok();
        let lines = found["lines"].as_array().unwrap().iter().map(|at| at.as_u64().unwrap());
        (lines.collect::<Vec<u64>>(), found["next"].as_u64())
    };
    assert_eq!(search("text=nothing"), (vec![], None));
    let (mut all, mut next) = (Vec::new(), Some(0));
    while let Some(from) = next {
        let (lines, then) = search(&format!("text=nEEDLE&from={from}"));
        assert!(lines.len() <= 100, "{lines:?}");
        all.extend(lines);
        next = then;
    }
    assert_eq!(all, (0..3000).map(|line| line * 64).collect::<Vec<u64>>());
    // The end of the long line is in the last of the pieces that it is cut into.
    let long = 3000 * 64;
    assert_eq!(search("text=%C3%BCber"), (vec![long + 6 * 16_384], None));
    assert_eq!(search(&format!("text=the+edge&from={}", long + 6 * 16_384)).0.len(), 1);
    assert_eq!(search("text=needle&from=999999999"), (vec![], None));
    let path = format!("/api/v1/runs/{run}/steps/say/log/search");
    assert_eq!(server.get(&format!("{path}?text=")).problem(400), "invalid");
    assert_eq!(server.get(&format!("{path}?text=x&execution=9")).ok()["lines"], json!([]));
}

#[test]
fn a_run_is_started_followed_answered_and_told() {
    let server = Served::with(&[("go", GATE)]);
    let run = server.start_skill("go");
    let question = server.question();
    assert_eq!((&question["run"], &question["message"]), (&json!(run), &json!("Go?")));
    assert_eq!(server.get(&format!("/api/v1/runs/{run}")).ok()["status"], "waiting");
    let id = question["question"].as_str().unwrap();
    let answer = json!({ "choice": "proceed", "digest": question["digest"], "reason": "fine" });
    let taken = server.post(&format!("/api/v1/questions/{id}/answer"), &answer).ok();
    assert_eq!((&taken["state"], &taken["missing"]), (&json!("answered"), &json!(0)));
    server.until_status(&run, "completed");
    let told = server.get(&format!("/api/v1/runs/{run}")).ok();
    assert_eq!(told["started_by"], "api", "a token is a program's");
    assert_eq!(told["steps"][1]["status"], "completed", "{told}");
    assert!(server.work().join("went").exists());
    let shown = server.aye(&["show", &run, "--json"]).ok().json();
    let events = shown["events"].as_array().unwrap();
    let answered = events.iter().find(|event| event["type"] == "confirmation_answered").unwrap();
    assert_eq!(answered["answer"]["proof"], "local", "{answered}");
    assert_eq!(answered["answer"]["reason"], "fine");
    let log = server.get(&format!("/api/v1/runs/{run}/steps/go/log"));
    assert_eq!(log.body, "went\n");
    let bearer = server.bearer();
    let part = |range: &str| {
        let headers = [("Authorization", bearer.as_str()), ("Range", range)];
        server.raw("GET", &format!("/api/v1/runs/{run}/steps/go/log"), &headers, "")
    };
    assert_eq!((part("bytes=1-2").status, part("bytes=1-2").body.as_str()), (206, "en"));
    assert_eq!(part("bytes=1-2").header("content-range").unwrap(), "bytes 1-2/5");
    assert_eq!(part("bytes=-3").body, "nt\n");
    assert_eq!(part("bytes=9-").problem(416), "range");
    let lines = server.get(&format!("/api/v1/runs/{run}/logs?follow=true")).body;
    assert!(lines.contains(r#""type":"step_output","step":"go","stream":"stdout","text":"went""#));
    let events = server.get(&format!("/api/v1/runs/{run}/events")).ok();
    let kinds: Vec<_> = events["events"].as_array().unwrap().iter().map(|e| &e["type"]).collect();
    assert_eq!(
        (kinds[0], *kinds.last().unwrap()),
        (&json!("skill_started"), &json!("skill_completed"))
    );
    let runs = server.get("/api/v1/runs?status=completed").ok();
    assert_eq!(runs["runs"][0]["run"], json!(run));
}

#[test]
fn the_same_key_is_the_same_run_and_the_same_answer() {
    let mut server = Served::with(&[("go", GATE)]);
    let (token, key) = (server.token.clone(), new_key());
    let start = json!({ "skill": "go" });
    let first = server.post_as(&token, "/api/v1/runs", &start, &key);
    assert_eq!(first.status, 201, "{}", first.body);
    // However often it is sent, also to a server that was killed meanwhile.
    server.restart();
    let again = server.post_as(&token, "/api/v1/runs", &start, &key);
    assert_eq!((again.status, &again.json()["run"]), (200, &first.json()["run"]));
    assert_eq!(again.json()["repeated"], true);
    let other = json!({ "skill": "go", "inputs": { "x": 1 } });
    assert_eq!(server.post_as(&token, "/api/v1/runs", &other, &key).problem(422), "key_reused");
    assert_eq!(server.get("/api/v1/runs").ok()["runs"].as_array().unwrap().len(), 1);
    let question = server.question();
    let path = format!("/api/v1/questions/{}/answer", question["question"].as_str().unwrap());
    let answer = json!({ "choice": "proceed", "digest": question["digest"] });
    let key = new_key();
    assert_eq!(server.post_as(&token, &path, &answer, &key).ok()["repeated"], false);
    assert_eq!(server.post_as(&token, &path, &answer, &key).ok()["repeated"], true);
    assert_eq!(server.post(&path, &answer).problem(409), "decided");
    let bearer = server.bearer();
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let without = server.raw("POST", "/api/v1/runs", &headers, &start.to_string());
    assert_eq!(without.problem(400), "key_required");
}

#[test]
fn a_key_stands_for_one_request_whole() {
    let inputs = "
inputs: [ { name: who, type: string, default: all }, { name: what, type: string } ]";
    let server = Served::with(&[("go", &format!("{inputs}{GATE}"))]);
    let token = server.token.clone();
    let start = |key: &str, body: Value| server.post_as(&token, "/api/v1/runs", &body, key);
    let key = new_key();
    let both = json!({ "skill": "go", "inputs": { "who": "ann", "what": "it" } });
    assert_eq!(start(&key, both.clone()).status, 201);
    assert_eq!(start(&key, both).ok()["repeated"], true);
    for other in [
        json!({ "skill": "go", "inputs": { "what": "it" } }),
        json!({ "skill": "go", "inputs": { "who": "ann", "what": "more" } }),
        json!({ "skill": "go", "inputs": { "who": "ann", "what": "it" }, "environment": "stage" }),
    ] {
        assert_eq!(start(&key, other.clone()).problem(422), "key_reused", "{other}");
    }
    // A default is the same whether it is sent or not.
    let key = new_key();
    assert_eq!(start(&key, json!({ "skill": "go", "inputs": { "what": "it" } })).status, 201);
    let same = json!({ "skill": "go", "inputs": { "who": "all", "what": "it" } });
    assert_eq!(start(&key, same).ok()["repeated"], true);

    let question = server.question();
    let path = format!("/api/v1/questions/{}/answer", question["question"].as_str().unwrap());
    let answer = |choice: &str, reason: &str| json!({ "choice": choice, "reason": reason, "digest": question["digest"] });
    let key = new_key();
    let mut first = answer("cancel", "no");
    // That it is not remembered is said: this question does not allow it.
    first["remember"] = json!("step");
    assert_eq!(server.post_as(&token, &path, &first, &key).ok()["remembered"], false);
    for other in [answer("proceed", "no"), answer("cancel", "yes")] {
        assert_eq!(server.post_as(&token, &path, &other, &key).problem(422), "key_reused");
    }
}

#[test]
fn the_api_describes_itself() {
    let server = Served::with(&[("go", GATE)]);
    let document = server.get("/api/v1/openapi.json").ok();
    let published =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let published: Value = serde_json::from_slice(&std::fs::read(published).unwrap()).unwrap();
    assert!(document == published, "`AYE_UPDATE=1 cargo test -p aye --lib typescript` rewrites it");
    let mut seen = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        let mut parts = path.split('/').map(|part| match part.starts_with('{') {
            true => "nothing123",
            false => part,
        });
        let address = format!("/api/v1{}", parts.by_ref().collect::<Vec<_>>().join("/"));
        if !methods["get"].is_null() {
            seen += 1;
            let body = server.get(&address).body;
            assert!(!body.contains("there is nothing at this address"), "{address}: {body}");
        }
    }
    assert!(seen > 15, "{seen}");
    let run = &document["components"]["schemas"]["RunView"]["properties"];
    server.start_skill("go");
    let listed = server.get("/api/v1/runs").ok()["runs"][0].clone();
    for name in listed.as_object().unwrap().keys() {
        assert!(run[name].is_object(), "`{name}` is not described");
    }
}

#[test]
fn a_digest_that_no_longer_fits_is_refused() {
    let server = Served::with(&[("go", GATE)]);
    server.start_skill("go");
    let question = server.question();
    let path = format!("/api/v1/questions/{}/answer", question["question"].as_str().unwrap());
    let other = json!({ "choice": "proceed", "digest": "0".repeat(64) });
    assert_eq!(server.post(&path, &other).problem(409), "digest_mismatch");
    let without = json!({ "choice": "proceed" });
    assert_eq!(server.post(&path, &without).problem(400), "invalid");
    let unknown = json!({ "choice": "perhaps", "digest": question["digest"] });
    assert_eq!(server.post(&path, &unknown).problem(409), "refused");
    assert!(!server.work().join("went").exists());
}

#[test]
fn skills_are_listed_with_schemas_and_drawn() {
    let skill = "description: Ships it\ninputs:\n  - { name: commit, type: string, required: true }\n\
        steps:\n  - { name: ship, command: 'true', args: ['{{ inputs.commit }}'] }";
    let server = Served::with(&[("ship", skill)]);
    let skills = server.get("/api/v1/skills").ok();
    let ship = &skills["skills"][0];
    assert_eq!((&ship["skill"], &ship["trusted"]), (&json!("ship"), &json!(true)));
    assert_eq!(ship["inputs"]["required"], json!(["commit"]));
    assert_eq!(ship["inputs"]["properties"]["commit"]["type"], "string");
    let one = server.get("/api/v1/skills/ship").ok();
    assert_eq!(one["steps"][0]["name"], "ship");
    let drawn = server.get("/api/v1/skills/ship/graph");
    assert_eq!(drawn.header("content-type").unwrap(), "image/svg+xml");
    assert!(drawn.body.contains("<svg"), "{}", drawn.body);
    let missing = server.post("/api/v1/runs", &json!({ "skill": "ship" }));
    assert_eq!(missing.problem(422), "inputs");
    let unknown = server.post("/api/v1/runs", &json!({ "skill": "shop" }));
    assert_eq!(unknown.problem(404), "not_found");
    let token = format!("Bearer {}", server.token);
    for (method, path) in [("PUT", "/api/v1/runs"), ("GET", "/api/v1/runs/abc/cancel")] {
        let wrong = server.raw(method, path, &[("authorization", &token)], "");
        assert_eq!(wrong.problem(405), "method_not_allowed", "{method} {path}");
    }
    assert!(unknown.body.contains("did you mean `ship`?"), "{}", unknown.body);
    assert_eq!(server.get("/api/v1/memory").ok()["fixes"], json!([]));
    assert_eq!(server.get("/api/v1/proposals").ok()["proposals"], json!([]));
    let metrics = server.get("/metrics").body;
    assert!(metrics.contains("\naye_questions_open 0\n"), "{metrics}");
}

#[test]
fn an_untrusted_project_is_read_and_never_run() {
    let place = Place::new();
    place.write("skills/go.yaml", "name: go\nsteps:\n  - { name: go, shell: touch went }\n");
    let server = Served::at(place);
    let skills = server.get("/api/v1/skills").ok();
    assert_eq!(
        (&skills["skills"][0]["skill"], &skills["skills"][0]["trusted"]),
        (&json!("go"), &json!(false))
    );
    let here = json!([{ "project": skills["skills"][0]["project"], "trusted": false }]);
    assert_eq!(server.get("/api/v1/projects").ok()["projects"], here);
    let refused = server.post("/api/v1/runs", &json!({ "skill": "go" }));
    assert_eq!(refused.problem(403), "not_trusted");
    assert!(!server.work().join("went").exists());
}

#[test]
fn runs_are_cancelled_and_tried_again() {
    let fails = "
steps:
  - { name: fail, shell: 'test -e fixed && touch went' }";
    let server = Served::with(&[("go", GATE), ("fails", fails)]);
    let run = server.start_skill("go");
    server.question();
    let unfinished = |count: u32| {
        let metrics = server.get("/metrics").body;
        assert!(metrics.contains(&format!("\naye_runs_unfinished {count}\n")), "{metrics}");
    };
    unfinished(1);
    server.post(&format!("/api/v1/runs/{run}/cancel"), &json!({ "reason": "not today" })).ok();
    server.until_status(&run, "cancelled");
    unfinished(0);
    let again = server.post(&format!("/api/v1/runs/{run}/cancel"), &json!({}));
    assert_eq!(again.problem(409), "refused");
    let run = server.start_skill("fails");
    server.until_status(&run, "failed");
    server.write("fixed", "");
    server.post(&format!("/api/v1/runs/{run}/retry"), &json!({})).ok();
    server.until_status(&run, "completed");
    assert!(server.work().join("went").exists());
}

/// A retry is for the failure that the client saw: sent twice, it does not try the next
/// failure again.
#[test]
fn a_retry_that_is_sent_twice_counts_once() {
    let asks = "
steps: [ { name: act, shell: 'echo x >>tries; exit 3', on_error: ask } ]";
    let ends = "
steps: [ { name: act, shell: 'echo x >>ends; exit 3' } ]";
    let server = Served::with(&[("asks", asks), ("ends", ends)]);
    let tries = |file: &str| server.read(file).lines().count();
    let run = server.start_skill("asks");
    let asked = server.question();
    let path = format!("/api/v1/runs/{run}/retry");
    let bearer = server.bearer();
    let keyless = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    assert_eq!(server.raw("POST", &path, &keyless, "{}").problem(400), "key_required");
    assert_eq!(server.post(&path, &json!({})).problem(400), "invalid", "without a digest");
    let stale = json!({ "digest": "0000" });
    assert_eq!(server.post(&path, &stale).problem(409), "digest_mismatch");
    assert_eq!(tries("tries"), 1);
    let (key, seen) = (new_key(), json!({ "digest": asked["digest"] }));
    server.post_as(&server.token, &path, &seen, &key).ok();
    let again = || server.question()["question"] != asked["question"] && tries("tries") == 2;
    until("the next failure", again);
    // The next failure is asked about; the same request changes nothing.
    server.post_as(&server.token, &path, &seen, &key).ok();
    let other = json!({ "digest": asked["digest"], "set": { "script": "true" } });
    let reused = server.post_as(&server.token, &path, &other, &key);
    assert_eq!(reused.problem(422), "key_reused");
    assert!(again());

    let run = server.start_skill("ends");
    server.until_status(&run, "failed");
    let path = format!("/api/v1/runs/{run}/retry");
    let mut socket = server.socket("/ws");
    socket.snapshot();
    let failures = || {
        let events = server.get(&format!("/api/v1/runs/{run}/events")).ok();
        let events = events["events"].as_array().unwrap().iter();
        events.filter(|event| event["type"] == "skill_failed").count()
    };
    server.post_as(&server.token, &path, &json!({}), &key).ok();
    until("it fails again", || failures() == 2);
    server.post_as(&server.token, &path, &json!({}), &key).ok();
    let retry = json!({ "type": "retry", "run": run, "key": "one" });
    socket.done(retry.clone());
    until("it fails again", || failures() == 3);
    socket.done(retry);
    assert_eq!((failures(), tries("ends")), (3, 3));
}

/// What the driver would not do is refused to whoever asks, not only noted where nobody looks.
#[test]
fn what_a_run_refuses_is_said() {
    let fails = "
steps: [ { name: act, command: ./fails, args: [first] } ]";
    let named = "
steps: [ { name: act, command: ./fails, confirmation: { message: Sure?, by: [ann], timeout: 1h } } ]";
    let server = Served::with(&[("fails", fails), ("named", named), ("go", GATE)]);
    let ann = server.person("ann", "answer,start");
    std::os::unix::fs::symlink("/bin/false", server.work().join("fails")).unwrap();
    let run = server.start_skill("fails");
    server.until_status(&run, "failed");
    let last = || server.get(&format!("/api/v1/runs/{run}/events")).ok()["n"].clone();
    let before = last();
    let path = format!("/api/v1/runs/{run}/retry");
    let mut socket = server.socket("/ws");
    socket.snapshot();
    for set in [json!({ "9": "x" }), json!({ "script": "true" }), json!({ "1": [] })] {
        assert_eq!(server.post(&path, &json!({ "set": set })).problem(409), "refused", "{set}");
        let retry = json!({ "type": "retry", "run": run, "set": set });
        assert_eq!(socket.refused(retry), "refused", "{set}");
    }
    let other = json!({ "type": "retry", "run": run, "step": "other" });
    assert_eq!(socket.refused(other), "refused");
    assert_eq!(last(), before, "nothing happened to the run");
    socket.done(json!({ "type": "retry", "run": run, "set": { "1": "second" } }));

    // What is asked of one person is not tried again by another.
    let run = server.start_skill("named");
    let asked = server.question();
    let answer = json!({ "choice": "proceed", "digest": asked["digest"] });
    let question = format!("/api/v1/questions/{}/answer", asked["question"].as_str().unwrap());
    server.post_as(&ann, &question, &answer, &new_key()).ok();
    server.until_status(&run, "failed");
    let retry = json!({ "type": "retry", "run": run });
    assert_eq!(socket.refused(retry), "refused", "the account is not ann");

    // The same for everything else that can be asked of a run.
    let hold = json!({ "type": "hold", "question": asked["question"] });
    assert_eq!(socket.refused(hold), "decided");
    assert_eq!(socket.refused(json!({ "type": "cancel", "run": run })), "refused");
    let release = json!({ "type": "release", "question": asked["question"] });
    assert_eq!(socket.refused(release), "not_found", "this client does not hold it");
    let start = json!({ "type": "start", "skill": "go", "inputs": { "unknown": 1 } });
    assert_eq!(socket.refused(start), "inputs");
}

#[test]
fn assistants_are_served_beside_it() {
    let server = Served::with(&[("go", GATE)]);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" } } });
    let bearer = server.bearer();
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    let answer = server.raw("POST", "/mcp", &headers, &list.to_string());
    assert!(answer.body.contains(r#""name":"aye""#), "{} {}", answer.head, answer.body);
    let without = server.raw("POST", "/mcp", &headers[1..], &list.to_string());
    assert_eq!(without.problem(401), "unauthorized");
}

/// Has a name until the file `go` is there.
const HOLDS: &str = "
concurrency: one
steps:
  - { name: hold, shell: 'touch began; until [ -e go ]; do sleep 0.02; done' }
";

#[test]
fn a_run_that_waits_for_a_name_says_for_which_run() {
    let server = Served::with(&[("hold", HOLDS)]);
    let first = server.start_skill("hold");
    until("it has the name", || server.work().join("began").exists());
    let second = server.start_skill("hold");
    server.until_status(&second, "queued");
    let told = server.get(&format!("/api/v1/runs/{second}")).ok();
    let (name, holder) = (&told["concurrency"], &told["waits_for"]);
    assert_eq!((name, holder), (&json!("one"), &json!(first)), "{told}");
    let listed = server.get("/api/v1/runs?status=queued").ok();
    assert_eq!(listed["runs"][0]["run"], second, "{listed}");
    server.write("go", "");
    server.until_status(&second, "completed");
}

/// Two items and one slot: each continues when the file `go` is there.
const TWO_ITEMS: &str = "
steps:
  - name: each
    foreach: [a, b]
    parallel: 2
    shell: 'touch began; until [ -e go ]; do sleep 0.02; done'
";

#[test]
fn an_item_that_waits_for_a_slot_is_queued_and_so_is_its_step() {
    let place = Place::new();
    place.write("aye.toml", "[run]\nmax_processes = 1\n");
    place.write("skills/two.yaml", &format!("name: two\n{TWO_ITEMS}"));
    place.aye(&["trust", "--yes"]).ok();
    let server = Served::at(place);
    let run = server.start_skill("two");
    until("an item runs", || server.work().join("began").exists());
    let told = |run: &str| server.get(&format!("/api/v1/runs/{run}")).ok();
    let items = || told(&run)["steps"][0]["runs"].as_array().cloned().unwrap_or_default();
    until("both items are there", || items().len() == 2);
    let items: Vec<String> = items().iter().map(|it| it.as_str().unwrap().to_owned()).collect();
    server.until_status(&items[1], "queued");
    let steps = |item: &str| {
        let told = told(item);
        (told["status"].clone(), told["steps"][0]["status"].clone())
    };
    assert_eq!(steps(&items[0]), (json!("running"), json!("running")));
    assert_eq!(steps(&items[1]), (json!("queued"), json!("queued")));
    assert_eq!(told(&run)["status"], "running");
    let shown = server.aye(&["show", &run, "--json"]).ok().json();
    let inside = |at: usize| shown["runs"][at]["status"].clone();
    assert_eq!((inside(0), inside(1)), (json!("running"), json!("queued")));
    let shown = server.aye(&["show", &run]).ok().stdout;
    assert!(shown.contains("each[b]  queued, "), "{shown}");
    server.write("go", "");
    server.until_status(&run, "completed");
    assert_eq!(steps(&items[1]), (json!("completed"), json!("completed")));
}
