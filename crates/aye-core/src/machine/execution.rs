//! From a step to what it does, everything resolved.

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::effect::{Compute, Execution, Process, Rendered, Task, ToolCall};
use crate::journal::Phase;
use crate::secrets::{HIDDEN, Secrets, is_secret, names_secret, secret_marker};
use crate::skill::{Action, Step, StepTimeout, Template};
use crate::text::{self, Scope, TextError, World};

use super::edit::{replaced, words};
use super::run::{Machine, after};

impl Machine {
    /// The running action, resolved as far as it may be written down.
    pub fn execution(&self, world: &World) -> Result<Option<Execution>, TextError> {
        let Phase::Running { step, execution, attempt, deadline, healing, .. } = &self.state.phase
        else {
            return Ok(None);
        };
        let Some((_, node)) = self.node(step) else {
            return Ok(None);
        };
        let scope = self.scope(world);
        let step = &node.step;
        if healing.is_some() {
            let nested = self.repair(&step.name, *execution);
            let timeout = deadline.map(|until| left(until, world.now));
            return Ok(Some(Execution {
                epoch: self.state.epoch,
                execution: *execution,
                step: step.name.value.clone(),
                attempt: *attempt,
                timeout,
                own_limit: step.timeout != StepTimeout::Default,
                task: Task::Nested(Box::new(nested)),
            }));
        }
        let task = match &step.action {
            Action::Command { .. } | Action::Shell { .. } => {
                Task::Process(Box::new(self.sealed_process(step, &scope)?))
            }
            Action::Tool { tool, .. } => Task::Tool(Box::new(ToolCall {
                tool: tool.value.clone(),
                args: self.sealed_arguments(step, &scope)?,
            })),
            Action::Compute { code, python, reads_files } => Task::Compute(Box::new(Compute {
                code: match replaced(self.edits_of(&step.name), "code") {
                    Some(changed) => Template::new(changed.to_owned(), code.span),
                    None => code.clone(),
                },
                output: self.output_name(&step.name),
                python: *python,
                reads_files: *reads_files,
                written_as: self
                    .state
                    .steps
                    .get(&step.name.value)
                    .filter(|record| record.is_written_by_assistant())
                    .map(|_| code.value.clone()),
            })),
            Action::Skill { skill, .. } => {
                Task::Nested(Box::new(self.sub_skill(step, *execution, skill, &scope)?))
            }
            Action::ForEach(each) => {
                Task::Nested(Box::new(self.for_each(step, *execution, each, &scope)?))
            }
            Action::Ask(_) | Action::Return { .. } | Action::Note => return Ok(None),
        };
        // A nested step continues where it was: its limit is the one it began with.
        let until = match task {
            Task::Nested(_) => *deadline,
            _ => self.step_deadline(step, world.now),
        };
        let timeout = until.map(|until| left(until, world.now));
        Ok(Some(Execution {
            epoch: self.state.epoch,
            execution: *execution,
            step: step.name.value.clone(),
            attempt: *attempt,
            timeout,
            own_limit: step.timeout != StepTimeout::Default,
            task,
        }))
    }

    /// What the running step does, with everything in it, secrets included. The
    /// task is one that [`Self::execution`] gave, here or in another process.
    pub fn render(&self, task: Task, world: &World) -> Result<Rendered, TextError> {
        let step = match &self.state.phase {
            Phase::Running { step, .. } => self.node(step).map(|(_, node)| &node.step),
            Phase::Transition(_) | Phase::Asking { .. } | Phase::Ended(_) => None,
        };
        let not_running = || TextError::new("no step is running".to_owned());
        Ok(match task {
            Task::Process(process) => Rendered::Process(Box::new(match process.plain() {
                Some(process) => process,
                None => self.process(step.ok_or_else(not_running)?, &self.scope(world))?,
            })),
            Task::Tool(call) if call.args.values().any(is_secret) => {
                let args = self.given_to(step.ok_or_else(not_running)?, &self.scope(world))?;
                Rendered::Tool(Box::new(ToolCall { args, ..*call }))
            }
            Task::Tool(call) => Rendered::Tool(call),
            Task::Compute(compute) => Rendered::Compute(Box::new((*compute, self.scope(world)))),
            Task::Nested(nested) => Rendered::Nested(nested),
        })
    }

    /// Masks what a program about to start gets in variables with the names of
    /// secrets.
    pub fn mask_env(&mut self, process: &Process<String>, world: &World) {
        let step = match &self.state.phase {
            Phase::Running { step, .. } => self.node(step),
            Phase::Transition(_) | Phase::Asking { .. } | Phase::Ended(_) => None,
        };
        let env = step.map(|(_, node)| node.step.env.clone()).unwrap_or_default();
        for (name, value) in &process.env {
            let Some(value) = value else { continue };
            let template = env.get(name).and_then(Option::as_ref);
            let is_secret = template
                .is_some_and(|template| self.is_made_of_secrets(template, &self.scope(world)));
            self.learn_variable(name, is_secret, value);
        }
    }

