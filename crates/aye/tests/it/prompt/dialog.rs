//! Keys to decisions.

use aye::prompt::answers::{Answers, LineOutcome};
use aye::prompt::dialog::{Dialog, Reply, Stage};
use aye::prompt::key::Key;
use aye::prompt::line::Line;
use aye::prompt::{Escape, Given};
use aye_core::question::Question;
use aye_core::skill::ChoiceAction;
use proptest::prelude::*;

use super::made::{choose, confirm, input, offer, recover};

/// Keys by name, so that the tables below can be read.
fn keys(text: &str) -> Vec<Key> {
    text.split(' ')
        .map(|word| match word {
            "Enter" => Key::Enter,
            "Esc" => Key::Esc,
            "Up" => Key::Up,
            "Down" => Key::Down,
            "Tab" => Key::Tab,
            "Back" => Key::Backspace,
            "Home" => Key::Home,
            "End" => Key::End,
            "Space" => Key::Char(' '),
            word if word.starts_with("^") && word.len() == 2 => {
                Key::Ctrl(word.chars().nth(1).unwrap())
            }
            word if word.starts_with("paste:") => Key::Paste(word[6..].replace('_', "\n")),
            word => Key::Char(word.chars().next().unwrap()),
        })
        .collect()
}

fn given(value: &str) -> Reply {
    Reply::Answer(Given::of(value))
}

/// What comes of keys pressed one after the other.
fn press(question: &Question, escape: Escape, text: &str) -> (Reply, Dialog) {
    let mut dialog = Dialog::new(question, escape);
    let mut reply = Reply::Stay;
    for key in keys(text) {
        reply = dialog.key(question, &key);
        if !matches!(reply, Reply::Stay | Reply::Typing) {
            break;
        }
    }
    (reply, dialog)
}

#[track_caller]
fn leads(question: &Question, text: &str, reply: &Reply) {
    assert_eq!(press(question, Escape::Declines, text).0, *reply, "{text}");
}

#[test]
fn one_key_answers_a_confirmation() {
    let mut question = confirm();
    leads(&question, "y", &given("proceed"));
    leads(&question, "Y", &given("proceed"));
    leads(&question, "n", &given("cancel"));
    leads(&question, "N", &given("cancel"));
    leads(&question, "Esc", &given("cancel"));
    // Without a default, Enter is no.
    leads(&question, "Enter", &given("cancel"));
    leads(&question, "? y", &given("proceed"));
    leads(&question, "Up Down Tab Home y", &given("proceed"));
    question.default = Some("cancel".into());
    leads(&question, "Enter", &given("cancel"));
    leads(&question, "x Enter", &given("cancel"));
    question.default = Some("proceed".into());
    leads(&question, "Enter", &given("proceed"));
    assert_eq!(press(&question, Escape::Dismisses, "Esc").0, Reply::Dismissed);
}

#[test]
fn three_keys_that_are_no_answer_decline() {
    let mut question = confirm();
    question.default = Some("proceed".into());
    leads(&question, "x q", &Reply::Stay);
    let reason = Some("no clear answer in three tries".to_owned());
    let declined = Reply::Answer(Given { reason, ..Given::of("cancel") });
    leads(&question, "x q Space", &declined);
    let (_, dialog) = press(&question, Escape::Declines, "x");
    assert_eq!(dialog.notice.as_deref(), Some("`x` is not an answer; press y or n (2 tries left)"));
}

#[test]
fn a_burst_is_remembered_as_single_keys_are() {
    let question = Question { remember: true, ..confirm() };
    let scope = Some(question.remember_scopes()[0]);
    let remembered = Reply::Answer(Given { remember: scope, ..Given::of("proceed") });
    for at_once in ["^r y", "^r y Enter", "? ^r y Enter"] {
        let mut dialog = Dialog::new(&question, Escape::Declines);
        assert_eq!(dialog.keys(&question, &keys(at_once)), remembered, "{at_once}");
    }
    let mut dialog = Dialog::new(&question, Escape::Declines);
    dialog.keys(&question, &keys("^r"));
    assert_eq!(dialog.keys(&question, &keys("y Enter")), remembered);
}

