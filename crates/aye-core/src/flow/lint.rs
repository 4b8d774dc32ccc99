//! Warnings about a flow before it runs.
//!
//! One file for each kind of warning. Touches nothing; `aye check` shows the result.

mod arguments;
mod braces;
mod concurrency;
mod finally;
mod hidden;
mod names;
mod timeouts;

pub use arguments::SECRET_IN_ARGUMENTS;
pub(super) use names::asks_first;

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::Diagnostic;
use crate::skill::{Action, Body, InputSpec, Step, Template};
use crate::span::Span;
use crate::text::{self, BUILT_IN, Expressions, NumberComparison, TextError, UnknownWord};

use super::analyze::{Concern, analyze};
use super::graph::Flow;
use super::locate;
use super::texts::{Kind, each_string, each_text, results_of};

/// Looks over the graph and every template in it. `source` is the text of the
/// file; `expressions` reads what is more than a template.
pub fn lint(flow: &Flow, source: &str, expressions: Option<&dyn Expressions>) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = analyze(flow).iter().map(Concern::diagnostic).collect();
    found.extend(flow.nodes.iter().flat_map(|node| dollars(&node.step, source)));
    found.extend(finally::questions_without_limit(flow));
    found.extend(timeouts::never_taken(flow));
    found.extend(arguments::secrets_in_arguments(flow, source, expressions));
    let known = KnownNames::of(flow);
    let linter = TemplateLinter {
        known: &known,
        inputs: &known.inputs,
        hidden: &known.hidden,
        lenient: flow.skill.lenient == Some(true),
        at: usize::MAX,
        source,
        expressions,
    };
    for input in &flow.skill.inputs {
        found.extend(linter.default_of(input));
    }
    found.extend(linter.concurrency(flow));
    let mut lint = |at: usize, template: &Template, kind: Kind, local: &BTreeSet<String>| {
        for news in (TemplateLinter { at, ..linter }).lint(template, kind, local) {
            if !found.contains(&news) {
                found.push(news);
            }
        }
    };
    for (at, node) in flow.nodes.iter().enumerate() {
        each_text(&node.step, &BTreeSet::new(), &mut |template, kind, local| {
            lint(at, template, kind, local);
        });
    }
    let mut look = |template: &Template, kind: Kind, local: &BTreeSet<String>| {
        lint(usize::MAX, template, kind, local);
    };
    let of_failure: BTreeSet<String> = ["error", "failed"].map(str::to_owned).into();
    for rule in &flow.skill.heal {
        each_text(&rule.repair, &of_failure, &mut look);
    }
    for output in &flow.skill.outputs {
        each_string(&output.value, &mut |text| {
            let template = Template::new(text.to_owned(), output.span);
            look(&template, Kind::Template, &BTreeSet::new());
        });
    }
    found
}

/// The code of a name that nothing can ever define: what uses it fails, unless
/// such names are empty.
pub const UNKNOWN_NAME: &str = "unknown-name";

/// The names that templates of a flow can use.
struct KnownNames<'a> {
    /// All but inputs.
    names: BTreeSet<&'a str>,
    inputs: BTreeSet<&'a str>,
    steps: BTreeSet<&'a str>,
    /// Steps that give their result another name than their own.
    renamed: BTreeMap<&'a str, &'a str>,
    /// Steps whose result a built-in name hides.
    hidden: BTreeSet<&'a str>,
    /// Results that are what a program wrote, and the step each is of.
    texts: BTreeMap<&'a str, &'a str>,
    /// Those of them that are always empty: the step discards what it writes.
    discarded: BTreeMap<&'a str, &'a str>,
    /// The first step to give a result, and where it stands.
    order: BTreeMap<String, (usize, Span)>,
    /// The results of steps, those of the tools included.
    results: Vec<String>,
    /// The steps that are certain to run if all goes well, and whose failure
    /// is one of the run.
    certain: BTreeSet<usize>,
    /// The first node of `finally`.
    finally: usize,
}

