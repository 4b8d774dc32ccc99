//! Every kind of question in windows of zenity.

use serde_json::json;

use crate::cli::harness::{Place, Ran};
use crate::serve::client::Served;

use super::screen::{Screen, answers, place};

const GATE: &str = "
name: release
steps:
  - name: deploy
    command: touch
    args: [deployed]
    confirmation: { title: Production, message: 'Deploy `eu`?', timeout: 5m }
";

fn run(screen: &Screen, place: &Place) -> std::process::Child {
    screen.aye(place, &["run", "skill.yaml", "--json"]).spawn().unwrap()
}

fn finish(place: &Place, child: std::process::Child) -> Ran {
    Ran::of(child.wait_with_output().unwrap(), place)
}

fn pair(value: &str, prompter: &str) -> Vec<(String, String)> {
    vec![(value.to_owned(), prompter.to_owned())]
}

#[test]
fn a_button_answers_and_says_through_what() {
    let (screen, place) = (Screen::start(), place(GATE));
    let child = run(&screen, &place);
    let window = screen.window();
    assert_eq!(screen.name(&window), "Aye: Production");
    screen.shot("zenity-confirm");
    // Later, then what declines, then what proceeds.
    screen.keys(&["Tab", "Tab", "Return"]);
    let ran = finish(&place, child);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(place.work().join("deployed").exists());
    assert_eq!(answers(&ran.stdout), pair("proceed", "zenity"));
    assert!(ran.stdout.contains("\"proof\":\"local\""), "{}", ran.all());
    assert!(screen.windows().is_empty());
}

/// What a window says, as its program was called.
fn said(window: &str) -> String {
    let pid = window.split(':').nth(1).unwrap();
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ")
}

/// Someone else agrees while the window is open: it says so. What people wrote down about
/// the tool is there from the beginning.
#[test]
fn a_window_says_what_is_known_and_who_has_agreed() {
    let two = GATE.replace("timeout: 5m", "timeout: 5m, approvals: 2");
    let (screen, place) = (Screen::start(), place(&two));
    let learn = ["memory", "learn", "--tool", "touch", "--error", "cannot touch"];
    place.aye(&[&learn[..], &["--meaning", "the <b>disk</b> is read-only"]].concat()).ok();
    let server = Served::at(place);
    let child = run(&screen, &server);
    let window = screen.window();
    let text = said(&window);
    assert!(text.contains("known issue `cannot touch`"), "{text}");
    assert!(text.contains("the &lt;b&gt;disk&lt;/b&gt; is read-only"), "{text}");
    assert!(text.contains("2 different people have to agree."), "{text}");
    screen.shot("zenity-known-issue");
    let mut socket = server.socket("/ws");
    let asked = socket.snapshot()["questions"][0].clone();
    socket.done(json!({ "type": "answer", "question": asked["question"], "choice": "proceed" }));
    let window = screen.next_window(&window);
    let text = said(&window);
    assert!(text.contains("2 different people have to agree; so far: "), "{text}");
    screen.keys(&["Tab", "Return"]);
    let ran = finish(&server, child);
    assert_eq!(ran.code, 5, "{}", ran.all());
}

/// A deadline that moved is named by another window, and not at each hold.
#[test]
fn a_window_names_the_deadline_that_was_held() {
    let (screen, place) = (Screen::start(), place(&GATE.replace("5m", "29s")));
    let server = Served::at(place);
    let mut socket = server.socket("/ws");
    socket.snapshot();
    let child = run(&screen, &server);
    let asked = socket.event("confirmation_required");
    let window = screen.window();
    let before = said(&window);
    socket.done(json!({ "type": "hold", "question": asked["question"] }));
    socket.done(json!({ "type": "release", "question": asked["question"] }));
    let window = screen.next_window(&window);
    let old: jiff::Timestamp = asked["deadline"].as_str().unwrap().parse().unwrap();
    assert!(jiff::Timestamp::now() < old, "the time that it named has not passed");
    let by = |text: &str| text.split_once("Answer by ").map(|(_, rest)| rest[..8].to_owned());
    assert!(by(&said(&window)) > by(&before), "{} {before}", said(&window));
    screen.keys(&["Tab", "Return"]);
    assert_eq!(finish(&server, child).code, 5);
}

