//! A question as a notification: how `notify-send` is called, and what its end means. No IO.

use aye_core::question::Question;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::fmt::{cut, escape_control_line};
use crate::prompter::AskedQuestion;

use super::card::{ADVICE, Card, Part, until};
use super::program::Ended;
use super::window::{Pick, Row, rows};

/// The program that shows notifications.
pub(super) const PROGRAM: &str = "notify-send";
/// The most characters of a message that a notification shows, and of a button.
const LONGEST: usize = 240;
const WIDEST: usize = 30;
/// The most buttons that services show.
const BUTTONS: usize = 3;
/// What a click beside the buttons is called.
const CLICK: &str = "default";

/// A notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Notice {
    summary: String,
    body: String,
    /// It stands out, and stays.
    urgent: bool,
    /// The places of the options that have a button, and their labels.
    buttons: Vec<(usize, String)>,
}

/// What happened to a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoticeEvent {
    /// The button of the option at this place.
    Button(usize),
    /// It was clicked: someone wants to see the question.
    Click,
    /// It was closed, or its time was up.
    Gone,
    /// It could not be shown, and why.
    Failed(String),
}

impl Notice {
    /// The notification of a question.
    pub(super) fn of(asked: &AskedQuestion<'_>, now: Timestamp, zone: &TimeZone) -> Self {
        let question = asked.question;
        let card = Card::of(asked, now, zone);
        let rows = rows(question);
        let (text, is_exact) = agreed_text(asked, &card, &rows);
        let shown = cut(&text, LONGEST);
        // Nobody agrees to what they cannot read here.
        let is_whole = is_exact && shown == text && card.is_heading_whole();
        let until = until(asked, now, zone).map(|until| escape_control_line(&until));
        let lines = [Some(shown), card.place.clone(), until, advice(&card)];
        let lines: Vec<String> = lines.into_iter().flatten().collect();
        Self {
            summary: no_markup(&card.heading()),
            body: no_markup(&lines.join("\n")),
            urgent: question.destructive,
            buttons: buttons(question, &rows, is_whole),
        }
    }

    /// How it is shown, in the place of the one with this number if there is one, and then
    /// without a sound. A service that reads markup reads none here, and the program reads
    /// escapes in the body.
    pub(super) fn args(&self, replaces: Option<u32>) -> Vec<String> {
        let urgency = if self.urgent { "critical" } else { "normal" };
        let mut args = vec![
            "--app-name=Aye".to_owned(),
            "--icon=dialog-question".to_owned(),
            format!("--urgency={urgency}"),
            "--expire-time=0".to_owned(),
            match replaces {
                Some(number) => format!("--replace-id={number}"),
                None => "--hint=string:sound-name:message-new-instant".to_owned(),
            },
            "--print-id".to_owned(),
            "--wait".to_owned(),
            format!("--action={CLICK}=Open"),
        ];
        args.extend(self.buttons.iter().map(|(at, label)| format!("--action={at}={label}")));
        args.extend(["--".to_owned(), self.summary.clone(), body_argument(&self.body)]);
        args
    }

    /// What it means that the program ended like this, having said this after the number.
    pub(super) fn read(&self, ended: &Ended) -> NoticeEvent {
        let failed = || match ended.failed() {
            super::window::Closed::Failed(why) => NoticeEvent::Failed(why),
            _ => NoticeEvent::Gone,
        };
        if ended.code != Some(0) {
            return failed();
        }
        match ended.line() {
            "" => NoticeEvent::Gone,
            CLICK => NoticeEvent::Click,
            said => match said.parse::<usize>() {
                Ok(at) if self.buttons.iter().any(|(button, _)| *button == at) => {
                    NoticeEvent::Button(at)
                }
                Ok(_) | Err(_) => failed(),
            },
        }
    }
}

