//! Texts that want to be more than texts.

use super::pty::Terminal;
use crate::cli::harness::Place;

/// What an attacker would put into a message, and what must not appear as such.
const HOSTILE: [&str; 16] = [
    "\u{1b}[2J\u{1b}[Hcleared",
    "\u{9b}2Jcleared",
    "\u{1b}]0;title\u{7}bell",
    "\u{1b}[8mhidden\u{1b}[0m",
    "over\rwritten",
    "back\u{8}\u{8}\u{8}\u{8}space",
    "right\u{202e}to left",
    "zero\u{200b}width\u{feff}",
    "tag\u{e0041}\u{e007f}",
    "'; touch pwned #",
    "$(touch pwned)",
    "`touch pwned`",
    "\"; touch pwned; \"",
    "}; touch pwned",
    "%s%n\\n\\x1b[2J",
    "│ fake\n├─ Proceed? [Y/n] y\n╰─ 1s left",
];

#[test]
fn hostile_texts_are_shown_inert() {
    for text in HOSTILE {
        let place = Place::new();
        let args = ["confirm", text, "--title", text, "--timeout", "0s"];
        let mut terminal = Terminal::captured(&place, &args);
        // The terminal in the tests panics at every sequence it does not know,
        // and the screen must be what the program drew.
        terminal.wait_for("[y/N]").wait_for("╰─ ? details");
        let screen = terminal.vt.screen();
        let first: Vec<char> = screen.lines().filter_map(|line| line.chars().next()).collect();
        assert_eq!(first.iter().filter(|c| **c == '╰').count(), 1, "{text:?}:\n{screen}");
        assert_eq!(first.iter().filter(|c| **c == '├').count(), 1, "{text:?}:\n{screen}");
        assert!(first.iter().all(|c| "╭│├╰".contains(*c)), "{text:?}:\n{screen}");
        assert!(!screen.chars().any(aye_core::diagnostic::is_hidden), "{text:?}:\n{screen}");
        terminal.keys("n");
        assert_eq!(terminal.end(), Some(1), "{text:?}");
        terminal.assert_clean();
        let odd: Vec<_> = std::fs::read_dir(place.work()).unwrap().collect();
        assert!(odd.is_empty(), "{text:?} left something behind");
    }
}

#[test]
fn hostile_options_and_defaults_are_data() {
    for text in HOSTILE {
        let place = Place::new();
        let mut terminal = Terminal::captured(&place, &["choose", "Which?", "safe", text]);
        terminal.wait_for("Which?").keys("\x1b[B\r");
        assert_eq!(terminal.end(), Some(0), "{text:?}: {}", terminal.vt.all());
        assert_eq!(terminal.stdout(), format!("{text}\n"), "the answer is what was given");
        terminal.assert_clean();
        let args = ["input", "Which?", "--default", text];
        let mut terminal = Terminal::captured(&place, &args);
        terminal.wait_for("Which?").keys("\t\r");
        assert_eq!(terminal.end(), Some(0), "{text:?}");
        assert_eq!(terminal.stdout(), format!("{text}\n"));
        assert!(std::fs::read_dir(place.work()).unwrap().next().is_none(), "{text:?}");
    }
}

#[test]
fn what_a_step_left_in_a_variable_is_shown_inert_too() {
    let place = Place::new();
    place.write(
        "skill.yaml",
        r#"
name: hostile
steps:
  - { name: read, command: cat, args: [evil], output: evil }
  - name: deploy
    command: touch
    args: [deployed]
    confirmation: { title: "{{ evil }}", message: "Deploy {{ evil }}?", timeout: 0 }
"#,
    );
    place.write("evil", "\u{1b}[2J\u{1b}]0;x\u{7}'; touch pwned #\n├─ Proceed? [Y/n] y");
    let mut terminal = Terminal::aye(&place, &["run", "skill.yaml"]);
    terminal.wait_for("\n├─ Proceed? [y/N]").wait_for("\\u{1b}[2J");
    terminal.keys("?").wait_for("Details").keys("n");
    assert_eq!(terminal.end(), Some(5), "{}", terminal.vt.all());
    assert!(!place.work().join("pwned").exists() && !place.work().join("deployed").exists());
}

#[test]
fn endless_texts_are_shown_and_left() {
    let place = Place::new();
    let word = "x".repeat(20_000);
    let mut terminal = Terminal::captured(&place, &["confirm", &word]);
    terminal.wait_for("[y/N]");
    let shown = terminal.vt.all().matches('x').count();
    assert_eq!(shown, 20_000, "a message is shown in full");
    terminal.keys("y");
    assert_eq!(terminal.end(), Some(0));
    let mut terminal = Terminal::captured(&place, &["input", "Name?"]);
    terminal.wait_for("Name?").keys("\x1b[200~").keys(&word).keys("\x1b[201~");
    terminal.wait_for("xxxx").keys("\r");
    assert_eq!(terminal.end(), Some(0));
    assert_eq!(terminal.stdout().len(), 20_001);
}

#[test]
fn no_window_is_so_narrow_that_a_text_leaves_its_frame() {
    let text = "├─ Proceed? [Y/n] ╰─ 日本語 \u{1b}[2J long words and more of them";
    for columns in [5, 6, 9, 14] {
        let place = Place::new();
        let args = ["confirm", text, "--title", text, "--timeout", "0s"];
        let mut terminal = Terminal::sized(&place, &args, columns, 24);
        terminal.wait("the prompt", |vt| vt.screen().lines().any(|line| line.starts_with('╰')));
        let all = terminal.vt.all();
        for line in all.lines().filter(|line| !line.is_empty()) {
            let first = line.chars().next().unwrap();
            assert!("╭│├╰".contains(first), "{columns} columns:\n{all}");
        }
        let own = all.lines().filter(|line| line.starts_with('├')).count();
        assert_eq!(own, 1, "{columns} columns:\n{all}");
        terminal.keys("n");
        assert_eq!(terminal.end(), Some(1));
        terminal.assert_clean();
    }
}

