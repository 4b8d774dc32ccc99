//! `aye inbox --watch`: a place to answer from.

use std::io::BufRead as _;

use rustix::process::{Signal, kill_process};

use super::pty::Terminal;
use super::vt::Vt;
use crate::cli::harness::{Place, signal, until};
use crate::memory::proposing::{TOLD, with_block};

fn place() -> Place {
    let place = Place::new();
    place.write(
        "deploy.yaml",
        "
name: release
steps:
  - { name: deploy, command: touch, args: [deployed], confirmation: { message: 'Deploy **main**?', timeout: 10m } }
",
    );
    place.write(
        "region.yaml",
        "
name: rollout
steps:
  - { name: region, choose: { message: 'Which region?', options: [eu, us], timeout: 0 }, output: r }
",
    );
    place
}

#[test]
fn questions_come_and_go_by_themselves() {
    let place = place();
    let mut inbox = Terminal::aye(&place, &["inbox", "--watch"]);
    inbox.wait_for("Nothing waits for an answer");
    let mut run = Terminal::aye(&place, &["run", "deploy.yaml"]);
    run.wait_for("[y/N]");
    inbox.wait_for("Deploy main?").wait_for("1 question waits").wait_gone("Nothing waits");
    inbox.wait_for("release · deploy").wait_for("9m ");
    place.aye(&["run", "region.yaml", "--detach"]).ok();
    inbox.wait_for("2 questions wait").wait_for("Which region?").wait_for("no time limit");
    run.keys("n");
    assert_eq!(run.end(), Some(5));
    inbox.wait_gone("Deploy main?").wait_for("1 question waits").keys("\x03");
    assert_eq!(inbox.end(), Some(130), "{}", inbox.vt.all());
    inbox.assert_clean();
    assert_eq!(inbox.vt.screen().trim(), "", "nothing is left behind");
    place.aye(&["cancel", "last"]).ok();
}

#[test]
fn a_question_is_opened_answered_and_the_list_is_back() {
    let place = place();
    place.aye(&["run", "region.yaml", "--detach"]).ok();
    place.aye(&["run", "deploy.yaml", "--detach"]).ok();
    let mut inbox = Terminal::aye(&place, &["inbox", "--watch"]);
    inbox.wait_for("2 questions wait").wait_for("❯ 1 Which region?");
    inbox.keys("\x1b[B").wait_for("❯ 2 Deploy main?").keys("\r");
    // The usual prompt; Escape leaves it open and comes back.
    inbox.wait_for("[y/N]").wait_for("Esc leaves it open").keys("\x1b");
    inbox.wait_for("❯ 2 Deploy main?").keys("1").wait_for("❯ 1 Which region?").keys("\r");
    inbox.wait_for("Choose, or type a number").keys("2\r");
    inbox.wait_for("● region  us").wait_for("1 question waits").keys("\r");
    inbox.wait_for("[y/N]").keys("y").wait_for("● deploy  Proceed");
    until("the step has run", || place.work().join("deployed").exists());
    inbox.wait_for("Nothing waits for an answer").keys("q");
    assert_eq!(inbox.end(), Some(0), "{}", inbox.vt.all());
    inbox.assert_clean();
    assert!(!inbox.vt.screen().contains("Inbox"), "{}", inbox.vt.screen());
}

/// A proposal is opened like a question: it says what agreeing does, and asks.
#[test]
fn a_proposal_is_opened_agreed_to_and_the_list_is_back() {
    let place = with_block(TOLD);
    place.write(
        "region.yaml",
        "name: rollout\nsteps: [{ name: region, confirm: { message: 'Roll out?', timeout: 0 } }]\n",
    );
    place.aye(&["run", "one.yaml"]).ok();
    assert_eq!(place.aye(&["run", "region.yaml", "--no-input"]).code, 6);
    let issue = || place.aye(&["memory", "check", "Error: token expired"]).code;
    let mut inbox = Terminal::sized(&place, &["inbox", "--watch"], 120, 40);
    inbox.wait_for("❯ 1 Roll out?").wait_for("known issue token expired of bonfire: log in again");
    inbox.wait_for("Inbox  1 question and 2 proposals wait");
    let at = if listed_first(&inbox) { "2" } else { "3" };
    inbox.keys(at).wait("the mark", |vt| vt.screen().contains(&format!("❯ {at} proposed by")));
    let asks = |vt: &Vt| vt.screen().contains("├─ [y/N]");
    inbox.keys("\r").wait("it asks", asks).wait_for("from      the skill one in run").keys("n");
    // A no changes nothing, and the list is back.
    inbox.wait("the list", |vt| vt.screen().contains(&format!("❯ {at} proposed by")));
    assert_eq!(issue(), 1);
    inbox.keys("\r").wait("it asks again", asks).keys("y");
    inbox.wait_for("is a known issue from now on").wait_gone("known issue token expired");
    assert_eq!(issue(), 0);
    inbox.wait_for("❯ 1 Roll out?").keys("q");
    assert_eq!(inbox.end(), Some(0), "{}", inbox.vt.all());
    inbox.assert_clean();
    place.aye(&["cancel", "last"]).ok();
}