/// What a yes covers, in full; whether it is shown as it is.
fn agreed_text(asked: &AskedQuestion<'_>, card: &Card, rows: &[Row]) -> (String, bool) {
    let question = asked.question;
    let mut blocks = Vec::new();
    let mut is_exact = true;
    for part in &card.parts {
        match part {
            Part::Message(lines) | Part::Warning(lines) => blocks.push(lines.join(" ")),
            // Nobody agrees to that.
            Part::Code(ADVICE, _) => {}
            Part::Code(heading, lines) => {
                is_exact &= lines.iter().all(|line| no_markup(line) == *line);
                blocks.push(barred(heading, lines));
            }
            Part::Note(_) => {}
        }
    }
    let environment = asked.run.and_then(|run| run.started.environment.as_deref());
    let environment = environment.map(|one| format!("Environment {}", escape_control_line(one)));
    blocks.extend(environment);
    let offers = rows.iter().filter(|row| match row.pick {
        Pick::Offer(at, None) => agrees(question, at) && !row.meaning().is_empty(),
        Pick::Offer(..) | Pick::Remember(_) | Pick::Write => false,
    });
    blocks.extend(offers.map(|row| match row.about {
        Some(_) => format!("{}: {}", row.label, row.meaning()),
        None => format!("{} {}", row.label, row.meaning()),
    }));
    (blocks.join("\n"), is_exact)
}

/// The last word of an assistant, or its beginning: the window has all of it.
fn advice(card: &Card) -> Option<String> {
    let last = card.parts.iter().rev().find_map(|part| match part {
        Part::Code(ADVICE, lines) => Some(lines),
        Part::Code(..) | Part::Message(_) | Part::Warning(_) | Part::Note(_) => None,
    })?;
    let text = cut(&last.join("\n"), LONGEST);
    Some(barred(ADVICE, &text.lines().map(str::to_owned).collect::<Vec<_>>()))
}

/// Behind a bar no line of others passes for one of ours.
fn barred(heading: &str, lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("│ {line}")).collect();
    format!("{heading}\n{}", lines.join("\n"))
}

/// Whether the option at this place has a button that agrees.
fn agrees(question: &Question, at: usize) -> bool {
    let value = question.options[at].value.as_str();
    question.takes_button(value) && question.commits(&value.into())
}

/// The options that a button may take, if they fit. Where the notification does not show
/// everything, or the button not all of its label, none of them agrees.
fn buttons(question: &Question, rows: &[Row], is_whole: bool) -> Vec<(usize, String)> {
    let takes = rows.iter().filter_map(|row| match row.pick {
        Pick::Offer(at, None) if question.takes_button(&question.options[at].value) => {
            let label = cut(&row.label, WIDEST);
            let may = !agrees(question, at) || is_whole && label == row.label;
            may.then(|| (at, no_markup(&label)))
        }
        Pick::Offer(..) | Pick::Remember(_) | Pick::Write => None,
    });
    takes.take(BUTTONS).collect()
}

/// A body as the program takes it: it reads escapes there, and `\074` would be markup.
pub(super) fn body_argument(text: &str) -> String {
    no_markup(text).replace('\\', "\\\\")
}

