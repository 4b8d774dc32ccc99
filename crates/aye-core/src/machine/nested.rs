//! Steps that consist of runs of their own.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::flow::{Flow, NodeId};
use crate::form::Form;
use crate::journal::Phase;
use crate::nested::{
    Child, ChildBody, ChildRetry, ChildRun, Item, MOST_ITEMS, Nested, Parent, ParentScope,
};
use crate::question::{Lead, Purpose, SILENCE};
use crate::secrets::{Text, is_secret, may_hide, secret_marker};
use crate::skill::{Action, Ask, ChoiceAction, EndStatus, ForEach, Step, Template};
use crate::text::{self, Scope, TextError, World};

use super::run::Machine;
use super::variables::sets_secret;

impl Machine {
    /// How many runs hold this one.
    pub fn depth(&self) -> u32 {
        self.state.started.parent.as_ref().map_or(0, |parent| parent.depth)
    }

    /// Where a run belongs that is for a step and for no item of it.
    pub(super) fn parent_named(&self, step: &str, execution: u32) -> Parent {
        Parent {
            run: self.state.run.clone(),
            step: step.to_owned(),
            execution,
            turn: None,
            item: None,
            form: None,
            depth: self.depth() + 1,
            bound: self.node(step).is_some_and(|(_, node)| self.is_bound(&node.step)),
            finally: self.is_cleaning_up(),
            repair: self.is_repair(),
            declined: None,
        }
    }

    /// Where a run inside this step leads if it is declined: here, or in a run around.
    fn declined_inside(&self, step: &Step) -> Option<Box<Lead>> {
        if self.is_alone() {
            return None;
        }
        let lead = self.flow.decline_lead(self.flow.find(&step.name)?, Purpose::Ask);
        match lead.ends {
            Some(EndStatus::Cancelled) => {
                let parent = self.state.started.parent.as_deref()?;
                let calls = matches!(step.action, Action::Skill { .. });
                match parent.item {
                    Some(_) => calls.then(|| Box::new(Lead::left_out())),
                    None => parent.declined.clone(),
                }
            }
            Some(EndStatus::Completed | EndStatus::Failed | EndStatus::ByOutcome) | None => {
                Some(Box::new(lead))
            }
        }
    }

    /// Where each answer to a question leads. What ends this run may start something in a
    /// run around it, or leave an item out.
    pub(super) fn leads(&self, node: NodeId, ask: &Ask, purpose: Purpose) -> Vec<Lead> {
        let parent = self.state.started.parent.as_deref();
        // What no file holds is a question alone: of a script, a server, a proposal.
        if self.state.started.file.is_empty() || parent.is_some_and(|parent| parent.form.is_some())
        {
            return Vec::new();
        }
        let mut leads = self.flow.leads(node, ask, purpose, self.is_alone());
        let waits = self.limits.ask.wait(ask.timeout, purpose == Purpose::Gate).is_some();
        let unsaid = self.flow.silence_lead(node, ask, purpose);
        let unsaid = unsaid.filter(|_| waits && !self.is_alone() && self.state.finally.is_none());
        let Some(parent) = parent else {
            leads.extend(unsaid);
            return leads;
        };
        let around = match parent.item {
            Some(_) => Some(Lead::left_out()),
            None => parent.declined.as_deref().cloned(),
        };
        for (lead, option) in leads.iter_mut().zip(&ask.options) {
            let instead = match (lead.ends, &lead.to, option.action) {
                (Some(EndStatus::Cancelled), _, ChoiceAction::Cancel) => around.clone(),
                // The run around this one goes its way.
                (Some(EndStatus::Completed), None, _) => Some(Lead::continues()),
                _ => None,
            };
            if let Some(instead) = instead {
                *lead = Lead { answer: option.value.clone(), ..instead };
            }
        }
        let silence = parent.declined.as_deref().filter(|_| {
            let no = self.flow.decline_lead(node, purpose);
            parent.item.is_some() && !leads.is_empty() && no.ends == Some(EndStatus::Cancelled)
        });
        let silence = silence.map(|lead| Lead { answer: SILENCE.to_owned(), ..lead.clone() });
        leads.extend(unsaid.filter(|lead| lead.ends != Some(EndStatus::Cancelled)).or(silence));
        leads
    }

    fn parent_of(&self, step: &Step, execution: u32, item: Option<Item>) -> Parent {
        let record = self.state.steps.get(&step.name.value);
        let begun = record.map_or(execution, |record| record.runs);
        let turn = (begun != execution).then_some(execution);
        let declined = self.declined_inside(step);
        Parent { item, turn, declined, ..self.parent_named(&step.name.value, begun) }
    }

    /// How the runs of a step that failed are tried again, if they are.
    fn again(&self, step: &Step, execution: u32) -> Option<ChildRetry> {
        let record = self.going_on(step)?;
        let (edits, answer) = (record.handed_on.clone(), record.retried_by.clone());
        Some(ChildRetry { turn: execution, edits, answer })
    }

