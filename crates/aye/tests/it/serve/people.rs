//! People: added, signed in, limited, revoked.

use serde_json::{Value, json};

use crate::cli::harness::until;

use super::client::{GATE, Served, Socket, new_key};

/// A browser that is signed in.
struct Browser {
    cookie: String,
    secret: String,
    origin: String,
}

impl Browser {
    fn sign_in(server: &Served, link: &str) -> Self {
        let secret = link.split_once("#signin=").unwrap().1;
        let origin = format!("http://127.0.0.1:{}", server.port);
        let headers = [("Content-Type", "application/json"), ("Origin", origin.as_str())];
        let body = json!({ "link": secret }).to_string();
        let signed = server.raw("POST", "/api/v1/session", &headers, &body);
        assert_eq!(signed.status, 200, "{}", signed.body);
        let cookie = signed.header("set-cookie").unwrap();
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let secret = signed.json()["secret"].as_str().unwrap().to_owned();
        // The link counts once.
        let replayed = server.raw("POST", "/api/v1/session", &headers, &body);
        assert_eq!(replayed.problem(410), "dead_link");
        Self { cookie, secret, origin }
    }

    fn headers(&self) -> Vec<(&str, &str)> {
        vec![
            ("Cookie", &self.cookie),
            ("X-Aye-Secret", &self.secret),
            ("Origin", &self.origin),
            ("Content-Type", "application/json"),
        ]
    }
}

/// The page is opened through a file that nobody else can read: command lines are for
/// everybody to see.
#[test]
fn a_browser_is_opened_without_a_secret_on_its_command_line() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = Served::with(&[("go", GATE)]);
    let opener = server.write("bin/xdg-open", "#!/bin/sh\nprintf '%s\\n' \"$@\" >opened\n");
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", opener.parent().unwrap().display());
    let opened = server.command(&["serve", "open"]).env("PATH", path).output().unwrap();
    assert!(opened.status.success(), "{opened:?}");
    assert_eq!((opened.stdout.len(), opened.stderr.len()), (0, 0), "{opened:?}");
    let file = server.home().join("open.html");
    assert_eq!(server.read("opened"), format!("{}\n", file.display()));
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);
    let page = std::fs::read_to_string(&file).unwrap();
    let link = page.split_once("url=").unwrap().1.split_once('"').unwrap().0;
    Browser::sign_in(&server, link);
}

fn add(server: &Served, args: &[&str]) -> Value {
    let mut all = vec!["people", "add"];
    all.extend_from_slice(args);
    all.push("--json");
    let told = server.aye(&all).ok().json();
    let mut keys: Vec<&String> = told.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["link", "name", "token"]);
    told
}

#[test]
fn a_link_signs_one_browser_in_and_a_cookie_alone_is_worth_nothing() {
    let server = Served::with(&[("go", GATE)]);
    let told = add(&server, &["ann", "--rights", "answer,start,read"]);
    let link = told["link"].as_str().unwrap();
    assert!(link.starts_with(&format!("http://127.0.0.1:{}/#signin=", server.port)), "{link}");
    let browser = Browser::sign_in(&server, link);
    let who = server.raw("GET", "/api/v1/session", &browser.headers(), "").ok();
    assert_eq!((&who["name"], &who["proof"]), (&json!("ann"), &json!("token")));
    assert!(who["secret"].is_null(), "told once");
    server.start_skill("go");
    server.question();
    let listed = server.raw("GET", "/api/v1/questions", &browser.headers(), "").ok();
    let question = &listed["questions"][0];
    let path = format!("/api/v1/questions/{}/answer", question["question"].as_str().unwrap());
    let answer = |nonce: &Value| {
        json!({ "choice": "proceed", "digest": question["digest"], "nonce": nonce }).to_string()
    };
    let right = answer(&question["nonce"]);
    // What another port of this host gets from the browser, and what another page can send.
    let without = |name: &str| -> Vec<(&str, &str)> {
        browser.headers().into_iter().filter(|(header, _)| *header != name).collect()
    };
    let with = |name: &'static str, value: &'static str| {
        let mut headers = without(name);
        headers.push((name, value));
        headers
    };
    for (headers, status) in [
        (without("X-Aye-Secret"), 401),
        (with("X-Aye-Secret", "0000"), 401),
        (without("Cookie"), 401),
        (without("Origin"), 403),
        (with("Origin", "http://127.0.0.1:1"), 403),
        (with("Origin", "https://evil.example"), 403),
        (with("Content-Type", "text/plain"), 415),
    ] {
        let refused = server.raw("POST", &path, &headers, &right);
        assert_eq!(refused.status, status, "{headers:?} {}", refused.body);
    }
    for nonce in [Value::Null, json!("0".repeat(32))] {
        let refused = server.raw("POST", &path, &browser.headers(), &answer(&nonce));
        assert_eq!(refused.problem(403), "forbidden");
    }
    assert_eq!(server.question()["state"], "open");
    server.raw("POST", &path, &browser.headers(), &right).ok();
    let run = question["run"].as_str().unwrap();
    server.until_status(run, "completed");
    let events = server.get(&format!("/api/v1/runs/{run}/events")).ok();
    let events = events["events"].as_array().unwrap();
    let answered = events.iter().find(|event| event["type"] == "confirmation_answered").unwrap();
    let by = (&answered["answer"]["by"], &answered["answer"]["prompter"]);
    assert_eq!(by, (&json!("ann"), &json!("web")));
}

