//! The names a template may use.

use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use jiff::Timestamp;
use minijinja::value::{Enumerator, Object, ObjectRepr, Serde};
use serde_json::Value;

use crate::journal::StepRecord;
use crate::secrets::{Secrets, is_secret};
use crate::step_kind::StepKind;

use super::isolated::TemplateKind;
use super::render::TextError;

/// Names that every template knows; steps and inputs may not take them.
pub const BUILT_IN: [&str; 10] =
    ["inputs", "env", "branch", "workspace", "worktree", "now", "today", "run", "skill", "steps"];

/// What the names of work memory begin with, for [`Names::look_up`]: `memory:KEY`
/// is what a file of it holds, `memory:KEY?QUERY` the list of what a query finds.
pub const MEMORY: &str = "memory:";

/// The one key of what stands for a name of work memory that makes no sense.
pub const MEMORY_ERROR: &str = "memory error";

/// What only the outside knows. Looked up when a template uses it, not before.
pub trait Names: Send + Sync {
    /// An environment variable.
    fn env(&self, name: &str) -> Option<String>;

    /// `branch`, `workspace`, `worktree` or `today`, or a name of work memory.
    fn look_up(&self, name: &str) -> Option<Value>;

    /// Who reads expressions that are more than the template engine can read.
    fn expressions(&self) -> Option<&dyn Expressions> {
        None
    }

    /// The names as they are now, where some stand for what they stood for.
    fn unfrozen(&self) -> Option<&dyn Names> {
        None
    }

    /// Who knows all names, if a scope itself knows none.
    fn remote_scope(&self) -> Option<&dyn RemoteScope> {
        None
    }
}

/// A scope that is held by someone else.
pub trait RemoteScope: Send + Sync {
    /// The value of a name.
    fn value(&self, name: &str) -> Option<Value>;

    /// The names that the run gave.
    fn names(&self) -> Vec<String>;
}

/// Reads expressions that are more than the template engine can read.
pub trait Expressions: Send + Sync {
    /// The names an expression uses, dotted; fails if it cannot be read.
    fn names(&self, source: &str) -> Result<Vec<String>, TextError>;

    /// The value of an expression.
    fn evaluate(&self, source: &str, scope: &Scope) -> Result<Value, TextError>;

    /// Does [`evaluate_template`](super::evaluate_template) where it can be stopped, if there is such a
    /// place.
    fn evaluate_isolated(
        &self,
        _kind: TemplateKind,
        _template: &str,
        _scope: &Scope,
    ) -> Option<Result<Value, TextError>> {
        None
    }
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
    /// Names of this place only, such as the item of a loop; they come before
    /// the results of steps.
    pub locals: Arc<IndexMap<String, Value>>,
    /// What is known of each step: status, exit code, output.
    pub steps: Arc<IndexMap<String, StepRecord>>,
    /// What stands behind the markers of secrets.
    pub secrets: Arc<Secrets>,
    /// About the run: `id`, `environment`, `user`.
    pub run: Arc<Value>,
    /// About the skill: `name`, `version`.
    pub skill: Arc<Value>,
    /// A name without a value is empty, not an error (`undefined: lenient`).
    pub lenient: bool,
}

impl Scope {
    /// The names in scope, for messages.
    pub fn names(&self) -> Vec<String> {
        let built_in = BUILT_IN.iter().map(|name| (*name).to_owned());
        built_in.chain(self.names_in_scope()).collect()
    }

    /// The names that this run gave: locals, then results of earlier steps.
    pub fn names_in_scope(&self) -> Vec<String> {
        if let Some(remote) = self.world.names.remote_scope() {
            return remote.names();
        }
        let outputs = self.outputs.keys().filter(|name| !self.locals.contains_key(*name));
        self.locals.keys().chain(outputs).cloned().collect()
    }

