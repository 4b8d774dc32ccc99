//! Reports: what a person or a program sees of a run while it goes on.
//!
//! Every report is a view of the same events and the same state; none keeps a
//! truth of its own. [`live`] is for terminals, [`plain`] for pipes and logs,
//! [`json`] for programs; [`summary`] says at the end what happened and what
//! to do next.

mod fold;
mod inside;
mod json;
mod live;
mod markdown;
mod output_buffer;
mod plain;
mod sanitizer;
mod step_line;
mod stream_state;
mod summary;
mod timeline;

use std::time::Duration;

use aye_core::event::Event;
use aye_core::journal::State;
use aye_process::Stream;

pub use fold::fold;
pub use inside::{about_inside, level_words, place_words};
pub use json::{JsonReport, event_json, output_json};
pub use live::LiveReport;
pub use markdown::markdown;
pub use output_buffer::OutputBuffer;
pub use plain::PlainReport;
pub(crate) use sanitizer::Sanitizer;
pub use step_line::step_line;
pub use summary::{Around, answer_command, run_command, standing, stopped, summary};
pub use timeline::{Decision, Timeline, shown_status, took};

/// Shows a run as it goes on.
pub trait Report {
    /// Something was committed there.
    fn event(&mut self, place: Place<'_>, event: &Event, state: &State);

    /// The running step of this lane wrote something.
    fn output(&mut self, lane: usize, stream: Stream, bytes: &[u8]);

    /// Whether [`Report::output`] wants to be called.
    fn wants_output(&self) -> bool;

    /// Whether colours in the steps' output are shown as such.
    fn shows_color(&self) -> bool;

    /// Whether [`Report::tick`] shows anything.
    fn is_live(&self) -> bool;

    /// Whether every detail is wanted.
    fn is_verbose(&self) -> bool;

    /// An action is about to start; an interactive one gets the terminal.
    fn step_begins(&mut self, lane: usize, interactive: bool);

    /// The action has ended; half lines are completed.
    fn step_ends(&mut self, lane: usize);

    /// Time has passed while an action ran, beside so many others.
    fn tick(&mut self, lane: usize, elapsed: Duration, remaining: Option<Duration>, others: usize);

    /// What runs was told to stop, in words.
    fn stopping(&mut self, words: &str);

    /// Something that Aye itself has to say, in a line of its own.
    fn note(&mut self, words: &str);

    /// Leaves the terminal clean, for a prompt or a stop.
    fn pause(&mut self);
}

/// Where something happens: in the run itself, or in a run inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// 0 is the run itself; others may go on at the same time.
    pub lane: usize,
    /// The labels of the runs it is in; empty for the run itself.
    pub path: &'a [String],
}

impl Place<'static> {
    /// The run itself.
    pub const RUN: Self = Place { lane: 0, path: &[] };
}

/// A line with what stands in front of it, the further in the more; the items
/// of lists, which may go on side by side, are told apart by their numbers.
pub(crate) fn indent(place: Place<'_>, line: &str) -> String {
    let Some((last, before)) = place.path.split_last() else { return line.to_owned() };
    let mut lines = line.lines();
    let first = lines.next().unwrap_or_default();
    // The heading of an item has its own number already.
    let around = if first.contains(last.as_str()) { before } else { place.path };
    let prefix = format!("{}{}", "  ".repeat(place.path.len()), numbers(around));
    let beneath = " ".repeat(prefix.len());
    let mut text = format!("{prefix}{first}");
    lines.for_each(|line| text.push_str(&format!("\n{beneath}{line}")));
    text
}

/// How many columns [`indent`] takes in front of a line that is no heading.
pub(crate) fn indented(place: Place<'_>) -> usize {
    2 * place.path.len() + numbers(place.path).len()
}

/// `[1][2] ` for item 2 of a list within item 1 of another.
fn numbers(path: &[String]) -> String {
    let number = |label: &String| Some(label[label.rfind('[')?..].to_owned());
    let numbers: String = path.iter().filter_map(number).collect();
    if numbers.is_empty() { numbers } else { format!("{numbers} ") }
}

/// How much Aye says of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verbosity {
    /// Only the steps' output and errors.
    Quiet,
    /// Steps and the summary.
    #[default]
    Normal,
    /// Every event.
    Verbose,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(path: &[&str], text: &str) -> String {
        let path: Vec<String> = path.iter().map(|&label| label.to_owned()).collect();
        indent(Place { lane: 1, path: &path }, text)
    }

    #[test]
    fn lines_of_lists_within_lists_can_be_told_apart() {
        assert_eq!(line(&[], "> a"), "> a");
        assert_eq!(line(&["work[2]"], "work[2]  c"), "  work[2]  c");
        assert_eq!(line(&["work[2]"], "> a\n  more"), "  [2] > a\n        more");
        assert_eq!(line(&["each[1]", "work[2]"], "work[2]  c"), "    [1] work[2]  c");
        assert_eq!(line(&["each[1]", "work[2]"], "> a"), "    [1][2] > a");
        assert_eq!(line(&["each[1]", "call"], "> a"), "    [1] > a");
        assert_eq!(line(&["call"], "> a"), "  > a");
    }
}