#[test]
fn a_browsers_socket_says_its_secret_first() {
    let server = Served::with(&[]);
    let told = add(&server, &["ann", "--rights", "read"]);
    let browser = Browser::sign_in(&server, told["link"].as_str().unwrap());
    let headers = [("Cookie", browser.cookie.as_str()), ("Origin", browser.origin.as_str())];
    let mut socket = Socket::open(&server, "/ws", &headers).unwrap();
    socket.send(&json!({ "type": "hello", "secret": browser.secret, "kind": "page" }));
    assert_eq!(socket.snapshot()["you"], "ann");
    for first in [
        json!({ "type": "hello", "secret": "0000" }),
        json!({ "type": "hello" }),
        json!({ "type": "snapshot", "id": 1, "secret": browser.secret }),
    ] {
        let mut socket = Socket::open(&server, "/ws", &headers).unwrap();
        socket.send(&first);
        assert!(socket.next().is_none(), "{first}");
    }
    let without = [("Cookie", browser.cookie.as_str())];
    let refused = Socket::open(&server, "/ws", &without).err().expect("refused");
    assert_eq!(refused.problem(403), "forbidden");
}

#[test]
fn rights_and_projects_limit_what_people_see_and_do() {
    let server = Served::with(&[("go", GATE)]);
    let reader = server.person("rea", "read");
    server.start_skill("go");
    let question = server.question();
    let path = format!("/api/v1/questions/{}/answer", question["question"].as_str().unwrap());
    let answer = json!({ "choice": "proceed", "digest": question["digest"] });
    assert_eq!(server.post_as(&reader, &path, &answer, &new_key()).problem(403), "forbidden");
    let start = json!({ "skill": "go" });
    assert_eq!(
        server.post_as(&reader, "/api/v1/runs", &start, &new_key()).problem(403),
        "forbidden"
    );
    let run = question["run"].as_str().unwrap();
    let cancel = format!("/api/v1/runs/{run}/cancel");
    assert_eq!(server.post_as(&reader, &cancel, &json!({}), &new_key()).problem(403), "forbidden");
    let get = |token: &str, path: &str| {
        server.raw("GET", path, &[("Authorization", &format!("Bearer {token}"))], "")
    };
    assert_eq!(get(&reader, "/api/v1/runs").ok()["runs"][0]["run"], json!(run));
    assert_eq!(get(&reader, "/metrics").problem(403), "forbidden");
    assert_eq!(get(&reader, "/mcp").problem(403), "forbidden");

    std::fs::create_dir_all(server.work().join("elsewhere")).unwrap();
    let rights = ["--rights", "answer,start,read", "--project", "elsewhere"];
    let told = add(&server, &[&["eve"], &rights[..]].concat());
    let eve = told["token"].as_str().unwrap();
    assert_eq!(get(eve, "/api/v1/runs").ok()["runs"], json!([]));
    let told = get(eve, "/api/v1/questions").ok();
    assert_eq!((&told["questions"], &told["open"]), (&json!([]), &json!(0)));
    // Neither a part of an id nor memory tells of other projects.
    for path in [&run[..1], &run[..4], "nope"] {
        let missing = get(eve, &format!("/api/v1/runs/{path}"));
        assert!(missing.json()["hint"].is_null(), "{}", missing.body);
        assert_eq!(missing.problem(404), "not_found");
    }
    assert_eq!(get(eve, "/api/v1/memory").problem(403), "forbidden");
    let last = u64::MAX;
    assert_eq!(get(eve, &format!("/api/v1/events?after={last}")).ok()["events"], json!([]));
    assert_eq!(get(eve, "/api/v1/skills").ok()["skills"], json!([]));
    assert_eq!(get(eve, "/api/v1/events").ok()["events"], json!([]));
    assert_eq!(get(eve, &format!("/api/v1/runs/{run}")).problem(404), "not_found");
    assert_eq!(server.post_as(eve, &path, &answer, &new_key()).problem(404), "not_found");
    assert_eq!(server.post_as(eve, &cancel, &json!({}), &new_key()).problem(404), "not_found");
    assert_eq!(server.post_as(eve, "/api/v1/runs", &start, &new_key()).problem(404), "not_found");
    let mut socket = server.socket_as(eve, "/ws?after=0");
    let snapshot = socket.snapshot();
    assert_eq!((&snapshot["runs"], &snapshot["questions"]), (&json!([]), &json!([])));
    assert_eq!(snapshot["questions_open"], 0);
    let shown = json!({ "type": "answer", "question": question["question"], "choice": "proceed" });
    assert_eq!(socket.refused(shown), "not_found");
    assert!(socket.seen.is_empty(), "{:?}", socket.seen);
}

