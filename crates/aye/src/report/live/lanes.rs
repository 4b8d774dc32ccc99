//! What a view knows of a run and of the runs inside it, side by side.

use std::collections::{BTreeMap, HashSet};

use aye_core::event::{Event, EventKind, StepStarted};
use aye_core::id::RunId;
use aye_core::journal::{Phase, State, StepStatus};
use aye_core::question::Question;
use aye_core::step_kind::StepKind;
use jiff::Timestamp;

use crate::paint::{Glyph, Paint, escape_control_line};

use super::super::Place;
use super::super::asked::first_words;
use super::super::kept_output::KeptOutput;
use super::super::step_line::first_line;

/// A run that is driven.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) run: RunId,
    /// The lane that it is inside of.
    pub(super) parent: Option<usize>,
    levels: Vec<Level>,
    /// How many steps its skill has.
    pub(super) steps: usize,
    /// How many have ended.
    pub(super) done: usize,
    pub(super) began: Timestamp,
    /// The step it is at.
    pub(super) current: Option<Current>,
    /// The question that is open.
    pub(super) asks: Option<OpenQuestion>,
    /// The name that it waits for, and the run that holds it.
    pub(super) waits: Option<(String, RunId)>,
    /// The step whose question was answered last.
    pub(super) answered: Option<String>,
    /// What the step has written.
    pub(super) output: KeptOutput,
    /// Why it failed has been shown.
    pub(super) failure_shown: bool,
    /// What the last step that ended did.
    pub(super) last_text: String,
}

/// One of the runs around a step: an item of a list, or a sub-skill.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Level {
    /// The step that holds it.
    step: String,
    /// The item's name.
    item: Option<String>,
}

/// A question in few words.
#[derive(Debug)]
pub(super) struct OpenQuestion {
    step: String,
    pub(super) message: String,
}

/// A step that has begun.
#[derive(Debug)]
pub(super) struct Current {
    pub(super) step: String,
    /// What it does.
    pub(super) text: String,
    pub(super) since: Timestamp,
    pub(super) attempt: u32,
    pub(super) nested: Option<Progress>,
    /// It is a question, whose answer has a row of its own.
    pub(super) asks: bool,
    /// It waits for a slot.
    pub(super) queued: bool,
    /// It is tried again at this moment.
    pub(super) retry_at: Option<Timestamp>,
}

/// How far the runs inside a step are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Progress {
    /// How many items there are; 0 for a sub-skill.
    pub(super) items: usize,
    pub(super) done: usize,
    pub(super) failed: usize,
    /// All of them were begun while someone watched.
    pub(super) counted: bool,
}

impl Lane {
    /// How far in it is shown: side by side, items have a row each.
    pub(super) fn depth(&self) -> usize {
        let item = self.levels.iter().position(|level| level.item.is_some());
        item.map_or(self.levels.len(), |first| first + 1)
    }

    /// Whether it is an item of a list, or inside one.
    pub(super) fn is_in_item(&self) -> bool {
        self.levels.iter().any(|level| level.item.is_some())
    }

    /// Whether it is an item of a list itself.
    pub(super) fn is_item(&self) -> bool {
        self.levels.last().is_some_and(|level| level.item.is_some())
    }

    /// What a step of it is called in its row: `web-3 › health`.
    pub(super) fn name(&self, step: Option<&str>, paint: Paint) -> String {
        let mut words: Vec<&str> = Vec::new();
        let mut around: Option<&str> = None;
        let first = self.levels.iter().position(|level| level.item.is_some());
        for level in &self.levels[first.unwrap_or(self.levels.len())..] {
            match &level.item {
                Some(item) => words.push(item),
                // The body of a list that calls a skill is called like the list.
                None if around == Some(&level.step) => {}
                None => words.push(&level.step),
            }
            around = level.item.as_ref().map(|_| level.step.as_str());
        }
        words.extend(step.filter(|step| around != Some(step)));
        escape_control_line(&words.join(&format!(" {} ", paint.glyph(Glyph::Inside))))
    }
}

/// Every run that is driven, by its number; 0 is the run itself.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    open: BTreeMap<usize, Lane>,
    /// Those that have ended. Something may be recorded after that, such as what the run
    /// has learned.
    ended: HashSet<usize>,
}

