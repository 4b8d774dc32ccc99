//! Everything there is to say about a flow before it runs.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::skill::{Action, Body, InputSpec, Step, Template};
use crate::span::Span;
use crate::text::{self, BUILT_IN, Expressions, TextError, UnknownWord, keys};

use super::analyze::analyze;
use super::graph::Flow;
use super::locate;
use super::texts::{Kind, each_string, each_text, results_of};

/// Looks over the graph and every template in it. `source` is the text of the
/// file; `expressions` reads what is more than a template.
pub fn lint(flow: &Flow, source: &str, expressions: Option<&dyn Expressions>) -> Vec<Diagnostic> {
    let concerns = analyze(flow).into_iter().map(|concern| {
        Diagnostic::warning(concern.code(), concern.message()).label(concern.span(), "")
    });
    let mut found: Vec<Diagnostic> = concerns.collect();
    found.extend(flow.nodes.iter().flat_map(|node| dollars(&node.step, source)));
    let results: Vec<String> = flow.nodes.iter().flat_map(|node| results_of(&node.step)).collect();
    let mut known: BTreeSet<&str> = BUILT_IN.into_iter().collect();
    known.extend(results.iter().map(String::as_str));
    if !flow.skill.defaults.is_null() {
        known.insert("defaults");
    }
    let inputs: BTreeSet<&str> =
        flow.skill.inputs.iter().map(|input| input.name.as_str()).collect();
    let steps = steps_of(flow);
    let order = order_of(flow);
    let texts = texts_of(flow);
    let looker = Looker {
        known: &known,
        inputs: &inputs,
        steps: &steps,
        texts: &texts,
        order: &order,
        at: usize::MAX,
        source,
        expressions,
    };
    for input in &flow.skill.inputs {
        found.extend(looker.default_of(input));
    }
    let mut look_at = |at: usize, template: &Template, kind: Kind, local: &BTreeSet<String>| {
        let news = Looker { at, ..looker }.look_at(template, kind, local);
        found.extend(news.filter(|news| !found.contains(news)));
    };
    for (at, node) in flow.nodes.iter().enumerate() {
        each_text(&node.step, &BTreeSet::new(), &mut |template, kind, local| {
            look_at(at, template, kind, local);
        });
    }
    let mut look = |template: &Template, kind: Kind, local: &BTreeSet<String>| {
        look_at(usize::MAX, template, kind, local);
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

/// `${{ … }}`, as GitHub writes a value: here the `$` would stay, before the value.
fn dollars(step: &Step, source: &str) -> Vec<Diagnostic> {
    let texts: Vec<&Template> = match &step.action {
        Action::Command { program, args } => [program].into_iter().chain(args).collect(),
        Action::Shell { script } => vec![script],
        Action::ForEach(each) => {
            return each.body.iter().flat_map(|step| dollars(step, source)).collect();
        }
        _ => Vec::new(),
    };
    let written = texts.into_iter().filter_map(|text| Some((text, text.find("${{")?)));
    let said = |(text, at): (&Template, usize)| {
        Diagnostic::warning("dollar-template", "the `$` of `${{ … }}` stays before the value")
            .label(locate::line_in(source, text.span, text, at), "")
            .hint("write `{{ … }}` alone")
    };
    written.map(said).collect()
}

/// The names of all steps, those inside of others included.
fn steps_of(flow: &Flow) -> BTreeSet<&str> {
    fn collect<'a>(step: &'a Step, names: &mut BTreeSet<&'a str>) {
        names.insert(step.name.as_str());
        step.then.iter().for_each(|step| collect(step, names));
        if let Action::ForEach(each) = &step.action {
            each.body.iter().for_each(|step| collect(step, names));
        }
    }
    let mut names = BTreeSet::new();
    flow.nodes.iter().for_each(|node| collect(&node.step, &mut names));
    names
}

/// The results that are what a program wrote, and the steps that give them.
fn texts_of(flow: &Flow) -> BTreeMap<&str, &str> {
    let texts = flow
        .nodes
        .iter()
        .map(|node| &node.step)
        .filter(|step| matches!(step.action, Action::Command { .. } | Action::Shell { .. }));
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
struct Looker<'a> {
    known: &'a BTreeSet<&'a str>,
    inputs: &'a BTreeSet<&'a str>,
    steps: &'a BTreeSet<&'a str>,
    /// Results that are what a program wrote, and the step each is of.
    texts: &'a BTreeMap<&'a str, &'a str>,
    /// The first step to give a result, and where it stands.
    order: &'a BTreeMap<String, (usize, Span)>,
    /// Which step is looked at.
    at: usize,
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
            Kind::Code | Kind::Prose => return None,
        };
        match used {
            Err(error) => Some(self.syntax(&error, template)),
            Ok(used) => self.word(template, kind).or_else(|| {
                used.iter().filter(|name| !is_local(name)).find_map(|name| {
                    self.unknown(name, template.span)
                        .or_else(|| self.no_such_key(name, template))
                        .or_else(|| self.too_early(name, template))
                })
            }),
        }
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
            "those of minijinja are there: https://docs.rs/minijinja/latest/minijinja/{kind}s"
        )))
    }

    /// A result that only a later step gives.
    fn too_early(&self, dotted: &str, template: &Template) -> Option<Diagnostic> {
        let first = dotted.split('.').next()?;
        let (_, span) = *self.order.get(first).filter(|(at, _)| *at > self.at)?;
        // Whoever asks whether it is there knows that it may not be.
        if BUILT_IN.contains(&first) || template.contains("default") || template.contains("defined")
        {
            return None;
        }
        Some(
            Diagnostic::warning("used-too-early", format!("`{first}` has no value yet"))
                .label(locate::name_in(self.source, template.span, first), "used here")
                .label(span, "this step gives it, and it comes later"),
        )
    }

    /// `steps.a.output` and `a.stdout`: other programs keep results there.
    fn no_such_key(&self, dotted: &str, template: &Template) -> Option<Diagnostic> {
        let parts: Vec<&str> = dotted.split('.').collect();
        let hint = match parts.as_slice() {
            ["steps", step, key, ..] => keys::of_step(step, key),
            [result, key, ..] => keys::of_text(result, self.texts.get(result)?, key),
            _ => None,
        }?;
        if template.contains("default") || template.contains("defined") {
            return None;
        }
        Some(
            Diagnostic::warning("unknown-name", format!("`{dotted}` is never defined"))
                .label(locate::name_in(self.source, template.span, dotted), "")
                .hint(hint),
        )
    }

    /// The default of an input is there before anything else is.
    fn default_of(&self, input: &InputSpec) -> Option<Diagnostic> {
        let mut found = None;
        each_string(input.default.as_ref()?, &mut |text| {
            let used = text::names_in_with(text, self.expressions).unwrap_or_default();
            let early = used.into_iter().find(|name| {
                let first = name.split('.').next().unwrap_or(name);
                first == "inputs" || first == "steps" || self.order.contains_key(first)
            });
            if let Some(name) = early.filter(|_| !text.contains("default")) {
                let message = format!("the default of input `{}` uses `{name}`", input.name.value);
                found = Some(
                    Diagnostic::error("bad-default", message)
                        .label(input.name.span, "nothing else has a value when it is looked at")
                        .hint("write it where the input is used: `inputs.b or inputs.a`"),
                );
            }
        });
        found
    }

    fn syntax(&self, error: &TextError, template: &Template) -> Diagnostic {
        let at = error.range.as_ref().map_or(0, |range| range.start);
        let span = locate::line_in(self.source, template.span, template, at);
        let usual = "write `{{ name }}` for a value, and `{{ '{{' }}` for two braces";
        Diagnostic::error("bad-template", format!("this template cannot be read: {error}"))
            .label(span, "here")
            .hint(error.hint.as_deref().unwrap_or(usual))
    }

    /// A name that nothing can ever define.
    fn unknown(&self, dotted: &str, span: Span) -> Option<Diagnostic> {
        let mut parts = dotted.split('.');
        let (first, second) = (parts.next()?, parts.next());
        let inside = |key: &str, keys: &BTreeSet<&str>| {
            let near = did_you_mean(key, keys.iter().copied());
            (format!("{first}.{key}"), near.map(|near| format!("{first}.{near}")))
        };
        let (missing, near) = match (first, second) {
            ("inputs", Some(key)) if !self.inputs.contains(key) => inside(key, self.inputs),
            ("steps", Some(key)) if !self.steps.contains(key) => inside(key, self.steps),
            (name, _) if self.known.contains(name) => return None,
            // `commit` for `inputs.commit` is the slip people make most.
            (name, _) if self.inputs.contains(name) => {
                (name.to_owned(), Some(format!("inputs.{name}")))
            }
            (name, _) => {
                let inputs = self.inputs.iter().map(|input| format!("inputs.{input}"));
                let all: Vec<String> =
                    self.known.iter().map(|&name| name.to_owned()).chain(inputs).collect();
                let near = did_you_mean(name, all.iter().map(String::as_str));
                (name.to_owned(), near.map(str::to_owned))
            }
        };
        let label = near.map_or_else(String::new, |near| format!("did you mean `{near}`?"));
        Some(
            Diagnostic::warning("unknown-name", format!("`{missing}` is not defined anywhere"))
                .label(locate::name_in(self.source, span, &missing), label),
        )
    }
}
