//! `--dry-run`: the way a run would take if all went well. Nothing runs,
//! nothing is asked.
//!
//! Touches nothing. `aye run --dry-run`, the page and assistants show the plan.

mod known;
mod later;
mod silence;
mod step_facts;
mod walk;

use std::path::{Path, PathBuf};
use std::time::Duration;

use aye_core::diagnostic::did_you_mean;
use aye_core::event::Range;
use aye_core::flow::Flow;
use aye_core::machine::StartError;
use aye_core::skill::{AskLimits, EndStatus, Inputs, OnError, SecretSource, format_duration};
use aye_core::step_kind::StepKind;
use aye_core::text::World;
use aye_process::Spec;
use aye_process::policy::Policy;
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Value, json};

use crate::settings::{Reach, ToolSettings};

use known::Known;
use later::Later;
use walk::{Place, Walked, walk};

/// What would happen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// The skill.
    pub skill: String,
    /// Inputs with defaults applied; secrets masked.
    pub inputs: IndexMap<String, Value>,
    /// The name that one run at a time has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<String>,
    /// The run that has it now: this one would wait for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    /// The time limit of the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// The steps in order.
    pub steps: Vec<PlannedStep>,
    /// The steps off this way, which come after a failure or another answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<PlannedStep>,
    /// How long a clean-up and `finally` may take together, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cleanup: Option<String>,
    /// The steps that follow however the run ends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub finally: Vec<PlannedStep>,
    /// How many questions would be asked.
    pub questions: usize,
    /// The final state, in `states:` skills.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Every final state and how a run ends there: `failed (failed)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<String>,
    /// Steps off this way that may ask: a loop comes again, an answer or a
    /// failure leads elsewhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub may_ask: Vec<String>,
    /// What a person should look at.
    pub warnings: Vec<String>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedStep {
    /// Which.
    pub step: String,
    /// What it does.
    pub kind: StepKind,
    /// The command; what is only known while running stays as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Run only if this holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Whether the condition holds, as far as that is known now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
    /// What would be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What agreeing takes: a text to type, several people, a one-time code.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// How long the question waits; absent where nothing is asked or it has no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_within: Option<String>,
    /// What counts as the answer if nobody gives one within that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_expiry: Option<String>,
    /// The time limit that applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// That limit is the project's, not the step's own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub default_timeout: bool,
    /// It is the longest that the project lets a step take.
    #[serde(skip)]
    pub capped: bool,
    /// How it is tried again by itself: `up to 3 attempts, 1s apart at first`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<String>,
    /// What a failure means, if the step says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_error: Option<OnError>,
    /// Where it leads unless it succeeds: `failure -> rollback`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub otherwise: Vec<String>,
    /// Cannot be undone.
    pub destructive: bool,
    /// Where further questions come from: each item, or another skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks_inside: Option<String>,
    /// The steps inside: those of each item, or of another skill.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<PlannedStep>,
}

impl PlannedStep {
    /// Whether it is certainly left out.
    pub fn is_left_out(&self) -> bool {
        self.holds == Some(false)
    }

    /// Whether it asks something, or something inside it does.
    pub fn asks(&self) -> bool {
        !self.is_left_out() && (self.message.is_some() || self.asks_inside.is_some())
    }

    /// Whether a failure of it is a question.
    pub fn asks_on_failure(&self) -> bool {
        self.on_error == Some(OnError::Ask)
    }
}

/// Finds a skill by its name, seen from a file: its flow and its own file.
pub type LoadSkill<'a> = dyn Fn(&str, &Path) -> Option<(Flow, PathBuf)> + 'a;

/// What the machine and its settings say about steps.
pub struct Setting<'a> {
    /// The limit of a step that has none of its own.
    pub step_timeout: Option<Duration>,
    /// No step takes longer.
    pub longest_step: Option<Duration>,
    /// How long questions wait.
    pub ask: AskLimits,
    /// Why a program cannot be run here, if it cannot: it is not there, or the
    /// policy refuses it. Looks at the program and its working directory.
    pub refuses: &'a dyn Fn(&str, Option<&str>) -> Option<String>,
    /// The same for the program behind a tool.
    pub refuses_tool: &'a dyn Fn(&str) -> Option<String>,
    /// The limit that the settings name for a tool.
    pub tool_timeout: &'a dyn Fn(&str) -> Option<Duration>,
    /// A skill that a step calls, and its file; seen from the file of that step.
    pub load: &'a LoadSkill<'a>,
}

/// What is to be run.
pub struct Planned<'a> {
    /// The skill.
    pub flow: &'a Flow,
    /// Its file.
    pub file: &'a Path,
    /// Its inputs, complete and checked.
    pub inputs: &'a Inputs,
    /// The part of it.
    pub range: Option<&'a Range>,
    /// The environment it would run against.
    pub environment: Option<&'a str>,
}

