//! Events as lines of JSON, for programs.

use std::io::Write;
use std::time::Duration;

use aye_core::event::{Event, Fact};
use aye_core::journal::State;
use aye_process::Stream;
use serde_json::json;

use super::Report;
use super::feed::Feed;

/// Writes each event as one line; output of steps as `step_output`, which is
/// streamed and not journalled.
pub struct JsonReport<W> {
    out: W,
    run: String,
    step: String,
    feeds: [Feed; 2],
}

impl<W: Write> JsonReport<W> {
    /// A report to `out`.
    pub fn new(out: W) -> Self {
        Self { out, run: String::new(), step: String::new(), feeds: Default::default() }
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
        let (index, name) = match stream {
            Stream::Stdout => (0, "stdout"),
            Stream::Stderr => (1, "stderr"),
        };
        let mut lines = Vec::new();
        self.feeds[index].push(bytes, |line| lines.push(line.to_owned()));
        for text in lines {
            let line = json!({
                "type": "step_output", "run": self.run, "step": self.step,
                "stream": name, "text": text,
            });
            self.line(&line.to_string());
        }
    }

    fn wants_output(&self) -> bool {
        true
    }

    fn is_live(&self) -> bool {
        false
    }

    fn step_begins(&mut self, _: bool) {}

    fn step_ends(&mut self) {
        for (index, name) in ["stdout", "stderr"].into_iter().enumerate() {
            let mut rest = Vec::new();
            self.feeds[index].finish(|line| rest.push(line.to_owned()));
            for text in rest {
                let line = json!({
                    "type": "step_output", "run": self.run, "step": self.step,
                    "stream": name, "text": text,
                });
                self.line(&line.to_string());
            }
        }
    }

    fn tick(&mut self, _: Duration, _: Option<Duration>) {}

    fn pause(&mut self) {}
}