    /// The value of a name, with secrets in the place of their markers; a
    /// secret that nobody gave again after a restart has none. The environment
    /// has no value as a whole: ask [`Names::env`] for one variable.
    pub fn value(&self, name: &str) -> Option<Value> {
        if let Some(remote) = self.remote_scope(name) {
            return remote.value(name);
        }
        match name {
            "inputs" => {
                let known = self.inputs.iter().filter_map(|(name, value)| {
                    let value = match is_secret(value) {
                        true => self.secrets.input(name)?,
                        false => value.clone(),
                    };
                    Some((name.clone(), value))
                });
                Some(Value::Object(known.collect()))
            }
            "env" => None,
            "now" => Some(Value::String(self.world.now.to_string())),
            "run" => Some(Value::clone(&self.run)),
            "skill" => Some(Value::clone(&self.skill)),
            "steps" => {
                let known = self.steps.iter().map(|(name, step)| (name.clone(), step.to_value()));
                Some(Value::Object(known.collect()))
            }
            "branch" | "workspace" | "worktree" | "today" => self.world.names.look_up(name),
            state if state.starts_with(MEMORY) => self.world.names.look_up(state),
            local if self.locals.contains_key(local) => self.locals.get(local).cloned(),
            output => plain(self.outputs.get(output)?, self.secrets.answer(output)),
        }
    }

    /// Who knows this name, if it is not the scope itself.
    fn remote_scope(&self, name: &str) -> Option<&dyn RemoteScope> {
        let own = name == "env" || self.locals.contains_key(name);
        self.world.names.remote_scope().filter(|_| !own)
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

    /// The inputs, dotted, for messages.
    pub fn inputs_named(&self) -> Vec<String> {
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
    pub fn lost_secret<'a>(&self, dotted: &'a [String]) -> Option<&'a str> {
        let lost = |name: &&String| match name.split_once('.') {
            Some(("inputs", rest)) => {
                let input = rest.split('.').next().unwrap_or(rest);
                self.inputs.get(input).is_some_and(is_secret) && !self.secrets.knows_input(input)
            }
            Some((output, _)) => self.lost_answer(output),
            None => self.lost_answer(name),
        };
        dotted.iter().find(lost).map(String::as_str)
    }

    /// What to do about a secret that nobody gave again. A result that only holds one nobody can
    /// give.
    pub fn lost_hint(&self, name: &str) -> String {
        let name = name.split('.').next().unwrap_or(name);
        let gives = |(step, record): &(&String, &StepRecord)| {
            let answers = matches!(record.kind, None | Some(StepKind::Input));
            !answers && record.output.as_deref().unwrap_or(step) == name
        };
        match self.steps.iter().find(gives).filter(|_| name != "inputs") {
            Some((step, _)) => format!(
                "a secret is in the result of step `{step}`, and the process that knew it has \
                 ended; a new run has it again: `aye run SKILL --from {step}`"
            ),
            None => "secrets are not kept: give it again".to_owned(),
        }
    }

    fn lost_answer(&self, output: &str) -> bool {
        !self.locals.contains_key(output)
            && self.outputs.get(output).is_some_and(is_secret)
            && self.secrets.answer(output).is_none()
    }

    /// `memory`, where no step calls its result so.
    fn work_memory(&self, name: &str) -> Option<minijinja::Value> {
        let memory = || WorkMemory(Arc::clone(&self.world.names));
        (name == "memory").then(|| minijinja::Value::from_object(memory()))
    }

