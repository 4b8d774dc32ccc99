//! Steps that consist of runs of their own.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::form::Form;
use crate::nested::{Again, Child, ChildBody, Item, MOST_ITEMS, Nested, Parent, ParentScope};
use crate::skill::{ForEach, Step, Template};
use crate::text::{self, Scope, TextError};

use super::run::Machine;

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
        }
    }

    fn parent_of(&self, step: &Step, execution: u32, item: Option<Item>) -> Parent {
        let record = self.state.steps.get(&step.name.value);
        let begun = record.map_or(execution, |record| record.runs);
        let turn = (begun != execution).then_some(execution);
        Parent { item, turn, ..self.parent_named(&step.name.value, begun) }
    }

    /// How the runs of a step that failed are tried again, if they are.
    fn again(&self, step: &Step, execution: u32) -> Option<Again> {
        let record = self.state.steps.get(&step.name.value).filter(|record| record.goes_on)?;
        let (edits, answer) = (record.handed_on.clone(), record.retried_by.clone());
        Some(Again { turn: execution, edits, answer })
    }

    /// The run that asks what a server asks while one of our steps waits for
    /// it. It sees nothing of ours.
    pub fn asked(&self, step: &str, execution: u32, form: Form) -> Child {
        let flow = Arc::new(self.flow.of_item(&form.steps()));
        let outer = ParentScope {
            secrets: self.secrets().clone(),
            locals: Arc::new(form.locals()),
            ..ParentScope::default()
        };
        let parent = Parent { form: Some(Box::new(form)), ..self.parent_named(step, execution) };
        Child { parent, body: ChildBody::Item { flow, outer: Box::new(outer) } }
    }

    pub(super) fn sub_skill(
        &self,
        step: &Step,
        execution: u32,
        skill: &Template,
        scope: &Scope,
    ) -> Result<Nested, TextError> {
        let inputs = self.given_to(step, scope)?.into_iter().collect();
        let called = text::text(skill, scope)?;
        let written = called == skill.value;
        let body = ChildBody::Skill { skill: called, written, inputs };
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
        let written = self.state.steps.get(&step.name.value);
        let written = written.map(|record| record.items.as_slice()).unwrap_or_default();
        // What was begun is finished, whatever the list would be now; only
        // what must not be written down is taken from it.
        let now = self.items(each, scope).unwrap_or_default();
        let same = now.len() == written.len()
            && now.iter().zip(written).all(|(now, then)| self.secrets.mask_value(now) == *then);
        let items = if same { now } else { written.to_vec() };
        let flow = Arc::new(self.flow.of_item(&each.body));
        let child = |(index, value): (usize, Value)| {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let masked = self.secrets.mask_value(&value);
            let mut locals = IndexMap::clone(&scope.locals);
            locals.insert(each.name.clone(), value);
            locals.insert("index".to_owned(), json!(index));
            let outer = ParentScope {
                inputs: Arc::clone(&scope.inputs),
                outputs: Arc::clone(&scope.outputs),
                steps: Arc::clone(&scope.steps),
                secrets: self.secrets().clone(),
                locals: Arc::new(locals),
            };
            let item = Some(Item { index, value: masked });
            Child {
                parent: self.parent_of(step, execution, item),
                body: ChildBody::Item { flow: Arc::clone(&flow), outer: Box::new(outer) },
            }
        };
        Ok(Nested {
            children: items.into_iter().enumerate().map(child).collect(),
            parallel: usize::try_from(each.parallel.max(1)).unwrap_or(1),
            fail_fast: each.fail_fast,
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
                    ..TextError::new(format!("`{other}` is no list"))
                });
            }
        };
        if items.len() > MOST_ITEMS {
            let message = format!("{} items; at most {MOST_ITEMS} are gone through", items.len());
            return Err(TextError::new(message));
        }
        Ok(items)
    }

    pub(super) fn running_deadline(&self) -> Option<jiff::Timestamp> {
        match &self.state.phase {
            crate::journal::Phase::Running { deadline, .. } => *deadline,
            _ => None,
        }
    }
}
