//! What is known of a run before it begins, and what it makes of templates.

use std::path::Path;
use std::sync::Arc;

use aye_core::flow::{Flow, each_string};
use aye_core::question::Lead;
use aye_core::secrets::Secrets;
use aye_core::skill::{Given, Inputs, resolve_inputs};
use aye_core::text::{self, Scope, Verbatim, World};
use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::driver::scope_of;

use super::Setting;
use super::later::Later;

/// What is known where a step stands: in the run itself, in an item of a
/// `foreach`, or in a skill that a step calls.
pub(super) struct Known<'a> {
    pub(super) scope: Scope,
    pub(super) later: Later,
    pub(super) secrets: Secrets,
    pub(super) setting: &'a Setting<'a>,
    /// The file of the skill.
    pub(super) file: &'a Path,
    /// The skills around, and this one: one that calls itself is planned once.
    pub(super) around: Vec<String>,
    /// Where it leads in a run around if this one is declined.
    pub(super) declined: Option<Lead>,
}

impl<'a> Known<'a> {
    /// Before a run of this flow.
    pub(super) fn of(
        flow: &Flow,
        inputs: &Inputs,
        later: Later,
        run: Value,
        world: &World,
        setting: &'a Setting<'a>,
        file: &'a Path,
    ) -> Self {
        let scope = Scope {
            inputs: Arc::new(inputs.values.clone()),
            locals: Arc::new(values_of(flow)),
            secrets: Arc::new(inputs.secrets.clone()),
            run: Arc::new(run),
            skill: Arc::new(
                json!({ "name": flow.skill.name.value, "version": flow.skill.version }),
            ),
            ..scope_of(flow, world)
        };
        let around = vec![key(flow, file)];
        let (secrets, declined) = (inputs.secrets.clone(), None);
        Self { scope, later, secrets, setting, file, around, declined }
    }

    /// In an item of a step that leads there if nobody answers in it.
    pub(super) fn in_item(&self, declined: Option<Lead>) -> Self {
        Self {
            scope: self.scope.clone(),
            later: self.later.clone(),
            secrets: self.secrets.clone(),
            around: self.around.clone(),
            declined,
            ..*self
        }
    }

    /// In a skill that a step calls with these inputs.
    pub(super) fn called<'b>(
        &'b self,
        flow: &Flow,
        given: &IndexMap<String, Value>,
        file: &'b Path,
        declined: Option<Lead>,
    ) -> Known<'b> {
        let world = &self.scope.world;
        let data = |(name, value): (&String, &Value)| {
            Some((name.clone(), Given::Data(self.value(value)?)))
        };
        let given: Option<IndexMap<String, Given>> = given.iter().map(data).collect();
        let own = scope_of(flow, world);
        let render = |value: &Value| text::render_value(value, &own).map_err(|e| e.to_string());
        let inputs = given.and_then(|given| resolve_inputs(&flow.skill.inputs, given, render).ok());
        let mut later = Later::of(flow, None);
        if inputs.is_none() {
            later.add("inputs");
        }
        let inputs = inputs.unwrap_or_default();
        let run = (*self.scope.run).clone();
        let known = Known::of(flow, &inputs, later, run, world, self.setting, file);
        let mut secrets = known.secrets.clone();
        secrets.mask_also(&self.secrets);
        let around = self.around.iter().cloned().chain(known.around.clone()).collect();
        Known { secrets, around, declined, ..known }
    }

    /// Whether this is the skill, or is called by it.
    pub(super) fn is_inside(&self, flow: &Flow, file: &Path) -> bool {
        self.around.contains(&key(flow, file))
    }

    /// A text with everything filled in that is known; the rest stays as written.
    pub(super) fn show(&self, template: &str) -> String {
        let known = match self.later.is_used_in(template) {
            true => None,
            false => text::text(template, &self.scope).ok(),
        };
        self.secrets.mask(&known.unwrap_or_else(|| self.partly(template)))
    }

    /// A script: values in it are data and shown as that.
    pub(super) fn script(&self, template: &str) -> String {
        let mask = |text: &str| self.secrets.mask(text);
        // What only the run gives stands there as a word of its own meanwhile.
        let mut open: Vec<String> = Vec::new();
        let known = self.with_open(template, |written| {
            open.push(written.to_owned());
            marker(open.len() - 1)
        });
        match known.map(|known| text::shell_script(&known, &self.scope, Verbatim::default())) {
            Some(Ok(script)) => {
                let shown = mask(&script.shown(mask));
                (open.iter().enumerate())
                    .fold(shown, |shown, (at, written)| shown.replace(&marker(at), &mask(written)))
            }
            Some(Err(_)) | None => mask(template),
        }
    }

    /// Whether a condition holds, as far as that is known.
    pub(super) fn holds(&self, condition: &str) -> Option<bool> {
        match self.later.decides(condition) {
            true => None,
            false => text::holds(condition, &self.scope).ok(),
        }
    }

    /// A value, if all of it is known.
    fn value(&self, value: &Value) -> Option<Value> {
        let mut open = false;
        each_string(value, &mut |text| open |= self.later.is_used_in(text));
        if open { None } else { text::render_value(value, &self.scope).ok() }
    }

    /// What earlier steps give is not known yet: it stays as written, the rest
    /// is filled in.
    fn partly(&self, template: &str) -> String {
        let known = |written: &str| text::text(written, &self.scope).ok();
        let filled = self.each_expression(template, |written, is_open| {
            let known = if is_open { None } else { known(written) };
            known.unwrap_or_else(|| written.to_owned())
        });
        filled.unwrap_or_else(|| template.to_owned())
    }

    /// The template with something else where it uses what is not known yet.
    fn with_open(&self, template: &str, mut instead: impl FnMut(&str) -> String) -> Option<String> {
        if !self.later.is_used_in(template) {
            return Some(template.to_owned());
        }
        self.each_expression(template, |written, is_open| match is_open {
            true => instead(written),
            false => written.to_owned(),
        })
    }

    /// Puts something in the place of each `{{ … }}`; blocks decide about their
    /// insides, so nothing of a template that has them is known for sure.
    fn each_expression(
        &self,
        template: &str,
        mut instead: impl FnMut(&str, bool) -> String,
    ) -> Option<String> {
        if template.contains("{%") {
            return None;
        }
        let (mut text, mut rest) = (String::new(), template);
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((expression, after)) = after.split_once("}}") else { break };
            let written = format!("{{{{{expression}}}}}");
            text.push_str(before);
            text.push_str(&instead(&written, self.later.is_used_in(&written)));
            rest = after;
        }
        Some(text + rest)
    }
}

fn key(flow: &Flow, file: &Path) -> String {
    format!("{}#{}", file.display(), flow.skill.name.value)
}

/// A word that no script has.
fn marker(number: usize) -> String {
    format!("AYEnotKnownYet{number}x")
}

/// `defaults` of the skill, as templates see them.
fn values_of(flow: &Flow) -> IndexMap<String, Value> {
    let defaults = Some(&flow.skill.defaults).filter(|defaults| !defaults.is_null());
    defaults.map(|defaults| ("defaults".to_owned(), defaults.clone())).into_iter().collect()
}