#[test]
fn the_option_that_declines_declines() {
    let (screen, place) = (Screen::start(), place(GATE));
    let child = run(&screen, &place);
    screen.window();
    screen.keys(&["Tab", "Return"]);
    let ran = finish(&place, child);
    assert_eq!(ran.code, 5, "{}", ran.all());
    assert!(!place.work().join("deployed").exists());
    assert_eq!(answers(&ran.stdout), pair("cancel", "zenity"));
}

#[test]
fn enter_space_escape_and_closing_the_window_are_no_answer() {
    let screen = Screen::start();
    for how in ["Return", "space", "Escape", "close"] {
        let place = place(GATE);
        let child = run(&screen, &place);
        let window = screen.window();
        match how {
            "close" => screen.close(&window),
            key => screen.keys(&[key]),
        }
        let ran = finish(&place, child);
        assert_eq!(ran.code, 6, "{how}: {}", ran.all());
        assert!(answers(&ran.stdout).is_empty(), "{how}");
        assert!(!place.work().join("deployed").exists());
        // It is still there for whoever comes.
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        assert_eq!(inbox.as_array().map(Vec::len), Some(1), "{how}: {inbox}");
    }
}

#[test]
fn a_choice_with_descriptions_is_a_list_in_which_typing_picks_nothing() {
    let screen = Screen::start();
    let place = place(
        "
name: rollout
steps:
  - name: where
    choose:
      title: Roll-out
      message: 'Where to?'
      options:
        - { label: canary, value: canary, description: One machine first }
        - { label: --everywhere, value: all, description: 'All of <b>them</b>' }
        - { label: nowhere, value: other, description: Another day }
    output: where
  - { name: tell, command: touch, args: ['went-{{ where }}'] }
",
    );
    let child = run(&screen, &place);
    screen.window();
    screen.shot("zenity-choose");
    // What was meant for another window: the first row is the way out.
    screen.write("canary");
    screen.keys(&["Return", "Return"]);
    let ran = finish(&place, child);
    assert_eq!(ran.code, 6, "{}", ran.all());
    // Resumed, it is asked again, and arrows pick.
    let child = screen.aye(&place, &["resume", &place.last(), "--json"]).spawn().unwrap();
    let list = screen.window();
    screen.keys(&["Home", "Down", "Down", "Return"]);
    // Typing picks in a list of zenity 4: a row counts when it is said once more.
    let sure = screen.next_window(&list);
    assert!(said(&sure).contains("Your answer: --everywhere"), "{}", said(&sure));
    assert!(!place.work().join("went-all").exists());
    screen.keys(&["Tab", "Return"]);
    let ran = finish(&place, child);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(place.work().join("went-all").exists(), "{}", ran.all());
    assert_eq!(answers(&ran.stdout), pair("all", "zenity"));
}

/// How far an answer is remembered is asked in a window of its own, with every scope.
#[test]
fn an_answer_is_remembered_as_far_as_the_second_window_says() {
    let remembers = GATE.replace("timeout: 5m", "timeout: 5m, remember: true");
    let (screen, place) = (Screen::start(), place(&remembers));
    let child = run(&screen, &place);
    let first = screen.window();
    screen.shot("zenity-remember");
    // The way out, Proceed, Proceed and remember it.
    screen.keys(&["Home", "Down", "Down", "Return"]);
    let second = screen.next_window(&first);
    assert!(said(&second).contains("Remember it for what?"), "{}", said(&second));
    screen.shot("zenity-scopes");
    // The way out, this step, this skill.
    screen.keys(&["Home", "Down", "Down", "Return"]);
    let third = screen.next_window(&second);
    assert!(said(&third).contains("Your answer: For this skill"), "{}", said(&third));
    screen.keys(&["Tab", "Return"]);
    let ran = finish(&place, child);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let known = place.aye(&["memory", "list", "preferences", "--json"]).ok().json();
    assert_eq!(known["preferences"][0]["scope"], "skill", "{known}");
}

