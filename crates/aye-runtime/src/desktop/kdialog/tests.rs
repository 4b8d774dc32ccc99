use aye_core::id::{QuestionId, RunId};
use aye_core::question::{Offer, Question};
use aye_core::skill::{AskKind, ChoiceAction};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::desktop::window::rows;
use crate::prompter::AskedQuestion;

use super::*;

fn question() -> Question {
    let id = QuestionId::new(&RunId::new("abcdefgh12").expect("an id"), 1);
    let offer = |value: &str, description: Option<&str>| Offer {
        value: value.to_owned(),
        label: format!("--{value}"),
        description: description.map(str::to_owned),
        action: ChoiceAction::Proceed,
    };
    let options = vec![offer("all", Some("every <one>")), offer("none", None)];
    Question { options, ..Question::new(id, AskKind::Choose, "Which <b>way</b>?") }
}

fn card(question: &Question) -> Card {
    Card::of(&AskedQuestion::alone(question, None), Timestamp::UNIX_EPOCH, &TimeZone::UTC)
}

fn ended(code: i32, stdout: &str, stderr: &str) -> Ended {
    Ended { code: Some(code), stdout: stdout.to_owned(), stderr: stderr.to_owned() }
}

#[test]
fn options_are_rows_behind_a_way_out() {
    let asked = question();
    let window = Window::Pick(rows(&asked));
    let launch = Kdialog.launch(&window, &card(&asked));
    let at = launch.args.iter().position(|arg| arg == "--").expect("labels are not options");
    assert_eq!(launch.args[..at].len(), 2);
    assert!(launch.args[1].starts_with("--menu=<qt>"), "{:?}", launch.args);
    assert!(launch.args[1].contains("Which &lt;b&gt;way&lt;/b&gt;?"), "{:?}", launch.args);
    assert_eq!(
        launch.args[at + 1..],
        ["later", "• Later", "0", "• --all   every <one>", "1", "• --none"]
    );
    for (code, said, meaning) in [
        (0, "0\n", Closed::Row(0)),
        (0, "1\n", Closed::Row(1)),
        (0, "later\n", Closed::Later),
        (0, "", Closed::Later),
        (0, "7\n", Closed::Later),
        (1, "", Closed::Later),
    ] {
        assert_eq!(Kdialog.read(&window, &ended(code, said, "QStandardPaths: no")), meaning);
    }
}

/// The button of that name leaves the question open.
#[test]
fn a_row_that_is_called_like_the_button_says_what_it_does() {
    let row = |label: &str, action, description: Option<&str>| {
        let mut asked = question();
        asked.options.truncate(1);
        asked.options[0].label = label.to_owned();
        asked.options[0].action = action;
        asked.options[0].description = description.map(str::to_owned);
        row_text(&rows(&asked)[0])
    };
    assert_eq!(row("Cancel", ChoiceAction::Cancel, None), "Decline (Cancel)");
    let described = row("Cancel", ChoiceAction::Cancel, Some("not today"));
    assert_eq!(described, "Decline (Cancel)   not today");
    let other = row("cancel", ChoiceAction::Proceed, Some("cancels the order"));
    assert_eq!(other, "Answer “cancel”   cancels the order");
    assert_eq!(row("Stop", ChoiceAction::Cancel, None), "Stop   declines");
}

#[test]
fn a_command_is_shown_as_it_runs() {
    // The program would read a new line and one backslash.
    let asked = Question { follows: Some(r"printf 'a\nb' > C:\\d".to_owned()), ..question() };
    let hidden = Window::Write { initial: String::new(), hidden: true };
    let open = Window::Write { initial: String::new(), hidden: false };
    for window in [Window::Pick(rows(&asked)), hidden, open] {
        let launch = Kdialog.launch(&window, &card(&asked));
        let text = &launch.args[1];
        assert!(!text.contains('\\'), "{text}");
        assert!(text.contains("'a&#92;nb'&nbsp;&gt;&nbsp;C:&#92;&#92;d"), "{text}");
    }
}

#[test]
fn a_display_that_is_gone_is_no_closed_window() {
    let window = Window::Pick(rows(&question()));
    let lost = "The X11 connection broke (error 1). Did the X11 server die?";
    assert_eq!(Kdialog.read(&window, &ended(1, "", lost)), Closed::Failed(lost.to_owned()));
    let aborted = Ended { code: None, stdout: String::new(), stderr: String::new() };
    assert_eq!(Kdialog.read(&window, &aborted), Closed::Failed("a signal ended it".to_owned()));
}

#[test]
fn what_stands_in_a_field_is_no_option() {
    let window = Window::Write { initial: "--help".to_owned(), hidden: false };
    let launch = Kdialog.launch(&window, &card(&question()));
    assert_eq!(launch.args[2..], ["--", "--help"]);
    assert_eq!(Kdialog.read(&window, &ended(0, "x \n", "")), Closed::Text("x ".to_owned()));
    assert_eq!(Kdialog.read(&window, &ended(1, "", "")), Closed::Later);
    let hidden = Window::Write { initial: String::new(), hidden: true };
    let launch = Kdialog.launch(&hidden, &card(&question()));
    assert!(launch.args[1].starts_with("--password=<qt>"), "{:?}", launch.args);
}

#[test]
fn a_long_text_comes_through_standard_input() {
    let launch = Kdialog.launch(&Window::Read, &card(&question()));
    assert_eq!(launch.args[1..], ["--textbox", "-", "820", "600"]);
    assert!(launch.stdin.starts_with("<qt>"), "{}", launch.stdin);
    assert_eq!(Kdialog.read(&Window::Read, &ended(0, "", "")), Closed::Read);
    assert_eq!(Kdialog.read(&Window::Read, &ended(1, "", "")), Closed::Later);
}
