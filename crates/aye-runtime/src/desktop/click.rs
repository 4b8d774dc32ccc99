//! What a click on a notification opens: the question's card in a browser, else the window of
//! the terminal or editor that the run was started in. Each program is tried until one of them
//! says that it could.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use aye_core::id::QuestionId;

use crate::announced_server::AnnouncedServer;

use super::available::on_path;

/// Programs that open an address.
const OPENERS: [&str; 2] = ["xdg-open", "open"];
/// How long one may take to say that it could not. One that runs on is a browser.
const FAILS: Duration = Duration::from_secs(3);

/// What came of a click so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// A program is at it.
    Tries,
    /// Something was opened.
    Opened,
    /// Nothing could be.
    Nothing,
}

/// A click.
pub(super) struct Click {
    /// What is tried next.
    next: VecDeque<Vec<String>>,
    trying: Option<(Child, Instant)>,
}

impl Click {
    /// Someone wants to see this question.
    pub(super) fn new(home: &Path, env: &BTreeMap<String, String>, question: &QuestionId) -> Self {
        let program = |name: &str| on_path(name, env).map(|path| path.display().to_string());
        let mut next = VecDeque::new();
        let (xdotool, wmctrl) = (program("xdotool"), program("wmctrl"));
        if let Some(server) = AnnouncedServer::running(home) {
            let card = format!("{}/#/questions/{question}", server.url);
            let openers = OPENERS.iter().filter_map(|name| program(name));
            next.extend(openers.map(|opener| vec![opener, card.clone()]));
        }
        let windows = wmctrl.as_deref().map(windows).unwrap_or_default();
        // An editor hands on the window of the terminal that it was started in.
        let is_editor = env.get("TERM_PROGRAM").is_some_and(|name| name == "vscode");
        let terminal = env.get("WINDOWID").filter(|_| !is_editor);
        let terminal = terminal.and_then(|id| id.parse::<u64>().ok());
        let ours = window_of(&aye_process::ancestors(), |process| match &xdotool {
            _ if wmctrl.is_some() => last_of(&windows, process),
            Some(tool) => search(tool, process),
            None => None,
        });
        for window in terminal.into_iter().chain(ours) {
            let number = window.to_string();
            next.extend(match (&xdotool, &wmctrl) {
                (Some(tool), _) => Some(vec![tool.clone(), "windowactivate".to_owned(), number]),
                // It says nothing of a window that is not there.
                (None, Some(tool)) if windows.iter().any(|one| one.id == window) => {
                    Some(vec![tool.clone(), "-i".to_owned(), "-a".to_owned(), number])
                }
                (None, _) => None,
            });
        }
        Self { next, trying: None }
    }

    /// Looks what became of it, and tries what is next.
    pub(super) fn turn(&mut self, now: Instant) -> Opening {
        loop {
            match &mut self.trying {
                Some((child, since)) => match child.try_wait() {
                    Ok(Some(status)) if status.success() => return Opening::Opened,
                    Ok(Some(_)) | Err(_) => self.trying = None,
                    Ok(None) if now.saturating_duration_since(*since) < FAILS => {
                        return Opening::Tries;
                    }
                    Ok(None) => {
                        self.trying
                            .take()
                            .into_iter()
                            .for_each(|(child, _)| aye_process::reap(child));
                        return Opening::Opened;
                    }
                },
                None => match self.next.pop_front() {
                    Some(words) => self.trying = start(&words).map(|child| (child, now)),
                    None => return Opening::Nothing,
                },
            }
        }
    }
}

impl Drop for Click {
    fn drop(&mut self) {
        self.trying.take().into_iter().for_each(|(child, _)| aye_process::reap(child));
    }
}

/// Starts a program that continues without us.
fn start(words: &[String]) -> Option<Child> {
    let (program, args) = words.split_first()?;
    let mut command = Command::new(program);
    aye_process::withhold(&mut command);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().ok()
}

/// What a program says.
fn said(program: &str, args: &[&str]) -> String {
    let mut command = Command::new(program);
    aye_process::withhold(&mut command);
    let said = command.args(args).stdin(Stdio::null()).stderr(Stdio::null()).output();
    said.map(|said| String::from_utf8_lossy(&said.stdout).into_owned()).unwrap_or_default()
}

/// A window that the window manager knows, and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Window {
    id: u64,
    process: i32,
}

impl Window {
    /// From `0x01e00003  0 4711 host Title`. What is on every desktop is a panel, or the
    /// desktop itself.
    fn read(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let id = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        let desktop: i64 = words.next()?.parse().ok()?;
        let process = words.next()?.parse().ok()?;
        (desktop >= 0).then_some(Self { id, process })
    }
}

/// The windows that the window manager knows, the oldest first.
fn windows(wmctrl: &str) -> Vec<Window> {
    said(wmctrl, &["-l", "-p"]).lines().filter_map(Window::read).collect()
}

/// The newest window of a process.
fn last_of(windows: &[Window], process: i32) -> Option<u64> {
    windows.iter().rev().find(|window| window.process == process).map(|window| window.id)
}

/// The same, where only this program is there.
fn search(xdotool: &str, process: i32) -> Option<u64> {
    let found = said(xdotool, &["search", "--onlyvisible", "--pid", &process.to_string()]);
    found.lines().last()?.trim().parse().ok()
}

/// The window of the nearest ancestor that has one: a terminal, or an editor with a terminal
/// inside. The first process of the machine has none.
fn window_of(ancestors: &[i32], window: impl Fn(i32) -> Option<u64>) -> Option<u64> {
    ancestors.iter().filter(|process| **process > 1).find_map(|process| window(*process))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn click(commands: &[&[&str]]) -> Click {
        let words = |words: &&[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Click { next: commands.iter().map(words).collect(), trying: None }
    }

    fn outcome(mut click: Click) -> Opening {
        loop {
            match click.turn(Instant::now()) {
                Opening::Tries => std::thread::yield_now(),
                done => return done,
            }
        }
    }

    #[test]
    fn the_nearest_ancestor_with_a_window_is_it() {
        let listed = "0x00800003 -1 20   host desktop\n0x01e00003  0 30 host one\n\
                      0x01e00007  1 30 host two\n0x02000003  0 40 host 0x5 1 50\nnonsense";
        let windows: Vec<Window> = listed.lines().filter_map(Window::read).collect();
        let ours = |ancestors: &[i32]| window_of(ancestors, |process| last_of(&windows, process));
        assert_eq!(ours(&[77, 30, 40]), Some(0x01e0_0007));
        assert_eq!(ours(&[40, 30]), Some(0x0200_0003));
        // The desktop itself, and what a title says, are not windows.
        assert_eq!(ours(&[20, 50]), None);
        assert_eq!(window_of(&[1], |_| Some(9)), None);
    }

    #[test]
    fn what_fails_is_followed_by_the_next() {
        assert_eq!(outcome(click(&[&["false"], &["true"]])), Opening::Opened);
        assert_eq!(outcome(click(&[&["false"], &["/nothing/there"]])), Opening::Nothing);
        assert_eq!(outcome(click(&[])), Opening::Nothing);
    }

    #[test]
    fn a_program_that_stays_has_opened_something() {
        let mut click = click(&[&["sleep", "5"]]);
        let now = Instant::now();
        assert_eq!(click.turn(now), Opening::Tries);
        assert_eq!(click.turn(now + FAILS), Opening::Opened);
    }
}