#[test]
fn text_and_secrets_are_written() {
    let screen = Screen::start();
    let place = place(
        "
name: ask
steps:
  - { name: version, input: { title: Version, message: 'Which my_file \\n?', default: --main, match: '^v[0-9]+$|^--main$' }, output: version }
  - { name: token, input: { title: Token, message: 'The token?', secret: true }, output: token }
  - { name: tell, shell: 'printf %s/%s \"$V\" \"$T\" > told', env: { V: '{{ version }}', T: '{{ token }}' } }
",
    );
    let child = run(&screen, &place);
    let asked = screen.window();
    screen.shot("zenity-answer");
    // Later, then what opens the field.
    screen.keys(&["Tab", "Return"]);
    let first = screen.next_window(&asked);
    screen.shot("zenity-input");
    screen.keys(&["ctrl+a"]);
    screen.write("latest");
    screen.keys(&["Return"]);
    // It does not match: asked again, and says so.
    let second = screen.next_window(&first);
    screen.shot("zenity-input-again");
    screen.keys(&["ctrl+a"]);
    screen.write("v12");
    screen.keys(&["Return"]);
    let asked = screen.next_window(&second);
    assert_eq!(screen.name(&asked), "Aye: Token");
    screen.keys(&["Tab", "Return"]);
    screen.next_window(&asked);
    screen.write("hunter2 x");
    screen.shot("zenity-secret");
    screen.keys(&["Return"]);
    let ran = finish(&place, child);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(place.read("told"), "v12/hunter2 x");
    assert!(!ran.all().contains("hunter2"), "{}", ran.all());
    let journal = std::fs::read(place.home().join("journal.db")).unwrap();
    assert!(!journal.windows(7).any(|bytes| bytes == b"hunter2"));
}

/// What someone types elsewhere while the window comes up is not the text, nor the secret, nor
/// a word for the default.
#[test]
fn typing_answers_no_question_for_a_text() {
    let screen = Screen::start();
    let place = place(
        "
name: ask
steps:
  - { name: version, input: { title: Version, message: 'Which?', default: main, match: '^[a-z]+$' }, output: version }
  - { name: tell, command: touch, args: [told] }
",
    );
    let text = "default: main, match: '^[a-z]+$'";
    place.write("secret.yaml", &place.read("skill.yaml").replace(text, "secret: true"));
    for (skill, typed) in [("skill.yaml", "ls"), ("skill.yaml", ""), ("secret.yaml", "ls")] {
        let child = screen.aye(&place, &["run", skill, "--json"]).spawn().unwrap();
        screen.window();
        if !typed.is_empty() {
            screen.write(typed);
        }
        screen.keys(&["Return"]);
        let ran = finish(&place, child);
        assert_eq!(ran.code, 6, "{skill} {typed:?}: {}", ran.all());
        assert!(answers(&ran.stdout).is_empty(), "{}", ran.all());
        assert!(!place.work().join("told").exists());
    }
}

#[test]
fn a_long_command_is_read_to_its_end_before_it_is_answered() {
    let screen = Screen::start();
    let arguments: String = (0..400).map(|n| format!(", 'argument-{n}'")).collect();
    let place = place(&format!(
        "
name: long
steps:
  - name: act
    command: touch
    args: [acted{arguments}]
    confirmation: {{ title: A long one, message: 'Run it?', timeout: 5m }}
"
    ));
    let child = run(&screen, &place);
    let first = screen.window();
    screen.shot("zenity-read");
    screen.keys(&["Return"]);
    screen.next_window(&first);
    screen.shot("zenity-read-then");
    screen.keys(&["Tab", "Tab", "Return"]);
    let ran = finish(&place, child);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(place.work().join("argument-399").exists());
}

#[test]
fn hostile_text_is_shown_and_does_nothing() {
    let screen = Screen::start();
    let place = place(
        "
name: hostile
steps:
  - name: pick
    confirm:
      title: \"--help <b>x</b> %s \\u202eevil\"
      message: \"<span size='99999'>big</span> & <a href='x'>y</a>\\n--question --switch\\n\\\\n \\u202etxt.exe \\u0007 </tt></span>\"
      options:
        - { label: '--cancel_now & <i>', value: stop, action: cancel }
        - { label: --extra-button=Yes, value: go, action: proceed }
    output: picked
  - { name: tell, command: touch, args: ['picked-{{ picked }}'] }
",
    );
    let child = run(&screen, &place);
    let window = screen.window();
    let name = screen.name(&window);
    assert!(name.starts_with("Aye: --help <b>x</b> %s"), "{name}");
    screen.shot("zenity-hostile");
    // The first option is on the right.
    screen.keys(&["Tab", "Return"]);
    let ran = finish(&place, child);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(place.work().join("picked-go").exists());
    assert_eq!(answers(&ran.stdout), pair("go", "zenity"));
}