/// Not only those of the page that is read.
#[test]
fn who_is_limited_to_projects_is_told_how_much_there_is() {
    let server = Served::with(&[("go", GATE)]);
    let told = add(&server, &["eve", "--rights", "answer,start,read", "--project", "."]);
    let eve = told["token"].as_str().unwrap();
    for _ in 0..3 {
        server.start_skill("go");
    }
    let get = |path: &str| {
        server.raw("GET", path, &[("Authorization", &format!("Bearer {eve}"))], "").ok()
    };
    until("three questions", || {
        get("/api/v1/questions")["questions"].as_array().is_some_and(|all| all.len() == 3)
    });
    let page = get("/api/v1/questions?limit=1");
    assert_eq!((&page["questions"][1], &page["open"]), (&Value::Null, &json!(3)), "{page}");
    let snapshot = server.socket_as(eve, "/ws").snapshot();
    assert_eq!((&snapshot["questions_open"], &snapshot["runs_in_all"]), (&json!(3), &json!(3)));
}

/// A program with a token is not the page, whatever it says.
#[test]
fn only_a_browser_that_is_signed_in_starts_from_the_page() {
    let server = Served::with(&[("go", GATE)]);
    let told = add(&server, &["ann", "--rights", "answer,start,read"]);
    let browser = Browser::sign_in(&server, told["link"].as_str().unwrap());
    let through = |started: &Value| {
        let run = started["run"].as_str().unwrap();
        server.get(&format!("/api/v1/runs/{run}")).ok()["started_by"].clone()
    };
    let key = new_key();
    let headers = [browser.headers(), vec![("Idempotency-Key", key.as_str())]].concat();
    let body = json!({ "skill": "go" }).to_string();
    let started = server.raw("POST", "/api/v1/runs", &headers, &body).ok();
    assert_eq!(through(&started), "web");
    let mut socket = server.socket("/ws");
    socket.snapshot();
    for (kind, recorded) in [("page", "api"), ("program", "api"), ("editor", "editor")] {
        socket.done(json!({ "type": "hello", "kind": kind }));
        let started = socket.done(json!({ "type": "start", "skill": "go" }));
        assert_eq!(through(&started), recorded, "{kind}");
    }
}

