//! What a click on a notification opens: the question's card in a browser, else the terminal
//! that asks it. Each program is tried until one of them says that it could.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
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
        if let Some(server) = AnnouncedServer::running(home) {
            let card = format!("{}/#/questions/{question}", server.url);
            let openers = OPENERS.iter().filter_map(|name| program(name));
            next.extend(openers.map(|opener| vec![opener, card.clone()]));
        }
        let window = env.get("WINDOWID").and_then(|id| id.parse::<u64>().ok());
        if let Some(window) = window {
            let xdotool = program("xdotool");
            let activate =
                xdotool.map(|tool| vec![tool, "windowactivate".to_owned(), window.to_string()]);
            // It says nothing of a window that is not there.
            let listed = || on_path("wmctrl", env).filter(|tool| has_window(tool, window));
            let raise = || {
                let tool = listed()?.display().to_string();
                Some(vec![tool, "-i".to_owned(), "-a".to_owned(), window.to_string()])
            };
            next.extend(activate.or_else(raise));
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
                        self.trying.take().into_iter().for_each(|(child, _)| reap(child));
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
        self.trying.take().into_iter().for_each(|(child, _)| reap(child));
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

/// Whether the window manager knows this window.
fn has_window(wmctrl: &PathBuf, window: u64) -> bool {
    let mut command = Command::new(wmctrl);
    aye_process::withhold(&mut command);
    let listed = command.arg("-l").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let text = listed.map(|said| String::from_utf8_lossy(&said.stdout).into_owned());
    let id = |line: &str| {
        let word = line.split_whitespace().next()?.strip_prefix("0x")?.to_owned();
        u64::from_str_radix(&word, 16).ok()
    };
    text.is_ok_and(|text| text.lines().any(|line| id(line) == Some(window)))
}

fn reap(mut child: Child) {
    let waiting = std::thread::Builder::new().name("reap".to_owned());
    // Without a thread its entry stays until this process ends: no harm done.
    let _ = waiting.spawn(move || child.wait());
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
