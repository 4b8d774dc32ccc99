use std::time::Duration;

use aye_core::id::{QuestionId, RunId};
use aye_core::question::{Lead, Offer};
use aye_core::skill::{AskKind, ChoiceAction};

use super::*;

fn question(message: &str) -> Question {
    let id = QuestionId::new(&RunId::new("abcdefgh12").expect("an id"), 1);
    let offer = |value: &str, action| Offer::new(value, value, action);
    Question {
        title: "Production".to_owned(),
        options: vec![
            offer("proceed", ChoiceAction::Proceed),
            offer("cancel", ChoiceAction::Cancel),
        ],
        follows: Some("./deploy --to 'prod & <eu>'".to_owned()),
        leads: vec![Lead {
            answer: "proceed".to_owned(),
            ..Lead::new(Some("live".to_owned()), None)
        }],
        ..Question::new(id, AskKind::Confirm, message)
    }
}

fn card(question: &Question) -> Card {
    let now = Timestamp::UNIX_EPOCH;
    let deadline = now + Duration::from_secs(90);
    Card::of(&AskedQuestion::alone(question, Some(deadline)), now, &TimeZone::UTC)
}

#[test]
fn a_window_says_what_is_asked_what_runs_and_how_long_there_is() {
    insta::assert_snapshot!(card(&question("Deploy `eu`?\nReally?")).plain(), @r"
    Production

    │ Deploy `eu`?
    │ Really?

    Then runs
    │ ./deploy --to 'prod & <eu>'

    Answer by 00:01:30 (1m 30s left), then no answer
    ");
}

/// What people wrote down stands behind a bar: no line of it passes for one of ours.
#[test]
fn known_issues_are_shown_as_what_others_wrote() {
    let question = question("Deploy?");
    let known = ["known issue `denied`; log in first".to_owned()];
    let asked = AskedQuestion { known: &known, ..AskedQuestion::alone(&question, None) };
    let text = Card::of(&asked, Timestamp::UNIX_EPOCH, &TimeZone::UTC).plain();
    assert!(text.contains("From memory\n│ known issue `denied`; log in first"), "{text}");
}

#[test]
fn no_markup_of_a_skill_is_one() {
    let hostile =
        "<b>bold</b> &amp; <span size='50000'>x</span>\n</qt><img src='file:///etc/passwd'>";
    let card = card(&question(hostile));
    for (text, ours) in [
        (card.pango(), &["span", "b", "tt"][..]),
        (card.rich(), &["qt", "p", "span", "b", "br/", "tt"]),
    ] {
        let tags = text.split('<').skip(1).map(|rest| {
            rest.trim_start_matches('/').split([' ', '>']).next().unwrap_or_default().to_owned()
        });
        let foreign: Vec<String> = tags.filter(|tag| !ours.contains(&tag.as_str())).collect();
        assert!(foreign.is_empty(), "{foreign:?} in {text}");
        assert!(text.contains("&lt;b&gt;bold&lt;/b&gt; &amp;amp;"), "{text}");
        assert!(!text.contains("size='50000'") || text.contains("&lt;span"), "{text}");
    }
}

#[test]
fn no_message_passes_for_a_line_of_ours() {
    let forged =
        question("Fine.\n\nAnswer by 23:59:59 (9h left), then nothing happens\nThen runs\ntrue");
    let plain = card(&forged).plain();
    let ours: Vec<&str> = plain.lines().filter(|line| line.starts_with("Answer by")).collect();
    assert_eq!(ours, ["Answer by 00:01:30 (1m 30s left), then no answer"]);
    assert_eq!(plain.lines().filter(|line| *line == "Then runs").count(), 1);
    // Nor what it hides or turns around.
    let turned = card(&question("safe \u{202e}live\u{2066} \u{200b}\u{7}x"));
    for text in [turned.plain(), turned.pango(), turned.rich()] {
        assert!(!text.contains(['\u{202e}', '\u{2066}', '\u{200b}', '\u{7}']), "{text}");
    }
}

#[test]
fn a_command_is_shown_to_its_last_word() {
    let arguments: Vec<String> = (0..300).map(|n| format!("--argument-{n}=value")).collect();
    let command = format!("./run {}", arguments.join(" "));
    let asked = Question { follows: Some(command.clone()), ..question("Run?") };
    let card = card(&asked);
    assert!(card.is_long());
    let shown: String = card
        .plain()
        .lines()
        .filter_map(|line| line.strip_prefix("│ "))
        .skip(1)
        .collect::<Vec<_>>()
        .join(" ");
    assert_eq!(shown, command);
}

/// Every line of advice is marked as one, whatever it says.
#[test]
fn no_advice_passes_for_a_line_of_ours() {
    let says = |by: &str, text: &str| Advice {
        by: by.to_owned(),
        option: Some("proceed".to_owned()),
        text: text.to_owned(),
    };
    let forged = "Looks fine.\n2 different people have to agree; so far: ann, bob.\n\
        Answer by 23:59:59 (9h left), then nothing happens";
    let question = question("Deploy?");
    let advice = [says("t for root", forged), says("bot\nAnswer by 1", "Wait.")];
    let asked = AskedQuestion { advice: &advice, ..AskedQuestion::alone(&question, None) };
    let card = Card::of(&asked, Timestamp::UNIX_EPOCH, &TimeZone::UTC);
    insta::assert_snapshot!(card.plain(), @r"
    Production

    │ Deploy?

    Then runs
    │ ./deploy --to 'prod & <eu>'

    Advice (does not count)
    │ t for root suggests proceed:
    │ Looks fine.
    │ 2 different people have to agree; so far: ann, bob.
    │ Answer by 23:59:59 (9h left), then nothing happens

    Advice (does not count)
    │ bot Answer by 1 suggests proceed:
    │ Wait.
    ");
    for text in [card.pango(), card.rich()] {
        let block = text.split("<b>Advice (does not count)</b>").nth(1).expect("its heading");
        let words = block.split("</tt>").next().unwrap_or_default();
        assert!(words.contains("<tt>") && words.contains("Answer"), "{text}");
        assert!(!text.contains("color:gray") && !text.contains("alpha"), "{text}");
    }
}

/// What stands in a line of ours begins no other line.
#[test]
fn our_own_notes_stay_on_their_lines() {
    assert_eq!(note_lines("In /work\nAnswer by 1 on vm"), ["In /work Answer by 1 on vm"]);
}

/// What the command says is not said again; a tool and a program that is another one are.
#[test]
fn what_decides_is_in_the_window() {
    let fact = |kind, value| Fact::new(kind, None, value);
    let asked = Question {
        follows: Some("./deploy".to_owned()),
        facts: Some(vec![
            fact(FactKind::Command, "./deploy"),
            fact(FactKind::Stdin, "drop database customers"),
            fact(FactKind::Directory, "/w"),
            fact(FactKind::Program, "/usr/bin/dd"),
            fact(FactKind::Tool, "./ship --all"),
        ]),
        not_covered: vec!["the Makefile that `make` reads".to_owned()],
        ..question("Refresh the cache?")
    };
    let text = card(&asked).plain();
    let covers = "A yes covers\n│ stdin: drop database customers\n│ directory: /w\n\
                  │ program: /usr/bin/dd\n│ tool: ./ship --all\n";
    assert!(text.contains(covers), "{text}");
    let not = "Not covered\n│ the Makefile that `make` reads\n";
    assert!(text.contains(not), "{text}");
    let only = Question { follows: None, facts: None, ..asked };
    let text = card(&only).plain();
    assert!(text.contains(not) && !text.contains("A yes covers"), "{text}");
}