/// What a failed step is given differently decides what runs.
#[test]
fn who_may_only_start_changes_no_step_and_answers_no_failure() {
    let fails = "steps:\n  - { name: act, shell: exit 3, on_error: ask }";
    let ends = "steps:\n  - { name: act, shell: exit 3 }";
    let server = Served::with(&[("fails", fails), ("ends", ends)]);
    let starter = server.person("cid", "start");
    let both = server.person("ann", "start,answer");
    let changed = json!({ "set": { "script": "touch changed" } });
    let asks = server.start_skill("fails");
    let asked = server.question();
    let path = format!("/api/v1/runs/{asks}/retry");
    for body in [&changed, &json!({})] {
        assert_eq!(server.post_as(&starter, &path, body, &new_key()).problem(403), "forbidden");
    }
    assert!(!server.work().join("changed").exists());
    let seen = json!({ "set": { "script": "touch changed" }, "digest": asked["digest"] });
    server.post_as(&both, &path, &seen, &new_key()).ok();
    until("the change", || server.work().join("changed").exists());
    let ended = server.start_skill("ends");
    let status = || server.aye(&["show", &ended, "--json"]).ok().json()["status"].clone();
    until("the end", || status() == "failed");
    let path = format!("/api/v1/runs/{ended}/retry");
    let refused = server.post_as(&starter, &path, &changed, &new_key());
    assert_eq!(refused.problem(403), "forbidden");
    server.post_as(&starter, &path, &json!({}), &new_key()).ok();
}

/// At a terminal a person is asked before someone is added.
#[test]
fn adding_a_person_at_a_terminal_asks() {
    use crate::prompt::pty::Terminal;
    let server = Served::with(&[]);
    let add = ["people", "add", "ann", "--rights", "answer"];
    for (key, code, count) in [("n", 5, 0), ("y", 0, 1)] {
        let mut terminal = Terminal::aye(&server, &add);
        terminal.wait_for("Add ann?").wait_for("[y/N]").keys(key);
        assert_eq!(terminal.end(), Some(code), "{key}");
        let listed = server.aye(&["people", "list", "--json"]).ok().json();
        assert_eq!(listed.as_array().map(Vec::len), Some(count), "{listed}");
    }
}

