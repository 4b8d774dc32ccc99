//! Events as lines of JSON, for programs.

use std::io::Write;

use aye_core::event::{Event, VERSION};
use aye_core::journal::State;
use aye_process::Stream;
use serde_json::{Value, json};

use crate::harmless::json_line;

use super::stream_state::{StreamStates, index_of};
use super::{Place, Report};

/// Writes each event as one line; output of steps as `step_output`, which is
/// streamed and not journalled.
pub struct JsonReport<W> {
    out: W,
    voices: StreamStates,
}

impl<W: Write> JsonReport<W> {
    /// A report to `out`.
    pub fn new(out: W) -> Self {
        Self { out, voices: StreamStates::default() }
    }

    fn output_line(&mut self, lane: usize, stream: Stream, text: &str) {
        let voice = self.voices.of(lane);
        let line = output_json(&voice.run, &voice.step, stream, text);
        self.line(&line);
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
    let stream = match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    };
    json_line(&json!({
        "v": VERSION, "run": run, "type": "step_output", "step": step, "stream": stream,
        "text": text,
    }))
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
        let mut lines = Vec::new();
        let feed = &mut self.voices.of(lane).lines[index_of(stream)];
        feed.push(bytes, &mut |line| lines.push(line.to_owned()));
        lines.iter().for_each(|line| self.output_line(lane, stream, line));
    }

    fn step_ends(&mut self, lane: usize) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let mut last = None;
            let feed = &mut self.voices.of(lane).lines[index_of(stream)];
            feed.finish(&mut |line| last = Some(line.to_owned()));
            last.iter().for_each(|line| self.output_line(lane, stream, line));
        }
    }
}