#[test]
fn a_paste_or_a_burst_is_no_single_key() {
    let question = confirm();
    leads(&question, "paste:y", &Reply::Stay);
    leads(&question, "paste:y_ paste:yes_", &Reply::Stay);
    let at_once =
        |text: &str| Dialog::new(&question, Escape::Declines).keys(&question, &keys(text));
    assert_eq!(at_once("y e s Enter"), given("proceed"));
    assert_eq!(at_once("y Enter"), given("proceed"));
    assert_eq!(at_once("N o Enter"), given("cancel"));
    assert_eq!(at_once("y e l l o w"), Reply::Stay);
    assert_eq!(at_once("y y"), Reply::Stay);
    assert_eq!(at_once("r m Space - r f Enter"), Reply::Stay);
    assert_eq!(at_once("Enter Enter"), given("cancel"));
    assert_eq!(at_once("? y"), given("proceed"));
    assert_eq!(at_once("? ?"), Reply::Stay);
}

#[test]
fn escape_and_the_end_of_input_mean_the_same_everywhere() {
    let several = Question { approvals: 2, ..confirm() };
    let typed = Question { typed: Some("prod".into()), ..confirm() };
    let field = Question { options: confirm().options, ..input() };
    let mut list = choose(&["a", "b"]);
    list.options.push(offer("cancel", "Cancel", ChoiceAction::Cancel));
    for question in [confirm(), several.clone(), typed.clone(), list.clone(), field.clone()] {
        leads(&question, "Esc", &given("cancel"));
        // The end of input is not an answer.
        leads(&question, "^d", &Reply::Dismissed);
    }
    // What is typed is taken back first, and is deleted by Ctrl-D.
    for question in [several, typed, list, field] {
        leads(&question, "x Esc", &Reply::Stay);
        leads(&question, "x Esc Esc", &given("cancel"));
        assert_ne!(press(&question, Escape::Declines, "x ^d").0, Reply::Dismissed);
    }
    let code = Question { reauth: true, ..confirm() };
    leads(&code, "y 1 Esc Esc n", &given("cancel"));
    leads(&code, "y ^d", &Reply::Dismissed);
    // What the skill does not let anybody decline is not declined.
    leads(&input(), "Esc", &Reply::Stay);
    leads(&input(), "^d", &Reply::Dismissed);
}

#[test]
fn several_approvals_take_a_word_and_enter() {
    let mut question = confirm();
    question.approvals = 2;
    leads(&question, "y", &Reply::Typing);
    leads(&question, "y Enter", &given("proceed"));
    leads(&question, "n o Enter", &given("cancel"));
    leads(&question, "n Back y e s Enter", &given("proceed"));
    leads(&question, "o k Enter", &Reply::Stay);
    leads(&question, "Esc", &given("cancel"));
    leads(&question, "y Esc Enter", &given("cancel"));
}

#[test]
fn a_typed_confirmation_wants_the_text_exactly() {
    let mut question = confirm();
    question.typed = Some("prod".into());
    let agreed = Reply::Answer(Given { typed: Some("prod".into()), ..Given::of("proceed") });
    leads(&question, "p r o d Enter", &agreed);
    leads(&question, "P r o d Enter", &Reply::Stay);
    leads(&question, "p r o d Space Enter", &Reply::Stay);
    leads(&question, "y Enter", &Reply::Stay);
    leads(&question, "paste:prod Enter", &Reply::Stay);
    leads(&question, "Esc", &given("cancel"));
    leads(&question, "x Enter Back p r o d Enter", &agreed);
    // With options of its own, agreeing leads to the text and back.
    question.options[0].description = Some("go".into());
    leads(&question, "1 Enter p r o d Enter", &agreed);
    leads(&question, "1 Enter Esc 2 Enter", &given("cancel"));
}

