//! `--dry-run`: the way a run would take if all went well. Nothing runs,
//! nothing is asked.
//!
//! Touches nothing. `aye run --dry-run`, the page and assistants show the plan.

mod later;
mod silence;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aye_core::diagnostic::did_you_mean;
use aye_core::event::Range;
use aye_core::flow::{Flow, Node, NodeId, Route, Target};
use aye_core::journal::StepOutcome;
use aye_core::machine::StartError;
use aye_core::question::Purpose;
use aye_core::skill::{
    Action, AskLimits, EndStatus, Inputs, SecretSource, Step, StepTimeout, format_duration,
};
use aye_core::step_kind::StepKind;
use aye_core::text::{self, Scope, Verbatim, World};
use aye_process::Spec;
use aye_process::policy::Policy;
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Value, json};

use crate::fmt::shell_word;

use later::Later;
use silence::silence;

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
    /// The steps in order.
    pub steps: Vec<PlannedStep>,
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
    /// Where it leads unless it succeeds: `failure -> rollback`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub otherwise: Vec<String>,
    /// Cannot be undone.
    pub destructive: bool,
    /// Where further questions come from: each item, or another skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks_inside: Option<String>,
}

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

/// Walks the way of success.
pub fn plan(
    flow: &Flow,
    inputs: &Inputs,
    range: Option<&Range>,
    environment: Option<&str>,
    world: &World,
    setting: &Setting<'_>,
) -> Result<Plan, StartError> {
    // What is read where the run is driven stands there as a secret.
    let sources: IndexMap<&str, &SecretSource> = (flow.skill.inputs.iter())
        .filter(|spec| inputs.values.get(&spec.name.value).is_none_or(Value::is_null))
        .filter_map(|spec| Some((spec.name.as_str(), spec.from.as_ref()?)))
        .collect();
    let mut inputs = inputs.clone();
    for name in sources.keys() {
        inputs.values.insert((*name).to_owned(), json!("***"));
    }
    let inputs = &inputs;
    let scope = Scope {
        world: world.clone(),
        inputs: Arc::new(inputs.values.clone()),
        outputs: Arc::default(),
        steps: Arc::default(),
        locals: Arc::new(values_of(flow)),
        lenient: flow.skill.lenient.unwrap_or_default(),
        secrets: Arc::new(inputs.secrets.clone()),
        run: Arc::new(json!({ "id": "dry-run", "environment": environment })),
        skill: Arc::new(json!({ "name": flow.skill.name.value, "version": flow.skill.version })),
    };
    let later = Later::of(flow, range);
    let show = |template: &str| {
        let known =
            if later.is_used_in(template) { None } else { text::text(template, &scope).ok() };
        inputs.secrets.mask(&known.unwrap_or_else(|| partly(template, &scope, &later)))
    };
    // Values in a script are data and shown as that; a script that needs what
    // earlier steps give stays as written.
    let script = |template: &str| {
        let mask = |text: &str| inputs.secrets.mask(text);
        match text::shell_script(template, &scope, Verbatim::default()) {
            Ok(script) if !later.is_used_in(template) => mask(&script.shown(mask)),
            _ => mask(template),
        }
    };
    let mut next = match range {
        None => flow.start,
        Some(range) => Target::Step(flow.find(range.step()).ok_or_else(|| {
            let names = flow.body().iter().map(|node| node.step.name.as_str());
            let nearest = did_you_mean(range.step(), names).map(str::to_owned);
            StartError::NoSuchStep { step: range.step().to_owned(), nearest }
        })?),
    };
    let mut plan = Plan {
        skill: flow.skill.name.value.clone(),
        inputs: inputs
            .values
            .iter()
            .map(|(name, value)| {
                let secret = inputs.secrets.get(name).is_some();
                let shown = match sources.get(name.as_str()) {
                    Some(source) => json!(format!("*** from {source}")),
                    None if secret => json!("***"),
                    None => inputs.secrets.mask_value(value),
                };
                (name.clone(), shown)
            })
            .collect(),
        concurrency: flow.skill.concurrency.as_ref().map(|name| show(name).trim().to_owned()),
        waits_for: None,
        steps: Vec::new(),
        finally: Vec::new(),
        questions: 0,
        end: None,
        ends: ends(flow),
        may_ask: Vec::new(),
        warnings: Vec::new(),
    };
    let mut seen: Vec<NodeId> = Vec::new();
    // Where the run continues if the steps of a `then` that may end it are left out.
    let mut around: Vec<Target> = Vec::new();
    loop {
        let node = match next {
            Target::Step(node) => node,
            Target::End(end) => {
                // A `then` that did not end the run has led there already.
                around.retain(|target| !matches!(target, Target::Step(id) if seen.contains(id)));
                let Some(target) = around.pop() else {
                    plan.end.clone_from(&flow.endings[end].name);
                    break;
                };
                next = target;
                continue;
            }
        };
        let step = &flow.nodes[node].step;
        if seen.contains(&node) {
            plan.warnings.push(format!("goes round: `{}` comes again", step.name.value));
            break;
        }
        seen.push(node);
        let holds = |condition: &str| match later.decides(condition) {
            true => None,
            false => text::holds(condition, &scope).ok(),
        };
        let mut planned = planned(step, &holds, &show, &script, setting);
        planned.otherwise = otherwise(flow, node);
        plan.warnings.extend(refused(step, &show, setting));
        let outcome =
            if planned.holds == Some(false) { StepOutcome::Skipped } else { StepOutcome::Success };
        let unsure = planned.condition.is_some() && planned.holds.is_none();
        // The first answer that lets the run continue stands for all of them.
        let answer = flow.nodes[node].likely_answer().filter(|_| planned.holds != Some(false));
        plan.steps.push(planned);
        plan.warnings.extend(warnings(step, &show));
        if matches!(range, Some(Range::Only(_))) {
            break;
        }
        if let (true, Route::To(target)) = (unsure, flow.route(node, &StepOutcome::Skipped, None))
            && flow.route(node, &StepOutcome::Success, answer) != Route::To(target)
        {
            around.push(target);
        }
        match flow.route(node, &outcome, answer) {
            Route::To(target) => next = target,
            Route::Done | Route::Uncaught => break,
        }
    }
    if !matches!(range, Some(Range::Only(_))) {
        for node in &flow.nodes[flow.body().len()..] {
            // How a run ends is not known before.
            let planned = planned(&node.step, &|_| None, &show, &script, setting);
            plan.finally.push(planned);
            plan.warnings.extend(refused(&node.step, &show, setting));
            plan.warnings.extend(warnings(&node.step, &show));
        }
    }
    let asks = |step: &&PlannedStep| step.message.is_some() && step.holds != Some(false);
    plan.questions = plan.steps.iter().chain(&plan.finally).filter(asks).count();
    if !matches!(range, Some(Range::Only(_))) {
        plan.may_ask = may_ask(flow, &seen);
    }
    Ok(plan)
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

/// Where a step leads unless it succeeds.
fn otherwise(flow: &Flow, node: NodeId) -> Vec<String> {
    let Node { step, routes } = &flow.nodes[node];
    let labelled = routes.labelled().into_iter();
    let other = labelled.filter(|(word, _)| !matches!(word.as_str(), "success" | "skipped" | "0"));
    let mut ways: Vec<String> =
        other.map(|(word, target)| format!("{word} -> {}", name_of(flow, target))).collect();
    if step.question().is_some() && routes.declined.is_none() {
        let purpose = if step.confirmation.is_some() { Purpose::Gate } else { Purpose::Ask };
        ways.push(format!("no -> {}", flow.decline_lead(node, purpose)));
    }
    ways
}

fn name_of(flow: &Flow, target: Target) -> String {
    match target {
        Target::Step(node) => flow.nodes[node].step.name.value.clone(),
        Target::End(end) => flow.endings[end].name.clone().unwrap_or_else(|| "the end".to_owned()),
    }
}

/// Steps that ask and are not on the way of success, or come again in a loop.
fn may_ask(flow: &Flow, seen: &[NodeId]) -> Vec<String> {
    let mut reached: Vec<NodeId> = Vec::new();
    let mut again: Vec<NodeId> = Vec::new();
    let targets = |node: NodeId| {
        let routes = flow.nodes[node].routes.labelled();
        routes.into_iter().filter_map(|(_, target)| match target {
            Target::Step(next) => Some(next),
            Target::End(_) => None,
        })
    };
    let mut open: Vec<NodeId> = seen.first().copied().into_iter().collect();
    while let Some(node) = open.pop() {
        if reached.contains(&node) {
            continue;
        }
        reached.push(node);
        open.extend(targets(node));
    }
    // A step that can be reached from itself may ask more than once.
    for &node in seen {
        let (mut met, mut open) = (Vec::new(), targets(node).collect::<Vec<_>>());
        while let Some(next) = open.pop().filter(|_| !again.contains(&node)) {
            if next == node {
                again.push(node);
            } else if !met.contains(&next) {
                met.push(next);
                open.extend(targets(next));
            }
        }
    }
    let asks = |node: &&NodeId| flow.nodes[**node].step.question().is_some();
    let elsewhere = reached.iter().filter(|node| !seen.contains(node));
    let mut nodes: Vec<NodeId> = elsewhere.chain(&again).filter(asks).copied().collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.into_iter().map(|node| flow.nodes[node].step.name.value.clone()).collect()
}

/// Why a program of a step cannot be run here.
fn refused(step: &Step, show: &impl Fn(&str) -> String, setting: &Setting<'_>) -> Vec<String> {
    if let Action::ForEach(each) = &step.action {
        return each.body.iter().flat_map(|step| refused(step, show, setting)).collect();
    }
    let program = match &step.action {
        Action::Command { program, .. } => show(program),
        Action::Shell { .. } => "sh".to_owned(),
        Action::Ask(_)
        | Action::Tool { .. }
        | Action::Compute { .. }
        | Action::Skill { .. }
        | Action::ForEach(_)
        | Action::Return { .. }
        | Action::Note => return Vec::new(),
    };
    let cwd = step.cwd.as_ref().map(|cwd| show(cwd));
    // What only the run gives is not known yet.
    let open = |text: &String| text.contains("{{");
    if open(&program) || cwd.as_ref().is_some_and(open) {
        return Vec::new();
    }
    let why = (setting.refuses)(&program, cwd.as_deref());
    why.map(|why| format!("`{}` cannot run: {why}", step.name.value)).into_iter().collect()
}

/// `defaults` of the skill, as templates see them.
fn values_of(flow: &Flow) -> IndexMap<String, Value> {
    let defaults = Some(&flow.skill.defaults).filter(|defaults| !defaults.is_null());
    defaults.map(|defaults| ("defaults".to_owned(), defaults.clone())).into_iter().collect()
}

/// What earlier steps give is not known yet: it stays as written, the rest is
/// filled in.
fn partly(template: &str, scope: &Scope, later: &Later) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((expression, after)) = after.split_once("}}") else { break };
        let written = format!("{{{{{expression}}}}}");
        text.push_str(before);
        let known =
            if later.is_used_in(&written) { None } else { text::text(&written, scope).ok() };
        text.push_str(&known.unwrap_or(written));
        rest = after;
    }
    // Blocks decide about their insides: nothing of them is known for sure.
    if template.contains("{%") { template.to_owned() } else { text + rest }
}