    /// The run that asks what a server asks while one of our steps waits for
    /// it. It sees nothing of ours.
    pub fn asked(&self, step: &str, execution: u32, form: Form) -> Child {
        let parent = Parent { form: Some(Box::new(form)), ..self.parent_named(step, execution) };
        Child { parent, body: ChildBody::Form }
    }

    /// What a run inside the running step runs, secrets included. The children
    /// of one step run the same steps: a host that has those of one may give
    /// them for the next.
    pub fn child(
        &self,
        child: &Child,
        known: Option<Arc<Flow>>,
        world: &World,
    ) -> Result<ChildRun, TextError> {
        self.child_with(child, known, world, true)
    }

    /// The same for a host that does not drive it: a secret that is not known to it stands there
    /// as one.
    pub fn child_as_written(&self, child: &Child, world: &World) -> Result<ChildRun, TextError> {
        self.child_with(child, None, world, false)
    }

    fn child_with(
        &self,
        child: &Child,
        known: Option<Arc<Flow>>,
        world: &World,
        drives: bool,
    ) -> Result<ChildRun, TextError> {
        let flow = |steps: &[Step]| known.unwrap_or_else(|| Arc::new(self.flow.of_item(steps)));
        let lost = || TextError::new(format!("step `{}` does not run", child.parent.step));
        let (_, node) = self.node(&child.parent.step).ok_or_else(lost)?;
        let step = &node.step;
        let scope = self.scope(world);
        let steps = |flow, locals, agreed_repair| {
            let outer = ParentScope {
                inputs: Arc::clone(&scope.inputs),
                outputs: Arc::clone(&scope.outputs),
                steps: Arc::clone(&scope.steps),
                secrets: self.secrets().for_inside(),
                locals: Arc::new(locals),
                ending: self.ending(),
                agreed_repair,
            };
            ChildRun::Steps { flow, outer: Box::new(outer) }
        };
        match (&child.body, &step.action) {
            (ChildBody::Item { value }, Action::ForEach(each)) => {
                let item = child.parent.item.as_ref().ok_or_else(lost)?;
                let value = match is_secret(value) {
                    true => match self.secret_item(each, item, &scope) {
                        Err(_) if !drives => secret_marker(),
                        known => known?,
                    },
                    false => value.clone(),
                };
                let mut locals = IndexMap::clone(&scope.locals);
                locals.insert(each.name.clone(), value);
                locals.insert("index".to_owned(), json!(item.index));
                Ok(steps(flow(&each.body), locals, None))
            }
            (ChildBody::Repair, _) => {
                let Phase::Running { healing: Some(healing), .. } = &self.state.phase else {
                    return Err(lost());
                };
                let mut locals = IndexMap::clone(&scope.locals);
                locals.insert("error".to_owned(), json!(self.error_of(&step.name)));
                locals.insert("failed".to_owned(), json!(step.name.value));
                let given = self.given_to(step, &scope).unwrap_or_default();
                locals.insert("args".to_owned(), Value::Object(given));
                let rule = healing.fix.is_none().then_some(healing.rule.as_str());
                let agreed = rule.and_then(|rule| self.agreed_repair(&step.name, rule));
                let agreed = agreed.map(|covered| Arc::clone(&covered.approved));
                Ok(steps(flow(&self.repair_steps(healing)), locals, agreed))
            }
            (ChildBody::Form, _) => {
                let form = child.parent.form.as_ref().ok_or_else(lost)?;
                let outer = ParentScope {
                    secrets: self.secrets().for_inside(),
                    locals: Arc::new(form.locals()),
                    ..ParentScope::default()
                };
                Ok(ChildRun::Steps { flow: flow(&form.steps()), outer: Box::new(outer) })
            }
            (
                ChildBody::Skill { skill, written, inputs },
                Action::Skill { skill: template, .. },
            ) => {
                let skill = match skill.clone().plain() {
                    Some(skill) => skill,
                    None if !drives => template.to_string(),
                    None => text::text(template, &scope)?,
                };
                let inputs = match inputs.values().any(is_secret) {
                    true => match self.given_to(step, &scope) {
                        Err(_) if !drives => inputs.clone(),
                        known => known?.into_iter().collect(),
                    },
                    false => inputs.clone(),
                };
                Ok(ChildRun::Skill { skill, written: *written, inputs })
            }
            (ChildBody::Item { .. } | ChildBody::Skill { .. }, _) => Err(lost()),
        }
    }

    /// Whether this run may have hidden something, also if this process knows nothing of it.
    fn may_have_hidden(&self) -> bool {
        !self.secrets.is_empty()
            || self.lost_secrets()
            || self.outer.is_some()
            || self.state.started.parent.is_some()
            || self.flow.may_learn_secrets()
            || !self.flow.called_skills().is_empty()
            || self.rules().any(|rule| sets_secret(&rule.repair))
    }