#[test]
fn a_one_time_code_goes_with_a_yes_and_not_with_a_no() {
    let question = Question { reauth: true, ..confirm() };
    let agreed = Given { code: Some("12".into()), ..Given::of("proceed") };
    leads(&question, "n", &given("cancel"));
    leads(&question, "y Enter", &Reply::Stay);
    leads(&question, "y 1 2 Enter", &Reply::Answer(agreed.clone()));
    leads(&question, "y 1 Esc Esc n", &given("cancel"));
    let typed = Question { typed: Some("p".into()), ..question.clone() };
    let both = Given { typed: Some("p".into()), ..agreed.clone() };
    leads(&typed, "p Enter 1 2 Enter", &Reply::Answer(both));
    let mut answers = Answers::new(Escape::Declines);
    assert!(matches!(answers.line(&question, "y"), LineOutcome::Again(_)));
    assert_eq!(answers.line(&question, " 12 "), LineOutcome::Answer(agreed));
}

#[test]
fn a_list_is_walked_numbered_and_filtered() {
    let question = choose(&["stage", "production", "sandbox"]);
    leads(&question, "Enter", &given("stage"));
    leads(&question, "Down Enter", &given("production"));
    leads(&question, "j j Enter", &given("sandbox"));
    leads(&question, "Up Enter", &given("sandbox"));
    leads(&question, "Down Down Down Enter", &given("stage"));
    leads(&question, "k Enter", &given("sandbox"));
    leads(&question, "2 Enter", &given("production"));
    leads(&question, "9 Enter", &given("stage"));
    leads(&question, "End Enter", &given("sandbox"));
    leads(&question, "p r Enter", &given("production"));
    leads(&question, "s a n Enter", &given("sandbox"));
    leads(&question, "/ d Enter", &given("production"));
    leads(&question, "x y z Enter", &Reply::Stay);
    leads(&question, "z Esc Enter", &Reply::Stay);
    leads(&question, "z Esc Down Enter", &given("stage"));
    leads(&question, "q", &Reply::Stay);
    assert_eq!(press(&question, Escape::Dismisses, "q").0, Reply::Dismissed);
    assert_eq!(press(&question, Escape::Dismisses, "s Esc Esc").0, Reply::Dismissed);
}

#[test]
fn letters_that_begin_an_option_filter_instead() {
    let question = choose(&["dev", "Quality", "1.2", "kite", "jam"]);
    leads(&question, "d Enter", &given("dev"));
    leads(&question, "q Enter", &given("Quality"));
    leads(&question, "1 Enter", &given("1.2"));
    leads(&question, "k Enter", &given("kite"));
    leads(&question, "j Enter", &given("jam"));
    assert!(press(&question, Escape::Declines, "?").1.details);
    assert!(press(&choose(&["a"]), Escape::Declines, "d").1.details);
}

#[test]
fn nothing_is_marked_where_an_accident_would_decide() {
    let mut question = recover();
    leads(&question, "Enter", &Reply::Stay);
    leads(&question, "Down Enter", &given("retry"));
    leads(&question, "Esc", &given("abort"));
    leads(&question, "q", &given("abort"));
    question.default = Some("skip".into());
    leads(&question, "Enter", &given("skip"));
    let mut question = confirm();
    question.options.push(offer("later", "Later", ChoiceAction::Skip));
    leads(&question, "Enter", &Reply::Stay);
    leads(&question, "y Enter", &Reply::Stay);
}

#[test]
fn text_is_edited_and_checked() {
    let mut question = input();
    leads(&question, "a b c Enter", &given("abc"));
    leads(&question, "Enter", &Reply::Stay);
    leads(&question, "a b ^a x ^e y Enter", &given("xaby"));
    leads(&question, "a Space b ^w c Enter", &given("a c"));
    leads(&question, "a b ^u c Enter", &given("c"));
    leads(&question, "a b Home ^k c Enter", &given("c"));
    leads(&question, "paste:one_two_ Enter", &given("one two"));
    leads(&question, "Esc", &Reply::Stay);
    leads(&question, "a Esc b Enter", &given("b"));
    question.pattern = Some("^[0-9]+$".into());
    leads(&question, "a Enter", &Reply::Stay);
    leads(&question, "a Enter Back 1 Enter", &given("1"));
    question.default = Some("42".into());
    leads(&question, "Enter", &given("42"));
    leads(&question, "Tab 1 Enter", &given("421"));
    question.default = Some(String::new());
    question.pattern = None;
    leads(&question, "Enter", &given(""));
}