#[test]
fn ten_thousand_options_are_a_list_like_any_other() {
    let place = Place::new();
    let options: Vec<String> = (0..10_000).map(|at| format!("option{at:05}")).collect();
    let mut args = vec!["choose", "Which?"];
    args.extend(options.iter().map(String::as_str));
    let mut terminal = Terminal::captured(&place, &args);
    terminal.wait_for("more").keys("\x1b[F").wait_for("❯ option09999").keys("\x1b[A");
    terminal.wait_for("❯ option09998").keys("777").wait_for("/ 777").keys("\x1b[B");
    terminal.wait_for("❯ option01777").keys("\r");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert_eq!(terminal.stdout(), "option01777\n");
    terminal.assert_clean();
}

#[test]
fn a_storm_of_resizes_leaves_one_prompt() {
    let place = Place::new();
    let message = "Deploy **main** to production, with everything that belongs to it?";
    let args = ["confirm", message, "--title", "Storm", "--timeout", "10m"];
    let mut terminal = Terminal::captured(&place, &args);
    terminal.wait_for("[y/N]");
    for step in 0..200u16 {
        terminal.resize(5 + step % 70, 3 + step % 21);
    }
    terminal.resize(80, 24);
    // What was printed in a window too small for all of it stays as it was broken there.
    terminal.wait_for("left, then no answer · ? details · Esc cancels").wait_for("[y/N]");
    assert_eq!(terminal.vt.screen().matches("[y/N]").count(), 1, "{}", terminal.vt.screen());
    terminal.keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    terminal.assert_clean();
}

#[test]
fn what_people_say_is_shown_inert_everywhere() {
    let place = Place::new();
    place.write(
        "skill.yaml",
        "
name: evil
inputs: [{ name: who, type: string }]
steps:
  - name: deploy
    command: 'true'
    confirmation: { message: 'Deploy {{ inputs.who }} {{ env.EVIL }}?', timeout: 10m }
",
    );
    let evil = "ev\u{1b}[2J\u{1b}]0;t\u{7}il\u{202e}\n╰─ x";
    let input = format!("who={evil}");
    let mut command = place.command(&["run", "skill.yaml", "--detach", "-q", "-i", &input]);
    assert!(command.env("EVIL", evil).output().unwrap().status.success());
    let inbox = place.aye(&["inbox"]).ok();
    let id =
        place.aye(&["inbox", "--json"]).ok().json()[0]["question"].as_str().unwrap().to_owned();
    let wrong = place.aye(&["answer", &id, evil, "--reason", evil]);
    assert_eq!(wrong.code, 1, "{}", wrong.all());
    let said = place.aye(&["answer", &id, "proceed", "--reason", evil]).ok();
    let watched = place.aye(&["watch", "last"]);
    let shown = place.aye(&["show", "last"]).ok();
    let json = place.aye(&["show", "last", "--json"]).ok();
    for ran in [inbox, wrong, said, watched, shown, json] {
        let text = format!("{}{}", ran.stdout, ran.stderr);
        let hidden = |c: char| c != '\n' && aye_core::diagnostic::is_hidden(c);
        assert!(!text.contains(hidden) || text.starts_with('{'), "{}", ran.all());
        assert!(!text.contains('\u{1b}'), "{}", ran.all());
        assert!(!text.lines().any(|line| line.starts_with('╰')), "{}", ran.all());
    }
}

#[test]
fn the_watched_inbox_shows_hostile_texts_inert() {
    let place = Place::new();
    // As JSON, which YAML reads.
    let text = serde_json::json!(HOSTILE.join(" ").replace(['\u{9b}', '\u{8}'], ""));
    place.write(
        "skill.yaml",
        &format!(
            "{{ name: evil, steps: [{{ name: gate, confirm: {{ title: {text}, message: {text}, \
             timeout: 0 }} }}] }}"
        ),
    );
    assert_eq!(place.aye(&["run", "skill.yaml", "--no-input"]).code, 6);
    let journal = place.journal_db();
    for change in [
        "UPDATE runs SET skill = ?1, user = ?1, host = ?1, message = ?1, step = ?1",
        "UPDATE questions SET skill = ?1, step = ?1, title = ?1, message = ?1",
    ] {
        journal.execute(change, [HOSTILE.join(" ")]).unwrap();
    }
    // The terminal in the tests panics at every sequence it does not know.
    let mut inbox = Terminal::sized(&place, &["inbox", "--watch"], 100, 40);
    let inert = |inbox: &Terminal| {
        let screen = inbox.vt.screen();
        assert!(screen.contains("\\u{1b}"), "nothing hostile is shown:\n{screen}");
        let hidden = |c: char| c != '\n' && aye_core::diagnostic::is_hidden(c);
        assert!(!screen.contains(hidden), "{screen}");
        let raw = String::from_utf8_lossy(&inbox.raw);
        for bad in ["\u{1b}[8m", "\u{1b}]0", "\u{9b}", "\u{202e}", "\u{200b}", "\u{7}", "\u{8}"] {
            assert!(!raw.contains(bad), "{bad:?} in {raw:?}");
        }
    };
    inbox.wait_for("1 question waits");
    inert(&inbox);
    inbox.keys("\r").wait_for("[y/N]").wait_for("Esc leaves it open");
    inert(&inbox);
    inbox.keys("\u{1b}").wait_for("1 question waits").keys("\u{3}");
    assert_eq!(inbox.end(), Some(130), "{}", inbox.vt.all());
    inbox.assert_clean();
}
