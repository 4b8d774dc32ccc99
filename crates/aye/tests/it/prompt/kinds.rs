//! Every kind of question of a run, on a real terminal.

use super::pty::Terminal;
use crate::cli::harness::Place;

fn place(skill: &str) -> Place {
    let place = Place::new();
    place.write("skill.yaml", skill);
    place
}

const GATE: &str = "
name: gate
steps:
  - name: deploy
    command: touch
    args: [deployed]
    confirmation: { title: Production, message: 'Deploy?', timeout: 5m, default: no }
";

#[test]
fn a_confirmation_is_answered_with_one_key() {
    let place = place(GATE);
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("[y/N]").keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(place.work().join("deployed").exists());
    let all = terminal.vt.all();
    assert!(all.contains("Proceed  answered by"), "{all}");
    assert!(all.contains("through terminal (local) after"), "{all}");
    assert!(!all.contains("[y/N]"), "the prompt is gone: {all}");
    terminal.assert_clean();
}

#[test]
fn no_and_enter_and_escape_decline() {
    for keys in ["n", "\r", "\x1b"] {
        let place = place(GATE);
        let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
        terminal.wait_for("[y/N]").keys(keys);
        assert_eq!(terminal.end(), Some(5), "{keys:?}: {}", terminal.vt.all());
        assert!(!place.work().join("deployed").exists());
        terminal.assert_clean();
    }
}

#[test]
fn other_keys_explain_themselves_and_the_third_declines() {
    let place = place(GATE);
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("[y/N]").keys("x");
    terminal.wait_for("`x` is not an answer; press y or n (2 tries left)").keys("q");
    terminal.wait_for("(1 try left)").keys(" ");
    assert_eq!(terminal.end(), Some(5));
    let all = terminal.vt.all();
    let words: Vec<&str> = all.split_whitespace().collect();
    assert!(words.join(" ").contains("no clear answer in three tries"), "{all}");
    assert!(!place.work().join("deployed").exists());
}

#[test]
fn details_show_what_follows() {
    let place = place(GATE);
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("[y/N]").keys("?");
    terminal.wait_for("then runs touch deployed").wait_for("deploy of gate").keys("d");
    terminal.wait_gone("then runs").keys("n");
    assert_eq!(terminal.end(), Some(5));
}

#[test]
fn pasted_text_is_no_answer() {
    let place = place(GATE);
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("[y/N]");
    assert!(terminal.vt.paste, "the terminal was asked to announce pastes");
    terminal.keys("\x1b[200~y\r\x1b[201~").wait_for("pasted text is not an answer");
    terminal.keys("y");
    assert_eq!(terminal.end(), Some(0));
    terminal.assert_clean();
}

#[test]
fn what_was_typed_before_is_no_answer() {
    let place = place(
        "
name: early
steps:
  - name: wait
    shell: touch begun; while [ ! -e typed ]; do sleep 0.05; done
  - name: deploy
    command: touch
    args: [deployed]
    confirmation: { message: 'Deploy?', default: yes, timeout: 0 }
",
    );
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("wait");
    while !place.work().join("begun").exists() {
        terminal.read(std::time::Duration::from_millis(20));
    }
    terminal.keys("y\ny\n\r\r");
    place.write("typed", "");
    terminal.wait_for("[Y/n]");
    // Long enough for a key that was not thrown away to be taken.
    for _ in 0..5 {
        terminal.read(std::time::Duration::from_millis(100));
    }
    assert!(terminal.vt.screen().contains("[Y/n]"), "{}", terminal.vt.all());
    assert!(!place.work().join("deployed").exists());
    terminal.keys("n");
    assert_eq!(terminal.end(), Some(5));
}

#[test]
fn the_rest_of_a_word_is_not_for_the_next_question() {
    let place = place(
        "
name: two
steps:
  - { name: first, confirm: { message: 'First?' } }
  - { name: second, confirm: { message: 'Second?', default: yes } }
  - { name: deploy, command: touch, args: [deployed] }
",
    );
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("First?").keys("y");
    terminal.wait_for("Second?").keys("es\r");
    terminal.read(std::time::Duration::from_millis(300));
    assert!(terminal.vt.screen().contains("Second?"), "{}", terminal.vt.all());
    terminal.keys("n");
    assert_eq!(terminal.end(), Some(5));
    assert!(!place.work().join("deployed").exists());
}

#[test]
fn options_are_walked_filtered_and_numbered() {
    let skill = "
name: pick
steps:
  - name: where
    choose:
      message: Where to?
      options: [stage, production, { label: Nowhere, value: none, action: cancel }]
    output: where
  - { name: write, shell: 'printf %s {{ where }} > chosen' }
";
    for (keys, chosen, code) in [
        ("\x1b[B\r", "production", 0),
        ("prod\r", "production", 0),
        ("1\r", "stage", 0),
        ("\x1b", "", 5),
    ] {
        let place = place(skill);
        let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
        terminal.wait_for("Where to?").wait_for("stage").keys(keys);
        assert_eq!(terminal.end(), Some(code), "{keys:?}: {}", terminal.vt.all());
        assert_eq!(place.read("chosen"), chosen, "{keys:?}");
        terminal.assert_clean();
    }
}

