//! Runs whose driver died.

use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::cli::harness::until;
use crate::prompt::pty::Terminal;

use super::client::{Answer, GATE, Served};

/// The process that drives a run, once there is one that is not `before`.
fn driver(server: &Served, run: &str, before: Option<i32>) -> i32 {
    let mut found = 0;
    until("a driver", || {
        let sql = "SELECT pid FROM runs WHERE id = ?1";
        found = server.journal_db().query_row(sql, [run], |row| row.get(0)).unwrap();
        let driven = server.get(&format!("/api/v1/runs/{run}")).ok()["driven"] == true;
        driven && before != Some(found)
    });
    found
}

fn kill(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

/// Kills the driver of a run twice, and waits each time until the server has taken it up.
/// What the server found with it the first time, it has then looked at to the end.
fn taken_up_twice(server: &Served, run: &str) {
    let mut pid = driver(server, run, None);
    for _ in 0..2 {
        kill(pid);
        pid = driver(server, run, Some(pid));
    }
}

/// A detached run has the environment of its caller; one that the server starts, the server's.
#[test]
fn a_detached_run_has_the_environment_of_its_caller() {
    let says = "steps: [ { name: say, shell: 'echo it is ${CALLER-nobody}' } ]";
    let server = Served::with(&[("env", says)]);
    let mut detached = server.command(&["run", "env", "--detach", "-q"]);
    let run = detached.env("CALLER", "me").output().unwrap();
    let run = String::from_utf8(run.stdout).unwrap().trim().to_owned();
    for (run, said) in [(run, "it is me"), (server.start_skill("env"), "it is nobody")] {
        server.until_status(&run, "completed");
        let log = server.get(&format!("/api/v1/runs/{run}/steps/say/log"));
        assert_eq!((log.status, log.body.trim()), (200, said));
    }
}

#[test]
fn a_run_whose_driver_died_is_taken_up_three_times() {
    let server = Served::with(&[("go", GATE)]);
    let run = server.start_skill("go");
    server.question();
    let mut pid = driver(&server, &run, None);
    for _ in 0..3 {
        kill(pid);
        pid = driver(&server, &run, Some(pid));
    }
    kill(pid);
    let is_driven = || server.get(&format!("/api/v1/runs/{run}")).ok()["driven"] == true;
    until("it is not driven", || !is_driven());
    // Another one is taken up meanwhile, this one is not.
    let other = server.start_skill("go");
    taken_up_twice(&server, &other);
    assert!(!is_driven());
    // Someone who resumes it takes care of it: from then on it counts anew.
    server.aye(&["resume", &run, "--detach"]).ok();
    let resumed = driver(&server, &run, Some(pid));
    kill(resumed);
    driver(&server, &run, Some(resumed));
    // Its question is still there, and an answer lets it continue.
    let all = server.get("/api/v1/questions").ok();
    let open = all["questions"].as_array().unwrap();
    let question = open.iter().find(|question| question["run"] == run.as_str()).unwrap();
    let path = format!("/api/v1/questions/{}/answer", question["question"].as_str().unwrap());
    server.post(&path, &json!({ "choice": "proceed", "digest": question["digest"] })).ok();
    server.until_status(&run, "completed");
}

/// What a client sent and got no answer to, it sends again with the same key: however the
/// server was killed meanwhile, each run is started once and each question answered once.
#[test]
fn killed_with_answers_and_starts_in_flight_nothing_is_lost_or_doubled() {
    const ROUNDS: usize = 3;
    const EACH: usize = 4;
    let gate = "
inputs: [ { name: who, type: string, required: true } ]
steps:
  - { name: sure, confirm: { message: 'Go?', timeout: 1h } }
  - { name: go, shell: 'echo {{ inputs.who }} >>went' }";
    let mut server = Served::with(&[("go", gate)]);
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64 ^ u64::from(std::process::id());
    println!("seed {seed:#x}");
    let mut random = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let mut open: Vec<Value> = Vec::new();
    for round in 0..ROUNDS {
        // Those of the last round are answered while others start.
        let starts = (0..EACH).map(|one| {
            let who = format!("{round}-{one}");
            let body = json!({ "skill": "go", "inputs": { "who": who } });
            ("/api/v1/runs".to_owned(), body, format!("start-{who}"))
        });
        let answers = open.drain(..).map(|asked| {
            let id = asked["question"].as_str().unwrap();
            let body = json!({ "choice": "proceed", "digest": asked["digest"] });
            (format!("/api/v1/questions/{id}/answer"), body, format!("answer-{id}"))
        });
        let requests: Vec<_> = starts.chain(answers).collect();
        let kill_after = random(requests.len() as u64);
        let done = AtomicU64::new(0);
        let unanswered: Vec<_> = std::thread::scope(|scope| {
            let sending: Vec<_> = requests
                .iter()
                .map(|(path, body, key)| {
                    let (server, done) = (&server, &done);
                    scope.spawn(move || {
                        let sent = server.post_if_there(path, body, key);
                        done.fetch_add(1, Ordering::Relaxed);
                        sent.map(Answer::ok).is_none()
                    })
                })
                .collect();
            until("so many are answered", || done.load(Ordering::Relaxed) >= kill_after);
            kill(i32::try_from(server.pid()).unwrap());
            let sent = sending.into_iter().map(|sent| sent.join().unwrap());
            requests.iter().zip(sent).filter(|(_, unanswered)| *unanswered).collect()
        });
        server.restart();
        for ((path, body, key), _) in unanswered {
            server.post_as(&server.token, path, body, key).ok();
        }
        until("the questions of this round", || {
            open = server.get("/api/v1/questions").ok()["questions"].as_array().unwrap().clone();
            open.len() == EACH
        });
    }
    let runs = server.get("/api/v1/runs").ok()["runs"].as_array().unwrap().clone();
    assert_eq!(runs.len(), ROUNDS * EACH);
    for asked in &open {
        server.answer(asked, "proceed");
    }
    for run in &runs {
        server.until_status(run["run"].as_str().unwrap(), "completed");
    }
    let went = std::fs::read_to_string(server.work().join("went")).unwrap();
    let mut went: Vec<&str> = went.lines().collect();
    went.sort_unstable();
    let each = (0..ROUNDS).flat_map(|round| (0..EACH).map(move |one| format!("{round}-{one}")));
    assert_eq!(went, each.collect::<Vec<_>>(), "each once");
    let events = server.get("/api/v1/events?limit=1000").ok()["events"].clone();
    let of = |kind: &str| {
        events.as_array().unwrap().iter().filter(|event| event["type"] == kind).count()
    };
    assert_eq!((of("skill_started"), of("confirmation_answered")), (runs.len(), runs.len()));
}

/// Takings-up count anew once the run gets further.
#[test]
fn a_run_that_gets_further_is_taken_up_again() {
    let twice = "
steps:
  - { name: sure, confirm: { message: 'Go?', timeout: 1h } }
  - { name: go, shell: touch went }
  - { name: again, confirm: { message: 'And again?', timeout: 1h } }";
    let server = Served::with(&[("go", twice)]);
    let run = server.start_skill("go");
    let asked = server.question();
    let mut pid = driver(&server, &run, None);
    for _ in 0..3 {
        kill(pid);
        pid = driver(&server, &run, Some(pid));
    }
    server.answer(&asked, "proceed");
    until("the next question", || {
        let open = server.get("/api/v1/questions").ok()["questions"][0].clone();
        open["step"] == "again"
    });
    kill(pid);
    driver(&server, &run, Some(pid));
}

/// What keeps the server from taking up a run is said once, and ends.
#[test]
fn a_run_that_could_not_be_taken_up_is_tried_again() {
    let server = Served::with(&[("go", GATE)]);
    let run = server.start_skill("go");
    server.question();
    let pid = driver(&server, &run, None);
    server.aye(&["trust", "--remove"]).ok();
    kill(pid);
    let refused = format!("run `{run}` was not resumed: ");
    until("why it waits", || server.said().contains(&refused));
    server.aye(&["trust", "--yes"]).ok();
    driver(&server, &run, Some(pid));
    assert_eq!(server.said().matches(&refused).count(), 1, "{}", server.said());
}

#[test]
fn a_secret_that_is_lost_is_named() {
    let skill = "
inputs: [ { name: token, type: secret, required: true } ]
steps:
  - { name: sure, confirm: { message: 'Go?', timeout: 1h } }
  - { name: go, shell: 'printenv TOKEN >went', env: { TOKEN: '{{ inputs.token }}' } }";
    let server = Served::with(&[("go", skill)]);
    let start = json!({ "skill": "go", "inputs": { "token": "sesame-42" } });
    let run = server.post("/api/v1/runs", &start).ok()["run"].as_str().unwrap().to_owned();
    server.question();
    kill(driver(&server, &run, None));
    let hint = format!("`aye resume {run}` on a terminal asks for it");
    until("what is missing", || server.said().contains(&hint));
    assert!(!server.said().contains("sesame-42"), "{}", server.said());
}

/// An answer over the server is recorded, and the run stays with the person who
/// interrupted it.
#[test]
fn an_answer_does_not_take_up_what_somebody_interrupted() {
    let server = Served::with(&[("go", GATE)]);
    let mut terminal = Terminal::aye(&server, &["run", "go"]);
    terminal.wait_for("[y/N]");
    terminal.keys("\u{3}");
    assert_eq!(terminal.end(), Some(130));
    let interrupted = server.last();
    let taken = server.answer(&server.question(), "proceed");
    assert_eq!(taken["state"], "answered");
    let why = taken["not_resumed"].as_str().unwrap();
    assert!(why.contains(&format!("`aye resume {interrupted}`")), "{why}");
    let pause = || server.get(&format!("/api/v1/runs/{interrupted}")).ok()["driven"].clone();
    assert_eq!(pause(), false);
    // The same for one that a script left, which waits for this answer.
    assert_eq!(server.aye(&["run", "go", "--no-input"]).code, 6);
    let left = server.last();
    let taken = server.answer(&server.question(), "proceed");
    let why = taken["not_resumed"].as_str().unwrap();
    assert!(why.contains(&format!("`aye resume {left}`")), "{why}");
    assert!(!server.work().join("went").exists());
    for run in [interrupted, left] {
        server.aye(&["resume", &run]).ok();
        server.until_status(&run, "completed");
    }
}

#[test]
fn a_run_that_somebody_drove_is_theirs() {
    let wait = "
steps: [ { name: wait, shell: 'touch began; sleep 1000', idempotent: true } ]";
    let server = Served::with(&[("go", GATE), ("wait", wait)]);
    // As at a terminal: this process drives the run itself.
    let mut child = server.start_until(&["run", "wait"], "began");
    child.kill().unwrap();
    child.wait().unwrap();
    let own = server.last();
    let is_driven = || server.get(&format!("/api/v1/runs/{own}")).ok()["driven"] == true;
    until("it is not driven", || !is_driven());
    // Of what is detached by a person, the server takes care.
    let detached = server.aye(&["run", "go", "--detach", "-q"]).ok().stdout.trim().to_owned();
    taken_up_twice(&server, &detached);
    assert!(!is_driven());
}

/// Nothing of a project continues once its trust was withdrawn; the answer is recorded.
#[test]
fn what_is_no_longer_trusted_is_neither_resumed_nor_tried_again() {
    let fails = "
steps: [ { name: fail, shell: 'touch again; exit 3' } ]";
    let server = Served::with(&[("go", GATE), ("fails", fails)]);
    let failed = server.start_skill("fails");
    server.until_status(&failed, "failed");
    std::fs::remove_file(server.work().join("again")).unwrap();
    let run = server.start_skill("go");
    let asked = server.question();
    let pid = driver(&server, &run, None);
    server.aye(&["trust", "--remove"]).ok();
    kill(pid);
    until("it is not taken up", || server.said().contains(&format!("run `{run}` was not resumed")));
    let taken = server.answer(&asked, "proceed");
    let why = taken["not_resumed"].as_str().unwrap();
    assert!(why.contains("trust"), "{why}");
    let retry = server.post(&format!("/api/v1/runs/{failed}/retry"), &json!({}));
    assert!((400..500).contains(&retry.status), "{} {}", retry.status, retry.body);
    assert!(retry.body.contains("trust"), "{}", retry.body);
    assert_eq!(server.get(&format!("/api/v1/runs/{run}")).ok()["driven"], false);
    for file in ["went", "again"] {
        assert!(!server.work().join(file).exists(), "{file}");
    }
}
