use aye_core::id::{QuestionId, RunId};
use aye_core::question::{Lead, Offer, Question};
use aye_core::skill::{AskKind, ChoiceAction};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::desktop::window::rows;
use crate::prompter::AskedQuestion;

use super::*;

fn question(labels: &[&str]) -> Question {
    let id = QuestionId::new(&RunId::new("abcdefgh12").expect("an id"), 1);
    let options = labels
        .iter()
        .enumerate()
        .map(|(at, label)| Offer::new(format!("v{at}"), *label, ChoiceAction::Proceed));
    Question { options: options.collect(), ..Question::new(id, AskKind::Confirm, "Which \\n way?") }
}

fn card(question: &Question) -> Card {
    Card::of(&AskedQuestion::alone(question, None), Timestamp::UNIX_EPOCH, &TimeZone::UTC)
}

fn ended(code: i32, stdout: &str) -> Ended {
    Ended { code: Some(code), stdout: stdout.to_owned(), stderr: "a warning of GTK".to_owned() }
}

#[test]
fn a_few_options_are_buttons_and_enter_presses_none_of_them() {
    let mut asked = question(&["Proceed", "--version", "my_file"]);
    asked.leads.push(Lead { answer: "v0".to_owned(), ..Lead::new(Some("live".to_owned()), None) });
    let window = Window::Pick(rows(&asked));
    let launch = Zenity.launch(&window, &card(&asked));
    insta::assert_debug_snapshot!(launch.args, @r#"
    [
        "--question",
        "--switch",
        "--title=Aye: Aye asks",
        "--text=<span size=\"x-large\" weight=\"bold\">Aye asks</span>\n\n<span alpha=\"70%\">Proceed → live</span>\n\nWhich \\\\n way?",
        "--width=320",
        "--extra-button=Later",
        "--extra-button=my__file",
        "--extra-button=--version",
        "--extra-button=Proceed",
    ]
    "#);
    for (code, said, meaning) in [
        (13, "Proceed\n", Closed::Row(0)),
        (11, "--version\n", Closed::Row(1)),
        (13, "my__file\n", Closed::Row(2)),
        (13, "Later\n", Closed::Later),
        (11, "", Closed::Later),
        (12, "", Closed::Later),
    ] {
        assert_eq!(Zenity.read(&window, &ended(code, said)), meaning, "{said:?}");
    }
    for (code, said) in [(1, ""), (0, ""), (255, ""), (13, "something else\n"), (14, "")] {
        let read = Zenity.read(&window, &ended(code, said));
        assert!(!matches!(read, Closed::Row(_)), "{code} {said:?}");
    }
    assert_eq!(
        Zenity.read(&window, &ended(1, "")),
        Closed::Failed("a warning of GTK".to_owned()),
        "it could not open the display"
    );
}

/// Buttons are pressed on purpose; a list of zenity 4 picks what is typed.
#[test]
fn typing_picks_in_lists_alone() {
    assert!(!Zenity.typing_picks(&rows(&question(&["Proceed", "Cancel"]))));
    assert!(Zenity.typing_picks(&rows(&question(&["one", "two", "three", "four", "five"]))));
}

#[test]
fn more_than_a_few_are_rows_that_come_through_standard_input() {
    let mut asked = question(&["one", "--two", "three", "four", "five"]);
    asked.options[1].description = Some("the <second>\nof them".to_owned());
    let window = Window::Pick(rows(&asked));
    let launch = Zenity.launch(&window, &card(&asked));
    assert!(launch.args.iter().all(|arg| arg.starts_with("--")), "{:?}", launch.args);
    insta::assert_snapshot!(launch.stdin.replace(' ', "."), @r"
    later
    •.Later
    .
    0
    •.one
    .
    1
    •.--two
    the.<second>.of.them
    2
    •.three
    .
    3
    •.four
    .
    4
    •.five
    .
    ");
    for (code, said, meaning) in [
        (0, "1\n", Closed::Row(1)),
        (0, "later\n", Closed::Later),
        (0, "\n", Closed::Later),
        (0, "5\n", Closed::Later),
        (12, "", Closed::Later),
        (11, "", Closed::Later),
    ] {
        assert_eq!(Zenity.read(&window, &ended(code, said)), meaning, "{said:?}");
    }
}

#[test]
fn text_is_returned_as_it_was_written() {
    let asked = question(&[]);
    let window = Window::Write { initial: "--help".to_owned(), hidden: true };
    let launch = Zenity.launch(&window, &card(&asked));
    assert!(launch.args.contains(&"--entry-text=--help".to_owned()), "{:?}", launch.args);
    assert!(launch.args.contains(&"--hide-text".to_owned()));
    for text in ["", " a b ", "x\ny", "later", "0"] {
        let read = Zenity.read(&window, &ended(0, &format!("{text}\n")));
        assert_eq!(read, Closed::Text(text.to_owned()));
    }
    assert_eq!(Zenity.read(&window, &ended(11, "half\n")), Closed::Later);
}

#[test]
fn a_way_out_with_the_name_of_an_option_has_another() {
    let asked = question(&["Later", "Now"]);
    let window = Window::Pick(rows(&asked));
    let launch = Zenity.launch(&window, &card(&asked));
    assert!(launch.args.contains(&"--extra-button=Decide later".to_owned()), "{:?}", launch.args);
    assert_eq!(Zenity.read(&window, &ended(13, "Later\n")), Closed::Row(0));
    assert_eq!(Zenity.read(&window, &ended(13, "Decide later\n")), Closed::Later);
}
