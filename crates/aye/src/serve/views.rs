//! Runs, steps, questions and skills as clients see them.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use aye_core::event::{Event, StartedBy};
use aye_core::id::QuestionId;
use aye_core::journal::{State, StepRecord};
use aye_core::nested::Parent;
use aye_core::question::Question;
use aye_runtime::usecases::{JournalReader, ListedRun, OpenQuestion, RunStanding};
use indexmap::IndexMap;
use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

use super::clients::Client;
use super::problem::Problem;

/// An event of the journal with its number.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "JournalEvent")]
pub(super) struct JournalEvent<E = Event> {
    /// Its number in the whole journal.
    pub(super) n: u64,
    /// The run around all others, if its run is inside one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outermost: Option<String>,
    /// As the journal has it.
    #[serde(flatten)]
    pub(super) event: E,
}

impl<E: Borrow<Event>> JournalEvent<E> {
    pub(super) fn of(n: u64, event: E) -> Self {
        let run = &event.borrow().run;
        let outermost = Some(run.outermost()).filter(|outermost| outermost != run);
        Self { n, outermost: outermost.map(|run| run.to_string()), event }
    }
}

/// A run in a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct RunView {
    /// Its id.
    pub(super) run: String,
    /// The skill's name.
    pub(super) skill: String,
    /// `running`, `queued`, `waiting`, `paused`, `cut-off`, `completed`, `failed` or `cancelled`.
    #[schemars(schema_with = "standing")]
    pub(super) status: RunStanding,
    /// How many of its questions are open, those of runs inside it included.
    pub(super) waiting: u32,
    /// Whether a process drives it.
    pub(super) driven: bool,
    /// The step it is at, or was at last.
    pub(super) step: Option<String>,
    /// Why it is paused, failed or cancelled.
    pub(super) message: Option<String>,
    /// The name that one run at a time has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) concurrency: Option<String>,
    /// The run that has that name, while this one waits for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) waits_for: Option<String>,
    /// What it runs against.
    pub(super) environment: Option<String>,
    /// The directory it runs in.
    pub(super) workspace: String,
    /// The account that drives it, or did last.
    pub(super) user: String,
    /// What started it: `terminal`, `script`, `assistant`, `schedule`, `web`, `editor` or
    /// `api`.
    pub(super) started_by: Option<StartedBy>,
    /// Who started it: a person, or the account.
    pub(super) starter: String,
    /// The run it is inside of.
    pub(super) parent: Option<String>,
    /// When it began.
    pub(super) started: Timestamp,
    /// When its last event was.
    pub(super) updated: Timestamp,
    /// When it ended.
    pub(super) ended: Option<Timestamp>,
    /// How long it took.
    pub(super) duration_ms: Option<u64>,
    /// The number of its first event: for `before`.
    pub(super) n: u64,
}

fn standing(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": RunStanding::ALL.map(RunStanding::word) })
}

impl RunView {
    pub(super) fn of(run: &ListedRun) -> Self {
        let row = &run.row;
        let ms = |to: Timestamp| to.as_millisecond() - row.started.as_millisecond();
        Self {
            run: row.id.to_string(),
            skill: row.skill.clone(),
            status: run.standing(),
            waiting: row.waiting,
            driven: run.driven,
            step: row.step.clone(),
            message: row.message.clone(),
            concurrency: row.concurrency.clone(),
            waits_for: row.waits_for_name().map(|(_, holder)| holder.to_string()),
            environment: row.environment.clone(),
            workspace: row.workspace.clone(),
            user: row.driver.user.clone(),
            started_by: row.started_by,
            starter: row.starter.clone(),
            parent: row.parent.as_ref().map(ToString::to_string),
            started: row.started,
            updated: row.updated,
            ended: row.ended,
            duration_ms: row.ended.and_then(|ended| u64::try_from(ms(ended)).ok()),
            n: row.n,
        }
    }
}

/// A step of a run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct StepView {
    /// Its name.
    pub(super) name: String,
    /// `command`, `shell`, `confirm`, …
    pub(super) kind: Option<String>,
    /// What the file says about it.
    pub(super) description: Option<String>,
    /// `pending` until it is reached; then `waiting`, `queued` (it waits for a slot),
    /// `running`, `completed`, `skipped`, `failed`, `timed_out`, `cancelled`, `interrupted` or
    /// `unknown`.
    pub(super) status: String,
    /// Which attempt.
    pub(super) attempt: u32,
    /// Which start of a step in this run: names its log.
    pub(super) execution: u32,
    /// When it started.
    pub(super) started: Option<Timestamp>,
    /// When it ended.
    pub(super) ended: Option<Timestamp>,
    /// How long its last start took.
    pub(super) duration_ms: Option<u64>,
    /// What went wrong, or why it was left out.
    pub(super) message: Option<String>,
    /// The resolved command line, secrets masked.
    pub(super) command: Option<String>,
    /// The runs inside it.
    pub(super) runs: Vec<String>,
}

/// A run with its steps.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct RunDetailView {
    /// As in a list.
    #[serde(flatten)]
    pub(super) run: RunView,
    /// Its inputs, secrets masked.
    pub(super) inputs: IndexMap<String, Value>,
    /// Its steps, in order.
    pub(super) steps: Vec<StepView>,
    /// Its outputs, once it has completed.
    pub(super) outputs: IndexMap<String, Value>,
}

impl RunDetailView {
    pub(super) fn read(journal: &JournalReader, run: &ListedRun) -> Result<Self, Problem> {
        let state = journal.state(&run.row.id)?;
        let mut inside: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (step, child) in journal.runs_inside(&run.row.id)? {
            inside.entry(step).or_default().push(child.to_string());
        }
        Ok(Self {
            run: RunView::of(run),
            inputs: state.started.inputs.clone(),
            steps: steps(&state, &mut inside),
            outputs: state.results,
        })
    }
}