#[test]
fn a_line_says_how_far_the_answer_is_remembered() {
    let question = Question { remember: true, ..confirm() };
    let scopes = question.remember_scopes();
    let scope_after = |lines: &[&str]| {
        let mut answers = Answers::new(Escape::Declines);
        for line in lines {
            assert!(matches!(answers.line(&question, line), LineOutcome::Again(_)), "{line}");
        }
        let LineOutcome::Answer(given) = answers.line(&question, "y") else { panic!("no answer") };
        assert_eq!(given.value, "proceed");
        given.remember
    };
    assert_eq!(scope_after(&[]), None);
    assert_eq!(scope_after(&["remember"]), Some(scopes[0]));
    assert_eq!(scope_after(&["remember", "remember skill"]), Some(scopes[1]));
    assert_eq!(scope_after(&["remember skill", "remember no"]), None);
    assert_eq!(scope_after(&["remember nonsense", "remember error"]), None);
    // Where nothing is remembered it is one more line that is not an answer, and in a text it is the text.
    let LineOutcome::Again(said) = Answers::new(Escape::Declines).line(&confirm(), "remember")
    else {
        panic!("no answer");
    };
    assert!(said.contains("not an answer"), "{said}");
    let text = Question { remember: true, ..input() };
    let said = Answers::new(Escape::Declines).line(&text, "remember");
    assert!(matches!(said, LineOutcome::Answer(given) if given.value == "remember"));
}

#[test]
fn lines_mean_what_keys_mean() {
    let said = |question: &Question, lines: &[&str]| {
        let mut answers = Answers::new(Escape::Declines);
        let mut said = LineOutcome::Details;
        for line in lines {
            said = answers.line(question, line);
        }
        said
    };
    let value = |text: &str| LineOutcome::Answer(Given::of(text));
    let mut question = confirm();
    assert_eq!(said(&question, &["y"]), value("proceed"));
    assert_eq!(said(&question, &["YES"]), value("proceed"));
    assert_eq!(said(&question, &["no "]), value("cancel"));
    assert_eq!(said(&question, &["cancel"]), value("cancel"));
    assert_eq!(said(&question, &[""]), value("cancel"));
    assert!(matches!(said(&question, &["1"]), LineOutcome::Again(_)));
    assert_eq!(said(&question, &["?"]), LineOutcome::Details);
    let LineOutcome::Answer(declined) = said(&question, &["a", "b", "c"]) else { panic!() };
    assert_eq!(declined.value, "cancel");
    question.default = Some("proceed".into());
    assert_eq!(said(&question, &[""]), value("proceed"));
    question.typed = Some("prod".into());
    assert!(matches!(said(&question, &["y"]), LineOutcome::Again(_)));
    assert_eq!(said(&question, &["no"]), value("cancel"));
    let LineOutcome::Answer(agreed) = said(&question, &["prod"]) else { panic!() };
    assert_eq!(agreed.typed.as_deref(), Some("prod"));
    let list = choose(&["stage", "Production", "3"]);
    assert_eq!(said(&list, &["1"]), value("stage"));
    assert_eq!(said(&list, &["production"]), value("Production"));
    assert_eq!(said(&list, &["3"]), value("3"));
    assert_eq!(said(&list, &["x", "y", "z"]), LineOutcome::Dismissed);
    assert_eq!(said(&recover(), &["q"]), value("abort"));
    assert_eq!(said(&input(), &["  raw \\n "]), value("  raw \\n "));
}

