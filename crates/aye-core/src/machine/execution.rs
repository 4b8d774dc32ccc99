//! From a step to the command it runs, everything resolved.

use std::time::Duration;

use indexmap::IndexMap;
use jiff::Timestamp;

use crate::effect::Execution;
use crate::journal::Phase;
use crate::skill::{Action, Step, StepTimeout};
use crate::text::{self, Scope, TextError, World};

use super::run::{Machine, after};

impl Machine {
    /// The running action with everything resolved, secrets included.
    pub fn execution(&self, world: &World) -> Result<Option<Execution>, TextError> {
        let Phase::Running { step, execution, attempt, .. } = &self.state.phase else {
            return Ok(None);
        };
        let Some((_, node)) = self.node(step) else {
            return Ok(None);
        };
        let scope = self.scope(world);
        let step = &node.step;
        let render = |template: &Option<crate::skill::Template>| {
            template.as_ref().map(|template| text::text(template, &scope)).transpose()
        };
        let mut env = IndexMap::new();
        for (name, template) in &step.env {
            env.insert(name.clone(), render(template)?);
        }
        let invocation = self.invocation(&step.action, &scope)?;
        // Last, so that nothing in the file can stand in for a value.
        env.extend(invocation.values.into_iter().map(|(name, value)| (name, Some(value))));
        let until = self.step_deadline(step, world.now);
        // Nothing is left, rather than less than nothing.
        let timeout =
            until.map(|until| until.duration_since(world.now).try_into().unwrap_or(Duration::ZERO));
        Ok(Some(Execution {
            execution: *execution,
            step: step.name.value.clone(),
            attempt: *attempt,
            argv: invocation.argv,
            env,
            cwd: render(&step.cwd)?,
            stdin: render(&step.stdin)?,
            interactive: step.interactive,
            tty: step.tty,
            max_memory: step.max_memory,
            max_cpu: step.max_cpu,
            timeout,
        }))
    }

    /// When a step that starts now has to be over.
    pub(super) fn step_deadline(&self, step: &Step, now: Timestamp) -> Option<Timestamp> {
        let own = match step.timeout {
            StepTimeout::After(limit) => Some(limit),
            StepTimeout::Unlimited => None,
            StepTimeout::Default if step.interactive => None,
            StepTimeout::Default => self.limits.step_timeout,
        };
        let own = own.map(|limit| after(now, limit));
        [own, self.state.deadline()].into_iter().flatten().min()
    }

    /// The resolved command line as a person would type it, and everything
    /// that decides what happens, for the digest. Secrets are masked in both:
    /// a short one could be found by trying until the digest fits.
    pub(super) fn command_line(
        &self,
        step: &Step,
        scope: &Scope,
    ) -> Result<(String, Vec<String>), TextError> {
        let Invocation { argv, values, shown } = self.invocation(&step.action, scope)?;
        let mut words: Vec<String> = argv.iter().map(|word| self.secrets.mask(word)).collect();
        for (name, value) in values {
            words.push(format!("{name}={}", self.secrets.mask(&value)));
        }
        // What else decides what happens has to render too, before anything runs.
        for (name, template) in &step.env {
            let value =
                template.as_ref().map(|template| text::text(template, scope)).transpose()?;
            let value = value.map(|value| self.secrets.mask(&value));
            words.push(format!("{name}={}", value.as_deref().unwrap_or("\u{0}")));
        }
        for template in [&step.cwd, &step.stdin].into_iter().flatten() {
            words.push(self.secrets.mask(&text::text(template, scope)?));
        }
        Ok((shown, words))
    }

    fn invocation(&self, action: &Action, scope: &Scope) -> Result<Invocation, TextError> {
        let mask = |text: &str| self.secrets.mask(text);
        match action {
            Action::Command { program, args } => {
                let mut argv = vec![text::text(program, scope)?];
                for arg in args {
                    argv.push(text::text(arg, scope)?);
                }
                // Masked before it is quoted: quoting changes what a secret looks like.
                let shown: Vec<String> =
                    argv.iter().map(|word| text::legible(&mask(word))).collect();
                Ok(Invocation { argv, values: Vec::new(), shown: shown.join(" ") })
            }
            Action::Shell { script } => {
                let script = text::shell_script(script, scope, self.limits.verbatim)?;
                let shown = mask(&script.shown(mask));
                let argv = vec!["sh".to_owned(), "-c".to_owned(), script.text];
                Ok(Invocation { argv, values: script.values, shown })
            }
            Action::Ask(_) | Action::Note => Ok(Invocation::default()),
        }
    }
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
