//! Events as lines of JSON, for programs.

use std::io::Write;

use aye_core::event::{Event, VERSION};
use aye_core::journal::State;
use aye_process::Stream;
use aye_process::lines::Lines;
use serde_json::{Value, json};

use crate::harmless::{json_line, push_json_string};

use super::stream_state::{StreamState, StreamStates, index_of};
use super::{Place, Report};

/// Writes each event as one line; output of steps as `step_output`, which is
/// streamed and not journalled.
pub struct JsonReport<W> {
    out: W,
    voices: StreamStates,
    /// The lines of one piece of output; reused.
    text: Vec<u8>,
}

impl<W: Write> JsonReport<W> {
    /// A report to `out`.
    pub fn new(out: W) -> Self {
        Self { out, voices: StreamStates::default(), text: Vec::new() }
    }

    /// Writes the lines that `feed` gives, all at once.
    fn output_lines(
        &mut self,
        lane: usize,
        stream: Stream,
        feed: impl FnOnce(&mut Lines, &mut dyn FnMut(&str)),
    ) {
        let Self { out, voices, text } = self;
        let StreamState { run, step, lines, .. } = voices.of(lane);
        let head = output_head(run, step, stream);
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

/// A line that a step wrote as JSON text.
pub fn output_json(run: &str, step: &str, stream: Stream, text: &str) -> String {
    format!("{}{}}}", output_head(run, step, stream), json_line(&text))
}

/// Such a line up to its text, the same for all that a step writes to a stream.
fn output_head(run: &str, step: &str, stream: Stream) -> String {
    let stream = match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    };
    let head = json_line(&json!({
        "v": VERSION, "run": run, "type": "step_output", "step": step, "stream": stream,
    }));
    format!("{},\"text\":", head.trim_end_matches('}'))
}

/// The result of a step as JSON text.
pub fn result_json(run: &str, step: &str, value: &Value) -> String {
    json_line(&json!({
        "v": VERSION, "run": run, "type": "step_result", "step": step, "value": value,
    }))
}

impl<W: Write> Report for JsonReport<W> {
    fn event(&mut self, place: Place<'_>, event: &Event, _: &State) {
        self.voices.event(place, event);
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
