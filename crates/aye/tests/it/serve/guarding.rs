//! Who is kept out.

use std::cell::RefCell;
use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::cli::harness::until;

use super::client::{GATE, Served, Socket, new_key, request};

/// Everything that tells or changes something.
const PATHS: [(&str, &str); 13] = [
    ("GET", "/api/v1/runs"),
    ("GET", "/api/v1/events"),
    ("GET", "/api/v1/questions"),
    ("GET", "/api/v1/skills"),
    ("GET", "/api/v1/memory"),
    ("GET", "/api/v1/projects"),
    ("GET", "/api/v1/session"),
    ("GET", "/metrics"),
    ("GET", "/ws"),
    ("POST", "/api/v1/runs"),
    ("POST", "/api/v1/runs/abcdefgh12/cancel"),
    ("POST", "/api/v1/questions/abcdefgh12-1/answer"),
    ("POST", "/mcp"),
];

#[test]
fn nothing_is_told_without_a_token() {
    let server = Served::with(&[("go", GATE)]);
    let other = if server.token.ends_with('0') { '1' } else { '0' };
    let wrong = format!("Bearer {}{other}", &server.token[..server.token.len() - 1]);
    for (method, path) in PATHS {
        for headers in [
            vec![],
            vec![("Authorization", wrong.as_str())],
            vec![("Authorization", server.token.as_str())],
            vec![("Cookie", "aye_session=x")],
        ] {
            let answer = server.raw(method, path, &headers, "");
            assert!(matches!(answer.status, 401 | 429), "{method} {path} {}", answer.body);
        }
    }
    let refused = server.raw("GET", "/api/v1/runs", &[], "");
    assert!(refused.status == 429 || refused.header("www-authenticate").is_some());
    // A right token is let in however many wrong ones there were.
    assert_eq!(server.get("/api/v1/runs").status, 200);
    let query = format!("/api/v1/runs?token={}", server.token);
    assert!(matches!(server.raw("GET", &query, &[], "").status, 401 | 429));
}

#[test]
fn foreign_origins_and_hosts_are_refused_whatever_they_know() {
    let server = Served::with(&[("go", GATE)]);
    let bearer = server.bearer();
    let own = format!("http://127.0.0.1:{}", server.port);
    let other_port = format!("http://127.0.0.1:{}", server.port.wrapping_add(1));
    let other_scheme = format!("https://127.0.0.1:{}", server.port);
    let other_host = format!("127.0.0.1:{}", server.port.wrapping_add(1));
    let all = [("GET", "/healthz"), ("GET", "/"), ("POST", "/api/v1/session")];
    for (method, path) in PATHS.into_iter().chain(all) {
        for foreign in [
            ("Origin", "https://evil.example"),
            ("Origin", "null"),
            ("Origin", "http://127.0.0.1"),
            ("Origin", other_port.as_str()),
            ("Origin", other_scheme.as_str()),
            ("Host", "evil.example"),
            ("Host", "127.0.0.1"),
            ("Host", other_host.as_str()),
            ("Sec-Fetch-Site", "cross-site"),
        ] {
            let answer = server.raw(method, path, &[("Authorization", &bearer), foreign], "");
            assert_eq!(answer.problem(403), "forbidden", "{method} {path} {foreign:?}");
        }
    }
    let answer = server.raw(
        "GET",
        "/api/v1/runs",
        &[("Authorization", &bearer), ("Origin", &own), ("Sec-Fetch-Site", "same-origin")],
        "",
    );
    assert_eq!(answer.status, 200);
    let foreign = [("Authorization", bearer.as_str()), ("Origin", "https://evil.example")];
    let refused = Socket::open(&server, "/ws", &foreign).err().expect("refused");
    assert_eq!(refused.problem(403), "forbidden");
}

