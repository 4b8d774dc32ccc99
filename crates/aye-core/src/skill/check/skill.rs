//! What stands at the top of a skill.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::Value;

use super::names::nearest_name;
use super::{Checker, template};
use crate::diagnostic::{Diagnostic, quote};
use crate::skill::document::{OutputDoc, SkillDoc, UndefinedWord};
use crate::skill::duration::Period;
use crate::skill::{Body, OutputSpec, Skill, Step, Template};
use crate::span::{Span, Spanned};
use crate::yaml::NodeId;
use crate::yaml::decode::{Field, Raw, Text};

/// How long a clean-up path may take unless the skill says.
const CLEANUP: Duration = Duration::from_secs(60);
/// How many steps a run may take unless the skill says.
const STEP_LIMIT: u32 = 1000;

impl Checker<'_> {
    pub(super) fn check_skill(
        &mut self,
        doc: SkillDoc,
        key: Option<Spanned<String>>,
        id: NodeId,
        place: &str,
        stem: &str,
    ) -> Option<Skill> {
        let shown_name = doc.name.get().map(|name| name.value.clone());
        let name = match key {
            // The key is the name; what `name` says is for people.
            Some(key) => Some(key),
            None if doc.name.is_absent() => {
                let hint = nearest_name(stem, true).unwrap_or_else(|| "my_skill".to_owned());
                self.missing(id, "name", place, format!("add `name: {hint}`"));
                None
            }
            None => doc.name.take(),
        };
        if let Some(name) = &name {
            self.name(name, "a skill");
        }
        let description = doc.description.take().map(|text| text.value).or(shown_name);
        let version = doc.version.take().map(|text| text.value.0);
        let tags = texts(doc.tags).into_iter().map(|tag| tag.value).collect();
        let inputs = self.inputs(doc.inputs);
        self.input_list = inputs.iter().map(|input| input.name.value.clone()).collect();
        let environment = doc.environment.take().map(template);
        let environment = environment.and_then(|written| self.input_name(&written));
        let body = self.body(doc.steps, doc.states, doc.initial, id, place);
        let finally = self.finally(doc.finally, body.as_ref());
        let outputs = self.outputs(doc.outputs, body.as_ref(), id, place);
        let concurrency = self.concurrency(doc.concurrency);
        let heal = self.heal(doc.heal);
        let timeout = self.limit(&doc.timeout).filter(|limit| !limit.is_zero());
        let cleanup = self.limit(&doc.cleanup).unwrap_or(CLEANUP);
        let step_limit = self.step_limit(&doc.step_limit);
        Some(Skill {
            name: name?,
            span: self.span(id),
            lines: self.lines.clone(),
            description,
            version,
            tags,
            inputs,
            environment,
            body: body?,
            finally,
            concurrency,
            outputs,
            timeout,
            cleanup,
            step_limit,
            lenient: doc.undefined.get().map(|word| word.value == UndefinedWord::Lenient),
            heal,
            defaults: doc.defaults.take().map(|map| Value::Object(map.value)).unwrap_or_default(),
        })
    }

    fn body(
        &mut self,
        steps: Field<Vec<Raw<crate::skill::document::StepItem>>>,
        states: Field<crate::yaml::decode::Mapping<Raw<crate::skill::document::StateItem>>>,
        initial: Field<String>,
        id: NodeId,
        place: &str,
    ) -> Option<Body> {
        match (steps.key(), states.key()) {
            (None, None) => {
                if self.is_misspelt(id, "steps") || self.is_misspelt(id, "states") {
                    return None;
                }
                let Span { start, .. } = self.span(id);
                let at = Span { start, end: start };
                self.report.push(
                    Diagnostic::error(
                        "no-body",
                        format!("{place} has neither `steps` nor `states`"),
                    )
                    .label(at, "")
                    .hint("write `steps:` for steps in order, or `states:` with transitions"),
                );
                None
            }
            (Some(first), Some(second)) => {
                self.report.push(
                    Diagnostic::error(
                        "two-bodies",
                        format!("{place} has both `steps` and `states`"),
                    )
                    .label(second, "keep one of them")
                    .label(first, "and the other"),
                );
                None
            }
            (Some(_), None) => {
                if let Some(span) = initial.key() {
                    let said = Diagnostic::error("stray-key", "`initial` without `states`")
                        .label(span, "")
                        .hint("steps begin with the first one; remove `initial`");
                    let value = initial.get().map(|initial| initial.span);
                    let removed = value.and_then(|value| self.without(span, value));
                    self.report.push(said.fix_all(removed));
                }
                steps.take().map(|steps| Body::Steps(self.steps(steps)))
            }
            (None, Some(_)) => {
                let states = states.take()?;
                self.states(states, initial, id)
            }
        }
    }

    fn outputs(
        &mut self,
        outputs: Field<Vec<Raw<OutputDoc>>>,
        body: Option<&Body>,
        skill: NodeId,
        place: &str,
    ) -> Vec<OutputSpec> {
        let results = body.map(results_of);
        let mut specs = Vec::new();
        for raw in outputs.take().map(|list| list.value).unwrap_or_default() {
            let id = raw.id;
            if self.is_step_under_outputs(id, skill) {
                continue;
            }
            let Some(doc) = self.decode_raw(raw, &format!("an output of {place}")) else {
                continue;
            };
            if doc.name.is_absent() {
                self.missing(id, "name", "an output", "add `name: …`");
            }
            let Some(name) = doc.name.take() else {
                continue;
            };
            self.name(&name, "an output");
            // Without a value it is the result of that name.
            let given = results.as_ref().is_none_or(|all| all.contains(name.as_str()));
            if doc.value.is_absent() && (!given || name.contains('-')) {
                let what = format!("output {}", quote(&name));
                let hint = format!(
                    "no step gives a result called {}: add `value: \"{{{{ … }}}}\"`",
                    quote(&name)
                );
                self.missing_at(name.span, id, "value", &what, hint);
            }
            let (value, span) = match doc.value.take() {
                Some(raw) => (self.tree.value(raw.value.id), raw.span),
                None => (Value::String(format!("{{{{ {} }}}}", name.value)), name.span),
            };
            specs.push(OutputSpec { name, value, span });
        }
        let names = specs.iter().map(|output| (output.name.as_str(), output.name.span));
        self.unique(names, "duplicate-name", "output");
        specs
    }

    /// A key that only steps have.
    pub(super) fn step_key(&self, id: NodeId) -> Option<NodeId> {
        const STEP: [&str; 12] = [
            "command",
            "shell",
            "confirm",
            "choose",
            "input",
            "tool",
            "compute",
            "skill",
            "foreach",
            "output",
            "condition",
            "on_error",
        ];
        STEP.iter().find_map(|key| self.tree.entry(id, key)).map(|(key, _)| key)
    }

    /// A step indented into the wrong list would never run: one error for
    /// all of its keys.
    fn is_step_under_outputs(&mut self, id: NodeId, skill: NodeId) -> bool {
        let Some(key) = self.step_key(id) else { return false };
        let name = self.tree.entry(id, "name").and_then(|(_, value)| self.tree.text(value));
        let message = match name {
            Some(name) => format!("step {} stands under `outputs`", quote(name)),
            None => "a step stands under `outputs`".to_owned(),
        };
        let diagnostic = Diagnostic::error("misplaced-step", message)
            .label(self.span(key), "only steps have this key")
            .hint("move it up to `steps:`; an output has a `name` and a `value`");
        let moved = self.moved_to_steps(id, skill);
        self.report.push(diagnostic.fix_all(moved));
        true
    }

    /// A name that is empty would be the name of every such run.
    fn concurrency(&mut self, name: Field<Text>) -> Option<Template> {
        let name = name.take().map(template)?;
        if name.value.trim().is_empty() {
            self.report.push(
                Diagnostic::error("bad-value", "`concurrency` is empty").label(name.span, "").hint(
                    "write a name, such as `deploy-{{ inputs.environment }}`, or remove the key",
                ),
            );
            return None;
        }
        Some(name)
    }

    fn limit(&mut self, period: &Field<Period>) -> Option<Duration> {
        self.duration(period.get()?)
    }

    fn step_limit(&mut self, limit: &Field<u32>) -> u32 {
        let Some(limit) = limit.get() else {
            return STEP_LIMIT;
        };
        if limit.value == 0 {
            self.report.push(
                Diagnostic::error("bad-value", "`step_limit` must be at least 1")
                    .label(limit.span, "no step could ever run"),
            );
        }
        limit.value
    }
}

/// The names of what the steps of a skill leave behind.
fn results_of(body: &Body) -> HashSet<&str> {
    let mut steps: Vec<&Step> = match body {
        Body::Steps(steps) => steps.iter().collect(),
        Body::States { states, .. } => states.iter().map(|state| &state.step).collect(),
    };
    let mut names = HashSet::new();
    while let Some(step) = steps.pop() {
        names.insert(step.output.as_ref().unwrap_or(&step.name).as_str());
        steps.extend(&step.then);
    }
    names
}

/// The texts of a list, bad ones left out.
pub(super) fn texts(list: Field<Vec<Field<Text>>>) -> Vec<Spanned<String>> {
    let list = list.take().map(|list| list.value).unwrap_or_default();
    list.into_iter().filter_map(|text| text.take().map(template)).collect()
}