    /// The names as they would be with other secrets.
    pub(super) fn disguised(&self, scope: &Scope) -> Scope {
        let masked = |values: &IndexMap<String, Value>| {
            let masked = values.iter().map(|(k, v)| (k.clone(), self.secrets.mask_value(v)));
            Arc::new(masked.collect::<IndexMap<_, _>>())
        };
        Scope {
            inputs: masked(&scope.inputs),
            outputs: masked(&scope.outputs),
            locals: masked(&scope.locals),
            secrets: Arc::new(scope.secrets.disguised()),
            ..scope.clone()
        }
    }

    /// A program with what depends on a secret left out.
    pub(super) fn sealed_process(&self, step: &Step, scope: &Scope) -> Result<Process, TextError> {
        let process = self.process(step, scope)?;
        if self.secrets.is_empty() {
            return Ok(process.sealed(|_, _| true));
        }
        let other = self.process(step, &self.disguised(scope)).ok();
        let others = other.as_ref().map(Process::in_order).unwrap_or_default();
        let alike = others.len() == process.in_order().len();
        let same = |at: usize, text: &str| alike && others.get(at).is_some_and(|o| *o == text);
        Ok(process.sealed(|at, text| same(at, text) && self.secrets.mask(text) == text))
    }

    /// What a tool or skill is given; what depends on a secret is marked.
    pub(super) fn sealed_arguments(
        &self,
        step: &Step,
        scope: &Scope,
    ) -> Result<Map<String, Value>, TextError> {
        let given = self.given_to(step, scope)?;
        if self.secrets.is_empty() {
            return Ok(given);
        }
        let others = self.given_to(step, &self.disguised(scope)).unwrap_or_default();
        let seal = |(name, value): (String, Value)| {
            let shows = others.get(&name) == Some(&value);
            let shows = shows && self.secrets.mask_value(&value) == value;
            (name, if shows { value } else { secret_marker() })
        };
        Ok(given.into_iter().map(seal).collect())
    }

    fn process(&self, step: &Step, scope: &Scope) -> Result<Process<String>, TextError> {
        let render = |template: &Option<Template>| {
            template.as_ref().map(|template| text::text(template, scope)).transpose()
        };
        let mut env = IndexMap::new();
        for (name, template) in &step.env {
            env.insert(name.clone(), render(template)?);
        }
        let invocation = self.invocation(step, scope, &self.secrets)?;
        // Last, so that nothing in the file can stand in for a value.
        env.extend(invocation.values.into_iter().map(|(name, value)| (name, Some(value))));
        Ok(Process {
            argv: invocation.argv,
            env,
            cwd: render(&step.cwd)?,
            stdin: render(&step.stdin)?,
            interactive: step.interactive,
            tty: step.tty,
            kept: step.kept,
            max_memory: step.max_memory,
            max_cpu: step.max_cpu,
        })
    }

    /// When a step that starts now has to be over.
    pub(super) fn step_deadline(&self, step: &Step, now: Timestamp) -> Option<Timestamp> {
        let own = self.own_limit(step).map(|limit| after(now, limit));
        [own, self.state.deadline()].into_iter().flatten().min()
    }

    /// How long a step may take, whatever the run may.
    pub(super) fn own_limit(&self, step: &Step) -> Option<Duration> {
        let own = self.named_limit(step);
        // The steps inside have limits of their own.
        let longest = self.limits.longest_step.filter(|_| !step.action.is_nested());
        [own, longest].into_iter().flatten().min()
    }

    /// The limit that a step names, or the usual one.
    pub(super) fn named_limit(&self, step: &Step) -> Option<Duration> {
        match step.timeout {
            StepTimeout::After(limit) => Some(limit),
            StepTimeout::Unlimited => None,
            // A terminal is in someone's hands; the steps inside have limits of their own.
            StepTimeout::Default if step.interactive || step.action.is_nested() => None,
            // `aye.toml` may say how long a tool takes.
            StepTimeout::Default if matches!(step.action, Action::Tool { .. }) => None,
            StepTimeout::Default => self.limits.step_timeout,
        }
    }

    /// The resolved command line as a person would type it, and everything
    /// that decides what happens, for the digest. Secrets are masked in both:
    /// a short one could be found by trying until the digest fits.
    pub(super) fn command_line(
        &self,
        step: &Step,
        scope: &Scope,
    ) -> Result<(String, Vec<String>), TextError> {
        let (shown, words, _) = self.resolved_line(step, scope)?;
        Ok((shown, words))
    }