impl Lanes {
    /// The lane there.
    pub(super) fn get(&self, lane: usize) -> Option<&Lane> {
        self.open.get(&lane)
    }

    pub(super) fn get_mut(&mut self, lane: usize) -> Option<&mut Lane> {
        self.open.get_mut(&lane)
    }

    /// The runs inside a run, in the order in which they began.
    pub(super) fn inside(&self, lane: usize) -> impl Iterator<Item = (usize, &Lane)> {
        self.open
            .iter()
            .filter(move |(_, inner)| inner.parent == Some(lane))
            .map(|(id, l)| (*id, l))
    }

    /// What an item waits for, in words: an item beside it has its name, others their run's.
    pub(super) fn waits_for(&self, lane: &Lane, paint: Paint) -> Option<String> {
        let (name, holder) = lane.waits.as_ref()?;
        let beside = self.open.values().find(|lane| lane.run == *holder);
        let beside = beside.map(|lane| lane.name(None, paint)).filter(|name| !name.is_empty());
        let holder = beside.unwrap_or_else(|| format!("run {holder}"));
        Some(format!("waits for {holder}, which holds the name `{name}`"))
    }

    /// Takes in that something happened there, before it is shown.
    pub(super) fn before(&mut self, place: Place<'_>, event: &Event, state: &State, paint: Paint) {
        if !self.open.contains_key(&place.lane) {
            let lane = self.opened(place, state, paint);
            self.open.insert(place.lane, lane);
        }
        if let EventKind::SkillStarted(_) | EventKind::SkillResumed { .. } = &event.kind {
            self.ended.remove(&place.lane);
        }
        let Some(lane) = self.open.get_mut(&place.lane) else { return };
        lane.done = done(state);
        match &event.kind {
            EventKind::StepStarted(started) => {
                lane.current = Some(Current::begun(started, event.at, paint));
                lane.output.clear();
            }
            EventKind::StepQueued { .. } | EventKind::StepDequeued { .. } => {
                let queued = matches!(event.kind, EventKind::StepQueued { .. });
                lane.current.iter_mut().for_each(|current| current.queued = queued);
            }
            EventKind::ConcurrencyWaiting { .. } => {
                lane.waits = waits(state);
            }
            EventKind::ConcurrencyAcquired { .. } => lane.waits = None,
            EventKind::ConfirmationRequired(question) => {
                lane.asks = Some(OpenQuestion::new(question));
            }
            EventKind::ConfirmationAnswered(answered) if answered.refused.is_none() => {
                lane.answered = lane.asks.take().map(|asked| asked.step);
            }
            EventKind::ConfirmationExpired { .. } => {
                lane.answered = lane.asks.take().map(|asked| asked.step);
            }
            EventKind::StepRetried { step, attempt, not_before, .. } => {
                let mut current = Current::of(step, String::new(), event.at);
                (current.attempt, current.retry_at) = (*attempt, *not_before);
                lane.current = Some(current);
            }
            EventKind::AutoHealTriggered(heal) => {
                let text = format!("`{}` repairs it", escape_control_line(&heal.rule));
                lane.current = Some(Current::of(&heal.step, text, event.at));
                lane.output.clear();
            }
            EventKind::AutoHealCompleted { .. } => lane.current = None,
            _ => {}
        }
    }

    /// Takes in what has ended, after it was shown.
    pub(super) fn after(&mut self, place: Place<'_>, event: &Event) {
        let Some(lane) = self.open.get_mut(&place.lane) else { return };
        match &event.kind {
            EventKind::StepCompleted(_) | EventKind::StepFailed(_) => {
                lane.last_text =
                    lane.current.take().map(|current| current.text).unwrap_or_default();
                lane.output.clear();
            }
            EventKind::SkillCompleted { .. }
            | EventKind::SkillFailed { .. }
            | EventKind::SkillCancelled { .. } => {
                let well = matches!(event.kind, EventKind::SkillCompleted { .. });
                if let Some(parent) = lane.parent {
                    self.ended_inside(parent, well);
                }
                self.ended.extend((place.lane > 0).then_some(place.lane));
            }
            _ => {}
        }
        if self.ended.contains(&place.lane) {
            self.open.remove(&place.lane);
        }
    }

    /// A run inside the step of this lane has ended.
    pub(super) fn ended_inside(&mut self, lane: usize, well: bool) {
        if let Some(nested) = self.nested(lane) {
            nested.done += usize::from(well);
            nested.failed += usize::from(!well);
        }
    }