impl<'a> KnownNames<'a> {
    fn of(flow: &'a Flow) -> Self {
        let mut names: BTreeSet<&str> = BUILT_IN.into_iter().chain(["memory"]).collect();
        if !flow.skill.defaults.is_null() {
            names.insert("defaults");
        }
        let steps = all_steps(flow);
        let with_output = steps.iter().filter_map(|step| Some((step, step.output.as_ref()?)));
        let hidden = steps.iter().filter(|step| step.output.is_none());
        let results = flow.nodes.iter().flat_map(|node| results_of(&node.step)).collect();
        Self {
            names,
            inputs: flow.skill.inputs.iter().map(|input| input.name.as_str()).collect(),
            steps: steps.iter().map(|step| step.name.as_str()).collect(),
            renamed: with_output
                .filter(|(step, output)| step.name.value != output.value)
                .map(|(step, output)| (step.name.as_str(), output.as_str()))
                .collect(),
            hidden: hidden
                .map(|step| step.name.as_str())
                .filter(|name| BUILT_IN.contains(name))
                .collect(),
            texts: texts_of(flow, |_| true),
            discarded: texts_of(flow, |step| !step.kept.stdout),
            order: order_of(flow),
            results,
            certain: flow.certain_to_run(),
            finally: flow.body().len(),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.names.contains(name) || self.results.iter().any(|result| result == name)
    }
}

/// `${{ … }}`, as GitHub writes a value: here the `$` would stay, before the value.
fn dollars(step: &Step, source: &str) -> Vec<Diagnostic> {
    let texts: Vec<&Template> = match &step.action {
        Action::Command { program, args } => [program].into_iter().chain(args).collect(),
        Action::Shell { script } => vec![script],
        Action::ForEach(each) => {
            return each.body.iter().flat_map(|step| dollars(step, source)).collect();
        }
        Action::Ask(_)
        | Action::Tool { .. }
        | Action::Compute { .. }
        | Action::Skill { .. }
        | Action::Return { .. }
        | Action::Note => Vec::new(),
    };
    let written =
        texts.into_iter().flat_map(|text| text.match_indices("${{").map(move |(at, _)| (text, at)));
    let said = |(text, at): (&Template, usize)| {
        Diagnostic::warning("dollar-template", "the `$` of `${{ … }}` stays before the value")
            .label(locate::line_in(source, text.span, text, at), "")
            .hint("write `{{ … }}` alone")
            .fix(locate::text_at(source, text, at, "${{"), "{{")
    };
    written.map(said).collect()
}

/// All steps, those inside of others included.
fn all_steps(flow: &Flow) -> Vec<&Step> {
    fn collect<'a>(step: &'a Step, steps: &mut Vec<&'a Step>) {
        steps.push(step);
        step.then.iter().for_each(|step| collect(step, steps));
        step.action.body().iter().for_each(|step| collect(step, steps));
    }
    let mut steps = Vec::new();
    flow.nodes.iter().for_each(|node| collect(&node.step, &mut steps));
    steps
}

/// The results that are what a program wrote, and the steps that give them, as far as
/// they are wanted.
fn texts_of(flow: &Flow, wanted: impl Fn(&Step) -> bool) -> BTreeMap<&str, &str> {
    let texts = flow
        .nodes
        .iter()
        .map(|node| &node.step)
        .filter(|step| matches!(step.action, Action::Command { .. } | Action::Shell { .. }))
        .filter(|step| wanted(step));
    texts
        .map(|step| (step.output.as_ref().unwrap_or(&step.name).as_str(), step.name.as_str()))
        .collect()
}

/// Which step is the first to give a result, where they run one after the
/// other and a name without a value is an error.
fn order_of(flow: &Flow) -> BTreeMap<String, (usize, Span)> {
    let mut order = BTreeMap::new();
    if !matches!(flow.skill.body, Body::Steps(_)) || flow.skill.lenient == Some(true) {
        return order;
    }
    for (at, node) in flow.nodes.iter().enumerate() {
        for result in results_of(&node.step) {
            order.entry(result).or_insert((at, node.step.name.span));
        }
    }
    order
}