fn planned(
    step: &Step,
    holds: &impl Fn(&str) -> Option<bool>,
    show: &impl Fn(&str) -> String,
    script_shown: &impl Fn(&str) -> String,
    setting: &Setting<'_>,
) -> PlannedStep {
    let command = match &step.action {
        Action::Command { program, args } => {
            let words = std::iter::once(program).chain(args).map(|word| word_shown(word, show));
            Some(words.collect::<Vec<_>>().join(" "))
        }
        Action::Shell { script } => Some(script_shown(script)),
        Action::Tool { tool, args, .. } => Some(given_shown(tool, args, show)),
        Action::Skill { skill, inputs, .. } => {
            let inputs = inputs.iter().map(|(name, value)| (name.clone(), value.clone()));
            Some(given_shown(&show(skill), &inputs.collect(), show))
        }
        Action::Compute { code, .. } => Some(code.trim_end().to_owned()),
        Action::ForEach(each) => {
            let inside: Vec<String> = each
                .body
                .iter()
                .map(|step| {
                    let PlannedStep { step, command, message, .. } =
                        planned(step, holds, show, script_shown, setting);
                    let parts = [message.map(|q| format!("ask {q}")), command];
                    let parts: Vec<String> = parts.into_iter().flatten().collect();
                    format!("{step}: {}", parts.join("\n").trim_end().replace('\n', "\n    "))
                })
                .collect();
            let items = match &each.items {
                Value::String(text) => show(text),
                items => items.to_string(),
            };
            Some(format!("for each {} of {items}:\n  {}", each.name, inside.join("\n  ")))
        }
        Action::Return { text } => Some(format!("return {}", show(text))),
        Action::Ask(_) | Action::Note => None,
    };
    let limit = match (step.timeout, &step.action) {
        (StepTimeout::After(limit), _) => Some(limit),
        // What is not run by the step itself has no limit of its own.
        (
            StepTimeout::Default,
            Action::Command { .. } | Action::Shell { .. } | Action::Tool { .. },
        ) => setting.step_timeout,
        (StepTimeout::Default | StepTimeout::Unlimited, _) => None,
    };
    let runs_itself = step.action.acts() && !step.action.is_nested();
    let longest = setting.longest_step.filter(|_| runs_itself);
    let limit = [limit, longest].into_iter().flatten().min();
    let (answer_within, on_expiry) = silence(step, &setting.ask, show).unzip();
    PlannedStep {
        answer_within,
        on_expiry,
        step: step.name.value.clone(),
        kind: step.action.kind(),
        command,
        condition: step.condition.as_ref().map(|condition| condition.trim().to_owned()),
        holds: step.condition.as_ref().and_then(|condition| holds(condition)),
        message: step.question().map(|ask| show(&ask.message)),
        timeout: limit.map(format_duration),
        default_timeout: limit.is_some() && step.timeout == StepTimeout::Default,
        otherwise: Vec::new(),
        destructive: step.destructive,
        asks_inside: asks_inside(step, show),
    }
}

