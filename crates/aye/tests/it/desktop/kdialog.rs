//! The same in windows of KDialog, where zenity is not installed.

use std::process::Child;

use crate::cli::harness::{Place, Ran};

use super::screen::{Program, Screen, answers, place};

fn run(screen: &Screen, place: &Place) -> Child {
    Program::Kdialog.aye(screen, place, &["run", "skill.yaml", "--json"]).spawn().unwrap()
}

fn finish(place: &Place, child: Child) -> Ran {
    Ran::of(child.wait_with_output().unwrap(), place)
}

const GATE: &str = "
name: release
steps:
  - name: deploy
    command: touch
    args: [deployed]
    confirmation: { title: Production, message: 'Deploy <b>eu</b>?', timeout: 5m }
";

#[test]
fn a_row_answers_and_says_through_what() {
    for (keys, code, value) in
        [(&["Down", "Return"][..], 0, "proceed"), (&["Down", "Down", "Return"], 5, "cancel")]
    {
        let (screen, place) = (Screen::start(), place(GATE));
        let child = run(&screen, &place);
        screen.window();
        screen.shot("kdialog-confirm");
        screen.keys(keys);
        let ran = finish(&place, child);
        assert_eq!(ran.code, code, "{}", ran.all());
        assert_eq!(place.work().join("deployed").exists(), code == 0);
        assert_eq!(answers(&ran.stdout), [(value.to_owned(), "kdialog".to_owned())]);
    }
}

#[test]
fn enter_escape_typing_and_closing_the_window_are_no_answer() {
    let screen = Screen::start();
    for how in ["Return", "Escape", "proceed", "close"] {
        let place = place(GATE);
        let child = run(&screen, &place);
        let window = screen.window();
        match how {
            "close" => screen.close(&window),
            "proceed" => {
                screen.write(how);
                screen.keys(&["Return"]);
            }
            key => screen.keys(&[key]),
        }
        let ran = finish(&place, child);
        assert_eq!(ran.code, 6, "{how}: {}", ran.all());
        assert!(answers(&ran.stdout).is_empty(), "{how}");
        assert!(!place.work().join("deployed").exists());
    }
}

#[test]
fn text_and_secrets_are_written() {
    let screen = Screen::start();
    let place = place(
        "
name: ask
steps:
  - { name: version, input: { title: Version, message: 'Which <i>one</i>?', default: --main }, output: version }
  - { name: token, input: { title: Token, message: 'The token?', secret: true }, output: token }
  - { name: tell, shell: 'printf %s/%s \"$V\" \"$T\" > told', env: { V: '{{ version }}', T: '{{ token }}' } }
",
    );
    // What someone types elsewhere while the window comes up is not the text.
    let left = run(&screen, &place);
    screen.window();
    screen.write("ls");
    screen.keys(&["Return"]);
    let ran = finish(&place, left);
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(answers(&ran.stdout).is_empty(), "{}", ran.all());
    let again = ["resume", &place.last(), "--json"];
    let child = Program::Kdialog.aye(&screen, &place, &again).spawn().unwrap();
    let asked = screen.window();
    screen.shot("kdialog-answer");
    screen.keys(&["Down", "Return"]);
    let first = screen.next_window(&asked);
    screen.shot("kdialog-input");
    screen.keys(&["Return"]);
    let asked = screen.next_window(&first);
    assert!(screen.name(&asked).starts_with("Aye: Token"));
    screen.keys(&["Down", "Return"]);
    screen.next_window(&asked);
    screen.write("hunter2 x");
    screen.shot("kdialog-secret");
    screen.keys(&["Return"]);
    let ran = finish(&place, child);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(place.read("told"), "--main/hunter2 x");
    assert!(ran.stdout.contains("\"proof\":\"local\""), "{}", ran.all());
}

#[test]
fn a_long_text_is_read_first_and_its_markup_is_text() {
    let screen = Screen::start();
    let lines: String = (0..60).map(|n| format!("        line {n} <b>bold</b> &amp;\n")).collect();
    let place = place(&format!(
        "
name: long
inputs: [{{ name: hidden, type: string, default: \"\\u202etxt.exe \\u0007 </qt>\" }}]
steps:
  - name: pick
    choose:
      title: \"--help <b>x</b> %s \\u202eevil\\nAye: All is well\"
      message: |
        {{{{ inputs.hidden }}}}
{lines}
      options:
        - {{ label: --first, value: one, description: 'The <first>' }}
        - {{ label: \"--second\\n<i>\\u202exyz\", value: two }}
    output: picked
  - {{ name: tell, command: touch, args: ['picked-{{{{ picked }}}}'] }}
"
    ));
    let child = run(&screen, &place);
    let first = screen.window();
    let name = screen.name(&first);
    assert!(name.starts_with(r"Aye: --help <b>x</b> %s \u{202e}evil Aye: All is"), "{name}");
    screen.shot("kdialog-read");
    screen.keys(&["Return"]);
    screen.next_window(&first);
    screen.shot("kdialog-choose");
    screen.keys(&["Down", "Down", "Return"]);
    let ran = finish(&place, child);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(place.work().join("picked-two").exists());
}