/// Some services read markup in a body and others show it: none of it is there.
pub(super) fn no_markup(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '<' => '‹',
            '>' => '›',
            '&' => '+',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use aye_core::advice::Advice;
    use aye_core::id::{QuestionId, RunId};
    use aye_core::question::{Lead, Offer};
    use aye_core::skill::{AskKind, By, ChoiceAction};

    use super::*;

    fn question() -> Question {
        let id = QuestionId::new(&RunId::new("abcdefgh12").expect("an id"), 1);
        let offer = |value: &str, action| Offer::new(value, format!("--{value}"), action);
        let options =
            vec![offer("proceed", ChoiceAction::Proceed), offer("cancel", ChoiceAction::Cancel)];
        let title = "--help".to_owned();
        Question { title, options, ..Question::new(id, AskKind::Confirm, "<b>Deploy</b> & go?") }
    }

    fn notice(question: &Question) -> Notice {
        Notice::of(&AskedQuestion::alone(question, None), Timestamp::UNIX_EPOCH, &TimeZone::UTC)
    }

    fn ended(code: i32, stdout: &str) -> Ended {
        Ended { code: Some(code), stdout: stdout.to_owned(), stderr: "no service".to_owned() }
    }

    #[test]
    fn how_it_is_shown_and_what_comes_back() {
        let notice = notice(&question());
        insta::assert_debug_snapshot!(notice.args(None), @r#"
        [
            "--app-name=Aye",
            "--icon=dialog-question",
            "--urgency=normal",
            "--expire-time=0",
            "--hint=string:sound-name:message-new-instant",
            "--print-id",
            "--wait",
            "--action=default=Open",
            "--action=0=--proceed",
            "--action=1=--cancel",
            "--",
            "Aye: --help",
            "‹b›Deploy‹/b› + go?",
        ]
        "#);
        let again = notice.args(Some(7));
        assert!(again.contains(&"--replace-id=7".to_owned()), "{again:?}");
        assert!(!again.iter().any(|arg| arg.contains("sound")), "{again:?}");
        for (code, said, heard) in [
            (0, "0\n", NoticeEvent::Button(0)),
            (0, "1\n", NoticeEvent::Button(1)),
            (0, "default\n", NoticeEvent::Click),
            (0, "", NoticeEvent::Gone),
            (0, "7\n", NoticeEvent::Failed("no service".to_owned())),
            (1, "0\n", NoticeEvent::Failed("no service".to_owned())),
        ] {
            assert_eq!(notice.read(&ended(code, said)), heard, "{said:?}");
        }
    }

    fn labels(question: &Question) -> Vec<String> {
        notice(question).buttons.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn nobody_agrees_to_what_is_not_shown() {
        let follows = |command: &str| Question { follows: Some(command.to_owned()), ..question() };
        let short = follows("make deploy");
        assert_eq!(labels(&short), ["--proceed", "--cancel"]);
        assert!(
            notice(&short).body.contains("Then runs\n│ make deploy"),
            "{}",
            notice(&short).body
        );
        let cut = Question { message: "so long ".repeat(40), ..question() };
        let other = Question { title: "t".repeat(80), ..question() };
        let mut named = question();
        named.options[0].label = "Proceed, and then much more than anyone sees".to_owned();
        let mut described = question();
        described.options[0].description = Some("more ".repeat(60));
        for (what, question) in [
            ("a text that is cut", &cut),
            ("a title that is cut", &other),
            ("a command that is cut", &follows(&"x".repeat(300))),
            ("a command that is shown with other characters", &follows("cat <a >b & c")),
            ("a label that is cut", &named),
            ("a description that is cut", &described),
        ] {
            assert_eq!(labels(question), ["--cancel"], "{what}");
        }
    }

    #[test]
    fn advice_is_shown_as_advice_and_takes_nothing_away() {
        let question = question();
        let says = |text: &str| Advice { by: "bot".into(), option: None, text: text.into() };
        let with = |advice: &[Advice]| {
            let asked = AskedQuestion { advice, ..AskedQuestion::alone(&question, None) };
            Notice::of(&asked, Timestamp::UNIX_EPOCH, &TimeZone::UTC)
        };
        let advised = with(&[says("Go."), says("Wait.\nAnswer by 23:59:59, then yes")]);
        assert_eq!(
            advised.body,
            "‹b›Deploy‹/b› + go?\nAdvice (does not count)\n│ bot:\n│ Wait.\n\
             │ Answer by 23:59:59, then yes"
        );
        // However long it is, what is agreed to is shown as a whole.
        let long = with(&[says(&"<long> ".repeat(200))]);
        assert_eq!(long.buttons, advised.buttons);
        assert_eq!(long.buttons.len(), 2);
        assert!(long.body.chars().count() < 400, "{}", long.body);
    }

    #[test]
    fn an_escape_makes_no_markup() {
        let escaped = Question { message: r"\074i\076 C:\new".to_owned(), ..question() };
        let args = notice(&escaped).args(None);
        assert_eq!(args.last().map(String::as_str), Some(r"\\074i\\076 C:\\new"));
    }

    #[test]
    fn only_what_a_button_may_answer_has_one() {
        let destructive = Question { destructive: true, ..question() };
        assert_eq!(labels(&destructive), ["--cancel"]);
        assert!(notice(&destructive).args(None).contains(&"--urgency=critical".to_owned()));
        let human = Question { by: By::Human, ..question() };
        assert_eq!(labels(&human), ["--cancel"]);
        let to = Some("rollback".to_owned());
        let leads = vec![Lead { answer: "cancel".to_owned(), ..Lead::new(to, None) }];
        let starts = Question { leads, ..question() };
        assert_eq!(labels(&starts), ["--proceed"], "declining starts something");
    }
}