    /// The same, and how many of the words are a program and its arguments.
    pub(super) fn resolved_line(
        &self,
        step: &Step,
        scope: &Scope,
    ) -> Result<(String, Vec<String>, usize), TextError> {
        self.render_masked(scope, |scope, secrets| self.masked_line(step, scope, secrets))
    }

    /// The same with these secrets masked.
    pub(super) fn masked_line(
        &self,
        step: &Step,
        scope: &Scope,
        secrets: &Secrets,
    ) -> Result<(String, Vec<String>, usize), TextError> {
        let Invocation { argv, values, shown } = self.invocation(step, scope, secrets)?;
        let program = matches!(step.action, Action::Command { .. } | Action::Shell { .. });
        let count = if program { argv.len() } else { 0 };
        let mut words: Vec<String> = argv.iter().map(|word| secrets.mask(word)).collect();
        for (name, value) in values {
            words.push(format!("{name}={}", secrets.mask(&value)));
        }
        // What else decides what happens has to render too, before anything runs.
        for (name, template) in &step.env {
            let value =
                template.as_ref().map(|template| text::text(template, scope)).transpose()?;
            let value = value.map(|value| match names_secret(name) {
                true => HIDDEN.to_owned(),
                false => secrets.mask(&value),
            });
            words.push(format!("{name}={}", value.as_deref().unwrap_or("\u{0}")));
        }
        for template in [&step.cwd, &step.stdin].into_iter().flatten() {
            words.push(secrets.mask(&text::text(template, scope)?));
        }
        Ok((shown, words, count))
    }

    /// What is shown of it has secrets masked, the rest has not.
    fn invocation(
        &self,
        step: &Step,
        scope: &Scope,
        secrets: &Secrets,
    ) -> Result<Invocation, TextError> {
        let mask = |text: &str| secrets.mask(text);
        let edits = self.edits_of(&step.name);
        match &step.action {
            Action::Command { program, args } => {
                let argv = words(program, args, edits, scope)?;
                // Masked before it is quoted: quoting changes what a secret looks like.
                let shown: Vec<String> =
                    argv.iter().map(|word| text::legible(&mask(word))).collect();
                Ok(Invocation { argv, values: Vec::new(), shown: shown.join(" ") })
            }
            Action::Shell { .. } if replaced(edits, "script").is_some() => {
                let script = replaced(edits, "script").unwrap_or_default();
                let argv = vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()];
                Ok(Invocation { argv, values: Vec::new(), shown: mask(script) })
            }
            Action::Shell { script } => {
                let script = text::shell_script(script, scope, self.limits.verbatim)?;
                let shown = mask(&script.shown(mask));
                let argv = vec!["sh".to_owned(), "-c".to_owned(), script.text];
                Ok(Invocation { argv, values: script.values, shown })
            }
            Action::Tool { tool, .. } => {
                Ok(call(tool, &Value::Object(self.given_to(step, scope)?), secrets))
            }
            Action::Skill { skill, .. } => {
                let skill = mask(&text::text(skill, scope)?);
                let inputs = self.given_to(step, scope)?;
                // Which of them are secret, only that skill knows.
                let names: Vec<&str> = inputs.keys().map(String::as_str).collect();
                let shown = match names.is_empty() {
                    true => skill.clone(),
                    false => format!("{skill} ({})", names.join(", ")),
                };
                let called = call(&skill, &Value::Object(inputs.clone()), secrets);
                Ok(Invocation { shown, ..called })
            }
            // What it computes is decided by the file and the results so far.
            Action::Compute { code, .. } => {
                let code = replaced(edits, "code").unwrap_or(code);
                Ok(Invocation { argv: vec![code.to_owned()], ..Invocation::default() })
            }
            Action::Ask(_) | Action::ForEach(_) | Action::Return { .. } | Action::Note => {
                Ok(Invocation::default())
            }
        }
    }
}

/// Nothing is left, rather than less than nothing.
fn left(until: Timestamp, now: Timestamp) -> Duration {
    until.duration_since(now).try_into().unwrap_or(Duration::ZERO)
}

/// A command with everything resolved.
#[derive(Default)]
struct Invocation {
    argv: Vec<String>,
    /// Environment variables that the script refers to.
    values: Vec<(String, String)>,
    /// For people, secrets masked.
    shown: String,
}

/// A tool or skill with what it is given, secrets masked.
fn call(name: &str, given: &Value, secrets: &Secrets) -> Invocation {
    let given = secrets.mask_value(given);
    let words: Vec<String> = given
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| match value {
            Value::String(text) => format!("{name}={}", text::legible(text)),
            other => format!("{name}={other}"),
        })
        .collect();
    let shown = std::iter::once(name.to_owned()).chain(words).collect::<Vec<_>>().join(" ");
    Invocation { argv: vec![name.to_owned(), given.to_string()], values: Vec::new(), shown }
}