/// Questions that only the run itself can count.
fn asks_inside(step: &Step, show: &impl Fn(&str) -> String) -> Option<String> {
    match &step.action {
        Action::ForEach(each) => {
            let asks = |step: &Step| step.question().is_some() || asks_inside(step, show).is_some();
            each.body.iter().any(asks).then(|| format!("for each item of `{}`", step.name.value))
        }
        Action::Skill { skill, .. } => Some(format!("that `{}` may ask", show(skill))),
        Action::Command { .. }
        | Action::Shell { .. }
        | Action::Ask(_)
        | Action::Tool { .. }
        | Action::Compute { .. }
        | Action::Return { .. }
        | Action::Note => None,
    }
}

/// A tool or skill with what it would be given.
fn given_shown(name: &str, given: &Value, show: &impl Fn(&str) -> String) -> String {
    let words = given.as_object().into_iter().flatten().map(|(name, value)| match value {
        Value::String(text) => format!("{name}={}", word_shown(text, show)),
        other => format!("{name}={}", show(&other.to_string())),
    });
    std::iter::once(name.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word of a command; a template that is not known yet is not a shell word.
fn word_shown(word: &str, show: &impl Fn(&str) -> String) -> String {
    let shown = show(word);
    if shown.contains("{{") { format!("\"{shown}\"") } else { shell_word(&shown) }
}

fn warnings(step: &Step, show: &impl Fn(&str) -> String) -> Vec<String> {
    let name = &step.name.value;
    let mut found = Vec::new();
    let asks = step.confirmation.is_some()
        || matches!(&step.action, Action::ForEach(each)
            if each.body.iter().any(|step| step.confirmation.is_some()));
    if step.destructive && !asks {
        found.push(format!("`{name}` is destructive and has no question before it"));
    }
    let line = match &step.action {
        Action::Command { program, args } => std::iter::once(program)
            .chain(args)
            .map(|word| show(word))
            .collect::<Vec<_>>()
            .join(" "),
        Action::Shell { script } => show(script),
        Action::Ask(_)
        | Action::Tool { .. }
        | Action::Compute { .. }
        | Action::Skill { .. }
        | Action::ForEach(_)
        | Action::Return { .. }
        | Action::Note => String::new(),
    };
    for risky in ["rm -rf", "rm -fr", "sudo ", "chmod -R", "chown -R", "--force", "mkfs", "dd if="]
    {
        if line.contains(risky) {
            found.push(format!("`{name}` uses `{}`", risky.trim()));
        }
    }
    found
}
