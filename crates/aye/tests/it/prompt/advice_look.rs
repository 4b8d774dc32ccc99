//! What advice looks like, and what `aye.toml` may say about it.

use aye::paint::Paint;
use aye::prompt::Escape;
use aye::prompt::dialog::Dialog;
use aye::prompt::key::Key;
use aye::prompt::view::{Look, View, head, plain_advice, view_below};
use aye_core::advice::Advice;
use aye_core::question::Question;
use aye_runtime::advisor::{AdvisorState, AskedAdvisor};
use aye_runtime::prompter::AskedQuestion;
use insta::assert_snapshot;
use proptest::prelude::*;

use super::made::{confirm, moment, recover};
use crate::cli::harness::Place;

fn look(columns: usize, rows: usize) -> Look {
    Look { paint: Paint { color: false, bold: false, unicode: true }, columns, rows }
}

fn advisor(state: AdvisorState) -> AskedAdvisor {
    AskedAdvisor { name: "claude".into(), state }
}

fn came(option: Option<&str>, text: &str) -> Vec<Advice> {
    vec![Advice { by: "claude".into(), option: option.map(str::to_owned), text: text.to_owned() }]
}

fn laid_out(
    question: &Question,
    keys: &[Key],
    advice: &[Advice],
    advisor: &AskedAdvisor,
    look: Look,
) -> (View, Vec<String>) {
    let asked = AskedQuestion { advice, ..AskedQuestion::alone(question, question.deadline) };
    let mut dialog = Dialog::new(question, Escape::Declines);
    for key in keys {
        let _ = dialog.key(question, key);
    }
    let head = head(&asked, look);
    let view = view_below(head.len(), &asked, &dialog, Some(advisor), look, moment(0), 3);
    let view = View { head, ..view };
    let all = view.head.iter().chain(&view.details).chain(&view.body);
    let lines = all.map(|line| line.render(look.paint)).collect();
    (view, lines)
}