#[test]
fn no_get_changes_anything() {
    let server = Served::with(&[("go", GATE)]);
    let run = server.start_skill("go");
    let question = server.question();
    let id = question["question"].as_str().unwrap();
    let before = server.get("/api/v1/events").ok()["n"].clone();
    for path in [
        format!("/api/v1/questions/{id}/answer"),
        format!("/api/v1/questions/{id}/hold"),
        format!("/api/v1/runs/{run}/cancel"),
        format!("/api/v1/runs/{run}/retry"),
    ] {
        assert_eq!(server.get(&path).status, 405, "{path}");
    }
    for path in ["/api/v1/runs", "/api/v1/questions", "/api/v1/skills/go", "/api/v1/memory"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    assert_eq!(server.get("/api/v1/events").ok()["n"], before);
}

#[test]
fn ids_lead_to_no_files() {
    let server = Served::with(&[("go", GATE)]);
    server.write("secret.yaml", "name: secret\nsteps: []\n");
    for id in [
        "..",
        "..%2f..%2f..%2fetc%2fpasswd",
        "%2e%2e%2f%2e%2e%2fserve.json",
        "%2fetc%2fpasswd",
        "a%00b",
        "%ff",
        "'%20OR%201=1",
    ] {
        for path in [
            format!("/api/v1/runs/{id}"),
            format!("/api/v1/runs/{id}/logs"),
            format!("/api/v1/runs/{id}/steps/{id}/log"),
            format!("/api/v1/questions/{id}"),
            format!("/api/v1/skills/{id}"),
            format!("/api/v1/skills/{id}/graph"),
            format!("/api/v1/skills/go?project={id}"),
            format!("/assets/{id}"),
        ] {
            let answer = server.get(&path);
            assert!(
                matches!(answer.status, 400 | 404),
                "{path}: {} {}",
                answer.status,
                answer.body
            );
            let code = answer.problem(answer.status);
            assert_eq!(code, if answer.status == 400 { "invalid" } else { "not_found" }, "{path}");
            assert!(!answer.body.contains("root:") && !answer.body.contains(&server.token));
        }
    }
    let outside = server.post("/api/v1/runs", &json!({ "skill": "secret.yaml" }));
    assert_eq!(outside.problem(404), "not_found");
    let elsewhere = server.post("/api/v1/runs", &json!({ "skill": "go", "project": "/etc" }));
    assert_eq!(elsewhere.problem(404), "not_found");
}

#[test]
fn bodies_are_json_of_a_reasonable_size() {
    let server = Served::with(&[("go", GATE)]);
    let bearer = server.bearer();
    let key = new_key();
    let auth = ("Authorization", bearer.as_str());
    let key = ("Idempotency-Key", key.as_str());
    let body = json!({ "skill": "go" }).to_string();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let answer =
            server.raw("POST", "/api/v1/runs", &[auth, key, ("Content-Type", kind)], &body);
        assert_eq!(answer.problem(415), "media_type", "{kind}");
    }
    let kind = ("Content-Type", "application/json");
    for wrong in ["", "[]", "{", "{\"skill\": 1}", "{\"skill\": \"go\", \"yes\": true}", "null"] {
        let answer = server.raw("POST", "/api/v1/runs", &[auth, key, kind], wrong);
        assert_eq!(answer.problem(400), "invalid", "{wrong}");
    }
    let large = format!("{{\"skill\": \"{}\"}}", "x".repeat(2 << 20));
    let answer = server.raw("POST", "/api/v1/runs", &[auth, key, kind], &large);
    assert_eq!(answer.problem(413), "too_large");
    assert_eq!(server.get("/api/v1/runs").ok()["runs"], json!([]));
}

#[test]
fn a_body_that_never_ends_and_a_head_that_never_comes_are_not_waited_for() {
    let server = Served::with(&[]);
    let bearer = server.bearer();
    let began = Instant::now();
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Idempotency-Key", "k"),
        ("Content-Length", "1000"),
    ];
    let host = format!("127.0.0.1:{}", server.port);
    let mut endless = server.connect();
    endless.write_all(request("POST", "/api/v1/runs", &host, &headers, "{").as_bytes()).unwrap();
    // So many that say nothing would keep others out, were they let.
    let mut silent: Vec<_> = (0..200).map(|_| server.connect()).collect();
    for stream in &mut silent {
        stream.write_all(b"GET /api/v1/runs HTTP/1.1\r\nHost: ").unwrap();
    }
    assert_eq!(server.get("/api/v1/runs").status, 200, "others are served meanwhile");
    let mut answer = String::new();
    let _ = endless.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    for stream in &mut silent {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
    assert!(began.elapsed() < Duration::from_secs(50), "{:?}", began.elapsed());
}

/// Whether a program still holds the end at `port` of a connection from `peer`.
fn is_held(port: u16, peer: u16) -> bool {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    table.lines().any(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let ends = |at: usize, port: u16| columns[at].ends_with(&format!(":{port:04X}"));
        // The kernel goes on sending what a program let go of, which has no file.
        ends(1, port) && ends(2, peer) && columns[9] != "0"
    })
}

/// A client that wants a log and does not read it keeps no connection and no thread.
#[test]
fn a_log_that_nobody_reads_is_not_kept_open() {
    let loud = "
steps: [ { name: loud, shell: 'yes \"$(printf %01000d 1)\" | head -c 60000000' } ]";
    let server = Served::hurried(&[("go", loud)]);
    let run = server.start_skill("go");
    server.until_status(&run, "completed");
    let bearer = server.bearer();
    let host = format!("127.0.0.1:{}", server.port);
    let headers = [("Authorization", bearer.as_str())];
    for path in [format!("runs/{run}/logs?follow=true"), format!("runs/{run}/steps/loud/log")] {
        let mut deaf = server.connect();
        let asks = request("GET", &format!("/api/v1/{path}"), &host, &headers, "");
        deaf.write_all(asks.as_bytes()).unwrap();
        let here = deaf.local_addr().unwrap().port();
        until("it is served", || is_held(server.port, here));
        until("it is let go", || !is_held(server.port, here));
    }
}

