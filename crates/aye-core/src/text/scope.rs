//! The names a template may use.

use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use jiff::Timestamp;
use minijinja::value::{Enumerator, Object, ObjectRepr, Serde};
use serde_json::Value;

use crate::journal::StepRecord;
use crate::machine::{Secrets, is_secret};

/// Names that every template knows; steps and inputs may not take them.
pub const BUILT_IN: [&str; 10] =
    ["inputs", "env", "branch", "workspace", "worktree", "now", "today", "run", "skill", "steps"];

/// What only the outside knows. Looked up when a template uses it, not before.
pub trait Names: Send + Sync {
    /// An environment variable.
    fn env(&self, name: &str) -> Option<String>;

    /// `branch`, `workspace`, `worktree` or `today`.
    fn look_up(&self, name: &str) -> Option<Value>;
}

/// The world at one moment, as the core sees it.
#[derive(Clone)]
pub struct World {
    /// The time.
    pub now: Timestamp,
    /// Everything else.
    pub names: Arc<dyn Names>,
}

/// All names of one run at one moment.
#[derive(Clone)]
pub struct Scope {
    /// The world.
    pub world: World,
    /// Inputs; secrets stand in `secrets`.
    pub inputs: Arc<IndexMap<String, Value>>,
    /// Results of earlier steps by output name.
    pub outputs: Arc<IndexMap<String, Value>>,
    /// What is known of each step: status, exit code, output.
    pub steps: Arc<IndexMap<String, StepRecord>>,
    /// Names of this place alone, such as the item of a `foreach`; they come first.
    pub locals: Arc<IndexMap<String, Value>>,
    /// Names that nobody defined are empty instead of an error.
    pub lenient: bool,
    /// What stands behind the markers of secrets.
    pub secrets: Arc<Secrets>,
    /// About the run: `id`, `environment`, `user`.
    pub run: Arc<Value>,
    /// About the skill: `name`, `version`.
    pub skill: Arc<Value>,
}

impl Scope {
    /// The names in scope, for messages.
    pub fn names(&self) -> Vec<String> {
        let built_in = BUILT_IN.iter().map(|name| (*name).to_owned());
        built_in.chain(self.locals.keys().cloned()).chain(self.outputs.keys().cloned()).collect()
    }

    /// Whether a dotted name can be looked up; only its first two parts count.
    pub(super) fn knows(&self, dotted: &str) -> bool {
        let mut parts = dotted.split('.');
        let Some(first) = parts.next() else {
            return false;
        };
        match (first, parts.next()) {
            ("inputs", Some(input)) => self.inputs.contains_key(input),
            ("env", Some(variable)) => self.world.names.env(variable).is_some(),
            (_, _) => self.get(first).is_some(),
        }
    }

    pub(super) fn inputs_named(&self) -> Vec<String> {
        self.inputs.keys().map(|name| format!("inputs.{name}")).collect()
    }

    /// A value, with the secret in place of its marker; a secret that nobody
    /// gave again after a restart is not defined.
    fn reveal(value: &Value, secret: Option<&str>) -> Option<minijinja::Value> {
        if is_secret(value) {
            return secret.map(minijinja::Value::from);
        }
        Some(Serde(value).into())
    }

    /// The first of these names that stands for a secret nobody gave again.
    pub(super) fn lost_secret<'a>(&self, dotted: &'a [String]) -> Option<&'a str> {
        let lost = |name: &&String| match name.split_once('.') {
            Some(("inputs", rest)) => {
                let input = rest.split('.').next().unwrap_or(rest);
                self.inputs.get(input).is_some_and(is_secret) && self.secrets.get(input).is_none()
            }
            Some((output, _)) => self.lost_answer(output),
            None => self.lost_answer(name),
        };
        dotted.iter().find(lost).map(String::as_str)
    }

    fn lost_answer(&self, output: &str) -> bool {
        self.outputs.get(output).is_some_and(is_secret) && self.secrets.answer(output).is_none()
    }

    fn get(&self, name: &str) -> Option<minijinja::Value> {
        match name {
            "inputs" => {
                let known = self.inputs.iter().filter_map(|(name, value)| {
                    let value = Self::reveal(value, self.secrets.get(name))?;
                    Some((minijinja::Value::from(name.as_str()), value))
                });
                Some(minijinja::Value::from_pairs(known))
            }
            "env" => Some(minijinja::Value::from_object(Env(Arc::clone(&self.world.names)))),
            "now" => Some(self.world.now.to_string().into()),
            "run" => Some(Serde(&*self.run).into()),
            "skill" => Some(Serde(&*self.skill).into()),
            "steps" => {
                let known = self.steps.iter().map(|(name, step)| {
                    let step = minijinja::Value::from(Serde(step.to_value()));
                    (minijinja::Value::from(name.as_str()), step)
                });
                Some(minijinja::Value::from_pairs(known))
            }
            "branch" | "workspace" | "worktree" | "today" => {
                self.world.names.look_up(name).map(|value| Serde(value).into())
            }
            local if self.locals.contains_key(local) => {
                self.locals.get(local).map(|value| Serde(value.clone()).into())
            }
            output => Self::reveal(self.outputs.get(output)?, self.secrets.answer(output)),
        }
    }
}

impl fmt::Debug for Scope {
    // Inputs may hold secrets: never print them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("names", &self.names()).finish_non_exhaustive()
    }
}

impl Object for Scope {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &minijinja::Value) -> Option<minijinja::Value> {
        self.get(key.as_str()?)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::NonEnumerable
    }
}

/// `env.NAME`, looked up one at a time.
struct Env(Arc<dyn Names>);

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("env")
    }
}

impl Object for Env {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &minijinja::Value) -> Option<minijinja::Value> {
        self.0.env(key.as_str()?).map(minijinja::Value::from)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::NonEnumerable
    }
}
