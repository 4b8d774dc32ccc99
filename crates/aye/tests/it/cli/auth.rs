//! `aye auth`, and questions that want a one-time code.

use totp_rs::{Builder, Secret};

use super::harness::{AYE, Place, until};

const SKILL: &str = "
name: guarded
steps:
  - name: act
    command: touch
    args: [acted]
    confirmation: { message: Really?, reauth: true, timeout: 1h }
";

/// The code of the next period, or so many periods from there. It is good now
/// and for half a minute at least; -1 is the one that an app shows now.
pub(crate) fn code(place: &Place, periods: i64) -> String {
    let user = place.aye(&["auth", "status", "--json"]).json()["user"].as_str().unwrap().to_owned();
    code_of(place, &user, periods)
}

/// The same for a second factor that is kept under this name.
pub(crate) fn code_of(place: &Place, user: &str, periods: i64) -> String {
    let path = place.home().join(format!("auth/{user}.json"));
    let kept: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let secret = Secret::try_from_base32(kept["secret"].as_str().unwrap()).unwrap();
    let totp = Builder::new().with_secret(secret).build().unwrap();
    let now = jiff::Timestamp::now().as_second() + 30 * (periods + 1);
    totp.generate(u64::try_from(now).unwrap()).to_string()
}

/// Makes a second factor and confirms it with the code that an app shows.
pub(crate) fn set_up(place: &Place) {
    place.aye(&["auth", "setup"]).ok();
    place.aye(&["auth", "confirm", &code(place, -1)]).ok();
}

fn namespace(kind: &str) -> u64 {
    let link = std::fs::read_link(format!("/proc/self/ns/{kind}")).unwrap();
    let digits = link.to_str().unwrap().replace(|c: char| !c.is_ascii_digit(), "");
    digits.parse().unwrap()
}

#[test]
fn a_question_that_wants_a_code_is_not_answered_without_one() {
    let place = Place::new();
    place.write("guarded.yaml", SKILL);
    assert_eq!(place.aye(&["auth", "status"]).code, 1);
    let shown = place.aye(&["auth", "setup"]).ok();
    assert!(shown.stdout.contains("otpauth://totp/Aye:"), "{}", shown.all());
    assert!(shown.stdout.contains('█'), "a picture to scan: {}", shown.all());
    place.aye(&["auth", "confirm", &code(&place, -1)]).ok();
    assert_eq!(place.aye(&["auth", "status"]).code, 0);

    // `--yes` may not open it.
    assert_eq!(place.aye(&["run", "guarded.yaml", "--yes", "--no-input"]).code, 6);
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let question = inbox[0]["question"].as_str().unwrap().to_owned();
    let without = place.aye(&["answer", &question, "proceed", "--no-input"]);
    assert_eq!(without.code, 2, "{}", without.all());
    assert!(without.stderr.contains("needs a one-time code"), "{}", without.all());
    let wrong = place.aye(&["answer", &question, "proceed", "--code", "000000", "--no-input"]);
    assert_eq!(wrong.code, 1, "{}", wrong.all());
    assert!(wrong.stderr.contains("the code is wrong"), "{}", wrong.all());
    assert!(!place.work().join("acted").exists());
    // That someone tried is in the journal; what they tried is not.
    let tried = place.aye(&["show", "last", "--json"]).ok().stdout;
    assert!(tried.contains("the code is wrong") && !tried.contains("000000"), "{tried}");

    let right = code(&place, 0);
    place.aye(&["answer", &question, "proceed", "--code", &right, "--no-input"]).ok();
    place.aye(&["resume", "last", "--no-input"]).ok();
    assert!(place.work().join("acted").exists());
    let shown = place.aye(&["show", "last", "--json"]).ok();
    assert!(!shown.stdout.contains(&right), "a code is not written down");
    let decisions = shown.json()["decisions"].as_array().unwrap().clone();
    assert!(decisions.iter().any(|one| one["proof"] == "otp"), "{decisions:?}");
    let shown = place.aye(&["show", "last"]).ok().stdout;
    assert!(shown.contains("through command (otp)"), "{shown}");
    let step = place.aye(&["show", "last", "act"]).ok().stdout;
    assert!(step.contains("through command (otp)"), "{step}");

    let again = place.aye(&["run", "guarded.yaml", "--no-input"]);
    assert_eq!(again.code, 6);
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let question = inbox[0]["question"].as_str().unwrap().to_owned();
    let twice = place.aye(&["answer", &question, "proceed", "--code", &right, "--no-input"]);
    assert_eq!(twice.code, 1, "a code counts once: {}", twice.all());
    // Saying no needs none.
    place.aye(&["answer", &question, "cancel", "--no-input"]).ok();
}

#[test]
fn a_second_factor_is_replaced_on_purpose_and_forgotten_with_a_code() {
    let place = Place::new();
    place.aye(&["auth", "setup"]).ok();
    place.aye(&["auth", "confirm", &code(&place, -1)]).ok();
    let again = place.aye(&["auth", "setup"]);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("--replace"), "{}", again.all());
    assert_eq!(place.aye(&["auth", "remove", "000000"]).code, 1);
    place.aye(&["auth", "remove", &code(&place, 0)]).ok();
    assert_eq!(place.aye(&["auth", "status"]).code, 1);
}