    /// Every end inside the step of this lane is told, also of those that ended before.
    pub(super) fn count_items(&mut self, lane: usize) {
        self.nested(lane).into_iter().for_each(|nested| nested.counted = true);
    }

    fn nested(&mut self, lane: usize) -> Option<&mut Progress> {
        self.open.get_mut(&lane)?.current.as_mut()?.nested.as_mut()
    }

    fn opened(&self, place: Place<'_>, state: &State, paint: Paint) -> Lane {
        let parent = state.started.parent.as_ref();
        let holder = parent.and_then(|parent| {
            self.open.iter().find(|(_, lane)| lane.run == parent.run).map(|(id, lane)| (*id, lane))
        });
        let mut levels = holder.map(|(_, lane)| lane.levels.clone()).unwrap_or_default();
        if let (Some(label), Some(parent)) = (place.path.last(), parent) {
            let name = label.find('[').map(|at| label[at + 1..].trim_end_matches(']').to_owned());
            let item = parent.item.as_ref().and(name);
            levels.push(Level { step: parent.step.clone(), item });
        }
        Lane {
            run: state.run.clone(),
            parent: holder.map(|(id, _)| id),
            levels,
            steps: usize::try_from(state.started.steps).unwrap_or(0),
            done: 0,
            began: state.started_at,
            current: Current::resumed(state, paint),
            asks: OpenQuestion::of(state),
            waits: waits(state),
            answered: None,
            output: KeptOutput::default(),
            failure_shown: false,
            last_text: String::new(),
        }
    }
}

impl OpenQuestion {
    fn new(question: &Question) -> Self {
        Self { step: question.step.clone(), message: first_words(&question.message) }
    }

    /// What a run asked before someone took it up.
    fn of(state: &State) -> Option<Self> {
        state.asking().map(Self::new)
    }
}

/// The name that a run waits for, and the run that holds it.
fn waits(state: &State) -> Option<(String, RunId)> {
    let (name, waiting) = state.waits_for_name()?;
    Some((escape_control_line(name), waiting.holder.clone()))
}

/// How many steps have ended. A run that is retried has results of a `finally` that
/// follows once more.
fn done(state: &State) -> usize {
    let steps = state.steps.iter().filter(|(name, _)| !follows_again(state, name));
    steps.filter(|(_, step)| is_settled(step.status)).count()
}

/// Whether a step belongs to a `finally` that has not come to it since the run was retried.
pub(super) fn follows_again(state: &State, step: &str) -> bool {
    let planned = state.started.step_list.iter().find(|planned| planned.name == step);
    let entered = state.finally.as_ref().map_or(&[][..], |finally| &finally.entered);
    planned.is_some_and(|planned| planned.finally) && !entered.iter().any(|name| name == step)
}

/// Whether a step has ended, or was left out.
fn is_settled(status: StepStatus) -> bool {
    !matches!(status, StepStatus::Waiting | StepStatus::Running)
}

impl Current {
    fn of(step: &str, text: String, since: Timestamp) -> Self {
        Self {
            step: step.to_owned(),
            text,
            since,
            attempt: 1,
            nested: None,
            asks: false,
            queued: false,
            retry_at: None,
        }
    }

    /// Whether a row for good announces it, with the runs inside it beneath.
    pub(super) fn has_heading(&self, lane: &Lane) -> bool {
        self.nested.is_some_and(|nested| nested.counted) && !lane.is_in_item()
    }

    fn begun(started: &StepStarted, at: Timestamp, paint: Paint) -> Self {
        let items = started.items.len();
        let nested = Progress { items, done: 0, failed: 0, counted: started.goes_on.is_none() };
        let said = started.command.as_deref().or(started.description.as_deref());
        let text = said.map(|said| first_line(said, paint)).unwrap_or_default();
        Self {
            attempt: started.attempt,
            asks: matches!(started.kind, StepKind::Confirm | StepKind::Choose | StepKind::Input),
            nested: started.nested.then_some(nested),
            ..Self::of(&started.step, text, at)
        }
    }