/// What a template is held against.
#[derive(Clone, Copy)]
struct TemplateLinter<'a> {
    known: &'a KnownNames<'a>,
    inputs: &'a BTreeSet<&'a str>,
    hidden: &'a BTreeSet<&'a str>,
    /// A name without a value is empty.
    lenient: bool,
    /// Which step is looked at.
    at: usize,
    source: &'a str,
    expressions: Option<&'a dyn Expressions>,
}

/// The inputs that are read as `inputs['commit']`, as `inputs.commit`.
fn inputs_by_key(template: &str) -> Vec<String> {
    // A template that asks whether it is there expects that it may not be.
    if template.contains(" in inputs") {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (open, close) in [("inputs['", "']"), ("inputs[\"", "\"]")] {
        for rest in template.split(open).skip(1) {
            let key = rest.split_once(close).map(|(key, _)| key);
            found.extend(
                key.filter(|key| !key.contains(['\'', '"', ' ']))
                    .map(|key| format!("inputs.{key}")),
            );
        }
    }
    found
}

impl TemplateLinter<'_> {
    fn lint(&self, template: &Template, kind: Kind, local: &BTreeSet<String>) -> Vec<Diagnostic> {
        let is_local = |name: &String| local.contains(name.split('.').next().unwrap_or(name));
        let used = match kind {
            Kind::Template => text::names_in_with(template, self.expressions),
            Kind::Condition => text::names_in_condition_with(template, self.expressions),
            Kind::Code | Kind::Prose => return Vec::new(),
        };
        let used = match used {
            Err(error) => {
                let said = self.syntax(&error, template);
                let fixed = (kind == Kind::Condition).then(|| self.without_braces(template));
                return vec![match fixed.flatten() {
                    Some((span, text)) => said.fix(span, text),
                    None => said,
                }];
            }
            Ok(mut used) => {
                used.extend(inputs_by_key(template));
                used
            }
        };
        if let Some(word) = self.word(template, kind) {
            return vec![word];
        }
        let names = used.iter().filter(|name| !is_local(name)).filter_map(|name| {
            self.hidden_result(name, template)
                .or_else(|| self.ahead_of_the_end(name, template))
                .or_else(|| self.unknown(name, template, local))
                .or_else(|| self.no_such_key(name, template))
                .or_else(|| self.discarded(name, template))
                .or_else(|| self.too_early(name, template, local))
        });
        // `run.stat` and `run.stat.x` lack the same name.
        let mut said: Vec<Diagnostic> = Vec::new();
        for name in names {
            if said.iter().all(|before| before.message != name.message) {
                said.push(name);
            }
        }
        let results: BTreeSet<&str> =
            self.known.results.iter().chain(local).map(String::as_str).collect();
        let braces = match kind {
            Kind::Template => braces::braces(template, self.inputs, &results, self.source),
            _ => Vec::new(),
        };
        let compared = self.text_as_number(template, kind, local);
        said.into_iter().chain(compared).chain(braces).collect()
    }

    /// A filter or a test that there is not.
    fn word(&self, template: &Template, kind: Kind) -> Option<Diagnostic> {
        let found = match kind {
            Kind::Template => text::unknown_word_in(template, self.expressions),
            Kind::Condition => text::unknown_word_in_condition(template, self.expressions),
            Kind::Code | Kind::Prose => return None,
        };
        let UnknownWord { kind, name } = found.ok().flatten()?;
        let span = locate::name_in(self.source, template.span, &name);
        let message = format!("there is no {kind} `{name}`");
        Some(Diagnostic::error("unknown-word", message).label(span, "").hint(format!(
            "the {kind}s of minijinja are available: https://docs.rs/minijinja/latest/minijinja/{kind}s"
        )))
    }

    /// What a program wrote is text, and text has no order with a number.
    fn text_as_number(
        &self,
        template: &Template,
        kind: Kind,
        local: &BTreeSet<String>,
    ) -> Option<Diagnostic> {
        let compared = text::number_comparisons(template, kind == Kind::Condition);
        compared.into_iter().find_map(|NumberComparison { name, source, cast }| {
            let step = match name.strip_prefix("steps.").and_then(|rest| rest.split_once('.')) {
                Some((step, "stdout" | "stderr")) => step,
                _ if local.contains(&name) => return None,
                _ => *self.known.texts.get(name.as_str())?,
            };
            let span = locate::text_in(self.source, template.span, &source);
            let message = format!("`{source}` compares text with a number");
            let label = format!("`{name}` is the text that step `{step}` printed");
            let said = Diagnostic::warning("text-as-number", message)
                .label(span.unwrap_or(template.span), label)
                .hint(format!("write `{cast}`"));
            Some(said.fix(span, cast))
        })
    }

    /// A result that only a later step gives.
    fn too_early(
        &self,
        dotted: &str,
        template: &Template,
        local: &BTreeSet<String>,
    ) -> Option<Diagnostic> {
        let first = dotted.split('.').next()?;
        let (_, span) = *self.known.order.get(first).filter(|(at, _)| *at > self.at)?;
        // Anyone who asks whether it is there knows that it may not be.
        if BUILT_IN.contains(&first) || template.contains("default") || template.contains("defined")
        {
            return None;
        }
        let message = format!("`{first}` has no value yet");
        // A step that is certain to run, and to need it, is certain to fail.
        let decides = ["{%", " if ", " and ", " or "].iter().any(|word| template.contains(word));
        let certain = self.known.certain.contains(&self.at) && local.is_empty() && !decides;
        let said = match certain {
            true => Diagnostic::error("used-too-early", message),
            false => Diagnostic::warning("used-too-early", message),
        };
        Some(
            said.label(locate::name_in(self.source, template.span, first), "used here")
                .label(span, "this step gives it, and it comes later"),
        )
    }

    /// The default of an input is there before anything else is.
    fn default_of(&self, input: &InputSpec) -> Option<Diagnostic> {
        let mut found = None;
        each_string(input.default.as_ref()?, &mut |text| {
            let used = text::names_in_with(text, self.expressions).unwrap_or_default();
            let early = used.into_iter().find(|name| {
                let first = name.split('.').next().unwrap_or(name);
                first == "inputs" || first == "steps" || self.known.order.contains_key(first)
            });
            if let Some(name) = early.filter(|_| !text.contains("default")) {
                let message = format!("the default of input `{}` uses `{name}`", input.name.value);
                found = Some(
                    Diagnostic::error("bad-default", message)
                        .label(input.name.span, "no other input has a value yet")
                        .hint("write it where the input is used: `inputs.b or inputs.a`"),
                );
            }
        });
        found
    }

    /// A condition of which parts stand in braces, without them.
    fn without_braces(&self, condition: &Template) -> Option<(Span, String)> {
        let span = locate::text_in(self.source, condition.span, condition)?;
        let (mut text, mut rest) = (String::new(), condition.as_str());
        while let Some((before, after)) = rest.split_once("{{") {
            let (inside, after) = after.split_once("}}")?;
            text.push_str(before);
            text.push_str(inside.trim());
            rest = after;
        }
        text.push_str(rest);
        let reads = text::names_in_condition_with(&text, self.expressions).is_ok();
        (reads && text != condition.value).then_some((span, text))
    }

    fn syntax(&self, error: &TextError, template: &Template) -> Diagnostic {
        let at = error.range.as_ref().map_or(0, |range| range.start);
        let span = locate::line_in(self.source, template.span, template, at);
        let usual = "write `{{ name }}` for a value, and `{{ '{{' }}` for two braces";
        Diagnostic::error("bad-template", format!("this template cannot be read: {error}"))
            .label(span, "here")
            .hint(error.hint.as_deref().unwrap_or(usual))
    }
}
