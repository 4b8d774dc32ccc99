use aye_core::id::{QuestionId, RunId};
use aye_core::question::Offer;
use aye_core::skill::{AskKind, ChoiceAction};

use super::*;

fn question(kind: AskKind) -> Question {
    let id = QuestionId::new(&RunId::new("abcdefgh12").expect("an id"), 1);
    Question::new(id, kind, "Deploy?")
}

fn offer(value: &str, action: ChoiceAction) -> Offer {
    Offer::new(value, value, action)
}

fn confirm() -> Question {
    let options =
        vec![offer("proceed", ChoiceAction::Proceed), offer("cancel", ChoiceAction::Cancel)];
    Question { options, ..question(AskKind::Confirm) }
}

fn draft(value: &str) -> Draft {
    Draft { value: value.to_owned(), typed: None, remember: None }
}

fn card(question: &Question) -> Card {
    let (now, zone) = (jiff::Timestamp::UNIX_EPOCH, jiff::tz::TimeZone::UTC);
    Card::of(&crate::prompter::AskedQuestion::alone(question, None), now, &zone)
}

#[test]
fn a_row_answers() {
    let asked = confirm();
    assert_eq!(Stage::Pick.next(&asked, Closed::Row(0)), Next::Answer(draft("proceed"), None));
    assert_eq!(Stage::Pick.next(&asked, Closed::Row(1)), Next::Answer(draft("cancel"), None));
    // What was never offered is not an answer.
    assert!(matches!(Stage::Pick.next(&asked, Closed::Row(2)), Next::Failed(_)));
}

/// A row that typing may have picked is asked about in a window of its own.
#[test]
fn a_row_of_a_list_answers_when_it_is_said_once_more() {
    let asked = confirm();
    let Next::Show(sure, None) = Stage::Pick.sure(1) else { panic!("a window") };
    let (window, shown) = sure.window(&asked, card(&asked));
    assert_eq!(shown.task.as_deref(), Some("Your answer: cancel"));
    let Window::Pick(rows) = window else { panic!("{window:?}") };
    assert_eq!(rows.iter().map(|row| row.label.as_str()).collect::<Vec<_>>(), ["Answer"]);
    assert_eq!(sure.next(&asked, Closed::Row(0)), Next::Answer(draft("cancel"), None));
    assert_eq!(sure.next(&asked, Closed::Later), Next::Left);
    assert_eq!(sure.again(), Stage::Pick);
    assert_eq!(sure.reopened(), Stage::Pick);
}

#[test]
fn nothing_but_an_answer_is_one() {
    let guarded = Question { typed: Some("prod".to_owned()), reauth: true, ..confirm() };
    let stages = [
        Stage::Read,
        Stage::Pick,
        Stage::Scope(draft("proceed")),
        Stage::Write,
        Stage::Type(draft("proceed")),
        Stage::Code(draft("proceed")),
        Stage::Sure(Box::new(Stage::Pick), 0),
    ];
    for asked in [confirm(), guarded, question(AskKind::Input)] {
        for stage in &stages {
            assert_eq!(stage.next(&asked, Closed::Later), Next::Left, "{stage:?}");
            let failed = Closed::Failed("no display".to_owned());
            assert_eq!(stage.next(&asked, failed), Next::Failed("no display".to_owned()));
        }
    }
}

#[test]
fn what_else_it_takes_is_asked_for_before_it_is_an_answer() {
    let asked = Question { typed: Some("prod".to_owned()), reauth: true, ..confirm() };
    let typing = Stage::Type(draft("proceed"));
    assert_eq!(Stage::Pick.next(&asked, Closed::Row(0)), Next::Show(typing.clone(), None));
    let wrong = Some("That is not the text.".to_owned());
    for not_it in ["Prod", "prod ", ""] {
        let next = typing.next(&asked, Closed::Text(not_it.to_owned()));
        assert_eq!(next, Next::Show(typing.clone(), wrong.clone()), "{not_it:?}");
    }
    let agreed = Draft { typed: Some("prod".to_owned()), ..draft("proceed") };
    let code = Stage::Code(agreed.clone());
    let next = typing.next(&asked, Closed::Text("prod".to_owned()));
    assert_eq!(next, Next::Show(code.clone(), None));
    let empty = code.next(&asked, Closed::Text(" ".to_owned()));
    assert_eq!(empty, Next::Show(code.clone(), Some("There is no code yet.".to_owned())));
    let given = code.next(&asked, Closed::Text("123456".to_owned()));
    assert_eq!(given, Next::Answer(agreed, Some("123456".to_owned())));
    // Saying no takes nothing.
    assert_eq!(Stage::Pick.next(&asked, Closed::Row(1)), Next::Answer(draft("cancel"), None));
}

