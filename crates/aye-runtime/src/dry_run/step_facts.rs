//! What is known of one step before it runs, wherever it stands: in the run,
//! in an item of a `foreach`, or in a skill that a step calls.

use std::time::Duration;

use aye_core::flow::{Flow, Node, NodeId, Route, Target};
use aye_core::journal::StepOutcome;
use aye_core::question::{Lead, Purpose, SILENCE};
use aye_core::skill::{
    Action, Ask, By, EndStatus, ForEach, OnError, Retry, Step, StepTimeout, format_duration,
};
use indexmap::IndexMap;
use serde_json::Value;

use crate::compute;
use crate::fmt::shell_word;

use super::PlannedStep;
use super::known::Known;
use super::silence::silence;
use super::walk::{Place, Walked, walk};

/// What a step does, asks and leads to; what a person should look at goes to
/// the warnings.
pub(super) fn planned(
    flow: &Flow,
    node: NodeId,
    place: Place,
    known: &Known<'_>,
    warnings: &mut Vec<String>,
) -> PlannedStep {
    let step = &flow.nodes[node].step;
    let show = |template: &str| known.show(template);
    let holds = match place {
        // How a run ends is not known before.
        Place::Finally => None,
        Place::Run | Place::Item | Place::Alone => {
            step.condition.as_ref().and_then(|text| known.holds(text))
        }
    };
    let mut found: Vec<String> = refused(step, known).into_iter().collect();
    let (inside, asks_inside) = match &step.action {
        Action::ForEach(each) => {
            let item = known.in_item(declined_inside(flow, node, place, known));
            let walked = walk(&flow.of_item(&each.body), None, Place::Item, &item);
            let asks = walked.asks().then(|| format!("for each item of `{}`", step.name.value));
            found.extend(walked.warnings);
            (walked.steps, asks)
        }
        Action::Skill { skill, inputs, .. } => {
            let declined = declined_inside(flow, node, place, known);
            called(&show(skill), inputs, known, declined, &mut found)
        }
        Action::Command { .. }
        | Action::Shell { .. }
        | Action::Ask(_)
        | Action::Tool { .. }
        | Action::Compute { .. }
        | Action::Return { .. }
        | Action::Note => (Vec::new(), None),
    };
    found.extend(risks(step, known));
    // What is certainly left out needs no second look.
    if holds != Some(false) {
        warnings.extend(found);
    }
    let (limit, capped) = limit(step, known);
    let (answer_within, on_expiry) = silence(step, &known.setting.ask, &show).unzip();
    PlannedStep {
        step: step.name.value.clone(),
        kind: step.action.kind(),
        command: command(step, known),
        condition: step.condition.as_ref().map(|condition| condition.trim().to_owned()),
        holds,
        message: step.question().map(|ask| show(&ask.message)),
        rules: step.question().map_or_else(Vec::new, |ask| rules(ask, known)),
        answer_within,
        on_expiry,
        timeout: limit.map(format_duration),
        default_timeout: limit.is_some() && step.timeout == StepTimeout::Default && !capped,
        capped,
        retry: step.retry.as_ref().map(retry),
        // A transition comes first.
        on_error: step
            .on_error
            .filter(|on_error| *on_error != OnError::Ask || is_uncaught(flow, node)),
        otherwise: otherwise(flow, node, place, known),
        destructive: step.destructive,
        asks_inside,
        inside,
    }
}

/// The steps of a skill that a step calls, and where its questions come from.
fn called(
    skill: &str,
    inputs: &IndexMap<String, Value>,
    known: &Known<'_>,
    declined: Option<Lead>,
    warnings: &mut Vec<String>,
) -> (Vec<PlannedStep>, Option<String>) {
    let asks = Some(format!("that `{skill}` may ask"));
    let found = (known.setting.load)(skill, known.file);
    let found = found.filter(|(flow, file)| !known.is_inside(flow, file));
    let Some((flow, file)) = found else { return (Vec::new(), asks) };
    let inner = known.called(&flow, inputs, &file, declined);
    let walked = walk(&flow, None, Place::Run, &inner);
    let asks = asks.filter(|_| walked.asks());
    let Walked { steps, finally, warnings: found, .. } = walked;
    warnings.extend(found.into_iter().map(|warning| format!("in `{skill}`: {warning}")));
    (steps.into_iter().chain(finally).collect(), asks)
}

fn command(step: &Step, known: &Known<'_>) -> Option<String> {
    let show = |template: &str| known.show(template);
    match &step.action {
        Action::Command { program, args } => {
            let words = std::iter::once(program).chain(args).map(|word| word_shown(word, &show));
            Some(words.collect::<Vec<_>>().join(" "))
        }
        Action::Shell { script } => Some(known.script(script)),
        Action::Tool { tool, args, .. } => Some(given_shown(tool, args, &show)),
        Action::Skill { skill, inputs, .. } => {
            let inputs = inputs.iter().map(|(name, value)| (name.clone(), value.clone()));
            Some(given_shown(&show(skill), &inputs.collect(), &show))
        }
        Action::Compute { code, .. } => Some(code.trim_end().to_owned()),
        Action::ForEach(each) => Some(each_shown(each, &show)),
        Action::Return { text } => Some(format!("return {}", show(text))),
        Action::Ask(_) | Action::Note => None,
    }
}