#[test]
fn text_is_edited_checked_and_asked_again() {
    let place = place(
        "
name: ask
steps:
  - { name: who, input: { message: 'Which commit?', match: '^[0-9a-f]{4}$', default: abcd }, output: commit }
  - { name: write, command: sh, args: [-c, 'printf %s \"$1\" > commit', sh, '{{ commit }}'] }
",
    );
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("abcd").keys("12x4").wait_for("12x4").keys("\r");
    terminal.wait_for("this does not match");
    terminal.keys("\x1b[D\x7f").wait_for("124").keys("3").wait_for("1234");
    terminal.keys("\r");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert_eq!(place.read("commit"), "1234");
    terminal.assert_clean();
}

#[test]
fn a_secret_is_never_shown() {
    let place = place(
        "
name: secret
steps:
  - { name: token, input: { message: 'Token?', secret: true }, output: token }
  - { name: use, command: sh, args: [-c, 'printf %s \"$1\" > used', sh, '{{ token }}'] }
",
    );
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("Token?").keys("hunter2").wait_for("•••••••");
    assert!(!terminal.echoes());
    terminal.keys("\r");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert_eq!(place.read("used"), "hunter2");
    let raw = String::from_utf8_lossy(&terminal.raw).into_owned();
    assert!(!raw.contains("hunter2"), "{raw}");
    terminal.assert_clean();
}

#[test]
fn what_has_to_be_typed_is_typed() {
    let place = place(
        "
name: danger
steps:
  - { name: drop, command: touch, args: [dropped], confirmation: { message: 'Drop it?', type: prod } }
",
    );
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("To agree, type prod").keys("y\r");
    terminal.wait_for("that is not the text").keys("\x15prod").wait_for("❯ prod").keys("\r");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(place.work().join("dropped").exists());
}

#[test]
fn a_failed_step_asks_what_now() {
    let place = place(
        "
name: broken
steps:
  - { name: build, shell: 'echo no such compiler >&2; test -e fixed', on_error: ask }
",
    );
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("Step failed").keys("\r");
    terminal.wait_for("choose one first").keys("?").wait_for("it wrote");
    place.write("fixed", "");
    terminal.keys("1\r");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
}

#[test]
fn two_people_have_to_agree() {
    let place = place(
        "
name: both
steps:
  - { name: deploy, command: touch, args: [deployed], confirmation: { message: 'Deploy?', approvals: 2, timeout: 0 } }
",
    );
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("2 different people have to agree").keys("yes\r");
    terminal.wait_for("so far: ").keys("yes\r");
    terminal.wait_for("has agreed already");
    assert!(!place.work().join("deployed").exists());
    terminal.keys("\x15no\r");
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
}

#[test]
fn plain_lines_for_screen_readers() {
    let place = place(GATE);
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml", "--plain"]);
    terminal.wait_for("Proceed? [y/N], within").keys("what\n");
    terminal.wait_for("that is not an answer (2 tries left)").keys("yes\n");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    let raw = String::from_utf8_lossy(&terminal.raw).into_owned();
    let bare = raw.replace("\u{1b}7", "").replace("\u{1b}>", "");
    assert!(!bare.contains("\u{1b}[") || !bare.contains("\u{1b}[A"), "{raw:?}");
    assert!(raw.is_ascii(), "{raw:?}");
    assert!(terminal.vt.titles.is_empty() && !raw.contains("\u{1b}]"), "{raw:?}");
    terminal.assert_clean();
}

#[test]
fn a_dumb_terminal_gets_plain_lines() {
    let place = place(GATE);
    let mut terminal = Terminal::with(&place, &["run", "skill.yaml"], &[("TERM", "dumb")]);
    terminal.wait_for("Proceed? [y/N], within").keys("\n");
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
}

#[test]
fn a_one_time_code_is_checked() {
    let place = place(
        "
name: guarded
steps:
  - { name: deploy, command: touch, args: [deployed], confirmation: { message: 'Deploy?', reauth: true, timeout: 0 } }
",
    );
    let setup = place.aye(&["auth", "setup"]).ok();
    let secret = setup.stdout.split("secret=").nth(1).unwrap().split('&').next().unwrap();
    let totp = totp_rs::Builder::new()
        .with_secret(totp_rs::Secret::try_from_base32(secret).unwrap())
        .build()
        .unwrap();
    let now = || u64::try_from(jiff::Timestamp::now().as_second()).unwrap();
    // Each code counts once: the set-up takes the one before.
    let before = totp.generate(now() - 30).to_string();
    place.aye(&["auth", "confirm", &before]).ok();
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("[y/N]").keys("y").wait_for("One-time code").keys(&before).keys("\r");
    terminal.wait_for("was used before");
    assert!(!place.work().join("deployed").exists());
    terminal.keys(&totp.generate(now()).to_string()).keys("\r");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(place.work().join("deployed").exists());
    terminal.assert_clean();
}
