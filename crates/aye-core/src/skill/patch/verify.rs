//! Whether a changed file says what it said, but for one block.

use serde_json::Value;

use super::super::model::{Action, Body, Skill, Step};
use super::super::parse::parse;
use super::{PatchError, Span};
use crate::yaml::{self, Kind, NodeId, Tree};

/// One turn on the way from the root to a node.
#[derive(Debug, Clone)]
enum Turn {
    Key(String),
    Index(usize),
}

/// The file before the change.
pub(super) struct Before {
    /// All it says.
    value: Value,
    /// The way to the code.
    path: Vec<Turn>,
    span: Span,
    skills: usize,
}

impl Before {
    pub(super) fn read(text: &str, span: Span, old: &str) -> Result<Self, PatchError> {
        let parsed = parse("skill.yaml", text);
        if parsed.has_errors() {
            return Err(PatchError::new(
                "the file has errors",
                "see `aye check`, and fix those first",
            ));
        }
        if !parsed.skills.iter().any(|skill| has_block(skill, span.start, old)) {
            return Err(PatchError::new(
                "the file does not hold this code any more",
                "someone has changed it meanwhile: change it by hand",
            ));
        }
        let unreadable = || PatchError::new("the file cannot be read", "see `aye check`");
        let tree = yaml::read(text, &mut Vec::new()).ok_or_else(unreadable)?;
        let mut paths = Vec::new();
        ways(&tree, tree.root(), span, &mut Vec::new(), &mut paths);
        match paths.as_mut_slice() {
            [path] => Ok(Self {
                value: tree.value(tree.root()),
                path: std::mem::take(path),
                span,
                skills: parsed.skills.len(),
            }),
            _ => Err(PatchError::new(
                "this code is used in more than one place of the file",
                "an anchor (`&`) stands for all of them: change it by hand",
            )),
        }
    }

    /// Whether this text says the same, with the new code in its place.
    pub(super) fn holds(&self, text: &str, new: &str) -> bool {
        let parsed = parse("skill.yaml", text);
        if parsed.has_errors()
            || parsed.skills.len() != self.skills
            || !parsed.skills.iter().any(|skill| has_block(skill, self.span.start, new))
        {
            return false;
        }
        let Some(tree) = yaml::read(text, &mut Vec::new()) else { return false };
        let mut expected = self.value.clone();
        let mut place = Some(&mut expected);
        for turn in &self.path {
            place = place.and_then(|value| match turn {
                Turn::Key(key) => value.get_mut(key),
                Turn::Index(index) => value.get_mut(index),
            });
        }
        let Some(place) = place else { return false };
        *place = Value::String(new.to_owned());
        tree.value(tree.root()) == expected
    }
}

/// All ways to the scalar at this place: several if an alias stands for it.
fn ways(tree: &Tree, id: NodeId, span: Span, way: &mut Vec<Turn>, found: &mut Vec<Vec<Turn>>) {
    let node = tree.node(id);
    match &node.kind {
        Kind::Scalar(_) if node.span == span => found.push(way.clone()),
        Kind::Scalar(_) => {}
        Kind::List(items) => {
            for (index, item) in items.iter().enumerate() {
                way.push(Turn::Index(index));
                ways(tree, *item, span, way, found);
                way.pop();
            }
        }
        Kind::Mapping(entries) => {
            for (key, value) in entries {
                way.push(Turn::Key(tree.text(*key).unwrap_or_default().to_owned()));
                ways(tree, *value, span, way, found);
                way.pop();
            }
        }
    }
}

fn has_block(skill: &Skill, at: usize, code: &str) -> bool {
    match &skill.body {
        Body::Steps(steps) => steps.iter().any(|step| is_block(step, at, code)),
        Body::States { states, .. } => states.iter().any(|state| is_block(&state.step, at, code)),
    }
}

fn is_block(step: &Step, at: usize, code: &str) -> bool {
    let own = matches!(&step.action, Action::Compute { code: own, .. }
        if own.span.start == at && own.value == code);
    let mut inside = step.action.body().iter().chain(&step.then);
    own || inside.any(|step| is_block(step, at, code))
}