/// A request is a row that any program of the account can write: that a code
/// was checked is not taken on its word.
#[test]
fn a_stored_request_cannot_say_that_a_code_was_checked() {
    let place = Place::new();
    place.write("guarded.yaml", SKILL);
    place.aye(&["auth", "setup"]).ok();
    place.aye(&["auth", "confirm", &code(&place, -1)]).ok();
    place.aye(&["run", "guarded.yaml", "--detach"]).ok();
    until("the run asks", || {
        place.aye(&["inbox", "--json"]).ok().json()[0]["question"].is_string()
    });
    let open = place.aye(&["inbox", "--json"]).ok().json();
    let (run, question) = (open[0]["run"].as_str().unwrap(), open[0]["question"].as_str().unwrap());
    let user = place.aye(&["auth", "status", "--json"]).json()["user"].clone();
    let request = |code: &str| {
        serde_json::json!({
            "request": "answer", "question": question, "code": code,
            "answer": {
                "value": "proceed", "by": user, "prompter": "terminal", "reauth": true,
                "digest": open[0]["details"]["digest"],
                "origin": { "namespaces": { "user": namespace("user"), "pid": namespace("pid") } },
            },
        })
    };
    let db = place.journal_db();
    let send = |request: &serde_json::Value| {
        db.execute(
            "INSERT INTO requests (run, at, sender, body) VALUES (?1, 0, 'forged', ?2)",
            [run, &request.to_string()],
        )
        .unwrap();
        let id = db.last_insert_rowid();
        let mut found: (Option<String>, String) = (None, String::new());
        until("a verdict", || {
            let query = "SELECT verdict, body FROM requests WHERE id = ?1";
            found = db.query_row(query, [id], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            found.0.is_some()
        });
        assert_eq!(found.1, "", "nothing of it is kept");
        found.0.unwrap()
    };
    // Nor is it a person's if it does not say where it was given, and it uses no code up.
    let right = code(&place, 0);
    let mut nowhere = request(&right);
    nowhere["answer"].as_object_mut().unwrap().remove("origin");
    let refused = send(&nowhere);
    assert!(refused.contains("does not say what started it"), "{refused}");
    let mut plain = request("");
    plain.as_object_mut().unwrap().remove("code");
    assert_eq!(send(&plain), "refused: a one-time code is needed");
    let wrong = send(&request("000000"));
    assert!(wrong.starts_with("refused: the code is wrong"), "{wrong}");
    assert!(!place.work().join("acted").exists());
    // A right one is used up by the run.
    assert_eq!(send(&request(&right)), "accepted");
    until("the step has run", || place.work().join("acted").exists());
    // One that comes too late is not kept either.
    until("the run has ended", || place.status() == "completed");
    let late = place.aye(&["answer", question, "proceed", "--code", &right, "--no-input"]);
    assert_eq!(late.code, 1, "{}", late.all());
    let kept: i64 = db
        .query_row("SELECT count(*) FROM requests WHERE body != ''", [], |row| row.get(0))
        .unwrap();
    assert_eq!(kept, 0);
}

/// What is refused for another reason does not use a code up.
#[test]
fn a_step_cannot_use_up_a_code() {
    let place = Place::new();
    place.write("guarded.yaml", SKILL);
    place.aye(&["auth", "setup"]).ok();
    place.aye(&["auth", "confirm", &code(&place, -1)]).ok();
    assert_eq!(place.aye(&["run", "guarded.yaml", "--no-input"]).code, 6);
    let open = place.aye(&["inbox", "--json"]).ok().json();
    let (run, question) = (open[0]["run"].as_str().unwrap(), open[0]["question"].as_str().unwrap());
    let right = code(&place, 0);
    let answer = format!("{AYE} answer {question} proceed --code {right} --no-input");
    place.write("attack.yaml", &format!("name: a\nsteps:\n  - {{ name: a, shell: {answer} }}\n"));
    assert_eq!(place.aye(&["run", "attack.yaml", "--no-input"]).code, 1);
    let told = place.aye(&["show", run, "--json"]).ok().stdout;
    assert!(told.contains("a person has to answer this question"), "{told}");
    place.aye(&["answer", question, "proceed", "--code", &right, "--no-input"]).ok();
}

/// Neither with right codes, which it would use up, nor with wrong ones.
#[test]
fn a_step_cannot_change_a_second_factor_or_lock_it() {
    let place = Place::new();
    place.aye(&["auth", "setup"]).ok();
    place.aye(&["auth", "confirm", &code(&place, -1)]).ok();
    let right = code(&place, 0);
    let verbs = [
        format!("confirm {right}"),
        format!("remove {right}"),
        format!("setup --replace {right}"),
        "confirm 000000".to_owned(),
        "remove 000000".to_owned(),
        "setup --replace 000000".to_owned(),
        "remove 000000".to_owned(),
        "remove 000000".to_owned(),
    ];
    for verb in &verbs {
        let step = format!("{{ name: a, shell: '{AYE} auth {verb}' }}");
        place.write("attack.yaml", &format!("name: a\nsteps:\n  - {step}\n"));
        let ran = place.aye(&["run", "attack.yaml", "--no-input"]);
        assert!(ran.all().contains("cannot change a second factor"), "{verb}: {}", ran.all());
    }
    // A person who confirms twice loses no code either.
    let twice = place.aye(&["auth", "confirm", &right]);
    assert!(twice.stderr.contains("is set up for") && twice.code == 1, "{}", twice.all());
    place.aye(&["auth", "remove", &right]).ok();
}
