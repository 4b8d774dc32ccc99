//! Events as lines of JSON, for programs.

use std::io::Write;
use std::time::Duration;

use aye_core::event::{Event, Fact, VERSION};
use aye_core::journal::State;
use aye_process::Stream;
use aye_process::lines::Lines;
use serde_json::json;

use super::Report;

/// Writes each event as one line; output of steps as `step_output`, which is
/// streamed and not journalled.
pub struct JsonReport<W> {
    out: W,
    run: String,
    step: String,
    lines: [Lines; 2],
}

impl<W: Write> JsonReport<W> {
    /// A report to `out`.
    pub fn new(out: W) -> Self {
        Self { out, run: String::new(), step: String::new(), lines: Default::default() }
    }

    fn output_line(&mut self, stream: Stream, text: &str) {
        let stream = match stream {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        };
        let line = json!({
            "v": VERSION, "run": self.run, "type": "step_output", "step": self.step,
            "stream": stream, "text": text,
        });
        self.line(&line.to_string());
    }

    fn line(&mut self, line: &str) {
        // A reader that has gone away must not stop the run.
        let _ = writeln!(self.out, "{line}").and_then(|()| self.out.flush());
    }
}

/// An event as JSON text, as in the journal.
pub fn event_json(event: &Event) -> String {
    serde_json::to_string(event).unwrap_or_default()
}

impl<W: Write> Report for JsonReport<W> {
    fn event(&mut self, event: &Event, _: &State) {
        if self.run.is_empty() {
            self.run = event.run.to_string();
        }
        if let Fact::StepStarted(started) = &event.fact {
            self.step.clone_from(&started.step);
        }
        self.line(&event_json(event));
    }

    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        let index = usize::from(stream == Stream::Stderr);
        let mut lines = Vec::new();
        self.lines[index].push(bytes, &mut |line| lines.push(line.to_owned()));
        lines.iter().for_each(|line| self.output_line(stream, line));
    }

    fn wants_output(&self) -> bool {
        true
    }

    fn shows_color(&self) -> bool {
        false
    }

    fn is_live(&self) -> bool {
        false
    }

    fn step_begins(&mut self, _: bool) {}

    fn step_ends(&mut self) {
        for (index, stream) in [Stream::Stdout, Stream::Stderr].into_iter().enumerate() {
            let mut last = None;
            self.lines[index].finish(&mut |line| last = Some(line.to_owned()));
            last.iter().for_each(|line| self.output_line(stream, line));
        }
    }

    fn tick(&mut self, _: Duration, _: Option<Duration>) {}

    fn pause(&mut self) {}
}