fn each_shown(each: &ForEach, show: &impl Fn(&str) -> String) -> String {
    let items = match &each.items {
        Value::String(text) => show(text),
        items => show(&items.to_string()),
    };
    let at_once = match each.parallel {
        0 | 1 => String::new(),
        many => format!(", {many} at once"),
    };
    format!("for each {} of {items}{at_once}:", each.name)
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

/// The time limit that applies to the step itself, and whether it is the longest that the
/// project allows.
fn limit(step: &Step, known: &Known<'_>) -> (Option<Duration>, bool) {
    let setting = known.setting;
    let limit = match (step.timeout, &step.action) {
        (StepTimeout::After(limit), _) => Some(limit),
        (StepTimeout::Unlimited, _) => None,
        // A terminal is in someone's hands.
        (StepTimeout::Default, _) if step.interactive => None,
        (StepTimeout::Default, Action::Tool { tool, .. }) => {
            (setting.tool_timeout)(tool).or(setting.step_timeout)
        }
        (
            StepTimeout::Default,
            Action::Command { .. } | Action::Shell { .. } | Action::Compute { .. },
        ) => setting.step_timeout,
        // The steps inside have limits of their own, and so have questions.
        (
            StepTimeout::Default,
            Action::Ask(_)
            | Action::Skill { .. }
            | Action::ForEach(_)
            | Action::Return { .. }
            | Action::Note,
        ) => None,
    };
    let runs_itself = step.action.acts() && !step.action.is_nested();
    let longest = setting.longest_step.filter(|_| runs_itself);
    // A block of code has a limit of its own, which nothing extends.
    let code = match step.action {
        Action::Compute { python: false, .. } => Some(compute::Limits::default().time),
        _ => None,
    };
    let own = [limit, code].into_iter().flatten().min();
    let capped = longest.is_some_and(|longest| own.is_none_or(|own| longest < own));
    (if capped { longest } else { own }, capped)
}

/// What a yes takes, beyond someone's word.
fn rules(ask: &Ask, known: &Known<'_>) -> Vec<String> {
    let mut rules = Vec::new();
    if let Some(typed) = &ask.typed {
        rules.push(format!("type `{}` to agree", known.show(typed)));
    }
    if ask.approvals > 1 {
        rules.push(format!("{} different people have to agree", ask.approvals));
    }
    if ask.not_starter {
        rules.push("the person who starts the run does not count".to_owned());
    }
    match &ask.by {
        By::Anyone => {}
        By::Human => rules.push("only a person may answer".to_owned()),
        By::Names(names) => rules.push(format!("only {} may answer", names.join(", "))),
    }
    if ask.reauth {
        rules.push("agreeing needs a one-time code".to_owned());
    }
    rules
}

fn retry(retry: &Retry) -> String {
    let Retry { attempts, backoff, factor, on, .. } = retry;
    let mut text = format!("up to {attempts} attempts");
    if !backoff.is_zero() && *attempts > 1 {
        let later = if *factor > 1.0 && *attempts > 2 { " at first" } else { "" };
        text.push_str(&format!(", {} apart{later}", format_duration(*backoff)));
    }
    if !(on.failure && on.timeout) {
        let words = [(on.failure, "failure"), (on.timeout, "timeout")];
        let words = words.into_iter().filter(|(on, _)| *on).map(|(_, word)| word.to_owned());
        let words: Vec<String> = words.chain(on.codes.iter().map(i32::to_string)).collect();
        text.push_str(&format!(", after {}", words.join(" or ")));
    }
    text
}

/// Whether nothing follows a failure of a step.
fn is_uncaught(flow: &Flow, node: NodeId) -> bool {
    flow.route(node, &StepOutcome::Failure(None), None) == Route::Uncaught
}

/// Where what is inside of a step leads in a run around it if it is declined.
fn declined_inside(flow: &Flow, node: NodeId, place: Place, known: &Known<'_>) -> Option<Lead> {
    let lead = flow.decline_lead(node, Purpose::Ask);
    match (lead.ends, place) {
        (Some(EndStatus::Cancelled), Place::Item) => {
            let calls = matches!(flow.nodes[node].step.action, Action::Skill { .. });
            calls.then(Lead::left_out)
        }
        (Some(EndStatus::Cancelled), Place::Run | Place::Finally) => known.declined.clone(),
        (_, Place::Finally | Place::Alone) => None,
        (_, Place::Run | Place::Item) => Some(lead),
    }
}

/// Where a step leads unless it succeeds.
fn otherwise(flow: &Flow, node: NodeId, place: Place, known: &Known<'_>) -> Vec<String> {
    // However a step of `finally` ends, the next one follows.
    if place == Place::Finally {
        return Vec::new();
    }
    let Node { step, routes } = &flow.nodes[node];
    if place == Place::Alone {
        let failure = match step.on_error {
            Some(OnError::Ask) => Some("failure -> a question".to_owned()),
            Some(OnError::AutoHeal) => Some("failure -> heal rules first".to_owned()),
            Some(OnError::Continue | OnError::Fail) | None => None,
        };
        let ends = Lead::new(None, Some(EndStatus::Cancelled));
        let no = step.question().is_some().then(|| format!("no -> {ends}"));
        return failure.into_iter().chain(no).collect();
    }
    let labelled = routes.labelled().into_iter();
    let other = labelled.filter(|(word, _)| !matches!(word.as_str(), "success" | "skipped" | "0"));
    let mut ways: Vec<String> =
        other.map(|(word, target)| format!("{word} -> {}", name_of(flow, target))).collect();
    let uncaught = is_uncaught(flow, node);
    match step.on_error {
        Some(OnError::Ask) if uncaught => ways.push("failure -> a question".to_owned()),
        Some(OnError::AutoHeal) => ways.insert(0, "failure -> heal rules first".to_owned()),
        Some(OnError::Continue) if routes.failure.is_none() => {
            ways.push("failure -> the next step".to_owned());
        }
        Some(OnError::Fail) if uncaught && place == Place::Run => {
            ways.push("failure -> the run ends (failed)".to_owned());
        }
        Some(OnError::Ask | OnError::Continue | OnError::Fail) | None => {}
    }
    let routed_no = flow.nodes[node].routed_no();
    if let Some(no) = routed_no {
        let unanswered = step.action.ask().is_some_and(|ask| ask.default.is_none());
        let silence = routes.answers.get(no).filter(|_| unanswered && routes.timeout.is_none());
        ways.extend(silence.map(|to| format!("{SILENCE} -> {}", name_of(flow, *to))));
    }
    if step.question().is_some() && routes.declined.is_none() && routed_no.is_none() {
        let purpose = if step.confirmation.is_some() { Purpose::Gate } else { Purpose::Ask };
        let lead = flow.decline_lead(node, purpose);
        let around = known.declined.as_ref().filter(|_| lead.ends == Some(EndStatus::Cancelled));
        match place {
            Place::Item => {
                ways.push(format!("no -> {}", Lead::left_out()));
                ways.extend(around.map(|around| format!("{SILENCE} -> {around}")));
            }
            Place::Run | Place::Finally | Place::Alone => {
                ways.push(format!("no -> {}", around.unwrap_or(&lead)));
            }
        }
    }
    ways
}

fn name_of(flow: &Flow, target: Target) -> String {
    match target {
        Target::Step(node) => flow.nodes[node].step.name.value.clone(),
        Target::End(end) => flow.endings[end].name.clone().unwrap_or_else(|| "the end".to_owned()),
    }
}

/// Why the program of a step cannot be run here.
fn refused(step: &Step, known: &Known<'_>) -> Option<String> {
    let name = &step.name.value;
    let program = match &step.action {
        Action::Command { program, .. } => known.show(program),
        Action::Shell { .. } => "sh".to_owned(),
        Action::Compute { python: true, .. } => "python3".to_owned(),
        Action::Tool { tool, .. } => {
            let why = (known.setting.refuses_tool)(tool)?;
            return Some(format!("`{name}` cannot call `{}`: {why}", tool.value));
        }
        Action::Ask(_)
        | Action::Compute { .. }
        | Action::Skill { .. }
        | Action::ForEach(_)
        | Action::Return { .. }
        | Action::Note => return None,
    };
    let cwd = step.cwd.as_ref().map(|cwd| known.show(cwd));
    // What only the run gives is not known yet.
    let open = |text: &String| text.contains("{{");
    if open(&program) || cwd.as_ref().is_some_and(open) {
        return None;
    }
    let why = (known.setting.refuses)(&program, cwd.as_deref())?;
    Some(format!("`{name}` cannot run: {why}"))
}

/// What may do harm.
fn risks(step: &Step, known: &Known<'_>) -> Vec<String> {
    let name = &step.name.value;
    let mut found = Vec::new();
    let asks = step.confirmation.is_some()
        || step.action.body().iter().any(|step| step.confirmation.is_some());
    if step.destructive && !asks {
        found.push(format!("`{name}` is destructive and has no question before it"));
    }
    let line = match &step.action {
        Action::Command { program, args } => std::iter::once(program)
            .chain(args)
            .map(|word| known.show(word))
            .collect::<Vec<_>>()
            .join(" "),
        Action::Shell { script } => known.show(script),
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