/// Every scope that is allowed is offered, in a window of its own, before what else it takes.
#[test]
fn how_far_it_is_remembered_is_asked_for() {
    use AnswerScope::{Always, Error, Skill, Step};
    let asked = Question { remember: true, ..confirm() };
    let choosing = Stage::Scope(draft("proceed"));
    assert_eq!(Stage::Pick.next(&asked, Closed::Row(1)), Next::Show(choosing.clone(), None));
    for (at, scope) in [Step, Skill, Always].into_iter().enumerate() {
        let remembered = Draft { remember: Some(scope), ..draft("proceed") };
        assert_eq!(choosing.next(&asked, Closed::Row(at)), Next::Answer(remembered, None));
    }
    assert!(matches!(choosing.next(&asked, Closed::Row(3)), Next::Failed(_)));
    let typed = Question { typed: Some("prod".to_owned()), ..asked };
    let remembered = Draft { remember: Some(Skill), ..draft("proceed") };
    let next = choosing.next(&typed, Closed::Row(1));
    assert_eq!(next, Next::Show(Stage::Type(remembered), None));
    // After a failure the error is one of them.
    let options = vec![offer("skip", ChoiceAction::Skip)];
    let mut failed = Question { options, remember: true, ..question(AskKind::Recover) };
    failed.purpose = aye_core::question::Purpose::Recover;
    let Next::Show(choosing, _) = Stage::Pick.next(&failed, Closed::Row(1)) else { panic!() };
    let card = card(&failed);
    let (Window::Pick(rows), card) = choosing.window(&failed, card) else { panic!() };
    let picks: Vec<Pick> = rows.iter().map(|row| row.pick).collect();
    assert_eq!(picks, [Error, Step, Skill, Always].map(|scope| Pick::Offer(0, Some(scope))));
    assert!(card.plain().contains("Remember it for what?"), "{}", card.plain());
    assert_eq!(
        rows[0].about.as_deref(),
        Some("this error of this step, for 30 days, in this environment")
    );
}

#[test]
fn text_has_to_match() {
    let asked = Question { pattern: Some("^v[0-9]+$".to_owned()), ..question(AskKind::Input) };
    let says = |text: &str| Stage::Write.next(&asked, Closed::Text(text.to_owned()));
    assert_eq!(says("v12"), Next::Answer(draft("v12"), None));
    let again = Next::Show(Stage::Write, Some("That does not match ^v[0-9]+$".to_owned()));
    assert_eq!(says("12"), again);
    let free = question(AskKind::Input);
    let empty = Stage::Write.next(&free, Closed::Text(String::new()));
    assert_eq!(empty, Next::Show(Stage::Write, Some("There is no answer yet.".to_owned())));
    let with_default = Question { default: Some("main".to_owned()), ..free };
    let taken = Stage::Write.next(&with_default, Closed::Text(String::new()));
    assert_eq!(taken, Next::Answer(draft("main"), None));
}

#[test]
fn a_text_question_with_options_offers_both() {
    let options = vec![offer("skip", ChoiceAction::Skip)];
    let asked = Question { options, ..question(AskKind::Input) };
    assert_eq!(Stage::Pick.next(&asked, Closed::Row(0)), Next::Show(Stage::Write, None));
    assert_eq!(Stage::Pick.next(&asked, Closed::Row(1)), Next::Answer(draft("skip"), None));
}

#[test]
fn a_secret_is_hidden_and_its_default_is_not_shown() {
    let default = Some("hunter2".to_owned());
    let asked = Question { secret: true, default, ..question(AskKind::Input) };
    let card = card(&asked);
    let (window, card) = Stage::Write.window(&asked, card);
    assert_eq!(window, Window::Write { initial: String::new(), hidden: true });
    assert!(!card.plain().contains("hunter2"));
    let (code, _) = Stage::Code(draft("x")).window(&asked, card);
    assert_eq!(code, Window::Write { initial: String::new(), hidden: true });
}

#[test]
fn a_failed_step_is_not_edited_in_a_window() {
    let options = vec![
        offer("retry", ChoiceAction::Proceed),
        offer("edit", ChoiceAction::Proceed),
        offer("abort", ChoiceAction::Cancel),
    ];
    let asked = Question { options, ..question(AskKind::Recover) };
    assert_eq!(Stage::Pick.next(&asked, Closed::Row(1)), Next::Answer(draft("abort"), None));
}

#[test]
fn a_long_question_is_read_first_and_its_windows_after_that_are_short() {
    let long = "line\n".repeat(100);
    let asked = Question { message: long, ..confirm() };
    let card = card(&asked);
    assert_eq!(first(&card), Stage::Read);
    let (window, whole) = Stage::Read.window(&asked, card.clone());
    assert_eq!(window, Window::Read);
    assert_eq!(whole.plain().matches("line").count(), 100);
    assert_eq!(Stage::Read.next(&asked, Closed::Read), Next::Show(Stage::Pick, None));
    let (_, short) = Stage::Pick.window(&asked, card);
    assert!(!short.is_long());
    assert!(short.plain().contains("the window before showed the rest"));
}

/// Whatever someone types while a window comes up, there is no field for it, and Enter is the
/// way out.
#[test]
fn no_window_that_comes_up_by_itself_has_a_field() {
    for (secret, pattern) in [(false, None), (false, Some("^[a-z]+$")), (true, None)] {
        let (default, pattern) = (Some("main".to_owned()), pattern.map(str::to_owned));
        let asked = Question { secret, default, pattern, ..question(AskKind::Input) };
        let card = card(&asked);
        let (window, _) = first(&card).window(&asked, card);
        let Window::Pick(rows) = window else { panic!("{window:?}") };
        assert_eq!(rows.iter().map(|row| row.label.as_str()).collect::<Vec<_>>(), ["Answer…"]);
        assert_eq!(Stage::Pick.next(&asked, Closed::Row(0)), Next::Show(Stage::Write, None));
    }
    // One that Aye opens again, because another deadline is true now, has none either.
    for stage in [Stage::Write, Stage::Type(draft("x")), Stage::Code(draft("x"))] {
        assert_eq!(stage.reopened(), Stage::Pick);
    }
}