fn any_key() -> impl Strategy<Value = Key> {
    prop_oneof![
        any::<char>().prop_map(Key::Char),
        prop::sample::select("ynqdjk?/12 ".chars().collect::<Vec<_>>()).prop_map(Key::Char),
        prop::sample::select("abcdefhknpuw".chars().collect::<Vec<_>>()).prop_map(Key::Ctrl),
        ".{0,8}".prop_map(Key::Paste),
        prop::sample::select(vec![
            Key::Enter,
            Key::Esc,
            Key::Tab,
            Key::Backspace,
            Key::Delete,
            Key::Left,
            Key::Right,
            Key::Up,
            Key::Down,
            Key::Home,
            Key::End,
            Key::PageUp,
            Key::PageDown,
            Key::WordLeft,
            Key::WordRight,
            Key::Other,
        ]),
    ]
}

fn any_question() -> impl Strategy<Value = Question> {
    let typed = Question { typed: Some("prod".into()), ..confirm() };
    let several = Question { approvals: 2, ..confirm() };
    let pattern = Question { pattern: Some("^a+$".into()), ..input() };
    prop::sample::select(vec![
        confirm(),
        typed,
        several,
        choose(&["stage", "production"]),
        choose(&[]),
        input(),
        pattern,
        recover(),
    ])
}

proptest! {
    /// Whatever is typed, nothing panics, and an answer is one that was offered.
    #[test]
    fn no_keys_panic_and_answers_are_offered(
        question in any_question(),
        pressed in prop::collection::vec(any_key(), 0..60),
    ) {
        let mut dialog = Dialog::new(&question, Escape::Declines);
        for key in &pressed {
            match dialog.key(&question, key) {
                Reply::Stay | Reply::Typing => {}
                Reply::Answer(given) => {
                    match question.pattern.as_deref() {
                        Some(_) => prop_assert!(given.value.chars().all(|c| c == 'a')),
                        None if question.options.is_empty() => {}
                        None => prop_assert!(question.offer(&given.value).is_some()),
                    }
                    if question.typed.is_some() && given.value == "proceed" {
                        prop_assert_eq!(given.typed.as_deref(), Some("prod"));
                    }
                    break;
                }
                Reply::Dismissed => break,
            }
        }
    }

    /// The editor against a simpler one: a text before and a text behind the cursor.
    #[test]
    fn the_line_is_what_was_typed(pressed in prop::collection::vec(any_key(), 0..60)) {
        let mut line = Line::default();
        let (mut before, mut behind) = (String::new(), String::new());
        for key in &pressed {
            match key {
                Key::Char(c) if c.is_ascii_graphic() => before.push(*c),
                Key::Backspace => { before.pop(); }
                Key::Left => if let Some(c) = before.pop() { behind.insert(0, c) },
                Key::Right => if !behind.is_empty() { before.push(behind.remove(0)) },
                Key::Delete => if !behind.is_empty() { behind.remove(0); },
                Key::Home => { behind.insert_str(0, &before); before.clear(); }
                Key::End => { before.push_str(&behind); behind.clear(); }
                Key::Ctrl('u') => before.clear(),
                Key::Ctrl('k') => behind.clear(),
                _ => continue,
            }
            line.key(key);
        }
        prop_assert_eq!(line.text(), format!("{before}{behind}"));
        let (shown, cursor) = line.window(10, None);
        prop_assert!(shown.len() <= 10 && cursor < 10);
    }
}

#[test]
fn the_stage_says_how_a_question_is_answered() {
    let stage = |question: &Question| Dialog::new(question, Escape::Declines).stage;
    assert!(matches!(stage(&confirm()), Stage::Key(0, 1)));
    assert!(matches!(stage(&Question { approvals: 2, ..confirm() }), Stage::Word(..)));
    assert!(matches!(stage(&recover()), Stage::List(_)));
    let mut described = confirm();
    described.options[0].description = Some("creates the merge request".into());
    assert!(matches!(stage(&described), Stage::List(_)));
}