#[test]
fn a_header_that_comes_twice_is_refused() {
    let server = Served::with(&[("go", GATE)]);
    let bearer = server.bearer();
    let own = format!("127.0.0.1:{}", server.port);
    let origin = format!("http://{own}");
    for (name, one, other) in [
        ("Host", own.as_str(), own.as_str()),
        ("Host", own.as_str(), "evil.example"),
        ("Origin", origin.as_str(), origin.as_str()),
        ("Origin", origin.as_str(), "http://evil.example"),
    ] {
        let headers = [("Authorization", bearer.as_str()), (name, one), (name, other)];
        let refused = server.raw("GET", "/api/v1/runs", &headers, "");
        assert_eq!(refused.status, 400, "{name} {other}: {}", refused.body);
    }
}

#[test]
fn wrong_tokens_keep_nobody_from_signing_in() {
    let server = Served::with(&[("go", GATE)]);
    let told = server.aye(&["people", "add", "ann", "--rights", "read", "--json"]).ok().json();
    let link = told["link"].as_str().unwrap().split_once("#signin=").unwrap().1.to_owned();
    let wrong = [("Authorization", "Bearer wrong")];
    until("they are refused", || server.raw("GET", "/api/v1/runs", &wrong, "").status == 429);
    let origin = format!("http://127.0.0.1:{}", server.port);
    let headers = [("Content-Type", "application/json"), ("Origin", origin.as_str())];
    let body = json!({ "link": link }).to_string();
    let signed = server.raw("POST", "/api/v1/session", &headers, &body);
    assert_eq!(signed.status, 200, "{}", signed.body);
}

#[test]
fn messages_that_make_no_sense_are_answered_and_harm_nobody() {
    let server = Served::with(&[("go", GATE)]);
    let mut socket = server.socket("/ws");
    socket.snapshot();
    for nonsense in [
        "",
        "null",
        "[]",
        "{}",
        "{\"type\": 1}",
        "{\"type\": \"nonsense\", \"id\": 7}",
        "{\"type\": \"answer\", \"id\": 7}",
        "{\"type\": \"answer\", \"id\": -1, \"question\": \"x\", \"choice\": \"y\"}",
        "{\"type\": \"start\", \"id\": 7, \"skill\": []}",
        "{\"type\": \"answer\", \"id\": 7, \"question\": \"x\", \"choice\": \"y\", \"degest\": \"z\"}",
        "{\"id\": 7",
    ] {
        socket.send_frame(1, nonsense.as_bytes());
        let result = socket.until("a result", |message| message["type"] == "result");
        assert_eq!(result["error"]["code"], "invalid", "{nonsense}: {result}");
    }
    socket.send_frame(2, b"\0\x01");
    let result = socket.until("a result", |message| message["type"] == "result");
    assert_eq!((&result["ok"], &result["id"]), (&json!(false), &Value::Null));
    socket.done(json!({ "type": "show", "question": null }));
    // One that is too large ends the connection, and no other.
    let mut other = server.socket("/ws");
    other.snapshot();
    socket.send_frame(1, &vec![b'x'; 300 * 1024]);
    while socket.next().is_some() {}
    other.done(json!({ "type": "hello", "kind": "editor" }));
}

/// Names that stand for what is really there.
const QUESTION: &str = "the-question";
const DIGEST: &str = "the-digest";

