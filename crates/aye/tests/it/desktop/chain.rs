//! One question, several places: who joins, who withdraws, what is never an answer.

use std::process::Command;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::cli::auth;
use crate::cli::harness::{Place, Ran, until};
use crate::mcp::client::{Client, Era};
use crate::prompt::pty::Terminal;
use crate::serve::client::{Served, Socket};

use super::notification::{Bus, Monitor};
use super::screen::{Program, Screen, answers, place, settings};

fn gate(rest: &str) -> String {
    format!(
        "
name: release
steps:
  - name: deploy
    command: touch
    args: [deployed]
    confirmation: {{ title: Production, message: 'Deploy?', {rest} }}
"
    )
}

fn detach(screen: &Screen, place: &Place) {
    detach_with(&mut screen.aye(place, &["run", "skill.yaml", "--detach"]));
}

fn detach_with(command: &mut Command) {
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// A run in the background for each program, all on one screen.
fn detach_both(screen: &Screen) -> [Place; 2] {
    Program::BOTH.map(|program| {
        let place = place(&gate("timeout: 10m"));
        detach_with(&mut program.aye(screen, &place, &["run", "skill.yaml", "--detach"]));
        place
    })
}

fn question(place: &Place) -> String {
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    inbox[0]["question"].as_str().expect("an open question").to_owned()
}

#[test]
fn a_run_in_the_background_asks_on_the_desktop() {
    let (screen, place) = (Screen::start(), place(&gate("timeout: 5m")));
    detach(&screen, &place);
    screen.window();
    screen.keys(&["Tab", "Tab", "Return"]);
    until("it is deployed", || place.work().join("deployed").exists());
    until("it has ended", || place.status() == "completed");
}

#[test]
fn answered_elsewhere_the_window_closes() {
    let screen = Screen::start();
    let places = detach_both(&screen);
    screen.wait_for(2);
    for (place, left) in places.iter().zip([1, 0]) {
        place.aye(&["answer", &question(place), "proceed"]).ok();
        screen.wait_for(left);
        until("it is deployed", || place.work().join("deployed").exists());
    }
}

/// A client of the server's socket that declares itself this and shows the question, or has
/// told its person of it.
fn shower(screen: &Screen, served: &Served, kind: &str, says: fn(&Value) -> Value) -> Socket {
    let mut client = served.socket("/ws");
    client.snapshot();
    client.done(json!({ "type": "hello", "kind": kind }));
    detach(screen, served);
    let asked = client.event("confirmation_required");
    client.done(says(&asked["question"]));
    client
}

fn shows(question: &Value) -> Value {
    json!({ "type": "show", "question": question })
}

/// As VS Code does for a notification.
fn notifies(question: &Value) -> Value {
    json!({ "type": "show", "question": null, "notified": [question] })
}

#[test]
fn an_editor_that_shows_it_keeps_the_window_away_until_it_leaves() {
    for says in [shows, notifies] {
        let (screen, place) = (Screen::start(), place(&gate("timeout: 10m")));
        place.aye(&["trust", "--yes"]).ok();
        let served = Served::at(place);
        let editor = shower(&screen, &served, "editor", says);
        screen.assert_nothing();
        drop(editor);
        screen.window();
        screen.keys(&["Tab", "Tab", "Return"]);
        until("it is deployed", || served.work().join("deployed").exists());
    }
}

#[test]
fn a_page_that_shows_it_does_not_keep_the_window_away() {
    let (screen, place) = (Screen::start(), place(&gate("timeout: 10m")));
    place.aye(&["trust", "--yes"]).ok();
    let served = Served::at(place);
    let _page = shower(&screen, &served, "page", shows);
    screen.window();
    served.aye(&["cancel", "last"]).ok();
    screen.wait_for(0);
}

#[test]
fn closed_without_an_answer_it_waits_in_the_inbox() {
    let (screen, place) = (Screen::start(), place(&gate("timeout: 5m")));
    detach(&screen, &place);
    let window = screen.window();
    screen.close(&window);
    screen.wait_for(0);
    screen.assert_nothing();
    assert_eq!(place.status(), "waiting");
    place.aye(&["answer", &question(&place), "proceed"]).ok();
    until("it is deployed", || place.work().join("deployed").exists());
}

#[test]
fn at_its_deadline_a_window_closes_and_the_default_is_taken() {
    // One that proceeds is taken, because someone could see it; one that does not, always.
    for (default, deployed, program) in
        [("yes", true, Program::Zenity), ("no", false, Program::Kdialog)]
    {
        let screen = Screen::start();
        let place = place(&gate(&format!("timeout: 20s, default: {default}")));
        let mut command = program.aye(&screen, &place, &["run", "skill.yaml", "--json"]);
        let child = command.spawn().unwrap();
        screen.wait_for(1);
        let ran = Ran::of(child.wait_with_output().unwrap(), &place);
        assert_eq!(ran.code, if deployed { 0 } else { 5 }, "{}", ran.all());
        assert_eq!(place.work().join("deployed").exists(), deployed);
        assert!(answers(&ran.stdout).is_empty());
        assert!(ran.stdout.contains("confirmation_expired"), "{}", ran.all());
        assert!(screen.windows().is_empty());
    }
}

#[test]
fn a_display_that_dies_is_no_answer_and_the_question_stays() {
    let mut screen = Screen::start();
    let places = detach_both(&screen);
    let windows = screen.wait_for(2);
    screen.kill();
    until("no program is left", || windows.iter().all(|window| has_ended(window)));
    for place in &places {
        let asked = question(place);
        // Whoever drives it has seen the end of its window by then.
        place.aye(&["answer", &asked, "proceed"]).ok();
        until("it has ended", || place.status() == "completed");
        let shown = place.aye(&["show", "last", "--json"]).ok().json();
        let events = shown["events"].as_array().unwrap();
        let answered: Vec<&Value> =
            events.iter().filter(|event| event["type"] == "confirmation_answered").collect();
        assert_eq!(answered.len(), 1, "{answered:?}");
        assert_eq!(answered[0]["answer"]["prompter"], "command");
    }
}

/// Whether the program of a window has ended.
fn has_ended(window: &str) -> bool {
    let pid = window.split(':').nth(1).unwrap();
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // One that nobody has heard of yet is a zombie.
    state.is_empty() || state.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z"))
}

#[test]
fn without_a_display_that_answers_nobody_is_asked_and_the_run_rests() {
    let place = place(&gate("timeout: 10m"));
    let mut command = place.command(&["run", "skill.yaml"]);
    let none = Ran::of(command.env("DISPLAY", ":12345").output().unwrap(), &place);
    assert_eq!(none.code, 6, "{}", none.all());
    // One that takes the call and says nothing is waited for a moment, not for ever.
    let screen = Screen::start();
    screen.signal(rustix::process::Signal::STOP);
    let since = Instant::now();
    let hung = screen.aye(&place, &["run", "skill.yaml"]).output().unwrap();
    screen.signal(rustix::process::Signal::CONT);
    let hung = Ran::of(hung, &place);
    assert_eq!(hung.code, 6, "{}", hung.all());
    assert!(since.elapsed() < Duration::from_secs(60), "{:?}", since.elapsed());
    assert!(screen.windows().is_empty());
}

#[test]
fn without_a_program_nobody_is_asked_and_the_run_rests() {
    let (screen, place) = (Screen::start(), place(&gate("timeout: 10m")));
    let mut command = screen.aye(&place, &["run", "skill.yaml"]);
    let ran = Ran::of(command.env("PATH", place.path()).output().unwrap(), &place);
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(screen.windows().is_empty());
}

#[test]
fn a_program_that_does_not_start_leaves_the_question_to_the_next() {
    let (screen, place) = (Screen::start(), place(&gate("timeout: 10m")));
    let broken = place.write("bin/zenity", "#!/bin/sh\necho broken >&2\nexit 1\n");
    std::fs::set_permissions(&broken, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", broken.parent().unwrap().display());
    let mut command = screen.aye(&place, &["run", "skill.yaml", "--json"]);
    let mut child = command.env("PATH", path).spawn().unwrap();
    let window = screen.window();
    assert!(screen.name(&window).contains("KDialog"), "{}", screen.name(&window));
    // On a busy machine a window may be there before it hears its keys.
    until("it is answered", || {
        screen.keys(&["Down", "Return"]);
        child.try_wait().unwrap().is_some()
    });
    let ran = Ran::of(child.wait_with_output().unwrap(), &place);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(answers(&ran.stdout), [("proceed".to_owned(), "kdialog".to_owned())]);
}

#[test]
fn two_questions_at_once_have_two_windows_and_each_its_answer() {
    for program in Program::BOTH {
        let screen = Screen::start();
        let place = place(
            "
name: both
steps:
  - name: roll
    foreach: [web, api]
    parallel: 2
    steps:
      - name: ship
        command: touch
        args: ['shipped-{{ item }}']
        confirmation: { title: 'Ship {{ item }}', message: 'Ship {{ item }}?', timeout: 5m }
",
        );
        detach_with(&mut program.aye(&screen, &place, &["run", "skill.yaml", "--detach"]));
        let windows = screen.wait_for(2);
        screen.shot(&format!("{}-two", program.name()));
        let api = windows.iter().find(|window| screen.name(window).starts_with("Aye: Ship api"));
        screen.focus(api.expect("api"));
        screen.keys(program.proceed());
        until("api is shipped", || place.work().join("shipped-api").exists());
        assert!(!place.work().join("shipped-web").exists());
        let web = screen.window();
        assert!(screen.name(&web).starts_with("Aye: Ship web"));
        screen.keys(program.proceed());
        until("web is shipped", || place.work().join("shipped-web").exists());
    }
}

/// Over ssh, in a CI job and in a container no program is started that shows windows, though
/// there is a display that answers: the question waits in the inbox for whoever comes.
#[test]
fn over_ssh_in_ci_and_in_containers_no_window_is_tried() {
    let screen = Screen::start();
    let named = "[ask]\nprompters = [\"terminal\", \"desktop\"]\n";
    for (name, value, config, why) in [
        ("LANG", "C", named, None),
        ("CI", "true", named, Some("this is a CI job")),
        ("SSH_CONNECTION", "192.0.2.1 1 192.0.2.2 22", "", Some("this session came over ssh")),
        ("container", "podman", "", Some("this is a container (`container` is set)")),
    ] {
        let place = place(&gate("timeout: 10m"));
        settings(&place, config);
        let zenity =
            place.write("bin/zenity", "#!/bin/sh\ntouch called\nexec /usr/bin/zenity \"$@\"\n");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&zenity, mode).unwrap();
        let path = format!("{}:/usr/bin:/bin", zenity.parent().unwrap().display());
        let aye = |args: &[&str]| {
            let mut command = screen.aye(&place, args);
            command.env("PATH", &path).env(name, value);
            command
        };
        let Some(why) = why else {
            // Elsewhere the same program shows the question.
            detach_with(&mut aye(&["run", "skill.yaml", "--detach"]));
            screen.wait_for(1);
            assert!(place.work().join("called").exists());
            place.aye(&["cancel", "last"]).ok();
            screen.wait_for(0);
            continue;
        };
        let ran = Ran::of(aye(&["run", "skill.yaml"]).output().unwrap(), &place);
        assert_eq!(ran.code, 6, "{name}: {}", ran.all());
        let told = Ran::of(aye(&["doctor", "--json"]).output().unwrap(), &place).json();
        let checks = told["checks"].as_array().unwrap();
        let dialog = checks.iter().find(|check| check["what"] == "desktop dialog").unwrap();
        assert!(dialog["about"].as_str().unwrap().contains(why), "{name}: {dialog}");
        let asked = question(&place);
        let answered = aye(&["answer", &asked, "proceed"]).output().unwrap();
        assert!(answered.status.success(), "{answered:?}");
        let resumed = Ran::of(aye(&["resume", "last"]).output().unwrap(), &place);
        assert_eq!(resumed.code, 0, "{name}: {}", resumed.all());
        assert!(place.work().join("deployed").exists());
        assert!(!place.work().join("called").exists(), "{name}: a window was tried");
    }
}

/// A text to type and a one-time code come after the button, in windows of either program.
#[test]
fn a_text_to_type_and_a_code_come_after_the_button() {
    for program in Program::BOTH {
        let screen = Screen::start();
        let place = place(
            "
name: guarded
steps:
  - name: drop
    command: touch
    args: [dropped]
    destructive: true
    confirmation: { title: Drop it, message: 'Drop the table?', type: users, reauth: true, timeout: 1h }
",
        );
        auth::set_up(&place);
        let mut command = program.aye(&screen, &place, &["run", "skill.yaml", "--json"]);
        let child = command.spawn().unwrap();
        let first = screen.window();
        screen.shot(&format!("{}-destructive", program.name()));
        screen.keys(program.proceed());
        let second = screen.next_window(&first);
        screen.write("user");
        screen.keys(&["Return"]);
        let third = screen.next_window(&second);
        screen.shot(&format!("{}-type", program.name()));
        screen.write("users");
        screen.keys(&["Return"]);
        let fourth = screen.next_window(&third);
        screen.write("000000");
        screen.keys(&["Return"]);
        // A wrong code is asked for again.
        let fifth = screen.next_window(&fourth);
        screen.shot(&format!("{}-code", program.name()));
        assert!(!place.work().join("dropped").exists());
        screen.write(&auth::code(&place, 0));
        screen.keys(&["Return"]);
        until("it is closed", || !screen.windows().contains(&fifth));
        let ran = Ran::of(child.wait_with_output().unwrap(), &place);
        assert_eq!(ran.code, 0, "{}", ran.all());
        assert!(place.work().join("dropped").exists());
        // With the wrong code, then with the right one.
        let answer = ("proceed".to_owned(), program.name().to_owned());
        assert_eq!(answers(&ran.stdout), [answer.clone(), answer]);
    }
}

#[test]
fn no_window_outlives_a_driver_that_is_killed() {
    let (screen, place) = (Screen::start(), place(&gate("timeout: 10m")));
    let mut child = screen.aye(&place, &["run", "skill.yaml"]).spawn().unwrap();
    screen.window();
    child.kill().unwrap();
    child.wait().unwrap();
    screen.wait_for(0);
}

#[test]
fn no_input_leaves_the_desktop_alone_and_so_do_the_settings() {
    let (screen, place) = (Screen::start(), place(&gate("timeout: 10m")));
    let ran = screen.aye(&place, &["run", "skill.yaml", "--no-input"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(6));
    settings(&place, "[ask]\nprompters = [\"terminal\"]\n");
    let ran = screen.aye(&place, &["run", "skill.yaml"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(6));
    assert!(screen.windows().is_empty());
    settings(&place, "[ask]\nprompters = [\"terminal\", \"desk\"]\n");
    let ran = Ran::of(screen.aye(&place, &["run", "skill.yaml"]).output().unwrap(), &place);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.stderr.contains("`desk` is not a prompter"), "{}", ran.all());
    assert!(ran.stderr.contains("write `terminal`, `desktop`, `notification`"), "{}", ran.all());
}

/// Everyone at once. An assistant advises; the terminal, an editor, the page, a notification and
/// the second program for windows ask, because the first does not start; the page answers, and
/// the others are withdrawn. The question has one deadline, whoever shows it. Asked again, memory
/// answers, and nobody else is asked.
#[test]
fn the_whole_chain_asks_one_question_with_one_deadline() {
    let screen = Screen::start();
    let bus = Bus::start(&screen, true);
    let place = place(
        "
name: release
steps:
  - name: sure
    confirm: { title: Production, message: 'Deploy?', timeout: 10m, remember: true, ai_assist: true }
  - { name: deploy, command: touch, args: [deployed] }
",
    );
    let all = "[ask]\nprompters = [\"terminal\", \"desktop\", \"notification\"]\n\
               [ask.after]\ndesktop = \"0s\"\n";
    settings(&place, all);
    let broken = place.write("bin/zenity", "#!/bin/sh\necho >>tried\nexit 1\n");
    std::fs::set_permissions(&broken, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    place.aye(&["trust", "--yes"]).ok();
    let served = Served::at(place);
    let path = format!("{}:/usr/bin:/bin", broken.parent().unwrap().display());
    let mut env = bus.env.clone();
    env.push(("PATH".to_owned(), path));
    let env: Vec<(&str, &str)> = env.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let run = || Terminal::with(&served, &["run", "skill.yaml"], &env);
    let [mut editor, mut page] = ["editor", "page"].map(|kind| {
        let mut client = served.socket("/ws");
        client.snapshot();
        client.done(json!({ "type": "hello", "kind": kind }));
        client
    });
    let monitor = Monitor::start(&bus);
    let mut terminal = run();
    terminal.wait_for("[y/N]");
    let asked = editor.event("confirmation_required");
    for client in [&mut editor, &mut page] {
        client.done(shows(&asked["question"]));
    }
    let mut assistant = Client::of(served.command(&["mcp"]), Era::Legacy, json!({}), "test-client");
    let listed = assistant.call("inbox", json!({})).ok()["questions"][0].clone();
    let id = &listed["execution_id"];
    let advice = json!({ "execution_id": id, "advice": "Stage is green." });
    assistant.call("skill_advise", advice).ok();
    terminal.wait_for("Stage is green.");
    let window = screen.wait_for(1).remove(0);
    assert!(screen.name(&window).contains("KDialog"), "{}", screen.name(&window));
    assert!(served.work().join("tried").exists());
    bus.wait_for(1);
    // The same moment in the journal, for clients, and where it is shown.
    let deadline: Timestamp = asked["deadline"].as_str().unwrap().parse().unwrap();
    let listed = served.aye(&["inbox", "--json"]).ok().json();
    assert_eq!(listed[0]["deadline"], asked["deadline"]);
    let at = deadline.to_zoned(TimeZone::system()).strftime("%H:%M:%S").to_string();
    let shown = monitor.shown();
    assert!(shown.iter().all(|one| one.contains(&format!("Answer by {at}"))), "{shown:?}");
    page.done(json!({
        "type": "answer", "question": asked["question"], "digest": asked["digest"],
        "choice": "proceed", "remember": "step",
    }));
    assert_eq!(terminal.end(), Some(0), "{}", terminal.shown());
    assert!(terminal.shown().contains("web"), "{}", terminal.shown());
    assert_eq!(editor.event("confirmation_answered")["answer"]["prompter"], "web");
    screen.wait_for(0);
    bus.wait_for(0);
    assert!(served.work().join("deployed").exists());
    let told = |run: &Value| {
        let shown = served.aye(&["show", run.as_str().unwrap(), "--json"]).ok().json();
        let events = shown["events"].as_array().unwrap().clone();
        assert!(events.iter().all(|event| event["type"] != "confirmation_held"), "{events:?}");
        let answers = events.iter().filter(|event| event["type"] == "confirmation_answered");
        answers.map(|event| event["answer"]["prompter"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(told(&asked["run"]), ["web"]);
    let before = monitor.shown().len();
    for file in ["tried", "deployed"] {
        std::fs::remove_file(served.work().join(file)).unwrap();
    }
    let mut again = run();
    assert_eq!(again.end(), Some(0), "{}", again.shown());
    assert!(!again.shown().contains("[y/N]"), "{}", again.shown());
    let answered = editor.event("confirmation_answered");
    assert_eq!(told(&answered["run"]), ["memory"]);
    assert!(served.work().join("deployed").exists());
    assert!(!served.work().join("tried").exists());
    assert_eq!(monitor.shown().len(), before);
}
