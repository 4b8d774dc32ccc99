//! Journals: events that someone changed, left out or put elsewhere.

use aye_core::event::Event;
use aye_core::journal::State;

use super::Target;

pub(super) struct Journal;

impl Target for Journal {
    fn run(&mut self, case: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(case);
        let events: Vec<Event> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if let Ok(state) = State::fold(&events) {
            let _ = (state.status(), state.failed_step().map(str::len), state.deadline());
            for event in &events {
                // What was read can be written, and is the same then.
                let text = serde_json::to_string(event).map_err(|error| error.to_string())?;
                let again: Event =
                    serde_json::from_str(&text).map_err(|error| error.to_string())?;
                if again != *event {
                    return Err("an event changes when it is written".to_owned());
                }
            }
        }
        Ok(())
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "\"kind\":",
            "\"at\":",
            "\"step\":",
            "\"execution\":1",
            "null",
            "true",
            "{}",
            "[]",
            "\"\"",
            ",",
            "\n",
            "\"outcome\":\"success\"",
            "\"seq\":",
            "\"answer\":",
            "\"question\":",
            "\"visit\":4294967295",
            "\"attempt\":0",
            "\"deadline\":\"2026-01-01T00:00:00Z\"",
        ]
    }
}
