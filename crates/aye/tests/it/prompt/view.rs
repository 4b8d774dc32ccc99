//! What prompts look like.

use aye::paint::Paint;
use aye::prompt::Escape;
use aye::prompt::answers::Wanted;
use aye::prompt::dialog::Dialog;
use aye::prompt::key::Key;
use aye::prompt::view::{Look, View, plain_ask, plain_question, view};
use aye_core::journal::State;
use aye_core::question::Question;
use aye_runtime::prompter::AskedQuestion;
use insta::assert_snapshot;
use proptest::prelude::*;

use super::made::{choose, confirm, input, moment, recover};

const PLAIN: Paint = Paint { color: false, bold: false, unicode: true };

fn look(columns: usize, rows: usize) -> Look {
    Look { paint: PLAIN, columns, rows }
}

fn asked(question: &Question) -> AskedQuestion<'_> {
    let deadline = question.deadline;
    AskedQuestion::alone(question, deadline)
}

fn lines(view: &View, look: Look) -> Vec<String> {
    let all = view.head.iter().chain(&view.details).chain(&view.body);
    all.map(|line| line.render(look.paint)).collect()
}

fn shown(question: &Question, keys: &[Key], look: Look) -> String {
    let mut dialog = Dialog::new(question, Escape::Declines);
    for key in keys {
        let _ = dialog.key(question, key);
    }
    let view = view(&asked(question), &dialog, look, moment(0), 3);
    lines(&view, look).iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn a_confirmation() {
    let mut question = confirm();
    question.default = Some("cancel".into());
    question.deadline = Some(moment(65));
    assert_snapshot!(shown(&question, &[Key::Char('x')], look(60, 24)), @r"
    ╭─ Production release
    │
    │  Release `abc123` to **production**?
    │
    ├─ Proceed? [y/N]
    │  ! `x` is not an answer; press y or n (2 tries left)
    ╰─ ⠸ 1m 5s left, then no · ? details · Esc cancels
    ");
    question.default = Some("proceed".into());
    question.deadline = None;
    question.message =
        "One line\n\n- first\n- second, with more to say than fits a line\n  12. deep\nlast".into();
    assert_snapshot!(shown(&question, &[], look(34, 24)), @r"
    ╭─ Production release
    │
    │  One line
    │
    │  • first
    │  • second, with more to say
    │    than fits a line
    │    12. deep
    │  last
    │
    ├─ Proceed? [Y/n]
    ╰─ ? details · Esc cancels
    ");
}

#[test]
fn colours_mark_what_matters() {
    let paint = Paint { color: true, bold: false, unicode: true };
    let mut question = confirm();
    question.deadline = Some(moment(9));
    let look = Look { paint, ..look(60, 10) };
    let text = shown(&question, &[], look).replace('\u{1b}', "^");
    assert_snapshot!(text, @r"
    ^[33m╭─ ^[0m^[1mProduction release^[0m
    ^[33m│  ^[0mRelease ^[36mabc123^[0m to ^[1mproduction^[0m?
    ^[33m├─ ^[0mProceed? ^[1m[y/N]^[0m
    ^[33m╰─ ^[0m^[33m⠸ ^[0m^[33m9s left^[0m^[2m, then no answer^[0m^[2m · ^[0m^[2m? details^[0m^[2m · ^[0m^[2mEsc cancels^[0m
    ");
}

#[test]
fn a_list() {
    let mut question = recover();
    question.default = Some("skip".into());
    assert_snapshot!(shown(&question, &[Key::Up], look(60, 24)), @r"
    ╭─ Production release
    │
    │  `build` failed: exit code 3
    │
    ├─ Choose, or type a number
    │    1 Retry           run the step again
    │  ❯ 2 It was done     continue as if it had succeeded
    │    3 Skip (default)  skip the step and continue
    │    4 Abort           end the run as failed
    ╰─ ↑↓ · Enter · type to filter · ? details · Esc cancels
    ");
    assert_snapshot!(shown(&question, &[Key::Down], look(26, 40)), @r"
    ╭─ Production release
    │
    │  `build` failed: exit
    │  code 3
    │
    ├─ Choose
    │    1 Retry
    │        run the step
    │        again
    │    2 It was done
    │        continue as if
    │        it had succeeded
    │    3 Skip (default)
    │        skip the step
    │        and continue
    │  ❯ 4 Abort
    │        end the run as
    │        failed
    ╰─ ↑↓ · Enter · ? · Esc
    ");
    assert_snapshot!(shown(&question, &[Key::Char('t')], look(60, 24)), @r"
    ╭─ Production release
    │
    │  `build` failed: exit code 3
    │
    ├─ / t
    │  ❯ 1 Retry           run the step again
    │    2 It was done     continue as if it had succeeded
    │    4 Abort           end the run as failed
    ╰─ Enter chooses · Esc shows all
    ");
}

#[test]
fn a_list_longer_than_the_window() {
    let names: Vec<String> = (100..140).map(|number| format!("host-{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut question = choose(&names);
    question.default = Some("host-120".into());
    assert_snapshot!(shown(&question, &[], look(40, 12)), @r"
    ╭─ Production release
    │  Which environment?
    ├─ Choose
    │    ↑ 18 more
    │    host-118
    │    host-119
    │  ❯ host-120 (default)
    │    host-121
    │    host-122
    │    ↓ 17 more
    ╰─ ↑↓ · Enter · ? details · Esc cancels
    ");
}

#[test]
fn an_input() {
    let mut question = input();
    question.default = Some("HEAD".into());
    assert_snapshot!(shown(&question, &[], look(60, 12)), @r"
    ╭─ Production release
    │  Which commit?
    ├─ ❯ Enter takes HEAD
    ╰─ Enter answers · Tab edits · ? details · Esc cancels
    ");
    question.pattern = Some("^[0-9a-f]+$".into());
    assert_snapshot!(shown(&question, &[Key::Char('x'), Key::Enter], look(60, 12)), @r"
    ╭─ Production release
    │  Which commit?
    ├─ ❯ x
    │  ! this does not match `^[0-9a-f]+$`
    ╰─ Enter answers · Esc empties it
    ");
    question.secret = true;
    assert_snapshot!(shown(&question, &[Key::Paste("hunter2".into())], look(60, 12)), @r"
    ╭─ Production release
    │  Which commit?
    ├─ ❯ •••••••
    ╰─ Enter answers · Esc empties it
    ");
}

#[test]
fn what_has_to_be_typed() {
    let mut question = confirm();
    question.typed = Some("production".into());
    question.approvals = 2;
    let agreed = ["ada".to_owned()];
    let asked = AskedQuestion { agreed: &agreed, ..AskedQuestion::alone(&question, None) };
    let dialog = Dialog::new(&question, Escape::Declines);
    let look = look(60, 12);
    let view = view(&asked, &dialog, look, moment(0), 0);
    assert_snapshot!(lines(&view, look).join("\n"), @r"
    ╭─ Production release
    │  Release `abc123` to **production**?
    ├─ 2 different people have to agree; so far: ada
    ├─ To agree, type production
    │  ❯ 
    ╰─ Enter agrees · Esc cancels · ? details
    ");
}

#[test]
fn another_person_has_to_agree() {
    let mut question = confirm();
    question.not_starter = true;
    assert_snapshot!(shown(&question, &[], look(40, 12)), @r"
    ╭─ Production release
    │  Release `abc123` to **production**?
    ├─ another person has to agree, not the
    │    one who started the run
    ├─ Proceed? [y/N]
    ╰─ ? details · Esc cancels
    ");
}

#[test]
fn details() {
    let mut question = confirm();
    question.follows = Some("./deploy --to production 'with a space'".into());
    question.deadline = Some(moment(90));
    question.by = aye_core::skill::By::Names(vec!["ada".into(), "bob".into()]);
    assert_snapshot!(shown(&question, &[Key::Char('?')], look(60, 30)), @r"
    ╭─ Production release
    │
    │  Release `abc123` to **production**?
    │
    ├─ Details
    │  then runs ./deploy --to production 'with a space'
    │  option    Proceed: continues
    │  option    Cancel: declines
    │  who       ada, bob
    │  until     14:14:50 UTC, then no answer
    ├─ only ada, bob may answer
    ├─ Proceed? [y/N]
    ╰─ ⠸ 1m 30s left, then no answer · ? less · Esc cancels
    ");
}

#[test]
fn the_narrowest_window() {
    let mut question = confirm();
    question.deadline = Some(moment(65));
    question.message = "日本語のメッセージは幅が広い。 Deploy it?".into();
    assert_snapshot!(shown(&question, &[], look(20, 24)), @r"
    ╭─ Production
    │  release
    │
    │  日本語のメッセー
    │  ジは幅が広い。
    │  Deploy it?
    │
    ├─ Proceed? [y/N]
    │  ⠸ 1m 5s left,
    │    then no answer
    ╰─ ? · Esc
    ");
}

#[test]
fn plain_lines() {
    let mut question = recover();
    question.deadline = Some(moment(30));
    question.default = Some("abort".into());
    let look =
        Look { paint: Paint { color: false, bold: false, unicode: false }, columns: 60, rows: 24 };
    let mut text = plain_question(&asked(&question), look).join("\n");
    text.push('\n');
    text.push_str(&plain_ask(&asked(&question), Wanted::Answer, look, moment(0)));
    assert_snapshot!(text, @r"
    +- Production release
    |  `build` failed: exit code 3
    +- Options
    |  1 Retry: run the step again
    |  2 It was done: continue as if it had succeeded
    |  3 Skip: skip the step and continue
    |  4 Abort: end the run as failed
    +- Number or name, Enter takes 4, within 30s, then Abort:
    ");
    let text = plain_ask(&asked(&confirm()), Wanted::Answer, look, moment(0));
    assert_snapshot!(text, @"+- Proceed? [y/N]:");
}

/// The run of an item, or of a skill that an item calls.
fn inside(run: &str, parent: &serde_json::Value) -> State {
    let event = serde_json::json!({
        "v": 1, "run": run, "seq": 1, "at": "2026-11-16T04:52:49.884Z", "type": "skill_started",
        "skill": "rollout", "file": "rollout.yaml", "source": "0", "steps": 1,
        "workspace": "/work", "driver": { "user": "ada", "host": "vm", "pid": 1 },
        "parent": parent,
    });
    State::begin(&serde_json::from_value(event).unwrap()).unwrap()
}

#[test]
fn which_item_it_is_about_stands_above_the_question() {
    let question = confirm();
    let item = serde_json::json!({
        "run": "abcdefgh12", "step": "restart", "execution": 1, "depth": 1,
        "item": { "index": 1, "value": "web-2" },
    });
    let state = inside("abcdefgh12_1_1", &item);
    let head = |state: &State, columns| {
        let asked = AskedQuestion { run: Some(state), ..asked(&question) };
        plain_question(&asked, look(columns, 24)).join("\n")
    };
    assert_snapshot!(head(&state, 80), @r"
    ╭─ Production release  rollout · restart[1] web-2 · release
    │  Release `abc123` to **production**?
    ");
    assert_snapshot!(head(&state, 40), @r"
    ╭─ Production release
    │  restart[1] web-2 · release
    │  Release `abc123` to **production**?
    ");
    assert_snapshot!(head(&state, 20), @r"
    ╭─ Production
    │  release
    │  restart[1] web-2
    │    · release
    │  Release `abc123`
    │  to
    │  **production**?
    ");
    let called = serde_json::json!({
        "run": "abcdefgh12_1_3", "step": "ship", "execution": 1, "depth": 2,
    });
    let state = inside("abcdefgh12_1_3_1", &called);
    assert_snapshot!(head(&state, 80), @r"
    ╭─ Production release  rollout · [3] ship · release
    │  Release `abc123` to **production**?
    ");
}

proptest! {
    /// Whatever a question says, no line is wider than the window, nothing in
    /// it steers the terminal, and the first column is the frame's alone.
    #[test]
    fn nothing_reaches_beyond_its_place(
        message in "(?s).{0,120}",
        title in "(?s).{1,40}",
        label in "(?s).{1,40}",
        description in "(?s).{0,60}",
        typed in "(?s).{0,30}",
        columns in 20usize..100,
        rows in 4usize..40,
        list in any::<bool>(),
    ) {
        let mut question = if list { recover() } else { confirm() };
        question.message = message;
        question.title = title;
        question.options[0].label = label.clone();
        question.options[1].description = Some(description);
        question.follows = Some(typed.clone());
        question.deadline = Some(moment(65));
        let look = look(columns, rows);
        let mut dialog = Dialog::new(&question, Escape::Declines);
        let _ = dialog.key(&question, &Key::Char('?'));
        let _ = dialog.key(&question, &Key::Paste(typed));
        let view = view(&asked(&question), &dialog, look, moment(0), 0);
        let lines = lines(&view, look);
        for line in &lines {
            prop_assert!(unicode_width::UnicodeWidthStr::width(line.as_str()) < columns.max(11), "{line:?}");
            prop_assert!(!line.chars().any(aye_core::diagnostic::is_hidden), "{line:?}");
            prop_assert!(line.starts_with(['╭', '│', '├', '╰']), "{line:?}");
        }
        let count = |glyph: char| lines.iter().filter(|line| line.starts_with(glyph)).count();
        prop_assert_eq!((count('╭'), count('╰')), (1, 1));
        prop_assert!(view.cursor.0 < view.body.len() && view.cursor.1 < columns.max(11));
    }
}

#[test]
fn keys_stay_where_words_do_not_fit() {
    let mut question = choose(&["stage", "production"]);
    question.deadline = Some(moment(3595));
    let last =
        |columns| shown(&question, &[], look(columns, 24)).lines().last().unwrap().to_owned();
    assert_snapshot!([100, 80, 60, 45, 30].map(last).join("\n"), @r"
    ╰─ ⠸ 59m 55s left, then no answer · ↑↓ · Enter chooses · type to filter · ? details · Esc cancels
    ╰─ ⠸ 59m 55s left, then no answer · ↑↓ · Enter · ? details · Esc cancels
    ╰─ ⠸ 59m 55s left, then no answer · ↑↓ · Enter · ? · Esc
    ╰─ ↑↓ · Enter · ? · Esc
    ╰─ ↑↓ · Enter · ? · Esc
    ");
}