    /// An item that must not be written down, from the list as it is now. What was written down
    /// has `***` in it: nothing runs with that.
    fn secret_item(&self, each: &ForEach, item: &Item, scope: &Scope) -> Result<Value, TextError> {
        let index = usize::try_from(item.index).unwrap_or(usize::MAX);
        let now = self.items(each, scope)?;
        let same = now.get(index).filter(|now| self.secrets.mask_value(now) == item.value);
        let step = self.state.current.as_deref().unwrap_or("STEP");
        let lost = || TextError {
            hint: Some(format!(
                "the list is another one now: `aye run SKILL --from {step}` goes through it from \
                 the start"
            )),
            ..TextError::new(format!(
                "a secret is a part of item {}, and it is not known",
                index + 1
            ))
        };
        same.cloned().ok_or_else(lost)
    }

    pub(super) fn sub_skill(
        &self,
        step: &Step,
        execution: u32,
        skill: &Template,
        scope: &Scope,
    ) -> Result<Nested, TextError> {
        let inputs = self.sealed_arguments(step, scope)?.into_iter().collect();
        let called = text::text(skill, scope)?;
        let written = called == skill.value;
        let other = text::text(skill, &self.disguised(scope));
        let skill = match other == Ok(called.clone()) && self.secrets.mask(&called) == called {
            true => Text::Plain(called),
            false => Text::secret(),
        };
        let body = ChildBody::Skill { skill, written, inputs };
        Ok(Nested {
            children: vec![Child { parent: self.parent_of(step, execution, None), body }],
            parallel: 1,
            fail_fast: true,
            deadline: self.running_deadline(),
            is_list: false,
            again: self.again(step, execution),
        })
    }

    pub(super) fn for_each(
        &self,
        step: &Step,
        execution: u32,
        each: &ForEach,
        scope: &Scope,
    ) -> Result<Nested, TextError> {
        let record = self.state.steps.get(&step.name.value);
        let written = record.map(|record| record.items.as_slice()).unwrap_or_default();
        let labels = record.map(|record| record.labels.as_slice()).unwrap_or_default();
        // What was begun is finished, whatever the list would be now; only
        // what must not be written down is taken from it.
        // In a run that never hid anything, stars are text like any other.
        let may_hide = |item: &Value| may_hide(item) && self.may_have_hidden();
        let now = match written.iter().any(may_hide) {
            false => Vec::new(),
            true => self.items(each, scope).unwrap_or_default(),
        };
        let same = now.len() == written.len()
            && now.iter().zip(written).all(|(now, then)| self.secrets.mask_value(now) == *then);
        let child = |(index, masked): (usize, &Value)| {
            let hidden = may_hide(masked) && !(same && now[index] == *masked);
            let value = if hidden { secret_marker() } else { masked.clone() };
            let label = labels.get(index).filter(|label| !label.is_empty()).cloned();
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let item = Some(Item { index, value: masked.clone(), label });
            Child { parent: self.parent_of(step, execution, item), body: ChildBody::Item { value } }
        };
        Ok(Nested {
            children: written.iter().enumerate().map(child).collect(),
            parallel: usize::try_from(each.parallel.max(1)).unwrap_or(1),
            // What fails in `finally` does not keep back what is to be cleaned up after it.
            fail_fast: each.fail_fast.unwrap_or(self.state.finally.is_none()),
            deadline: self.running_deadline(),
            is_list: true,
            again: self.again(step, execution),
        })
    }

    /// The items of a `foreach`: a list, the entries of a mapping, or the
    /// lines of a text.
    pub(super) fn items(&self, each: &ForEach, scope: &Scope) -> Result<Vec<Value>, TextError> {
        let items = match text::render_value(&each.items, scope)? {
            Value::Array(items) => items,
            Value::Object(map) => {
                map.into_iter().map(|(key, value)| json!({ "key": key, "value": value })).collect()
            }
            Value::String(text) => text
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .map(|line| Value::String(line.to_owned()))
                .collect(),
            Value::Null if scope.lenient => Vec::new(),
            other => {
                return Err(TextError {
                    hint: Some("give it a list, a mapping, or text with a line for each".into()),
                    ..TextError::new(format!("`{other}` is not a list"))
                });
            }
        };
        if items.len() > MOST_ITEMS {
            let message = format!("{} items; the limit is {MOST_ITEMS}", items.len());
            return Err(TextError::new(message));
        }
        Ok(items)
    }

    pub(super) fn running_deadline(&self) -> Option<jiff::Timestamp> {
        match &self.state.phase {
            Phase::Running { deadline, .. } => *deadline,
            _ => None,
        }
    }
}
