//! `--dry-run`: the way a run would take if all went well. Nothing runs,
//! nothing is asked.

mod later;

use std::sync::Arc;

use aye_core::diagnostic::did_you_mean;
use aye_core::event::Range;
use aye_core::flow::{Flow, NodeId, Outcome, Route, Target};
use aye_core::machine::StartError;
use aye_core::skill::{Action, Inputs, Step, StepTimeout, format_duration};
use aye_core::text::{self, Scope, Verbatim, World};
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Value, json};

use crate::fmt::shell_word;

use later::Later;

/// What would happen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// The skill.
    pub skill: String,
    /// Inputs with defaults applied; secrets masked.
    pub inputs: IndexMap<String, Value>,
    /// The steps in order.
    pub steps: Vec<PlannedStep>,
    /// How many questions would be asked.
    pub questions: usize,
    /// The final state, in `states:` skills.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// What a person should look at.
    pub warnings: Vec<String>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedStep {
    /// Which.
    pub step: String,
    /// `command`, `shell`, `confirm`, …
    pub kind: String,
    /// The command; what is only known while running stays as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Run only if this holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Whether the condition holds, as far as that is known now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
    /// The question that would be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Its time limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// Cannot be undone.
    pub destructive: bool,
    /// Where further questions come from: each item, or another skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks_inside: Option<String>,
}

/// Walks the way of success.
pub fn plan(
    flow: &Flow,
    inputs: &Inputs,
    range: Option<&Range>,
    environment: Option<&str>,
    world: &World,
) -> Result<Plan, StartError> {
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
            let names = flow.nodes.iter().map(|node| node.step.name.as_str());
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
                (name.clone(), if secret { json!("***") } else { inputs.secrets.mask_value(value) })
            })
            .collect(),
        steps: Vec::new(),
        questions: 0,
        end: None,
        warnings: Vec::new(),
    };
    let mut seen: Vec<NodeId> = Vec::new();
    // Where the run goes on if the steps of a `then` that may end it are left out.
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
        let planned = planned(step, &holds, &show, &script);
        let outcome =
            if planned.holds == Some(false) { Outcome::Skipped } else { Outcome::Success };
        let unsure = planned.condition.is_some() && planned.holds.is_none();
        plan.steps.push(planned);
        plan.warnings.extend(warnings(step, &show));
        if matches!(range, Some(Range::Only(_))) {
            break;
        }
        if let (true, Route::To(target)) = (unsure, flow.route(node, Outcome::Skipped))
            && flow.route(node, Outcome::Success) != Route::To(target)
        {
            around.push(target);
        }
        match flow.route(node, outcome) {
            Route::To(target) => next = target,
            Route::Done | Route::Uncaught => break,
        }
    }
    let asks = |step: &&PlannedStep| step.question.is_some() && step.holds != Some(false);
    plan.questions = plan.steps.iter().filter(asks).count();
    Ok(plan)
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
                    let PlannedStep { step, command, question, .. } =
                        planned(step, holds, show, script_shown);
                    let parts = [question.map(|q| format!("ask {q}")), command];
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
    PlannedStep {
        step: step.name.value.clone(),
        kind: step.action.kind().to_owned(),
        command,
        condition: step.condition.as_ref().map(|condition| condition.trim().to_owned()),
        holds: step.condition.as_ref().and_then(|condition| holds(condition)),
        question: step.question().map(|ask| show(&ask.message)),
        timeout: match step.timeout {
            StepTimeout::After(limit) => Some(format_duration(limit)),
            StepTimeout::Default | StepTimeout::Unlimited => None,
        },
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
        _ => None,
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

/// A word of a command; a template that is not known yet is no shell word.
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
        found.push(format!("`{name}` cannot be undone and asks nobody"));
    }
    let line = match &step.action {
        Action::Command { program, args } => std::iter::once(program)
            .chain(args)
            .map(|word| show(word))
            .collect::<Vec<_>>()
            .join(" "),
        Action::Shell { script } => show(script),
        _ => String::new(),
    };
    for risky in ["rm -rf", "rm -fr", "sudo ", "chmod -R", "chown -R", "--force", "mkfs", "dd if="]
    {
        if line.contains(risky) {
            found.push(format!("`{name}` uses `{}`", risky.trim()));
        }
    }
    found
}
