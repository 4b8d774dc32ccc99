//! Every text of a step in which the names of a run may stand.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::skill::{Action, Ask, GuardCheck, Step, Template};

use crate::span::Span;
use crate::text::{self, Scope, TextError};

/// How a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Template,
    Condition,
    /// A block of Python.
    Code,
    /// A template too, but braces in it may mean nothing.
    Prose,
}

/// The names that a step gives to what it leaves behind.
pub fn results_of(step: &Step) -> Vec<String> {
    let name = step.output.as_ref().map_or(step.name.as_str(), |output| output.as_str());
    let parsed = step.action.tool().map(|_| format!("{name}_parsed"));
    std::iter::once(name.to_owned()).chain(parsed).collect()
}

/// Looks at every text of a step; `local` are the names of its place alone.
pub(super) fn each_text(
    step: &Step,
    local: &BTreeSet<String>,
    report: &mut impl FnMut(&Template, Kind, &BTreeSet<String>),
) {
    if let Action::ForEach(each) = &step.action {
        each_string(&each.items, &mut |text| {
            report(&Template::new(text.to_owned(), each.span), Kind::Template, local);
        });
        let mut inside = local.clone();
        inside.extend([each.name.clone(), "index".to_owned()]);
        each.label.iter().for_each(|label| report(label, Kind::Template, &inside));
        let body = with_then(&each.body);
        inside.extend(body.iter().copied().flat_map(results_of));
        for step in body {
            each_text(step, &inside, report);
        }
    }
    let look = &mut |template: &Template, kind: Kind| report(template, kind, local);
    let look_inside = |value: &Value, span: Span, look: &mut dyn FnMut(&Template, Kind)| {
        each_string(value, &mut |text| look(&Template::new(text.to_owned(), span), Kind::Template));
    };
    match &step.action {
        Action::Command { program, args } => {
            look(program, Kind::Template);
            args.iter().for_each(|arg| look(arg, Kind::Template));
        }
        Action::Shell { script } => look(script, Kind::Template),
        Action::Ask(ask) => each_in_ask(ask, look),
        Action::Tool { args, span, .. } => look_inside(args, *span, look),
        Action::Skill { skill, inputs, span } => {
            look(skill, Kind::Template);
            inputs.values().for_each(|value| look_inside(value, *span, look));
        }
        Action::Return { text } => look(text, Kind::Template),
        Action::Compute { code, .. } => look(code, Kind::Code),
        Action::Note => {
            if let Some(note) = &step.description {
                look(&Template::new(note.clone(), step.span), Kind::Prose);
            }
        }
        Action::ForEach(_) => {}
    }
    for guard in &step.guards {
        match &guard.check {
            GuardCheck::Condition(condition) => look(condition, Kind::Condition),
            GuardCheck::Command { program, args, cwd } => {
                let texts = [program].into_iter().chain(args).chain(cwd);
                texts.for_each(|text| look(text, Kind::Template));
            }
            GuardCheck::Success => {}
        }
        guard.message.iter().for_each(|message| look(message, Kind::Template));
    }
    if let Some(condition) = &step.condition {
        look(condition, Kind::Condition);
    }
    step.env.values().flatten().for_each(|value| look(value, Kind::Template));
    [&step.cwd, &step.stdin].into_iter().flatten().for_each(|text| look(text, Kind::Template));
    if let Some(ask) = &step.confirmation {
        each_in_ask(ask, look);
    }
}

/// All that a command, a script or a call of a tool says, if nothing in it depends on the run.
pub(crate) fn constant_text(step: &Step) -> Option<String> {
    let kind = match &step.action {
        Action::Command { .. } => "command".to_owned(),
        Action::Shell { .. } => "shell".to_owned(),
        Action::Tool { tool, args, .. } => format!("tool {} {args}", tool.value),
        Action::Ask(_)
        | Action::Skill { .. }
        | Action::Return { .. }
        | Action::Compute { .. }
        | Action::Note
        | Action::ForEach(_) => return None,
    };
    let mut constant = step.then.is_empty();
    let mut texts = vec![kind];
    each_text(step, &BTreeSet::new(), &mut |text, kind, _| {
        constant &=
            kind == Kind::Template && !["{{", "{%", "{#"].iter().any(|sign| text.contains(sign));
        texts.push(text.to_string());
    });
    let names = step.env.keys().cloned();
    constant.then(|| texts.into_iter().chain(names).collect::<Vec<_>>().join("\0"))
}

/// Where the text of a step stands that fails like this.
pub(crate) fn failing_text(step: &Step, error: &TextError, scope: &Scope) -> Option<Span> {
    let mut found = None;
    each_text(step, &BTreeSet::new(), &mut |template, kind, local| {
        // What an item has is known there alone.
        if found.is_some() || !local.is_empty() {
            return;
        }
        let failed = match kind {
            Kind::Template | Kind::Prose => text::render(template, scope).err(),
            Kind::Condition => text::holds(template, scope).err(),
            Kind::Code => None,
        };
        if failed.is_some_and(|failed| failed.message == error.message) {
            found = Some(template.span);
        }
    });
    found
}

/// Steps and those that belong to them, in order.
fn with_then(steps: &[Step]) -> Vec<&Step> {
    steps.iter().flat_map(|step| std::iter::once(step).chain(with_then(&step.then))).collect()
}

/// Looks at every text of a question.
pub(super) fn each_in_ask(ask: &Ask, look: &mut impl FnMut(&Template, Kind)) {
    look(&ask.message, Kind::Template);
    for text in [&ask.details, &ask.title, &ask.default, &ask.typed].into_iter().flatten() {
        look(text, Kind::Template);
    }
    for choice in &ask.options {
        look(&choice.label, Kind::Template);
        choice.description.iter().for_each(|text| look(text, Kind::Template));
    }
}

/// Looks at every text of a value, however deep.
pub fn each_string(value: &Value, look: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => look(text),
        Value::Array(items) => items.iter().for_each(|item| each_string(item, look)),
        Value::Object(map) => map.values().for_each(|item| each_string(item, look)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
