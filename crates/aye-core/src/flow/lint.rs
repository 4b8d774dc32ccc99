//! Everything there is to say about a flow before it runs.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::skill::{Action, Ask, GuardCheck, Span, Step, Template};
use crate::text::{self, BUILT_IN, Expressions, TextError};

use super::graph::Flow;
use super::narrow;
use super::survey::survey;

/// Looks over the graph and every template in it. `source` is the text of the
/// file; `expressions` reads what is more than a template.
pub fn lint(flow: &Flow, source: &str, expressions: Option<&dyn Expressions>) -> Vec<Diagnostic> {
    let concerns = survey(flow).into_iter().map(|concern| {
        Diagnostic::warning(concern.code(), concern.message()).label(concern.span(), "")
    });
    let mut found: Vec<Diagnostic> = concerns.collect();
    let results: Vec<String> = flow.nodes.iter().flat_map(|node| results_of(&node.step)).collect();
    let mut known: BTreeSet<&str> = BUILT_IN.into_iter().collect();
    known.extend(results.iter().map(String::as_str));
    if !flow.skill.defaults.is_null() {
        known.insert("defaults");
    }
    let inputs: BTreeSet<&str> =
        flow.skill.inputs.iter().map(|input| input.name.as_str()).collect();
    let looker = Looker { known: &known, inputs: &inputs, source, expressions };
    let mut look = |template: &Template, kind: Kind, local: &BTreeSet<String>| {
        let news = looker.look_at(template, kind, local);
        found.extend(news.filter(|news| !found.contains(news)));
    };
    for node in &flow.nodes {
        each_template(&node.step, &BTreeSet::new(), &mut look);
    }
    let of_failure: BTreeSet<String> = ["error", "failed"].map(str::to_owned).into();
    for rule in &flow.skill.heal {
        each_template(&rule.repair, &of_failure, &mut look);
    }
    for output in &flow.skill.outputs {
        each_string(&output.value, &mut |text| {
            let template = Template::new(text.to_owned(), output.span);
            look(&template, Kind::Template, &BTreeSet::new());
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

/// The names that a step gives to what it leaves behind.
fn results_of(step: &Step) -> Vec<String> {
    let name = step.output.as_ref().map_or(step.name.as_str(), |output| output.as_str());
    match step.action {
        Action::Tool { .. } => vec![name.to_owned(), format!("{name}_parsed")],
        _ => vec![name.to_owned()],
    }
}

/// Looks at every template of a step; `local` are the names of its place alone.
fn each_template(
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
        inside.extend(each.body.iter().flat_map(results_of));
        for step in &each.body {
            each_template(step, &inside, report);
        }
    }
    let look = &mut |template: &Template, kind: Kind| report(template, kind, local);
    let look_inside = |value: &serde_json::Value,
                       span: Span,
                       look: &mut dyn FnMut(&Template, Kind)| {
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
        Action::Compute { .. } | Action::ForEach(_) | Action::Note => {}
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

/// What a template is held against.
struct Looker<'a> {
    known: &'a BTreeSet<&'a str>,
    inputs: &'a BTreeSet<&'a str>,
    source: &'a str,
    expressions: Option<&'a dyn Expressions>,
}

impl Looker<'_> {
    fn look_at(
        &self,
        template: &Template,
        kind: Kind,
        local: &BTreeSet<String>,
    ) -> Option<Diagnostic> {
        let is_local = |name: &String| local.contains(name.split('.').next().unwrap_or(name));
        let used = match kind {
            Kind::Template => text::names_in_with(template, self.expressions),
            Kind::Condition => text::names_in_condition_with(template, self.expressions),
        };
        match used {
            Err(error) => Some(self.syntax(&error, template)),
            Ok(used) => used
                .iter()
                .filter(|name| !is_local(name))
                .find_map(|name| self.unknown(name, template.span)),
        }
    }

    fn syntax(&self, error: &TextError, template: &Template) -> Diagnostic {
        let at = error.range.as_ref().map_or(0, |range| range.start);
        let span = narrow::line_in(self.source, template.span, template, at);
        let usual = "write `{{ name }}` for a value, and `{{ '{{' }}` for two braces";
        Diagnostic::error("bad-template", format!("this template cannot be read: {error}"))
            .label(span, "here")
            .hint(error.hint.as_deref().unwrap_or(usual))
    }

    /// A name that nothing can ever define.
    fn unknown(&self, dotted: &str, span: Span) -> Option<Diagnostic> {
        let Self { known, inputs, .. } = self;
        let mut parts = dotted.split('.');
        let first = parts.next()?;
        let (missing, candidates): (String, Vec<String>) = match (first, parts.next()) {
            ("inputs", Some(input)) if !inputs.contains(input) => (
                format!("inputs.{input}"),
                inputs.iter().map(|input| format!("inputs.{input}")).collect(),
            ),
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
                .label(narrow::name_in(self.source, span, &missing), label),
        )
    }
}