#[test]
fn a_name_that_no_person_can_have_is_refused_before_anything_is_shown() {
    let server = Served::with(&[]);
    let refused = server.aye(&["people", "add", "x y", "--yes"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{}", refused.all());
    assert!(refused.stderr.contains("`x y` cannot be a person's name"), "{}", refused.all());
}

/// A browser shows with the nonce of the question that it means this failure.
#[test]
fn a_browser_tries_again_what_it_read() {
    let fails = "steps:\n  - { name: act, shell: 'echo x >>tries; exit 3', on_error: ask }";
    let ends = "steps:\n  - { name: act, shell: exit 3 }";
    let server = Served::with(&[("fails", fails), ("ends", ends)]);
    let told = add(&server, &["ann", "--rights", "answer,start"]);
    let browser = Browser::sign_in(&server, told["link"].as_str().unwrap());
    let run = server.start_skill("fails");
    server.question();
    let read = server.raw("GET", "/api/v1/questions", &browser.headers(), "").ok();
    let asked = read["questions"][0].clone();
    let post = |run: &str, body: &Value| {
        let path = format!("/api/v1/runs/{run}/retry");
        server.raw("POST", &path, &browser.headers(), &body.to_string())
    };
    assert_eq!(post(&run, &json!({ "nonce": asked["nonce"] })).problem(400), "invalid");
    assert_eq!(post(&run, &json!({ "digest": asked["digest"] })).problem(403), "forbidden");
    let seen = json!({ "digest": asked["digest"], "nonce": asked["nonce"] });
    post(&run, &seen).ok();
    let next = || server.question()["question"] != asked["question"];
    until("the next failure", next);
    assert_eq!(post(&run, &seen).problem(403), "forbidden", "that failure is another one");
    assert_eq!(server.read("tries").lines().count(), 2);
    // No question is open about a run that has ended: a key says which request it is.
    let ended = server.start_skill("ends");
    server.until_status(&ended, "failed");
    assert_eq!(post(&ended, &json!({})).problem(400), "key_required");
}

#[test]
fn what_is_revoked_counts_no_more_also_on_open_connections() {
    let server = Served::with(&[("go", GATE)]);
    let told = add(&server, &["ann", "--rights", "answer"]);
    let token = told["token"].as_str().unwrap();
    let browser = Browser::sign_in(&server, told["link"].as_str().unwrap());
    let mut socket = server.socket_as(token, "/ws");
    socket.snapshot();
    let listed = server.aye(&["people", "list", "--json"]).ok().json();
    let device = listed[0]["devices"][0]["device"].as_str().unwrap().to_owned();
    server.aye(&["people", "revoke", "ann", &device]).ok();
    assert_eq!(server.raw("GET", "/api/v1/session", &browser.headers(), "").status, 401);
    server.aye(&["people", "revoke", "ann"]).ok();
    let get = |token: &str| {
        server.raw("GET", "/api/v1/runs", &[("Authorization", &format!("Bearer {token}"))], "")
    };
    assert_eq!(get(token).problem(401), "unauthorized");
    socket.send(&json!({ "type": "show", "id": 1, "question": null }));
    while let Some(message) = socket.next() {
        assert_ne!(message["type"], "result", "{message}");
    }
    server.aye(&["people", "remove", "ann"]).ok();
    assert_eq!(server.aye(&["people", "list", "--json"]).ok().json(), json!([]));
    assert_eq!(server.aye(&["people", "remove", "ann"]).code, 3);
}

const GUARDED: &str = "
steps:
  - { name: act, command: touch, args: [acted], confirmation: { message: Really?, reauth: true, timeout: 1h } }";

#[test]
fn a_person_proves_themselves_with_a_code_of_their_own() {
    use crate::cli::auth::{code, code_of, set_up};
    let server = Served::with(&[("go", GUARDED)]);
    let (ann, bob) = (server.person("ann", "answer,start"), server.person("bob", "answer"));
    set_up(&server);
    server.aye(&["auth", "setup", "--person", "ann"]).ok();
    server.aye(&["auth", "confirm", "--person", "ann", &code_of(&server, "ann", -1)]).ok();
    let unknown = server.aye(&["auth", "setup", "--person", "cid"]);
    assert!(unknown.code != 0 && unknown.stderr.contains("cid"), "{}", unknown.all());

    let mut socket = server.socket_as(&ann, "/ws");
    socket.snapshot();
    socket.done(json!({ "type": "start", "skill": "go" }));
    let asked = socket.event("confirmation_required");
    let answer = |code: Option<String>| {
        json!({ "type": "answer", "question": asked["question"], "digest": asked["digest"],
            "choice": "proceed", "code": code })
    };
    assert_eq!(socket.refused(answer(None)), "refused");
    // The code of another does not count, nor does that of the account.
    assert_eq!(socket.refused(answer(Some(code(&server, 0)))), "refused");
    let mut other = server.socket_as(&bob, "/ws");
    other.snapshot();
    assert_eq!(other.refused(answer(Some(code_of(&server, "ann", 0)))), "refused");
    assert!(!server.work().join("acted").exists());
    socket.done(answer(Some(code_of(&server, "ann", 0))));
    let answered = socket.until("the answer", |message| {
        message["type"] == "confirmation_answered" && message["refused"].is_null()
    });
    assert_eq!(
        (&answered["answer"]["by"], &answered["answer"]["reauth"]),
        (&json!("ann"), &json!(true))
    );
    socket.event("skill_completed");
    let shown = server.aye(&["show", "last"]).ok().stdout;
    assert!(shown.contains("by ann through command (otp)"), "{shown}");
}

#[test]
fn who_becomes_a_person_keeps_the_second_factor() {
    use crate::cli::auth::set_up;
    let server = Served::with(&[]);
    set_up(&server);
    let status = server.aye(&["auth", "status", "--json"]).json();
    let user = status["user"].as_str().unwrap();
    server.aye(&["people", "add", "me", "--rights", "answer", "--account", user, "--json"]).ok();
    let status = server.aye(&["auth", "status", "--json"]).json();
    assert_eq!(status, json!({ "user": "me", "set_up": true }));
}
