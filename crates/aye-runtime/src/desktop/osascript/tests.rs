use aye_core::id::{QuestionId, RunId};
use aye_core::question::{Offer, Question};
use aye_core::skill::{AskKind, ChoiceAction};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::desktop::window::rows;
use crate::prompter::AskedQuestion;

use super::*;

fn question(count: usize) -> Question {
    let id = QuestionId::new(&RunId::new("abcdefgh12").expect("an id"), 1);
    let offer = |at: usize| {
        let label = format!("\" & (do shell script \"id\") & \"{at}");
        Offer::new(format!("v{at}"), label, ChoiceAction::Proceed)
    };
    let options = (0..count).map(offer).collect();
    Question { options, ..Question::new(id, AskKind::Choose, "Which\" way?") }
}

fn card(question: &Question) -> Card {
    Card::of(&AskedQuestion::alone(question, None), Timestamp::UNIX_EPOCH, &TimeZone::UTC)
}

fn ended(code: i32, stdout: &str, stderr: &str) -> Ended {
    Ended { code: Some(code), stdout: stdout.to_owned(), stderr: stderr.to_owned() }
}

#[test]
fn no_text_is_a_part_of_the_script() {
    for count in [2, 5] {
        let asked = question(count);
        let window = Window::Pick(rows(&asked));
        let launch = Osascript.launch(&window, &card(&asked));
        let at = launch.args.iter().position(|arg| arg == "--").expect("values come after it");
        let script = launch.args[..at].join("\n");
        assert!(!script.contains("shell script") && !script.contains("way"), "{script}");
        let first = asked.options[0].label.clone();
        let read = Osascript.read(&window, &ended(0, &format!("{first}\n"), ""));
        assert_eq!(read, Closed::Row(0));
        assert_eq!(Osascript.read(&window, &ended(0, "Later\n", "")), Closed::Later);
        assert_eq!(Osascript.read(&window, &ended(0, "false\n", "")), Closed::Later);
        let cancelled = "execution error: User canceled. (-128)";
        assert_eq!(Osascript.read(&window, &ended(1, "", cancelled)), Closed::Later);
        let broken = Osascript.read(&window, &ended(1, "", "no window server"));
        assert_eq!(broken, Closed::Failed("no window server".to_owned()));
    }
}

#[test]
fn a_secret_is_hidden() {
    let window = Window::Write { initial: String::new(), hidden: true };
    let launch = Osascript.launch(&window, &card(&question(0)));
    assert!(launch.args.iter().any(|arg| arg.contains("with hidden answer")), "{:?}", launch.args);
    assert_eq!(Osascript.read(&window, &ended(0, "a b\n", "")), Closed::Text("a b".to_owned()));
}
