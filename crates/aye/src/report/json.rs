//! Events as lines of JSON, for programs.

use std::io::Write;

use aye_core::event::{Event, VERSION};
use aye_core::journal::State;
use aye_core::nested::Item;
use aye_process::Stream;
use aye_process::lines::Lines;
use serde::Serialize;
use serde_json::Value;

use crate::harmless::{json_line, push_json_string};

use super::stream_state::{StreamState, StreamStates, index_of};
use super::{Place, Report};

/// Writes each event as one line; output of steps as `step_output`, which is
/// streamed and not journalled.
pub struct JsonReport<W> {
    out: W,
    stream_states: StreamStates,
    /// The lines of one piece of output; reused.
    text: Vec<u8>,
}

impl<W: Write> JsonReport<W> {
    /// A report to `out`.
    pub fn new(out: W) -> Self {
        Self { out, stream_states: StreamStates::default(), text: Vec::new() }
    }

    /// Writes the lines that `feed` gives, all at once.
    fn output_lines(
        &mut self,
        lane: usize,
        stream: Stream,
        feed: impl FnOnce(&mut Lines, &mut dyn FnMut(&str)),
    ) {
        let Self { out, stream_states, text } = self;
        let StreamState { run, path, item, step, lines, .. } = stream_states.of(lane);
        let head = output_head(&StepSource { run, path, item: item.as_ref(), step }, stream);
        text.clear();
        feed(&mut lines[index_of(stream)], &mut |line| {
            text.extend_from_slice(head.as_bytes());
            push_json_string(text, line);
            text.extend_from_slice(b"}\n");
        });
        // A reader that has gone away must not stop the run.
        let _ = out.write_all(text);
    }

    fn line(&mut self, line: &str) {
        // A reader that has gone away must not stop the run.
        let _ = writeln!(self.out, "{line}").and_then(|()| self.out.flush());
    }
}

/// An event as JSON text, as in the journal.
pub fn event_json(event: &Event) -> String {
    json_line(event)
}

/// Whose output it is.
#[derive(Debug, Clone, Copy)]
pub struct StepSource<'a> {
    /// The run.
    pub run: &'a str,
    /// The runs around it, from the outside in: `deploy[web3]`.
    pub path: &'a [String],
    /// The item it is about, where it is inside a list.
    pub item: Option<&'a Item>,
    /// The step.
    pub step: &'a str,
}

/// A line that a step wrote as JSON text.
pub fn output_json(source: &StepSource<'_>, stream: Stream, text: &str) -> String {
    format!("{}{}}}", output_head(source, stream), json_line(&text))
}

/// Such a line up to its text, the same for all that a step writes to a stream.
fn output_head(source: &StepSource<'_>, stream: Stream) -> String {
    let stream = match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    };
    let head = json_line(&Line::of(source, "step_output", None));
    let head = head.strip_suffix('}').unwrap_or(&head);
    format!("{head},\"stream\":\"{stream}\",\"text\":")
}

/// The result of a step as JSON text.
pub fn result_json(source: &StepSource<'_>, value: &Value) -> String {
    json_line(&Line::of(source, "step_result", Some(value)))
}

/// A line about a step that is not an event of the journal.
#[derive(Serialize)]
struct Line<'a> {
    v: u32,
    run: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    step: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    path: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<&'a Item>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a Value>,
}

impl<'a> Line<'a> {
    fn of(source: &StepSource<'a>, kind: &'a str, value: Option<&'a Value>) -> Self {
        let StepSource { run, path, item, step } = *source;
        Self { v: VERSION, run, kind, step, path, item, value }
    }
}

impl<W: Write> Report for JsonReport<W> {
    fn event(&mut self, place: Place<'_>, event: &Event, state: &State) {
        self.stream_states.event(place, event, state);
        self.line(&event_json(event));
    }

    fn output(&mut self, lane: usize, stream: Stream, bytes: &[u8]) {
        self.output_lines(lane, stream, |lines, each| lines.push(bytes, each));
    }

    fn step_ends(&mut self, lane: usize) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            self.output_lines(lane, stream, |lines, each| lines.finish(each));
        }
    }
}