/// Whether the known issue stands before the answer that is proposed as well.
fn listed_first(inbox: &Terminal) -> bool {
    let screen = inbox.vt.screen();
    screen.find("token expired") < screen.find("rel:gate")
}

#[test]
fn the_enter_that_opens_a_question_does_not_answer_it() {
    let place = place();
    let skill = place.read("deploy.yaml").replace("timeout: 10m", "timeout: 10m, default: yes");
    place.write("deploy.yaml", &skill);
    place.aye(&["run", "deploy.yaml", "--detach"]).ok();
    let mut inbox = Terminal::aye(&place, &["inbox", "--watch"]);
    inbox.wait_for("1 question waits").keys("\r");
    // Held down a little too long.
    for _ in 0..10 {
        inbox.keys("\r").read(std::time::Duration::from_millis(20));
    }
    inbox.wait_for("[Y/n]").keys("x").wait_for("press y or n");
    assert!(!place.work().join("deployed").exists());
    // On a busy machine one that follows too closely still counts as held down.
    for _ in 0..50 {
        if inbox.vt.all().contains("● deploy  Proceed") {
            break;
        }
        inbox.keys("\r").read(std::time::Duration::from_millis(200));
    }
    inbox.wait_for("● deploy  Proceed").wait_for("Nothing waits for an answer").keys("q");
    assert_eq!(inbox.end(), Some(0), "{}", inbox.vt.all());
}

#[test]
fn a_run_that_nobody_drives_goes_on_in_the_background() {
    let place = place();
    assert_eq!(place.aye(&["run", "deploy.yaml", "--no-input"]).code, 6);
    let mut inbox = Terminal::aye(&place, &["inbox", "--watch"]);
    inbox.wait_for("no process drives the").keys("\r").wait_for("[y/N]").keys("y");
    inbox.wait_for("Resume it in the background?").keys("y").wait_for("follow with: aye watch");
    until("the step has run", || place.work().join("deployed").exists());
    inbox.wait_for("Nothing waits for an answer").keys("\x1b");
    assert_eq!(inbox.end(), Some(0), "{}", inbox.vt.all());
    inbox.assert_clean();
}

#[test]
fn what_was_answered_elsewhere_meanwhile_is_said() {
    let place = place();
    let mut run = Terminal::aye(&place, &["run", "deploy.yaml"]);
    run.wait_for("[y/N]");
    let mut inbox = Terminal::aye(&place, &["inbox", "--watch"]);
    inbox.wait_for("Deploy main?").keys("\r").wait_for("[y/N]");
    run.keys("y");
    inbox.wait_for("answered `Proceed` through").wait_for("Nothing waits");
    kill_process(inbox.pid(), Signal::TERM).unwrap();
    assert_eq!(inbox.end(), Some(143));
    inbox.assert_clean();
    assert_eq!(run.end(), Some(0));
}

#[test]
fn the_list_fits_its_window() {
    let place = place();
    for _ in 0..12 {
        place.aye(&["run", "region.yaml", "--no-input"]);
    }
    let mut inbox = Terminal::sized(&place, &["inbox", "--watch"], 60, 14);
    inbox.wait_for("12 questions wait").wait_for("more").keys("\x1b[F").wait_for("↑");
    for (columns, rows) in [(20, 6), (5, 5), (100, 40), (60, 14)] {
        inbox.resize(columns, rows);
        inbox.wait("the frame", |vt| vt.screen().contains('╰'));
        let screen = inbox.vt.screen();
        let widest = screen.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest < usize::from(columns), "{columns}x{rows}:\n{screen}");
        assert!(screen.lines().count() < usize::from(rows), "{columns}x{rows}:\n{screen}");
    }
    inbox.keys("q");
    assert_eq!(inbox.end(), Some(0));
    inbox.assert_clean();
}

#[test]
fn without_a_terminal_it_is_lines() {
    let place = place();
    assert_eq!(place.aye(&["run", "region.yaml", "--no-input"]).code, 6);
    let mut plain = Terminal::aye(&place, &["inbox", "--watch", "--plain"]);
    plain.wait_for("aye answer").keys("\x03");
    assert_eq!(plain.end(), Some(130));
    let mut json = place.start(&["inbox", "--watch", "--json"]);
    let mut first = String::new();
    let mut lines = std::io::BufReader::new(json.stdout.take().unwrap());
    lines.read_line(&mut first).unwrap();
    let open: serde_json::Value = serde_json::from_str(&first).unwrap();
    assert_eq!(open[0]["step"], "region", "{first}");
    place.aye(&["cancel", "last"]).ok();
    first.clear();
    lines.read_line(&mut first).unwrap();
    assert_eq!(first, "[]\n");
    signal(&json, Signal::TERM);
    assert_eq!(json.wait().unwrap().code(), Some(143));
}
