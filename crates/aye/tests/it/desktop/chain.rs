//! One question, several places: who joins, who withdraws, what is never an answer.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::cli::harness::{Place, Ran, until};
use crate::serve::client::{Served, Socket};

use super::screen::{Screen, answers, place, settings};

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
    let ran = screen.aye(place, &["run", "skill.yaml", "--detach"]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
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
    let (screen, place) = (Screen::start(), place(&gate("timeout: 5m")));
    detach(&screen, &place);
    screen.window();
    place.aye(&["answer", &question(&place), "proceed"]).ok();
    screen.wait_for(0);
    until("it is deployed", || place.work().join("deployed").exists());
}

/// A client of the server's socket that declares itself this and shows the question.
fn shower(screen: &Screen, served: &Served, kind: &str) -> Socket {
    let mut client = served.socket("/ws");
    client.snapshot();
    client.done(json!({ "type": "hello", "kind": kind }));
    detach(screen, served);
    let asked = client.event("confirmation_required");
    client.done(json!({ "type": "show", "question": asked["id"] }));
    client
}

#[test]
fn an_editor_that_shows_it_keeps_the_window_away_until_it_leaves() {
    let (screen, place) = (Screen::start(), place(&gate("timeout: 10m")));
    place.aye(&["trust", "--yes"]).ok();
    let served = Served::at(place);
    let editor = shower(&screen, &served, "editor");
    screen.assert_nothing();
    drop(editor);
    screen.window();
    screen.keys(&["Tab", "Tab", "Return"]);
    until("it is deployed", || served.work().join("deployed").exists());
}

#[test]
fn a_page_that_shows_it_does_not_keep_the_window_away() {
    let (screen, place) = (Screen::start(), place(&gate("timeout: 10m")));
    place.aye(&["trust", "--yes"]).ok();
    let served = Served::at(place);
    let _page = shower(&screen, &served, "page");
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
    for (default, deployed) in [("yes", true), ("no", false)] {
        let screen = Screen::start();
        let place = place(&gate(&format!("timeout: 20s, default: {default}")));
        let child = screen.aye(&place, &["run", "skill.yaml", "--json"]).spawn().unwrap();
        screen.window();
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
    let (mut screen, place) = (Screen::start(), place(&gate("timeout: 10m")));
    detach(&screen, &place);
    screen.window();
    screen.kill();
    let asked = question(&place);
    std::thread::sleep(Duration::from_secs(2));
    until("it still waits", || place.status() == "waiting");
    assert!(!place.work().join("deployed").exists());
    place.aye(&["answer", &asked, "proceed"]).ok();
    until("it is deployed", || place.work().join("deployed").exists());
    until("it has ended", || place.status() == "completed");
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
    detach(&screen, &place);
    let windows = screen.wait_for(2);
    screen.shot("zenity-two");
    let api = windows.iter().find(|window| screen.name(window) == "Aye: Ship api").expect("api");
    screen.focus(api);
    screen.keys(&["Tab", "Tab", "Return"]);
    until("api is shipped", || place.work().join("shipped-api").exists());
    assert!(!place.work().join("shipped-web").exists());
    let web = screen.window();
    assert_eq!(screen.name(&web), "Aye: Ship web");
    screen.keys(&["Tab", "Tab", "Return"]);
    until("web is shipped", || place.work().join("shipped-web").exists());
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