    /// The step that a run was at before someone took it up.
    fn resumed(state: &State, paint: Paint) -> Option<Self> {
        let Phase::Running { step, nested, attempt, .. } = &state.phase else { return None };
        let record = state.steps.get(step)?;
        let progress = Progress { items: record.items.len(), done: 0, failed: 0, counted: false };
        let text = record.command.as_deref().map(|text| first_line(text, paint));
        let since = record.started.unwrap_or(state.updated_at);
        Some(Self {
            attempt: *attempt,
            nested: nested.then_some(progress),
            queued: record.queued,
            ..Self::of(step, text.unwrap_or_default(), since)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event(run: &str, seq: u64, mut more: Value) -> Event {
        let common = json!({ "v": 1, "run": run, "seq": seq, "at": "2026-11-16T04:52:49Z" });
        more.as_object_mut().expect("a map").extend(common.as_object().expect("a map").clone());
        serde_json::from_value(more).expect("an event")
    }

    fn started(run: &str, more: &Value) -> Event {
        let mut started = json!({
            "type": "skill_started", "skill": "s", "file": "s.yaml", "source": "0", "steps": 2,
            "workspace": "/", "driver": { "user": "a", "host": "b", "pid": 1 },
        });
        let more = more.as_object().expect("a map").clone();
        started.as_object_mut().expect("a map").extend(more);
        event(run, 1, started)
    }

    const PAINT: Paint = Paint { color: false, bold: false, unicode: true };

    #[test]
    fn what_is_recorded_after_the_end_opens_no_lane() {
        let run = "abcdefgh12_1_0";
        let parent = json!({
            "run": "abcdefgh12", "step": "each", "execution": 1, "depth": 1,
            "item": { "index": 0, "value": "a" },
        });
        let first = started(run, &json!({ "parent": parent }));
        let end =
            event(run, 2, json!({ "type": "skill_completed", "state": "end", "outputs": {} }));
        let learned =
            event(run, 3, json!({ "type": "memory_learned", "kind": "issue", "message": "m" }));
        let (mut lanes, mut state) = (Lanes::default(), State::begin(&first).expect("a state"));
        let path = ["each[a]".to_owned()];
        let place = Place { lane: 1, path: &path };
        for event in [&end, &learned] {
            state.apply(event).expect("a state");
        }
        // They are shown once all of them are committed.
        for event in [&first, &end, &learned] {
            lanes.before(place, event, &state, PAINT);
            assert!(lanes.get(1).is_some(), "it can be shown");
            lanes.after(place, event);
        }
        assert!(lanes.get(1).is_none());
    }

    #[test]
    fn a_clean_up_that_follows_again_is_not_done() {
        let list = json!([
            { "name": "a", "kind": "command" },
            { "name": "tell", "kind": "command", "finally": true },
        ]);
        let first = started("abcdefgh12", &json!({ "step_list": list }));
        let mut state = State::begin(&first).expect("a state");
        let step = |seq: u64, kind: &str, step: &str, execution: u64, more: Value| {
            let mut what = json!({ "type": kind, "step": step, "execution": execution });
            let more = more.as_object().expect("a map").clone();
            what.as_object_mut().expect("a map").extend(more);
            event("abcdefgh12", seq, what)
        };
        let begun = json!({ "kind": "command", "attempt": 1 });
        let events = [
            step(2, "step_started", "a", 1, begun.clone()),
            step(3, "step_failed", "a", 1, json!({ "outcome": "failure", "message": "m" })),
            event(
                "abcdefgh12",
                4,
                json!({
                    "type": "skill_finishing", "status": "failed", "why": "step_failed", "message": "m",
                    "step": "a", "until": "2026-11-16T05:52:49Z",
                }),
            ),
            step(5, "step_started", "tell", 2, begun),
            step(6, "step_completed", "tell", 2, json!({ "output": "tell", "value": "" })),
            event(
                "abcdefgh12",
                7,
                json!({
                    "type": "skill_failed", "why": "step_failed", "message": "m", "step": "a",
                }),
            ),
        ];
        for event in &events {
            state.apply(event).expect("a state");
        }
        assert_eq!(done(&state), 2);
        let again = event(
            "abcdefgh12",
            8,
            json!({
                "type": "skill_resumed", "driver": { "user": "a", "host": "b", "pid": 2 }, "epoch": 2,
            }),
        );
        state.apply(&again).expect("a state");
        assert_eq!(done(&state), 1, "`tell` follows once more");
    }
}