    fn get(&self, name: &str) -> Option<minijinja::Value> {
        if let Some(remote) = self.remote_scope(name) {
            let known = remote.value(name).map(|value| Serde(value).into());
            return known.or_else(|| self.work_memory(name));
        }
        match name {
            "inputs" => Some(minijinja::Value::from_object(Inputs {
                values: Arc::clone(&self.inputs),
                secrets: Arc::clone(&self.secrets),
            })),
            "env" => Some(minijinja::Value::from_object(Env(Arc::clone(&self.world.names)))),
            "now" => Some(self.world.now.to_string().into()),
            "run" => Some(Serde(&*self.run).into()),
            "skill" => Some(Serde(&*self.skill).into()),
            "steps" => Some(minijinja::Value::from_object(Steps(Arc::clone(&self.steps)))),
            "branch" | "workspace" | "worktree" | "today" => {
                self.world.names.look_up(name).map(|value| Serde(value).into())
            }
            name => match self.locals.get(name) {
                Some(local) => Some(Serde(local).into()),
                None => match self.outputs.get(name) {
                    Some(output) => Self::reveal(output, self.secrets.answer(name)),
                    None => self.work_memory(name),
                },
            },
        }
    }
}

/// A value as data, with the secret in the place of its marker.
fn plain(value: &Value, secret: Option<&str>) -> Option<Value> {
    if is_secret(value) { secret.map(Value::from) } else { Some(value.clone()) }
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

/// `inputs`, of which only those that are used are looked at.
struct Inputs {
    values: Arc<IndexMap<String, Value>>,
    secrets: Arc<Secrets>,
}

impl fmt::Debug for Inputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("inputs")
    }
}

impl Object for Inputs {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &minijinja::Value) -> Option<minijinja::Value> {
        let name = key.as_str()?;
        let value = self.values.get(name)?;
        match is_secret(value) {
            true => self.secrets.input(name).map(|value| Serde(&value).into()),
            false => Some(Serde(value).into()),
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let known = self
            .values
            .iter()
            .filter(|(name, value)| !is_secret(value) || self.secrets.knows_input(name));
        Enumerator::Values(known.map(|(name, _)| name.as_str().into()).collect())
    }
}

/// `steps`, of which only those that are used are looked at.
struct Steps(Arc<IndexMap<String, StepRecord>>);

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("steps")
    }
}

impl Object for Steps {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &minijinja::Value) -> Option<minijinja::Value> {
        Some(Serde(self.0.get(key.as_str()?)?.to_value()).into())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.0.keys().map(|name| name.as_str().into()).collect())
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

/// Whether a value is what `memory` stands for.
pub(super) fn is_work_memory(value: &minijinja::Value) -> bool {
    value.downcast_object_ref::<WorkMemory>().is_some()
}

/// `memory.read(KEY)` and `memory.query(KEY, QUERY)`.
struct WorkMemory(Arc<dyn Names>);

impl fmt::Debug for WorkMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("memory")
    }
}

impl Object for WorkMemory {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call_method(
        self: &Arc<Self>,
        _state: &mut minijinja::State<'_, '_>,
        method: &str,
        args: &[minijinja::Value],
    ) -> Result<minijinja::Value, minijinja::Error> {
        let wrong = |message: String| {
            minijinja::Error::new(minijinja::ErrorKind::InvalidOperation, message)
        };
        let text = |at: usize| args.get(at).and_then(|value| value.as_str());
        let (name, empty) = match (method, args.len(), text(0), text(1)) {
            ("read" | "read_memory", 1, Some(key), _) => {
                (format!("{MEMORY}{key}"), Value::Object(serde_json::Map::new()))
            }
            ("query", 2, Some(key), Some(query)) => {
                (format!("{MEMORY}{key}?{query}"), Value::Array(Vec::new()))
            }
            ("read" | "read_memory", ..) => {
                return Err(wrong("write `memory.read(\"key\")`, with a text".to_owned()));
            }
            ("query", ..) => {
                return Err(wrong(
                    "write `memory.query(\"key\", \"path\")`, with texts".to_owned(),
                ));
            }
            (other, ..) => {
                return Err(wrong(format!(
                    "in templates `memory` has `read` and `query`, not `{other}`; write in a \
                     compute step"
                )));
            }
        };
        let value = self.0.look_up(&name).unwrap_or(empty);
        match value.get(MEMORY_ERROR).and_then(Value::as_str) {
            Some(error) => Err(wrong(error.to_owned())),
            None => Ok(Serde(value).into()),
        }
    }
}
