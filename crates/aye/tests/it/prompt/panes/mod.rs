//! What a person sees: the pane of a real terminal, at three sizes.
//!
//! Each test drives the program to a moment that stays (a step that waits for
//! a file, an open question, the end) and compares the whole pane, what has
//! scrolled off its top included.

mod again;
mod finally;
mod following;
mod forms;
mod inside;
mod lists;
mod output;
mod planned;
mod questions;
mod record;
mod run;
mod simple;
mod waiting;

use regex_lite::{Captures, Regex};

use super::pty::Terminal;
use crate::cli::harness::Place;

/// Columns and rows.
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (40, 24)];

/// A program on a terminal, driven to the moment that is looked at.
struct Pane<'a> {
    place: &'a Place,
    terminal: Terminal,
}

/// The panes of one view at every size, each in a place of its own.
fn panes(files: &[(&str, &str)], args: &[&str], act: impl Fn(&mut Pane<'_>)) -> String {
    panes_after(files, |_| {}, args, act)
}

/// The same where something happened before.
fn panes_after(
    files: &[(&str, &str)],
    before: impl Fn(&Place),
    args: &[&str],
    act: impl Fn(&mut Pane<'_>),
) -> String {
    let mut all = String::new();
    for (columns, rows) in SIZES {
        let place = Place::new();
        for (name, text) in files {
            place.write(name, text);
        }
        before(&place);
        let terminal = Terminal::sized(&place, args, columns, rows);
        let mut pane = Pane { place: &place, terminal };
        act(&mut pane);
        all.push_str(&format!(
            "=== {columns}x{rows}\n{}\n",
            settled(&pane.terminal.vt.all(), columns)
        ));
    }
    all
}

impl Pane<'_> {
    /// Reads until the pane shows all of these at once.
    #[track_caller]
    fn shows(&mut self, texts: &[&str]) -> &mut Self {
        self.terminal.wait(&format!("{texts:?}"), |vt| {
            let screen = vt.all();
            texts.iter().all(|text| screen.contains(text))
        });
        self
    }

    /// Makes a file that a step waits for.
    fn make(&mut self, file: &str) -> &mut Self {
        self.place.write(file, "");
        self
    }

    fn keys(&mut self, keys: &str) -> &mut Self {
        self.terminal.keys(keys);
        self
    }

    /// Reads everything to the end.
    #[track_caller]
    fn ends(&mut self, code: i32) -> &mut Self {
        assert_eq!(self.terminal.end(), Some(code), "{}", self.terminal.vt.all());
        self.terminal.assert_clean();
        self
    }
}

/// The pane with what differs from run to run replaced; times keep their right edge.
pub(super) fn settled(pane: &str, columns: u16) -> String {
    let time = r"\d+(\.\d)?(ms|s)|\d+m \d+s";
    let right =
        Regex::new(&format!(r"^(?<before>.*?) {{2,}}({time})(?<left>, ({time}) left)?$")).unwrap();
    let patterns = [
        (r"\b[0-9abcdefghjkmnpqrstvwxyz]{10}\b".to_owned(), "k3f9x2m7q1"),
        (format!(r"\b({time})\b"), "1.0s"),
        ("1.0s ago".to_owned(), "just now"),
        (r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]".to_owned(), "⠋"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [A-Z]+".to_owned(), "2026-11-17 09:00:00 UTC"),
        (r"\d\d:\d\d:\d\d UTC".to_owned(), "09:00:00 UTC"),
        (r"\d+ MB".to_owned(), "3 MB"),
        (r"pid \d+".to_owned(), "pid 4711"),
        (format!(r"\b{}\b", user()), "ada"),
        (
            format!(r"ada on {}", rustix::system::uname().nodename().to_string_lossy()),
            "ada on host",
        ),
    ];
    let line = |line: &str| {
        let width = line.chars().count();
        let aligned = |found: &Captures<'_>| {
            let left = if found.name("left").is_some() { ", 1.0s left" } else { "" };
            let time = format!("1.0s{left}");
            let before = &found["before"];
            let gap = width.saturating_sub(before.chars().count() + time.len());
            format!("{before}{}{time}", " ".repeat(gap))
        };
        // Only a row of the plan reaches so far.
        let is_row = width == usize::from(columns - 1).min(100);
        let mut line = match is_row {
            true => right.replace(line, aligned).into_owned(),
            false => line.to_owned(),
        };
        for (pattern, with) in &patterns {
            line = Regex::new(pattern).unwrap().replace_all(&line, *with).into_owned();
        }
        line
    };
    pane.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A pane with more that differs from run to run replaced.
fn replaced(pane: &str, patterns: &[(&str, &str)]) -> String {
    patterns.iter().fold(pane.to_owned(), |pane, (pattern, with)| {
        Regex::new(pattern).unwrap().replace_all(&pane, *with).into_owned()
    })
}

fn user() -> String {
    let output = std::process::Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A step that writes something and waits for the file `go`.
const HOLD: (&str, &str) = (
    "hold",
    "echo compiling a; echo compiling b; echo compiling c; echo 'warning: c is old' >&2\n\
     while [ ! -e go ]; do sleep 0.02; done\n",
);