/// The steps as the file has them; those that it does not list follow.
fn steps(state: &State, inside: &mut BTreeMap<String, Vec<String>>) -> Vec<StepView> {
    let planned = &state.started.step_list;
    let mut views: Vec<StepView> = planned
        .iter()
        .map(|step| {
            let kind = Some(step.kind.as_str().to_owned());
            step_view(&step.name, kind, step.description.clone(), state.steps.get(&step.name))
        })
        .collect();
    for (name, record) in state.steps.iter() {
        if !planned.iter().any(|step| step.name == *name) {
            let kind = record.kind.as_ref().map(|kind| kind.as_str().to_owned());
            views.push(step_view(name, kind, None, Some(record)));
        }
    }
    for view in &mut views {
        view.runs = inside.remove(&view.name).unwrap_or_default();
    }
    views
}

fn step_view(
    name: &str,
    kind: Option<String>,
    description: Option<String>,
    record: Option<&StepRecord>,
) -> StepView {
    let status = record.map(|record| match record.queued {
        true => record.standing().into(),
        false => serde_json::to_value(record.status).unwrap_or_default(),
    });
    let status = status.as_ref().and_then(Value::as_str).unwrap_or("pending").to_owned();
    StepView {
        name: name.to_owned(),
        kind,
        description,
        status,
        attempt: record.map_or(0, |record| record.attempt),
        execution: record.map_or(0, |record| record.execution),
        started: record.and_then(|record| record.started),
        ended: record.and_then(|record| record.ended),
        duration_ms: record.and_then(|record| record.duration_ms),
        message: record.and_then(|record| record.message.clone()),
        command: record.and_then(|record| record.command.clone()),
        runs: Vec::new(),
    }
}

/// An open question: what `confirmation_required` says, and where it is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct QuestionView {
    /// The run that asks.
    pub(super) run: String,
    /// The run's skill.
    pub(super) skill: String,
    /// The directory the run works in.
    pub(super) workspace: String,
    /// The runs around it, from the outside in: `deploy[web3]`.
    pub(super) path: Vec<String>,
    /// When it was asked.
    pub(super) asked: Timestamp,
    /// Whether a process drives its run.
    pub(super) driven: bool,
    /// `open`, `answered`, `expired` or `withdrawn`.
    pub(super) state: &'static str,
    /// How many more people have to agree.
    pub(super) missing: u32,
    /// The number of the event that asked it: for `after`.
    pub(super) n: u64,
    /// What a browser sends with its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) nonce: Option<String>,
    /// As it was asked, with the deadline as it is now.
    #[serde(flatten)]
    #[schemars(with = "Question")]
    pub(super) asked_as: AskedAs,
}

/// A question as it was asked.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(super) enum AskedAs {
    /// As the journal has it.
    Known(Box<Question>),
    /// The journal does not have it; it can still be named.
    Unknown { question: QuestionId },
}

impl QuestionView {
    /// Its name.
    pub(super) fn id(&self) -> &str {
        match &self.asked_as {
            AskedAs::Known(asked) => asked.id.as_str(),
            AskedAs::Unknown { question } => question.as_str(),
        }
    }

    pub(super) fn of(open: OpenQuestion, workspace: String) -> Self {
        let OpenQuestion { row, question, driven, around, .. } = open;
        Self {
            run: row.run.to_string(),
            skill: row.skill,
            workspace,
            path: around.iter().map(Parent::label).collect(),
            asked: row.asked,
            driven,
            state: row.state.word(),
            missing: row.missing,
            n: row.n,
            nonce: None,
            asked_as: match question {
                Some(asked) => {
                    AskedAs::Known(Box::new(Question { deadline: row.deadline, ..asked }))
                }
                None => AskedAs::Unknown { question: row.id },
            },
        }
    }
}

/// The first message on a socket.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Snapshot")]
pub(super) struct Snapshot<'a> {
    /// `snapshot`.
    #[schemars(extend("const" = "snapshot"))]
    pub(super) r#type: &'static str,
    /// The newest event that it knows of: what follows has greater numbers.
    pub(super) n: u64,
    /// Runs that have not ended, with their steps.
    pub(super) runs: &'a [RunDetailView],
    /// How many runs have not ended, should they not all be listed.
    pub(super) runs_in_all: u64,
    /// Open questions, the oldest first.
    pub(super) questions: &'a [QuestionView],
    /// How many questions are open, should they not all be listed.
    pub(super) questions_open: u64,
    /// Who is connected.
    pub(super) clients: Vec<Client>,
    /// Whom this connection speaks for.
    pub(super) you: &'a str,
}

/// An input schema and what else there is to say of a skill.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct SkillView {
    /// Its name.
    pub(super) skill: String,
    /// Its project's directory.
    pub(super) project: String,
    /// Whether the project is trusted: only then it can be started here.
    pub(super) trusted: bool,
    /// Its file, as seen from the project.
    pub(super) file: String,
    /// What it does.
    pub(super) description: Option<String>,
    /// Its inputs, as a JSON schema.
    pub(super) inputs: Value,
    /// Its steps.
    pub(super) steps: Vec<PlannedStepView>,
    /// How many errors its file has; with any it cannot be started.
    pub(super) errors: usize,
}

/// A step of a skill.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct PlannedStepView {
    /// Its name.
    pub(super) name: String,
    /// `command`, `shell`, `confirm`, …
    pub(super) kind: String,
    /// What the file says about it.
    pub(super) description: Option<String>,
    /// Whether it destroys something.
    pub(super) destructive: bool,
    /// Whether someone is asked before it or by it.
    pub(super) asks: bool,
}
