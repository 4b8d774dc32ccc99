//! Everything there is to say about a flow before it runs.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::skill::{Action, Ask, Span, Step, Template};
use crate::text::{self, BUILT_IN, TextError};

use super::graph::Flow;
use super::survey::survey;

/// Looks over the graph and every template in it.
pub fn lint(flow: &Flow) -> Vec<Diagnostic> {
    let concerns = survey(flow).into_iter().map(|concern| {
        Diagnostic::warning(concern.code(), concern.message()).label(concern.span(), "")
    });
    let mut found: Vec<Diagnostic> = concerns.collect();
    let known: BTreeSet<&str> = BUILT_IN
        .into_iter()
        .chain(flow.nodes.iter().map(|node| {
            let step = &node.step;
            step.output.as_ref().map_or(step.name.as_str(), |output| output.as_str())
        }))
        .collect();
    let inputs: BTreeSet<&str> =
        flow.skill.inputs.iter().map(|input| input.name.as_str()).collect();
    let mut look = |template: &Template, kind: Kind| {
        found.extend(look_at(template, kind, &known, &inputs));
    };
    for node in &flow.nodes {
        each_template(&node.step, &mut look);
    }
    for output in &flow.skill.outputs {
        each_string(&output.value, &mut |text| {
            look(&Template::new(text.to_owned(), output.name.span), Kind::Template);
        });
    }
    found
}

/// How a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Template,
    Condition,
}

fn each_template(step: &Step, look: &mut impl FnMut(&Template, Kind)) {
    match &step.action {
        Action::Command { program, args } => {
            look(program, Kind::Template);
            args.iter().for_each(|arg| look(arg, Kind::Template));
        }
        Action::Shell { script } => look(script, Kind::Template),
        Action::Ask(ask) => each_in_ask(ask, look),
        Action::Note => {}
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

fn each_in_ask(ask: &Ask, look: &mut impl FnMut(&Template, Kind)) {
    look(&ask.message, Kind::Template);
    for text in [&ask.title, &ask.default, &ask.typed].into_iter().flatten() {
        look(text, Kind::Template);
    }
    for choice in &ask.options {
        look(&choice.label, Kind::Template);
        choice.description.iter().for_each(|text| look(text, Kind::Template));
    }
}

fn each_string(value: &serde_json::Value, look: &mut impl FnMut(&str)) {
    match value {
        serde_json::Value::String(text) => look(text),
        serde_json::Value::Array(items) => items.iter().for_each(|item| each_string(item, look)),
        serde_json::Value::Object(map) => map.values().for_each(|item| each_string(item, look)),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}

fn look_at(
    template: &Template,
    kind: Kind,
    known: &BTreeSet<&str>,
    inputs: &BTreeSet<&str>,
) -> Option<Diagnostic> {
    let used = match kind {
        Kind::Template => text::names_in(template),
        Kind::Condition => text::names_in_condition(template),
    };
    match used {
        Err(error) => Some(syntax(&error, template.span)),
        Ok(used) => used.iter().find_map(|name| unknown(name, template.span, known, inputs)),
    }
}

fn syntax(error: &TextError, span: Span) -> Diagnostic {
    Diagnostic::error("bad-template", format!("this template cannot be read: {error}"))
        .label(span, "here")
        .hint("write `{{ name }}` for a value, and `{{ '{{' }}` for two braces")
}

/// A name that nothing can ever define.
fn unknown(
    dotted: &str,
    span: Span,
    known: &BTreeSet<&str>,
    inputs: &BTreeSet<&str>,
) -> Option<Diagnostic> {
    let mut parts = dotted.split('.');
    let first = parts.next()?;
    let (missing, candidates): (String, Vec<String>) = match (first, parts.next()) {
        ("inputs", Some(input)) if !inputs.contains(input) => {
            (dotted.to_owned(), inputs.iter().map(|input| format!("inputs.{input}")).collect())
        }
        (name, _) if known.contains(name) => return None,
        (name, _) => {
            let inputs = inputs.iter().map(|input| format!("inputs.{input}"));
            (name.to_owned(), known.iter().map(|&name| name.to_owned()).chain(inputs).collect())
        }
    };
    // `commit` for `inputs.commit` is the slip people make most.
    let input = format!("inputs.{missing}");
    let near = if candidates.contains(&input) {
        Some(input.as_str())
    } else {
        did_you_mean(&missing, candidates.iter().map(String::as_str))
    };
    let label = near.map_or_else(String::new, |near| format!("did you mean `{near}`?"));
    Some(
        Diagnostic::warning("unknown-name", format!("`{missing}` is not defined anywhere"))
            .label(span, label),
    )
}
