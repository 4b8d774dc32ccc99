//! Who writes: the steps of the run and of the runs inside it, side by side.

use std::collections::BTreeMap;

use aye_core::event::{Event, EventKind};
use aye_core::journal::State;
use aye_core::nested::Item;
use aye_process::Stream;
use aye_process::lines::Lines;

use super::Place;
use super::sanitizer::Sanitizer;

/// What is known of one lane.
#[derive(Debug, Default)]
pub(super) struct StreamState {
    /// The run, for programs.
    pub(super) run: String,
    /// The labels of the runs it is in.
    pub(super) path: Vec<String>,
    /// The item that it is, or is inside of.
    pub(super) item: Option<Item>,
    /// The step that started last.
    pub(super) step: String,
    pub(super) lines: [Lines; 2],
    pub(super) tidy: [Sanitizer; 2],
    /// The stream that wrote last: 0 or 1.
    pub(super) last: usize,
}

impl StreamState {
    /// The step with the runs it is in: `deploy[2]/push`. An item with one step
    /// is called by its own name alone.
    pub(super) fn name(&self) -> String {
        match self.path.split_last() {
            None => self.step.clone(),
            Some((last, before)) => {
                let own = last.split_once('[').is_some_and(|(of, _)| of == self.step);
                let step = if own { Vec::new() } else { vec![self.step.clone()] };
                let parts: Vec<String> =
                    before.iter().cloned().chain([last.clone()]).chain(step).collect();
                parts.join("/")
            }
        }
    }
}

/// All lanes that have said something.
#[derive(Debug, Default)]
pub(super) struct StreamStates(BTreeMap<usize, StreamState>);

impl StreamStates {
    /// Takes an event in: who speaks there, and about what.
    pub(super) fn event(&mut self, place: Place<'_>, event: &Event, state: &State) {
        if self.0.get(&place.lane).is_none_or(|stream_state| stream_state.run.is_empty()) {
            let parent = state.started.parent.as_deref();
            let own = parent.and_then(|parent| parent.item.clone());
            let around = parent.and_then(|parent| {
                let stream_state =
                    self.0.values().find(|stream_state| stream_state.run == parent.run.as_str());
                stream_state.and_then(|stream_state| stream_state.item.clone())
            });
            let stream_state = self.0.entry(place.lane).or_default();
            stream_state.run = event.run.to_string();
            stream_state.path = place.path.to_vec();
            stream_state.item = own.or(around);
        }
        let stream_state = self.0.entry(place.lane).or_default();
        match &event.kind {
            EventKind::StepStarted(started) => stream_state.step.clone_from(&started.step),
            EventKind::SkillCompleted { .. }
            | EventKind::SkillFailed { .. }
            | EventKind::SkillCancelled { .. }
                if place.lane > 0 =>
            {
                self.0.remove(&place.lane);
            }
            _ => {}
        }
    }

    /// The state of a lane.
    pub(super) fn of(&mut self, lane: usize) -> &mut StreamState {
        self.0.entry(lane).or_default()
    }

    /// The state of a lane that has spoken.
    pub(super) fn get(&self, lane: usize) -> Option<&StreamState> {
        self.0.get(&lane)
    }
}

/// The place of a stream in pairs.
pub(super) fn index_of(stream: Stream) -> usize {
    usize::from(stream == Stream::Stderr)
}