fn shown(
    question: &Question,
    keys: &[Key],
    advice: &[Advice],
    advisor: &AskedAdvisor,
    look: Look,
) -> String {
    let (_, lines) = laid_out(question, keys, advice, advisor, look);
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn from_asking_to_advice() {
    let mut question = confirm();
    question.deadline = Some(moment(65));
    question.approvals = 2;
    assert_snapshot!(shown(&question, &[], &[], &advisor(AdvisorState::Awaited), look(80, 24)), @r"
    ╭─ Production release
    │
    │  Release `abc123` to **production**?
    │
    ├─ 2 different people have to agree
    ├─ Proceed? [y/N]
    │  asking claude for advice…
    ╰─ ⠸ 1m 5s left, then no answer · Enter answers · ? details · Esc cancels
    ");
    let over = advisor(AdvisorState::Over);
    let advice =
        came(Some("cancel"), "It is Friday afternoon and nobody is on call until Monday.\nWait.");
    assert_snapshot!(shown(&question, &[], &advice, &over, look(60, 24)), @r"
    ╭─ Production release
    │
    │  Release `abc123` to **production**?
    │
    ├─ advice from claude (an assistant; it does not decide)
    │  ┊ suggests Cancel
    │  ┊ It is Friday afternoon and nobody is on call until
    │  ┊ Monday.
    │  ┊ Wait.
    ├─ 2 different people have to agree
    ├─ Proceed? [y/N]
    ╰─ ⠸ 1m 5s left, then no answer · Enter · ? · Esc cancels
    ");
    let advice = came(None, "It is Friday afternoon and nobody is on call until Monday.");
    assert_snapshot!(shown(&recover(), &[], &advice, &over, look(40, 12)), @r"
    ╭─ Production release
    │  `build` failed: exit code 3
    ├─ advice from claude (an assistant; it
    │    does not decide)
    │  ┊ It is Friday afternoon and nobody
    │  ┊ is on call until Monday.
    ├─ Choose, or type a number
    │
    │    1 Retry…
    │    2 It was done…
    │    3 Skip…
    │    4 Abort…
    │
    ╰─ ↑↓ · Enter · ? details · Esc cancels
    ");
    let failed = advisor(AdvisorState::Failed("it took longer than 30s".into()));
    assert_snapshot!(shown(&confirm(), &[Key::Char('?')], &[], &failed, look(60, 24)), @r"
    ╭─ Production release
    │
    │  Release `abc123` to **production**?
    │
    ├─ Details
    │  option    Proceed: continues
    │  option    Cancel: declines
    │  advice    none from claude: it took longer than 30s
    ├─ Proceed? [y/N]
    ╰─ ? less · Esc cancels
    ");
    assert_snapshot!(plain_advice(&confirm(), &came(Some("proceed"), "Continue."), None, look(60, 24)).join("\n"), @r"
    ├─ advice from claude (an assistant; it does not decide)
    │  ┊ suggests Proceed
    │  ┊ Continue.
    ");
    assert_snapshot!(plain_advice(&confirm(), &[], Some(&advisor(AdvisorState::Awaited)), look(60, 24)).join("\n"), @"│  asking claude for advice…");
    assert_eq!(plain_advice(&confirm(), &[], Some(&failed), look(60, 24)), Vec::<String>::new());
}

proptest! {
    /// Whatever an advisor says, it stays behind its mark, and the rest of the
    /// prompt is as it would be without it.
    #[test]
    fn advice_changes_nothing_but_its_own_lines(
        said in "(?s).{0,400}",
        option in prop::option::of("(?s).{1,40}"),
        name in "(?s).{0,30}",
        columns in 20usize..100,
        rows in 12usize..40,
        list in any::<bool>(),
    ) {
        let question = if list { recover() } else { confirm() };
        // A list shows fewer options where there is less room.
        let look = look(columns, if list { 100 } else { rows });
        let advice = Advice { by: name, option, text: said };
        let over = advisor(AdvisorState::Over);
        let (view, lines) = laid_out(&question, &[], &[advice], &over, look);
        for line in &lines {
            prop_assert!(unicode_width::UnicodeWidthStr::width(line.as_str()) < columns, "{line:?}");
            prop_assert!(!line.chars().any(aye_core::diagnostic::is_hidden), "{line:?}");
            prop_assert!(line.starts_with(['╭', '│', '├', '╰']), "{line:?}");
        }
        let (without, _) = laid_out(&question, &[], &[], &over, look);
        let more = view.body.len() - without.body.len();
        prop_assert_eq!(&view.body[more..], &without.body[..]);
        prop_assert_eq!(view.cursor, (without.cursor.0 + more, without.cursor.1));
    }
}

/// What Aye says to this `aye.toml`.
fn said(text: &str) -> String {
    let place = Place::new();
    place.write("aye.toml", text);
    let ran = place.aye(&["list"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    ran.stderr
}

#[test]
fn settings_that_make_no_sense() {
    assert_snapshot!(said("[advisor]\n"), @r#"
    error: `[advisor]` needs a `command`
      --> aye.toml:1:1
       |
     1 | [advisor]
       | ^^^^^^^^^
       |
    hint: `command = ["claude", "-p"]`
    hint: `aye init` in an empty directory makes an `aye.toml` with every key
    "#);
    assert_snapshot!(said("[advisor]\ncommand = 'claude -p'\n"), @r#"
    error: `command` is a list: the program and its arguments
      --> aye.toml:2:11
       |
     2 | command = 'claude -p'
       |           ^^^^^^^^^^^
       |
    hint: `command = ["claude", "-p"]`
    hint: `aye init` in an empty directory makes an `aye.toml` with every key
    "#);
    assert_snapshot!(said("[advisor]\ncommand = []\n"), @r#"
    error: the list names no program
      --> aye.toml:2:11
       |
     2 | command = []
       |           ^^
       |
    hint: `["program", "argument"]`
    hint: `aye init` in an empty directory makes an `aye.toml` with every key
    "#);
    assert_snapshot!(said("[advisor]\ncommand = ['claude']\ntimeout = 'soon'\n"), @r"
    error: `soon` is not a duration
      --> aye.toml:3:11
       |
     3 | timeout = 'soon'
       |           ^^^^^^ write `30s`, `5m` or `1h30m`
    hint: `aye init` in an empty directory makes an `aye.toml` with every key
    ");
    assert_snapshot!(said("[advisor]\ncommand = ['claude']\ntimeout = '0'\n"), @r"
    error: the advisor needs a timeout
      --> aye.toml:3:11
       |
     3 | timeout = '0'
       |           ^^^
       |
    hint: write `30s`; to turn it off, remove `[advisor]`
    hint: `aye init` in an empty directory makes an `aye.toml` with every key
    ");
    assert_snapshot!(said("[advisor]\ncomand = ['claude']\n"), @r"
    error: unknown key `comand`, expected `command` or `timeout`
      --> aye.toml:2:1
       |
     2 | comand = ['claude']
       | ^^^^^^
    hint: `aye init` in an empty directory makes an `aye.toml` with every key
    ");
}