/// Why a program cannot be run in this directory, if it cannot.
pub fn refusal(
    policy: &Policy,
    directory: &Path,
    program: &str,
    cwd: Option<&str>,
) -> Option<String> {
    let cwd = cwd.map_or_else(|| directory.to_path_buf(), |cwd| directory.join(cwd));
    let spec = Spec { cwd: Some(cwd), ..Spec::new(program) };
    match aye_process::resolve(&spec) {
        Err(error) => Some(error.to_string()),
        Ok(found) => policy.check(&spec, &found).err().map(|refusal| refusal.to_string()),
    }
}

/// Why the program behind a tool cannot be run, if it cannot. What a call gives
/// to the program may say which it is: then nobody knows yet.
pub fn tool_refusal(
    tools: &ToolSettings,
    policy: &Policy,
    directory: &Path,
    tool: &str,
) -> Option<String> {
    if let Some(command) = tools.commands.get(tool) {
        let program = command.argv.first().filter(|program| !program.contains('{'))?;
        let cwd = command.cwd.as_ref().map(|cwd| cwd.to_string_lossy());
        return refusal(policy, directory, program, cwd.as_deref());
    }
    let Reach::Program { argv, cwd, .. } = &tools.servers.get(tool.split_once('.')?.0)?.reach
    else {
        return None;
    };
    let cwd = cwd.as_ref().map(|cwd| cwd.to_string_lossy());
    // The policy is about steps; a server is agreed to by name.
    refusal(&Policy::default(), directory, argv.first()?, cwd.as_deref())
}

/// Walks the way of success.
pub fn plan(
    wanted: &Planned<'_>,
    world: &World,
    setting: &Setting<'_>,
) -> Result<Plan, StartError> {
    let Planned { flow, file, inputs, range, environment } = *wanted;
    if let Some(range) = range
        && flow.find(range.step()).is_none()
    {
        let names = flow.body().iter().map(|node| node.step.name.as_str());
        let nearest = did_you_mean(range.step(), names).map(str::to_owned);
        return Err(StartError::NoSuchStep { step: range.step().to_owned(), nearest });
    }
    // What is read where the run is driven stands there as a secret.
    let sources: IndexMap<&str, &SecretSource> = (flow.skill.inputs.iter())
        .filter(|spec| inputs.values.get(&spec.name.value).is_none_or(Value::is_null))
        .filter_map(|spec| Some((spec.name.as_str(), spec.from.as_ref()?)))
        .collect();
    let mut inputs = inputs.clone();
    for name in sources.keys() {
        inputs.values.insert((*name).to_owned(), json!("***"));
    }
    let run = json!({ "id": "dry-run", "environment": environment });
    let known = Known::of(flow, &inputs, Later::of(flow, range), run, world, setting, file);
    let Walked { steps, finally, elsewhere, end, may_ask, warnings } =
        walk(flow, range, Place::Run, &known);
    let shown = inputs.values.iter().map(|(name, value)| {
        let secret = inputs.secrets.get(name).is_some();
        let shown = match sources.get(name.as_str()) {
            Some(source) => json!(format!("*** from {source}")),
            None if secret => json!("***"),
            None => inputs.secrets.mask_value(value),
        };
        (name.clone(), shown)
    });
    let asks = |step: &&PlannedStep| step.message.is_some() && !step.is_left_out();
    let questions = steps.iter().chain(&finally).filter(asks).count();
    Ok(Plan {
        skill: flow.skill.name.value.clone(),
        inputs: shown.collect(),
        concurrency: flow.skill.concurrency.as_ref().map(|name| known.show(name).trim().to_owned()),
        waits_for: None,
        timeout: flow.skill.timeout.map(format_duration),
        cleanup: (!finally.is_empty()).then(|| format_duration(flow.skill.cleanup)),
        steps,
        elsewhere,
        finally,
        questions,
        end,
        ends: ends(flow),
        may_ask,
        warnings,
    })
}

/// Every final state, and how a run ends there.
fn ends(flow: &Flow) -> Vec<String> {
    let named =
        flow.endings.iter().enumerate().filter_map(|(id, end)| Some((id, end.name.as_ref()?)));
    named
        .map(|(id, name)| {
            let words: Vec<&str> = flow.statuses_at(id).into_iter().map(status_word).collect();
            format!("{name} ({})", words.join(" or "))
        })
        .collect()
}

fn status_word(status: EndStatus) -> &'static str {
    match status {
        EndStatus::Completed | EndStatus::ByOutcome => "completed",
        EndStatus::Failed => "failed",
        EndStatus::Cancelled => "cancelled",
    }
}
