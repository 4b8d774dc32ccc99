//! Reports: what a person or a program sees of a run while it continues.
//!
//! Every report is a view of the same events and the same state; none keeps a
//! truth of its own. [`live`] is for terminals, [`plain`] for pipes and logs,
//! [`json`] for programs; [`mod@summary`] says at the end what happened and what
//! to do next.
//!
//! Touches standard output and standard error. The driver hands in every event after its commit;
//! what a report makes of it goes to the reader of these streams.

mod asked;
mod failures;
mod fold;
mod history;
mod json;
mod kept_output;
mod live;
mod markdown;
mod offered;
mod output_buffer;
mod plain;
mod run_report;
mod sanitizer;
mod step_line;
mod stream_state;
mod summary;
mod timeline;
mod verbose;

use crate::paint::escape_control_line;
use crate::term;

pub use asked::{covered_text, first_words};
pub use aye_runtime::report::{OutputMode, Place, Report, RunningAction, Tick};
pub use fold::fold;
pub use json::{JsonReport, StepSource, event_json, output_json, result_json};
pub use live::LiveReport;
pub use markdown::{markdown, step_markdown};
pub use offered::Offered;
pub use output_buffer::{OutputBuffer, OutputBuffers};
pub use plain::PlainReport;
pub use run_report::{Now, run_report, step_report};
pub(crate) use sanitizer::Sanitizer;
pub use step_line::step_line;
pub use summary::{RunContext, given_again, standing, stopped, summary};
pub use timeline::{Decision, decisions, ran_for, stopped_inside};

/// A line with what stands in front of it, the further in the more; the items
/// of lists, which may continue side by side, are told apart by their names.
pub(crate) fn indent(place: Place<'_>, line: &str) -> String {
    let Some((last, before)) = place.path.split_last() else { return line.to_owned() };
    let mut lines = line.lines();
    let first = lines.next().unwrap_or_default();
    // The heading of an item has its own name already.
    let around = if first.contains(last.as_str()) { before } else { place.path };
    let prefix = format!("{}{}", "  ".repeat(place.path.len()), items(around));
    let beneath = " ".repeat(term::width(&prefix));
    let mut text = format!("{prefix}{first}");
    lines.for_each(|line| text.push_str(&format!("\n{beneath}{line}")));
    text
}

/// `[a][web2] ` for item `web2` of a list within item `a` of another.
fn items(path: &[String]) -> String {
    let name = |label: &String| Some(escape_control_line(&label[label.find('[')?..]));
    let names: String = path.iter().filter_map(name).collect();
    if names.is_empty() { names } else { format!("{names} ") }
}

/// How much Aye says of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verbosity {
    /// Only the steps' output, answers and errors.
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
        assert_eq!(line(&["work[wêb]"], "> a\n  more"), "  [wêb] > a\n          more");
    }
}