/// Any JSON, not too large.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        "[0-9a-z]{10}-[0-9]".prop_map(Value::from),
        select(vec![QUESTION, DIGEST, "proceed", "cancel"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::hash_map("[a-z]{1,8}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Something like a message: a known or unknown type, with fields that are known by
/// name and hold anything.
fn any_message() -> impl Strategy<Value = Value> {
    let kinds = [
        "hello", "show", "answer", "hold", "release", "cancel", "resume", "retry", "start",
        "follow", "unfollow", "snapshot", "result", "",
    ];
    let names = [
        "id",
        "question",
        "choice",
        "digest",
        "reason",
        "remember",
        "typed",
        "code",
        "set",
        "nonce",
        "run",
        "step",
        "skill",
        "project",
        "inputs",
        "environment",
        "key",
        "kind",
        "secret",
        "more",
    ];
    let fields = proptest::collection::hash_map(select(names.to_vec()), any_json(), 0..6);
    (select(kinds.to_vec()), fields).prop_map(|(kind, fields)| {
        let mut message = json!({ "type": kind });
        for (name, value) in fields {
            message[name] = value;
        }
        message
    })
}

/// An answer to the question that is open, or nearly one: each field is as it should be,
/// missing, or anything.
fn nearly_an_answer() -> impl Strategy<Value = Value> {
    let field = |right: Value| prop_oneof![2 => Just(Some(right)), 1 => Just(None), 2 => any_json().prop_map(Some)];
    let fields = (
        field(json!(QUESTION)),
        field(json!("proceed")),
        field(json!(DIGEST)),
        field(json!("a reason")),
        any_json(),
    );
    fields.prop_map(|(question, choice, digest, reason, more)| {
        let mut message = json!({ "type": "answer", "id": 7 });
        let named = [
            ("question", question),
            ("choice", choice),
            ("digest", digest),
            ("reason", reason),
            // Now and then a field that no message has.
            ("more", more.is_object().then_some(more)),
        ];
        for (name, value) in named {
            message.as_object_mut().unwrap().extend(value.map(|value| (name.to_owned(), value)));
        }
        message
    })
}

/// Whether this can be the answer that counted.
fn is_an_answer(message: &Value) -> bool {
    let digest = message.get("digest").unwrap_or(&Value::Null);
    message["type"] == "answer"
        && message["id"].is_u64()
        && message["question"] == QUESTION
        && matches!(message["choice"].as_str(), Some("proceed" | "cancel"))
        && (digest.is_null() || digest == DIGEST)
        && message.get("more").is_none()
}

/// The ids of the results that are still to come: one for each message, unless it says
/// by its type and without an id that it wants none.
fn wants_result(message: &Value) -> Option<Value> {
    let id = message.get("id").filter(|id| id.is_u64()).cloned().unwrap_or_default();
    let may_be_silent = matches!(message["type"].as_str(), Some("hello" | "show"));
    (!(may_be_silent && id.is_null())).then_some(id)
}

#[test]
fn whatever_a_client_says_it_is_answered_and_others_are_served() {
    let server = Served::with(&[("go", GATE)]);
    let started = || {
        let run = server.start_skill("go");
        let asked = server.question();
        assert_eq!(asked["run"], run.as_str());
        asked
    };
    let asked = RefCell::new(started());
    let mut runs = 1;
    for (name, rights) in [("eve", "read"), ("ann", "answer,start")] {
        let token = server.person(name, rights);
        let socket = RefCell::new(server.socket_as(&token, "/ws"));
        socket.borrow_mut().snapshot();
        let config = ProptestConfig {
            cases: 100,
            failure_persistence: None,
            // What was answered stays answered: a smaller message says nothing.
            max_shrink_iters: 0,
            ..ProptestConfig::default()
        };
        let said = prop_oneof![
            3 => any_message().prop_map(|message| (message.to_string(), message)),
            3 => nearly_an_answer().prop_map(|message| (message.to_string(), message)),
            1 => any_json().prop_map(|value| (value.to_string(), value)),
            1 => ".{0,60}".prop_map(|text| {
                let value = serde_json::from_str(&text).unwrap_or_default();
                (text, value)
            }),
        ];
        let counted = RefCell::new(0);
        let done = TestRunner::new(config).run(&said, |(text, message)| {
            let (mut socket, mut asked) = (socket.borrow_mut(), asked.borrow_mut());
            let real = |name: &str| asked[name].as_str().unwrap().to_owned();
            let text = text.replace(QUESTION, &real("question")).replace(DIGEST, &real("digest"));
            socket.send_frame(1, text.as_bytes());
            if let Some(id) = wants_result(&message) {
                socket.until(&text, |one| one["type"] == "result" && one["id"] == id);
            }
            // The connection is still there, and takes commands.
            let there = socket.command(json!({ "type": "show", "question": null }));
            prop_assert_eq!(&there["ok"], &json!(true), "after {}", text);
            let path = format!("/api/v1/questions/{}", real("question"));
            if server.get(&path).ok()["state"] != "open" {
                prop_assert!(is_an_answer(&message) && rights != "read", "counted: {}", text);
                *counted.borrow_mut() += 1;
                *asked = started();
            }
            Ok(())
        });
        done.unwrap();
        let counted = counted.into_inner();
        assert_eq!(counted > 0, rights != "read", "{counted} answers of {name} counted");
        runs += counted;
    }
    let listed = server.get("/api/v1/runs?limit=1000").ok();
    assert_eq!(listed["runs"].as_array().unwrap().len(), runs, "nothing else was started");
}
